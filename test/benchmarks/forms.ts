/**
 * What an ordinary user of a production server (RBAC, audit, fair queues) reads of pods in each form: own and public
 * names × JSON, protobuf, Table and metadata, listed first after a start and later, one of them, those of one node, and
 * one event, each among several numbers of pods. The limit is JSON under own names, for as many bytes as are sent (for
 * each row of tables and metadata), and kube-apiserver's figures are beside it. At the end, memory.
 */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ends } from './ends.js'
import { call, hangUp, pool } from './http1.js'
import { newestVersion } from './objects.js'
import { pod, PODS, podWithStatus } from './pod-objects.js'
import { cpu, launch, memory, settle, TOKEN, type Launched } from './process.js'
import { flagsOf, RBAC, send } from './production.js'
import { UNBOUNDED } from './reads.js'
import { Collected, type Rounds } from './report.js'
import type { Scale } from './scale.js'

const NODES = 50
const WIDTH = 32
const WARM_ROUNDS = 3
/** Numbers of pods among which one, those of a node, an event and the memory are measured, too; and all small ones. */
const ALIKE: readonly number[] = [300, 4_000, 20_000]
/** What the memory of three forms is measured with. */
const THREE = ['JSON, public names', 'protobuf, public names', 'Table, public names']

/**
 * A form and what kube-apiserver 1.36 took: ms for a LIST of as many pods, µs for a GET and for the 80 pods of a node
 * among 4,000.
 */
interface Form {
  readonly name: string
  readonly accept: string
  readonly peer: Readonly<Record<number, number>>
  readonly get?: number
  readonly node?: number
}

const JSON_PEER = { peer: { 300: 35, 1000: 119, 2000: 212, 4000: 620 }, get: 735, node: 14_385 }
const PROTOBUF_PEER = { peer: { 300: 20, 1000: 54, 2000: 100, 4000: 251 }, get: 649, node: 5_195 }
const viewed = (kind: string, group: string): string => `;as=${kind};g=meta.${group};v=v1`
/** In a group that has one name, a request is under own names if it accepts this. */
const OWN = 'application/vnd.orch.protobuf'
const FORMS: readonly Form[] = [
  { name: 'JSON, own names', accept: `application/json,${OWN}`, ...JSON_PEER },
  { name: 'JSON, public names', accept: 'application/json', ...JSON_PEER },
  { name: 'protobuf, own names', accept: OWN, ...PROTOBUF_PEER },
  { name: 'protobuf, public names', accept: 'application/vnd.kubernetes.protobuf', ...PROTOBUF_PEER },
  { name: 'Table, own names', accept: `application/json${viewed('Table', 'orch.io')},${OWN}`, peer: { 1500: 148 } },
  { name: 'Table, public names', accept: `application/json${viewed('Table', 'k8s.io')}`, peer: { 1500: 148 } },
  {
    name: 'metadata, public names',
    accept: `application/json${viewed('PartialObjectMetadataList', 'k8s.io')}`,
    peer: { 1500: 37 }
  },
  {
    name: 'metadata in protobuf, public names',
    accept: `application/vnd.kubernetes.protobuf${viewed('PartialObjectMetadataList', 'k8s.io')}`,
    peer: { 1500: 37 }
  }
]
const name = (at: number): string => `pod-${String(at).padStart(6, '0')}`
const agent = new Agent({ keepAlive: true, maxSockets: 200, rejectUnauthorized: false })

/** Three containers, on a node. */
function podOf (at: number): string {
  const { spec, ...rest } = JSON.parse(pod(name(at))) as { spec: { containers: object[] } }
  return JSON.stringify({
    ...rest,
    spec: {
      ...spec,
      nodeName: `node-${at % NODES}`,
      containers: [...spec.containers, { ...spec.containers[0], name: 'third' }]
    }
  })
}

async function opened ({ port }: Launched, path: string, accept: string): Promise<IncomingMessage> {
  const asked = request({ host: '127.0.0.1', port, agent, path, headers: { authorization: `Bearer ${TOKEN}`, accept } })
  asked.end()
  const [answer] = await once(asked, 'response') as [IncomingMessage]
  if (answer.statusCode !== 200) throw new Error(`GET ${path} as ${accept} answered ${answer.statusCode}`)
  return answer
}

async function read (server: Launched, path: string, accept: string): Promise<number> {
  let bytes = 0
  for await (const piece of await opened(server, path, accept)) bytes += (piece as Buffer).length
  return bytes
}

/** What the user may do once roles decide. */
async function grant ({ port }: Launched): Promise<void> {
  const [rule, subject] = [
    { apiGroups: [''], resources: ['pods', 'pods/status'], verbs: ['*'] },
    { kind: 'Group', name: 'group-b', apiGroup: 'rbac.authorization.k8s.io' }
  ]
  await send(
    port,
    {
      method: 'POST', path: `${RBAC}/clusterroles`, body: JSON.stringify({ metadata: { name: 'pods' }, rules: [rule] })
    },
    201
  )
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'pods' }
  await send(
    port,
    {
      method: 'POST',
      path: `${RBAC}/clusterrolebindings`,
      body: JSON.stringify({ metadata: { name: 'pods' }, roleRef, subjects: [subject] })
    },
    201
  )
}

async function fill ({ port }: Launched, from: number, to: number): Promise<void> {
  await pool(to - from, WIDTH, async at => {
    for (const [method, path, body] of [
      ['POST', PODS, podOf(from + at)], ['PUT', `${PODS}/${name(from + at)}/status`, podWithStatus(name(from + at), 0)]
    ] as const) {
      const { code } = await call(port, method, path, body)
      if (code >= 300) throw new Error(`${method} ${path} answered ${code}`)
    }
  })
}

/** @returns of each round after the first: CPU in ms for one; and the bytes of one */
async function measured (
  server: Launched, rounds: number, times: number, work: () => Promise<number>
): Promise<{ first: number, later: number[], bytes: number }> {
  const costs: number[] = []
  let bytes = 0
  for (let round = 0; round <= rounds; round++) {
    const before = cpu(server)
    await pool(times, WIDTH, async () => { bytes = await work() })
    costs.push((cpu(server) - before) / times)
  }
  const [first = NaN, ...later] = costs
  return { first, later, bytes }
}

type Measure = Awaited<ReturnType<typeof measured>>

/** A server with so many pods. */
interface Filled {
  readonly server: Launched
  /** How many. */
  readonly label: string
  readonly scale: Scale
  readonly found: Collected
}

interface Asked {
  readonly what: string
  readonly unit: 'ms of CPU' | 'µs of CPU'
  /** At a time. */
  readonly times: number
  readonly isList: boolean
  readonly path: string
  /** What kube-apiserver took, in the unit. */
  readonly peer: (form: Form) => number | undefined
}

/** Beside JSON under own names, for as many bytes; where each item is a row, for as many rows. */
function compared ({ name: form, accept }: Form, of: Measure, json: Measure, by: number): Rounds {
  const scale = accept.includes(';as=') ? 1 : of.bytes / json.bytes
  return {
    ours: of.later.map(cost => cost * by),
    ...(of === json
      ? {}
      : { limit: json.later.map(cost => cost * by * scale), most: form.startsWith('JSON') ? 1.1 : 1.2 })
  }
}

async function each ({ server, label, scale, found }: Filled, asked: Asked): Promise<void> {
  const { what, unit, times, isList, path } = asked
  let json: Measure | undefined
  for (const form of FORMS) {
    // Code that lists run is optimized by the dozen.
    const of = await measured(server, WARM_ROUNDS * scale.rounds, times, () =>
      read(server, path, isList ? form.accept : form.accept.replace('List;', ';')))
    json ??= of
    const rounds = { ...compared(form, of, json, unit === 'ms of CPU' ? 1 : 1000), ofPeer: 0.35 }
    found.add(`${what}, ${form.name}`, unit, label, { ...rounds, peer: asked.peer(form) })
    if (unit === 'ms of CPU') {
      found.add(`first ${what.replace('LIST', 'LIST of')}, ${form.name}, beside a later one`, unit, label, {
        ours: [of.first], limit: of.later, most: 3
      })
    }
  }
}

async function event ({ server, label, scale, found }: Filled, watchers: number): Promise<void> {
  let json: Measure | undefined
  let turn = 0
  for (const form of FORMS) {
    const from = await newestVersion(server.port, PODS)
    const accept = form.accept.replace('List;', ';')
    const watches = await Promise.all(Array.from(
      { length: watchers }, () => opened(server, `${PODS}?watch=1&resourceVersion=${from}`, accept)
    ))
    const of = await measured(server, WARM_ROUNDS * scale.rounds, 1, async () => {
      const arrived = Promise.all(watches.map(async watch => (await once(watch, 'data') as [Buffer])[0].length))
      await call(server.port, 'PUT', `${PODS}/${name(7)}/status`, podWithStatus(name(7), ++turn))
      return (await arrived)[0] ?? 0
    })
    for (const watch of watches) watch.destroy()
    json ??= of
    found.add(
      `one event to ${watchers.toLocaleString('en')} watches, with its write, ${form.name}`, 'µs of CPU', label,
      compared(form, of, json, 1000)
    )
  }
}

/** What a server holds that only had to send three forms of each pod. */
async function memoryOfThree (
  start: () => Promise<Launched>, { label, scale, found }: Omit<Filled, 'server'>
): Promise<void> {
  const server = await start()
  for (const { name, accept } of FORMS) {
    if (!THREE.includes(name)) continue
    for (let time = 0; time < 3; time++) await read(server, PODS, accept)
  }
  await settle(server, scale.pause)
  found.add('memory with pods read as JSON, protobuf and Table, public names', 'MB resident', label, {
    ours: [memory(server)]
  })
  hangUp(server.port)
  await server.kill()
}

export async function forms (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const folder = mkdtempSync(join(tmpdir(), 'orch-forms-'))
  const found = new Collected()
  let before = 0
  for (const count of scale.pods) {
    const filling = ends.add(await launch(['--compat-names', ...UNBOUNDED], folder))
    if (before === 0) await grant(filling)
    await fill(filling, before, before = count)
    hangUp(filling.port)
    await filling.kill()
    const start = async (): Promise<Launched> =>
      ends.add(await launch(['--compat-names', ...flagsOf(['RBAC', 'audit', 'queues'], folder)], folder))
    const label = count.toLocaleString('en')
    const isAlike = ALIKE.includes(count) || count < Math.min(...ALIKE)
    if (isAlike) await memoryOfThree(start, { label, scale, found })
    const server = await start()
    const filled = { server, label, scale, found }
    await each(filled, {
      what: 'LIST pods', unit: 'ms of CPU', times: 1, isList: true, path: PODS,
      peer: ({ peer }) => peer[count] ?? (peer[1500] === undefined ? undefined : peer[1500] * count / 1500)
    })
    if (isAlike) {
      await each(filled, {
        what: 'GET a pod', unit: 'µs of CPU', times: Math.min(scale.gets, 2_000), isList: false,
        path: `${PODS}/${name(7)}`, peer: ({ get }) => count === 4_000 ? get : undefined
      })
      await each(filled, {
        what: 'pods of one node', unit: 'µs of CPU', times: Math.min(scale.gets, 100), isList: true,
        path: `${PODS}?fieldSelector=spec.nodeName%3Dnode-7`, peer: ({ node }) => count === 4_000 ? node : undefined
      })
      await event(filled, Math.min(scale.watchers, 100))
    }
    await settle(server, scale.pause)
    found.add('memory with pods read in every form', 'MB resident', label, { ours: [memory(server)] })
    hangUp(server.port)
    await server.kill()
  }
  found.report()
}
