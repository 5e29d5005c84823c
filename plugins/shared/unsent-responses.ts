/**
 * Bounds responses that wait for slow clients. While more than `HIGH_BYTES` wait, a check each half second destroys the
 * connections that hold the most, until no more than that remains. It spares clients that read: those that, at their
 * last speed, would receive everything within a minute. A connection's bytes are those of its responses when they were
 * last reported. Beyond `MAX_BYTES`, which a burst may reach between checks, responses keep their places in the
 * concurrency limit. Most responses close immediately and cost two array operations; connections are examined only
 * above the limit.
 */
import type { FastifyBaseLogger, FastifyReply } from 'fastify'
import type { Http2ServerResponse } from 'node:http2'
import { served } from '../../answers/request-context.js'
import { sentBytes } from './sent-bytes.js'
import { IndexedList } from './indexed-list.js'

export interface UnsentResponse {
  readonly reply: FastifyReply
  bytes: number
  /** NOT_LISTED until added. */
  at: number
  /** Releases the place in the concurrency limit. */
  release: () => void
}

export const NOT_LISTED = -1
const HIGH_BYTES = 64 * 1024 * 1024
const MAX_BYTES = 2 * HIGH_BYTES
const CHECK_INTERVAL = 500
/** Of the ended answers, in the log. */
const MAX_NAMED = 20
/** A client that reads receives everything within this many checks. */
const CHECKS_PER_MINUTE = 60_000 / CHECK_INTERVAL

/** An HTTP/1 socket or an HTTP/2 session. */
interface Connection { readonly destroyed: boolean, destroy: () => void }
interface Holder { bytes: number, readonly sent: number, readonly auditIds: string[] }

export class UnsentResponses {
  readonly #answers = new IndexedList<UnsentResponse>()
  readonly #log: FastifyBaseLogger
  #bytes = 0
  #timer: NodeJS.Timeout | undefined
  /** Bytes sent per connection at the last check. */
  #seen = new Map<Connection, number>()

  constructor (log: FastifyBaseLogger) { this.#log = log }

  /** False if the response must keep its place, because too many bytes wait. */
  hold (answer: UnsentResponse, bytes: number): boolean {
    if (answer.at === NOT_LISTED) this.#answers.add(answer)
    this.#bytes += bytes - answer.bytes
    answer.bytes = bytes
    if (this.#bytes <= HIGH_BYTES) return true
    this.#timer ??= setInterval(() => { this.#check() }, CHECK_INTERVAL).unref()
    return this.#bytes <= MAX_BYTES
  }

  drop (answer: UnsentResponse): void {
    if (answer.at === NOT_LISTED) return
    this.#answers.remove(answer)
    this.#bytes -= answer.bytes
    answer.bytes = 0
  }

  close (): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#seen.clear()
  }

  #check (): void {
    if (this.#bytes > HIGH_BYTES) {
      const holders = this.#holders()
      this.#end(holders)
      this.#seen = new Map([...holders].map(([connection, { sent }]) => [connection, sent]))
    } else this.close()
    if (this.#bytes <= MAX_BYTES) for (const answer of this.#answers.filter(() => true)) answer.release()
  }

  #end (holders: Map<Connection, Holder>): void {
    const idle = [...holders].filter(([connection, { bytes, sent }]) => {
      const before = this.#seen.get(connection)
      return before !== undefined && (sent - before) * CHECKS_PER_MINUTE < bytes
    }).sort(([, one], [, other]) => other.bytes - one.bytes)
    let left = this.#bytes
    const ended: string[] = []
    let connections = 0
    for (const [connection, { bytes, auditIds }] of idle) {
      if (left <= HIGH_BYTES) break
      left -= bytes
      connections++
      ended.push(...auditIds)
      holders.delete(connection)
      connection.destroy()
    }
    if (connections > 0) {
      this.#log.warn(
        { connections, bytes: this.#bytes - left, auditIds: ended.slice(0, MAX_NAMED) },
        'too many answers wait for clients that do not read them: the connections that hold the most are ended'
      )
    }
  }

  #holders (): Map<Connection, Holder> {
    const holders = new Map<Connection, Holder>()
    for (const { reply, bytes } of this.#answers.filter(({ bytes }) => bytes > 0)) {
      const { auditId } = served(reply.request).orch
      const { session } = (reply.raw as unknown as Partial<Http2ServerResponse>).stream ?? {}
      const connection: Connection = session ?? reply.request.raw.socket
      const holder = holders.get(connection)
      if (holder !== undefined) {
        holder.bytes += bytes
        holder.auditIds.push(auditId)
      } else if (!connection.destroyed) {
        const sent = sentBytes(session?.socket ?? reply.request.raw.socket)
        holders.set(connection, { bytes, sent, auditIds: [auditId] })
      }
    }
    return holders
  }
}
