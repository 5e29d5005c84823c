/**
 * Writes texts to a file in order; those of one turn, and those that arrive during a write, are written together.
 * Benchmark: `npm run bench -- production`, 'get ConfigMap, embedded'.
 */
import { afterWork } from '../../event-loop/batching.js'
import type { LogFile } from './log-file.js'

export interface Sink {
  /** Resolves when the operating system has accepted the text, which is one or more lines. */
  write: (lines: string) => Promise<void>
  /** Resolves when all texts are written or lost. */
  close: () => Promise<void>
}

interface Waiting {
  readonly text: string
  readonly settle: (error: Error | undefined) => void
}

/** Maximum characters per write, unless a single text is larger. */
const MAX_WRITE_LENGTH = 256 * 1024

export class GroupedWrites implements Sink {
  readonly #file: LogFile
  #waiting: Waiting[] = []
  #writing: Promise<void> | undefined
  #closed = false

  constructor (file: LogFile) { this.#file = file }

  write (text: string): Promise<void> {
    if (this.#closed) return Promise.reject(new Error('the audit log is not open'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, settle: error => { if (error === undefined) resolve(); else reject(error) } })
      this.#writing ??= new Promise<void>(afterWork).then(() => this.#drain())
    })
  }

  async close (): Promise<void> {
    this.#closed = true
    await this.#writing
    await this.#file.close()
  }

  async #drain (): Promise<void> {
    while (this.#waiting.length > 0) {
      const taken = this.#waiting.splice(0, this.#atOnce())
      const { whole, error } = await this.#file.append(taken.map(({ text }) => text))
      for (const [index, { settle }] of taken.entries()) settle(index < whole ? undefined : error)
    }
    this.#writing = undefined
  }

  /** Number of waiting texts for the next write. */
  #atOnce (): number {
    let characters = 0
    const over = this.#waiting.findIndex(({ text }) => (characters += text.length) > MAX_WRITE_LENGTH)
    return over === -1 ? this.#waiting.length : Math.max(1, over)
  }
}
