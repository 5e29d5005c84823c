/**
 * Effect of one tenant's most expensive requests on everybody else: the longest event loop turn that each takes (CPU of
 * the main thread), and the latency of another client's GET beside ten clients that send them. Bounds on turns hold on
 * a machine where a GET takes 40 µs; elsewhere they scale with the cost of a GET.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { nodeFlags, cpu, launch, launchApart, type Apart, type Launched } from './process.js'
import { Ends } from './ends.js'
import { gets } from './http1.js'
import { CONFIGS, fill, key } from './objects.js'
import { p99s, QUIET_GETS } from './quiet.js'
import { figure, median, out, quantile, report } from './report.js'
import type { Scale } from './scale.js'
import { changeOfWatched, COMMENTS, GROWING, PLAIN_YAML, WATCHED } from './growing-shapes.js'
import { MAPS, SHAPES, type Shape } from './tenant-shapes.js'
import { prepare, send, watchTables } from './tenant-client.js'

const MAX_TURN_MS = 25
const REFERENCE_GET_US = 40
const ROUNDS = 5
const WATCHES = 100
/** All events have arrived once none has come for so many milliseconds. */
const QUIET_MS = 500
/** Bodies of comments at once. */
const CROWD = 10
/** Two such bodies. */
const MAX_WAIT_MS = 2000

export async function tenants (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const rounds = Math.min(ROUNDS, scale.rounds)
  const watches = Math.min(WATCHES, scale.watchers)
  const some = <T>(all: readonly T[]): readonly T[] => scale.rounds < ROUNDS ? all.slice(0, 1) : all
  const shapes = some(SHAPES)
  const probe = fileURLToPath(new URL('turn-probe.js', import.meta.url))
  const quiet = ends.add(await launch([]))
  await fill(quiet, 100)
  const slower = Math.max(1, await costOfGet(quiet, scale.gets) / REFERENCE_GET_US)
  // This server never sleeps, so it starts when the cost of a GET is known. RBAC decides first, and allows nothing.
  const probed = ends.add(await launchApart(['--authorization-mode=RBAC,AlwaysAllow'], undefined, ['--import', probe]))
  await fill(probed, 100)
  const measure = async ({ name, before = [], call }: Shape): Promise<number[]> => {
    await prepare(probed.port, [...before, call])
    const turns: number[] = []
    for (let round = 0; round < rounds; round++) {
      await longestTurn(probed)
      await send(probed.port, call)
      turns.push(await longestTurn(probed))
    }
    out.print(`${name.padEnd(62)}  ${figure(median(turns))} ms`)
    return turns
  }
  for (const [what, all] of [
    ['requests that a user of one namespace may send', shapes],
    ['requests that grow while they are decoded', some(GROWING)]
  ] as const) {
    const found: Array<readonly [name: string, turns: readonly number[]]> = []
    for (const shape of all) found.push([shape.name, await measure(shape)])
    const [name, turns] = found.toSorted(([, one], [, other]) => median(other) - median(one))[0] ?? ['', []]
    report({ work: `longest turn of ${what}`, unit: `ms, ${name}`, ours: turns, bound: MAX_TURN_MS * slower })
  }
  report({
    work: `longest turn of one change of 15,900 keys with ${watches} Table watches`, unit: 'ms',
    ours: await watchedChange(probed, watches, rounds, Math.min(QUIET_MS, scale.pause * 10)),
    bound: MAX_TURN_MS * slower
  })
  await probed.stop() // it takes one core all the time
  const others = Math.min(CROWD, scale.watchers)
  report({
    work: 'the YAML body of one user, while another sends ten of 2.9 MB of comments', unit: 'ms',
    ours: await besideComments(quiet, rounds, others), bound: MAX_WAIT_MS * slower
  })
  for (const [flags, by, most] of [
    [[], 'priority and fairness', 5], [['--enable-priority-and-fairness=false'], 'plain limits', 10]
  ] as const) {
    const server = flags.length === 0 ? quiet : ends.add(await launch(flags))
    if (server !== quiet) await fill(server, 100)
    const count = Math.min(QUIET_GETS, scale.gets)
    const alone = await p99s(server.port, count, rounds)
    const crowd = fork(
      new URL('tenant-crowd.js', import.meta.url), [String(server.port), String(shapes.length)],
      { execArgv: nodeFlags() }
    )
    await once(crowd, 'message')
    const beside = await p99s(server.port, count, rounds)
    crowd.kill('SIGKILL')
    report({
      work: `one GET at a time beside ten clients of such requests, ${by}, p99`,
      unit: 'ms',
      ours: beside,
      limit: alone,
      most,
      bound: 100
    })
  }
}

/** Microseconds of CPU per GET on a server without other work. */
async function costOfGet (server: Launched, count: number): Promise<number> {
  const costs: number[] = []
  for (let round = 0; round < 3; round++) {
    const before = cpu(server)
    await gets(server.port, `${CONFIGS}/${key(7)}`, count, 64)
    costs.push((cpu(server) - before) * 1000 / count)
  }
  return quantile(costs, 0) || median(costs)
}

/** Milliseconds, since the previous call. */
async function longestTurn ({ process }: Apart): Promise<number> {
  process.send('longest')
  const [turn] = await once(process, 'message') as [number]
  return turn
}

/** Milliseconds for which another user's body waits. */
async function besideComments ({ port }: Launched, rounds: number, others: number): Promise<number[]> {
  const waits: number[] = []
  for (let round = 0; round < rounds; round++) {
    const crowd = Array.from({ length: others }, () => send(port, { ...COMMENTS, as: 'crowd' }))
    await new Promise(resolve => { setTimeout(resolve, 200) }) // their bodies have arrived
    const since = performance.now()
    await send(port, { ...PLAIN_YAML, as: 'quiet' })
    waits.push(performance.now() - since)
    await Promise.all(crowd)
  }
  return waits
}

/** The longest turn of a change and its delivery to all watches. */
async function watchedChange (probed: Apart, count: number, rounds: number, pause: number): Promise<number[]> {
  await prepare(probed.port, [WATCHED])
  const watches = await watchTables(probed.port, MAPS, count, pause)
  const turns: number[] = []
  for (let round = 0; round < rounds; round++) {
    await watches.quiet()
    await longestTurn(probed)
    await send(probed.port, changeOfWatched(round))
    await watches.quiet()
    turns.push(await longestTurn(probed))
  }
  watches.end()
  return turns
}
