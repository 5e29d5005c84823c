/** The representations an object can be asked for as: a Table, or its metadata alone. (Interface: Table representation.) */
import type { FastifyRequest } from 'fastify'
import { partialMetadata, partialMetadataProtobuf } from '../schemas/encodings.js'
import { tableColumns, tableRow } from '../schemas/index.js'
import type { ApiObject } from '../schemas/index.js'
import { badRequest } from '../schemas/status.js'
import type { Entry } from '../storage/cache/entry.js'
import type { ResourceStore } from '../storage/resource-store.js'

export interface Form {
  readonly format: 'json' | 'yaml' | 'protobuf'
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | undefined
  readonly asVersion: 'v1' | 'v1beta1'
}

export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** @throws StatusError 400 */
export function includeObject (request: FastifyRequest): IncludeObject {
  const value = request.orch.query.get('includeObject') ?? ''
  if (value === '' || value === 'Metadata') return 'Metadata'
  if (value === 'None' || value === 'Object') return value
  throw badRequest(`includeObject: unsupported value ${JSON.stringify(value.slice(0, 100))}; supported values: "None", "Metadata", "Object"`)
}

export const transformVersion = ({ asVersion }: Form): string => `meta.orch.io/${asVersion}`

/** One row, with the object in the form asked for. */
export function row (store: ResourceStore, object: ApiObject, include: IncludeObject, form: Form, now: number): object {
  const cells = tableRow(store.definition, object, now)
  if (include === 'None') return { cells }
  return { cells, object: include === 'Object' ? object : partialMetadata(object, transformVersion(form)) }
}

/** `columns: false` leaves the definitions empty, as in a watch after its first event. */
export function table (store: ResourceStore, metadata: object, rows: object[], form: Form, columns = true): object {
  return { kind: 'Table', apiVersion: transformVersion(form), metadata, columnDefinitions: columns ? tableColumns(store.definition) : [], rows }
}

/** One object in the form of its request; a Buffer is protobuf. */
export function transformed (request: FastifyRequest, store: ResourceStore, form: Form, entry: Entry): object | Buffer {
  if (form.as === 'Table') {
    const { resourceVersion } = entry.object.metadata
    return table(store, resourceVersion === undefined ? {} : { resourceVersion }, [row(store, entry.object, includeObject(request), form, Date.now())], form)
  }
  return form.format === 'protobuf' ? partialMetadataProtobuf(entry.object, transformVersion(form)) : partialMetadata(entry.object, transformVersion(form))
}
