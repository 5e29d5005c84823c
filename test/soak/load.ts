/**
 * Clients that write, read and watch through a balancer while the servers behind it restart. No write may happen
 * without its response, no acknowledged write may be lost, and responses may fail only in ways after which every client
 * retries. Each watch, resumed from where it ended, sees each write once and in order.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from '../build.js'
import { until } from '../interop/server.js'
import { http1Client, http2Client, Unanswered, type Address, type Reply, type RollingClient } from './rolling-client.js'

const CONFIGS = '/api/v1/namespaces/rolling/configmaps'
const WRITE_EVERY = 5
/** Milliseconds of the total time for each request, since each write is sent to each watch. */
const SLOWEST = 10
/** Number of attempts of a client whose connection ends without a response. */
const MAX_TRIES = 5
/**
 * Half of all watches reach one server at once, as one user: more than its queues hold. Clients react to such a
 * response as libraries do.
 */
const TOO_MANY = 429
/** The store did not respond; nothing was changed. */
const UNAVAILABLE = 503
/** The store did not confirm the write: a client reads the object before it tries again. */
const UNCONFIRMED = 504
const RETRY_AFTER = 1000

export interface RollingScale {
  readonly watches: number
  /** Each client has a connection of its own and one request at a time; half of them use HTTP/2. */
  readonly clients: number
  /** Minimum milliseconds between two requests of a client. */
  readonly pause: number
  /** Minimum requests before, between and after the restarts. */
  readonly requests: number
  /** The store restarts as well, so clients also try again after 503 and 504. */
  readonly storeRestarts?: boolean
}

export interface RollingOutcome {
  readonly faults: readonly string[]
  readonly requests: number
  readonly writes: number
  readonly events: number
  /** Requests that were repeated, because the connection ended before the first byte of the response. */
  readonly askedAgain: number
  /** Responses that asked to retry later. */
  readonly waited: number
  /** Writes that the store did not confirm. */
  readonly unconfirmed: number
  /** Watches that were resumed. */
  readonly resumed: number
}

interface Metadata { readonly name: string, readonly resourceVersion: string }

export interface Load {
  /** Resolves after that many more responses. */
  readonly more: () => Promise<void>
  readonly fault: (what: string) => void
  /** Acknowledged writes. */
  readonly written: ReadonlySet<string>
  /** Ends the load and checks the result. */
  readonly finish: () => Promise<RollingOutcome>
}

/** Resolves when every watch is open and the first requests were answered. `t` closes the connections. */
export async function startLoad (
  t: Test, address: Address, { watches, clients, pause, requests, storeRestarts = false }: RollingScale
): Promise<Load> {
  const count = { requests: 0, writes: 0, events: 0, askedAgain: 0, waited: 0, unconfirmed: 0, resumed: 0 }
  const faults: string[] = []
  const fault = (what: string): void => { if (faults.length < 20) faults.push(what) }
  const written = new Set<string>()
  /** Aborts at the end. */
  const end = new AbortController()
  const { signal } = end
  const made: RollingClient[] = []
  const client = (index: number): RollingClient => {
    const one = index % 2 === 0 ? http1Client(address) : http2Client(address)
    made.push(one)
    return one
  }
  t.teardown(() => { for (const one of made) one.close() })

  const setUp = client(0)
  await setUp.ask('POST', '/api/v1/namespaces', '{"metadata":{"name":"rolling"}}')
  const { metadata } = JSON.parse((await setUp.ask('GET', CONFIGS)).text) as { metadata: Metadata }

  /** Watches from the list on, again and again, and records the events. */
  const watchers = Array.from({ length: watches }, (_, index) => {
    const seen = new Map<string, number>()
    let from = metadata.resourceVersion
    let open = false
    const run = async (): Promise<void> => {
      const one = client(index)
      for (let first = true; !signal.aborted; first = false) {
        if (!first) count.resumed++
        let rest = ''
        const code = await one.follow(`${CONFIGS}?watch=1&allowWatchBookmarks=true&resourceVersion=${from}`, piece => {
          open = true
          const lines = (rest + piece).split('\n')
          rest = lines.pop() ?? ''
          for (const line of lines) {
            const { type, object, code } = JSON.parse(line) as {
              type?: string
              object: { metadata: Metadata }
              code?: number
            }
            if (code === TOO_MANY) return
            // Anything but an event is a refusal.
            if (type === 'ERROR' || type === undefined) return fault(`watch ${index} from ${from}: ${line}`)
            const { resourceVersion } = object.metadata
            if (Number(resourceVersion) < Number(from) + (type === 'ADDED' ? 1 : 0)) {
              fault(`watch ${index}: ${line} came after ${from}`)
            }
            from = resourceVersion
            if (type !== 'ADDED') continue
            count.events++
            seen.set(object.metadata.name, (seen.get(object.metadata.name) ?? 0) + 1)
          }
        }).catch((error: unknown) => {
          if (error instanceof Unanswered) return 200
          throw error
        })
        if (code === TOO_MANY) {
          count.waited++
          await sleep(RETRY_AFTER)
        } else if (code !== 200) {
          fault(`watch ${index} from ${from} was answered ${code}`)
          return
        }
      }
    }
    return {
      seen,
      isOpen: () => open,
      done: run().catch((error: unknown) => { if (!signal.aborted) fault(`watch ${index}: ${String(error)}`) })
    }
  })

  const load = Array.from({ length: clients }, async (_, index) => {
    const one = client(index)
    for (let number = 0; !signal.aborted; number++) {
      const write = (number + index) % WRITE_EVERY === 0
      const name = `c-${index}-${number}`
      const body = write ? JSON.stringify({ metadata: { name }, data: { from: String(index) } }) : undefined
      const path = write ? CONFIGS : number % 2 === 0 ? `${CONFIGS}?limit=5` : '/api/v1/namespaces/rolling'
      try {
        // If a write had happened without a response, the second attempt would get 409.
        const asked = async (tries: number): Promise<Reply> => {
          try {
            return await one.ask(write ? 'POST' : 'GET', path, body)
          } catch (error) {
            if (!(error instanceof Unanswered) || tries === MAX_TRIES) throw error
            count.askedAgain++
            return await asked(tries + 1)
          }
        }
        const patient = async (): Promise<Reply> => {
          const reply = await asked(1)
          if (write && storeRestarts && reply.code === UNCONFIRMED) {
            count.unconfirmed++
            const found = await setUp.ask('GET', `${CONFIGS}/${name}`)
            return found.code === 200 ? { code: 201, text: found.text } : await patient()
          }
          if (reply.code !== TOO_MANY && !(storeRestarts && reply.code === UNAVAILABLE)) return reply
          count.waited++
          await sleep(RETRY_AFTER)
          return await patient()
        }
        const { code, text } = await patient()
        if (code !== (write ? 201 : 200)) {
          fault(`${write ? `POST of ${name}` : path} was answered ${code}: ${text.slice(0, 300)}`)
        }
        count.requests++
        if (write) {
          written.add(name)
          count.writes++
        }
      } catch (error) {
        if (!signal.aborted) fault(`client ${index}: ${String(error)}`)
      }
      await sleep(pause)
    }
  })

  const more = async (): Promise<void> => {
    const before = count.requests
    const done = (): number => count.requests - before
    // The machine may be slow; the requests only have to continue.
    await until(
      () => `${requests} more requests, of which ${done()} were done, with ${count.events} events`,
      () => done() >= requests || faults.length > 0, SLOWEST * requests + 60_000
    )
  }
  await more()
  await until('events at every watch', () => faults.length > 0 || watchers.every(({ isOpen }) => isOpen()))

  const finish = async (): Promise<RollingOutcome> => {
    end.abort()
    await Promise.all(load)
    const missing = (): string[] => watchers.flatMap(({ seen }, index) =>
      [...written].filter(name => !seen.has(name)).map(name => `watch ${index} has not seen ${name}`))
    await until(() => missing().slice(0, 5).join('; '), () => faults.length > 0 || missing().length === 0)
    for (const [index, { seen }] of watchers.entries()) {
      for (const [name, times] of seen) if (times !== 1) fault(`watch ${index} has seen ${name} ${times} times`)
    }
    const { text } = await setUp.ask('GET', CONFIGS)
    const { items } = JSON.parse(text) as { items: Array<{ metadata: Metadata }> }
    const stored = new Set(items.map(({ metadata }) => metadata.name))
    for (const name of written) if (!stored.has(name)) fault(`${name} is lost`)
    for (const one of made) one.close()
    await Promise.all(watchers.map(({ done }) => done))
    return { faults, ...count }
  }
  return { more, fault, written, finish }
}
