/**
 * The stored bytes of neighbours in the cache, joined as a list has them. The leaves of the ordered map are such
 * runs, and one that has not changed is the same array: the lists of all clients share its bytes, and copy nothing.
 * Benchmark: 'LIST 5,000 objects, 11.5 MB, HTTP/1.1': 20 % more CPU without it.
 */
import type { Entry } from './entry.js'
import { grow, now } from './forms.js'
import type { Forms } from './forms.js'

const COMMA = 0x2c
/** A run of more is not held twice. */
const MOST_BYTES = 256 * 1024

class JoinedRun implements Forms {
  used = now()
  bytes = 0
  joined: Buffer | undefined = undefined

  drop (): void { this.joined = undefined }
}

const runs = new WeakMap<readonly Entry[], JoinedRun>()

/**
 * Each entry's JSON with a comma behind it; shared, never written to. Undefined where they are not kept: the first time
 * the run is asked for, as most are not listed twice before they change, and when there is no room.
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
  if (size > MOST_BYTES || !grow(run, size)) return undefined
  const bytes = Buffer.allocUnsafeSlow(size)
  let at = 0
  for (const { json } of entries) {
    bytes.set(json, at)
    at += json.length
    bytes[at - 1] = COMMA // in the place of the newline
  }
  return bytes
}
