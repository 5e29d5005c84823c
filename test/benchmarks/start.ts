/** Time from the start to the first 200 of /readyz, with an empty store and with a full one. */
import { rmSync } from 'node:fs'
import { testServer, type TestServer } from '../../testing/index.js'
import { firstRound } from './compare.js'
import { serving } from './in-process.js'
import { cpu, launchApart } from './process.js'
import { report } from './report.js'
import type { Scale } from './scale.js'
import { filled } from './stored.js'

export interface Started {
  /** Elapsed milliseconds of each start. */
  readonly wall: number[]
  /** Milliseconds of CPU, of each start. */
  readonly cpu: number[]
}

export async function start (scale: Scale): Promise<void> {
  const most = scale.sizes.at(-1) ?? 0
  const folder = await filled(most)
  for (const [work, bound, found] of [
    ['start to /readyz, empty', 250, await starts(scale)],
    [`start to /readyz, ${most.toLocaleString('en')} stored objects`, 4000, await starts(scale, folder)]
  ] as const) {
    report({ work, unit: 'ms', ours: found.wall, bound })
    report({ work: `${work}, CPU`, unit: 'ms', ours: found.cpu })
  }
  rmSync(folder, { recursive: true, force: true })
  report({
    work: 'a further server in memory in a process',
    unit: 'ms of CPU',
    ours: await furtherServers(scale, () => serving({ kind: 'memory' }))
  })
  report({
    work: 'a further test server in a process',
    unit: 'ms of CPU',
    ours: await furtherServers(scale, async () => closable(await testServer()))
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
    unit: 'ms of CPU',
    ours: await furtherServers(scale, async () => closable(await original.fork()))
  })
  await original.dispose()
}

const closable = (server: TestServer): { readonly close: () => Promise<void> } => ({ close: () => server.dispose() })

/** Times of further servers in this process, after the first has loaded and compiled what they share. */
async function furtherServers (
  scale: Scale, start: () => Promise<{ readonly close: () => Promise<unknown> }>
): Promise<number[]> {
  const found: number[] = []
  for (let at = 0; at <= scale.starts; at++) {
    const before = process.cpuUsage()
    const server = await start()
    const { user, system } = process.cpuUsage(before)
    if (at > 0) found.push((user + system) / 1000)
    await server.close()
  }
  return found
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
