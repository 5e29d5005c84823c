/**
 * Files that others replace while we run: certificates, tokens, configuration. What counts is their content: it is compared
 * when something happens in one of their folders, a moment after that, so that files that belong together are there
 * together, and every minute whatever happens, as network and overlay file systems may tell nothing.
 *
 * Folders are watched, not files: a file that is replaced by a rename takes its watch with it, and in a volume of a cluster
 * a file is a link through `..data`, which is what is replaced. A file that is gone or cannot be read keeps its last
 * content until it is back.
 */
import { createHash } from 'node:crypto'
import { watch, type FSWatcher } from 'node:fs'
import { readFile, readlink, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ClientError, reasonOf } from './errors.js'

export type Contents = ReadonlyMap<string, Buffer>

export interface WatchedFilesOptions {
  readonly paths: readonly string[]
  /** Given all of them when one has changed, one call after the other. What it throws goes to `onError`, and it is not asked again about the same contents. */
  readonly onChange: (contents: Contents) => void | Promise<void>
  /** Told once when reading begins to fail, and of each failure of `onChange`. */
  readonly onError: (error: ClientError) => void
  /** Bytes of one file. Default 16 MiB. */
  readonly maxBytes?: number
  /** Milliseconds of quiet before a look. Default 100. */
  readonly settle?: number
  /** Milliseconds between looks when nothing is told. Default 60,000. */
  readonly poll?: number
  /** Watches a folder; for tests. */
  readonly watchFolder?: (folder: string, changed: () => void) => FSWatcher
  /** For tests. @returns cancels it */
  readonly after?: (milliseconds: number, then: () => void) => () => void
}

const MOST_LINKS = 40
const MOST_SETTLES = 20

export class WatchedFiles {
  readonly #options: WatchedFilesOptions
  readonly #contents = new Map<string, Buffer>()
  readonly #folders = new Map<string, { readonly inode: string, readonly watcher: FSWatcher }>()
  #digest = ''
  #failing = false
  #closed = false
  #looking: Promise<void> | undefined
  #again = false
  #cancelSettle: (() => void) | undefined
  #cancelPoll: (() => void) | undefined
  #opened = false
  /** When the first of the changes was told that no look has followed yet. */
  #toldSince = 0

  private constructor (options: WatchedFilesOptions) { this.#options = options }

  /** Reads all of them and begins to watch. @throws ClientError 'Config', 'TooLarge' when one cannot be read */
  static async open (options: WatchedFilesOptions): Promise<WatchedFiles> {
    const files = new WatchedFiles(options)
    // Before they are read, so that no change falls between.
    await files.#follow()
    try {
      files.#digest = await files.#read()
    } catch (error) {
      files.close()
      throw error
    }
    files.#opened = true
    files.#poll()
    if (files.#again) void files.look()
    return files
  }

  /** As they were when last read. */
  get contents (): Contents { return this.#contents }

  /** Looks now; resolves when what has changed was told. */
  async look (): Promise<void> {
    if (this.#looking !== undefined || !this.#opened) {
      this.#again = true
      return await this.#looking
    }
    await (this.#looking = this.#lookAll())
  }

  close (): void {
    this.#closed = true
    this.#cancelSettle?.()
    this.#cancelPoll?.()
    for (const { watcher } of this.#folders.values()) watcher.close()
    this.#folders.clear()
  }

  async #lookAll (): Promise<void> {
    do {
      this.#again = false
      await this.#follow()
      await this.#compare()
    } while (this.#again && !this.#closed)
    this.#looking = undefined // in the turn of the last question whether to look again
  }

  async #compare (): Promise<void> {
    const { onChange, onError } = this.#options
    let digest: string
    try {
      digest = await this.#read()
      this.#failing = false
    } catch (error) {
      if (!this.#failing && !this.#closed) onError(error as ClientError) // it throws no other
      this.#failing = true
      return
    }
    if (digest === this.#digest || this.#closed) return
    this.#digest = digest
    try {
      await onChange(this.contents)
    } catch (cause) {
      onError(new ClientError('Config', `the new content of ${this.#options.paths.join(', ')} is not taken: ${reasonOf(cause)}`, { cause }))
    }
  }

  /** All or nothing. @returns a digest of them */
  async #read (): Promise<string> {
    const { paths, maxBytes = 16 * 1024 * 1024 } = this.#options
    const read = await Promise.all(paths.map(async path => {
      const file = await stat(path).catch((cause: unknown) => { throw unreadable(path, cause) })
      if (!file.isFile()) throw new ClientError('Config', `${path} cannot be read: it is not an ordinary file`)
      if (file.size > maxBytes) throw new ClientError('TooLarge', `${path} is larger than ${maxBytes} bytes`)
      return await readFile(path).catch((cause: unknown) => { throw unreadable(path, cause) })
    }))
    const hash = createHash('sha256')
    read.forEach((bytes, at) => {
      hash.update(`${bytes.length},`).update(bytes)
      this.#contents.set(paths[at] as string, bytes) // one for each
    })
    return hash.digest('base64')
  }

  /** Watches the folders that lead to the files now: those of each link on the way. */
  async #follow (): Promise<void> {
    const wanted = new Map<string, string>()
    for (const path of this.#options.paths) {
      for (const folder of await foldersOf(path)) {
        const found = await stat(folder, { bigint: true }).catch(() => undefined)
        if (found !== undefined) wanted.set(folder, `${found.dev}/${found.ino}`)
      }
    }
    if (this.#closed) return
    for (const [folder, { inode, watcher }] of this.#folders) {
      if (wanted.get(folder) === inode) continue // a folder that was replaced is told nothing of any more
      watcher.close()
      this.#folders.delete(folder)
    }
    for (const [folder, inode] of wanted) {
      if (this.#folders.has(folder)) continue
      try {
        const watcher = (this.#options.watchFolder ?? watchFolder)(folder, () => { this.#onNotified() })
        watcher.on('error', () => {
          watcher.close()
          this.#folders.delete(folder)
        })
        this.#folders.set(folder, { inode, watcher })
      } catch {
        // Out of watches, or the folder has just gone: the next look tries again.
      }
    }
  }

  #onNotified (): void {
    if (this.#closed) return
    const { settle = 100 } = this.#options
    const now = performance.now()
    if (this.#cancelSettle === undefined) this.#toldSince = now
    // A folder in which something happens all the time never comes to rest.
    else if (now - this.#toldSince > MOST_SETTLES * settle) return
    this.#cancelSettle?.()
    this.#cancelSettle = this.#after(settle, () => {
      this.#cancelSettle = undefined
      void this.look()
    })
  }

  #poll (): void {
    this.#cancelPoll = this.#after(this.#options.poll ?? 60_000, () => {
      void this.look().finally(() => { if (!this.#closed) this.#poll() })
    })
  }

  #after (milliseconds: number, then: () => void): () => void {
    return (this.#options.after ?? later)(milliseconds, then)
  }
}

const watchFolder: NonNullable<WatchedFilesOptions['watchFolder']> = (folder, changed) => watch(folder, { persistent: false }, changed)

const later: NonNullable<WatchedFilesOptions['after']> = (milliseconds, then) => {
  const timer = setTimeout(then, milliseconds)
  timer.unref()
  return () => { clearTimeout(timer) }
}

const unreadable = (path: string, cause: unknown): ClientError => new ClientError('Config', `${path} cannot be read: ${reasonOf(cause)}`, { cause })

/** The folder of a path, and of whatever it is a link to. */
async function foldersOf (path: string): Promise<Set<string>> {
  const folders = new Set<string>()
  for (let at = resolve(path), links = 0; links < MOST_LINKS; links++) {
    folders.add(dirname(at))
    const target = await readlink(at).catch(() => undefined)
    if (target === undefined) break
    at = resolve(dirname(at), target)
  }
  return folders
}
