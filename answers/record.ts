/**
 * What audit and the log of requests keep of answers: objects in the version and form that is asked for, under this
 * server's names.
 */
import { listJson, toJson } from '../schemas/codec/json/encode.js'
import { stringify } from '../schemas/codec/json/exact.js'
import type { Message } from '../schemas/language/declare.js'
import { nextTurn, turnIsOver } from '../event-loop/turns.js'
import type { Entry } from '../storage/cache/entry.js'
import type { ResourceStore } from '../registry/resource-store.js'
import type { RequestContext } from '../plugins/shared/context.js'
import type { ObjectList } from './answer.js'
import type { Part } from './formats/format.js'
import { sizeOf } from './list-bytes.js'
import { metadataOf } from './list-metadata.js'

type Recording = Pick<RequestContext, 'recorder'>

export function recordEntry ({ recorder }: Recording, { json }: Entry): void {
  if (recorder !== undefined) recorder.response(() => json.toString())
}

export function recordObject<T extends object> ({ recorder }: Recording, message: Message<T>, object: T): void {
  if (recorder !== undefined) recorder.response(() => toJson(message, object))
}

export function recordValue ({ recorder }: Recording, value: () => unknown): void {
  if (recorder !== undefined) recorder.response(() => stringify(value()) ?? 'null')
}

/** Larger lists are not recorded. */
const MAX_RECORDED_BYTES = 2 * 1024 * 1024

/** @param transformed the parts of a table or of metadata, as JSON. Yields to the event loop. */
export async function recordList (
  { recorder }: Recording, store: ResourceStore, list: ObjectList, transformed?: () => Iterable<Part>
): Promise<void> {
  if (recorder?.wantsResponse !== true) return
  if (await sizeOf(list.entries) > MAX_RECORDED_BYTES) return recorder.tooLarge()
  if (transformed === undefined) {
    const { head, tail } = listJson(store.representation, metadataOf(list, store))
    const itemOf = ({ json }: Entry): string => json.toString('utf8', 0, json.length - 1)
    return recorder.response(() => `${head}${list.entries.map(itemOf).join(',')}${tail}`)
  }
  let text = ''
  for (const part of transformed()) {
    if (!(part instanceof Promise)) text += Buffer.from(part).toString()
    if (turnIsOver()) await nextTurn()
  }
  recorder.response(() => text)
}
