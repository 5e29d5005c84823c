/**
 * GET of one object with priority and fairness, its queues idle, beside the same with plain limits; and how long somebody
 * quiet waits for it beside an elephant, a client with hundreds of eager lists, and alone.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { cpuInTurns } from './compare.js'
import { Ends } from './ends.js'
import { gets } from './http1.js'
import { CONFIGS, fill, key } from './objects.js'
import { launch, nodeFlags } from './process.js'
import { quantile, report } from './report.js'
import type { Scale } from './scale.js'

const CALLERS = 16 // fewer than the seats of their level: nobody waits
const QUIET_GETS = 500

export async function fairness (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const fair = ends.add(await launch([]))
  const plain = ends.add(await launch(['--enable-priority-and-fairness=false']))
  for (const server of [fair, plain]) await fill(server, 100)
  const costs = await cpuInTurns([fair, plain], scale.rounds, scale.gets, async server => { await gets(server.port, `${CONFIGS}/${key(7)}`, scale.gets, CALLERS) })
  report({ work: `GET, ${CALLERS} connections, priority and fairness beside plain limits`, unit: 'µs of CPU a request', ours: costs.get(fair) ?? [], limit: costs.get(plain) ?? [], most: 1.03 })

  const count = Math.min(QUIET_GETS, scale.gets)
  const lists = scale.watchers / 2
  for (const [server, by] of [[fair, 'priority and fairness'], [plain, 'plain limits']] as const) {
    const alone = await p99s(server.port, count, scale.rounds)
    const elephant = fork(new URL('elephant.js', import.meta.url), [String(server.port), CONFIGS, String(lists)], { execArgv: nodeFlags() })
    await once(elephant, 'message')
    const beside = await p99s(server.port, count, scale.rounds)
    elephant.kill('SIGKILL')
    report({ work: `one GET at a time beside ${lists} eager lists of another, ${by}, p99`, unit: 'ms', ours: beside, limit: alone, ...(server === fair ? { most: 2 } : {}) })
  }
}

/** Of so many rounds; one more warms up. */
async function p99s (port: number, count: number, rounds: number): Promise<number[]> {
  const found: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const p99 = quantile(await quietly(port, count), 0.99)
    if (round > 0) found.push(p99)
  }
  return found
}

/** Milliseconds that each of so many takes, one after the other, of somebody without a token: another flow than that of the bearer of one. */
async function quietly (port: number, count: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  for (let at = 0; at < count; at++) {
    const since = performance.now()
    const [answer] = await once(get({ port, host: '127.0.0.1', agent, path: `${CONFIGS}/${key(7)}`, rejectUnauthorized: false }), 'response') as [IncomingMessage]
    if (answer.statusCode !== 200) throw new Error(`a GET answered ${answer.statusCode}`)
    await once(answer.resume(), 'end')
    times.push(performance.now() - since)
  }
  agent.destroy()
  return times
}
