/**
 * What audit and the log of requests keep of answers: objects in the version and form that is asked for, as JSON under
 * this server's names.
 */
import type { Entry } from '../storage/cache/entry.js'
import type { ResourceStore } from '../registry/resource-store.js'
import type { ObjectAnswer, ObjectList } from './answer.js'
import { asRecorded, formOf, formOfObject } from './formats/choice.js'
import { askerOf } from './formats/format.js'
import { measure } from './list-bytes.js'
import type { RequestContext } from './request-context.js'
import { ownViewOf } from './stored-view.js'
import { OWN_VIEW } from './view.js'
import { wholeList } from './whole-list.js'

/** @returns a promise if it takes steps */
export function recordEntry (orch: RequestContext, store: ResourceStore, entry: Entry): Promise<void> | undefined {
  if (orch.recorder?.wantsResponse !== true) return undefined
  const json = formOf(asRecorded(orch)).entry({ view: ownViewOf(store), asker: () => askerOf(orch) }, entry)
  const keep = (json: Buffer): undefined => recordJson(orch, () => json)
  return json instanceof Promise ? json.then(keep) : keep(json)
}

export function recordObject (orch: RequestContext, answer: ObjectAnswer): void {
  recordJson(orch, () => formOfObject(asRecorded(orch), answer).object(OWN_VIEW, answer))
}

export function recordJson ({ recorder }: Pick<RequestContext, 'recorder'>, json: () => Buffer): undefined {
  recorder?.response(() => json().toString())
}

/** Larger lists are not recorded. */
const MAX_RECORDED_BYTES = 2 * 1024 * 1024

/** Yields to the event loop. */
export async function recordList (orch: RequestContext, store: ResourceStore, list: ObjectList): Promise<void> {
  const { recorder } = orch
  if (recorder?.wantsResponse !== true) return
  if ((await measure(list.entries)).bytes > MAX_RECORDED_BYTES) return recorder.tooLarge()
  const form = formOf(asRecorded(orch))
  const unkept = { ...list, leaves: [] } // no memory for what is recorded alone
  const json = await wholeList(form, { view: ownViewOf(store), list: unkept, asker: () => askerOf(orch) })
  recordJson(orch, () => json)
}
