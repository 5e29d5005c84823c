/**
 * Objects that `kubectl apply` has kept, changed over to server-side apply: what it last applied stands in an annotation and is owned
 * by an update of another name, with which the first apply by the server would conflict. It is kept up for as long as it is there.
 */
import { applyDefaults, decode, parseJson } from '../../schemas/index.js'
import type { Message } from '../../schemas/index.js'
import { sortedJson } from '../../schemas/codec/json/escape.js'
import type { Plain } from '../../schemas/language/types.js'
import { compare } from './compare.js'
import { appliedValue } from './config.js'
import { EMPTY, difference } from './field-set.js'
import type { FieldSet } from './field-set.js'
import { fieldsOf } from './fields-of.js'
import { isObject, membersOf, shapesOf } from './shape.js'

/** As the convention has it, and as stock clients write it. */
const LAST_APPLIED = ['kubectl.orch.io/last-applied-configuration', 'kubectl.kubernetes.io/last-applied-configuration']
/** Whose applies take over from it. Other names opt out. */
export const KUBECTL = 'kubectl'
const MOST_ANNOTATIONS = 256 * 1024

const annotationsOf = (object: object): Record<string, unknown> => membersOf(membersOf(membersOf(object)['metadata'])['annotations'])

/** The annotation of an object that has one. */
const annotationOf = (object: object): string | undefined => LAST_APPLIED.find(name => typeof annotationsOf(object)[name] === 'string' && annotationsOf(object)[name] !== '')

/** The fields that the annotation of an object names and whose values are still those it says. */
export function unchangedSince (message: Message<object>, apiVersion: string, live: object): FieldSet {
  const name = annotationOf(live)
  if (name === undefined) return EMPTY
  try {
    const { value } = parseJson(Buffer.from(String(annotationsOf(live)[name])))
    if (membersOf(value)['apiVersion'] !== apiVersion) return EMPTY
    const { whole, owned } = shapesOf(message)
    const { object } = decode(message, value)
    const applied = appliedValue(whole, value, object) as object // of an object
    applyDefaults(message, object)
    const { changed, removed } = compare(owned, object, live)
    return difference(difference(fieldsOf(owned, applied), changed), removed)
  } catch {
    return EMPTY // whoever wrote the annotation
  }
}

/**
 * Sets the annotation of an applied object that has one to what was applied, in place.
 * @param sent as it came: with the members the server takes no notice of, and every value as it was written
 */
export function keepLastApplied (object: object, sent: unknown): void {
  const annotations = annotationsOf(object)
  const name = annotationOf(object)
  if (name === undefined) return
  annotations[name] = `${sortedJson(withoutAnnotation(membersOf(sent)))}\n`
  const size = Object.entries(annotations).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)), 0)
  if (size > MOST_ANNOTATIONS) Reflect.deleteProperty(annotations, name)
}

/** Of null, too, nothing is left. */
function withoutAnnotation (sent: Plain): Plain {
  const { metadata } = sent
  if (!isObject(metadata) || metadata['annotations'] === undefined) return sent
  const { annotations, ...rest } = metadata
  if (!isObject(annotations)) return { ...sent, metadata: rest }
  return { ...sent, metadata: { ...rest, annotations: Object.fromEntries(Object.entries(annotations).filter(([name]) => !LAST_APPLIED.includes(name))) } }
}
