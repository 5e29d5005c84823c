/** Storage flags. */
import { PROTOBUF_TYPE } from '../../schemas/media-types.js'
import { PUBLIC_PROTOBUF_TYPE } from '../../schemas/public-names.js'
import { STORAGE_MEDIA_TYPES } from '../../registry/stored-form.js'
import { bool, choice, duration, int, list, path, readDuration, text } from '../flag.js'

function serverProblem (value: string): string | undefined {
  const problem = 'must have the form scheme://host:port with http or https'
  if (!/^https?:\/\/[^/\s?#@]+:\d{1,5}\/?$/.test(value)) return problem
  return URL.canParse(value) ? undefined : problem
}

function overrideProblem (value: string): string | undefined {
  const match = /^([a-z0-9.-]*\/[a-z0-9.-]+)#(.+)$/.exec(value)
  if (match === null) return 'must have the form group/resource#server;server, the group empty for the core group'
  const server = (match[2] ?? '').split(';').find(candidate => serverProblem(candidate) !== undefined)
  return server === undefined ? undefined : `has "${server}", which ${serverProblem(server) ?? ''}`
}

const prefix = (value: string): string | undefined =>
  /^(?:\/[!-.0-~]+)+$/.test(value) ? undefined : 'must begin with / and have no empty part, space or control character'

const cacheSize = (value: string): string | undefined =>
  /^[a-z0-9-]+(?:\.[a-z0-9.-]+)?#\d{1,9}$/.test(value) ? undefined : 'must have the form resource[.group]#size'

const SIZES: Readonly<Record<string, number>> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 }
const LEAST_BYTES = 2 ** 20
const LEAST_TIME = 60_000
/** A hundred years. */
const LONGEST_TIME = 100 * 366 * 24 * 3_600_000

const bytesIn = (text: string): number | undefined => {
  const [, amount, unit = ''] = /^(\d{1,9})(Ki|Mi|Gi|Ti)$/.exec(text) ?? []
  return amount === undefined ? undefined : Number(amount) * (SIZES[unit] ?? 0)
}

/** Parses `--encoded-objects-cache-size`; undefined if it is neither a size nor a share. */
export function readCacheSize (text: string): { readonly bytes: number } | { readonly share: number } | undefined {
  const [, percent] = /^(\d{1,2}|100)%$/.exec(text) ?? []
  if (percent !== undefined) return { share: Number(percent) / 100 }
  const bytes = text === '0' ? 0 : bytesIn(text)
  return bytes === undefined ? undefined : { bytes }
}

const cacheSizeProblem = (value: string): string | undefined =>
  readCacheSize(value) === undefined ? 'must be a size such as 512Mi, a share of memory such as 25%, or 0' : undefined

/** Parses a non-empty `--history-retention`; undefined if it is neither a time nor a size. */
export function readRetention (text: string): {
  readonly milliseconds: number
} | { readonly bytes: number } | undefined {
  const bytes = bytesIn(text)
  if (bytes !== undefined) return { bytes }
  const milliseconds = readDuration(text)
  return milliseconds === undefined ? undefined : { milliseconds }
}

function retentionProblem (text: string): string | undefined {
  const retention = readRetention(text)
  if (retention === undefined) return 'must be a time such as 24h or a size such as 2Gi'
  if ('bytes' in retention) return retention.bytes < LEAST_BYTES ? 'must be at least 1Mi' : undefined
  if (retention.milliseconds > LONGEST_TIME) return 'must be at most a hundred years'
  return retention.milliseconds < LEAST_TIME ? 'must be at least 1m' : undefined
}

export const storage = {
  'data-dir': path('directory of the embedded store, used if --etcd-servers is empty', 'orch-data'),
  'data-dir-min-free': int(
    64,
    'MiB of disk space to keep free for --data-dir; below it writes are refused and /readyz fails, reads are served, ' +
      'and deletes down to an eighth of it',
    { min: 1, max: 1_000_000 }
  ),
  'history-retention': text(
    '',
    'history to keep in --data-dir, a time such as 24h or a size of changes such as 2Gi; empty keeps one to two ' +
      'times --etcd-compaction-interval',
    retentionProblem
  ),
  'etcd-servers': list(
    [], 'etcd servers to connect to, scheme://host:port; empty stores objects in --data-dir', serverProblem
  ),
  'etcd-servers-overrides': list([], 'etcd servers per resource, group/resource#server;server', overrideProblem),
  'etcd-prefix': text('/registry', 'prefix of all keys in the store', prefix),
  'etcd-cafile': path('CA bundle for verifying the certificates of etcd servers'),
  'etcd-certfile': path('client certificate for etcd'),
  'etcd-keyfile': path('private key matching --etcd-certfile'),
  'etcd-compaction-interval': duration(300_000, 'interval between compactions of the store; 0 disables compaction'),
  'etcd-count-metric-poll-period': duration(
    60_000, 'interval between counts of the stored objects per resource; 0 disables the metric'
  ),
  'etcd-db-metric-poll-interval': duration(
    30_000, 'interval between measurements of the database size; 0 disables the metric'
  ),
  'etcd-healthcheck-timeout': duration(2000, 'timeout of health checks of the store, embedded or etcd', { min: 1 }),
  'etcd-readycheck-timeout': duration(
    2000, 'timeout of the check etcd-readiness of the store, which release 1.36 has', { min: 1 }
  ),
  'storage-backend': choice(['', 'etcd3'], '', 'storage backend of --etcd-servers'),
  'storage-media-type': choice(
    [...STORAGE_MEDIA_TYPES, PUBLIC_PROTOBUF_TYPE], PROTOBUF_TYPE,
    'media type in which objects are stored; custom resources are stored as JSON. The last is the first under the ' +
      'name of Kubernetes, with --compat-names'
  ),
  'encryption-provider-config': path('configuration file for encryption at rest'),
  'encryption-provider-config-automatic-reload': bool(
    false, 'follow --encryption-provider-config: use a new content when it is valid'
  ),
  'lease-reuse-duration-seconds': int(60, 'seconds for which keys with a TTL share a lease', { min: 1 }),
  'watch-cache': bool(true, 'serve reads and watches from the watch cache in memory'),
  'default-watch-cache-size': int(
    100,
    'minimum number of events kept in the watch cache per resource, at least 2000; 0 disables the watch cache for ' +
      'resources without a size in --watch-cache-sizes',
    { min: 0 }
  ),
  'watch-cache-sizes': list([], 'watch cache sizes per resource, resource[.group]#size', cacheSize),
  'encoded-objects-cache-size': text(
    '25%',
    'memory for objects in the forms that clients read beside the stored JSON (protobuf, metadata, rows of tables, ' +
      'other names and versions), a size such as 512Mi or a share of the memory that the process may use; 0 keeps none',
    cacheSizeProblem
  ),
  'delete-collection-workers': int(1, 'number of workers per deletecollection call', { min: 1, max: 1000 }),
  'event-ttl': duration(3_600_000, 'time to keep Events', { min: 1000 }),
  'enable-garbage-collector': bool(true, 'enable garbage collection of dependents; must match the controller manager'),
  'garbage-collection': choice(
    ['auto', 'on', 'off'], 'auto',
    'delete objects whose owners are gone, and end deletions that wait for dependents, as a controller manager does; ' +
      'auto is on with --local, and off otherwise'
  )
}
