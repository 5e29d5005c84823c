/**
 * A cluster: simulated node agents with their leases, status and informers, and a controller and a scheduler that bring
 * pods up and down. Who asks what, and how often, is as measured in a real cluster: of an idle one most requests are
 * leases, of a rollout status patches, reads of pods and events.
 */
import { setMaxListeners } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEtcd } from '../etcd-process.js'
import { Control } from './cluster-control.js'
import { authority, Tally } from './cluster-member.js'
import { NodeAgent } from './cluster-node.js'
import { cpuInTurns } from './compare.js'
import { Ends } from './ends.js'
import { gets } from './http1.js'
import { fill } from './objects.js'
import { cpu, launch, launchApart, memory, type Launched } from './process.js'
import { bareFor } from './reads.js'
import { figure, out, quantile, report, table } from './report.js'
import type { Scale } from './scale.js'

/** Nodes that are registered at the same time. */
const AT_ONCE = 20

export interface Cluster {
  readonly server: Launched
  readonly tally: Tally
  readonly control: Control
  /** Kilobytes of the server for each node. */
  readonly perNode: number
  /** @throws Error if an event was lost, or an informer restarted */
  readonly check: () => Promise<void>
}

/** Starts a server with so many nodes. */
/** @param more further flags of Node for the server, whose process then is its own */
export async function startCluster (
  ends: Ends, count: number, store: 'embedded' | 'etcd', more: readonly string[] = []
): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-cluster-'))
  ends.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const clients = authority()
  writeFileSync(join(folder, 'ca.crt'), clients.certificate)
  const flags = [
    '--emulated-version=1.36', `--client-ca-file=${join(folder, 'ca.crt')}`, '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction', '--event-ttl=3h', '--v=0',
    ...store === 'etcd' ? [`--etcd-servers=${(await startEtcd(ends)).url}`] : []
  ]
  const server = ends.add(more.length === 0 ? await launch(flags) : await launchApart(flags, undefined, more))
  const over = new AbortController()
  setMaxListeners(0, over.signal)
  const tally = new Tally()
  const place = { port: server.port, authority: clients, tally, over: over.signal }
  const agents = Array.from({ length: count }, (_, at) => new NodeAgent(place, `n${at}`))
  const control = new Control(place, agents.map(({ name }) => name))
  ends.teardown(() => {
    over.abort()
    for (const each of [control, ...agents]) each.close()
  })
  await control.start()
  const before = memory(server, 'RssAnon')
  for (let at = 0; at < count; at += AT_ONCE) {
    await Promise.all(agents.slice(at, at + AT_ONCE).map(async agent => { await agent.start() }))
  }
  const check = async (): Promise<void> => {
    tally.check()
    const stored = await control.events()
    if (stored < tally.events) throw new Error(`${tally.events} events were acknowledged, ${stored} are there`)
    const unseen = [...tally.bound.keys()].filter(name => !tally.arrived.has(name))
    if (unseen.length > 0) throw new Error(`${unseen.length} pods were bound and no node agent has seen them`)
  }
  return { server, tally, control, perNode: (memory(server, 'RssAnon') - before) * 1024 / count, check }
}

/** The requests since the last call, the most frequent first. */
function requestsOf ({ requests }: Tally, work: string): string[] {
  const all = [...requests].toSorted(([, a], [, b]) => b - a)
  requests.clear()
  const sum = all.reduce((total, [, times]) => total + times, 0)
  return [
    work, sum.toLocaleString('en'),
    all.slice(0, 6).map(([kind, times]) => `${kind} ${figure(100 * times / sum)} %`).join(', ')
  ]
}

/** Microseconds of CPU of a GET from a bare server in the reference run, see docs/performance.md. */
const REFERENCE_BARE_GET = 17.1

/** How many times as long as the reference machine this one takes: at least 1. */
async function slowdown (scale: Scale): Promise<number> {
  await using ends = new Ends()
  const ours = ends.add(await launch())
  await fill(ours, 10)
  const bare = ends.add(await bareFor(ours, 1))
  const costs = await cpuInTurns(
    [bare], 3, scale.gets, async ({ port }) => { await gets(port, '/one', scale.gets, 64) }
  )
  return Math.max(1, quantile(costs.get(bare) ?? [], 0) / REFERENCE_BARE_GET)
}

/** @param slower the goals are so many times the reference machine's, and pods come so many times as slowly */
async function measured (count: number, slower: number, scale: Scale): Promise<void> {
  const { cluster: { pods, idle }, stores } = scale
  const rate = scale.cluster.rate / slower
  await using ends = new Ends()
  const { server, tally, control, perNode, check } = await startCluster(ends, count, stores.at(-1) ?? 'embedded')
  const work = `cluster of ${count.toLocaleString('en')} nodes`
  report({ work: `${work}, memory of a node with its informers`, unit: 'KB', ours: [perNode] })
  await sleep(Math.min(idle, 5000)) // what the registration has left is done
  requestsOf(tally, '')
  const used = async (run: () => Promise<unknown>): Promise<{ readonly cpu: number, readonly time: number }> => {
    const [before, since] = [cpu(server), performance.now()]
    await run()
    return { cpu: cpu(server) - before, time: performance.now() - since }
  }
  const resting = await used(() => sleep(idle))
  const rows = [requestsOf(tally, 'idle')]
  report({ work: `${work}, idle`, unit: '% of a core', ours: [100 * resting.cpu / resting.time], bound: 10 * slower })
  const total = Math.ceil(pods * count / 1000)
  const rising = await used(() => control.up(total, rate))
  rows.push(requestsOf(tally, 'up'))
  const [patches, seen] = [tally.patches.splice(0), tally.seen.splice(0)]
  const at = `${total.toLocaleString('en')} pods at ${figure(rate)} a second`
  report({ work: `${work}, ${at}, up`, unit: 'ms of CPU a pod', ours: [rising.cpu / total] })
  report({ work: `${work}, ${at}, p99 of a status patch`, unit: 'ms', ours: [quantile(patches, 0.99)], bound: 50 })
  report({ work: `${work}, ${at}, p99 of a binding until its node sees it`, unit: 'ms', ours: [quantile(seen, 0.99)] })
  const falling = await used(() => control.down(rate))
  rows.push(requestsOf(tally, 'down'))
  report({ work: `${work}, ${at}, down`, unit: 'ms of CPU a pod', ours: [falling.cpu / total] })
  await check()
  out.print(table(['Cluster', 'Requests', 'Of which'], rows))
  if (tally.refusals > 0) out.print(`${tally.refusals} requests were refused for a while`)
}

export async function cluster (scale: Scale): Promise<void> {
  const slower = scale.cluster.scaled ? await slowdown(scale) : 1
  if (slower > 1) out.print(`a bare GET costs ${figure(slower)} times what it does on the reference machine`)
  for (const count of scale.cluster.nodes) await measured(count, slower, scale)
}
