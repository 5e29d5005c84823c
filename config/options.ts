/**
 * Flags and the files they name to what the server is made of. Everything that can be wrong with them is
 * found here, before anything is opened or listened on.
 */
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { readBundle, readPair } from './certificates.js'
import { JSON_TYPE, PROTOBUF_TYPE } from '../schemas/media-types.js'
import type { StorageMediaType } from '../storage/resource-store.js'
import { checkCombinations, idleFlags, storeOverrides, storeServers } from './combinations.js'
import { gateWarnings } from './feature-gates.js'
import { readFile, reasonOf } from './files.js'
import { FlagError } from './flag.js'
import type { FlagName, Values } from './flags/index.js'
import { parseArguments, type Parsed } from './parse.js'
import { disabledGroupVersions } from './runtime-config.js'
import type { AuditOptions, ServerOptions, StorageOptions } from './server-options.js'
import { publicAddress } from './tls.js'
import { refuseUnbuilt } from './unbuilt.js'

/** Arguments to checked flags, no file touched yet. @throws FlagError, ArgumentError */
export function checkedFlags (args: readonly string[]): Parsed {
  const parsed = parseArguments(args)
  if (parsed.values.help || parsed.values.version) return parsed
  checkCombinations(parsed)
  refuseUnbuilt(parsed)
  return parsed
}

export interface Configuration {
  readonly options: ServerOptions
  /** For the log. */
  readonly warnings: readonly string[]
}

/** @throws FlagError */
export async function configuration (parsed: Parsed): Promise<Configuration> {
  const { values, given } = parsed
  const disabled = disabledGroupVersions(values['runtime-config'], given.get('runtime-config'))
  const audit = auditOptions(values)
  const options: ServerOptions = {
    storage: await storageOptions(parsed),
    storePrefix: values['etcd-prefix'],
    storageMediaType: mediaType(values['storage-media-type']),
    compactionInterval: values['etcd-compaction-interval'],
    watchCacheSize: values['watch-cache'] ? values['default-watch-cache-size'] : 0,
    watchCacheSizes: values['watch-cache'] ? await watchCacheSizes(parsed) : {},
    metrics: {
      countInterval: values['etcd-count-metric-poll-period'],
      sizeInterval: values['etcd-db-metric-poll-interval'],
      disabled: values['disabled-metrics']
    },
    disabledGroupVersions: disabled,

    anonymous: values['anonymous-auth'],
    clientCertificates: values['client-ca-file'] !== '',
    authorizationModes: values['authorization-mode'].filter(mode => mode === 'AlwaysAllow' || mode === 'AlwaysDeny'),
    disabledAdmission: [...values['disable-admission-plugins']],

    corsAllowedOrigins: await origins(values['cors-allowed-origins'], given.get('cors-allowed-origins')),
    strictTransportSecurity: [...values['strict-transport-security-directives']],
    advertiseAddress: hostPort(publicAddress(values), values['secure-port']),

    requestTimeout: values['request-timeout'],
    minRequestTimeoutSeconds: values['min-request-timeout'],
    maxRequestsInflight: values['max-requests-inflight'],
    maxMutatingRequestsInflight: values['max-mutating-requests-inflight'],
    deleteCollectionWorkers: values['delete-collection-workers'],
    livezGracePeriod: values['livez-grace-period'],
    shutdownDelay: values['shutdown-delay-duration'],
    shutdownSendRetryAfter: values['shutdown-send-retry-after']
  }
  if (audit !== undefined) options.audit = audit
  if (values['external-hostname'] !== '') options.externalHostname = values['external-hostname']
  if (values['token-auth-file'] !== '') options.tokens = await tokens(values['token-auth-file'])
  return { options, warnings: [...gateWarnings(values['feature-gates']), ...idleFlags(parsed)] }
}

/** `host:port`, with the brackets that an IPv6 address needs. */
export const hostPort = (host: string, port: number): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

const mediaType = (name: Values['storage-media-type']): StorageMediaType => name === JSON_TYPE ? name : PROTOBUF_TYPE

async function storageOptions ({ values, given }: Parsed): Promise<StorageOptions> {
  const servers = values['etcd-servers']
  const healthcheckTimeout = values['etcd-healthcheck-timeout']
  if (servers.length === 0) {
    const directory = values['data-dir']
    checkFolder('data-dir', directory)
    return { kind: 'embedded', directory, healthcheckTimeout }
  }
  const storage: StorageOptions & { kind: 'etcd' } = { kind: 'etcd', servers: storeServers(servers), healthcheckTimeout }
  if (values['etcd-cafile'] !== '') storage.ca = readBundle('etcd-cafile', values['etcd-cafile'])
  if (values['etcd-certfile'] !== '') {
    Object.assign(storage, readPair({ certificate: 'etcd-certfile', key: 'etcd-keyfile' }, values['etcd-certfile'], values['etcd-keyfile']))
  }
  const overrides = storeOverrides(values['etcd-servers-overrides'])
  if (overrides.length > 0) {
    await checkResources('etcd-servers-overrides', given.get('etcd-servers-overrides'), overrides.map(({ resource }) => resource), (group, plural) => `${group}/${plural}`)
    storage.overrides = Object.fromEntries(overrides.map(({ resource, servers }) => [resource, servers]))
  }
  return storage
}

/** Names of resources in a flag are those of resources there are. @throws FlagError */
async function checkResources (flag: FlagName, given: string | undefined, names: readonly string[], nameOf: (group: string, plural: string) => string): Promise<void> {
  const { resources } = await import('../schemas/resources.js')
  const known = new Set(resources.map(({ group, plural }) => nameOf(group, plural)))
  const unknown = names.find(name => !known.has(name))
  if (unknown !== undefined) throw new FlagError(flag, given, `${unknown} is no resource of this version; leave it out or name one of ${[...known].sort().join(', ')}`)
}

/** By `group/plural`. */
async function watchCacheSizes ({ values, given }: Parsed): Promise<Record<string, number>> {
  const sizes = values['watch-cache-sizes'].map(text => {
    const [name = '', size = ''] = text.split('#')
    return { name, size: Number(size) }
  })
  if (sizes.length === 0) return {}
  await checkResources('watch-cache-sizes', given.get('watch-cache-sizes'), sizes.map(({ name }) => name), (group, plural) => group === '' ? plural : `${plural}.${group}`)
  return Object.fromEntries(sizes.map(({ name, size }) => {
    const [plural = '', ...group] = name.split('.')
    return [`${group.join('.')}/${plural}`, size]
  }))
}

/** A folder that can be written to, or that can be made. */
function checkFolder (flag: 'data-dir', directory: string): void {
  for (let at = directory; ; at = dirname(at)) {
    try {
      if (!statSync(at).isDirectory()) throw new FlagError(flag, directory, `${at} is not a folder; name another one`)
      accessSync(at, constants.W_OK | constants.X_OK)
      return
    } catch (error) {
      if (error instanceof FlagError) throw error
      const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!missing || dirname(at) === at) throw new FlagError(flag, directory, `cannot be written to: ${reasonOf(error)}; name another folder`, { cause: error })
    }
  }
}

function auditOptions (values: Values): AuditOptions | undefined {
  const path = values['audit-log-path']
  if (path === '') return undefined
  if (path !== '-') {
    try {
      // A pipe would hold up the start until somebody reads it, and neither it nor a device can be rotated.
      if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new Error('it is not an ordinary file')
      closeSync(openSync(path, 'a', 0o600))
    } catch (error) {
      throw new FlagError('audit-log-path', path, `cannot be written to: ${reasonOf(error)}; name a file in a folder that exists, or - for standard output`, { cause: error })
    }
  }
  return {
    path,
    format: values['audit-log-format'],
    mode: values['audit-log-mode'] === 'blocking-strict' ? 'blocking-strict' : 'blocking',
    maxAgeDays: values['audit-log-maxage'],
    maxBackups: values['audit-log-maxbackup'],
    maxSizeMegabytes: values['audit-log-maxsize'],
    compress: values['audit-log-compress']
  }
}

/** The content of the static token file, known to be well formed. What a line says is in no message. */
async function tokens (path: string): Promise<string> {
  const content = readFile('token-auth-file', path)
  const { parseTokenFile } = await import('../plugins/authentication/token-file.js')
  try {
    parseTokenFile(content)
  } catch (error) {
    throw new FlagError('token-auth-file', path, error instanceof Error ? error.message : String(error), { cause: error })
  }
  return content
}

/** The expressions, once each is known to be one. The library is loaded only where CORS is asked for. */
async function origins (patterns: readonly string[], text: string | undefined): Promise<string[]> {
  if (patterns.length > 0) {
    const { RE2JS } = await import('re2js')
    for (const pattern of patterns) {
      try {
        RE2JS.compile(pattern)
      } catch (error) {
        throw new FlagError('cors-allowed-origins', text, `"${pattern}" is not a regular expression (in the RE2 syntax): ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }
  return [...patterns]
}
