/**
 * Where a snapshot is written: a file that appears under its name only when it is complete and on disk, or standard
 * output.
 */
import { close, closeSync, fstatSync, fsync, linkSync, openSync, renameSync, rmSync, statSync, write } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { sync } from '../../files/folders.js'
import { ArgumentError } from '../command-line.js'

export interface Sink {
  readonly write: (bytes: Buffer) => Promise<void>
  /** Makes it durable, and visible under its name. */
  readonly finish: () => Promise<void>
  readonly discard: () => void
}

const writeTo = promisify(write)
const EAGAIN_PAUSE_MS = 5

/** @throws ArgumentError */
export function standardOutput (): Sink {
  if (process.stdout.isTTY) throw new ArgumentError('-: standard output is a terminal; redirect it, or name a file')
  return { write: bytes => writeAll(1, bytes), finish: async () => {}, discard: () => {} }
}

/**
 * With mode 0600, as it holds secrets.
 * @param force replaces an existing file
 * @throws ArgumentError
 */
export function snapshotFile (file: string, force: boolean): Sink {
  const existing = statSync(file, { throwIfNoEntry: false })
  if (existing?.isFile() === false) {
    throw new ArgumentError(`${file}: is no ordinary file; name another one, or - for standard output`)
  }
  if (existing !== undefined && !force) {
    throw new ArgumentError(`${file}: exists already; name another file, or give --force to replace it`)
  }
  const partial = `${file}.partial`
  rmSync(partial, { force: true }) // left by a killed command
  const fd = openSync(partial, 'wx', 0o600)
  let open = true
  /** False once another snapshot has the same name. */
  const isOurs = (): boolean => statSync(partial, { throwIfNoEntry: false })?.ino === fstatSync(fd).ino
  return {
    write: bytes => writeAll(fd, bytes),
    finish: async () => {
      await promisify(fsync)(fd)
      if (!isOurs()) throw new Error('another snapshot writes the same file')
      if (force) renameSync(partial, file)
      else publish(partial, file)
      open = false
      await promisify(close)(fd)
      sync(dirname(file))
    },
    discard: () => {
      if (!open) return
      open = false
      if (isOurs()) rmSync(partial, { force: true })
      closeSync(fd)
    }
  }
}

/** Never replaces a file, even one that was created meanwhile. */
function publish (partial: string, file: string): void {
  try {
    linkSync(partial, file)
  } catch (error) {
    if (statSync(file, { throwIfNoEntry: false }) !== undefined) {
      throw new ArgumentError(
        `${file}: exists by now; name another file, or give --force to replace it`, { cause: error }
      )
    }
    return renameSync(partial, file) // a file system without links
  }
  rmSync(partial)
}

async function writeAll (fd: number, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    try {
      at += (await writeTo(fd, bytes, at, bytes.length - at)).bytesWritten
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
      await new Promise(resolve => { setTimeout(resolve, EAGAIN_PAUSE_MS) })
    }
  }
}
