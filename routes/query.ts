/** Parses query parameters; errors name the parameter and its valid values. */
import type { Representation } from '../schemas/resource.js'
import {
  parseFieldSelector, holdFieldSelector, NO_FIELDS, type FieldSelectorMatcher
} from '../schemas/selectors/fields.js'
import {
  NO_LABELS, holdLabelSelector, parseLabelSelector, type LabelSelectorMatcher
} from '../schemas/selectors/labels.js'
import type { Gates } from '../schemas/gates.js'
import { isTrue } from '../schemas/query-boolean.js'
import { badRequest } from '../schemas/status.js'
import type { ResourceStore } from '../registry/resource-store.js'
import type { Caller } from '../registry/write-context.js'
import type { ListRequest } from '../registry/verbs/list-request.js'
import { quote } from '../schemas/quote.js'
import { rulesOf } from './list-options.js'

const [MIN_INT64, MAX_INT64] = [-(2n ** 63n), 2n ** 63n - 1n]

/**
 * A 64-bit integer. Values beyond ±9007199254740991 are rounded; no parameter needs them exactly.
 * @throws StatusError 400
 */
export function integer (query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : longInteger(text)
  if (Number.isNaN(value)) throw badRequest(`${name}: invalid value ${quote(text)}: it must be a whole number`)
  return value
}

function longInteger (text: string): number {
  if (!/^-?\d{16,19}$/.test(text)) return NaN
  const value = BigInt(text)
  return value >= MIN_INT64 && value <= MAX_INT64 ? Number(value) : NaN
}

export const bool = (query: URLSearchParams, name: string): boolean => isTrue(query.get(name))

/** A non-negative integer. @throws StatusError 400 */
export function count (query: URLSearchParams, name: string): number | undefined {
  const value = integer(query, name)
  if (value !== undefined && value < 0) throw badRequest(`${name}: invalid value ${value}: it must not be negative`)
  return value
}

export const text = (query: URLSearchParams, name: string): string => query.get(name) ?? ''

export interface Selection { readonly labels: LabelSelectorMatcher, readonly fields: FieldSelectorMatcher }

const NO_SELECTION: Selection = { labels: NO_LABELS, fields: NO_FIELDS }

/** The selectors of a list or watch. @throws DecodeError if malformed */
export function selectors (query: URLSearchParams, definition: Representation): Selection {
  const labels = query.get('labelSelector') ?? ''
  const fields = query.get('fieldSelector') ?? ''
  if (labels === '' && fields === '') return NO_SELECTION
  return { labels: parseLabelSelector(labels), fields: parseFieldSelector(fields, definition) }
}

/** As `selectors` for a watch, which keeps them in memory. @throws DecodeError also if they are too large for that */
export function watchSelectors (query: URLSearchParams, definition: Representation): Selection {
  const selection = selectors(query, definition)
  return selection === NO_SELECTION
    ? NO_SELECTION
    : { labels: holdLabelSelector(selection.labels), fields: holdFieldSelector(selection.fields, definition) }
}

interface Asked extends Caller { readonly query: URLSearchParams, readonly info: { readonly namespace: string } }

/** Most items of a page; 0 for all. @throws StatusError 400 */
function limitOf (query: URLSearchParams, gates: Gates): number {
  if (!query.has('limit')) return 0
  const { negativeIsNone, anyIsWhole } = rulesOf(gates)
  const limit = (negativeIsNone ? integer(query, 'limit') : count(query, 'limit')) ?? 0
  const isAny = query.get('resourceVersion') === '0' && text(query, 'continue') === ''
  return anyIsWhole && isAny ? 0 : Math.max(0, limit)
}

class ParsedListRequest implements ListRequest {
  readonly labels: LabelSelectorMatcher
  readonly fields: FieldSelectorMatcher
  readonly namespace: string
  readonly limit: number
  readonly continue: string
  readonly resourceVersion: string
  readonly resourceVersionMatch: string
  readonly #caller: Caller

  constructor ({ labels, fields }: Selection, asked: Asked, gates: Gates) {
    const { query, info } = asked
    const isChunked = gates.enabled('APIListChunking')
    this.labels = labels
    this.fields = fields
    this.namespace = info.namespace
    const limit = limitOf(query, gates)
    this.limit = isChunked ? limit : 0
    this.continue = isChunked ? text(query, 'continue') : ''
    this.resourceVersion = text(query, 'resourceVersion')
    this.resourceVersionMatch = text(query, 'resourceVersionMatch')
    this.#caller = asked
  }

  /** For lists that must wait. */
  get signal (): AbortSignal { return this.#caller.signal }
}

/** The parameters of a list. @throws StatusError 400, DecodeError */
export function listRequest (asked: Asked, { representation, gates }: ResourceStore): ListRequest {
  count(asked.query, 'timeoutSeconds')
  const selection = selectors(asked.query, representation)
  return new ParsedListRequest(selection, asked, gates)
}
