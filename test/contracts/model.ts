/** The simplest possible back end, a map and a log, with which the real ones are compared. */
import type { KeyValue, Revision } from '../../storage/backend.js'

export interface ModelValue {
  readonly value: string
  readonly created: Revision
  readonly modified: Revision
}

interface Change {
  readonly revision: Revision
  readonly key: string
  readonly now: ModelValue | undefined
  readonly before: ModelValue | undefined
}

export class Model {
  readonly state = new Map<string, ModelValue>()
  readonly log: Change[] = []

  put (key: string, value: string, revision: Revision): void {
    const before = this.state.get(key)
    const now = { value, created: before?.created ?? revision, modified: revision }
    this.state.set(key, now)
    this.log.push({ revision, key, now, before })
  }

  remove (key: string, revision: Revision): void {
    this.log.push({ revision, key, now: undefined, before: this.state.get(key) })
    this.state.delete(key)
  }

  /** Orders the log after writes whose responses arrived out of order. */
  settle (): void {
    this.log.sort((a, b) => a.revision - b.revision)
  }

  at (revision: Revision): Map<string, ModelValue> {
    const state = new Map<string, ModelValue>()
    for (const change of this.log) {
      if (change.revision > revision) break
      if (change.now === undefined) state.delete(change.key)
      else state.set(change.key, change.now)
    }
    return state
  }

  /** The range at a revision, as text. */
  range (start: string, end: string, revision: Revision): string[] {
    return [...this.at(revision)].filter(([key]) => key >= start && key < end)
      .sort(([a], [b]) => a < b ? -1 : 1)
      .map(([key, { value, created, modified }]) => `${key} ${value} ${created} ${modified}`)
  }

  /** The events of a watch of the range after this revision, as text (see `shortly`). */
  changes (start: string, end: string, after: Revision): string[] {
    return this.log.filter(({ key, revision }) => key >= start && key < end && revision > after)
      .map(({ revision, key, now, before }) =>
        `${revision} ${now === undefined ? 'delete' : 'put'} ${key} ${now?.value ?? ''} < ${before?.value ?? '-'}`)
  }
}

export function textOf (kv: KeyValue): string {
  return `${kv.key} ${Buffer.from(kv.value).toString()} ${kv.createRevision} ${kv.modRevision}`
}
