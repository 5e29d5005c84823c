/**
 * A cluster as people run it, with RBAC, an audit log, fair queues, encrypted Secrets, public names and protobuf:
 * simulated node agents with their leases, status and informers, a controller and a scheduler that bring pods up and
 * down, and ten more components with informers. Who asks what, and how often, is as measured in a real cluster: of an
 * idle one most requests are leases, of a rollout status patches, reads of pods and events. Over the embedded store.
 */
import { setMaxListeners } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEtcd } from '../etcd-process.js'
import { Control } from './cluster-control.js'
import { startComponents } from './cluster-components.js'
import { authority, Tally, type Member } from './cluster-member.js'
import { NodeAgent } from './cluster-node.js'
import { cpuInTurns } from './compare.js'
import { Ends } from './ends.js'
import { gets } from './http1.js'
import { fill } from './objects.js'
import { cpu, launch, launchApart, memory, type Launched } from './process.js'
import { flagsOf } from './production.js'
import { bareFor } from './reads.js'
import { Collected, figure, out, quantile, table, type Rounds } from './report.js'
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

/**
 * Starts a server with so many nodes.
 * @param more further flags of Node for the server, whose process then is its own
 */
export async function startCluster (
  ends: Ends, count: number, store: 'embedded' | 'etcd', more: readonly string[] = []
): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-cluster-'))
  ends.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const clients = authority()
  writeFileSync(join(folder, 'ca.crt'), clients.certificate)
  const flags = [
    '--compat-names', `--client-ca-file=${join(folder, 'ca.crt')}`,
    ...flagsOf(['RBAC', 'audit', 'queues', 'encryption'], folder),
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
  const components: Member[] = []
  ends.teardown(() => {
    over.abort()
    for (const each of [control, ...components, ...agents]) each.close()
  })
  await control.start()
  components.push(...await startComponents(place, control.admin))
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

interface Measuring {
  readonly scale: Scale
  readonly found: Collected
  /** The goals are so many times the reference machine's, and pods come so many times as slowly. */
  readonly slower: number
}

const MINUTE = 60_000
/** Seconds of CPU in a minute without pods, a tenth of a core, and milliseconds, on the reference machine. */
const MOST = { idle: 6, patch: 50 }
/** p99 while pods come, beside that without. */
const BESIDE_IDLE = 2

/** 0 in a run that is too short to measure it. */
const p99 = (times: readonly number[]): number[] => times.length === 0 ? [0] : [quantile(times, 0.99)]

async function measured (count: number, { scale, found, slower }: Measuring): Promise<void> {
  const { cluster: { pods, idle } } = scale
  const rate = scale.cluster.rate / slower
  await using ends = new Ends()
  const { server, tally, control, perNode, check } = await startCluster(ends, count, 'embedded')
  const at = `, at ${figure(rate)} pods a second`
  const show = (work: string, unit: string, rounds: Rounds): void => {
    found.add(`cluster, ${work}`, unit, `${count.toLocaleString('en')} nodes`, rounds)
  }
  show('memory of a node with its informers', 'KB', { ours: [perNode] })
  await sleep(Math.min(idle, 5000)) // what the registration has left is done
  requestsOf(tally, '')
  tally.leases.take()
  const used = async (run: () => Promise<unknown>): Promise<{ readonly cpu: number, readonly time: number }> => {
    const [before, since] = [cpu(server), performance.now()]
    await run()
    return { cpu: cpu(server) - before, time: performance.now() - since }
  }
  const resting = await used(() => sleep(idle))
  const rows = [requestsOf(tally, 'idle')]
  const aMinute = ({ cpu, time }: typeof resting): number[] => [cpu / time * MINUTE / 1000]
  show('idle, a minute', 's of CPU', { ours: aMinute(resting), bound: MOST.idle * slower })
  const alone = tally.leases.take()
  show('idle, p99 of a lease renewal', 'ms', { ours: p99(alone.answers) })
  show("idle, p99 of a lease renewal's event", 'ms', { ours: p99(alone.events) })

  const total = Math.ceil(pods * count / 1000)
  tally.statuses.take()
  const rising = await used(() => control.up(total, rate))
  rows.push(requestsOf(tally, 'up'))
  const [leases, statuses, seen] = [tally.leases.take(), tally.statuses.take(), tally.seen.splice(0)]
  tally.patches.length = 0
  show('a minute in which pods are created', `s of CPU${at}`, { ours: aMinute(rising) })
  show('each pod created', `ms of CPU${at}`, { ours: [rising.cpu / total] })
  const beside = (kind: keyof typeof leases): Rounds => ({
    ours: p99(leases[kind]), ...alone[kind].length > 0 ? { limit: p99(alone[kind]), most: BESIDE_IDLE } : {}
  })
  show('while pods are created, p99 of a lease renewal, compared with an idle cluster', `ms${at}`, beside('answers'))
  show(
    "while pods are created, p99 of a lease renewal's event, compared with an idle cluster", `ms${at}`, beside('events')
  )
  show('while pods are created, p99 of a status patch', `ms${at}`, {
    ours: p99(statuses.answers), bound: MOST.patch * slower
  })
  show("while pods are created, p99 of a status patch's event", `ms${at}`, { ours: p99(statuses.events) })
  show('while pods are created, p99 of a binding until its node sees it', `ms${at}`, { ours: p99(seen) })
  const falling = await used(() => control.down(rate))
  rows.push(requestsOf(tally, 'down'))
  show('each pod deleted', `ms of CPU${at}`, { ours: [falling.cpu / total] })
  await check()
  out.print(table([`${count.toLocaleString('en')} nodes`, 'Requests', 'Of which'], rows))
  if (tally.refusals > 0) out.print(`${tally.refusals} requests were refused for a while`)
}

export async function cluster (scale: Scale): Promise<void> {
  const slower = scale.cluster.scaled ? await slowdown(scale) : 1
  if (slower > 1) out.print(`a bare GET costs ${figure(slower)} times what it does on the reference machine`)
  const found = new Collected()
  for (const count of scale.cluster.nodes) await measured(count, { scale, found, slower })
  found.report()
}
