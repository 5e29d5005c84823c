/** The state of one request, `request.orch`. */
import type { EventEmitter } from 'node:events'
import type { RequestInfo } from '../../auth/request-info.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import type { StatusError } from '../../schemas/status.js'
import { Trace } from '../../registry/trace.js'
import { OWN } from '../shared/client-names.js'
import type { LimitPlace, Negotiated, ObjectRecorder, RequestContext } from '../../answers/request-context.js'

/** Shared by all requests without a query, so that it does not change. */
class EmptyQuery extends URLSearchParams {
  override set (): never { throw new TypeError('the query of a request does not change; see `setQuery`') }
  override append (): never { return this.set() }
}
const NO_QUERY = new EmptyQuery()

const NO_ANNOTATIONS = Object.freeze({})

/** Abort reason of ended requests; shared, because most requests with a signal end with it. */
const ENDED = new Error('the request has ended')

interface Arrival {
  /** The query. */
  readonly search: string
  /** Default own names. */
  readonly naming?: RequestContext['naming']
  readonly auditId: string
  /** Milliseconds since 1970. */
  readonly received: number
}

export class Context implements RequestContext {
  readonly auditId: string
  readonly trace: Trace
  user: UserInfo | undefined = undefined
  impersonator: UserInfo | undefined = undefined
  impersonationConstraint: string | undefined = undefined
  dryRun = false
  accept: Negotiated | undefined = undefined
  readonly warnings: string[] = []
  annotations: Readonly<Record<string, string>> = NO_ANNOTATIONS
  failure: StatusError | undefined = undefined
  overdue = false
  defect = false
  waited = 0
  waitedTogether = 0
  filterSince = 0
  filtered: RequestContext['filtered'] = undefined
  audited = false
  recorder: ObjectRecorder | undefined = undefined
  onEnd: (() => void) | undefined = undefined
  begun: (() => void) | undefined = undefined
  readonly info: RequestInfo
  readonly naming: RequestContext['naming']
  #search: string
  #query: URLSearchParams | undefined
  #controller: AbortController | undefined
  #ended = false
  readonly #received: number
  readonly #raw: EventEmitter
  /** Emptied on close to release references to the request. */
  #closed: Array<() => void> | undefined
  #released = false
  #place: LimitPlace | undefined

  constructor (info: RequestInfo, { search, naming = OWN, auditId, received }: Arrival, raw: EventEmitter) {
    this.info = info
    this.naming = naming
    this.#received = received
    this.auditId = auditId
    this.trace = new Trace(auditId)
    this.#search = search
    this.#raw = raw
  }

  occupy (place: LimitPlace): void {
    this.#place = place
    this.onClosed(() => { place.closed() })
  }

  handedOver (bytes: number): void { this.#place?.handedOver(bytes) }

  onClosed (then: () => void): void {
    if (this.#released) {
      then()
      return
    }
    if (this.#closed !== undefined) {
      this.#closed.push(then)
      return
    }
    const closed = this.#closed = [then]
    this.#raw.on('close', () => {
      this.#released = true
      for (const listener of closed.splice(0)) listener()
    })
  }

  get receivedAt (): Date { return new Date(this.#received) }

  get query (): URLSearchParams {
    this.#query ??= this.#search === '' ? NO_QUERY : new URLSearchParams(this.#search)
    return this.#query
  }

  setQuery (query: URLSearchParams): void { this.#query = query }

  dropQuery (): void {
    this.#search = ''
    this.#query = undefined
  }

  /** Created lazily: most requests never need it. */
  get signal (): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#ended) this.#controller.abort(ENDED)
      else this.onClosed(() => { this.end() })
    }
    return this.#controller.signal
  }

  warn (text: string): void { this.warnings.push(text) }

  annotate (key: string, value: string, level: 'Metadata' | 'Request' = 'Metadata'): void {
    if (level === 'Request' && this.recorder?.wantsRequest !== true) return
    this.annotations = { ...this.annotations, [key]: value }
  }

  waitedFor (milliseconds: number, together: boolean): void {
    if (together) this.waitedTogether = Math.max(this.waitedTogether, milliseconds)
    else this.waited += milliseconds
  }

  get isGone (): boolean { return this.#ended || this.#released }

  end (): void {
    this.#ended = true
    this.onEnd?.()
    this.#controller?.abort(ENDED)
  }
}
