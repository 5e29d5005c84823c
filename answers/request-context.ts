/** The decorator of requests, `request.orch`, which `plugins/request-info/` creates; with the names of the client. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { RequestInfo } from '../auth/request-info.js'
import type { UserInfo } from '../schemas/meta/user-info.js'
import type { Naming } from '../schemas/naming.js'
import type { Status, StatusError } from '../schemas/status.js'
import type { Trace } from '../registry/trace.js'
import type { Caller } from '../registry/write-context.js'

/** Response format chosen from the Accept header. */
export interface Negotiated {
  readonly format: 'json' | 'yaml' | 'protobuf'
  /** The front page, as HTML; errors are in `format`. */
  readonly page?: true
  /** Requested transformation: `as=…;g=meta.orch.io;v=…`. */
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | 'APIGroupDiscoveryList' | undefined
  /** apiVersion of the transformed object: `meta.orch.io/v1`; of the document of all groups. */
  readonly asVersion: string
  /** Indented JSON. */
  readonly pretty: boolean
}

/** The identifying metadata of an object. */
export interface Recorded {
  readonly metadata?: {
    readonly name?: string | undefined, readonly namespace?: string | undefined, readonly uid?: string | undefined,
    readonly resourceVersion?: string | undefined
  }
}

/** Receives the objects of a request and keeps what the audit policy requires. */
export interface ObjectRecorder {
  /** True if request objects are recorded. */
  readonly wantsRequest: boolean
  /** True if response objects are recorded. Callers that would have to build one check this first. */
  readonly wantsResponse: boolean
  /** Records the decoded request object. @param json called synchronously or never */
  request: (sent: Recorded | undefined, json: () => string) => void
  response: (json: () => string) => void
  /** Records a Status response. */
  status: (status: Omit<Status, 'code'>) => void
  /** Records that the response was omitted because of its size. */
  tooLarge: () => void
}

/** A request's hold on a concurrency limit. */
export interface LimitPlace {
  /** @see RequestContext.handedOver */
  readonly handedOver: (bytes: number) => void
  /** The request has ended, successfully or not. */
  readonly closed: () => void
}

/** What is known of a request. A write sees it as its caller. */
export interface RequestContext extends Required<Caller> {
  /** Parsed once, by request info; all later plugins read it. */
  readonly info: RequestInfo
  /** The decoded query; empty if the request has none. */
  readonly query: URLSearchParams
  /** Of the client: what it sent is under own names already, answers are not yet. */
  readonly naming: Naming
  /** Replaces the query, before it has been read. */
  setQuery: (query: URLSearchParams) => void
  /** Frees the query of a long-running request after it has been read. */
  dropQuery: () => void
  /** Arrival time on the server's clock, for audit. */
  readonly receivedAt: Date
  /** Unique per request, unless the client supplied one. Echoed in the Audit-ID header. */
  readonly auditId: string
  /** Steps of the request with their times. */
  readonly trace: Trace
  /** Set by authentication. */
  user: UserInfo | undefined
  /** The authenticated user that acts as `user`. Set by impersonation. */
  impersonator: UserInfo | undefined
  /** The verb with which the impersonation was allowed, if that constrains it. Set by impersonation. */
  impersonationConstraint: string | undefined
  /** True for `dryRun=All`: every stage runs but persistence. */
  dryRun: boolean
  /** Set by content negotiation. */
  accept: Negotiated | undefined
  /** Sent as Warning headers (code 299). */
  readonly warnings: string[]
  /** Annotations of the audit event. Immutable: `annotate` replaces the record. */
  annotations: Readonly<Record<string, string>>
  /** The error that ended the request, for audit and metrics. */
  failure: StatusError | undefined
  /** True once its deadline has passed, unless it was answered: whatever is sent becomes the failure. */
  overdue: boolean
  /** True if the failure is a server bug. */
  defect: boolean
  /** Milliseconds spent in admission webhooks: in sequence, and the maximum of those called in parallel. */
  waited: number
  waitedTogether: number
  /** `performance.now()` at the end of the last filter. Set by `filter-times.ts`. */
  filterSince: number
  /** Milliseconds in filters that took more than one. Set by `filter-times.ts`. */
  filtered: Array<readonly [filter: string, milliseconds: number]> | undefined
  /** True once the audit policy has been evaluated. */
  audited: boolean
  /** Undefined if no objects are recorded. */
  recorder: ObjectRecorder | undefined
  /** Aborts when the client disconnects or the deadline passes. */
  readonly signal: AbortSignal
  /** Calls `onEnd`, then aborts `signal`. */
  end: () => void
  /** Set while the body is read. */
  onEnd: (() => void) | undefined
  /**
   * Called by the sender when the response has been written, with the bytes that the client has yet to read. The last
   * call counts. For a watch: it has started.
   */
  handedOver: (bytes: number) => void
  /** Registers the request's place in the concurrency limit. A request has at most one. */
  occupy: (place: LimitPlace) => void
  /**
   * Set by audit for long-running requests: their answer begins. Called for what leaves Fastify before its hooks, which
   * upgraded connections alone do.
   */
  begun: (() => void) | undefined
  /** Runs callbacks in order when the response or its connection has closed, or immediately if it already has. */
  onClosed: (then: () => void) => void
}

declare module 'fastify' {
  /** Undefined until request info has run: where a host's hook answers or fails first, hooks of answers see none. */
  interface FastifyRequest { orch: RequestContext | undefined }
}

/** A server that answers requests: all its plugins have registered. */
type Serving = FastifyInstance & Required<Pick<FastifyInstance, 'orchAuthorization' | 'orchResources' | 'orchSettings'>>

/** A request that has passed request info. */
export type ServedRequest = FastifyRequest & { orch: RequestContext, server: Serving }

/**
 * The request as handlers see it, and hooks that run after request info. @throws Error before that
 *
 * It does not check the server's decorators, because no request arrives before all plugins have registered. Code
 * outside requests calls `loadedServer` (`plugins/shared/plugin.ts`), which does.
 */
export function served (request: FastifyRequest): ServedRequest {
  if (request.orch === undefined) throw new Error(`${request.method} ${request.url} is handled before request info`)
  return request as ServedRequest
}
