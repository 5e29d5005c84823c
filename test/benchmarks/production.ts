/**
 * What requests cost an ordinary user of a production server: RBAC with one group bound in many namespaces, audit at
 * Metadata to a file, Secrets encrypted, fair queues, public names, 64 connections. Beside it kube-apiserver's figures,
 * the same requests without all that, and with other numbers of namespaces.
 */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEtcd, type EtcdProcess } from '../etcd-process.js'
import { Ends } from './ends.js'
import { call, hangUp, pool } from './http1.js'
import { pod, podStatus } from './pod-objects.js'
import { cpu, launch, type Launched } from './process.js'
import { UNBOUNDED } from './reads.js'
import { report, type Series } from './report.js'
import type { Scale } from './scale.js'

const CALLERS = 64
export const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const LEASES = '/apis/coordination.k8s.io/v1'
/** A namespace that the group is not bound in. */
const ELSEWHERE = 'default'

type Kind = 'configmaps' | 'secrets' | 'leases'

const pathOf = (kind: Kind | 'pods' | 'events', namespace: string): string =>
  `${kind === 'leases' ? LEASES : '/api/v1'}/namespaces/${namespace}/${kind}`

const SPECIFIC: Readonly<Record<Kind, (turn: number) => object>> = {
  configmaps: turn => ({ data: { text: 'x'.repeat(2048), turn: String(turn) } }),
  secrets: turn => ({
    data: { text: Buffer.alloc(1024, 'x').toString('base64'), turn: Buffer.from(String(turn)).toString('base64') }
  }),
  leases: turn => ({ spec: { holderIdentity: 'bench', leaseDurationSeconds: 15, leaseTransitions: turn } })
}
const bodyOf = (kind: Kind, name: string, turn = 0, resourceVersion?: string): string => JSON.stringify({
  apiVersion: kind === 'leases' ? 'coordination.k8s.io/v1' : 'v1',
  kind: { configmaps: 'ConfigMap', secrets: 'Secret', leases: 'Lease' }[kind],
  metadata: { name, labels: { app: 'bench' }, resourceVersion },
  ...SPECIFIC[kind](turn)
})

interface Request { readonly method: string, readonly path: string, readonly body?: string }

interface Row {
  readonly work: string
  /** kube-apiserver 1.36 and its etcd: the first thousand, and later ones. Default not known. */
  readonly peer?: readonly [first: number, later: number]
  readonly code: number
  /** Of which goals. */
  readonly goal: 'read' | 'write' | 'check'
  /** @param version resourceVersion of what the row before has answered */
  readonly request: (namespace: string, name: string, version: string) => Request
}

const created = (kind: Kind) => (namespace: string, name: string): Request => ({
  method: 'POST', path: pathOf(kind, namespace), body: bodyOf(kind, name)
})
const onObject = (method: string, kind: Kind, body?: (name: string, version: string) => string, query = '') => (
  namespace: string, name: string, version: string
): Request => (
  {
    method,
    path: `${pathOf(kind, namespace)}/${name}${query}`,
    ...(body === undefined ? {} : { body: body(name, version) })
  })
/** As node agents write them. */
const eventOf = (namespace: string, name: string): string => JSON.stringify({
  metadata: { name: `${name}.17a5b2c3d4e5f607` },
  involvedObject: { kind: 'Pod', apiVersion: 'v1', namespace, name, fieldPath: 'spec.containers{app}' },
  reason: 'Started',
  message: 'Started container app',
  type: 'Normal',
  count: 1,
  firstTimestamp: '2026-01-15T10:21:09Z',
  lastTimestamp: '2026-01-15T10:21:09Z',
  source: { component: 'node-agent', host: 'node-7' }
})
const review = JSON.stringify({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectAccessReview',
  spec: { resourceAttributes: { verb: 'get', resource: 'configmaps', namespace: 'team-1' } }
})

/** In an order in which the objects of a row are there. */
export const ROWS: readonly Row[] = [
  { work: 'create ConfigMap, 2 KB', peer: [1920, 1330], code: 201, goal: 'write', request: created('configmaps') },
  { work: 'create Secret', peer: [1520, 1330], code: 201, goal: 'write', request: created('secrets') },
  { work: 'create Lease', peer: [1200, 1050], code: 201, goal: 'write', request: created('leases') },
  {
    work: 'renew Lease',
    peer: [1725, 1495],
    code: 200,
    goal: 'write',
    request: onObject('PUT', 'leases', (name, version) => bodyOf('leases', name, 1, version))
  },
  {
    work: 'create Pod, 8 KB',
    code: 201,
    goal: 'write',
    request: (namespace, name) => ({ method: 'POST', path: pathOf('pods', namespace), body: pod(name) })
  },
  {
    work: 'status of a Pod, 8 KB',
    peer: [5000, 5000],
    code: 200,
    goal: 'write',
    request: (namespace, name) => ({
      method: 'PATCH',
      path: `${pathOf('pods', namespace)}/${name}/status`,
      body: JSON.stringify({ status: podStatus(1) })
    })
  },
  {
    work: 'create Event',
    code: 201,
    goal: 'write',
    request: (namespace, name) => ({
      method: 'POST', path: pathOf('events', namespace), body: eventOf(namespace, name)
    })
  },
  {
    work: 'update ConfigMap',
    peer: [1620, 1640],
    code: 200,
    goal: 'write',
    request: onObject('PUT', 'configmaps', name => bodyOf('configmaps', name, 1))
  },
  {
    work: 'merge patch of ConfigMap',
    peer: [1990, 1940],
    code: 200,
    goal: 'write',
    request: onObject('PATCH', 'configmaps', () => '{"data":{"turn":"2"}}')
  },
  {
    work: 'apply of ConfigMap',
    peer: [1630, 1990],
    code: 200,
    goal: 'write',
    request: onObject('PATCH', 'configmaps', name => bodyOf('configmaps', name, 3), '?fieldManager=bench&force=true')
  },
  { work: 'get ConfigMap', peer: [618, 634], code: 200, goal: 'read', request: onObject('GET', 'configmaps') },
  { work: 'get Secret', peer: [610, 640], code: 200, goal: 'read', request: onObject('GET', 'secrets') },
  {
    work: 'list ConfigMaps of one namespace',
    peer: [623, 666],
    code: 200,
    goal: 'read',
    request: namespace => ({ method: 'GET', path: pathOf('configmaps', namespace) })
  },
  {
    work: 'get, forbidden',
    peer: [290, 350],
    code: 403,
    goal: 'check',
    request: (_namespace, name) => ({ method: 'GET', path: `${pathOf('configmaps', ELSEWHERE)}/${name}` })
  },
  {
    work: 'self access review',
    peer: [590, 570],
    code: 201,
    goal: 'check',
    request: () => ({ method: 'POST', path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', body: review })
  },
  { work: 'delete ConfigMap', peer: [1200, 1250], code: 200, goal: 'write', request: onObject('DELETE', 'configmaps') },
  { work: 'delete Secret', peer: [1130, 1230], code: 200, goal: 'write', request: onObject('DELETE', 'secrets') },
  { work: 'delete Lease', peer: [1220, 1080], code: 200, goal: 'write', request: onObject('DELETE', 'leases') }
]

/** Ours to the peer's, the first and the later ones. */
const GOALS = { etcd: { read: 0.2, write: 0.5, check: 0.3 }, embedded: { read: 0.2, write: 0.3, check: 0.3 } }
/** All checks together to the same request without them. */
const CHECKS = 1.25

/** What a production server does beside the request. */
type Check = 'RBAC' | 'audit' | 'queues' | 'encryption'

interface Setting {
  readonly name: string
  readonly namespaces: number
  readonly checks: readonly Check[]
}

const USUAL: Setting = { name: 'usual', namespaces: 1_000, checks: ['RBAC', 'audit', 'queues', 'encryption'] }
const SETTINGS: readonly Setting[] = [
  USUAL, { ...USUAL, name: 'unchecked', checks: [] }, { ...USUAL, name: 'few', namespaces: 10 },
  { ...USUAL, name: 'many', namespaces: 5_000 }
]

interface Costs { readonly first: number, readonly later: number }

/** @returns the resourceVersion of the answer */
export async function send (port: number, { method, path, body }: Request, expected: number): Promise<string> {
  const { code, body: text } = await call(port, method, path, body)
  if (code !== expected) throw new Error(`${method} ${path} was answered ${code}: ${text().slice(0, 500)}`)
  return /"resourceVersion":"(\d+)"/.exec(text())?.[1] ?? ''
}

/** Namespaces with a role and its binding to the user's group. */
async function fill ({ port }: Launched, namespaces: number): Promise<void> {
  const rule = {
    apiGroups: ['*'], resources: ['configmaps', 'secrets', 'leases', 'pods', 'pods/status', 'events'], verbs: ['*']
  }
  await send(
    port,
    {
      method: 'POST', path: `${RBAC}/clusterroles`, body: JSON.stringify({ metadata: { name: 'team' }, rules: [rule] })
    },
    201
  )
  const binding = JSON.stringify({
    metadata: { name: 'team' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'team' },
    subjects: [{ kind: 'Group', name: 'group-b', apiGroup: 'rbac.authorization.k8s.io' }]
  })
  await pool(namespaces, CALLERS, async at => {
    await send(
      port, { method: 'POST', path: '/api/v1/namespaces', body: JSON.stringify({ metadata: { name: `team-${at}` } }) },
      201
    )
    await send(port, { method: 'POST', path: `${RBAC}/namespaces/team-${at}/rolebindings`, body: binding }, 201)
  })
  // Pods need the account of their namespace; after a restart over etcd the controller that makes it waits its turn.
  const count = async (plural: string): Promise<number> => {
    const { body } = await call(port, 'GET', `/api/v1/${plural}?limit=1`)
    return 1 + Number(/"remainingItemCount":(\d+)/.exec(body())?.[1] ?? 0)
  }
  while (await count('serviceaccounts') < await count('namespaces')) await sleep(100)
}

/** A file in the folder. */
function written (folder: string, name: string, content: object): string {
  const path = join(folder, name)
  writeFileSync(path, JSON.stringify(content))
  return path
}

export function flagsOf (checks: readonly Check[], folder: string): string[] {
  const policy = { apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }
  const keys = [{ name: 'one', secret: Buffer.alloc(32, 1).toString('base64') }]
  const encrypted = {
    apiVersion: 'apiserver.config.orch.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: [{ aesgcm: { keys } }] }]
  }
  const flags: Readonly<Record<Check, () => string[]>> = {
    RBAC: () => ['--authorization-mode=Node,RBAC'],
    audit: () => [
      `--audit-policy-file=${written(folder, 'policy.json', policy)}`, `--audit-log-path=${join(folder, 'audit.log')}`
    ],
    queues: () => [],
    encryption: () => [`--encryption-provider-config=${written(folder, 'encryption.json', encrypted)}`]
  }
  return [...checks.includes('queues') ? [] : UNBOUNDED, ...checks.flatMap(check => flags[check]())]
}

/** Each has one object at least. */
const teamsOf = (
  { namespaces }: Pick<Setting, 'namespaces'>, scale: Scale
): number => Math.min(namespaces, scale.objects)

/** The costs of each row on a fresh server. */
export async function costsOf (
  store: 'embedded' | 'etcd', setting: Omit<Setting, 'name'>, scale: Scale
): Promise<ReadonlyMap<Row, Costs>> {
  await using ends = new Ends()
  const { checks } = setting
  const folder = mkdtempSync(join(tmpdir(), 'orch-server-'))
  const etcd: EtcdProcess | undefined = store === 'etcd' ? await startEtcd(ends) : undefined
  const flags = ['--compat-names', ...etcd === undefined ? [] : [`--etcd-servers=${etcd.url}`]]
  const opened = await launch([...flags, ...UNBOUNDED], folder)
  const teams = teamsOf(setting, scale)
  await fill(opened, teams)
  await opened.kill()
  hangUp(opened.port)
  const server = ends.add(await launch([...flags, ...flagsOf(checks, folder)], folder))
  ends.teardown(() => { hangUp(server.port) })
  const spent = (): number => cpu(server) + (etcd === undefined ? 0 : cpu({ process: etcd }))
  const found = new Map<Row, Costs>()
  const first = Math.min(1_000, scale.gets)
  const counts = [first, Math.min(3_000, scale.gets)]
  let versions: string[] = []
  for (const row of ROWS) {
    const answered: string[] = []
    const costs: number[] = []
    let from = 0
    for (const count of counts) {
      const before = spent()
      const base = from
      await pool(count, CALLERS, async at => {
        const which = base + at
        const request = row.request(`team-${which % teams}`, `o-${which}`, versions[which] ?? '')
        answered[which] = await send(
          server.port, request, row.code === 403 && !checks.includes('RBAC') ? 404 : row.code
        )
      })
      costs.push((spent() - before) * 1000 / count)
      from += count
    }
    versions = answered
    found.set(row, { first: costs[0] ?? NaN, later: costs[1] ?? NaN })
  }
  return found
}

export async function production (scale: Scale): Promise<void> {
  for (const store of scale.stores) await onStore(store, scale)
}

async function onStore (store: 'embedded' | 'etcd', scale: Scale): Promise<void> {
  const settings = scale.alone ? [USUAL] : SETTINGS
  const all = new Map(settings.map(({ name }) => [name, new Map(ROWS.map(row => [row, [] as Costs[]]))]))
  for (let round = 0; round < Math.ceil(scale.rounds / 3); round++) {
    // Settings that do not differ at this scale are measured once.
    const found = new Map<string, Awaited<ReturnType<typeof costsOf>>>()
    for (const setting of round % 2 === 0 ? settings : settings.toReversed()) {
      const key = `${teamsOf(setting, scale)} ${setting.checks.join()}`
      const costsOfRows = found.get(key) ?? await costsOf(store, setting, scale)
      found.set(key, costsOfRows)
      for (const [row, costs] of costsOfRows) all.get(setting.name)?.get(row)?.push(costs)
    }
  }
  const unit = `µs of CPU a request${store === 'etcd' ? ', etcd included' : ''}`
  for (const [row, costs] of all.get(USUAL.name) ?? []) {
    const goal = { ofPeer: GOALS[store][row.goal] }
    report({
      work: `${row.work}, ${store}`,
      unit,
      of: [
        ['first', { ours: costs.map(({ first }) => first), ...goal, peer: row.peer?.[0] }],
        ['later', { ours: costs.map(({ later }) => later), ...goal, peer: row.peer?.[1] }]
      ]
    })
  }
  if (scale.alone) return
  /** Of each round, a mean over the rows. */
  const meanOf = (name: string, kind: Row['goal']): number[] => {
    const rows = [...all.get(name) ?? []].filter(([{ goal }]) => goal === kind).map(([, costs]) => costs)
    return (rows[0] ?? []).map((_, round) =>
      rows.reduce((sum, costs) => sum + (costs[round]?.later ?? NaN), 0) / rows.length)
  }
  const each = (one: string, other: string, most: number): Series['of'] => (['read', 'write', 'check'] as const).map(
    kind => [`${kind}s`, { ours: meanOf(one, kind), limit: meanOf(other, kind), most }]
  )
  report({
    work: `mean of these, ${store}, beside the same without RBAC, audit, queues and encryption`,
    unit, of: each(USUAL.name, 'unchecked', CHECKS)
  })
  report({
    work: `mean of these, ${store}, 5,000 namespaces beside 10`, unit, of: each('many', 'few', 1.1)
  })
}
