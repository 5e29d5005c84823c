/**
 * The history in memory: every key with the chain of its versions, newest first, and the log of all versions in
 * revision order. Values may be on disk; positions, revisions, reads at a revision and changes after a revision are
 * resolved here.
 */
import type { Revision } from '../backend.js'

/** A key that has, or recently had, a value. */
export class Entry {
  readonly key: string
  /** The last version assigned, durable or not; undefined only during construction. */
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
  /** Set until it is on disk; always set in memory-only stores. */
  value: Uint8Array | undefined = undefined

  /** Follows the entry's newest version, but does not replace it. */
  constructor (entry: Entry, revision: Revision, created: Revision, lease: number) {
    this.entry = entry
    this.revision = revision
    this.created = created
    this.lease = lease
    this.older = entry.newest
  }
}

/** The version that a reader at `revision` sees; undefined if the key did not exist then. */
export function visibleAt (entry: Entry, revision: Revision): Version | undefined {
  let version = entry.newest
  while (version !== undefined && version.revision > revision) version = version.older
  return version === undefined || version.created === 0 ? undefined : version
}

interface Chunk {
  entries: Entry[]
  /** Number of keys that exist at the newest published revision. */
  live: number
}

const CHUNK = 512

/**
 * Entries ordered by key, in short sorted arrays that count their existing keys, so that counting a range visits only
 * the entries at its edges and one count per chunk.
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

  /** Returns the entry of this key, creating it if necessary. */
  ensure (key: string): Entry {
    const existing = this.#byKey.get(key)
    if (existing !== undefined) return existing
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

  /** Removes the entry of a key that does not exist in the published state. */
  remove (entry: Entry): void {
    if (!this.#byKey.delete(entry.key)) return
    const at = this.#chunkOf(entry.key)
    const chunk = this.#chunk(at)
    chunk.entries.splice(lowerBound(chunk.entries, entry.key), 1)
    if (chunk.entries.length === 0) this.#chunks.splice(at, 1)
  }

  /** Records that a key was created (+1) or deleted (-1) in the published state. */
  adjust (entry: Entry, by: 1 | -1): void {
    this.#chunk(this.#chunkOf(entry.key)).live += by
  }

  /** Recounts the existing keys after a bulk load. */
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
   * Calls `visit` with the entries in [start, end) in order until it returns false. Safe to resume from the last key
   * seen after the index has changed.
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

  /** The chunk whose range contains the key: the last one that does not start after it. */
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
    // Keys often arrive in ascending order: leave the last chunk nearly full when it splits.
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

/** All kept versions newer than the compacted revision, in revision order. */
export class VersionLog {
  #versions: Version[] = []

  get length (): number {
    return this.#versions.length
  }

  push (version: Version): void {
    this.#versions.push(version)
  }

  /** Removes the last version, which must be this one. */
  pop (version: Version): void {
    const last = this.#versions.pop()
    if (last !== version) throw new RangeError('versions must be taken back in reverse order')
  }

  /** Position of the first version with a greater revision. */
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

  /** Drops versions up to this revision from the log, but not from their chains. */
  forget (revision: Revision): void {
    this.#versions.splice(0, this.after(revision))
  }
}
