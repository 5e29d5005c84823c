/**
 * Objects that `kubectl apply` has kept, changed over to server-side apply: what it last applied stands in an annotation and is owned
 * by an update of another name, with which the first apply by the server would conflict. It is kept up for as long as it is there.
 */
import { applyDefaults, decode, parseJson, stringify } from '../../schemas/index.js'
import type { Message } from '../../schemas/index.js'
import { compare } from './compare.js'
import { said } from './config.js'
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
    const applied = said(whole, value, object) as object // of an object
    applyDefaults(message, object)
    const { changed, removed } = compare(owned, object, live)
    return difference(difference(fieldsOf(owned, applied), changed), removed)
  } catch {
    return EMPTY // whoever wrote the annotation
  }
}

/** Sets the annotation of an applied object that has one to what was applied, in place. */
export function keepLastApplied (object: object, config: object): void {
  const annotations = annotationsOf(object)
  const name = annotationOf(object)
  if (name === undefined) return
  annotations[name] = `${stringify(withoutAnnotation(config)) ?? ''}\n`
  const size = Object.entries(annotations).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)), 0)
  if (size > MOST_ANNOTATIONS) Reflect.deleteProperty(annotations, name)
}

function withoutAnnotation (config: object): object {
  const { metadata } = config as { metadata?: unknown } // any object may have one
  if (!isObject(metadata) || !isObject(metadata['annotations'])) return config
  const annotations = Object.fromEntries(Object.entries(metadata['annotations']).filter(([name]) => !LAST_APPLIED.includes(name)))
  return { ...config, metadata: { ...metadata, annotations } }
}
