/**
 * A simulated node agent: it registers, renews its lease, reports its status, and runs the pods that are bound to it in
 * name.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Json } from '../build.js'
import { PODS } from './pod-objects.js'
import { Member, type Place } from './cluster-member.js'

/** Milliseconds, as those of real ones. */
const LEASE_EVERY = 10_000
const STATUS_EVERY = 300_000

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
const EVENTS = '/api/v1/namespaces/default/events'
const now = (): string => new Date().toISOString().replace(/\.\d+/, '')

const condition = (type: string, status: string): Json => ({ type, status, lastTransitionTime: now() })

/** Of a pod that is being started: what a node agent says of it in three patches. */
function states (address: string): Json[] {
  const containers = (state: Json, ready: boolean): Json[] => ['app', 'proxy'].map(name => ({
    name, image: `registry.example.com/team/${name}:v1`, imageID: '', restartCount: 0, ready, started: ready, state
  }))
  const common = { hostIP: '10.0.0.1', startTime: now() }
  return [
    {
      ...common,
      phase: 'Pending',
      conditions: [condition('Initialized', 'True'), condition('Ready', 'False')],
      containerStatuses: containers({ waiting: { reason: 'ContainerCreating' } }, false)
    },
    {
      phase: 'Running',
      podIP: address,
      podIPs: [{ ip: address }],
      conditions: [condition('PodReadyToStartContainers', 'True')],
      containerStatuses: containers({ running: { startedAt: now() } }, false)
    },
    {
      conditions: [condition('Ready', 'True'), condition('ContainersReady', 'True')],
      containerStatuses: containers({ running: { startedAt: now() } }, true)
    }
  ]
}

let addresses = 0
const nextAddress = (): string => {
  const at = addresses++
  return `10.${1 + (at >> 16) % 250}.${(at >> 8) & 255}.${at & 255}`
}

export class NodeAgent {
  readonly name: string
  readonly #member: Member
  readonly #pods = new Set<string>()
  readonly #ending = new Set<string>()
  #readsBundle = false

  constructor (place: Place, name: string) {
    this.name = name
    this.#member = new Member(place, `system:node:${name}`, ['system:nodes'])
  }

  close (): void { this.#member.close() }

  /** Resolves when its informers have begun. */
  async start (): Promise<void> {
    const member = this.#member
    const { name } = this
    await member.ask('register', 'POST', '/api/v1/nodes', {
      apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { 'kubernetes.io/hostname': name } }
    })
    await member.ask('node status', 'PATCH', `/api/v1/nodes/${name}/status`, this.#status())
    const lease = await member.ask('lease', 'POST', LEASES, {
      apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name },
      spec: { holderIdentity: name, leaseDurationSeconds: 40 }
    })
    await Promise.all([
      member.inform(`/api/v1/nodes?fieldSelector=metadata.name%3D${name}`, () => {}, false),
      member.inform('/api/v1/services', () => {}, false),
      member.inform(`/api/v1/pods?fieldSelector=spec.nodeName%3D${name}`, (type, pod) => { this.#heard(type, pod) })
    ])
    member.try(this.#renew(lease))
    member.try(this.#report())
  }

  async #renew (lease: Json): Promise<void> {
    let held = lease
    for (let wait = LEASE_EVERY * Math.random(); ; wait = LEASE_EVERY) {
      await sleep(wait, undefined, { signal: this.#member.over })
      const sent = performance.now()
      held = await this.#member.ask('lease', 'PUT', `${LEASES}/${this.name}`, {
        ...held, spec: { ...held['spec'] as Json, renewTime: new Date().toISOString().replace('Z', '000Z') }
      })
      this.#member.tally.leases.answered(held['metadata'].resourceVersion as string, sent)
    }
  }

  async #report (): Promise<void> {
    for (let wait = STATUS_EVERY * Math.random(); ; wait = STATUS_EVERY) {
      await sleep(wait, undefined, { signal: this.#member.over })
      await this.#member.ask('node status', 'PATCH', `/api/v1/nodes/${this.name}/status`, this.#status())
    }
  }

  #status (): Json {
    const conditions = ['MemoryPressure', 'DiskPressure', 'PIDPressure']
      .map(type => ({ ...condition(type, 'False'), lastHeartbeatTime: now() }))
    return {
      status: {
        capacity: { cpu: '8', memory: '32Gi', pods: '110' },
        allocatable: { cpu: '8', memory: '31Gi', pods: '110' },
        conditions: [...conditions, { ...condition('Ready', 'True'), lastHeartbeatTime: now() }]
      }
    }
  }

  #heard (type: string, pod: Json): void {
    const { name, deletionTimestamp } = pod['metadata'] as { name: string, deletionTimestamp?: string }
    if (type === 'DELETED') {
      this.#pods.delete(name)
      this.#ending.delete(name)
    } else if (deletionTimestamp !== undefined) {
      if (!this.#ending.has(name)) this.#member.try(this.#end(name))
    } else if (!this.#pods.has(name)) {
      const { tally } = this.#member
      const sent = tally.bound.get(name)
      if (sent !== undefined) tally.seen.push(performance.now() - sent)
      tally.arrived.add(name)
      this.#member.try(this.#run(pod))
    }
  }

  async #run (pod: Json): Promise<void> {
    const { name, uid } = pod['metadata'] as { name: string, uid: string }
    this.#pods.add(name)
    const member = this.#member
    if (!this.#readsBundle) {
      this.#readsBundle = true
      await member.inform(
        '/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Dkube-root-ca.crt', () => {}, false
      )
    }
    await member.ask('token', 'POST', '/api/v1/namespaces/default/serviceaccounts/default/token', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 3607, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid } }
    })
    for (const [at, status] of states(nextAddress()).entries()) {
      await this.#event(pod, ['Pulled', 'Created', 'Started'][at] ?? '')
      await member.ask('get', 'GET', `${PODS}/${name}`)
      if (this.#ending.has(name)) return
      await this.#patch(name, { metadata: { uid }, status })
    }
  }

  async #patch (name: string, patch: Json): Promise<void> {
    const sent = performance.now()
    const { tally } = this.#member
    const { metadata } = await this.#member.ask('pod status', 'PATCH', `${PODS}/${name}/status`, patch)
    tally.patches.push(performance.now() - sent)
    tally.statuses.answered(metadata.resourceVersion as string, sent)
  }

  async #event (pod: Json, reason: string): Promise<void> {
    const { name, namespace, uid } = pod['metadata'] as { name: string, namespace: string, uid: string }
    await this.#member.ask('event', 'POST', EVENTS, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${name}.${reason.toLowerCase()}.${uid.slice(0, 8)}` },
      involvedObject: { kind: 'Pod', namespace, name, uid, apiVersion: 'v1' },
      reason, message: `${reason} container app`, type: 'Normal', source: { component: 'node-agent', host: this.name },
      firstTimestamp: now(), lastTimestamp: now(), count: 1
    })
    this.#member.tally.events++
  }

  async #end (name: string): Promise<void> {
    this.#ending.add(name)
    await this.#patch(name, { status: { phase: 'Succeeded' } })
    await this.#member.ask('pod deletion', 'DELETE', `${PODS}/${name}`, { gracePeriodSeconds: 0 })
  }
}
