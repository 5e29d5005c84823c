/**
 * Joins the JSON of neighbouring entries for lists. Leaves of the ordered map that have not changed are the same arrays, so the lists of all clients share
 * their bytes without copying. Benchmark: 'LIST 5,000 objects, 11.5 MB, HTTP/1.1': 20 % more CPU without it.
 */
import type { Entry } from './entry.js'
import { now, grow, type Forms } from './forms.js'

const COMMA = 0x2c
/** Larger runs are not joined. */
const MAX_BYTES = 256 * 1024

class JoinedRun implements Forms {
  used = now()
  bytes = 0
  joined: Buffer | undefined = undefined

  drop (): void { this.joined = undefined }
}

const runs = new WeakMap<readonly Entry[], JoinedRun>()

/**
 * Each entry's JSON followed by a comma; shared: never write to it. Undefined on the first request for a run, because most runs change before they are listed
 * again, and when the memory limit is reached.
 */
export function joinedRun (entries: readonly Entry[]): Buffer | undefined {
  const run = runs.get(entries)
  if (run === undefined) {
    runs.set(entries, new JoinedRun())
    return undefined
  }
  run.used = now()
  run.joined ??= join(entries, run)
  return run.joined
}

function join (entries: readonly Entry[], run: JoinedRun): Buffer | undefined {
  let size = 0
  for (const { json } of entries) size += json.length
  if (size > MAX_BYTES || !grow(run, size)) return undefined
  const bytes = Buffer.allocUnsafeSlow(size)
  let at = 0
  for (const { json } of entries) {
    bytes.set(json, at)
    at += json.length
    bytes[at - 1] = COMMA // replaces the newline
  }
  return bytes
}
