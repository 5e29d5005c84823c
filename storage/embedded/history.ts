/**
 * What was ever written and is still kept: every key with the chain of its versions, newest first, and
 * the log of all versions in order of revision. Values may live elsewhere (on disk); positions, revisions
 * and the questions 'what was there at R' and 'what happened after R' are answered here, in memory.
 */
import type { Revision } from '../backend.js'

/** A key that has, or recently had, a value. */
export class Entry {
  readonly key: string
  /** The last version assigned, durable or not; undefined only while the entry is being built. */
  newest: Version | undefined = undefined

  constructor (key: string) {
    this.key = key
  }
}

/** One write of one key. */
export class Version {
  readonly entry: Entry
  readonly revision: Revision
  /** Revision of the create it descends from; 0 marks a deletion. */
  readonly created: Revision
  /** The lease it was put with, 0 for none. */
  readonly lease: number
  older: Version | undefined
  /** Held while it is not on disk yet; always in memory-only stores. */
  value: Uint8Array | undefined

  constructor (entry: Entry, revision: Revision, created: Revision, lease: number, older: Version | undefined, value: Uint8Array | undefined) {
    this.entry = entry
    this.revision = revision
    this.created = created
    this.lease = lease
    this.older = older
    this.value = value
  }
}

/** The version that a reader at `revision` sees; undefined when the key did not exist then. */
export function visibleAt (entry: Entry, revision: Revision): Version | undefined {
  let version = entry.newest
  while (version !== undefined && version.revision > revision) version = version.older
  return version === undefined || version.created === 0 ? undefined : version
}

interface Chunk {
  entries: Entry[]
  /** How many of them existed in the newest published state. */
  live: number
}

const CHUNK = 512

/**
 * Entries in order of their keys: short sorted arrays, each with a count of the keys that exist, so that
 * counting a range costs its edges and one step per chunk.
 */
export class KeyIndex {
  readonly #byKey = new Map<string, Entry>()
  readonly #published: () => Revision
  #chunks: Chunk[] = []

  /** @param published the newest revision that readers may see */
  constructor (published: () => Revision) {
    this.#published = published
  }

  /** Number of entries, those of deleted keys included. */
  get size (): number {
    return this.#byKey.size
  }

  get (key: string): Entry | undefined {
    return this.#byKey.get(key)
  }

  /** The entry of this key, made when there is none. */
  ensure (key: string): Entry {
    const known = this.#byKey.get(key)
    if (known !== undefined) return known
    const entry = new Entry(key)
    this.#byKey.set(key, entry)
    if (this.#chunks.length === 0) {
      this.#chunks.push({ entries: [entry], live: 0 })
      return entry
    }
    const at = this.#chunkOf(key)
    const chunk = this.#chunk(at)
    chunk.entries.splice(lowerBound(chunk.entries, key), 0, entry)
    if (chunk.entries.length > CHUNK) this.#split(at)
    return entry
  }

  /** Takes the entry out. Its key must not exist in the published state. */
  remove (entry: Entry): void {
    if (!this.#byKey.delete(entry.key)) return
    const at = this.#chunkOf(entry.key)
    const chunk = this.#chunk(at)
    chunk.entries.splice(lowerBound(chunk.entries, entry.key), 1)
    if (chunk.entries.length === 0) this.#chunks.splice(at, 1)
  }

  /** Notes that a key came into (+1) or went out of (-1) existence in the published state. */
  adjust (entry: Entry, by: 1 | -1): void {
    this.#chunk(this.#chunkOf(entry.key)).live += by
  }

  /** Counts the existing keys of every chunk afresh; for after a bulk load. */
  recount (): void {
    for (const chunk of this.#chunks) chunk.live = this.#liveIn(chunk.entries)
  }

  /** Number of keys in [start, end) at the published revision. */
  count (start: string, end: string): number {
    if (this.#chunks.length === 0 || start >= end) return 0
    const published = this.#published()
    let total = 0
    for (let at = this.#chunkOf(start); at < this.#chunks.length; at++) {
      const { entries, live } = this.#chunk(at)
      const first = entries[0]
      const last = entries[entries.length - 1]
      if (first === undefined || last === undefined || first.key >= end) break
      if (first.key >= start && last.key < end) {
        total += live
        continue
      }
      for (let i = lowerBound(entries, start); i < entries.length; i++) {
        const entry = entries[i]
        if (entry === undefined || entry.key >= end) break
        if (visibleAt(entry, published) !== undefined) total++
      }
    }
    return total
  }

  /**
   * Calls `visit` with the entries in [start, end) in order until it answers false. Safe to resume from
   * the last key seen after the index has changed.
   */
  walk (start: string, end: string, visit: (entry: Entry) => boolean): void {
    if (this.#chunks.length === 0) return
    for (let at = this.#chunkOf(start); at < this.#chunks.length; at++) {
      const { entries } = this.#chunk(at)
      for (let i = lowerBound(entries, start); i < entries.length; i++) {
        const entry = entries[i]
        if (entry === undefined || entry.key >= end || !visit(entry)) return
      }
    }
  }

  #chunk (at: number): Chunk {
    const chunk = this.#chunks[at]
    if (chunk === undefined) throw new RangeError('the key index lost a chunk')
    return chunk
  }

  /** The chunk whose span holds the key: the last one that does not start after it. */
  #chunkOf (key: string): number {
    let low = 0
    let high = this.#chunks.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      const first = this.#chunk(middle).entries[0]
      if (first !== undefined && first.key <= key) low = middle
      else high = middle - 1
    }
    return low
  }

  #split (at: number): void {
    const chunk = this.#chunk(at)
    // Keys often come in rising order: a chunk that grew at the end of all is left nearly full.
    const half = at === this.#chunks.length - 1 ? chunk.entries.length - 16 : chunk.entries.length >>> 1
    const entries = chunk.entries.splice(half)
    const live = this.#liveIn(entries)
    chunk.live -= live
    this.#chunks.splice(at + 1, 0, { entries, live })
  }

  #liveIn (entries: readonly Entry[]): number {
    const published = this.#published()
    return entries.reduce((sum, entry) => visibleAt(entry, published) === undefined ? sum : sum + 1, 0)
  }
}

function lowerBound (entries: readonly Entry[], key: string): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const entry = entries[middle]
    if (entry !== undefined && entry.key < key) low = middle + 1
    else high = middle
  }
  return low
}

/** All versions that are still kept and newer than the compacted revision, in order of revision. */
export class VersionLog {
  #versions: Version[] = []

  get length (): number {
    return this.#versions.length
  }

  push (version: Version): void {
    this.#versions.push(version)
  }

  /** Takes back the last version, which must be this one. */
  pop (version: Version): void {
    const last = this.#versions.pop()
    if (last !== version) throw new RangeError('versions must be taken back in reverse order')
  }

  /** Position of the first version with a revision greater than this one. */
  after (revision: Revision): number {
    let low = 0
    let high = this.#versions.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const version = this.#versions[middle]
      if (version !== undefined && version.revision <= revision) low = middle + 1
      else high = middle
    }
    return low
  }

  at (position: number): Version | undefined {
    return this.#versions[position]
  }

  /** Drops the versions up to and including this revision from the log (not from their chains). */
  forget (revision: Revision): void {
    this.#versions.splice(0, this.after(revision))
  }
}
