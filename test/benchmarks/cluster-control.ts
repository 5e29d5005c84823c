/**
 * A controller and a scheduler: they make and delete pods at a rate, bind them, count them, and list their addresses.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Json } from '../build.js'
import { PODS, podSpec } from './pod-objects.js'
import { Member, type Place } from './cluster-member.js'

const SETS = '/apis/apps/v1/namespaces/default/replicasets'
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
const CORE_EVENTS = '/api/v1/namespaces/default/events'
const EVENTS = '/apis/events.k8s.io/v1/namespaces/default/events'
/** One in so many pods could not be bound at once, and its event has a series. */
const UNBINDABLE = 5
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
  `system:serviceaccount:kube-system:${name}`,
  ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated']
]

const nowInMicroseconds = (): string => new Date().toISOString().replace('Z', '000Z')

/** The pods of one replica set. */
export class Control {
  readonly admin: Member
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
    this.admin = new Member(place, 'admin', ['system:masters'])
    this.#sets = new Member(place, ...account('replicaset-controller'))
    this.#slices = new Member(place, ...account('endpointslice-controller'))
    this.#scheduler = new Member(place, 'system:kube-scheduler', [])
  }

  get pods (): number { return this.#pods.size }
  get ready (): number { return this.#ready.size }

  close (): void { for (const member of [this.admin, this.#sets, this.#slices, this.#scheduler]) member.close() }

  async start (): Promise<void> {
    const pod = { containers: [{ name: 'c', image: 'i' }] }
    await this.admin.ask('others', 'POST', SETS, {
      apiVersion: 'apps/v1', kind: 'ReplicaSet',
      metadata: { name: NAME },
      spec: { replicas: 0, selector: { matchLabels: LABELS }, template: { metadata: { labels: LABELS }, spec: pod } }
    })
    await this.admin.ask('others', 'POST', '/api/v1/namespaces/default/services', {
      apiVersion: 'v1', kind: 'Service', metadata: { name: NAME }, spec: { selector: LABELS, ports: [{ port: 80 }] }
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
      apiVersion: 'v1', kind: 'Binding', metadata: { name, uid }, target: { apiVersion: 'v1', kind: 'Node', name: node }
    })
    await this.#tell({ name, uid, reason: 'Scheduled', note: `assigned to ${node}` })
    if (this.#turn % UNBINDABLE === 0) await this.#tellAgain(name, uid)
  }

  /** @returns the event's name */
  async #tell (
    { name, uid, reason, note }: Record<'name' | 'uid' | 'reason' | 'note', string>
  ): Promise<string> {
    const event = `${name}.${reason.toLowerCase()}.${uid.slice(0, 8)}`
    await this.#scheduler.ask('event', 'POST', EVENTS, {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: event, namespace: 'default' },
      eventTime: nowInMicroseconds(),
      reportingController: 'default-scheduler',
      reportingInstance: 'default-scheduler-1',
      action: 'Binding',
      regarding: { kind: 'Pod', namespace: 'default', name, uid, apiVersion: 'v1' },
      reason, note, type: 'Normal'
    })
    this.#scheduler.tally.events++
    return event
  }

  /** An event that goes on happening: its series is patched. */
  async #tellAgain (name: string, uid: string): Promise<void> {
    const event = await this.#tell({ name, uid, reason: 'FailedScheduling', note: 'no node had enough memory' })
    for (let count = 2; count < 4; count++) {
      await this.#scheduler.ask('event series', 'PATCH', `${EVENTS}/${event}`, {
        series: { count, lastObservedTime: nowInMicroseconds() }
      })
    }
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
        {
          apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice',
          metadata: { name, labels: { 'kubernetes.io/service-name': NAME } }, addressType: 'IPv4',
          ports: [{ port: 8080 }]
        },
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
        apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: LABELS, ownerReferences }, spec: podSpec(NAME)
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
    const { items, rest } = await this.admin.list(`${CORE_EVENTS}?limit=1`, false)
    return items.length + rest
  }

  /** Deletes all events; the server would keep them for three hours. */
  async forgetEvents (): Promise<void> {
    await this.admin.empty(CORE_EVENTS)
    this.admin.tally.events = 0
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
