/** A quiet client: sequential GETs over one connection, each timed. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, get } from 'node:https'
import { CONFIGS, key } from './objects.js'
import { quantile } from './report.js'

export const QUIET_GETS = 500

/** The 99th percentiles in milliseconds, one for each round after a warm-up round. */
export async function p99s (port: number, count: number, rounds: number): Promise<number[]> {
  const found: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const p99 = quantile(await quietly(port, count), 0.99)
    if (round > 0) found.push(p99)
  }
  return found
}

/** Milliseconds of each request of a client without a token, whose flow is not that of the clients with one. */
async function quietly (port: number, count: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  for (let at = 0; at < count; at++) {
    const since = performance.now()
    const [answer] = await once(
      get({ port, host: '127.0.0.1', agent, path: `${CONFIGS}/${key(7)}`, rejectUnauthorized: false }), 'response'
    ) as [IncomingMessage]
    if (answer.statusCode !== 200) throw new Error(`a GET answered ${answer.statusCode}`)
    await once(answer.resume(), 'end')
    times.push(performance.now() - since)
  }
  agent.destroy()
  return times
}
