/**
 * An append-only file with rotation by size. Lines are complete or absent: a partial line left by a full disk is
 * truncated, or terminated before the next one. After an error, or if the file was moved or removed, the next write
 * reopens it. Several processes may share a file: each text is one write to its end, which local file systems never
 * mix. One of them rotates it; the others write to the rotated file until their next check.
 */
import { open, rename, stat, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../../files/folders.js'
import type { RotatedFiles } from './rotated-files.js'

/** The number of leading texts written completely, and the error if not all. */
export interface AppendResult { readonly whole: number, readonly error?: Error }

/** Who else writes to the file. */
export interface SharedFile {
  /** Whether this process rotates it now. One does at a time. */
  readonly rotates: () => boolean
}

/** Milliseconds between checks for a moved file, and before retrying a failed rotation. */
const CHECK_INTERVAL = 1000
/** Milliseconds after a rotation until the other processes write to the new file. */
const OTHERS_LEAVE = 3 * CHECK_INTERVAL
const NEWLINE = 10

export interface LogFileOptions {
  readonly path: string
  /** Bytes. */
  readonly maxSize: number
  readonly rotated: RotatedFiles
  /** Set if other processes write to the same file. */
  readonly shared?: SharedFile | undefined
  /** Monotonic clock, milliseconds. */
  readonly now?: () => number
}

export class LogFile {
  readonly #path: string
  readonly #maxSize: number
  readonly #rotated: RotatedFiles
  readonly #onError: (error: Error) => void
  readonly #now: () => number
  readonly #shared: SharedFile | undefined
  #tidying: Promise<void>
  #file: FileHandle | undefined
  #size = 0
  #checkedAt = -Infinity
  #rotateAfter = -Infinity

  /** @param onError receives errors that do not fail a write */
  constructor (
    { path, maxSize, rotated, shared, now = performance.now.bind(performance) }: LogFileOptions,
    onError: (error: Error) => void
  ) {
    this.#path = path
    this.#shared = shared
    this.#now = now
    this.#maxSize = maxSize
    this.#rotated = rotated
    this.#onError = onError
    this.#tidying = shared?.rotates() === false ? Promise.resolve() : rotated.tidy().catch(onError)
  }

  /** Must not be called again before it resolves. */
  async append (texts: readonly string[]): Promise<AppendResult> {
    const bytes = Buffer.from(texts.join(''))
    let written = 0
    try {
      const file = await this.#ready(bytes.length)
      // a full disk accepts a part and fails the next write
      while (written < bytes.length) written += (await file.write(bytes, written)).bytesWritten
      this.#size += written
      return { whole: texts.length }
    } catch (error) {
      let end = 0
      const ends = texts.map(text => (end += Buffer.byteLength(text)))
      const whole = ends.filter(end => end <= written).length
      await this.#truncate(written - (ends[whole - 1] ?? 0))
      return { whole, error: error as Error } // a file system error
    }
  }

  async close (): Promise<void> {
    await this.#closeFile()
    await this.#tidying
  }

  /** Returns the file with room for `bytes`. */
  async #ready (bytes: number): Promise<FileHandle> {
    const now = this.#now()
    if (this.#file !== undefined && now - this.#checkedAt >= CHECK_INTERVAL) {
      this.#checkedAt = now
      if (!await this.#isInPlace(this.#file)) await this.#closeFile()
    }
    const file = this.#file ?? await this.#open()
    if (this.#shared?.rotates() === false || this.#size === 0 || this.#size + bytes <= this.#maxSize ||
      now < this.#rotateAfter) return file
    await this.#rotate(now)
    return await this.#open()
  }

  async #isInPlace (file: FileHandle): Promise<boolean> {
    const [own, named] = await Promise.all([file.stat(), stat(this.#path).catch(() => undefined)])
    this.#size = own.size // another process may have truncated it
    return own.ino === named?.ino && own.dev === named.dev
  }

  async #open (): Promise<FileHandle> {
    makeFolder(dirname(this.#path), 0o700)
    const file = await open(this.#path, 'a+', 0o600)
    this.#file = file
    this.#checkedAt = this.#now()
    this.#size = (await file.stat()).size
    if (this.#size > 0 && (await file.read(Buffer.alloc(1), 0, 1, this.#size - 1)).buffer[0] !== NEWLINE) {
      this.#size += (await file.write('\n')).bytesWritten
    }
    return file
  }

  /** A file that cannot be renamed keeps growing. */
  async #rotate (now: number): Promise<void> {
    await this.#closeFile()
    try {
      await rename(this.#path, await this.#rotated.nextPath())
      this.#tidying = this.#tidying
        .then(() => this.#othersHaveLeft()).then(() => this.#rotated.tidy()).catch(this.#onError)
    } catch (error) {
      this.#rotateAfter = now + CHECK_INTERVAL
      this.#onError(error as Error) // a file system error
    }
  }

  /** Waits until other processes no longer write to the rotated file, so that its compression loses nothing. */
  async #othersHaveLeft (): Promise<void> {
    if (this.#shared !== undefined) await new Promise<void>(resolve => { setTimeout(resolve, OTHERS_LEAVE).unref() })
  }

  /** Truncates the last `bytes`, part of an incomplete text; not where they may be another's. */
  async #truncate (bytes: number): Promise<void> {
    try {
      if (bytes > 0 && this.#shared === undefined && this.#file !== undefined) {
        await this.#file.truncate((await this.#file.stat()).size - bytes)
      }
    } catch {} // #open terminates the partial line
    await this.#closeFile()
  }

  async #closeFile (): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close().catch(this.#onError)
  }
}
