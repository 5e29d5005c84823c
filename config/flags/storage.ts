/** Where objects are kept and how. */
import { JSON_TYPE, PROTOBUF_TYPE, YAML_TYPE } from '../../schemas/media-types.js'
import { bool, choice, duration, int, list, path, text } from '../flag.js'

function serverProblem (value: string): string | undefined {
  const problem = `"${value}" must have the form scheme://host:port with http or https`
  if (!/^https?:\/\/[^/\s?#@]+:\d{1,5}\/?$/.test(value)) return problem
  return URL.canParse(value) ? undefined : problem
}

function overrideProblem (value: string): string | undefined {
  const match = /^([a-z0-9.-]*\/[a-z0-9.-]+)#(.+)$/.exec(value)
  if (match === null) return `"${value}" must have the form group/resource#server;server, the group empty for the core group`
  return (match[2] ?? '').split(';').map(serverProblem).find(problem => problem !== undefined)
}

const prefix = (value: string): string | undefined =>
  /^(?:\/[!-.0-~]+)+$/.test(value) ? undefined : 'must begin with / and have no empty part, space or control character'

const cacheSize = (value: string): string | undefined =>
  /^[a-z0-9-]+(?:\.[a-z0-9.-]+)?#\d{1,9}$/.test(value) ? undefined : `"${value}" must have the form resource[.group]#size`

export const storage = {
  'data-dir': path('folder of the embedded store, used when no --etcd-servers are given', 'orch-data'),
  'etcd-servers': list([], 'addresses scheme://host:port of the etcd cluster that keeps the state; empty keeps it in --data-dir', serverProblem),
  'etcd-servers-overrides': list([], 'other servers for single resource types, group/resource#server;server', overrideProblem),
  'etcd-prefix': text('/registry', 'beginning of every key in the store', prefix),
  'etcd-cafile': path('certificates of the authorities that sign those of the etcd servers'),
  'etcd-certfile': path('client certificate for etcd'),
  'etcd-keyfile': path('private key of --etcd-certfile'),
  'etcd-compaction-interval': duration(300_000, 'time between compactions of the store; 0 leaves them to somebody else'),
  'etcd-count-metric-poll-period': duration(60_000, 'time between counts of the objects of each type; 0 never counts'),
  'etcd-db-metric-poll-interval': duration(30_000, 'time between readings of the size of the store; 0 never reads'),
  'etcd-healthcheck-timeout': duration(2000, 'time the store, whichever it is, may take to answer a health check', { min: 1 }),
  'storage-backend': choice(['', 'etcd3'], '', 'kind of the store behind --etcd-servers'),
  'storage-media-type': choice([PROTOBUF_TYPE, JSON_TYPE, YAML_TYPE], PROTOBUF_TYPE, 'form in which objects are stored; resources without that form ignore it'),
  'encryption-provider-config': path('file that says how secrets are encrypted in the store'),
  'lease-reuse-duration-seconds': int(60, 'seconds for which short-lived keys share a lease of the store', { min: 1 }),
  'watch-cache': bool(true, 'answer reads and watches from memory'),
  'default-watch-cache-size': int(100, 'changes kept in memory per resource type at least, and no fewer than 2000; 0 answers types without a size of their own from the store', { min: 0 }),
  'watch-cache-sizes': list([], 'sizes for single resource types, resource[.group]#size', cacheSize),
  'delete-collection-workers': int(1, 'objects deleted at a time by deletecollection', { min: 1, max: 1000 }),
  'event-ttl': duration(3_600_000, 'time that Events are kept', { min: 1000 }),
  'enable-garbage-collector': bool(true, 'delete dependents with their owners; has to be the same at the controller manager')
}
