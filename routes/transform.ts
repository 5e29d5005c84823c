/** The representations that a request may choose: Table or metadata only. (Interface: Table representation.) */
import type { FastifyRequest } from 'fastify'
import { translateJson } from '../schemas/compat/objects.js'
import { translateKey } from '../schemas/compat/text.js'
import { CellBudget } from '../schemas/cell-budget.js'
import { partialMetadata, partialMetadataProtobuf } from '../schemas/codec/encodings.js'
import { tableColumns, tableRow, type Tabular, type ApiObject } from '../schemas/index.js'
import { clone } from '../schemas/language/values.js'
import { badRequest } from '../schemas/status.js'
import { quote } from '../schemas/quote.js'
import type { Steps } from '../schemas/steps.js'

export interface TransformRequest {
  readonly format: 'json' | 'yaml' | 'protobuf'
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | undefined
  /** The version of the Table or metadata: `meta.orch.io/v1`. */
  readonly asVersion: string
}

export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** @throws StatusError 400 */
export function includeObject (request: FastifyRequest): IncludeObject {
  const value = request.orch.query.get('includeObject') ?? ''
  if (value === '' || value === 'Metadata') return 'Metadata'
  if (value === 'None' || value === 'Object') return value
  throw badRequest(`Unable to convert to Table as requested: includeObject: Invalid value: ${quote(value)}: must be 'Metadata', 'Object', 'None', or empty`)
}

/** A copy of an object under public names. */
export const publicObject = ({ message }: Tabular, object: ApiObject): ApiObject => message === undefined ? object : translateJson(message, clone(object))

/** What a row shows, beside its cells. */
export interface RowForm {
  readonly include: IncludeObject
  readonly publicNames: boolean
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Of all rows of the answer. */
  readonly budget: CellBudget
}

/** One row, with the object as requested; null for None, as upstream. Cells show the object as its client sees it. */
export function * row (
  tabular: Tabular, own: ApiObject, { asVersion }: TransformRequest, form: RowForm
): Steps<object> {
  const { include, publicNames, now, budget } = form
  let object = own
  if (publicNames) {
    object = publicObject(tabular, own)
    yield
  }
  const named = publicNames ? translateKey : undefined
  const { cells, conditions } = tableRow(tabular, object, now, { named, budget })
  yield
  const made = { cells, ...(conditions.length === 0 ? {} : { conditions }) }
  if (include === 'None') return { ...made, object: null }
  return { ...made, object: include === 'Object' ? object : partialMetadata(object, asVersion) }
}

/** `columns: false` sets the columns to null instead of an empty list, for watch events after the first. */
export function table (tabular: Tabular, metadata: object, rows: object[], requested: TransformRequest, columns = true): object {
  return { kind: 'Table', apiVersion: requested.asVersion, metadata, columnDefinitions: columns ? tableColumns(tabular) : null, rows }
}

/** Transforms one object as requested; a Buffer contains protobuf. */
export function * transformed (
  request: FastifyRequest, tabular: Tabular, requested: TransformRequest, own: ApiObject,
  publicNames = request.orch.publicNames
): Steps<object | Buffer> {
  if (requested.as === 'Table') {
    const { resourceVersion } = own.metadata
    const now = request.server.orch.clock.wall()
    const form = { include: includeObject(request), publicNames, now, budget: new CellBudget() }
    const only = yield * row(tabular, own, requested, form)
    return table(tabular, resourceVersion === undefined ? {} : { resourceVersion }, [only], requested)
  }
  const object = publicNames ? publicObject(tabular, own) : own
  yield
  return requested.format === 'protobuf' ? partialMetadataProtobuf(object, requested.asVersion) : partialMetadata(object, requested.asVersion)
}
