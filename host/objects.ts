/** What a verb has answered, as objects of the caller's own. */
import type { Answer } from '../answers/answer.js'
import { formsOf } from '../answers/large-forms.js'
import { metadataOf } from '../answers/list-metadata.js'
import { recordEntry, recordList, recordObject } from '../answers/record.js'
import { ownViewOf } from '../answers/stored-view.js'
import { nextTurn, turnIsOver } from '../event-loop/turns.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { withoutNulls } from '../schemas/language/unset.js'
import { clone } from '../schemas/language/values.js'
import type { Entry } from '../storage/cache/entry.js'
import type { Page } from './contract.js'
import type { Answered } from './requests.js'

const PLAIN = { protobuf: false, metadata: false }

/** An object in the version of the store. */
export function objectOf<T> (store: ResourceStore, entry: Entry): T | Promise<T> {
  const view = ownViewOf(store)
  const missing = formsOf(view, [entry], PLAIN)
  const copy = (): T => {
    const object = view.isStored && entry.decoded !== undefined
      ? clone(entry.decoded)
      : withoutNulls(store.representation.message, view.entry(entry).copy())
    return object as T // the schema of the caller is that of the type
  }
  return missing === undefined ? copy() : missing.then(copy)
}

/** The object of an answer; undefined for a plain outcome. */
export async function answeredObject<T> ({ answer, request: { orch } }: Answered): Promise<T | undefined> {
  switch (answer.kind) {
    case 'entry': {
      const { store, entry } = answer
      await recordEntry(orch, store, entry)
      return await objectOf(store, entry)
    }
    case 'object':
      recordObject(orch, answer)
      return clone(answer.object) as T // as above
    case 'status':
      orch.recorder?.status(answer.status)
      return undefined
    default: throw unexpected(answer)
  }
}

export async function answeredPage<T> ({ answer, request: { orch } }: Answered): Promise<Page<T>> {
  if (answer.kind !== 'list') throw unexpected(answer)
  const { store, list } = answer
  await recordList(orch, store, list)
  const items: T[] = []
  for (const entry of list.entries) {
    const object = objectOf<T>(store, entry)
    items.push(object instanceof Promise ? await object : object)
    if (turnIsOver()) await nextTurn()
  }
  return { metadata: metadataOf(list, store), items }
}

export const unexpected = ({ kind }: Answer): TypeError => new TypeError(`a verb has answered with a ${kind}`)
