/**
 * Says in a Conflict what changed since the client's version, and who changed it. Only if that costs little: the object
 * is not large, and the change is among the recent events of the cache, which have the state before it. Otherwise the
 * managers whose entries the client has not seen are named.
 */
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { escapeControls, shorten } from '../../schemas/quote.js'
import type { Revision } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { WatchCache } from '../../storage/cache/watch-cache.js'
import { LARGE_OBJECT_BYTES } from '../../schemas/limits.js'
import { compare, type Changes } from '../apply/compare.js'
import { pathText } from '../apply/elements.js'
import { at, paths, size } from '../apply/field-set.js'
import { managersIn, type Manager } from '../apply/managers.js'
import { shapesOf } from '../apply/shape.js'
import type { ResourceStore } from '../resource-store.js'
import { mayGet, type ObjectWrite } from '../write-context.js'

/** Maximum events to look through for the object's first change. */
const MAX_EVENTS = 1000
/** Maximum bytes of an object to compare. */
const MAX_BYTES = LARGE_OBJECT_BYTES
/** Maximum fields, or managers, to name. */
const MAX_NAMED = 5
/** Maximum characters of a field's path: clients choose the names in it. */
const MAX_PATH = 200

/** What a client expects. */
export interface Expected {
  readonly version: Revision
  /** Its object, if it sent any, which may have the entries of managers as it has seen them. */
  readonly object?: ApiObject
}

/**
 * @param current the object that has another version
 * @returns a sentence that follows the refusal, or '' if there is none or the client may not get the object
 */
export async function changedSince (write: ObjectWrite, current: Entry, expected: Expected): Promise<string> {
  const text = explanation(write.store, current, expected)
  return text === '' || await mayGet(write) ? text : ''
}

function explanation (store: ResourceStore, current: Entry, { version, object: sent }: Expected): string {
  if (!(version < current.revision) || current.json.length > MAX_BYTES) return ''
  const now = inVersion(store, current)
  const previous = stateAt(store.cache, current.key, version)
  const { count, texts } = previous === undefined || previous.json.length > MAX_BYTES
    ? unseen(now, sent)
    : changes(store, inVersion(store, previous), now)
  if (count === 0) return ''
  const named: string[] = []
  for (const text of texts) if (named.push(text) === MAX_NAMED) break
  return `. Changed since: ${named.join(', ')}${count > named.length ? ` and ${count - named.length} more` : ''}`
}

/** The object as the client knows it: the stored version may have other fields. Treat it as frozen. */
function inVersion (store: ResourceStore, entry: Entry): ApiObject {
  const object = store.entries.read(entry)
  return store.representation.conversion?.fromStored(object) ?? object
}

/** The state of the object at that version, which its next change replaced. */
function stateAt (cache: WatchCache | undefined, key: string, version: Revision): Entry | undefined {
  if (cache === undefined || version < cache.window.since) return undefined
  const { window } = cache
  const first = window.firstAfter(version)
  for (let number = first; number < Math.min(window.end, first + MAX_EVENTS); number++) {
    const event = window.at(number)
    if (event?.entry.key === key) return event.previous
  }
  return undefined
}

/** Texts are made when they are read. */
interface Findings { readonly count: number, readonly texts: Iterable<string> }

function changes ({ representation: { message }, gates }: ResourceStore, old: ApiObject, now: ApiObject): Findings {
  if (old.metadata.uid !== now.metadata.uid) return { count: 1, texts: ['it was deleted and created again'] }
  const differences = compare(shapesOf(message, gates).owned, old, now)
  return {
    count: size(differences.changed) + size(differences.removed),
    texts: fieldTexts(differences, managersIn(now.metadata.managedFields))
  }
}

function * fieldTexts ({ changed, removed }: Changes, managers: readonly Manager[]): Generator<string> {
  for (const path of paths(changed)) {
    yield `${readable(path)}${byWhom(managers.filter(({ fields }) => at(fields, path) !== undefined))}`
  }
  for (const path of paths(removed)) yield `${readable(path)} (removed)`
}

const readable = (path: readonly string[]): string => shorten(escapeControls(pathText(path)), MAX_PATH)

const nameOf = ({ manager }: Manager): string => JSON.stringify(manager)
const byWhom = ([first, ...more]: readonly Manager[]): string =>
  first === undefined ? '' : ` by ${nameOf(first)}${more.length === 0 ? '' : ' and others'}`

/** Managers that have written since the client read its object, as far as it has sent what it read. */
function unseen ({ metadata: { managedFields } }: ApiObject, object: ApiObject | undefined): Findings {
  const sent = object?.metadata.managedFields
  if (sent === undefined || sent.length === 0) return { count: 0, texts: [] }
  const keyOf = ({ manager, operation, subresource, time }: Manager): string =>
    JSON.stringify([manager, operation, subresource, time])
  const seen = new Set(managersIn(sent).map(keyOf))
  const names = new Set(managersIn(managedFields).filter(manager => !seen.has(keyOf(manager))).map(nameOf))
  return { count: names.size, texts: [...names].map(name => `fields of ${name}`) }
}
