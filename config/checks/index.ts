/** Checks a host's options at registration, before anything is opened: one check for each member of `ServerOptions`. */
import type { AdmissionOptions } from '../../admission/options.js'
import type { AdmissionPlugin } from '../../registry/admission.js'
import type { Clock } from '../../event-loop/clock.js'
import { admissionProblem } from '../admission-plugins.js'
import { featureGates as featureGatesOf } from '../../schemas/gates.js'
import { PUBLIC_PROTOBUF_TYPE } from '../../schemas/public-names.js'
import { usualRelease } from '../../schemas/meta/release.js'
import { keyServiceProblem } from '../encryption.js'
import { readerProblem } from '../emulated-release.js'
import { gateProblem, settingsProblem } from '../feature-gates.js'
import { bool, eachItem, ipAddress, Problem } from '../flag.js'
import { cluster, serviceRangeProblem } from '../flags/cluster.js'
import { features } from '../flags/features.js'
import { health, limits } from '../flags/limits.js'
import { observability } from '../flags/observability.js'
import { storage as stores } from '../flags/storage.js'
import { hostnameProblem, hstsProblem } from '../header-values.js'
import {
  anything, fromFlag, callback, OptionError, checkMembers, each, either, members, milliseconds, required, object,
  option, promise, record, string, wholeNumber, withMethod, type Table
} from '../option.js'
import { apiProblem } from '../resource-names.js'
import { endpointProblem } from '../tracing.js'
import type { ServerOptions } from '../server-options.js'
import { withOwnOptions } from '../public-settings.js'
import { audit } from './audit.js'
import { authentication, authorization } from './authentication.js'
import { certificateMaterial, keyMaterial } from './calls.js'
import { certificates } from './files.js'
import { egress } from './egress.js'
import { storage, watchCache } from './storage.js'

type Group<K extends keyof ServerOptions> = NonNullable<ServerOptions[K]>

const boolean = fromFlag(bool(false, ''))
const port = { min: 1, max: 65535 }

/** One that does nothing is a mistyped one. */
const admissionPlugin = option<AdmissionPlugin>(value => {
  const { name, handles, mutate, validate } = Object(value) as Partial<AdmissionPlugin>
  const acts = [mutate, validate].filter(method => method !== undefined)
  if (typeof name !== 'string' || !(Array.isArray(handles) || typeof handles === 'function') || acts.length === 0 ||
    acts.some(method => typeof method !== 'function')) {
    throw new Problem('must be an object with a name, handles (rules or a function), and the method mutate or validate')
  }
})

const OPTIONS: Table<ServerOptions> = {
  storage,
  watchCache,
  authentication,
  authorization,
  admission: members<AdmissionOptions>({
    enabled: fromFlag(features['enable-admission-plugins']),
    disabled: fromFlag(features['disable-admission-plugins']),
    plugins: each(admissionPlugin),
    configuration: record(members<NonNullable<AdmissionOptions['configuration']>[string]>({
      value: anything, file: string(), folder: string()
    }), admissionProblem),
    tolerationSeconds: members<NonNullable<AdmissionOptions['tolerationSeconds']>>({
      notReady: required(fromFlag(cluster['default-not-ready-toleration-seconds'])),
      unreachable: required(fromFlag(cluster['default-unreachable-toleration-seconds']))
    })
  }),
  audit,
  allowPrivileged: fromFlag(cluster['allow-privileged']),
  egress,
  outbound: members<Group<'outbound'>>({
    client: members<NonNullable<Group<'outbound'>['client']>>({
      certificate: required(certificateMaterial), key: required(keyMaterial)
    }),
    toEndpoints: fromFlag(features['enable-aggregator-routing'])
  }),
  limits: members<Group<'limits'>>({
    requestTimeout: milliseconds(),
    minRequestTimeoutSeconds: fromFlag(limits['min-request-timeout']),
    priorityAndFairness: fromFlag(limits['enable-priority-and-fairness']),
    maxRequestsInflight: fromFlag(limits['max-requests-inflight']),
    maxMutatingRequestsInflight: fromFlag(limits['max-mutating-requests-inflight']),
    maxBodyBytesInflight: wholeNumber({ min: 1 }),
    deleteCollectionWorkers: fromFlag(stores['delete-collection-workers']),
    connectionBytesPerSecond: fromFlag(limits['max-connection-bytes-per-sec'])
  }),
  rootCA: members<Group<'rootCA'>>({ certificates: required(certificates), shared: boolean }),
  services: members<Group<'services'>>({
    clusterIPRanges: required(option<readonly string[]>(list => {
      eachItem(list, item => { if (typeof item !== 'string') throw new Problem('must be a string') })
      const problem = serviceRangeProblem((list as string[]).join(','))
      if (problem !== undefined) throw new Problem(problem)
    })),
    nodePorts: fromFlag(cluster['service-node-port-range'])
  }),
  orchService: members<Group<'orchService'>>({
    namespace: fromFlag(cluster['master-service-namespace']),
    address: required(string(ipAddress)),
    port: required(wholeNumber(port)),
    nodePort: fromFlag(cluster['orch-service-node-port']),
    reconciler: fromFlag(features['endpoint-reconciler-type']),
    count: fromFlag(features['apiserver-count'])
  }),
  collectGarbage: boolean,
  standalone: boolean,
  identityLease: members<Group<'identityLease'>>({
    durationSeconds: fromFlag(features['identity-lease-duration-seconds']),
    renewIntervalSeconds: fromFlag(features['identity-lease-renew-interval-seconds'])
  }),
  connections: members<Group<'connections'>>({
    nodeAgents: members<NonNullable<Group<'connections'>['nodeAgents']>>({
      files: members<{ readonly authority?: string, readonly certificate?: string, readonly key?: string }>({
        authority: string(), certificate: string(), key: string()
      }),
      preferredAddressTypes: fromFlag(cluster['node-agent-preferred-address-types']),
      timeout: fromFlag(cluster['node-agent-timeout'])
    }),
    nearby: boolean
  }),
  stallGuard: members<Group<'stallGuard'>>({ numberOf: required(callback()), refusedUntil: required(callback()) }),
  leadership: members<Group<'leadership'>>({
    elected: required(promise), lead: required(callback()), led: required(promise)
  }),
  profiling: members<Group<'profiling'>>({
    contention: fromFlag(observability['contention-profiling']), setVerbosity: callback(),
    socket: fromFlag(observability['debug-socket-path'])
  }),
  tracing: members<Group<'tracing'>>({
    receiver: members<NonNullable<Group<'tracing'>['receiver']>>({
      endpoint: string(endpointProblem), samplingRatePerMillion: wholeNumber({ min: 0, max: 1_000_000 }),
      timeout: milliseconds()
    }),
    passOn: boolean
  }),
  requestLog: members<Group<'requestLog'>>({
    verbosity: required(either(callback<() => number>(), fromFlag(observability.v)))
  }),
  flags: record(string()),
  securityHeaders: members<Group<'securityHeaders'>>({
    allowedOrigins: each(string()), strictTransportSecurity: each(string(hstsProblem)), helmet: object()
  }),
  api: members<Group<'api'>>({
    disabled: each(string(apiProblem)), later: each(string(apiProblem)), externalHostname: string(hostnameProblem),
    advertiseAddress: string(hostnameProblem), inDocuments: boolean
  }),
  compatNames: fromFlag(features['compat-names']),
  health: members<Group<'health'>>({ livezGracePeriod: fromFlag(health['livez-grace-period']) }),
  shutdown: members<Group<'shutdown'>>({
    delay: fromFlag(health['shutdown-delay-duration']), sendRetryAfter: fromFlag(health['shutdown-send-retry-after']),
    watchGrace: fromFlag(health['shutdown-watch-termination-grace-period'])
  }),
  metrics: members<Group<'metrics'>>({
    process: string(),
    others: callback(),
    disabled: fromFlag(observability['disabled-metrics']),
    allowedLabels: fromFlag(observability['allow-metric-labels']),
    countInterval: fromFlag(stores['etcd-count-metric-poll-period']),
    sizeInterval: fromFlag(stores['etcd-db-metric-poll-interval'])
  }),
  clock: withMethod<Clock>('after'),
  emulatedVersion: fromFlag(features['emulated-version']),
  minCompatibilityVersion: fromFlag(features['min-compatibility-version']),
  featureGates: record(boolean, (name, value) => gateProblem(name, String(value)))
}

/**
 * Options that Fastify reads. A prefix with a wildcard would take every path below it for itself, so that no request of
 * the start ends.
 */
const FASTIFY = {
  prefix: string(value => value.includes('*') ? 'must be a path without wildcards' : undefined), logLevel: anything,
  logSerializers: anything
}

/** A host's options under our names. @throws OptionError for the first unknown name or invalid value */
export function checkedOptions (given: ServerOptions): ServerOptions {
  const options = withOwnOptions(given)
  checkOptions(options)
  return options
}

/** @throws OptionError */
export function checkOptions (options: unknown): void {
  checkMembers({ ...OPTIONS, ...FASTIFY }, options, '')
  checkTogether(options as ServerOptions) // checked
}

/** What options require of each other. */
function checkTogether (options: ServerOptions): void {
  const {
    featureGates = {}, compatNames, emulatedVersion = usualRelease(compatNames), minCompatibilityVersion, storage = {},
    collectGarbage
  } = options
  const gates = settingsProblem(featureGates, emulatedVersion)
  if (gates !== undefined) throw new OptionError('featureGates', undefined, gates)
  const resolved = featureGatesOf(featureGates, { release: emulatedVersion })
  if (compatNames !== true) refusePublicNames(options)
  const service = keyServiceProblem(storage.encryption ?? {}, resolved)
  if (service !== undefined) throw new OptionError('storage.encryption', undefined, service)
  if (collectGarbage === true && storage.garbageCollection === false) {
    throw new OptionError(
      'collectGarbage', 'true', 'needs storage.garbageCollection, without which no deletion waits for a collector'
    )
  }
  const reader = minCompatibilityVersion && readerProblem(minCompatibilityVersion, emulatedVersion)
  if (reader) throw new OptionError('minCompatibilityVersion', minCompatibilityVersion, reader)
}

/** What only clients with public names know: their audit events, and their name of protobuf. */
function refusePublicNames ({ storage, audit }: ServerOptions): void {
  const refuse = (option: string, value: string): never => {
    throw new OptionError(option, value, 'needs compatNames beside it')
  }
  if (storage?.mediaType === PUBLIC_PROTOBUF_TYPE) refuse('storage.mediaType', storage.mediaType)
  for (const [option, version] of [['audit', audit?.version], ['audit.webhook', audit?.webhook?.version]] as const) {
    if (version !== undefined && version !== 'audit.orch.io/v1') refuse(`${option}.version`, version)
  }
}
