/**
 * What audit and the log of requests keep of answers: objects in the version and form that is asked for, under this
 * server's names.
 */
import { listJson } from '../schemas/codec/json/encode.js'
import { stringify } from '../schemas/codec/json/exact.js'
import type { Message } from '../schemas/language/declare.js'
import { OWN_NAMES } from '../schemas/naming.js'
import { nextTurn, turnIsOver } from '../event-loop/turns.js'
import type { RequestContext } from './request-context.js'
import type { ObjectList } from './answer.js'
import type { Part } from './formats/format.js'
import { jsonOf } from './formats/json.js'
import type { View } from './view.js'
import { measure } from './list-bytes.js'
import { metadataOf } from './list-metadata.js'

type Recording = Pick<RequestContext, 'recorder'>

export function recordJson ({ recorder }: Recording, json: () => Buffer): void {
  if (recorder !== undefined) recorder.response(() => json().toString())
}

export function recordObject<T extends object> (
  { recorder }: Recording, message: Message<T>, object: T, omits?: boolean
): void {
  if (recorder !== undefined) recorder.response(() => jsonOf(OWN_NAMES, message, object, omits))
}

export function recordValue ({ recorder }: Recording, value: () => unknown): void {
  if (recorder !== undefined) recorder.response(() => stringify(value()) ?? 'null')
}

/** Larger lists are not recorded. */
const MAX_RECORDED_BYTES = 2 * 1024 * 1024

/**
 * @param view under this server's names
 * @param transformed the parts of a table or of metadata, as JSON. Yields to the event loop.
 */
export async function recordList (
  { recorder }: Recording, view: View, list: ObjectList, transformed?: () => Iterable<Part>
): Promise<void> {
  if (recorder?.wantsResponse !== true) return
  if ((await measure(list.entries)).bytes > MAX_RECORDED_BYTES) return recorder.tooLarge()
  if (transformed === undefined) {
    const { head, tail } = listJson(view.store.representation, metadataOf(list, view.store))
    const items: string[] = []
    for (const stored of list.entries) {
      const { json } = view.entry(stored)
      items.push(json.toString('utf8', 0, json.length - 1))
      if (turnIsOver()) await nextTurn()
    }
    return recorder.response(() => `${head}${items.join(',')}${tail}`)
  }
  let text = ''
  for (const part of transformed()) {
    if (!(part instanceof Promise)) text += Buffer.from(part).toString()
    if (turnIsOver()) await nextTurn()
  }
  recorder.response(() => text)
}
