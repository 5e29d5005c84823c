/**
 * The server as a Fastify plugin. Hooks run in order of registration, so this order is the server's security.
 *
 *     import orch from 'orch-apiserver'
 *     await fastify.register(orch, { prefix: '/cluster' })
 *
 * The host gets `fastify.orch` alone: decorators, parsers and the error handler stay in a scope of the server's own.
 *
 * @packageDocumentation
 */
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { checkedOptions } from './config/checks/index.js'
import { decorateHost } from './host/index.js'
import type { ServerOptions } from './config/server-options.js'
import admission from './plugins/admission/index.js'
import aggregation from './plugins/aggregation/index.js'
import audit from './plugins/audit/index.js'
import authentication from './plugins/authentication/index.js'
import authorization from './plugins/authorization/index.js'
import connections from './plugins/connections/index.js'
import controllers from './plugins/controllers/index.js'
import deadline from './plugins/deadline.js'
import dryRun from './plugins/dry-run.js'
import egress from './plugins/egress.js'
import errors from './plugins/errors.js'
import filterTimes from './plugins/filter-times.js'
import flowControl from './plugins/flow-control/index.js'
import health from './plugins/health.js'
import http1Connections from './plugins/http1-connections.js'
import http2Sessions from './plugins/http2-sessions.js'
import impersonation from './plugins/impersonation/index.js'
import inFlightLimits from './plugins/in-flight-limits.js'
import metrics from './plugins/metrics/index.js'
import negotiation from './plugins/negotiation.js'
import operations from './plugins/operations/index.js'
import profiling from './plugins/profiling/index.js'
import registry from './plugins/registry/index.js'
import requestBodies from './plugins/request-bodies.js'
import requestInfo from './plugins/request-info/index.js'
import requestLog from './plugins/request-log.js'
import securityHeaders from './plugins/security-headers.js'
import { outside } from './plugins/shared/outside.js'
import shutdown from './plugins/shutdown.js'
import standalone from './plugins/standalone.js'
import storage from './plugins/storage/index.js'
import stalledRequests from './plugins/stalled-requests.js'
import storageVersionBarrier from './plugins/storage-version-barrier.js'
import tracing from './plugins/tracing/index.js'
import zpages, { pathsOf } from './plugins/zpages.js'
import routes from './routes/index.js'
import { featureGates, type Gates } from './schemas/gates.js'
import { usualReader, usualRelease } from './schemas/meta/release.js'
import { OFF_BY_DEFAULT } from './schemas/resources.js'
import { systemClock } from './event-loop/clock.js'

export type { ServerOptions } from './config/server-options.js'
export type * from './host/contract.js'
export { OptionError } from './config/option.js'
export type { Authenticated } from './auth/authenticator.js'
export type {
  HostAuthenticator as Authenticator, HostCredentials as Credentials
} from './plugins/authentication/index.js'
export type { Authorizer } from './auth/authorizer.js'
export type { UserInfo } from './schemas/meta/user-info.js'
export { pluginFor } from './registry/admission.js'
export type {
  AdmissionPlugin, AdmissionReader, AdmissionRequest, AdmissionRule, TypedPlugin, TypedRequest
} from './registry/admission.js'
export { StatusError } from './schemas/status.js'
export type { Backend } from './storage/backend.js'
export type { Clock } from './event-loop/clock.js'
export { StorageError } from './storage/errors.js'

/** The server in a scope of its own, which has its decorators. */
export const server: FastifyPluginAsync<ServerOptions> = async function server (fastify, given = {}) {
  await serve(fastify, checkedOptions(given))
}

/** What more than one plugin has to know. */
function settingsOf (options: ServerOptions): NonNullable<FastifyInstance['orchSettings']> {
  const { limits = {}, api = {} } = options
  const others = outside(options.compatNames === true)
  const gates = featureGates(options.featureGates, {
    publicGroup: others.otherGroup,
    release: options.emulatedVersion ?? usualRelease(options.compatNames)
  })
  return {
    minRequestTimeoutSeconds: limits.minRequestTimeoutSeconds ?? 1800,
    deleteCollectionWorkers: limits.deleteCollectionWorkers ?? 1,
    connectionBytesPerSecond: limits.connectionBytesPerSecond ?? 0,
    featureGates: gates,
    reader: options.minCompatibilityVersion ?? usualReader(gates.release),
    flags: options.flags,
    statePaths: pathsOf({ featureGates: gates, flags: options.flags }),
    disabledApis: new Set(api.disabled ?? OFF_BY_DEFAULT),
    laterApis: new Set(api.later),
    externalHostname: api.externalHostname,
    advertiseAddress: api.advertiseAddress,
    outside: others
  }
}

/** Resources whose objects are not to be logged. */
const encryptedOf = ({ storage }: ServerOptions): readonly string[] => storage?.encryptionFile === undefined
  ? storage?.encryption?.resources?.flatMap(({ resources = [] }) => resources) ?? []
  : ['*.*'] // the file says which, and may change

async function registerLimits (
  fastify: FastifyInstance, limits: NonNullable<ServerOptions['limits']>, gates: Gates
): Promise<void> {
  const { maxRequestsInflight: reading = 400, maxMutatingRequestsInflight: mutating = 200, requestTimeout } = limits
  if (limits.priorityAndFairness !== true || !gates.enabled('APIPriorityAndFairness')) {
    await fastify.register(inFlightLimits, { reading, mutating })
    return
  }
  await fastify.register(flowControl, {
    seats: reading + mutating, requestTimeout, lending: gates.enabled('FairnessLendsSeats'),
    narrow: gates.enabled('SizeBasedListCostEstimate')
  })
  await fastify.register(filterTimes, { behind: 'priorityandfairness' })
}

async function serve (fastify: FastifyInstance, options: ServerOptions): Promise<void> {
  const { limits = {}, clock = systemClock } = options
  const settings = settingsOf(options)
  const { featureGates: gates } = settings
  fastify.decorate('orchClock', clock)
  fastify.decorate('orchSettings', settings)
  if (options.requestLog !== undefined) {
    await fastify.register(requestLog, { ...options.requestLog, encrypted: encryptedOf(options) })
  }
  await fastify.register(errors)
  await fastify.register(http1Connections)
  await fastify.register(requestInfo, {
    compatNames: options.compatNames, selectors: gates.enabled('AuthorizeWithSelectors'),
    inDocuments: options.api?.inDocuments
  })
  await fastify.register(tracing, { passOn: gates.enabled('APIServerTracing'), ...options.tracing })
  await fastify.register(http2Sessions)
  await fastify.register(metrics, { ...options.metrics, gates, reader: options.minCompatibilityVersion })
  await fastify.register(egress, { proxies: options.egress })
  await fastify.register(shutdown, { ...options.shutdown, drainTimeout: limits.requestTimeout })
  await fastify.register(health, options.health ?? {})
  await fastify.register(storage, { storage: options.storage })
  await fastify.register(registry, {
    storage: options.storage, watchCache: options.watchCache, services: options.services
  })
  await fastify.register(deadline, { timeout: limits.requestTimeout })
  await fastify.register(securityHeaders, options.securityHeaders ?? {})
  await fastify.register(filterTimes)
  await fastify.register(authentication, options.authentication ?? {})
  await fastify.register(filterTimes, { behind: 'authentication' })
  await fastify.register(audit, options.audit ?? {})
  await fastify.register(filterTimes, { behind: 'audit' })
  await fastify.register(impersonation)
  await fastify.register(filterTimes, { behind: 'impersonation' })
  await fastify.register(stalledRequests, { guard: options.stallGuard })
  await registerLimits(fastify, limits, gates)
  await fastify.register(authorization, options.authorization ?? {})
  await fastify.register(filterTimes, { behind: 'authorization' })
  await fastify.register(requestBodies, { budget: limits.maxBodyBytesInflight })
  await fastify.register(negotiation)
  await fastify.register(dryRun)
  await fastify.register(standalone, { standalone: options.standalone })
  await fastify.register(admission, {
    admission: options.admission, allowPrivileged: options.allowPrivileged, outbound: options.outbound
  })
  await fastify.register(aggregation, options.outbound ?? {})
  await fastify.register(controllers, {
    quotas: options.admission?.disabled?.includes('ResourceQuota') !== true, rootCA: options.rootCA,
    orchService: options.orchService, leadership: options.leadership, collectGarbage: options.collectGarbage,
    identityLease: gates.enabled('APIServerIdentity') ? options.identityLease ?? {} : undefined
  })
  await fastify.register(storageVersionBarrier)
  await fastify.register(operations)
  await fastify.register(connections, options.connections ?? {})
  if (options.profiling !== undefined) {
    await fastify.register(profiling, { ...options.profiling, requestTimeout: limits.requestTimeout })
  }
  await fastify.register(zpages)
  await fastify.register(routes)
}

type HostOptions = ServerOptions & { readonly prefix?: string }

/** Whether requests without credentials may do everything that no authorizer of the host denies. */
function admitsEverybody ({ authentication, authorization }: ServerOptions): boolean {
  const { anonymous = true } = authentication ?? {}
  const { modes, configured } = authorization ?? {}
  return anonymous === true && configured === undefined && modes?.includes('AlwaysAllow') !== false
}

/**
 * The server. Decorates the host with `orch`, of which `orch.client` reads and writes objects in this process. Rejects
 * with an OptionError, a TypeError, for options that are unknown or invalid, before anything is opened.
 */
const orch: FastifyPluginAsync<ServerOptions> = fp(async function orch (fastify, given: HostOptions) {
  const options: HostOptions = checkedOptions(given)
  const { prefix = '' } = options
  if (admitsEverybody(options)) {
    fastify.log.warn(`everybody who reaches ${fastify.prefix}${prefix}/ may do everything: authentication.anonymous ` +
      'is true and authorization.modes has AlwaysAllow, their defaults; see docs/embedding.md of orch-apiserver')
  }
  let scope: FastifyInstance | undefined
  await fastify.register(async instance => {
    scope = instance
    await serve(instance, options)
  }, options)
  if (scope !== undefined) decorateHost(fastify, prefix, scope)
}, { name: 'orch-apiserver', fastify: '5.x' })

export default orch
