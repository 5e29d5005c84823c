/**
 * Migrates objects from client-side to server-side apply. Client-side `kubectl apply` keeps its last configuration in
 * an annotation, and another manager name owns those fields, so the first server-side apply would conflict. The
 * annotation is kept up to date while it exists.
 */
import { parseJson } from '../../schemas/codec/json/parse.js'
import type { Message } from '../../schemas/language/declare.js'
import { decode } from '../../schemas/language/decode.js'
import type { Gates } from '../../schemas/gates.js'
import { applyDefaults } from '../../schemas/language/defaults.js'
import { sortedJson } from '../../schemas/codec/json/escape.js'
import type { Plain } from '../../schemas/language/types.js'
import { comparing } from './compare.js'
import { appliedValue } from './config.js'
import { difference, EMPTY, type FieldSet } from './field-set.js'
import { fieldsOf } from './fields-of.js'
import { membersOf, shapesOf } from './shape.js'
import { isObject } from '../../schemas/language/values.js'
import { LAST_APPLIED } from '../../schemas/public-names.js'
import type { Steps } from '../../schemas/steps.js'

/** Only applies of this manager take over; any other name opts out. */
export const KUBECTL = 'kubectl'
const MAX_ANNOTATION_BYTES = 256 * 1024

const annotationsOf = (object: object): Record<string, unknown> =>
  membersOf(membersOf(membersOf(object)['metadata'])['annotations'])

/** The name of the annotation, if the object has it. */
const annotationOf = (object: object): string | undefined =>
  LAST_APPLIED.find(name => typeof annotationsOf(object)[name] === 'string' && annotationsOf(object)[name] !== '')

/** Fields that the annotation names and that still have the value it records. */
export function * unchangedSince (
  { message }: { readonly message: Message<object> }, apiVersion: string, live: object, gates: Gates
): Steps<FieldSet> {
  const name = annotationOf(live)
  if (name === undefined) return EMPTY
  try {
    const { value } = parseJson(Buffer.from(String(annotationsOf(live)[name])))
    if (membersOf(value)['apiVersion'] !== apiVersion) return EMPTY
    const { whole, owned } = shapesOf(message, gates)
    const { object } = decode(message, value)
    const applied = appliedValue(whole, value, object) as object // an object like its source
    applyDefaults(message, object)
    yield
    const { changed, removed } = yield * comparing(owned, object, live)
    return difference(difference(yield * fieldsOf(owned, applied), changed), removed)
  } catch {
    return EMPTY // clients may write any annotation
  }
}

/**
 * Updates the annotation of an applied object in place, if it has one.
 * @param sent the request body, unknown members included
 */
export function keepLastApplied (object: object, sent: unknown): void {
  const annotations = annotationsOf(object)
  const name = annotationOf(object)
  if (name === undefined) return
  annotations[name] = `${sortedJson(withoutAnnotation(membersOf(sent)))}\n`
  const size = Object.entries(annotations)
    .reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)), 0)
  if (size > MAX_ANNOTATION_BYTES) Reflect.deleteProperty(annotations, name)
}

/** Drops the annotation from the recorded configuration. */
function withoutAnnotation (sent: Plain): Plain {
  const { metadata } = sent
  if (!isObject(metadata) || metadata['annotations'] === undefined) return sent
  const { annotations, ...rest } = metadata
  if (!isObject(annotations)) return { ...sent, metadata: rest }
  return {
    ...sent, metadata: {
      ...rest,
      annotations: Object.fromEntries(Object.entries(annotations).filter(([name]) => !LAST_APPLIED.includes(name)))
    }
  }
}
