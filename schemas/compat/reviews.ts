/** Reviews that are sent to webhooks, and their answers. */
import { rawJson } from '../codec/json/escape.js'
import { parseExactly } from '../codec/json/exact.js'
import { isObject } from '../language/values.js'
import { Facts, type Message, type Plain } from '../language/types.js'
import { PartialObjectMetadata } from '../meta/answers.js'
import { representations } from '../resources.js'
import { translateJsonPatch } from './json-patch.js'
import { keptBy, publicObject, rootOf, translateValues } from './objects.js'
import { namesOf, translateGroup, translateKey, translateNamespace, translateUser } from './text.js'

/** Of custom and unknown types only the metadata is translated. */
function messageOf (object: Plain): Message {
  const representation = representations.find(({ kind, apiVersion }) => kind === object['kind'] &&
    apiVersion === object['apiVersion'])
  if (representation !== undefined) return representation.message
  const views = representations
    .flatMap(({ subresources }) => subresources.flatMap(({ view }) => view === undefined ? [] : [view.message]))
  return views.find(({ [Facts]: { type } }) => type?.kind === object['kind'] &&
    type?.apiVersion === object['apiVersion']) ?? PartialObjectMetadata
}

/** Objects by themselves; what is none stays. */
export const shown = (value: unknown): unknown => isObject(value) ? publicObject(messageOf(value), value) : value
const ownConverted = (value: unknown): unknown =>
  isObject(value) ? translateValues(PartialObjectMetadata, value) : value

const GROUPED = ['kind', 'resource', 'requestKind', 'requestResource']
const USER = ['username', 'groups']

/**
 * An AdmissionReview or ConversionReview as JSON, under the public project's names.
 * @returns it, and what translates its answer
 */
export function publicReview (own: string): {
  readonly body: string, readonly answer: (body: Uint8Array) => Uint8Array
} {
  const review = parseExactly(Buffer.from(own)) as Plain // this server wrote it
  const request = review['request'] as Plain
  const message = isObject(request['object']) ? messageOf(request['object']) : undefined
  translateReview(review)
  return { body: rawJson(review), answer: body => ownAnswer(body, message, request['object']) }
}

function translateReview (review: Plain): void {
  const request = review['request'] as Plain
  const { resource } = request
  const names = isObject(resource) ? namesOf(String(resource['group']), String(resource['resource'])) : undefined
  review['apiVersion'] = translateGroup(String(review['apiVersion']))
  for (const member of GROUPED) {
    const named = request[member]
    if (isObject(named) && typeof named['group'] === 'string') named['group'] = translateGroup(named['group'])
  }
  if (typeof request['namespace'] === 'string') request['namespace'] = translateNamespace(request['namespace'])
  if (typeof request['name'] === 'string' && names !== undefined) request['name'] = names(request['name'])
  const { userInfo } = request
  if (isObject(userInfo)) request['userInfo'] = translateUserInfo(userInfo)
  for (const member of ['object', 'oldObject', 'options']) {
    if (member in request) request[member] = shown(request[member])
  }
  if (Array.isArray(request['objects'])) request['objects'] = request['objects'].map(shown)
}

export function translateUserInfo (user: Plain): Plain {
  const { extra, ...rest } = user
  for (const member of USER) {
    const value = rest[member]
    if (typeof value === 'string') rest[member] = translateUser(value)
    else if (Array.isArray(value)) rest[member] = value.map(text => translateUser(String(text)))
  }
  if (!isObject(extra)) return rest
  return { ...rest, extra: Object.fromEntries(Object.entries(extra).map(([key, value]) => [translateKey(key), value])) }
}

/** Bytes that are no such answer stay as they are, for the reader to say so. */
function ownAnswer (body: Uint8Array, message: Message | undefined, seen: unknown): Uint8Array {
  let review: unknown
  try {
    review = parseExactly(body)
  } catch {
    return body
  }
  if (!isObject(review)) return body
  const { apiVersion, response } = review
  if (typeof apiVersion === 'string') review['apiVersion'] = translateGroup(apiVersion)
  if (isObject(response)) {
    const { patch } = response
    if (typeof patch === 'string' && message !== undefined) response['patch'] = ownPatch(patch, message, seen)
    if (Array.isArray(response['convertedObjects'])) {
      response['convertedObjects'] = response['convertedObjects'].map(ownConverted)
    }
  }
  return Buffer.from(rawJson(review))
}

function ownPatch (base64: string, message: Message, seen: unknown): string {
  try {
    const patch = parseExactly(Buffer.from(base64, 'base64'))
    return Buffer.from(rawJson(translateJsonPatch(rootOf(message), patch, keptBy(message), seen))).toString('base64')
  } catch {
    return base64
  }
}
