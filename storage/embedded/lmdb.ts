/**
 * Opens the embedded store of a directory: locks it, checks every page of the file before LMDB maps it, and checks its
 * format.
 */
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import path from 'node:path'
import type { Database } from 'lmdb'
import type { Backend } from '../backend.js'
import { StorageError } from '../errors.js'
import { makeFolder } from '../../files/folders.js'
import { systemClock } from '../../event-loop/clock.js'
import { Engine } from './engine.js'
import { inspect } from './inspection.js'
import { type EmbeddedOptions, LmdbMedium, type OpenedTable } from './lmdb-medium.js'
import { type DirectoryLock, lockDirectory } from './lock.js'
import { walkPages } from './pages.js'
import { FIRST_FORMAT, FORMAT, metaKey } from './record.js'
import { keepHistory } from './retention.js'
import { checkOpening, freeBytesOf } from './disk-space.js'

/** File name in the data directory. */
export const STORE_FILE = 'data.mdb'
/** A store that is being written whole, by a restore or a compaction (`new-store.ts`). */
export const PARTIAL_FILE = `${STORE_FILE}.partial`
/** Exists in the directory while a store is being opened. */
const OPENING_MARKER = 'opening'

/**
 * Opens the store in this directory. Creates both if missing (the directory with mode 0700).
 * @throws StorageError 'Unavailable' if another process has it or the file system fails, 'NoSpace' on a full disk,
 * 'Corrupt' if the data is damaged, foreign or in a newer format
 */
export async function openEmbedded (directory: string, options: EmbeddedOptions = {}): Promise<Backend> {
  const opened = await openTable(directory, options)
  const { lock, table } = opened
  try {
    const first = await checkFormat(table, directory)
    const engine = await Engine.open(new LmdbMedium(opened, first, options), options)
    rmSync(path.join(directory, OPENING_MARKER), { force: true })
    const { historyRetention, clock = systemClock, note = () => {} } = options
    if (historyRetention !== undefined) await keepHistory(engine, historyRetention, { directory, clock, note })
    return engine
  } catch (error) {
    await table.close()
    rmSync(path.join(directory, OPENING_MARKER), { force: true })
    await lock.release()
    throw error instanceof StorageError ? error : unreadable(directory, error)
  }
}

async function openTable (directory: string, options: EmbeddedOptions): Promise<OpenedTable> {
  const lock = await lockFolder(directory, options)
  const file = path.join(directory, STORE_FILE)
  const isNew = !existsSync(file)
  try {
    removeLeftover(directory, isNew)
    await checkFile(directory, file, options)
    const { open } = await import('lmdb')
    const table = open<Uint8Array, Uint8Array>({
      path: file,
      noSubdir: true,
      encoding: 'binary',
      keyEncoding: 'binary',
      // One commit that is synced before it resolves, instead of a separate later sync.
      overlappingSync: false,
      // The engine batches itself; lmdb's own batches leave an unhandled rejection when a commit fails.
      eventTurnBatching: false,
      mapSize: 1024 * 1024 * 1024
    })
    await chmod(file, 0o600)
    return { lock, table, file }
  } catch (error) {
    if (isNew && isEmpty(file)) rmSync(file)
    rmSync(path.join(directory, OPENING_MARKER), { force: true })
    await lock.release()
    throw error instanceof StorageError ? error : unreadable(directory, error)
  }
}

/**
 * Locks the directory of a store, creating it if missing, with mode 0700.
 * @throws StorageError 'Unavailable' if another process has it or the file system fails, 'NoSpace' on a full disk
 */
export async function lockFolder (
  directory: string, { lock, freeBytes }: Pick<EmbeddedOptions, 'lock' | 'freeBytes'> = {}
): Promise<DirectoryLock> {
  try {
    makeFolder(directory, 0o700)
    checkOpening(directory, freeBytes?.() ?? freeBytesOf(directory))
    return lock ?? await lockDirectory(directory)
  } catch (error) {
    if (error instanceof StorageError) throw error
    const problem = `the directory ${directory} can not be used for the store`
    throw new StorageError('Unavailable', `${problem}: ${messageOf(error)}`, { cause: error })
  }
}

/**
 * Removes the file of an interrupted compaction; nothing else writes it while the folder is locked. @throws
 * StorageError 'Unavailable' if a restore was interrupted
 */
function removeLeftover (directory: string, isNew: boolean): void {
  const partial = path.join(directory, PARTIAL_FILE)
  if (!existsSync(partial)) return
  if (isNew) {
    throw new StorageError(
      'Unavailable',
      `a restore into the directory ${directory} was interrupted: run it again, or remove ${PARTIAL_FILE} for an ` +
        'empty store'
    )
  }
  rmSync(partial)
  rmSync(`${partial}-lock`, { force: true })
}

/** False unless it is an ordinary file: the size of a pipe is 0 too. */
function isEmpty (file: string): boolean {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat?.isFile() === true && stat.size === 0
}

/** Checks the file, completely if the previous start ended while opening it. @throws Error that describes the damage */
async function checkFile (directory: string, file: string, { note }: EmbeddedOptions): Promise<void> {
  const marker = path.join(directory, OPENING_MARKER)
  closeSync(openSync(`${file}-lock`, 'a+', 0o600)) // LMDB ends the process if it can't open this file
  if (isEmpty(file) && !existsSync(marker)) {
    throw new RangeError(
      `${STORE_FILE} is empty, as it is only during the first start, and may be removed if nothing was stored`
    )
  }
  if (existsSync(marker) && existsSync(file)) {
    const { problems, values, empty } = await inspect(file)
    if (problems[0] !== undefined && !empty) {
      throw new RangeError(`${problems[0]} (found as the last start ended while it was opening it)`)
    }
    note?.(
      `the last start ended while it was opening the store in ${directory}: all of it was read, ` +
        `${values[0] === undefined
          ? 'nothing is damaged'
          : `${values.length} values are damaged, the first is: ${values[0]}`} (orch-apiserver fsck \
--data-dir=${directory})`
    )
  }
  if (existsSync(file)) await repairPages(file, note)
  writeFileSync(marker, '')
}

/**
 * Checks every page that LMDB uses. Damaged headers of large values are rewritten from redundant data, because LMDB
 * frees the pages they name. The values have checksums.
 * @throws RangeError that describes any other damage
 */
async function repairPages (file: string, note: EmbeddedOptions['note']): Promise<void> {
  let problem: string | undefined
  const repairs: Array<{ offset: number, header: Buffer, key: string }> = []
  await walkPages(file, {
    problem: text => { problem ??= text },
    enough: () => problem !== undefined,
    valuePage: (offset, header, key) => { repairs.push({ offset, header, key: key.toString('latin1', 19) }) }
  })
  if (problem !== undefined) throw new RangeError(problem)
  if (repairs.length === 0) return
  const fd = openSync(file, 'r+')
  try {
    for (const { offset, header, key } of repairs) {
      writeSync(fd, header, 0, header.length, offset)
      note?.(`a page of the value of ${key} was damaged in ${file}`)
    }
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** True for a store in the first format. */
async function checkFormat (table: Database<Uint8Array, Uint8Array>, directory: string): Promise<boolean> {
  const format = table.getBinary(metaKey('format'))?.toString('latin1')
  const fault = format === undefined && [...table.getKeys({ limit: 1 })].length === 0
    ? undefined
    : faultOfFormat(format, directory)
  if (fault !== undefined) throw fault
  if (format === undefined) await table.put(metaKey('format'), Buffer.from(FORMAT, 'latin1'))
  return format === FIRST_FORMAT
}

/** @throws StorageError 'Unavailable' if the folder has no store */
export function checkStore (directory: string): void {
  if (!existsSync(path.join(directory, STORE_FILE))) {
    throw new StorageError(
      'Unavailable',
      `there is no store in ${directory}: no ${STORE_FILE} lies there; name the folder of an embedded store`
    )
  }
}

/** Why this release cannot read a store with this format. */
export function faultOfFormat (format: string | undefined, directory: string): StorageError | undefined {
  if (format === FORMAT || format === FIRST_FORMAT) return undefined
  if (format === undefined) {
    return new StorageError(
      'Corrupt', `the directory ${directory} holds the data of another program: no format of ours stands in it`
    )
  }
  return new StorageError(
    'Corrupt',
    `the directory ${directory} holds a store of the format '${format.slice(0, 40)}', this server reads '${FORMAT}': ` +
      'start the release that wrote it, or a newer one, or name another --data-dir'
  )
}

function unreadable (directory: string, error: unknown): StorageError {
  // System errors are not damage.
  const advice = error instanceof Error && 'code' in error
    ? ''
    : `; restore it from a backup (orch-apiserver restore; fsck --data-dir=${directory} names all that is damaged, ` +
      `recover ${directory} salvages the rest)`
  return new StorageError(
    'Corrupt', `the directory ${directory} does not hold a readable store: ${messageOf(error)}${advice}`,
    { cause: error }
  )
}

function messageOf (error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
