/**
 * Where plugins and routes meet: what a request carries and what the server offers. It is not a plugin;
 * it is the one `declare module` of the repository and the interfaces behind its two decorators.
 */
import type { RequestInfo } from '../auth/request-info.js'
import type { UserInfo } from '../schemas/meta/user-info.js'
import type { Status, StatusError } from '../schemas/status.js'
import type { Trace } from '../registry/trace.js'
import type { OrchServer } from './server.js'

/** The answer's form, chosen from Accept. */
export interface Negotiated {
  readonly format: 'json' | 'yaml' | 'protobuf'
  /** A transformation of the object, `as=…;g=meta.orch.io;v=…`. */
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | undefined
  /** Of what it is shown as: `meta.orch.io/v1`. */
  readonly asVersion: string
  /** Indented JSON. */
  readonly pretty: boolean
}

/** What objects say of themselves. */
export interface Recorded {
  readonly metadata?: { readonly name?: string | undefined, readonly namespace?: string | undefined, readonly uid?: string | undefined, readonly resourceVersion?: string | undefined }
}

/** Told of the objects of a request by whoever has them; keeps as much as the audit policy asks for. */
export interface ObjectRecorder {
  /** Whether what was sent is kept. */
  readonly wantsRequest: boolean
  /** Whether answers are kept, for who would have to put one together. */
  readonly wantsResponse: boolean
  /** What was sent, as it was decoded. @param json called at once or never */
  request: (sent: Recorded | undefined, json: () => string) => void
  response: (json: () => string) => void
  /** An answer that is a Status. */
  status: (status: Omit<Status, 'code'>) => void
  /** An answer is not given, as it would fill the memory. */
  tooLarge: () => void
}

/** What a request holds of a limit until it needs it no more. */
export interface HeldPlace {
  /** As `handedOver` of the request. */
  readonly handedOver: (bytes: number) => void
  /** The request is over, however far it got. */
  readonly closed: () => void
}

export interface RequestContext {
  /** Parsed once by request info; every concern below reads it. */
  readonly info: RequestInfo
  /** The query as sent, decoded; empty where there is none. */
  readonly query: URLSearchParams
  /** Lets go of the query, for a request that lasts long and has read it. */
  dropQuery: () => void
  /** Wall clock of arrival, for audit. */
  readonly receivedAt: Date
  /** Unique per request, unless whoever sent it has named it; echoed in the Audit-ID header. */
  readonly auditId: string
  /** What is done for it, step by step, since it arrived. */
  readonly trace: Trace
  /** Set by authentication. */
  user: UserInfo | undefined
  /** Who acts as `user`: the one who was authenticated. Set by impersonation. */
  impersonator: UserInfo | undefined
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
  /** The failure is a defect of ours. */
  defect: boolean
  /** Milliseconds that admission webhooks took, one after the other, and the most of those that were asked at once. */
  waited: number
  waitedTogether: number
  /** On the clock of `performance`: when the last step before its route ended. Set by `filter-times.ts`. */
  filterSince: number
  /** The audit policy has been asked what of it is recorded. */
  audited: boolean
  /** Undefined where nothing is recorded of objects. */
  recorder: ObjectRecorder | undefined
  /** Aborts when nobody waits for the answer any more: the client has gone or the deadline has passed. */
  readonly signal: AbortSignal
  /** Aborts `signal`, and calls `onEnd` before. */
  end: () => void
  /** Set by who receives the body, while it does: an AbortController for each body would cost more than a small one. */
  onEnd: (() => void) | undefined
  /**
   * Told by whoever sends the answer that all of it is out of our hands, or that the rest of it waits for the client, with
   * so many bytes that are there and that the client has still to take. The last call holds. Of a watch: that it has begun.
   */
  handedOver: (bytes: number) => void
  /** Takes the one place that it has among the requests under way. */
  occupy: (place: HeldPlace) => void
  /** Calls back, in order, when the answer has gone out or the connection has; at once when that is so already. Cheaper than a listener of each one's own. */
  onClosed: (then: () => void) => void
}

declare module 'fastify' {
  interface FastifyRequest { orch: RequestContext }
  interface FastifyInstance { orch: OrchServer }
}
