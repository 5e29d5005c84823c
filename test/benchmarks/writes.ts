/**
 * Creates and updates by 64 writers: the operations compared to what is below them, and the same over HTTPS, where the
 * server's CPU is measured separately.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEtcd } from '../etcd-process.js'
import { Ends } from './ends.js'
import { call, pool } from './http1.js'
import { CONFIGS, object } from './objects.js'
import { cpu, launch, type Child } from './process.js'
import { UNBOUNDED } from './reads.js'
import { quantile, report } from './report.js'
import type { Scale } from './scale.js'
import { lineAlone, etcd3Alone, ourOperations, lmdbAlone, storeAlone, type Writer, type Request } from './writers.js'

const WRITERS = 64
const KINDS = ['create', 'update'] as const
type Kind = typeof KINDS[number]

/** The results of one round of one kind. */
interface Round {
  readonly perSecond: number
  /** Milliseconds. */
  readonly p99: number
  /** Microseconds of CPU per write: of this process, or of the server. */
  readonly cpu: number
}

type Rounds = Record<Kind, Round[]>

/** The same objects twice, once to create and once to update them. */
function requests (round: number, count: number): Record<Kind, Request[]> {
  const of = (size: number): Request[] => Array.from({ length: count }, (_, at) => {
    const name = `object-${round}-${String(at).padStart(7, '0')}`
    return { name, body: Buffer.from(object(name, false, size)) }
  })
  return { create: of(2048), update: of(2047) }
}

async function timed (
  all: readonly Request[], write: (request: Request) => Promise<unknown>, cpuNow: () => number
): Promise<Round> {
  const times: number[] = []
  const before = cpuNow()
  const began = performance.now()
  await pool(all.length, WRITERS, async at => {
    const request = all[at]
    if (request === undefined) throw new RangeError('no such request')
    const since = performance.now()
    await write(request)
    times.push(performance.now() - since)
  })
  return {
    perSecond: all.length * 1000 / (performance.now() - began),
    p99: quantile(times, 0.99),
    cpu: (cpuNow() - before) * 1000 / all.length
  }
}

const ownCpu = (): number => cpu({ process })

async function inTurns (
  writers: readonly Writer[], rounds: number, count: number, cpuOf: (writer: Writer) => number = ownCpu
): Promise<Map<Writer, Rounds>> {
  const found = new Map<Writer, Rounds>(writers.map(writer => [writer, { create: [], update: [] }]))
  for (let round = 0; round <= rounds; round++) {
    const bodies = requests(round, count)
    for (const writer of round % 2 === 0 ? writers : writers.toReversed()) {
      for (const kind of KINDS) {
        const shown = await timed(bodies[kind], request => writer[kind](request), () => cpuOf(writer))
        if (round > 0) found.get(writer)?.[kind].push(shown)
      }
    }
  }
  return found
}

/** The server as a writer. */
function overHttps ({ port }: Child): Writer {
  const send = async (method: string, path: string, body: Buffer, expected: number): Promise<void> => {
    const { code } = await call(port, method, path, body.toString())
    if (code !== expected) throw new Error(`${method} was answered ${code}`)
  }
  return {
    create: ({ body }) => send('POST', CONFIGS, body, 201),
    update: ({ name, body }) => send('PUT', `${CONFIGS}/${name}`, body, 200),
    close: async () => {}
  }
}

const rates = (rounds: readonly Round[] = []): number[] => rounds.map(({ perSecond }) => perSecond)
const costs = (rounds: readonly Round[] = []): number[] => rounds.map(({ cpu }) => cpu)
const slowest = (rounds: readonly Round[] = []): number[] => rounds.map(({ p99 }) => p99)

async function embedded (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const folder = mkdtempSync(join(tmpdir(), 'orch-bench-'))
  ends.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const alone = await lmdbAlone(folder)
  const ours = await ourOperations({ kind: 'embedded', directory: join(folder, 'ours') })
  const store = await storeAlone(join(folder, 'store'))
  for (const { close } of [alone, store, ours]) ends.teardown(close)
  const found = await inTurns([ours, store, alone], scale.rounds, scale.writes)
  const [mine, storeOnly, its] = [found.get(ours), found.get(store), found.get(alone)]
  for (const kind of KINDS) {
    const work = `${kind}, ${WRITERS} writers, embedded, the operation`
    report({
      work: `${work}, beside lmdb alone`,
      unit: 'a second',
      ours: rates(mine?.[kind]),
      limit: rates(its?.[kind]),
      least: 0.5
    })
    report({
      work: `${kind}, ${WRITERS} writers, the embedded store itself, beside lmdb alone`,
      unit: 'a second',
      ours: rates(storeOnly?.[kind]),
      limit: rates(its?.[kind])
    })
    report({ work: `${work}, p99`, unit: 'ms', ours: slowest(mine?.[kind]), limit: slowest(its?.[kind]), bound: 20 })
    report({ work: `${work}, CPU`, unit: 'µs, all threads', ours: costs(mine?.[kind]), limit: costs(its?.[kind]) })
  }
  await served(scale, 'embedded', [])
}

async function etcd (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const { url } = await startEtcd(ends)
  const count = scale.writes / 2
  const alone = await lineAlone(url)
  const known = await etcd3Alone(url)
  const ours = await ourOperations({ kind: 'etcd', servers: [url] })
  for (const { close } of [alone, known, ours]) ends.teardown(close)
  const found = await inTurns([ours, alone, known], scale.rounds, count)
  const [mine, its, theirs] = [found.get(ours), found.get(alone), found.get(known)]
  for (const kind of KINDS) {
    const work = `${kind}, ${WRITERS} writers, etcd, the operation`
    report({
      work: `${work}, beside our line alone`,
      unit: 'a second',
      ours: rates(mine?.[kind]),
      limit: rates(its?.[kind]),
      least: 0.7
    })
    report({
      work: `${work}, beside etcd3 alone`, unit: 'a second', ours: rates(mine?.[kind]), limit: rates(theirs?.[kind])
    })
    report({ work: `${work}, CPU`, unit: 'µs', ours: costs(mine?.[kind]), limit: costs(its?.[kind]) })
  }
  await served(scale, 'etcd', [`--etcd-servers=${url}`, '--etcd-prefix=/https'])
}

async function served (scale: Scale, store: string, flags: readonly string[]): Promise<void> {
  await using ends = new Ends()
  const server = ends.add(await launch([...UNBOUNDED, ...flags]))
  const writer = overHttps(server)
  const found = (await inTurns([writer], scale.rounds, scale.writes / 2, () => cpu(server))).get(writer)
  for (const kind of KINDS) {
    const work = `${kind}, ${WRITERS} writers, ${store}, over HTTPS`
    report({ work, unit: 'a second', ours: rates(found?.[kind]) })
    report({ work: `${work}, p99`, unit: 'ms', ours: slowest(found?.[kind]) })
    report({ work: `${work}, CPU`, unit: 'µs of CPU a request', ours: costs(found?.[kind]) })
  }
}

export async function writes (scale: Scale): Promise<void> {
  await embedded(scale)
  await etcd(scale)
}
