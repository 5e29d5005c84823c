/**
 * A back end that presents the objects of a store in another version: values are converted when they are read or
 * watched, and before they are written. Code above it sees one version only.
 */
import { rawJson } from '../../schemas/codec/json/escape.js'
import { parseExactly } from '../../schemas/codec/json/exact.js'
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import type { Backend, KeyValue } from '../../storage/backend.js'
import { transformedBackend } from '../../storage/transformed.js'
import type { Convert, PlainObject } from './conversion.js'

export interface Versions {
  /** As readers see objects. */
  readonly served: string
  /** As objects are stored. */
  readonly stored: string
}

/** @param complete adds the defaults of the stored version to an object that is read, before it is converted */
export function convertingBackend (
  inner: Backend, convert: Convert, { served, stored }: Versions, complete: (object: PlainObject) => PlainObject
): Backend {
  const read = (kvs: readonly KeyValue[]): Promise<KeyValue[]> =>
    convertValues(kvs, async objects => await convert(await inTurns(objects, complete), served))
  // one for one
  const toStored = async (value: Uint8Array): Promise<Uint8Array> =>
    bytesOf((await convert([parseExactly(value) as PlainObject], stored))[0] as PlainObject)
  /** Of values that are about to be written. */
  const convertedBefore = new WeakMap<Uint8Array, Uint8Array>()
  return transformedBackend(inner, {
    read,
    write: (_key, value) => convertedBefore.get(value) ?? toStored(value),
    asRead: async (key, value) => {
      const storedValue = await toStored(value)
      convertedBefore.set(value, storedValue)
      return ((await read([{ key, value: storedValue, createRevision: 0, modRevision: 0 }]))[0] as KeyValue).value
    },
    tooSlow: 'the conversion webhook is too slow for this watch'
  })
}

async function inTurns<T> (values: readonly T[], change: (value: T) => T): Promise<T[]> {
  const changed: T[] = []
  for (const value of values) {
    changed.push(change(value))
    if (turnIsOver()) await nextTurn()
  }
  return changed
}

/** Undefined for values of others, damaged or encrypted: readers get them as they are, and report each. */
function objectIn (value: Uint8Array): PlainObject | undefined {
  try {
    const parsed = parseExactly(value)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed as PlainObject : undefined
  } catch {
    return undefined
  }
}

const bytesOf = (object: PlainObject): Uint8Array => Buffer.from(rawJson(object))

async function convertValues (
  kvs: readonly KeyValue[], convert: (objects: readonly PlainObject[]) => Promise<PlainObject[]>
): Promise<KeyValue[]> {
  const objects = kvs.map(({ damage, value }) => damage === undefined && value.length > 0 ? objectIn(value) : undefined)
  const present = objects.filter(object => object !== undefined)
  const converted = (await convert(present)).values()
  return kvs.map((kv, index) => {
    const object = objects[index]
    if (object === undefined) return kv
    return { ...kv, value: bytesOf(converted.next().value as PlainObject) } // one for each
  })
}
