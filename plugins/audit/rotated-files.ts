/** Rotated log files: naming, compression, and removal by age and number. */
import { createReadStream, createWriteStream } from 'node:fs'
import { access, readdir, rename, unlink } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

const DAY = 86_400_000
/** Suffix of files whose compression is incomplete. */
const PARTIAL = '.partial'
const TIME = /^(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3})-\d+$/

export interface RotationOptions {
  /** A file, or `-` for standard output. */
  readonly path: string
  readonly maxAgeDays?: number
  readonly maxBackups?: number
  readonly compress?: boolean
}

/** Names: `audit.log` becomes `audit-2026-11-20T13-49-25.123-1.log`, plus `.gz` if compressed. */
export class RotatedFiles {
  readonly #folder: string
  readonly #stem: string
  readonly #extension: string
  readonly #bounds: Required<Pick<RotationOptions, 'maxAgeDays' | 'maxBackups' | 'compress'>>
  readonly #now: () => number

  constructor (
    { path, maxAgeDays = 0, maxBackups = 0, compress = false }: RotationOptions, now: () => number = Date.now
  ) {
    this.#folder = dirname(path)
    this.#extension = extname(path)
    this.#stem = basename(path, this.#extension)
    this.#bounds = { maxAgeDays, maxBackups, compress }
    this.#now = now
  }

  /** Returns an unused name for the next rotated file. */
  async nextPath (): Promise<string> {
    const time = new Date(this.#now()).toISOString().slice(0, -1).replaceAll(':', '-')
    for (let index = 1; ; index++) {
      const path = join(this.#folder, `${this.#stem}-${time}-${index}${this.#extension}`)
      if (!await exists(path) && !await exists(`${path}.gz`)) return path
    }
  }

  /**
   * Removes old and excess files and compresses the rest, including those of earlier processes.
   * @throws Error of the file system
   */
  async tidy (): Promise<void> {
    const { maxAgeDays, maxBackups, compress } = this.#bounds
    if (maxAgeDays === 0 && maxBackups === 0 && !compress) return
    const files = await readdir(this.#folder)
    for (const name of files) {
      if (name.endsWith(PARTIAL) &&
      this.#timeOf(name.slice(0, -PARTIAL.length)) !== undefined) await unlink(join(this.#folder, name))
    }
    // names sort by time; newest first
    const names = files.filter(name => this.#timeOf(name) !== undefined).sort().reverse()
    for (const [index, name] of names.entries()) {
      const path = join(this.#folder, name)
      const old = maxAgeDays > 0 && this.#now() - (this.#timeOf(name) ?? 0) > maxAgeDays * DAY
      if (old || (maxBackups > 0 && index >= maxBackups)) await unlink(path)
      else if (compress && !name.endsWith('.gz')) await compressed(path)
    }
  }

  /** Rotation time, or undefined for other files. */
  #timeOf (name: string): number | undefined {
    const plain = name.replace(/\.gz$/, '')
    if (!plain.startsWith(`${this.#stem}-`) || !plain.endsWith(this.#extension)) return undefined
    const parts = TIME.exec(plain.slice(this.#stem.length + 1, plain.length - this.#extension.length))
    return parts === null ? undefined : Date.parse(`${parts[1]}${parts[2]}:${parts[3]}:${parts[4]}Z`)
  }
}

const exists = (path: string): Promise<boolean> => access(path).then(() => true, () => false)

/** Removes the original only when the compressed file is complete, so that a crash loses nothing. */
async function compressed (path: string): Promise<void> {
  const partial = `${path}.gz${PARTIAL}`
  await pipeline(createReadStream(path), createGzip(), createWriteStream(partial, { mode: 0o600 }))
  await rename(partial, `${path}.gz`)
  await unlink(path)
}
