/**
 * Compares Node versions: `BENCH_NODE=PATH,PATH,…` names their programs. Our server and a bare one run on each,
 * alternating within one run; clients run on the Node of the benchmark.
 */
import { execFileSync } from 'node:child_process'
import { roleBinding, ROLE_BINDINGS } from './binding-objects.js'
import { cpuInTurns, inTurns } from './compare.js'
import { startEtcd } from '../etcd-process.js'
import { Ends } from './ends.js'
import { call, gets, hangUp } from './http1.js'
import { getsHttp2 } from './http2.js'
import { lists } from './lists.js'
import { CONFIGS, fill } from './objects.js'
import { cpu, launch, makeCodeCache, memory, nodes, settle, type Child, type Launched } from './process.js'
import { bareFor, PATH, UNBOUNDED } from './reads.js'
import { median, figure, out, report, table } from './report.js'
import type { Scale } from './scale.js'
import { coldCreates, coldGets, written } from './structured.js'
import { watchBare, watchOurs } from './watch.js'

const CPU = 'µs of CPU'
/** Pauses after which V8 has returned the memory of the start, see memory.ts. */
const V8_IDLE = 30

interface Pair { readonly ours: Child, readonly bare: Child }

/** For each kind of work, a cell for each Node. */
const rows: string[][] = []

class Versions {
  readonly #names: ReadonlyMap<string, string>
  readonly nodes: readonly string[]

  constructor (nodes: readonly string[]) {
    this.nodes = nodes
    this.#names = new Map(nodes.map(node => [
      node, execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim()
    ]))
  }

  get names (): string[] { return [...this.#names.values()] }

  show (
    work: string, unit: string, ours: (node: string) => readonly number[], limit?: (node: string) => readonly number[]
  ): void {
    rows.push([`${work}, ${unit}`, ...[...this.#names].map(([node, name]) => {
      const [mine, its] = [ours(node), limit?.(node)]
      report({ work: `${work}, Node ${name}`, unit, ours: mine, ...(its === undefined ? {} : { limit: its }) })
      return figure(median(mine)) + (its === undefined ? '' : `, ${(median(mine) / median(its)).toFixed(2)} ×`)
    })])
  }

  /** Cost per unit of our server and the bare one, on each Node. */
  async compare (
    work: string, { rounds }: Scale, pairs: readonly Pair[], units: number,
    run: (server: Child, isBare: boolean) => Promise<unknown>
  ): Promise<void> {
    const bares = new Set(pairs.map(({ bare }) => bare))
    const costs = await cpuInTurns(
      pairs.flatMap(({ ours, bare }) => [ours, bare]), rounds, units,
      async server => { await run(server, bares.has(server)) }
    )
    const of = (kind: keyof Pair) => (node: string): number[] =>
      pairs.filter(({ ours }) => ours.node === node).flatMap(pair => costs.get(pair[kind]) ?? [])
    this.show(work, CPU, of('ours'), of('bare'))
  }

  /** The same with freshly started processes. */
  async compareFresh (
    work: string, { starts }: Scale, run: (node: string) => Promise<[ours: number, bare: number]>
  ): Promise<void> {
    const costs = await inTurns(this.nodes, starts, run)
    const at = (index: 0 | 1) => (node: string): number[] => (costs.get(node) ?? []).map(cost => cost[index])
    this.show(work, CPU, at(0), at(1))
  }
}

export async function versions (scale: Scale): Promise<void> {
  const all = new Versions(nodes.length === 0 ? [process.execPath] : nodes)
  all.nodes.forEach(makeCodeCache)
  rows.length = 0
  await starts(all, scale)
  await reading(all, scale)
  await listingAndWatching(all, scale)
  await writing(all, scale)
  out.print(`\n${table(['Work', ...all.names.map(name => `Node ${name}`)], rows)}`)
}

async function starts (all: Versions, scale: Scale): Promise<void> {
  await using ends = new Ends()
  const servers = new Map<string, Launched>()
  const found = await inTurns(all.nodes, scale.starts, async node => {
    await servers.get(node)?.stop()
    const server = ends.add(await launch([], undefined, node))
    servers.set(node, server)
    return { wall: server.startMs, cpu: cpu(server) }
  })
  for (const kind of ['wall', 'cpu'] as const) {
    all.show(`start to /readyz, ${kind === 'cpu' ? 'CPU' : 'on the clock'}`, 'ms', node =>
      (found.get(node) ?? []).map(cost => cost[kind]))
  }
  await idle(all, scale, [...servers.values()])
}

async function launchEach (all: Versions, ends: Ends, flags: readonly string[]): Promise<Launched[]> {
  const servers: Launched[] = []
  for (const node of all.nodes) servers.push(ends.add(await launch(flags, undefined, node)))
  return servers
}

async function paired (servers: readonly Launched[], ends: Ends, version: 1 | 2, listBytes = 0): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (const ours of servers) pairs.push({ ours, bare: ends.add(await bareFor(ours, version, listBytes)) })
  return pairs
}

/** @param servers that have just started */
async function idle (all: Versions, scale: Scale, servers: readonly Launched[]): Promise<void> {
  for (const server of servers) await settle(server, scale.pause)
  await new Promise(resolve => { setTimeout(resolve, scale.pause * V8_IDLE) })
  for (const [kind, work] of [['VmRSS', 'memory, idle for half a minute'], ['RssAnon', 'the same, its own']] as const) {
    all.show(work, 'MB', node => servers.filter(server => server.node === node).map(server => memory(server, kind)))
  }
}

async function reading (all: Versions, scale: Scale): Promise<void> {
  await all.compareFresh(
    `GET, the first ${scale.gets.toLocaleString('en')} of a process`, scale, node => coldGets(scale.gets, node)
  )
  await using ends = new Ends()
  const servers = await launchEach(all, ends, [])
  for (const server of servers) await fill(server, 100)
  await all.compare(
    'GET, HTTP/1.1', scale, await paired(servers, ends, 1), scale.gets,
    ({ port }, isBare) => gets(port, isBare ? '/one' : PATH, scale.gets, 64)
  )
  await all.compare(
    'GET, HTTP/2', scale, await paired(servers, ends, 2), scale.gets,
    ({ port }, isBare) => getsHttp2(port, isBare ? '/one' : PATH, scale.gets, 16, 16)
  )
}

async function listingAndWatching (all: Versions, scale: Scale): Promise<void> {
  await using ends = new Ends()
  const servers = await launchEach(all, ends, UNBOUNDED)
  for (const server of servers) await fill(server, scale.objects)
  const { bytes = 0 } = servers[0] === undefined ? {} : await call(servers[0].port, 'GET', CONFIGS)
  const listed = await paired(servers, ends, 1, bytes)
  await all.compare(
    `LIST ${scale.objects.toLocaleString('en')} objects, per object`, scale, listed, scale.lists * scale.objects,
    ({ port }, isBare) => lists(port, isBare ? '/list' : CONFIGS, scale.lists)
  )
  await watching(all, scale, ends, listed)
}

async function watching (all: Versions, scale: Scale, ends: Ends, listed: readonly Pair[]): Promise<void> {
  const pairs = []
  for (const { ours, bare } of listed) {
    const mine = await watchOurs(ours, 1, scale.watchers, 1)
    const its = await watchBare(bare, 1, scale.watchers, '/event', mine.event)
    for (const { watchers } of [mine, its]) ends.teardown(() => { watchers.close() })
    pairs.push({ ours: mine, bare: its })
  }
  const sides =
    new Map<Child, typeof pairs[number]['ours']>(pairs.flatMap(({ ours, bare }) => [[ours, ours], [bare, bare]]))
  await all.compare(
    `an event to ${scale.watchers.toLocaleString('en')} watchers, each`, scale, pairs, scale.watchers * scale.events,
    async server => {
      const side = sides.get(server)
      for (let at = 0; at < scale.events; at++) await side?.watchers.expect(1, () => side.cause(at))
    }
  )
}

async function writing (all: Versions, scale: Scale): Promise<void> {
  const count = scale.writes / 2
  await all.compareFresh(`create, the first ${count.toLocaleString('en')} of a process`, scale, node =>
    coldCreates(count, () => launch(UNBOUNDED, undefined, node)))
  await using ends = new Ends()
  const etcd = scale.stores.includes('etcd') ? await startEtcd(ends) : undefined
  for (const store of scale.stores) {
    const servers: Launched[] = []
    for (const [at, node] of all.nodes.entries()) {
      servers.push(ends.add(await launch(
        [...UNBOUNDED, ...(store === 'etcd' ? [`--etcd-servers=${etcd?.url}`, `--etcd-prefix=/on-${at}`] : [])],
        undefined, node
      )))
    }
    for (const server of servers) await fill(server, 10)
    const pairs = await paired(servers, ends, 1)
    const from = new Map<Child, number>()
    const created = async (server: Child, isBare: boolean): Promise<unknown> => {
      const first = from.get(server) ?? 0
      from.set(server, first + count)
      return await written(server, 'POST', isBare ? '/reads-the-body' : ROLE_BINDINGS, roleBinding, first, count)
    }
    for (const { ours } of pairs) for (let turn = 0; turn < 2; turn++) await created(ours, false)
    await all.compare(`create, warm, ${store}`, scale, pairs, count, created)
    let turn = 0
    await all.compare(`update, warm, ${store}`, scale, pairs, count, (server, isBare) => isBare
      ? written(server, 'POST', '/reads-the-body', roleBinding, 0, count)
      : written(server, 'PUT', ROLE_BINDINGS, roleBinding, 0, count, ++turn))
    for (const { ours, bare } of pairs) for (const { port } of [ours, bare]) hangUp(port)
  }
}
