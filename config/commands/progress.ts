/** The progress of a long command: a line that is rewritten on a terminal, a new line every ten seconds elsewhere. */

export interface ProgressStream {
  readonly isTTY?: boolean
  readonly write: (text: string) => unknown
}

const TERMINAL_MS = 200
const LINES_MS = 10_000

export class Progress {
  readonly #stream: ProgressStream
  readonly #name: string
  readonly #total: number | undefined
  readonly #now: () => number
  readonly #start: number
  #shownAt: number
  #shown = false
  #objects = 0
  #bytes = 0

  /** @param total number of objects, undefined if unknown @param now monotonic milliseconds */
  constructor (stream: ProgressStream, name: string, total: number | undefined, now = () => performance.now()) {
    this.#stream = stream
    this.#name = name
    this.#total = total
    this.#now = now
    this.#start = this.#shownAt = now()
  }

  readonly add = (objects: number, bytes: number): void => {
    this.#objects += objects
    this.#bytes += bytes
    const now = this.#now()
    if (now - this.#shownAt < (this.#stream.isTTY === true ? TERMINAL_MS : LINES_MS)) return
    this.#shownAt = now
    this.#shown = true
    const line = `${this.#name}: ${this.#line((now - this.#start) / 1000)}`
    this.#stream.write(this.#stream.isTTY === true ? `\r${line}\u001b[K` : `${line}\n`)
  }

  /** Ends the line on a terminal. @returns what was copied, for the last line */
  end (): string {
    if (this.#shown && this.#stream.isTTY === true) this.#stream.write('\r\u001b[K')
    const seconds = (this.#now() - this.#start) / 1000
    return `${this.#objects} objects, ${mebibytes(this.#bytes)} in ${seconds.toFixed(1)} s`
  }

  #line (seconds: number): string {
    const rate = this.#objects / seconds
    const total = this.#total
    const of = total === undefined || total === 0
      ? ''
      : ` of ${total} (${Math.min(100, Math.floor(this.#objects / total * 100))} %)`
    const left = total === undefined || rate === 0
      ? ''
      : `, ${duration(Math.max(0, total - this.#objects) / rate)} left`
    return `${this.#objects}${of} objects, ${mebibytes(this.#bytes)}, ${mebibytes(this.#bytes / seconds)}/s${left}`
  }
}

export const mebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`

function duration (seconds: number): string {
  const whole = Math.ceil(seconds)
  return whole < 60
    ? `${whole} s`
    : whole < 3600
      ? `${Math.floor(whole / 60)} min ${whole % 60} s`
      : `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} min`
}
