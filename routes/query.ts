/** Query parameters as typed values; each failure names the parameter and what it takes. */
import { holdFieldSelector, holdLabelSelector, NO_FIELDS, NO_LABELS, parseFieldSelector, parseLabelSelector } from '../schemas/index.js'
import type { Representation, FieldSelectorMatcher, LabelSelectorMatcher } from '../schemas/index.js'
import { isTrue } from '../schemas/query-boolean.js'
import { badRequest, invalid } from '../schemas/status.js'
import type { Caller } from '../registry/operations/context.js'
import type { ListRequest } from '../registry/operations/list.js'

const shown = (value: string): string => JSON.stringify(value.slice(0, 100))

const [LEAST, MOST] = [-(2n ** 63n), 2n ** 63n - 1n]

/** Of 64 bits. Beyond ±9007199254740991 it is the nearest number: nothing is counted that far. @throws StatusError 400 */
export function integer (query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : longInteger(text)
  if (Number.isNaN(value)) throw badRequest(`${name}: invalid value ${shown(text)}: it must be a whole number`)
  return value
}

function longInteger (text: string): number {
  if (!/^-?\d{16,19}$/.test(text)) return NaN
  const value = BigInt(text)
  return value >= LEAST && value <= MOST ? Number(value) : NaN
}

export const bool = (query: URLSearchParams, name: string): boolean => isTrue(query.get(name))

/** A count that may not be negative. @throws StatusError 400 */
export function count (query: URLSearchParams, name: string): number | undefined {
  const value = integer(query, name)
  if (value !== undefined && value < 0) throw badRequest(`${name}: invalid value ${value}: it must not be negative`)
  return value
}

export const text = (query: URLSearchParams, name: string): string => query.get(name) ?? ''

export interface Selection { readonly labels: LabelSelectorMatcher, readonly fields: FieldSelectorMatcher }

const NOTHING: Selection = { labels: NO_LABELS, fields: NO_FIELDS }

/** The selectors of a list or watch. @throws DecodeError for a selector that can't be read */
export function selectors (query: URLSearchParams, definition: Representation): Selection {
  const labels = query.get('labelSelector') ?? ''
  const fields = query.get('fieldSelector') ?? ''
  if (labels === '' && fields === '') return NOTHING
  return { labels: parseLabelSelector(labels), fields: parseFieldSelector(fields, definition) }
}

/** The same for a watch, which holds them. @throws DecodeError also for those that are too large to be held */
export function heldSelectors (query: URLSearchParams, definition: Representation): Selection {
  const selection = selectors(query, definition)
  return selection === NOTHING ? NOTHING : { labels: holdLabelSelector(selection.labels), fields: holdFieldSelector(selection.fields, definition) }
}

/** A class, as a literal that takes in others and has a getter costs as much as a small list. */
class ParsedListRequest implements ListRequest {
  readonly labels: LabelSelectorMatcher
  readonly fields: FieldSelectorMatcher
  readonly namespace: string
  readonly limit: number
  readonly continue: string
  readonly resourceVersion: string
  readonly resourceVersionMatch: string
  readonly #caller: Caller

  constructor ({ labels, fields }: Selection, query: URLSearchParams, namespace: string, caller: Caller) {
    this.labels = labels
    this.fields = fields
    this.namespace = namespace
    this.limit = count(query, 'limit') ?? 0
    this.continue = text(query, 'continue')
    this.resourceVersion = text(query, 'resourceVersion')
    this.resourceVersionMatch = text(query, 'resourceVersionMatch')
    this.#caller = caller
  }

  /** For lists that have to wait. */
  get signal (): AbortSignal { return this.#caller.signal }
}

/** All that chooses which objects, in which state. @throws StatusError 400, DecodeError */
export function listRequest (query: URLSearchParams, definition: Representation, namespace: string, caller: Caller): ListRequest {
  count(query, 'timeoutSeconds')
  return new ParsedListRequest(selectors(query, definition), query, namespace, caller)
}

/** Parameters of later releases that change what an answer means are refused, so that clients fall back. @throws StatusError 422 */
export function refuseInitialEvents (query: URLSearchParams): void {
  if (!query.has('sendInitialEvents')) return
  throw invalid({ group: 'meta.orch.io', kind: 'ListOptions' }, '', [{
    type: 'FieldValueForbidden', field: 'sendInitialEvents', detail: 'sendInitialEvents is not offered by this server; list, then watch from the version of the list'
  }])
}
