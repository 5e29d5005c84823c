/** Open watches over either version of HTTP that count what they receive and compare it. */
import { crc32 } from 'node:zlib'
import { Http1Connection, pool } from './http1.js'
import { Http2Connection } from './http2.js'

const NEWLINE = 10
/** Milliseconds after which an event counts as lost. */
const LOST = 60_000
const OPENING = 50

interface Sink {
  /** Newlines received: one per event. */
  lines: number
  /** Checksum over the received bytes in order. */
  checksum: number
  /** The received bytes, if the watch keeps them. */
  kept: Buffer[] | undefined
}

interface Connection { close: () => void }

export type Version = 1 | 2

export class Watchers {
  readonly #sinks: Sink[] = []
  readonly #connections: Connection[] = []
  #lines = 0
  #wanted = Infinity
  #reached: (() => void) | undefined
  #fail: (error: Error) => void = () => {}
  #closed = false
  #checking = false
  /** Called for each event that arrives, with the time on the scale of `performance.now()`. */
  arrived: ((at: number) => void) | undefined

  get size (): number { return this.#sinks.length }

  /** Opens that many more watches; over HTTP/2, `streams` of them on each connection. */
  async open (version: Version, port: number, path: string, count: number, streams = 100): Promise<void> {
    if (version === 1) {
      await pool(count, OPENING, async () => {
        const connection = await Http1Connection.open(port)
        this.#connections.push(connection)
        await this.#watch((head, data, over) => {
          connection.send('GET', path, {
            head: code => { if (code === 200) head(); else over(new Error(`a watch was answered ${code}`)) },
            data,
            end: () => over(new Error('a watch was ended')),
            fail: over
          })
        })
      })
      return
    }
    await pool(Math.ceil(count / streams), OPENING / 10, async at => {
      const connection = await Http2Connection.open(port)
      this.#connections.push(connection)
      await Promise.all(Array.from({
        length: Math.min(streams, count - at * streams)
      }, () => this.#watch((head, data, over) => {
        connection.send(path, { head, data, end: () => over(new Error('a watch was ended')), fail: over })
      })))
    })
  }

  /**
   * Resolves when each watch has received that many more events. @throws Error if one has not within a minute, or has
   * received more
   */
  async expect (events: number, trigger: () => Promise<unknown>): Promise<void> {
    for (const sink of this.#sinks) sink.lines = 0
    this.#lines = 0
    this.#wanted = events * this.#sinks.length
    let timer: NodeJS.Timeout | undefined
    const done = new Promise<void>((resolve, reject) => {
      this.#reached = resolve
      this.#fail = reject
      timer = setTimeout(() => { reject(new Error(`of ${this.#wanted} events ${this.#lines} arrived`)) }, LOST)
    })
    await Promise.all([trigger(), done]).finally(() => { clearTimeout(timer) })
    const other = this.#sinks.find(({ lines }) => lines !== events)
    if (other !== undefined) throw new Error(`of ${events} events a watch got ${other.lines}`)
  }

  /**
   * As `expect`; checks that all have received the same bytes in the same order.
   * @returns these bytes
   */
  async expectSame (events: number, trigger: () => Promise<unknown>): Promise<string> {
    const [first] = this.#sinks
    if (first === undefined) throw new RangeError('nobody watches')
    for (const sink of this.#sinks) sink.checksum = 0
    first.kept = []
    this.#checking = true
    try {
      await this.expect(events, trigger)
      if (this.#sinks.some(({ checksum }) => checksum !== first.checksum)) {
        throw new Error('two watches got different bytes')
      }
      return Buffer.concat(first.kept).toString()
    } finally {
      this.#checking = false
      first.kept = undefined
    }
  }

  close (): void {
    this.#closed = true
    for (const connection of this.#connections) connection.close()
  }

  #watch (
    send: (head: () => void, data: (bytes: Buffer) => void, over: (error: Error) => void) => void
  ): Promise<void> {
    const sink: Sink = { lines: 0, checksum: 0, kept: undefined }
    this.#sinks.push(sink)
    return new Promise((resolve, reject) => {
      send(resolve, bytes => { this.#take(sink, bytes) }, error => {
        reject(error)
        if (!this.#closed) this.#fail(error)
      })
    })
  }

  #take (sink: Sink, bytes: Buffer): void {
    if (this.#checking) {
      sink.checksum = crc32(bytes, sink.checksum)
      sink.kept?.push(Buffer.from(bytes))
    }
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
      sink.lines++
      this.#lines++
      this.arrived?.(performance.now())
    }
    if (this.#lines >= this.#wanted) this.#reached?.()
  }
}
