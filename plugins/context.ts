/**
 * Where plugins and routes meet: what a request carries and what the server offers. It is not a plugin;
 * it is the one `declare module` of the repository and the interfaces behind its two decorators.
 */
import type { UserInfo, RequestInfo } from '../schemas/request.js'
import type { StatusError } from '../schemas/status.js'
import type { OrchServer } from './server.js'

export interface RequestContext {
  /** Parsed once by request info; every concern below reads it. */
  readonly info: RequestInfo
  /** Wall clock of arrival, for audit. */
  readonly receivedAt: Date
  /** Unique per request; echoed in the Audit-ID header. */
  readonly auditId: string
  /** Set by authentication. */
  user: UserInfo | undefined
  /** True for `dryRun=All`: every stage runs but persistence. */
  dryRun: boolean
  /** Sent as Warning headers (code 299). */
  readonly warnings: string[]
  /** Annotations of the audit event. */
  readonly annotations: Record<string, string>
  /** The failure the request ended with, for audit and metrics. */
  failure: StatusError | undefined
  /** Ends with the request: client gone, deadline passed, or server closing. */
  readonly signal: AbortSignal
}

declare module 'fastify' {
  interface FastifyRequest { orch: RequestContext }
  interface FastifyInstance { orch: OrchServer }
}
