/** The versions of a store's type, in which field ownership is compared. */
import { toJson } from '../../schemas/codec/json/encode.js'
import { parseExactly } from '../../schemas/codec/json/exact.js'
import { UNBOUNDED } from '../../schemas/codec/json/parse.js'
import { decode } from '../../schemas/language/decode.js'
import { applyDefaults } from '../../schemas/language/defaults.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { Representation } from '../../schemas/resource.js'
import { shapesOf } from '../apply/shape.js'
import type { Versions } from '../apply/versions.js'
import type { ResourceStore, Siblings } from '../resource-store.js'

/** @param raw decode objects before conversion */
export function versionsOf ({ type, siblings, gates }: ResourceStore, raw: boolean): Versions {
  const representations = siblings?.representations ?? type.representations
  const find = (apiVersion: string): Representation | undefined =>
    representations.find(representation => representation.apiVersion === apiVersion)
  return {
    shapes: apiVersion => {
      const representation = find(apiVersion)
      return representation === undefined ? undefined : shapesOf(representation.message, gates)
    },
    convert: (objects, from, to) => {
      const [source, destination] = [find(from), find(to)]
      if (source === undefined || destination === undefined) {
        throw new TypeError(`${type.plural} have no version ${source === undefined ? from : to}`)
      }
      const typed = objects.map(object => raw
        ? decode(source.message, object, UNBOUNDED).object
        : object as ApiObject) // an object of the type
      if (siblings !== undefined) return converted(siblings, typed, source, destination)
      return typed.map(object => {
        const inStore = source.conversion?.toStored(object) ?? object
        if (raw) applyDefaults(type.stored.message, inStore, gates)
        return destination.conversion?.fromStored(inStore) ?? inStore
      })
    }
  }
}

/** By webhook. Owners own nothing in managedFields, so these are not sent. */
async function converted (
  { convert }: Siblings, objects: readonly ApiObject[], source: Representation, { apiVersion, message }: Representation
): Promise<readonly object[]> {
  const plain = objects.map(object => {
    const { managedFields: _managed, ...metadata } = object.metadata
    return parseExactly(Buffer.from(toJson(source.message, { ...object, metadata }))) as object // of an object
  })
  return (await convert(plain, apiVersion)).map(answer => {
    return decode(message, answer, UNBOUNDED).object
  })
}
