/** Objects, patches and answers between the public project's names and ours. */
import { toJson } from '../codec/json/encode.js'
import { rawJson } from '../codec/json/escape.js'
import { parseExactly } from '../codec/json/exact.js'
import { PROTOBUF_TYPE } from '../media-types.js'
import { PUBLIC_PROTOBUF_TYPE } from '../public-names.js'
import { planOf } from '../language/plan.js'
import { isObject } from '../language/values.js'
import type { Message, Plain } from '../language/types.js'
import type { Status } from '../status.js'
import { publicMessage } from './definitions.js'
import { membersOf, type Place } from './places.js'
import { translatePath } from './requests.js'
import { publicWords } from './sentences.js'
import { bounded, namesOf, SIGNS, translateGroup } from './text.js'
import { translateFields } from './field-trees.js'
import { translateStruct, type Kept } from './values.js'

export const rootOf = (message: Message): Place & { kind: 'struct' } =>
  ({ kind: 'struct', members: membersOf(planOf(message)) })

/** The names in the values of an object, in place: decoded, JSON that will be, or a patch of its structure. */
export function translateValues<T> (message: Message, value: T): T {
  if (!isObject(value)) return value
  const root = rootOf(message)
  const { metadata } = value
  const managers = isObject(metadata) ? metadata['managedFields'] : undefined
  if (Array.isArray(managers)) {
    for (const manager of managers as unknown[]) {
      if (isObject(manager) &&
      isObject(manager['fieldsV1'])) manager['fieldsV1'] = translateFields(root, manager['fieldsV1'])
    }
  }
  return translateStruct(root.members, value, keptBy(message)) as T
}

export const keptBy = (message: Message): Kept => json => translateKept(message, json)

/** An object as JSON with public names; takes over the given one. */
export function publicObject<T> (message: Message, own: T): T {
  const translated = translateValues(message, own)
  const shown = publicMessage(message)
  return shown === message || !isObject(translated)
    ? translated
    : parseExactly(Buffer.from(toJson(shown, translated))) as T
}

/**
 * Translating larger text twice would hold up other requests; clients with public names read it as they wrote it all
 * the same.
 */
const MAX_KEPT = 16 * 1024

/** The JSON that kubectl keeps; text that would not come back as it is stays so, and comes back as it is. */
const translateKept = (message: Message, text: string): string => bounded(MAX_KEPT, json => {
  const other = translatedKept(message, json)
  return other !== undefined && translatedKept(message, other) === json ? other : json
})(text)

function translatedKept (message: Message, json: string): string | undefined {
  const bytes = Buffer.from(json)
  if (!mayHaveNames(bytes)) return undefined
  try {
    const value = parseExactly(bytes)
    return isObject(value)
      ? rawJson(translateStruct(rootOf(message).members, value, UNKEPT)) + (json.endsWith('\n') ? '\n' : '')
      : undefined
  } catch {
    return undefined
  }
}

/** What is kept does not keep itself. */
const UNKEPT: Kept = json => json

/** What may need translation: one of our names, or a public one. */
const SIGN_BYTES = SIGNS.map(sign => Buffer.from(sign))
export const mayHaveNames = (json: Buffer): boolean => SIGN_BYTES.some(sign => json.includes(sign))

/** A copy whose group, name and words are translated. */
export function publicStatus<T extends Omit<Status, 'code'>> (status: T): T {
  const { message, details } = status
  if (message === undefined && details === undefined) return status
  const { group = '', kind = '', name } = details ?? {}
  const other = name === undefined ? undefined : namesOf(group, kind)?.(name)
  /** The object's name where a sentence quotes it without saying what it is, too. */
  const words = (text: string): string => {
    const said = publicWords(text)
    return other === undefined || other === name ? said : said.replaceAll(`"${name}"`, `"${other}"`)
  }
  const causes = details?.causes?.map(cause => ({
    ...cause,
    ...(cause.message === undefined ? {} : { message: words(cause.message) }),
    ...(cause.field === undefined ? {} : { field: publicWords(cause.field) })
  }))
  const shown = details === undefined
    ? {}
    : {
        details: {
          ...details,
          ...(other === undefined ? {} : { name: other }),
          ...(details.group === undefined ? {} : { group: translateGroup(group) }),
          ...(causes === undefined ? {} : { causes })
        }
      }
  return { ...status, ...(message === undefined ? {} : { message: words(message) }), ...shown }
}

const DISCOVERY_NAMES: ReadonlySet<string> = new Set(['name', 'group', 'groupVersion', 'apiVersion'])

/** A document of discovery: groups, versions, paths. Types keep their names, which definitions choose. */
export function translateDocument (value: unknown, name = ''): unknown {
  if (typeof value === 'string') {
    return name === 'paths' ? translatePath(value) : DISCOVERY_NAMES.has(name) ? translateGroup(value) : value
  }
  if (Array.isArray(value)) return value.map(item => translateDocument(item, name))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]): [string, unknown] =>
    [key, key === 'name' && 'verbs' in value ? member : translateDocument(member, key)])) as Plain
}

/** Of requests and answers. */
export const publicType = (type: string): string => type.replace(PROTOBUF_TYPE, PUBLIC_PROTOBUF_TYPE)
export const ownTypes = (accept: string | undefined): string | undefined =>
  accept?.includes(PUBLIC_PROTOBUF_TYPE) === true ? accept.replaceAll(PUBLIC_PROTOBUF_TYPE, PROTOBUF_TYPE) : accept
