/**
 * What can be read of a damaged embedded store, from its file instead of through LMDB: of each key the newest version
 * whose value is whole, also on pages below a damaged one. What lay on the damaged page itself is not known, deletions
 * neither.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { BATCH_BYTES, bytesOf, type Lease, type StoredObject, type StoreReader } from '../transfer/stores.js'
import { StorageError } from '../errors.js'
import { faultOfFormat, STORE_FILE } from './lmdb.js'
import { lockToRead } from './lock.js'
import { walkPages } from './pages.js'
import {
  CHECKED, leaseIdOf, metaKey, parseLease, parseTotals, parseVersionKey, TOTALS_KEY, UNCHECKED, unseal
} from './record.js'

export interface Salvage {
  readonly reader: StoreReader
  /** One line for each damage, and for each object that is lost or older than it was. */
  readonly losses: readonly string[]
}

/** The versions of a key. */
interface Known {
  /** The newest revision, readable or not. */
  newest: number
  /** The newest one with a whole value; 0 for none. */
  readable: number
  /** Whether the newest one is a deletion. */
  deleted: boolean
}

/** Batches that wait for their writer. */
const MAX_WAITING = 4

/**
 * @throws StorageError 'Unavailable' for a folder without a store or with a server, 'Corrupt' if nothing can be read
 */
export async function salvage (directory: string): Promise<Salvage> {
  const file = join(directory, STORE_FILE)
  if (!existsSync(file)) {
    throw new StorageError('Unavailable', `there is no store in ${directory}: no ${STORE_FILE} lies there`)
  }
  const lock = await lockToRead(directory)
  try {
    const survey = new Survey()
    await walkPages(file, {
      problem: text => { survey.problem(text) }, enough: () => false, valuePage: () => {}, strays: true,
      record: (key, value) => { survey.record(key, value) }
    })
    const fault = survey.format === undefined ? undefined : faultOfFormat(survey.format, directory)
    if (fault !== undefined) throw fault
    if (survey.keys.size === 0) {
      const why = survey.problems[0] ?? 'it is empty'
      throw new StorageError('Corrupt', `nothing can be read of the store in ${directory}: ${why}`)
    }
    return { reader: readerOf(file, survey, async () => { await lock?.release() }), losses: survey.losses() }
  } catch (error) {
    await lock?.release()
    throw error
  }
}

class Survey {
  readonly problems: string[] = []
  readonly keys = new Map<string, Known>()
  readonly leases = new Map<number, Lease>()
  revision = 1
  format: string | undefined

  problem (text: string): void { this.problems.push(text) }

  record (key: Buffer, value: Buffer): void {
    try {
      const kind = key[0]
      if (kind === 0) this.#meta(key, value)
      else if (kind === 1) this.leases.set(leaseIdOf(key), parseLease(value))
      else if (kind === UNCHECKED || kind === CHECKED) this.#version(key, value)
      else if (key.equals(TOTALS_KEY)) this.revision = Math.max(this.revision, parseTotals(value)?.revision ?? 0)
    } catch (error) {
      this.problem(error instanceof Error ? error.message : String(error))
    }
  }

  losses (): string[] {
    const objects = [...this.keys].flatMap(([key, { newest, readable, deleted }]) => {
      if (deleted || newest === readable) return []
      return [readable === 0
        ? `${key} is lost: no version of it can be read`
        : `${key} is as of revision ${readable}: the value of revision ${newest} cannot be read`]
    })
    return [...this.problems, ...objects]
  }

  #meta (key: Buffer, value: Buffer): void {
    const text = value.toString('latin1')
    if (key.equals(metaKey('format'))) this.format = text
    else if (/^\d{1,15}$/.test(text)) this.revision = Math.max(this.revision, Number(text)) // it is compacted to that
  }

  #version (recordKey: Buffer, stored: Buffer): void {
    const { kind, key, revision, created } = parseVersionKey(recordKey)
    this.revision = Math.max(this.revision, revision)
    const versions = this.keys.get(key) ?? { newest: 0, readable: 0, deleted: false }
    if (revision > versions.newest) {
      versions.newest = revision
      versions.deleted = created === 0
      if (versions.deleted) versions.readable = 0 // what was before it is gone
    }
    if (created > 0 && revision > versions.readable && valueOf(kind, recordKey, stored) !== undefined) {
      versions.readable = revision
    }
    this.keys.set(key, versions)
  }
}

const valueOf = (kind: number, recordKey: Buffer, stored: Buffer): Uint8Array | undefined =>
  kind === CHECKED ? unseal(recordKey, stored) : stored.length > 0 ? stored : undefined

function readerOf (file: string, survey: Survey, release: () => Promise<void>): StoreReader {
  let closed = false
  return {
    source: 'embedded', revision: survey.revision, takenAt: Date.now(), prefix: undefined,
    count: [...survey.keys.values()].filter(({ readable }) => readable > 0).length,
    objects: () => objectsIn(file, survey),
    unchanged: async () => {}, // the folder is locked
    close: async () => {
      if (closed) return
      closed = true
      await release()
    }
  }
}

/** Reads the file once more, page by page, as fast as the batches are taken. */
async function * objectsIn (file: string, { keys, leases }: Survey): AsyncGenerator<readonly StoredObject[]> {
  const full: StoredObject[][] = []
  let batch: StoredObject[] = []
  let bytes = 0
  /** An older state may have the same version once more. */
  const seen = new Set<string>()
  let wake = (): void => {}
  let taken = (): void => {}
  let done = false
  const finish = (): void => {
    if (batch.length > 0) full.push(batch)
    ;[batch, bytes] = [[], 0]
    wake()
  }
  const walking = walkPages(file, {
    problem: () => {}, enough: () => done, valuePage: () => {}, strays: true,
    pause: () => full.length < MAX_WAITING ? undefined : new Promise<void>(resolve => { taken = resolve }),
    record: (recordKey, stored) => {
      const kind = recordKey[0] ?? 0
      if (kind !== UNCHECKED && kind !== CHECKED) return
      let version
      try {
        version = parseVersionKey(recordKey)
      } catch {
        return // named by the survey
      }
      const { key, revision, created, lease } = version
      if (keys.get(key)?.readable !== revision) return
      const value = valueOf(kind, recordKey, stored)
      if (value === undefined || seen.has(key)) return
      seen.add(key)
      // Buffers of the walk are used again.
      const object = {
        key, value: Buffer.from(value), createRevision: created, modRevision: revision, lease: leases.get(lease)
      }
      batch.push(object)
      bytes += bytesOf(object)
      if (bytes >= BATCH_BYTES) finish()
    }
  }).finally(() => {
    finish()
    done = true
    wake()
  })
  try {
    for (;;) {
      const next = full.shift()
      taken()
      if (next !== undefined) yield next
      else if (done) break
      else await new Promise<void>(resolve => { wake = resolve })
    }
  } finally {
    done = true
    taken()
    await walking
  }
}
