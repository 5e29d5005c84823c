/** Selectable fields of a custom resource. Their values are read from the stored form, which has its defaults. */
import type { SelectableField } from '../api/apiextensions/customresourcedefinitions.js'
import { OF_EVERY_KIND } from '../api/apiextensions/schemas.js'
import { valueAt } from '../language/values.js'
import type { ApiObject } from '../meta/api-object.js'
import type { Representation } from '../resource.js'

type Fields = NonNullable<Representation['selectableFields']>
type Reader = Fields[string]

/** Versions of a definition share the functions of their fields. */
export class SelectableFields {
  readonly #readers = new Map<string, Reader>()

  /** The fields of a version, by their labels. */
  of (
    fields: readonly SelectableField[], type: { readonly apiVersion: string, readonly kind: string }
  ): Fields {
    return Object.fromEntries(fields.map(({ jsonPath }) => {
      const label = jsonPath.slice(1)
      if (OF_EVERY_KIND.has(label)) return [label, () => label === 'kind' ? type.kind : type.apiVersion]
      return [label, this.#reader(label)]
    }))
  }

  #reader (label: string): Reader {
    let reader = this.#readers.get(label)
    if (reader === undefined) this.#readers.set(label, reader = object => textAt(object, label))
    return reader
  }
}

function textAt (object: ApiObject, label: string): string {
  const value = valueAt(object, label)
  return typeof value === 'string' ? value : typeof value === 'object' || value === undefined ? '' : String(value)
}
