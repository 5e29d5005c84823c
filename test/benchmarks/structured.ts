/**
 * Writes and reads over HTTPS of objects with many small fields, in the first seconds of a process and in a warm one:
 * ClusterRoleBindings with 18 subjects, and pods, compared to a bare server that reads the body.
 */
import { startEtcd } from '../etcd-process.js'
import { roleBinding, ROLE_BINDINGS } from './binding-objects.js'
import { Ends } from './ends.js'
import { call, gets, pool } from './http1.js'
import { pod, PODS } from './pod-objects.js'
import { cpu, launch, type Child } from './process.js'
import { bareServing, UNBOUNDED } from './reads.js'
import { report } from './report.js'
import type { Scale } from './scale.js'

const WRITERS = 64
const UNIT = 'µs at the server'
/** Processes whose first seconds are measured. */
const COLD_STARTS = 3
const NEAR = { embedded: { cold: 250, warm: 150 }, etcd: { cold: 350, warm: 250 } }

type Make = (name: string, turn?: number) => string

/** Microseconds per write, for that many writes with names from `from` on. */
export async function written (
  server: Child, method: 'POST' | 'PUT', path: string, make: Make, from: number, count: number, turn = 0
): Promise<number> {
  const bodies = Array.from({ length: count }, (_, at) => make(`o-${from + at}`, turn))
  const before = cpu(server)
  await pool(count, WRITERS, async at => {
    const { code, body } = await call(
      server.port, method, method === 'POST' ? path : `${path}/o-${from + at}`, bodies[at]
    )
    if (code >= 300) throw new Error(`${method} was answered ${code}: ${body()}`)
  })
  return (cpu(server) - before) * 1000 / count
}

/** The first creates of a fresh server, and of a bare one. */
export async function coldCreates (
  count: number, flags: readonly string[] = [], node?: string
): Promise<[ours: number, bare: number]> {
  await using ends = new Ends()
  const fresh = ends.add(await launch([...UNBOUNDED, ...flags], undefined, node))
  const ours = await written(fresh, 'POST', ROLE_BINDINGS, roleBinding, 0, count)
  const bare = ends.add(await bareServing(fresh, 1, `${ROLE_BINDINGS}/o-0`))
  return [ours, await written(bare, 'POST', '/reads-the-body', roleBinding, 0, count)]
}

/** The first creates of fresh servers, then those of a server that has been warm for long. */
async function writes (
  scale: Scale, store: 'embedded' | 'etcd', flags: (start: number) => readonly string[]
): Promise<void> {
  await using ends = new Ends()
  const count = scale.writes / 2
  const cold: number[] = []
  const bareCold: number[] = []
  for (let start = 1; start <= Math.min(COLD_STARTS, scale.starts); start++) {
    const [mine, its] = await coldCreates(count, flags(start))
    cold.push(mine)
    bareCold.push(its)
  }
  report({
    work:
      `create, the first ${count.toLocaleString('en')} of a process, ClusterRoleBindings, ${store}, beside a bare ` +
      'server that reads the body',
    unit: UNIT,
    ours: cold,
    limit: bareCold,
    bound: NEAR[store].cold
  })

  const ours = ends.add(await launch([...UNBOUNDED, ...flags(0)]))
  for (let turn = 0; turn < 3; turn++) await written(ours, 'POST', ROLE_BINDINGS, roleBinding, turn * count, count)
  await written(ours, 'POST', PODS, pod, 0, count / 2)
  const bare = ends.add(await bareServing(ours, 1, `${ROLE_BINDINGS}/o-7`))
  const found = { create: [] as number[], update: [] as number[], pod: [] as number[], bare: [] as number[] }
  for (let round = 1; round <= scale.rounds; round++) {
    const from = (round + 3) * count
    found.create.push(await written(ours, 'POST', ROLE_BINDINGS, roleBinding, from, count))
    found.update.push(await written(ours, 'PUT', ROLE_BINDINGS, roleBinding, from, count, round))
    found.pod.push(await written(ours, 'POST', PODS, pod, from, count / 2))
    const sent = await written(bare, 'POST', '/reads-the-body', roleBinding, from, count)
    if (round > 1 || scale.rounds === 1) found.bare.push(sent)
  }
  const most = store === 'embedded' ? { most: 3 } : {}
  for (const kind of ['create', 'update'] as const) {
    report({
      work: `${kind}, warm, ClusterRoleBindings, ${store}, beside a bare server that reads the body`,
      unit: UNIT,
      ours: found[kind],
      limit: found.bare,
      bound: NEAR[store].warm,
      ...most
    })
  }
  report({
    work: `create of a pod, warm, ${store}, beside that of a ClusterRoleBinding`,
    unit: UNIT,
    ours: found.pod,
    limit: found.create,
    most: 2.2
  })
}

/** The first GETs of a fresh server, and of a bare one. */
export async function coldGets (count: number, node?: string): Promise<[ours: number, bare: number]> {
  await using ends = new Ends()
  const name = `${ROLE_BINDINGS}/o-0`
  const server = ends.add(await launch(UNBOUNDED, undefined, node))
  await written(server, 'POST', ROLE_BINDINGS, roleBinding, 0, 1)
  const bare = ends.add(await bareServing(server, 1, name))
  const cost = async (party: Child, path: string): Promise<number> => {
    const before = cpu(party)
    await gets(party.port, path, count, WRITERS)
    return (cpu(party) - before) * 1000 / count
  }
  return [await cost(server, name), await cost(bare, '/one')]
}

async function coldReads (scale: Scale): Promise<void> {
  const ours: number[] = []
  const limit: number[] = []
  for (let start = 1; start <= Math.min(COLD_STARTS, scale.starts); start++) {
    const [mine, its] = await coldGets(scale.gets)
    ours.push(mine)
    limit.push(its)
  }
  report({
    work: `GET, the first ${scale.gets.toLocaleString('en')} of a process`,
    unit: 'µs of CPU a request',
    ours,
    limit,
    most: 1.8
  })
}

export async function structuredEmbedded (scale: Scale): Promise<void> {
  await coldReads(scale)
  await writes(scale, 'embedded', () => [])
}

export async function structured (scale: Scale): Promise<void> {
  if (scale.stores.includes('embedded')) await structuredEmbedded(scale)
  if (!scale.stores.includes('etcd')) return
  await using ends = new Ends()
  const { url } = await startEtcd(ends)
  await writes(scale, 'etcd', start => [`--etcd-servers=${url}`, `--etcd-prefix=/of-${start}`])
}
