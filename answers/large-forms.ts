/**
 * Forms of large objects, made in several turns of the event loop before those who need them at once ask for them: the
 * encoders of answers, lists and events. All who ask meanwhile wait for the same.
 */
import { runStepsYielding } from '../event-loop/turns.js'
import type { Entry } from '../storage/cache/entry.js'
import type { Shape, StoredView } from './stored-view.js'

const making = new WeakMap<Entry, Map<string, Promise<void>>>()

/** @returns undefined if nothing is missing */
export function formsOf (view: StoredView, entries: readonly Entry[], shape: Shape): Promise<void> | undefined {
  const missing = entries.filter(entry => !view.isReady(entry, shape))
  return missing.length === 0 ? undefined : makeAll(view, missing, shape)
}

async function makeAll (view: StoredView, entries: readonly Entry[], shape: Shape): Promise<void> {
  for (const entry of entries) await formOf(view, entry, shape)
}

async function formOf (view: StoredView, entry: Entry, shape: Shape): Promise<void> {
  let ofEntry = making.get(entry)
  if (ofEntry === undefined) making.set(entry, ofEntry = new Map())
  const name = `${view.id} ${shape.protobuf} ${shape.metadata}`
  let running = ofEntry.get(name)
  if (running === undefined) {
    running = runStepsYielding(view.inSteps(entry, shape)).finally(() => { ofEntry.delete(name) })
    ofEntry.set(name, running)
  }
  await running
}
