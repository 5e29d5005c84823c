/** The metadata in the JSON of an object that this server wrote, found without reading the rest. */
import { endOfObject } from './tape.js'

const KEY = Buffer.from('"metadata":{')
/** Only of metadata, where no other member is a list of that name. */
const MANAGERS = Buffer.from('"managedFields":[')
const [BRACKET, BRACE] = [']', '}']
const NONE = Buffer.from('{}')

/** Where the metadata begins, and the byte after it; undefined if the object has none. */
function placeOf (json: Buffer): [start: number, end: number] | undefined {
  // Kind and apiVersion come before it, in which quotes would be escaped.
  const at = json.indexOf(KEY)
  if (at === -1) return undefined
  const start = at + KEY.length - 1
  return [start, endOfObject(json, start)]
}

/** A view of its bytes. */
export function metadataIn (json: Buffer): Buffer {
  const place = placeOf(json)
  return place === undefined ? NONE : json.subarray(...place)
}

/** The text without field managers, which are the last member of metadata and take longest to parse. */
export function withoutManagers (json: Buffer): Buffer {
  const place = placeOf(json)
  if (place === undefined) return json
  const [start, end] = place
  const at = json.indexOf(MANAGERS, start)
  if (at === -1 || at > end || json.toString('latin1', end - 2, end) !== BRACKET + BRACE) return json
  const isFirst = at === start + 1
  return Buffer.concat([json.subarray(0, isFirst ? at : at - 1), json.subarray(end - 1)])
}
