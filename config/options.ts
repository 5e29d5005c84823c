/**
 * Converts flags and the files they name to server options. Validates everything before the server opens or listens on
 * anything.
 */
import { authenticationOptions, authorizationOptions } from './access-options.js'
import { hostPort, publicAddress } from './addresses.js'
import { auditOptions } from './audit-options.js'
import { parseCertificates, readBundle, readPair } from './certificates.js'
import type { AuthorizationOptions } from '../plugins/authorization/index.js'
import type { OutboundOptions } from '../plugins/admission/outbound.js'
import { Authorities } from '../auth/authorities.js'
import type { EncryptionConfiguration } from '../schemas/api/apiserver/encryption.js'
import { admissionOptions, admissionWarnings } from './admission-options.js'
import { checkCombinations, hasLimits, idleFlags } from './combinations.js'
import { egressOptions } from './egress.js'
import { gateSettings, gateWarnings } from './feature-gates.js'
import { withReleaseDefaults } from './flags-of-release.js'
import { FlagError } from './flag.js'
import { gatesOf, isOn } from './gates-of.js'
import type { FlagName, Values } from './flags/index.js'
import { readCacheSize } from './flags/storage.js'
import { parseArguments, type Parsed } from './command-line.js'
import { laterApis } from './later-apis.js'
import { withLocalDefaults } from './local.js'
import { allowedLabels } from './metric-labels.js'
import { nodeAgentOptions, nodeAgentWarnings } from './node-agents.js'
import { sourceOf, withOwnFlags } from './public-settings.js'
import { disabledApis } from './runtime-config.js'
import type { ServerOptions } from './server-options.js'
import { serviceAccountWarnings } from './service-accounts.js'
import { orchService, serviceOptions } from './service-options.js'
import { backendOptions } from './store.js'
import { tracingOptions } from './tracing.js'
import { idleRules } from './verbosity.js'

/** Parses and validates flags without accessing files. @throws FlagError, ArgumentError */
export function checkedFlags (args: readonly string[]): Parsed {
  const given = withOwnFlags(parseArguments(args))
  if (given.values.help || given.values.version) return given
  const ofRelease = withReleaseDefaults(given)
  const parsed = ofRelease.values.local ? withLocalDefaults(ofRelease) : ofRelease
  checkCombinations(parsed)
  return parsed
}

export interface Configuration {
  readonly options: ServerOptions
  /** For the log. */
  readonly warnings: readonly string[]
  /** Warnings about missing settings that pods need; for clusters with nodes. */
  readonly serviceWarnings: readonly string[]
  /** CA bundles of client certificates, to be reloaded. */
  readonly authorities: readonly AuthoritiesFile[]
}

export interface AuthoritiesFile {
  readonly flag: FlagName
  readonly path: string
  readonly authorities: Authorities
}

/** @throws FlagError */
export async function configuration (parsed: Parsed): Promise<Configuration> {
  const { values, given } = parsed
  const { 'egress-selector-config-file': egressFile, 'tracing-config-file': tracingFile } = values
  const audit = await auditOptions(values)
  const own = orchService(values)
  const encryption = values['encryption-provider-config'] === '' ? undefined : await encryptionOf(values)
  const clients = authoritiesIn(values, 'client-ca-file')
  const proxies = authoritiesIn(values, 'requestheader-client-ca-file')
  const options: ServerOptions = {
    storage: await storageOptions(parsed, encryption),
    watchCache: await watchCacheOptions(parsed),
    authentication: await authenticationOptions(parsed, { clients, proxies }),
    authorization: await authorizationOptions(parsed),
    admission: await admissionOptions(values),
    ...(egressFile === '' ? {} : { egress: egressOptions(sourceOf(values, 'egress-selector-config-file')) }),
    outbound: outboundOptions(values),
    ...(audit === undefined ? {} : { audit }),
    limits: {
      requestTimeout: values['request-timeout'],
      minRequestTimeoutSeconds: values['min-request-timeout'],
      priorityAndFairness: values['enable-priority-and-fairness'] && hasLimits(values),
      maxRequestsInflight: values['max-requests-inflight'],
      maxMutatingRequestsInflight: values['max-mutating-requests-inflight'],
      deleteCollectionWorkers: values['delete-collection-workers'],
      connectionBytesPerSecond: values['max-connection-bytes-per-sec']
    },
    allowPrivileged: values['allow-privileged'],
    services: serviceOptions(values),
    orchService: own.settings,
    collectGarbage: collectsGarbage(values),
    standalone: values.local,
    identityLease: {
      durationSeconds: values['identity-lease-duration-seconds'],
      renewIntervalSeconds: values['identity-lease-renew-interval-seconds']
    },
    connections: { nodeAgents: nodeAgentOptions(values) },
    ...(tracingFile === '' ? {} : { tracing: tracingOptions(sourceOf(values, 'tracing-config-file')) }),
    ...(values.profiling ? { profiling: profilingOptions(values) } : {}),
    securityHeaders: {
      allowedOrigins: await origins(parsed),
      strictTransportSecurity: values['strict-transport-security-directives']
    },
    api: {
      disabled: disabledApis(values['runtime-config'], given.get('runtime-config')),
      later: laterApis(parsed),
      advertiseAddress: hostPort(publicAddress(values), values['secure-port']),
      ...(values['external-hostname'] === '' ? {} : { externalHostname: values['external-hostname'] })
    },
    compatNames: values['compat-names'],
    health: { livezGracePeriod: values['livez-grace-period'] },
    shutdown: {
      delay: values['shutdown-delay-duration'], sendRetryAfter: values['shutdown-send-retry-after'],
      watchGrace: values['shutdown-watch-termination-grace-period'] || undefined // 0 is the default of the plugin
    },
    metrics: {
      countInterval: values['etcd-count-metric-poll-period'],
      sizeInterval: values['etcd-db-metric-poll-interval'],
      disabled: values['disabled-metrics'],
      allowedLabels: allowedLabels(values)
    },
    emulatedVersion: values['emulated-version'],
    ...(values['min-compatibility-version'] === ''
      ? {}
      : { minCompatibilityVersion: values['min-compatibility-version'] }),
    featureGates: gateSettings(values['feature-gates'])
  }
  return {
    options,
    warnings: [
      ...gateWarnings(values['feature-gates'], values['emulated-version']), ...idleRules(values.vmodule),
      ...idleFlags(parsed),
      ...nodeWarnings(values, options.authorization ?? {}), ...admissionWarnings(options.admission ?? {}),
      ...nodeAgentWarnings(values),
      ...serviceAccountWarnings(values), ...encryption?.warnings ?? [], ...proxyWarnings(values, clients, proxies)
    ],
    serviceWarnings: own.warnings,
    authorities: [clients, proxies].filter(file => file !== undefined)
  }
}

async function storageOptions (
  parsed: Parsed, encryption: Encryption | undefined
): Promise<NonNullable<ServerOptions['storage']>> {
  const { values } = parsed
  return {
    ...await backendOptions(parsed),
    prefix: values['etcd-prefix'],
    mediaType: values['storage-media-type'],
    compactionInterval: values['etcd-compaction-interval'],
    healthcheckTimeout: values['etcd-healthcheck-timeout'],
    readycheckTimeout: values['etcd-readycheck-timeout'],
    eventTtl: values['event-ttl'],
    leaseReuseSeconds: values['lease-reuse-duration-seconds'],
    garbageCollection: values['enable-garbage-collector'],
    ...(encryption === undefined ? {} : { encryption: encryption.options }),
    ...(encryption === undefined || !values['encryption-provider-config-automatic-reload']
      ? {}
      : { encryptionFile: encryption.file })
  }
}

async function watchCacheOptions (parsed: Parsed): Promise<NonNullable<ServerOptions['watchCache']>> {
  const { values } = parsed
  return values['watch-cache']
    ? {
        size: values['default-watch-cache-size'],
        sizes: await watchCacheSizes(parsed),
        encodedObjects: readCacheSize(values['encoded-objects-cache-size']) ?? { bytes: 0 }, // the flag is checked
        initialization: values['storage-initialization-timeout']
      }
    : { size: 0 }
}

/** Undefined if the flag is blank. */
function authoritiesIn (
  values: Values, flag: 'client-ca-file' | 'requestheader-client-ca-file'
): AuthoritiesFile | undefined {
  const path = values[flag]
  return path === '' ? undefined : { flag, path, authorities: new Authorities(readBundle(flag, path)) }
}

/** NodeRestriction limits what node agents may write. */
function nodeWarnings (values: Values, { modes = [], configured }: AuthorizationOptions): string[] {
  const types = configured?.authorizers.map(({ type }) => type) ?? modes
  if (!types.includes('Node') || values['enable-admission-plugins'].includes('NodeRestriction')) return []
  return [
    `--authorization-${configured === undefined ? 'mode' : 'config'} has Node without ` +
      '--enable-admission-plugins=NodeRestriction: a node agent can write the pods and statuses of ' +
      'other nodes, and by a pod of its own that names them read the secrets of any namespace'
  ]
}

/** With a shared CA, every client certificate would be accepted as a proxy's. */
function proxyWarnings (
  values: Values, clients: AuthoritiesFile | undefined, proxies: AuthoritiesFile | undefined
): string[] {
  if (clients === undefined || proxies === undefined || values['requestheader-allowed-names'].length > 0) return []
  const ofClients = new Set(parseCertificates(clients.authorities.pem).map(({ fingerprint256 }) => fingerprint256))
  if (!parseCertificates(proxies.authorities.pem).some(({ fingerprint256 }) => ofClients.has(fingerprint256))) return []
  return [
    '--client-ca-file and --requestheader-client-ca-file have a CA in common and --requestheader-allowed-names is ' +
      'empty: every client with a certificate of it can act as any user'
  ]
}

const profilingOptions = (values: Values): NonNullable<ServerOptions['profiling']> => ({
  contention: values['contention-profiling'],
  ...(values['debug-socket-path'] === '' ? {} : { socket: values['debug-socket-path'] })
})

/** The files are reloaded by the HTTP client. @throws FlagError */
function outboundOptions (values: Values): OutboundOptions {
  const [certificate, key] = [values['proxy-client-cert-file'], values['proxy-client-key-file']]
  if (certificate !== '') {
    readPair({ certificate: 'proxy-client-cert-file', key: 'proxy-client-key-file' }, certificate, key)
  }
  return {
    toEndpoints: values['enable-aggregator-routing'],
    ...(certificate === '' ? {} : { client: { certificate: { path: certificate }, key: { path: key } } })
  }
}

interface Encryption {
  readonly options: EncryptionConfiguration
  readonly warnings: readonly string[]
  readonly file: { readonly path: string, readonly read: () => Promise<EncryptionConfiguration> }
}

async function encryptionOf (values: Values): Promise<Encryption> {
  const { encryptionOptions, encryptionWarnings } = await import('./encryption.js')
  const source = sourceOf(values, 'encryption-provider-config')
  const gates = gatesOf(values)
  const options = encryptionOptions(source, gates)
  return {
    options, warnings: encryptionWarnings(options),
    file: { path: source.path, read: async () => encryptionOptions(source, gates) }
  }
}

/** Sizes by `group/plural`. */
async function watchCacheSizes ({ values, given }: Parsed): Promise<Record<string, number>> {
  const sizes = values['watch-cache-sizes'].map(text => {
    const [name = '', size = ''] = text.split('#')
    return { name, size: Number(size) }
  })
  if (sizes.length === 0) return {}
  const { cachedProblem, groupIn, pluralAndGroup } = await import('./resource-names.js')
  for (const { name } of sizes) {
    const problem = cachedProblem(name, pluralAndGroup, groupIn)
    if (problem !== undefined) {
      throw new FlagError('watch-cache-sizes', given.get('watch-cache-sizes'), `${name} ${problem}`)
    }
  }
  return Object.fromEntries(sizes.map(({ name, size }) => {
    const [plural = ''] = name.split('.')
    return [`${groupIn(name)}/${plural}`, size]
  }))
}

/** One machine has no controller manager, unless it says so. */
function collectsGarbage (values: Values): boolean {
  const wanted = values['garbage-collection']
  return wanted === 'on' || (wanted === 'auto' && values.local && values['enable-garbage-collector'])
}

/** Validates the expressions. RE2 is loaded only if CORS is configured. */
async function origins ({ values, given }: Parsed): Promise<string[]> {
  const patterns = values['cors-allowed-origins']
  const refuse = (problem: string): never => {
    throw new FlagError('cors-allowed-origins', given.get('cors-allowed-origins'), problem)
  }
  if (patterns.length > 0) {
    const { RE2JS } = await import('re2js')
    for (const pattern of patterns) {
      try {
        RE2JS.compile(pattern)
      } catch (error) {
        refuse(`"${pattern}" is not a regular expression (in the RE2 syntax): ` +
          `${error instanceof Error ? error.message : String(error)}`)
      }
      // As upstream: an expression that has these somewhere is taken for one that means whole hosts.
      if (isOn(values, 'OriginsAreAnchored') && !(/\^|\/\//.test(pattern) && /[$:]/.test(pattern))) {
        refuse(`"${pattern}" would match parts of other hosts; begin it with ^ or //, and end it with $ or (:|$)`)
      }
    }
  }
  return [...patterns]
}
