/**
 * A controller and a scheduler: they make and delete pods at a rate, bind them, count them, and list their addresses.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Json } from '../build.js'
import { PODS, podSpec } from './pod-objects.js'
import { Member, type Place } from './cluster-member.js'

const SETS = '/apis/apps/v1/namespaces/default/replicasets'
const SLICES = '/apis/discovery.orch.io/v1/namespaces/default/endpointslices'
const EVENTS = '/api/v1/namespaces/default/events'
const NAME = 'load'
const LABELS = { app: NAME }
/** Endpoints of a slice, as real controllers have it. */
const SLICE = 100
/** Milliseconds between two updates of counts and slices. */
const COUNT_EVERY = 1000
/** Milliseconds in which something has to go on. */
const PATIENCE = 120_000

const isReady = ({ status }: Json): boolean =>
  (status.conditions as Json[] | undefined)?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
const account = (name: string): readonly [user: string, groups: readonly string[]] => [
  `system:serviceaccount:orch-system:${name}`,
  ['system:serviceaccounts', 'system:serviceaccounts:orch-system', 'system:authenticated']
]

/** The pods of one replica set. */
export class Control {
  readonly #admin: Member
  readonly #sets: Member
  readonly #slices: Member
  readonly #scheduler: Member
  readonly #nodes: readonly string[]
  /** Addresses of the pods that are ready, by name. */
  readonly #ready = new Map<string, string>()
  readonly #pods = new Set<string>()
  readonly #bound = new Set<string>()
  readonly #kept = new Map<string, Json>()
  #made = 0
  #turn = 0
  #counted = -1

  constructor (place: Place, nodes: readonly string[]) {
    this.#nodes = nodes
    this.#admin = new Member(place, 'admin', ['system:masters'])
    this.#sets = new Member(place, ...account('replicaset-controller'))
    this.#slices = new Member(place, ...account('endpointslice-controller'))
    this.#scheduler = new Member(place, 'system:orch-scheduler', [])
  }

  get pods (): number { return this.#pods.size }
  get ready (): number { return this.#ready.size }

  close (): void { for (const member of [this.#admin, this.#sets, this.#slices, this.#scheduler]) member.close() }

  async start (): Promise<void> {
    const pod = { containers: [{ name: 'c', image: 'i' }] }
    await this.#admin.ask('others', 'POST', SETS, {
      metadata: { name: NAME },
      spec: { replicas: 0, selector: { matchLabels: LABELS }, template: { metadata: { labels: LABELS }, spec: pod } }
    })
    await this.#admin.ask('others', 'POST', '/api/v1/namespaces/default/services', {
      metadata: { name: NAME }, spec: { selector: LABELS, ports: [{ port: 80 }] }
    })
    await this.#sets.inform('/api/v1/pods', (type, object) => { this.#count(type, object) })
    await this.#scheduler.inform(
      '/api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed', (type, object) => {
        if (type !== 'DELETED' && (object['spec'].nodeName ?? '') === '') this.#scheduler.try(this.#bind(object))
      }
    )
    this.#sets.try(this.#keepCounts())
  }

  #count (type: string, pod: Json): void {
    const name = pod['metadata'].name as string
    if (type === 'DELETED' || pod['metadata'].deletionTimestamp !== undefined) this.#ready.delete(name)
    else if (isReady(pod)) this.#ready.set(name, pod['status'].podIP as string)
    if (type === 'DELETED') this.#pods.delete(name)
    else this.#pods.add(name)
  }

  async #bind (pod: Json): Promise<void> {
    const { name, uid } = pod['metadata'] as { name: string, uid: string }
    if (this.#bound.has(name)) return
    this.#bound.add(name)
    const node = this.#nodes[this.#turn++ % this.#nodes.length] ?? ''
    const { tally } = this.#scheduler
    tally.bound.set(name, performance.now())
    await this.#scheduler.ask('binding', 'POST', `${PODS}/${name}/binding`, {
      metadata: { name, uid }, target: { kind: 'Node', name: node }
    })
    await this.#scheduler.ask('event', 'POST', EVENTS, {
      metadata: { name: `${name}.scheduled.${uid.slice(0, 8)}` },
      involvedObject: { kind: 'Pod', namespace: 'default', name, uid, apiVersion: 'v1' },
      reason: 'Scheduled', message: `assigned to ${node}`, type: 'Normal', source: { component: 'scheduler' }, count: 1
    })
    tally.events++
  }

  /** Status of the set and endpoint slices, where something has changed. */
  async #keepCounts (): Promise<void> {
    for (;;) {
      await sleep(COUNT_EVERY, undefined, { signal: this.#sets.over })
      if (this.#counted === this.#ready.size) continue
      this.#counted = this.#ready.size
      const set = this.#kept.get(NAME) ?? await this.#sets.ask('get', 'GET', `${SETS}/${NAME}`)
      const status = { replicas: this.#pods.size, readyReplicas: this.#ready.size, availableReplicas: this.#ready.size }
      this.#kept.set(NAME, await this.#sets.ask('set status', 'PUT', `${SETS}/${NAME}/status`, {
        ...set, status: { ...status, replicas: Math.max(status.replicas, status.readyReplicas) }
      }))
      const all = [...this.#ready].map(([name, address]) => ({
        addresses: [address], conditions: { ready: true }, targetRef: { kind: 'Pod', namespace: 'default', name }
      }))
      const slices = Math.max(Math.ceil(all.length / SLICE), [...this.#kept.keys()].length - 1)
      for (let at = 0; at < slices; at++) {
        await this.#keepSlice(`${NAME}-${at}`, all.slice(at * SLICE, (at + 1) * SLICE))
      }
    }
  }

  async #keepSlice (name: string, endpoints: Json[]): Promise<void> {
    const before = this.#kept.get(name)
    const namesOf = (all: Json[]): string => JSON.stringify(all.map(({ targetRef }) => targetRef.name))
    if (before !== undefined && namesOf(before['endpoints'] as Json[] | null ?? []) === namesOf(endpoints)) return
    const slice = {
      ...before ??
        { metadata: { name, labels: { 'orch.io/service-name': NAME } }, addressType: 'IPv4', ports: [{ port: 8080 }] },
      endpoints
    }
    this.#kept.set(
      name,
      await this.#slices.ask(
        'endpoint slice', before === undefined ? 'POST' : 'PUT', before === undefined ? SLICES : `${SLICES}/${name}`,
        slice
      )
    )
  }

  /** Makes pods at a rate, by the second; resolves when all are ready. */
  async up (count: number, rate: number): Promise<void> {
    const { uid } = (await this.#sets.ask('get', 'GET', `${SETS}/${NAME}`))['metadata'] as { uid: string }
    const ownerReferences = [
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: NAME, uid, controller: true, blockOwnerDeletion: true }
    ]
    const target = this.#ready.size + count
    await paced(count, rate, () => {
      const name = `${NAME}-${this.#made++}`
      this.#sets.try(this.#sets.ask('create', 'POST', PODS, {
        metadata: { name, labels: LABELS, ownerReferences }, spec: podSpec(NAME)
      }))
    })
    await this.#until(() => this.#ready.size >= target)
  }

  /** Deletes all pods at a rate; resolves when none is left. */
  async down (rate: number): Promise<void> {
    const names = [...this.#pods]
    await paced(names.length, rate, at => {
      this.#sets.try(this.#sets.ask('delete', 'DELETE', `${PODS}/${names[at] ?? ''}`))
    })
    await this.#until(() => this.#pods.size === 0)
    for (const name of names) this.#bound.delete(name)
  }

  /** Number of events in the store. */
  async events (): Promise<number> {
    const { items, metadata } = await this.#admin.ask('others', 'GET', `${EVENTS}?limit=1`)
    return (items as Json[]).length + Number(metadata.remainingItemCount ?? 0)
  }

  /** Deletes all events; the server would keep them for three hours. */
  async forgetEvents (): Promise<void> {
    await this.#admin.ask('others', 'DELETE', EVENTS)
    this.#admin.tally.events = 0
  }

  async #until (holds: () => boolean): Promise<void> {
    let [before, since] = ['', performance.now()]
    while (!holds()) {
      const state = `${this.#pods.size} pods, ${this.#ready.size} ready`
      if (state !== before) [before, since] = [state, performance.now()]
      if (performance.now() - since > PATIENCE) {
        throw new Error(`nothing goes on: ${state}; ${this.#sets.tally.faults.slice(0, 5).join('; ')}`)
      }
      this.#sets.tally.check()
      await sleep(20)
    }
  }
}

/** Calls so many times at a rate, by the second. */
async function paced (count: number, rate: number, call: (at: number) => void): Promise<void> {
  const since = performance.now()
  for (let at = 0; at < count; at++) {
    const due = since + at * 1000 / rate - performance.now()
    if (due > 0) await sleep(due)
    call(at)
  }
}
