/**
 * Time from the start to the first 200 of /readyz, with an empty store, under both releases and beside a bare server,
 * and with a full one.
 */
import { rmSync } from 'node:fs'
import { testServer, type TestServer } from '../../testing/index.js'
import { firstRound, inTurns } from './compare.js'
import { Ends } from './ends.js'
import { call, hangUp } from './http1.js'
import { serving } from './in-process.js'
import { cpu, launchApart, serve } from './process.js'
import { bareArguments } from './reads.js'
import { report, type Series } from './report.js'
import type { Scale } from './scale.js'
import { filled } from './stored.js'

export interface Started {
  /** Elapsed milliseconds of each start. */
  readonly wall: number[]
  /** Milliseconds of CPU, of each start. */
  readonly cpu: number[]
}

/** The releases that are served, with what emulates them. */
export const RELEASES: ReadonlyArray<readonly [release: string, flags: readonly string[]]> = [
  ['1.24', []], ['1.36', ['--emulated-version=1.36']]
]

export async function start (scale: Scale): Promise<void> {
  await empty(scale)
  const most = scale.sizes.at(-1) ?? 0
  const folder = await filled(most)
  const found = await starts(scale, folder)
  const work = `start to /readyz, ${most.toLocaleString('en')} stored objects`
  report({ work, unit: 'ms', ours: found.wall, bound: 4000 })
  report({ work: `${work}, CPU`, unit: 'ms', ours: found.cpu })
  rmSync(folder, { recursive: true, force: true })
  report({
    work: 'a further server in memory in a process', unit: 'ms',
    of: await furtherServers(scale, () => serving({ kind: 'memory' }))
  })
  report({
    work: 'a further test server in a process', unit: 'ms',
    of: await furtherServers(scale, async () => closable(await testServer()), 25)
  })
  const [size = 0] = scale.sizes
  const original = await testServer({
    forkAhead: false,
    fixtures: Array.from(
      { length: size },
      (_, at) => ({
        apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c${at}` }, data: { text: 'x'.repeat(2048) }
      })
    )
  })
  report({
    work: `a fork of a test server with ${size.toLocaleString('en')} objects`,
    unit: 'ms',
    of: await furtherServers(scale, async () => closable(await original.fork()), 5)
  })
  await original.dispose()
}

/** Both releases and the bare server in turns, each from nothing until it has answered. */
async function empty (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const example = ends.add(await launchApart())
  const args = await bareArguments(example, '/readyz')
  const ours = RELEASES.map(([, flags]) => async (): Promise<{ wall: number, cpu: number }> => {
    const server = await launchApart(flags)
    const cost = { wall: server.startMs, cpu: cpu(server) }
    await server.stop()
    return cost
  })
  const bare = async (): Promise<{ wall: number, cpu: number }> => {
    const since = performance.now()
    const server = await serve(example.node, './bare-http1.js', ...args)
    await call(server.port, 'GET', '/one')
    const cost = { wall: performance.now() - since, cpu: cpu(server) }
    hangUp(server.port)
    await server.stop()
    return cost
  }
  const found = await inTurns([...ours, bare], scale.starts, start => start())
  for (const kind of ['wall', 'cpu'] as const) {
    const of = (start: typeof bare): number[] => (found.get(start) ?? []).map(cost => cost[kind])
    const goal = kind === 'wall' ? { most: 2 } : { bound: 350 }
    report({
      work: `start to /readyz, empty${kind === 'wall' ? '' : ', CPU'}, beside a bare server`,
      unit: kind === 'wall' ? 'ms' : 'ms of CPU',
      of: RELEASES.map(([release], at) => [release, { ours: of(ours[at] ?? bare), limit: of(bare), ...goal }])
    })
  }
}

const closable = (server: TestServer): { readonly close: () => Promise<void> } => ({ close: () => server.dispose() })

/**
 * Times of further servers in this process, after the first has loaded and compiled what they share.
 * @param bound on the clock
 */
async function furtherServers (
  scale: Scale, start: () => Promise<{ readonly close: () => Promise<unknown> }>, bound?: number
): Promise<Series['of']> {
  const spent: number[] = []
  const took: number[] = []
  for (let at = 0; at <= scale.starts; at++) {
    const [before, since] = [process.cpuUsage(), performance.now()]
    const server = await start()
    const { user, system } = process.cpuUsage(before)
    if (at > 0) {
      spent.push((user + system) / 1000)
      took.push(performance.now() - since)
    }
    await server.close()
  }
  return [['CPU', { ours: spent }], ['on the clock', { ours: took, bound }]]
}

/**
 * Several starts on the content of the folder, of which the first does not count; without a folder, each from nothing.
 */
export async function starts (scale: Scale, folder?: string): Promise<Started> {
  const found: Started = { wall: [], cpu: [] }
  for (let at = firstRound(scale.starts); at <= scale.starts; at++) {
    const server = await launchApart([], folder)
    if (at > 0) {
      found.wall.push(server.startMs)
      found.cpu.push(cpu(server))
    }
    if (folder === undefined) await server.stop()
    else await server.kill()
  }
  return found
}
