/**
 * Keeps the store from filling its disk. lmdb cannot handle failed writes: each failure writes past the end of one of
 * its buffers, and about forty of them crash the process. So each batch is admitted only if the free space covers the
 * most it can take.
 *
 * There are three limits. Values are written while `minFree` bytes are free. While half of that is free, they are also
 * written if the file has enough reusable pages, so that deletions on a full disk make room without growing the file.
 * An eighth of `minFree` always stays free; it is the only limit for deletions and compactions.
 */
import { statfsSync } from 'node:fs'
import { StorageError } from '../errors.js'

export const DEFAULT_MIN_FREE = 64 * 1024 * 1024
/** Minimum free bytes to attempt an opening, which writes a few pages. */
const OPENING_BYTES = 1024 * 1024
/** Disks fill at some gigabytes a second at most: above four times `minFree`, a check this old is recent enough. */
const CHECK_MS = 10
const RELAXED_FACTOR = 4

export interface DiskSpaceOptions {
  /** For messages. */
  readonly directory: string
  /** Bytes that must stay free. */
  readonly minFree: number
  /** Free bytes of the disk. */
  readonly freeBytes: () => number
  /** Reusable bytes within the file. Called only when the disk is nearly full. */
  readonly reusable: () => number
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/** @throws StorageError 'Unavailable' if the directory is not there any more */
export function freeBytesOf (directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  } catch (error) {
    throw new StorageError(
      'Unavailable', `the directory ${directory} of the store can not be used: ${(error as Error).message}`,
      { cause: error }
    )
  }
}

/** @throws StorageError 'NoSpace' if the disk is too full to open a store */
export function checkOpening (directory: string, free: number): void {
  if (free < OPENING_BYTES) {
    throw new StorageError(
      'NoSpace',
      `the disk of the directory ${directory} is full: ${mebibytes(free)} are free, a start needs ` +
        `${mebibytes(OPENING_BYTES)}; make room on it`
    )
  }
}

export class DiskSpace {
  readonly #options: DiskSpaceOptions
  #free = 0
  #checkedAt = -Infinity
  /** Maximum bytes of the batches since the last check. */
  #reserved = 0
  #refusing = false

  constructor (options: DiskSpaceOptions) {
    this.#options = options
  }

  /** Why values are refused at present, undefined if they are not. Checks the disk. */
  get shortage (): StorageError | undefined {
    this.#check()
    return this.#isShort() ? this.#refusal() : undefined
  }

  /** As `shortage`, but checks the disk only if the last write was refused. */
  get refusal (): StorageError | undefined {
    return this.#refusing ? this.shortage : undefined
  }

  /**
   * Called before a batch is written.
   * @param maxBytes maximum growth of the file
   * @param growing false if the batch only frees space
   * @throws StorageError 'NoSpace'
   */
  admit (maxBytes: number, growing: boolean): void {
    const { minFree, now } = this.#options
    if (now() - this.#checkedAt > CHECK_MS || this.#remaining - maxBytes < RELAXED_FACTOR * minFree) this.#check()
    if ((growing && this.#isShort()) || this.#remaining - maxBytes < minFree / 8) throw this.#refusal()
    this.#reserved += maxBytes
  }

  get #remaining (): number { return this.#free - this.#reserved }

  #check (): void {
    this.#free = this.#options.freeBytes()
    this.#checkedAt = this.#options.now()
    this.#reserved = 0
  }

  #isShort (): boolean {
    const { minFree, reusable } = this.#options
    // Hysteresis: writes resume only when some more space is free, so that the state does not flap.
    const floor = this.#refusing ? minFree * 9 / 8 : minFree
    const remaining = this.#remaining
    this.#refusing = remaining < floor && (remaining < floor / 2 || reusable() < floor)
    return this.#refusing
  }

  #refusal (): StorageError {
    const { directory, minFree } = this.#options
    return new StorageError(
      'NoSpace',
      `the disk of the directory ${directory} is nearly full: ${mebibytes(this.#free)} are free, ` +
        `${mebibytes(minFree)} are to stay free; writes are refused until there is room, reads go on, and deletions ` +
        `as long as ${mebibytes(minFree / 8)} are free`
    )
  }
}

export const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 / 102.4) / 10} MiB`
