/** The metadata in the JSON of an object that this server wrote, found without reading the rest. */
import { endOfObject } from './tape.js'

const KEY = Buffer.from('"metadata":{')
/** Only of metadata, where no other member is a list of that name. */
const MANAGERS = Buffer.from('"managedFields":[')
const [BRACKET, BRACE] = [']', '}']
const NONE = Buffer.from('{}')

/** Where the metadata begins, and the byte after it; where its managers begin. Undefined if the object has none. */
function placeOf (json: Buffer): [start: number, end: number, managers: number] | undefined {
  // Kind and apiVersion come before it, in which quotes would be escaped.
  const at = json.indexOf(KEY)
  if (at === -1) return undefined
  const start = at + KEY.length - 1
  const managers = json.indexOf(MANAGERS, start)
  const before = managers === -1 ? json.length : managers
  const end = endOfObject(json, start, before)
  if (end !== undefined) return [start, end, -1]
  const objectEnd = endAfterManagers(json, managers) ?? endOfObject(json, start)
  return objectEnd === undefined ? undefined : [start, objectEnd, managers]
}

/**
 * The byte after metadata whose last member these are, found without reading them: they are most of it. Only where they
 * hold no list, so that the first end of one is theirs if a key follows: in text, its quote would be escaped or be
 * followed by what is between values.
 */
function endAfterManagers (json: Buffer, managers: number): number | undefined {
  const end = json.indexOf(']},"', managers)
  const list = json.indexOf('[', managers + MANAGERS.length)
  const isEnd = end !== -1 && (list === -1 || list > end) && /[A-Za-z]/.test(String.fromCharCode(json[end + 4] ?? 0))
  return isEnd ? end + 2 : undefined
}

/** A view of its bytes. */
export function metadataIn (json: Buffer): Buffer {
  const place = placeOf(json)
  return place === undefined ? NONE : json.subarray(place[0], place[1])
}

/** The text without field managers, which are the last member of metadata and take longest to parse. */
export function withoutManagers (json: Buffer): Buffer {
  const place = placeOf(json)
  if (place === undefined) return json
  const [start, end, at] = place
  if (at === -1 || json.toString('latin1', end - 2, end) !== BRACKET + BRACE) return json
  const isFirst = at === start + 1
  return Buffer.concat([json.subarray(0, isFirst ? at : at - 1), json.subarray(end - 1)])
}
