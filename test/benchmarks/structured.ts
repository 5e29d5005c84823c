/**
 * Writes and reads over HTTPS of objects with many small fields, in the first seconds of a process and in a warm one:
 * ClusterRoleBindings with 18 subjects, and pods, compared to a bare server that reads the body.
 */
import { startEtcd, type EtcdProcess } from '../etcd-process.js'
import { roleBinding, ROLE_BINDINGS } from './binding-objects.js'
import { Ends } from './ends.js'
import { call, gets, pool } from './http1.js'
import { pod, PODS } from './pod-objects.js'
import { cpu, launch, type Child, type Launched } from './process.js'
import { bareServing, UNBOUNDED } from './reads.js'
import { report } from './report.js'
import type { Scale } from './scale.js'

const WRITERS = 64
/** Processes whose first seconds are measured. */
const COLD_STARTS = 3
/**
 * What kube-apiserver 1.36 and its etcd took together, and the goals: over etcd parts of that, on the embedded store
 * multiples of a bare server that reads the body.
 */
const PEER = { create: 1429, update: 1725 }
const GOALS = {
  embedded: { cold: { most: 3 }, warm: { most: 2 } }, etcd: { cold: { ofPeer: 0.5 }, warm: { ofPeer: 0.35 } }
}

type Make = (name: string, turn?: number) => string

/** A server and its etcd, whose CPU counts too. */
type Party = Child & { readonly etcd?: EtcdProcess | undefined }

const spent = (party: Party): number =>
  cpu(party) + (party.etcd === undefined ? 0 : cpu({ process: party.etcd }))

/** Microseconds per write, for that many writes with names from `from` on. */
export async function written (
  server: Party, method: 'POST' | 'PUT', path: string, make: Make, from: number, count: number, turn = 0
): Promise<number> {
  const bodies = Array.from({ length: count }, (_, at) => make(`o-${from + at}`, turn))
  const before = spent(server)
  await pool(count, WRITERS, async at => {
    const { code, body } = await call(
      server.port, method, method === 'POST' ? path : `${path}/o-${from + at}`, bodies[at]
    )
    if (code >= 300) throw new Error(`${method} was answered ${code}: ${body()}`)
  })
  return (spent(server) - before) * 1000 / count
}

/** The first creates of a fresh server, and of a bare one. */
export async function coldCreates (
  count: number, start: () => Promise<Party & Launched>
): Promise<[ours: number, bare: number]> {
  await using ends = new Ends()
  const fresh = ends.add(await start())
  const ours = await written(fresh, 'POST', ROLE_BINDINGS, roleBinding, 0, count)
  const bare = ends.add(await bareServing(fresh, 1, `${ROLE_BINDINGS}/o-0`))
  return [ours, await written(bare, 'POST', '/reads-the-body', roleBinding, 0, count)]
}

/** The first creates of fresh servers, then those of a server that has been warm for long. */
async function writes (
  scale: Scale, store: 'embedded' | 'etcd', start: (at: number) => Promise<Party & Launched>
): Promise<void> {
  await using ends = new Ends()
  const unit = `µs of CPU a request${store === 'etcd' ? ', etcd included' : ''}`
  const count = scale.writes / 2
  const cold: number[] = []
  const bareCold: number[] = []
  for (let at = 1; at <= Math.min(COLD_STARTS, scale.starts); at++) {
    const [mine, its] = await coldCreates(count, () => start(at))
    cold.push(mine)
    bareCold.push(its)
  }
  const peerOf = (kind: 'create' | 'update'): { peer?: number } => store === 'etcd' ? { peer: PEER[kind] } : {}
  report({
    work:
      `create, the first ${count.toLocaleString('en')} of a process, ClusterRoleBindings, ${store}, beside a bare ` +
      'server that reads the body',
    unit,
    ours: cold,
    limit: bareCold,
    ...GOALS[store].cold,
    ...peerOf('create')
  })

  const ours = ends.add(await start(0))
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
  for (const kind of ['create', 'update'] as const) {
    report({
      work: `${kind}, warm, ClusterRoleBindings, ${store}, beside a bare server that reads the body`,
      unit,
      ours: found[kind],
      limit: found.bare,
      ...GOALS[store].warm,
      ...peerOf(kind)
    })
  }
  report({
    work: `create of a pod, warm, ${store}, beside that of a ClusterRoleBinding`,
    unit,
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
  await writes(scale, 'embedded', () => launch(UNBOUNDED))
}

export async function structured (scale: Scale): Promise<void> {
  if (scale.stores.includes('embedded')) await structuredEmbedded(scale)
  if (!scale.stores.includes('etcd')) return
  await using ends = new Ends()
  const etcd = await startEtcd(ends)
  await writes(scale, 'etcd', async at => ({
    ...await launch([...UNBOUNDED, `--etcd-servers=${etcd.url}`, `--etcd-prefix=/of-${at}`]), etcd
  }))
}
