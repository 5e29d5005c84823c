/**
 * Watches files for changed content: certificates, tokens, configuration. Contents are compared shortly after an event
 * in one of their folders, so that related files are updated together, and every minute, because network and overlay
 * file systems may report nothing. It watches folders, because a watch of a file ends when the file is replaced by
 * rename. In mounted volumes a file is a link through `..data`, and only that link changes. Missing or unreadable files
 * keep their last content.
 */
import { createHash } from 'node:crypto'
import { watch, type FSWatcher } from 'node:fs'
import { readFile, readlink, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ClientError, reasonOf } from './errors.js'

export type Contents = ReadonlyMap<string, Buffer>

export interface WatchedFilesOptions {
  readonly paths: readonly string[]
  /**
   * Called sequentially with all contents after a change. Its errors go to `onError`; it is not retried with the same
   * contents.
   */
  readonly onChange: (contents: Contents) => void | Promise<void>
  /** Called once when reading starts to fail, and for each failure of `onChange`. */
  readonly onError: (error: ClientError) => void
  /** Maximum bytes of a file. Default 16 MiB. */
  readonly maxBytes?: number
  /** Milliseconds without events before a check. Default 100. */
  readonly settle?: number
  /** Milliseconds between checks without events. Default 60,000. */
  readonly poll?: number
  /** Watches a folder; for tests. */
  readonly watchFolder?: (folder: string, changed: () => void) => FSWatcher
  /** A timer; for tests. @returns a function that cancels it */
  readonly after?: (milliseconds: number, then: () => void) => () => void
}

const MAX_LINKS = 40
const MAX_BYTES = 16 * 1024 * 1024
const MAX_SETTLES = 20

export class WatchedFiles {
  readonly #options: WatchedFilesOptions
  readonly #contents = new Map<string, Buffer>()
  readonly #folders = new Map<string, { readonly inode: string, readonly watcher: FSWatcher }>()
  #digest = ''
  #failing = false
  #closed = false
  #checking: Promise<void> | undefined
  #again = false
  #cancelSettle: (() => void) | undefined
  #cancelPoll: (() => void) | undefined
  #opened = false
  /** Time of the first event since the last check. */
  #firstEventAt = 0

  private constructor (options: WatchedFilesOptions) { this.#options = options }

  /** Reads the files and starts to watch. @throws ClientError 'Config', 'TooLarge' if one cannot be read */
  static async open (options: WatchedFilesOptions): Promise<WatchedFiles> {
    const files = new WatchedFiles(options)
    // Watch first, so that no change is missed.
    await files.#follow()
    try {
      files.#digest = await files.#read()
    } catch (error) {
      files.close()
      throw error
    }
    files.#opened = true
    files.#poll()
    if (files.#again) void files.check()
    return files
  }

  /** The last contents read. */
  get contents (): Contents { return this.#contents }

  /** Checks now; resolves after `onChange` has run. */
  async check (): Promise<void> {
    if (this.#checking !== undefined || !this.#opened) {
      this.#again = true
      return await this.#checking
    }
    await (this.#checking = this.#checkAll())
  }

  close (): void {
    this.#closed = true
    this.#cancelSettle?.()
    this.#cancelPoll?.()
    for (const { watcher } of this.#folders.values()) watcher.close()
    this.#folders.clear()
  }

  async #checkAll (): Promise<void> {
    do {
      this.#again = false
      await this.#follow()
      await this.#compare()
    } while (this.#again && !this.#closed)
    this.#checking = undefined // synchronously with the last check of #again
  }

  async #compare (): Promise<void> {
    const { onChange, onError } = this.#options
    let digest: string
    try {
      digest = await this.#read()
      this.#failing = false
    } catch (error) {
      if (!this.#failing && !this.#closed) onError(error as ClientError) // #read throws only ClientErrors
      this.#failing = true
      return
    }
    if (digest === this.#digest || this.#closed) return
    this.#digest = digest
    try {
      await onChange(this.contents)
    } catch (cause) {
      onError(new ClientError(
        'Config', `the new content of ${this.#options.paths.join(', ')} is not taken: ${reasonOf(cause)}`, { cause }
      ))
    }
  }

  /** Reads all files or none. @returns a digest */
  async #read (): Promise<string> {
    const { paths, maxBytes } = this.#options
    const read = await Promise.all(paths.map(path => ordinaryBytes(path, maxBytes)))
    const hash = createHash('sha256')
    read.forEach((bytes, at) => {
      hash.update(`${bytes.length},`).update(bytes)
      this.#contents.set(paths[at] as string, bytes) // same length
    })
    return hash.digest('base64')
  }

  /** Watches the folders on the way to the files, including those of links. */
  async #follow (): Promise<void> {
    const desired = new Map<string, string>()
    for (const path of this.#options.paths) {
      for (const folder of await foldersOf(path)) {
        const folderStat = await stat(folder, { bigint: true }).catch(() => undefined)
        if (folderStat !== undefined) desired.set(folder, `${folderStat.dev}/${folderStat.ino}`)
      }
    }
    if (this.#closed) return
    for (const [folder, { inode, watcher }] of this.#folders) {
      if (desired.get(folder) === inode) continue // the watch of a replaced folder is dead
      watcher.close()
      this.#folders.delete(folder)
    }
    for (const [folder, inode] of desired) {
      if (this.#folders.has(folder)) continue
      try {
        const watcher = (this.#options.watchFolder ?? watchFolder)(folder, () => { this.#onNotified() })
        watcher.on('error', () => {
          watcher.close()
          this.#folders.delete(folder)
        })
        this.#folders.set(folder, { inode, watcher })
      } catch {
        // No watches left, or the folder was removed: the next check retries.
      }
    }
  }

  #onNotified (): void {
    if (this.#closed) return
    const { settle = 100 } = this.#options
    const now = performance.now()
    if (this.#cancelSettle === undefined) this.#firstEventAt = now
    // Limits the delay under constant events.
    else if (now - this.#firstEventAt > MAX_SETTLES * settle) return
    this.#cancelSettle?.()
    this.#cancelSettle = this.#after(settle, () => {
      this.#cancelSettle = undefined
      void this.check()
    })
  }

  #poll (): void {
    this.#cancelPoll = this.#after(this.#options.poll ?? 60_000, () => {
      void this.check().finally(() => { if (!this.#closed) this.#poll() })
    })
  }

  #after (milliseconds: number, then: () => void): () => void {
    return (this.#options.after ?? later)(milliseconds, then)
  }
}

const watchFolder: NonNullable<WatchedFilesOptions['watchFolder']> = (folder, changed) =>
  watch(folder, { persistent: false }, changed)

const later: NonNullable<WatchedFilesOptions['after']> = (milliseconds, then) => {
  const timer = setTimeout(then, milliseconds)
  timer.unref()
  return () => { clearTimeout(timer) }
}

/**
 * Reads a file. A pipe would keep the caller waiting until somebody writes.
 * @throws ClientError 'Config', 'TooLarge'
 */
export async function ordinaryBytes (path: string, maxBytes = MAX_BYTES): Promise<Buffer> {
  const file = await stat(path).catch((cause: unknown) => { throw unreadable(path, cause) })
  if (!file.isFile()) throw new ClientError('Config', `${path} cannot be read: it is not an ordinary file`)
  if (file.size > maxBytes) throw new ClientError('TooLarge', `${path} is larger than ${maxBytes} bytes`)
  return await readFile(path).catch((cause: unknown) => { throw unreadable(path, cause) })
}

const unreadable = (path: string, cause: unknown): ClientError =>
  new ClientError('Config', `${path} cannot be read: ${reasonOf(cause)}`, { cause })

/** The folders of a path and of its link targets. */
async function foldersOf (path: string): Promise<Set<string>> {
  const folders = new Set<string>()
  for (let at = resolve(path), links = 0; links < MAX_LINKS; links++) {
    folders.add(dirname(at))
    const target = await readlink(at).catch(() => undefined)
    if (target === undefined) break
    at = resolve(dirname(at), target)
  }
  return folders
}
