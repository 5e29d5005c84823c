/**
 * Keeps the store from filling its disk. The package below can't bear a write that fails: each failure writes past
 * the end of a buffer of its own, and some forty of them end the process. So every batch is admitted before it is
 * handed down, by the space that is left then and the most that the batch can take.
 *
 * Three bounds, from one floor: values are written while the floor is free; while half of it is free, also as long
 * as the file itself has room that was freed, so that what somebody deletes on a full disk comes to be of use without
 * another byte of disk; and whatever is written, an eighth of the floor stays free at the worst, which is all that
 * deletions and compactions have to keep to.
 */
import { statfsSync } from 'node:fs'
import { StorageError } from '../errors.js'

export const DEFAULT_MIN_FREE = 64 * 1024 * 1024
/** The least with which an opening is tried: it writes a few pages. */
const OPENING = 1024 * 1024
/** Nothing fills disks faster than some gigabytes a second: above four floors a look this old is new enough. */
const CHECK_MS = 10
const PLENTY = 4

export interface SpaceOptions {
  /** For messages. */
  readonly directory: string
  /** Bytes that are to stay free. */
  readonly minFree: number
  /** Bytes that may still be written to the disk. */
  readonly freeBytes: () => number
  /** Bytes within the file that can be used again. Asked only when the disk is nearly full. */
  readonly reusable: () => number
  /** Milliseconds that only ever rise. */
  readonly now: () => number
}

export const freeBytesOf = (directory: string): number => {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}

/** @throws StorageError 'NoSpace' when the disk is too full to open a store on it */
export function checkOpening (directory: string, free: number): void {
  if (free < OPENING) throw new StorageError('NoSpace', `the disk of the directory ${directory} is full: ${mebibytes(free)} are free, a start needs ${mebibytes(OPENING)}; make room on it`)
}

export class Space {
  readonly #options: SpaceOptions
  #free = 0
  #checkedAt = -Infinity
  /** What the batches since the last look may have taken. */
  #taken = 0
  #refusing = false

  constructor (options: SpaceOptions) {
    this.#options = options
  }

  /** Why values are refused at present, undefined while they are taken. Looks at the disk. */
  get shortage (): StorageError | undefined {
    this.#check()
    return this.#short() ? this.#refusal() : undefined
  }

  /** The same for each write, which looks only when the last one was refused. */
  get refusal (): StorageError | undefined {
    return this.#refusing ? this.shortage : undefined
  }

  /**
   * Before a batch is written.
   * @param need the most bytes by which it can make the file grow
   * @param values true unless it only makes room
   * @throws StorageError 'NoSpace'
   */
  admit (need: number, values: boolean): void {
    const { minFree, now } = this.#options
    if (now() - this.#checkedAt > CHECK_MS || this.#left - need < PLENTY * minFree) this.#check()
    if ((values && this.#short()) || this.#left - need < minFree / 8) throw this.#refusal()
    this.#taken += need
  }

  get #left (): number { return this.#free - this.#taken }

  #check (): void {
    this.#free = this.#options.freeBytes()
    this.#checkedAt = this.#options.now()
    this.#taken = 0
  }

  #short (): boolean {
    const { minFree, reusable } = this.#options
    // Once it refuses, a little more has to be free before it stops: else it would change its mind with each write.
    const floor = this.#refusing ? minFree * 9 / 8 : minFree
    const left = this.#left
    this.#refusing = left < floor && (left < floor / 2 || reusable() < floor)
    return this.#refusing
  }

  #refusal (): StorageError {
    const { directory, minFree } = this.#options
    return new StorageError('NoSpace', `the disk of the directory ${directory} is nearly full: ${mebibytes(this.#free)} are free, ${mebibytes(minFree)} are to stay free; writes are refused until there is room, reads go on, and deletions as long as ${mebibytes(minFree / 8)} are free`)
  }
}

const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 / 102.4) / 10} MiB`
