/**
 * Keeps the history of a store for a time or a size (`--history-retention`), instead of the server's periodic
 * compactions. Each mark records a revision of the store with its time and the bytes of changes so far. Marks are kept
 * in a file, so that restarts do not prolong the history.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { replaceFileLater } from '../../files/atomic-files.js'
import { isObject } from '../../schemas/language/values.js'
import type { Backend, BackendEvent, Revision } from '../backend.js'
import type { Clock } from '../../event-loop/clock.js'
import { isStorageError } from '../errors.js'

/** How much history stays readable. */
export type Retention = { readonly milliseconds: number }
  | { /** Bytes of changes: keys and values, live ones included. */ readonly bytes: number }

interface Mark { readonly at: number, readonly revision: Revision, readonly written: number }

export const RETENTION_FILE = 'history.json'
/** Number of marks per retention: history lives at most about a hundredth longer than configured. */
const MARKS = 100
const LONGEST_STEP = 60_000
const SHORTEST_STEP = 1000
/** Greater than every key. */
const END = '\uffff'

export interface RetentionOptions {
  readonly directory: string
  readonly clock: Clock
  readonly note: (text: string) => void
}

/** Starts; ends when the back end is closed. */
export async function keepHistory (
  backend: Backend, retention: Retention, { directory, clock, note }: RetentionOptions
): Promise<void> {
  const file = path.join(directory, RETENTION_FILE)
  const newest = await backend.revision()
  let marks = readMarks(file).filter(({ revision }) => revision <= newest && revision > backend.compactedRevision())
  let written = marks.at(-1)?.written ?? 0
  let failing = false
  const interval = 'milliseconds' in retention
    ? Math.max(SHORTEST_STEP, Math.min(LONGEST_STEP, retention.milliseconds / MARKS))
    : SHORTEST_STEP
  /** Whether changes since a mark are enough for the next one. Half a step is the tolerance of a timer. */
  const isFar = ({ at, written: before }: Mark, now: number): boolean => 'milliseconds' in retention
    ? now - at >= retention.milliseconds / MARKS - interval / 2
    : written - before >= retention.bytes / MARKS

  // Changes after the last mark count too, or a server that is often killed would keep its history for ever.
  const after = 'bytes' in retention ? marks.at(-1)?.revision ?? newest : newest
  countWritten(backend, after, newest, bytes => { written += bytes })

  const step = async (): Promise<void> => {
    const revision = await backend.revision()
    const now = clock.wall()
    const last = marks.at(-1)
    const isDue = last === undefined || (revision > last.revision && isFar(last, now))
    // A clock that was set back does not keep history for longer.
    const next = [
      ...marks.map(mark => mark.at > now ? { ...mark, at: now } : mark),
      ...isDue ? [{ at: now, revision, written }] : []
    ]
    const isOld = (mark: Mark): boolean =>
      'milliseconds' in retention ? now - mark.at >= retention.milliseconds : written - mark.written >= retention.bytes
    const oldest = next.findLast(isOld)
    if (oldest !== undefined && oldest.revision > backend.compactedRevision()) await backend.compact(oldest.revision)
    const kept = next.filter(mark => !isOld(mark))
    const changed = kept.length !== marks.length || kept.some((mark, at) => mark !== marks[at])
    marks = kept
    if (changed) await replaceFileLater(file, JSON.stringify(marks), 0o600)
  }
  const run = async (): Promise<void> => {
    try {
      await step()
      failing = false
    } catch (error) {
      if (isStorageError(error, 'Closed')) return
      if (!failing) note(`the history of the store cannot be limited: ${(error as Error).message}`)
      failing = true
    }
    clock.after(interval, () => { void run() })
  }
  void run()
}

/** @param newest where to begin again if some of the history before is unreadable */
function countWritten (backend: Backend, after: Revision, newest: Revision, add: (bytes: number) => void): void {
  backend.watch({
    start: '',
    end: END,
    after,
    previous: false,
    onEvents: events => { add(events.reduce((sum, event) => sum + sizeOf(event), 0)) },
    onProgress: () => {},
    onEnd: error => {
      if (after < newest && !isStorageError(error, 'Closed')) countWritten(backend, newest, newest, add)
    }
  })
}

const sizeOf = ({ kv }: BackendEvent): number => kv.key.length + kv.value.length

/** Returns no marks if the file is damaged; earlier history is then kept for one more retention. */
function readMarks (file: string): Mark[] {
  try {
    const marks: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return Array.isArray(marks) && marks.every(isMark) ? marks as Mark[] : []
  } catch {
    return []
  }
}

const isMark = (value: unknown): boolean => isObject(value) &&
  ['at', 'revision', 'written'].every(name => Number.isSafeInteger(value[name]))
