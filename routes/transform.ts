/** The representations an object can be asked for as: a Table, or its metadata alone. (Interface: Table representation.) */
import type { FastifyRequest } from 'fastify'
import { partialMetadata, partialMetadataProtobuf } from '../schemas/codec/encodings.js'
import { tableColumns, tableRow } from '../schemas/index.js'
import type { ApiObject, Tabular } from '../schemas/index.js'
import { badRequest } from '../schemas/status.js'

export interface Form {
  readonly format: 'json' | 'yaml' | 'protobuf'
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | undefined
  /** Of what it is shown as: `meta.orch.io/v1`. */
  readonly asVersion: string
}

export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** @throws StatusError 400 */
export function includeObject (request: FastifyRequest): IncludeObject {
  const value = request.orch.query.get('includeObject') ?? ''
  if (value === '' || value === 'Metadata') return 'Metadata'
  if (value === 'None' || value === 'Object') return value
  throw badRequest(`Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value.slice(0, 100))}: must be 'Metadata', 'Object', 'None', or empty`)
}

/** One row, with the object in the form asked for; as convention, null where none is. */
export function row (shown: Tabular, object: ApiObject, include: IncludeObject, form: Form, now: number): object {
  const { cells, conditions } = tableRow(shown, object, now)
  const made = { cells, ...(conditions.length === 0 ? {} : { conditions }) }
  if (include === 'None') return { ...made, object: null }
  return { ...made, object: include === 'Object' ? object : partialMetadata(object, form.asVersion) }
}

/** `columns: false` says nothing of columns, not even that there are none, as in a watch after its first event. */
export function table (shown: Tabular, metadata: object, rows: object[], form: Form, columns = true): object {
  return { kind: 'Table', apiVersion: form.asVersion, metadata, columnDefinitions: columns ? tableColumns(shown) : null, rows }
}

/** One object in the form of its request; a Buffer is protobuf. */
export function transformed (request: FastifyRequest, shown: Tabular, form: Form, object: ApiObject): object | Buffer {
  if (form.as === 'Table') {
    const { resourceVersion } = object.metadata
    return table(shown, resourceVersion === undefined ? {} : { resourceVersion }, [row(shown, object, includeObject(request), form, Date.now())], form)
  }
  return form.format === 'protobuf' ? partialMetadataProtobuf(object, form.asVersion) : partialMetadata(object, form.asVersion)
}
