/**
 * Cost of serving by several processes, compared to one: CPU of all of them per unit of work, because the load
 * generators share the machine's cores; how evenly connections are spread; memory of a further process, and how much
 * later the server is ready. The capacity of machines with more cores follows from the costs.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { inTurns } from './compare.js'
import { Ends } from './ends.js'
import { startEtcd } from '../etcd-process.js'
import { call, gets, hangUp, Http1Connection, pool } from './http1.js'
import { CONFIGS, fill, key, object } from './objects.js'
import { cpu, launchApart, memory, type Launched } from './process.js'
import { UNBOUNDED } from './reads.js'
import { Collected, figure, median, out, report, table } from './report.js'
import type { Scale } from './scale.js'
import { watchOurs, type Watching } from './watch.js'

const CONNECTIONS = 64
const MACHINES = [8, 32]
/** Milliseconds in which the connections of the previous measurement end. */
const QUIET = 1000

interface OneOf { readonly process: { readonly pid?: number | undefined } }

interface Server extends Launched {
  readonly count: number
  /** Milliseconds until all processes serve. */
  readonly allMs: number
  /** All its processes: the supervisor first, if there is one. */
  readonly all: readonly OneOf[]
  /** The processes that serve requests. */
  readonly serving: readonly OneOf[]
  /** The process of the embedded store, if there is one. */
  readonly store: OneOf | undefined
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const cpuOf = (processes: readonly OneOf[]): number => sum(processes.map(cpu))
const memoryOf = (processes: readonly OneOf[]): number => sum(processes.map(one => memory(one, 'RssAnon')))

async function launchAll (count: number, flags: readonly string[], embedded: boolean): Promise<Server> {
  const since = performance.now()
  const server = await launchApart([...UNBOUNDED, `--serving-processes=${count}`, ...flags])
  while (await processesIn(server) < count) await new Promise(resolve => { setTimeout(resolve, 5) })
  const allMs = performance.now() - since
  hangUp(server.port)
  const { pid } = server.process
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  const kept = children === '' ? [] : children.split(' ').map(child => ({ process: { pid: Number(child) } }))
  const [store, ...others] = kept // the supervisor starts the store first
  const own = count > 1 && embedded
  return {
    ...server,
    count,
    allMs,
    all: [server, ...kept],
    serving: count === 1 ? [server] : own ? others : kept,
    store: own ? store : undefined
  }
}

/** Number of serving processes that report metrics. */
async function processesIn ({ port }: Launched): Promise<number> {
  const { body } = await metrics(port)
  return body.match(/^process_start_time_seconds(?:\{process="\d+"\})? /gm)?.length ?? 0
}

/** The whole response, which `call` does not keep. */
async function metrics (port: number): Promise<{ readonly body: string }> {
  const connection = await Http1Connection.open(port)
  const parts: Buffer[] = []
  await new Promise<void>((resolve, reject) => {
    connection.send('GET', '/metrics', { data: piece => { parts.push(piece) }, end: resolve, fail: reject })
  })
  connection.close()
  return { body: Buffer.concat(parts).toString() }
}

function sockets ({ process: { pid } }: OneOf): number {
  return readdirSync(`/proc/${pid}/fd`).filter(fd => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:')
    } catch {
      return false // closed meanwhile
    }
  }).length
}

/** The maximum deviation of a process's share from the mean. */
async function spread ({ serving, port, count }: Server): Promise<number> {
  await new Promise(resolve => { setTimeout(resolve, QUIET) })
  const before = serving.map(sockets)
  const open = await Promise.all(Array.from({ length: CONNECTIONS }, () => Http1Connection.open(port)))
  const counts = serving.map((one, at) => sockets(one) - (before[at] ?? 0))
  for (const connection of open) connection.close()
  return Math.max(...counts.map(share => Math.abs(share * count / CONNECTIONS - 1)))
}

/** @returns milliseconds until each server was ready, by its number of processes */
async function withStore (scale: Scale, store: 'embedded' | 'etcd'): Promise<ReadonlyMap<number, number>> {
  await using ends = new Ends()
  const etcd = store === 'etcd' ? await startEtcd(ends) : undefined
  const servers: Server[] = []
  for (const count of scale.processes) {
    servers.push(ends.add(await launchAll(
      count, etcd === undefined ? [] : [`--etcd-servers=${etcd.url}`, `--etcd-prefix=/cores-${count}`],
      etcd === undefined
    )))
  }
  const [one, ...several] = servers
  const started = new Map(servers.map(({ count, startMs }) => [count, startMs]))
  if (one === undefined) return started
  for (const server of servers) await fill(server, scale.objects)

  const costs = new Map<string, ReadonlyMap<Server, number[]>>()
  const compare = async (
    work: string, units: number, most: number, run: (server: Server) => Promise<unknown>
  ): Promise<void> => {
    // As warm as a single process is after its first round: V8 optimizes frequent code in each process.
    for (const server of several) for (let round = 1; round < server.count; round++) await run(server)
    const found = await inTurns(servers, scale.rounds, async server => {
      const before = cpuOf(server.all)
      await run(server)
      return (cpuOf(server.all) - before) * 1000 / units
    })
    costs.set(work, found)
    report({
      work: `${work}, ${store}, processes beside one`,
      unit: 'µs of CPU',
      of: several.map(server => [
        String(server.count), { ours: found.get(server) ?? [], limit: found.get(one) ?? [], most }
      ])
    })
  }
  await compare('GET, 64 connections', scale.gets, 1.1, server =>
    gets(server.port, `${CONFIGS}/${key(7)}`, scale.gets, CONNECTIONS))
  await compare('LIST of all, 4 connections', scale.lists, 1.1, server =>
    pool(scale.lists, 4, async () => { await call(server.port, 'GET', CONFIGS) }))
  let names = 0
  const storeShare: number[] = []
  await compare('create, 64 writers', scale.writes, store === 'embedded' ? 1.35 : 1.1, async server => {
    const before = server.store === undefined ? 0 : cpu(server.store)
    await pool(scale.writes, CONNECTIONS, async () => {
      const { code } = await call(server.port, 'POST', CONFIGS, object(`new-${names++}`))
      if (code !== 201) throw new Error(`create answered ${code}`)
    })
    if (server.store !== undefined) storeShare.push((cpu(server.store) - before) * 1000 / scale.writes)
  })
  const watched = new Map<Server, Watching>()
  for (const server of servers) watched.set(server, await watchOurs(server, 1, scale.watchers, scale.burst))
  await compare(
    `burst of events to ${scale.watchers.toLocaleString('en')} watches, each`, scale.watchers * scale.burst, 1.1,
    async server => {
      const { watchers, cause } = watched.get(server) ?? {}
      await watchers?.expect(scale.burst, async () => {
        if (cause !== undefined) await pool(scale.burst, CONNECTIONS, cause)
      })
    }
  )
  for (const { watchers } of watched.values()) watchers.close()
  for (const server of servers) hangUp(server.port)

  const shares = new Collected()
  for (const server of several) {
    shares.add(`share of ${CONNECTIONS} connections, ${store}, processes, beside the mean`, '% at most',
      String(server.count), { ours: [await spread(server) * 100], bound: 20 })
  }
  shares.report()
  const [two, four] = several
  if (two !== undefined && four !== undefined) {
    report({
      work: `a further process, ${store}, with ${scale.objects.toLocaleString('en')} objects and more`,
      unit: 'MB',
      ours: [(memoryOf(four.serving) - memoryOf(two.serving)) / (four.count - two.count)],
      limit: [memoryOf(one.all)],
      bound: 60
    })
  }
  capacity(store, costs, storeShare)
  return started
}

/**
 * Requests per second of a machine whose cores do nothing else: the serving processes share all cores but one, and the
 * store is one process.
 */
function capacity (
  store: string, costs: ReadonlyMap<string, ReadonlyMap<Server, number[]>>, storeShare: readonly number[]
): void {
  const rows = [...costs].map(([work, found]) => {
    const [, last] = [...found].findLast(([{ count }]) => count > 1) ?? []
    const cost = median(last ?? [])
    const atStore = work.startsWith('create') ? median(storeShare) || 0 : 0
    return [work, ...[1, ...MACHINES].map(cores => {
      const rate = cores === 1
        ? 1e6 / median([...found.values()][0] ?? [])
        : Math.min((cores - 1) * 1e6 / (cost - atStore), atStore === 0 ? Infinity : 1e6 / atStore)
      return figure(rate)
    })]
  })
  out.print(table([`Computed for ${store}, a second`, 'one process', ...MACHINES.map(cores => `${cores} cores`)], rows))
}

/** @param before starts that were measured already, which do if one is enough */
async function startTimes (scale: Scale, before: ReadonlyMap<number, number>): Promise<void> {
  const [one = 1, most = one] = [scale.processes[0], scale.processes.at(-1)]
  const found = await inTurns([one, most], scale.starts, async count => {
    const known = before.get(count)
    if (scale.starts === 1 && known !== undefined) return known
    const server = await launchAll(count, [], true)
    await server.stop()
    return server.startMs
  })
  report({
    work: `start to /readyz, ${most} processes beside one`,
    unit: 'ms',
    ours: found.get(most) ?? [],
    limit: found.get(one) ?? [],
    most: 1.6
  })
}

export async function cores (scale: Scale): Promise<void> {
  let started: ReadonlyMap<number, number> = new Map()
  for (const store of scale.stores) started = await withStore(scale, store)
  await startTimes(scale, started)
}
