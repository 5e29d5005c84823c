/**
 * The server as a Fastify plugin: the life of a request, in order. Hooks run in the order of
 * registration, so this order is the security of the server.
 *
 *     import orch from 'orch-apiserver'
 *     await fastify.register(orch, { prefix: '/cluster' })
 *
 * It is not wrapped by fastify-plugin: decorators, parsers and the error handler stay out of the host.
 */
import type { FastifyInstance } from 'fastify'
import type { ServerOptions } from './config/server-options.js'
import { openStorage, overridesOf } from './config/storage.js'
import audit from './plugins/audit.js'
import authentication from './plugins/authentication/index.js'
import authorization from './plugins/authorization.js'
import deadline from './plugins/deadline.js'
import dryRun from './plugins/dry-run.js'
import errors from './plugins/errors.js'
import health from './plugins/health.js'
import inFlightLimits from './plugins/in-flight-limits.js'
import metrics from './plugins/metrics.js'
import negotiation from './plugins/negotiation.js'
import requestInfo from './plugins/request-info.js'
import securityHeaders from './plugins/security-headers.js'
import type { OrchServer } from './plugins/server.js'
import shutdown from './plugins/shutdown.js'
import storage from './plugins/storage.js'
import routes from './routes/index.js'
import { PROTOBUF_TYPE } from './schemas/media-types.js'

export type { ServerOptions } from './config/server-options.js'
export type { Authenticator, Authorizer, UserInfo } from './schemas/request.js'
export type { AdmissionPlugin, AdmissionRequest } from './storage/admission.js'
export { StatusError } from './schemas/status.js'

const MINUTE = 60_000

export default async function orch (fastify: FastifyInstance, options: ServerOptions = {}): Promise<void> {
  // Each member is set by the plugin that owns it, all of them below.
  fastify.decorate('orch', {
    settings: {
      minRequestTimeoutSeconds: options.minRequestTimeoutSeconds ?? 1800,
      deleteCollectionWorkers: options.deleteCollectionWorkers ?? 1,
      disabledGroupVersions: new Set(options.disabledGroupVersions ?? []),
      externalHostname: options.externalHostname,
      advertiseAddress: options.advertiseAddress
    }
  } as Partial<OrchServer> as OrchServer)

  await fastify.register(errors)
  await fastify.register(requestInfo)
  await fastify.register(metrics, options.metrics ?? {})
  await fastify.register(shutdown, { delay: options.shutdownDelay ?? 0, sendRetryAfter: options.shutdownSendRetryAfter ?? false, drainTimeout: options.requestTimeout ?? MINUTE })
  await fastify.register(deadline, { timeout: options.requestTimeout ?? MINUTE })
  await fastify.register(securityHeaders, { allowedOrigins: options.corsAllowedOrigins ?? [], strictTransportSecurity: options.strictTransportSecurity ?? [] })
  await fastify.register(authentication, {
    anonymous: options.anonymous ?? true,
    tokens: options.tokens,
    clientCertificates: options.clientCertificates ?? false,
    authenticators: options.authenticators ?? []
  })
  await fastify.register(audit, options.audit ?? {})
  await fastify.register(inFlightLimits, { reading: options.maxRequestsInflight ?? 400, mutating: options.maxMutatingRequestsInflight ?? 200 })
  await fastify.register(authorization, { modes: options.authorizationModes ?? ['AlwaysAllow'], authorizers: options.authorizers ?? [] })
  await fastify.register(negotiation)
  await fastify.register(dryRun)

  await fastify.register(health, { livezGracePeriod: options.livezGracePeriod ?? 0 })
  await fastify.register(storage, {
    open: () => openStorage(options.storage ?? { kind: 'memory' }),
    overrides: overridesOf(options.storage),
    prefix: options.storePrefix ?? '/registry',
    mediaType: options.storageMediaType ?? PROTOBUF_TYPE,
    windowSizeOf: (group, plural) => options.watchCacheSizes?.[`${group}/${plural}`] ?? options.watchCacheSize ?? 100,
    compactionInterval: options.compactionInterval ?? 5 * MINUTE,
    healthTimeout: options.storage?.healthcheckTimeout ?? 2000,
    disabledAdmission: options.disabledAdmission ?? [],
    admission: options.admission ?? []
  })
  await fastify.register(routes)
}
