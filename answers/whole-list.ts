/** A list in memory. */
import { nextTurn, turnIsOver } from '../event-loop/turns.js'
import { leafBytes, STORED, type Items } from '../storage/cache/leaf-bytes.js'
import type { ObjectList } from './answer.js'
import { isJoined, type Form, type Joined, type Part, type ShownList } from './formats/format.js'
import { formsOf } from './large-forms.js'
import { ListBytes, measure, type Leaf } from './list-bytes.js'

/** Yields to the event loop. */
export async function wholeList (form: Form, shown: ShownList): Promise<Buffer> {
  const list = form.list(shown)
  return isJoined(list) ? (await listBytes(form, shown, list)).whole() : await joinedParts(list)
}

/** Yields to the event loop. */
export async function listBytes ({ shape }: Form, { view, list }: ShownList, joined: Joined): Promise<ListBytes> {
  const { items } = joined
  const { entries } = list
  if (items !== STORED && shape !== undefined) await formsOf(view, entries, shape)
  const ready = await readyLeaves(list, items)
  return new ListBytes(joined, entries, await measure(entries, items, ready), ready)
}

/** The bytes of whole leaves of the cache, kept for later lists. Yields to the event loop. */
async function readyLeaves ({ leaves = [] }: ObjectList, items: Items): Promise<Leaf[]> {
  const ready: Leaf[] = []
  for (const { at, entries } of leaves) {
    if (turnIsOver()) await nextTurn()
    const bytes = leafBytes(entries, items)
    if (bytes !== undefined) ready.push({ at, count: entries.length, bytes })
  }
  return ready
}

export async function joinedParts (parts: Iterable<Part>): Promise<Buffer> {
  const whole: Uint8Array[] = []
  for (const part of parts) {
    whole.push(Buffer.from(part instanceof Promise ? await part : part)) // copy: the next part may reuse the memory
    if (turnIsOver()) await nextTurn()
  }
  return Buffer.concat(whole)
}
