/**
 * Where plugins and routes meet: what a request carries and what the server offers. It is not a plugin;
 * it is the one `declare module` of the repository and the interfaces behind its two decorators.
 */
import type { UserInfo, RequestInfo } from '../schemas/request.js'
import type { StatusError } from '../schemas/status.js'
import type { OrchServer } from './server.js'

/** The answer's form, chosen from Accept. */
export interface Negotiated {
  readonly format: 'json' | 'yaml' | 'protobuf'
  /** A transformation of the object, `as=…;g=meta.orch.io;v=…`. */
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | undefined
  /** Version of meta.orch.io the transformation was asked in. */
  readonly asVersion: 'v1' | 'v1beta1'
  /** Indented JSON. */
  readonly pretty: boolean
}

export interface RequestContext {
  /** Parsed once by request info; every concern below reads it. */
  readonly info: RequestInfo
  /** The query as sent, decoded; empty where there is none. */
  readonly query: URLSearchParams
  /** Wall clock of arrival, for audit. */
  readonly receivedAt: Date
  /** Unique per request; echoed in the Audit-ID header. */
  readonly auditId: string
  /** Set by authentication. */
  user: UserInfo | undefined
  /** True for `dryRun=All`: every stage runs but persistence. */
  dryRun: boolean
  /** Set by content negotiation. */
  accept: Negotiated | undefined
  /** Sent as Warning headers (code 299). */
  readonly warnings: string[]
  /** Annotations of the audit event. Who adds one replaces all. */
  annotations: Readonly<Record<string, string>>
  /** The failure the request ended with, for audit and metrics. */
  failure: StatusError | undefined
  /** Aborts when nobody waits for the answer any more: the client has gone or the deadline has passed. */
  readonly signal: AbortSignal
  /** Aborts `signal`. */
  end: () => void
  /** Calls back, in order, when the answer has gone out or the connection has; at once when that is so already. Cheaper than a listener of each one's own. */
  onClosed: (then: () => void) => void
}

declare module 'fastify' {
  interface FastifyRequest { orch: RequestContext }
  interface FastifyInstance { orch: OrchServer }
}
