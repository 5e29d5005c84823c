/**
 * Conversion by webhook, in batches. A webhook may change anything but metadata, from which only labels and annotations
 * are taken.
 */
import { randomUUID } from 'node:crypto'
import type { CustomResourceDefinition } from '../../schemas/api/apiextensions/customresourcedefinitions.js'
import { rawJson } from '../../schemas/codec/json/escape.js'
import { hasLongDigits, parseExactly } from '../../schemas/codec/json/exact.js'
import { parseInPieces } from '../../schemas/codec/json/parse-pieces.js'
import { countValues, tooManyValues, UNBOUNDED } from '../../schemas/codec/json/parse.js'
import { isDecodeError, saidOf } from '../../schemas/language/decode-error.js'
import { MAX_VALUES } from '../../schemas/limits.js'
import { labelValue, qualifiedName } from '../../schemas/names.js'
import { shorten } from '../../schemas/quote.js'
import { unexplained } from '../../schemas/status.js'
import { CallFailure, HookFailure, targetOf, type HookCaller } from '../../admission/webhooks/target.js'
import { isObject } from '../../schemas/language/values.js'
import type { Steps } from '../../schemas/steps.js'
import { runStepsWithinBudget } from '../../event-loop/turns.js'

const TIMEOUT_MS = 30_000
const MAX_BATCH_OBJECTS = 500
const MAX_BATCH_BYTES = 512 * 1024
const VERSIONS = ['v1', 'v1beta1']

export interface PlainObject {
  apiVersion?: unknown, kind?: unknown, metadata?: Record<string, unknown>, [member: string]: unknown
}

/** Converts objects to a version. Objects already of that version are unchanged. @throws StatusError 500 */
export type Convert = (objects: readonly PlainObject[], apiVersion: string) => Promise<PlainObject[]>

export function webhookConversion (
  { spec: { group, names: { kind }, conversion } }: CustomResourceDefinition, caller: HookCaller, signal: AbortSignal
): Convert {
  const { clientConfig, conversionReviewVersions = [] } = conversion?.webhook ?? {}
  const version = conversionReviewVersions.find(candidate => VERSIONS.includes(candidate))
  const target = clientConfig === undefined ? undefined : targetOf(clientConfig)
  const fail = (why: string, from: unknown): never => {
    throw unexplained(`conversion webhook for ${String(from)}, Kind=${kind} failed: ${why}`)
  }

  const convertBatch = async (objects: readonly PlainObject[], desiredAPIVersion: string): Promise<PlainObject[]> => {
    const from = objects[0]?.apiVersion
    if (target === undefined || version === undefined) return fail('the definition names no usable webhook', from)
    const uid = randomUUID()
    const body = rawJson({
      kind: 'ConversionReview', apiVersion: `apiextensions.orch.io/${version}`,
      request: { uid, desiredAPIVersion, objects }
    })
    try {
      const answer = await caller.call({ target, body, timeout: TIMEOUT_MS, signal })
      const expected = { uid, version, apiVersion: desiredAPIVersion, kind }
      const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength)
      return await runStepsWithinBudget(answered(bytes, objects, expected))
    } catch (error) {
      if (error instanceof HookFailure) return fail(error instanceof CallFailure ? error.why : error.message, from)
      if (error instanceof ConversionError) return fail(error.message, from)
      throw error
    }
  }
  return async (objects, apiVersion) => {
    const result = [...objects]
    const others = objects.map((object, index) => ({ object, index }))
      .filter(({ object }) => object.apiVersion !== apiVersion)
    for (const { object } of others) {
      if (typeof object.apiVersion !== 'string' ||
      !object.apiVersion.startsWith(`${group}/`)) fail('the stored object is of another group', object.apiVersion)
    }
    for (const batch of batches(others)) {
      const converted = await convertBatch(batch.map(({ object }) => object), apiVersion)
      batch.forEach(({ index }, at) => { result[index] = converted[at] as PlainObject }) // as many as were sent
    }
    return result
  }
}

function * batches<T extends { readonly object: PlainObject }> (all: readonly T[]): Generator<T[]> {
  let [batch, bytes] = [[] as T[], 0]
  for (const object of all) {
    const size = rawJson(object.object).length
    if (batch.length > 0 && (batch.length >= MAX_BATCH_OBJECTS || bytes + size > MAX_BATCH_BYTES)) {
      yield batch
      ;[batch, bytes] = [[], 0]
    }
    batch.push(object)
    bytes += size
  }
  if (batch.length > 0) yield batch
}

class ConversionError extends Error {}

/** Anything that JSON holds; an object's own toString need not be a function. */
const shown = (value: unknown): string => typeof value === 'string' ? shorten(value, MAX_SHOWN) : typeof value
const MAX_SHOWN = 200

/** Values of the objects that were sent. */
function * valuesOf (sent: readonly PlainObject[]): Steps<number> {
  let values = 0
  for (const object of sent) {
    values += countValues(Buffer.from(rawJson(object)), UNBOUNDED).values
    yield
  }
  return values
}

interface Expected {
  readonly uid: string
  /** Of the ConversionReview. */
  readonly version: string
  readonly apiVersion: string
  readonly kind: string
}

function * answered (body: Buffer, sent: readonly PlainObject[], expected: Expected): Steps<PlainObject[]> {
  const { uid, version } = expected
  const review = yield * parsed(body, yield * valuesOf(sent))
  if (!isObject(review) || review['kind'] !== 'ConversionReview' ||
    review['apiVersion'] !== `apiextensions.orch.io/${version}`) {
    throw new ConversionError(`it did not answer with a ConversionReview of apiextensions.orch.io/${version}`)
  }
  const { response } = review
  if (!isObject(response)) throw new ConversionError('its answer has no response')
  if (response['uid'] !== uid) throw new ConversionError('its answer has another uid than the request')
  const { result, convertedObjects = [] } = response
  if (!isObject(result) || result['status'] !== 'Success') {
    throw new ConversionError(
      isObject(result) && typeof result['message'] === 'string' ? result['message'] : 'it reported no success'
    )
  }
  if (!Array.isArray(convertedObjects) || convertedObjects.length !== sent.length) {
    throw new ConversionError(
      `it returned ${Array.isArray(convertedObjects) ? convertedObjects.length : 'no'} objects, expected ${sent.length}`
    )
  }
  const converted: PlainObject[] = []
  for (const [index, object] of sent.entries()) {
    converted.push(checked(object, convertedObjects[index], index, expected))
    yield
  }
  return converted
}

function * parsed (body: Buffer, sent: number): Steps<unknown> {
  const most = Math.max(MAX_VALUES, 3 * sent)
  try {
    if (!hasLongDigits(body)) return yield * parseInPieces(body, most)
    if (countValues(body, UNBOUNDED).values > most) throw tooManyValues(most)
    return parseExactly(body)
  } catch (error) {
    throw new ConversionError(isDecodeError(error) ? saidOf(error, 'its answer') : 'its answer is no JSON')
  }
}

function checked (
  sent: PlainObject, converted: unknown, index: number, { apiVersion, kind }: Expected
): PlainObject {
  const invalid = (why: string): never => {
    throw new ConversionError(`it returned an invalid converted object at index ${index}: ${why}`)
  }
  if (!isObject(converted)) return invalid('it is no object')
  if (converted['apiVersion'] !== apiVersion) {
    invalid(`invalid groupVersion (expected ${apiVersion}, received ${shown(converted['apiVersion'])})`)
  }
  if (converted['kind'] !== kind) invalid(`invalid kind (expected ${kind}, received ${shown(converted['kind'])})`)
  const { metadata } = converted
  if (!isObject(metadata)) return invalid('it has no metadata')
  for (const name of ['name', 'namespace', 'uid']) {
    if ((metadata[name] ?? '') !== (sent.metadata?.[name] ?? '')) invalid(`metadata.${name} must not change`)
  }
  const { labels: _labels, annotations: _annotations, ...kept } = sent.metadata ?? {}
  const texts = { labels: textsOf(metadata['labels'], true), annotations: textsOf(metadata['annotations'], false) }
  for (const [name, value] of Object.entries(texts)) if (value === undefined) invalid(`metadata.${name} are invalid`)
  return {
    ...converted, metadata: {
      ...kept, ...Object
        .fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined && Object.keys(value).length > 0))
    }
  }
}

/** Undefined if the value cannot be labels or annotations. */
function textsOf (value: unknown, areLabels: boolean): Record<string, string> | undefined {
  if (value === undefined || value === null) return {}
  if (!isObject(value)) return undefined
  const isValid = ([key, text]: [string, unknown]): boolean => typeof text === 'string' &&
    qualifiedName(areLabels ? key : key.toLowerCase()).length === 0 && (!areLabels || labelValue(text).length === 0)
  return Object.entries(value).every(isValid) ? value as Record<string, string> : undefined
}
