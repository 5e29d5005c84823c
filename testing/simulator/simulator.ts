/**
 * Brings objects from stage to stage. Informers follow the objects of the types that stages name; the first stage that
 * selects an object applies once its delay has passed on the server's clock, if it still selects the object then. What
 * it writes is the next change, and so on.
 */
import type { Clock } from '../../event-loop/clock.js'
import type { ObjectInformer, OwnClient, TypeName } from '../../host/contract.js'
import type { Node, Pod } from '../../schemas/api/core/v1.js'
import { millisecondsOf } from '../clock.js'
import { Addresses } from './addresses.js'
import { apply, type Applied } from './apply.js'
import { nodeNamed, nodeStages } from './nodes.js'
import { podStages } from './pods.js'
import { Scheduler, waitsForNode } from './scheduler.js'
import { selects } from './selection.js'
import type { SimulateOptions, Simulated, Stage } from './stage.js'

export interface Surroundings { readonly client: OwnClient, readonly clock: Clock, readonly random: () => number }

/** A stage, or what the scheduler does. */
type Step = Stage | typeof SCHEDULE

/** Objects that are written at a time. */
const WRITES = 16
/** Milliseconds on the server's clock before a stage that failed, or that follows itself, is tried again. */
const AGAIN = 1000
/** Turns of the event loop in which a write becomes a change that informers report. */
const TURNS = 10
/** Milliseconds, of the machine's time, that a move of the clock waits for writes. */
const PATIENCE = 10_000
/** Steps that an object takes within a second of the server's clock; stages that undo each other would never end. */
const BURST = 20

const SCHEDULE = Symbol('schedule')
const POD: TypeName = { apiVersion: 'v1', kind: 'Pod' }
const NODE: TypeName = { apiVersion: 'v1', kind: 'Node' }

interface Progress {
  readonly uid: string
  readonly kind: string
  readonly name: string
  readonly namespace: string
  /** What waits for its time, or in the queue. */
  due?: { readonly step: Step, readonly cancel: () => void } | undefined
  isRunning: boolean
  /** When the steps of this second began, and their number. */
  since: number
  steps: number
  /** The step that was last applied, and to which version. */
  last?: { readonly step: Step, readonly version: string } | undefined
}

const typeKey = ({ apiVersion, kind }: TypeName): string => `${apiVersion} ${kind}`

export class Simulator {
  readonly #surroundings: Surroundings
  readonly #options: SimulateOptions
  readonly #stages = new Map<string, { readonly type: TypeName, readonly stages: Stage[] }>()
  readonly #informers = new Map<string, ObjectInformer<object>>()
  /** By uid. */
  readonly #progress = new Map<string, Progress>()
  readonly #queue = new Map<Progress, Step>()
  readonly #writing = new Set<Promise<void>>()
  readonly #scheduler = new Scheduler()
  /** Pods that fitted no node when they were last tried, by uid. */
  readonly #waiting = new Set<string>()
  readonly #reported = new Set<string>()
  #isClosed = false

  /** @param options checked */
  constructor (surroundings: Surroundings, options: SimulateOptions) {
    const client = surroundings.client.with({ fieldManager: 'simulator', warn: () => {} })
    this.#surroundings = { ...surroundings, client }
    this.#options = options
    const { stages = [], defaults = true } = options
    const pods = new Addresses('10.244', () => (this.#objects(POD) as Pod[]).map(({ status }) => status?.podIP))
    const nodes = new Addresses('172.18', () => (this.#objects(NODE) as Node[]).map(addressOf))
    const hostOf = (name: string): string | undefined =>
      addressOf(this.#informers.get(typeKey(NODE))?.get(name) as Node | undefined)
    const standard = defaults
      ? [...podStages(() => pods.next(), hostOf), ...nodeStages(() => nodes.next())]
      : []
    const names = new Set(stages.map(({ name }) => name))
    for (const stage of [...stages, ...standard.filter(({ name }) => !names.has(name))]) {
      const key = typeKey(stage.resource)
      const known = this.#stages.get(key)
      if (known === undefined) this.#stages.set(key, { type: stage.resource, stages: [stage] })
      else known.stages.push(stage)
    }
  }

  /**
   * Resolves when the stages that are due now have been written.
   * @throws StatusError for a type that the server does not have
   */
  async start (): Promise<void> {
    const { nodes = 1 } = this.#options
    const { client } = this.#surroundings
    const names = typeof nodes === 'number' ? Array.from({ length: nodes }, (_none, at) => `node-${at}`) : nodes
    for (const name of names) {
      await client.of(NODE).create(nodeNamed(name)).catch((error: unknown) => {
        // A fork has it already.
        if ((error as { status?: { reason?: string } }).status?.reason !== 'AlreadyExists') throw error
      })
    }
    // Pods come last, when all nodes are ready that can be.
    const isPod = ({ type }: { readonly type: TypeName }): boolean => typeKey(type) === typeKey(POD)
    const types = [...this.#stages.values()].sort((one, other) => Number(isPod(one)) - Number(isPod(other)))
    for (const { type } of types) {
      const informer = client.informer(type, {
        handlers: {
          added: object => { this.#changed(type, object as Simulated) },
          updated: object => { this.#changed(type, object as Simulated) },
          deleted: object => { this.#gone(object as Simulated) }
        }
      }) as ObjectInformer<object>
      this.#informers.set(typeKey(type), informer)
      await informer.start()
      await this.settled()
    }
  }

  /** Resolves when nothing is left that is due. */
  async settled (): Promise<void> {
    const patience = performance.now() + PATIENCE
    for (let idle = 0; idle < TURNS && performance.now() < patience;) {
      await new Promise(resolve => { setImmediate(resolve) })
      idle = this.#writing.size === 0 && this.#queue.size === 0 ? idle + 1 : 0
    }
  }

  async close (): Promise<void> {
    this.#isClosed = true
    for (const informer of this.#informers.values()) informer.stop()
    for (const { due } of this.#progress.values()) due?.cancel()
    this.#progress.clear()
    this.#queue.clear()
    await Promise.all(this.#writing)
  }

  #objects (type: TypeName): object[] { return this.#informers.get(typeKey(type))?.list() ?? [] }

  #changed (type: TypeName, object: Simulated): void {
    if (this.#isClosed) return
    const { metadata: { uid, name, namespace = '' } } = object
    const key = typeKey(type)
    if (key === typeKey(POD)) this.#scheduler.noted(object as object as Pod)
    let progress = this.#progress.get(uid)
    if (progress === undefined) {
      progress = { uid, kind: key, name, namespace, isRunning: false, since: -Infinity, steps: 0 }
      this.#progress.set(uid, progress)
    }
    this.#consider(progress, object)
    if (key === typeKey(NODE)) this.#reschedule()
  }

  #gone ({ metadata: { uid } }: Simulated): void {
    const progress = this.#progress.get(uid)
    progress?.due?.cancel()
    this.#progress.delete(uid)
    this.#waiting.delete(uid)
    this.#scheduler.take(uid, '')
    if (progress?.kind === typeKey(POD)) this.#reschedule() // there may be room now
  }

  /** Tries pods again that fitted no node. */
  #reschedule (): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const uid of waiting) {
      const progress = this.#progress.get(uid)
      const object = progress === undefined ? undefined : this.#current(progress)
      if (progress === undefined || object === undefined || progress.isRunning) continue
      progress.last = undefined
      this.#consider(progress, object)
    }
  }

  #current ({ uid, kind, name, namespace }: Progress): Simulated | undefined {
    const object = this.#informers.get(kind)?.get(name, namespace) as Simulated | undefined
    return object?.metadata.uid === uid ? object : undefined
  }

  #stepOf (kind: string, object: Simulated): Step | undefined {
    const { defaults = true } = this.#options
    const { metadata: { uid } } = object
    if (defaults && kind === typeKey(POD) && !this.#waiting.has(uid) && waitsForNode(object as object as Pod)) {
      if (this.#objects(NODE).length > 0) return SCHEDULE
      this.#waiting.add(uid)
    }
    return this.#stages.get(kind)?.stages.find(stage => selects(stage, object))
  }

  #consider (progress: Progress, object: Simulated): void {
    const { kind, due, last, isRunning } = progress
    if (isRunning || last?.version === object.metadata.resourceVersion) return
    const step = this.#guarded(object, () => this.#stepOf(kind, object))
    if (step === due?.step) return
    due?.cancel()
    progress.due = undefined
    if (step === undefined) return
    const isRepeated = step === last?.step && step !== SCHEDULE
    const least = this.#isHasty(progress) || isRepeated ? AGAIN : 0
    const delay = step === SCHEDULE
      ? 0
      : millisecondsOf(step.delay ?? 0) + millisecondsOf(step.jitter ?? 0) * this.#surroundings.random()
    this.#plan(progress, step, Math.max(delay, least))
  }

  #isHasty (progress: Progress): boolean {
    const now = this.#surroundings.clock.elapsed()
    if (now - progress.since >= AGAIN) {
      progress.since = now
      progress.steps = 0
    }
    return ++progress.steps > BURST
  }

  #plan (progress: Progress, step: Step, delay: number): void {
    const enqueue = (): void => {
      this.#queue.set(progress, step)
      this.#work()
    }
    if (delay > 0) progress.due = { step, cancel: this.#surroundings.clock.after(delay, enqueue) }
    else {
      progress.due = { step, cancel: () => { this.#queue.delete(progress) } }
      enqueue()
    }
  }

  #work (): void {
    for (const [progress, step] of this.#queue) {
      if (this.#writing.size >= WRITES) return
      this.#queue.delete(progress)
      progress.due = undefined
      progress.isRunning = true
      const writing = this.#run(progress, step).finally(() => {
        this.#writing.delete(writing)
        this.#work()
      })
      this.#writing.add(writing)
    }
  }

  async #run (progress: Progress, step: Step): Promise<void> {
    const object = this.#current(progress)
    let again = false
    if (object !== undefined && this.#guarded(object, () => this.#stepOf(progress.kind, object)) === step) {
      const applied = await this.#applied(object, step)
      again = applied === 'failed'
      progress.last = { step, version: object.metadata.resourceVersion ?? '' }
    }
    progress.isRunning = false
    if (this.#isClosed || this.#progress.get(progress.uid) !== progress) return
    const now = this.#current(progress)
    if (again) this.#plan(progress, step, AGAIN * 10)
    else if (now !== undefined) this.#consider(progress, now)
  }

  async #applied (object: Simulated, step: Step): Promise<Applied> {
    const { client, clock, random } = this.#surroundings
    const now = `${new Date(clock.wall()).toISOString().slice(0, 19)}Z`
    const report = (name: string, error: Error): void => { this.#report(name, object, error) }
    if (step === SCHEDULE) return await this.#schedule(object, now)
    return await apply(client, { stage: step, object, context: { now, random } }, report)
  }

  async #schedule (object: Simulated, now: string): Promise<Applied> {
    const { client } = this.#surroundings
    const { metadata: { uid, name, namespace = '' } } = object
    const node = this.#scheduler.choose(object as object as Pod, this.#objects(NODE) as Node[])
    const condition = node === undefined
      ? { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no simulated node fits the pod' }
      : undefined
    if (node === undefined) this.#waiting.add(uid)
    else this.#scheduler.take(uid, node)
    try {
      const pods = client.of(POD)
      if (node !== undefined) {
        const target = { apiVersion: 'v1', kind: 'Node', name: node }
        const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace, uid }, target }
        await pods.subresource('binding').create(name, binding, { namespace })
      } else if (!hasCondition(object as object as Pod)) {
        const status = { conditions: [{ ...condition, lastTransitionTime: now }] }
        await pods.subresource('status').patch(name, { metadata: { uid }, status }, { namespace, type: 'strategic' })
      }
      return 'done'
    } catch (error) {
      this.#scheduler.take(uid, '')
      this.#report('the scheduler', object, error as Error)
      return 'failed'
    }
  }

  #guarded (object: Simulated, run: () => Step | undefined): Step | undefined {
    try {
      return run()
    } catch (error) {
      this.#report('a selector', object, error as Error)
      return undefined
    }
  }

  /** Says once what a stage cannot do, since nobody waits for it. */
  #report (name: string, { kind = '', metadata }: Simulated, { message }: Error): void {
    if (this.#isClosed || this.#reported.has(name)) return
    this.#reported.add(name)
    const object = `${kind} ${[metadata.namespace, metadata.name].filter(part => part !== undefined).join('/')}`
    process.stderr.write(`orch-apiserver/testing: simulation of ${object}: ${name}: ${message}\n`)
  }
}

const addressOf = (node: Node | undefined): string | undefined =>
  node?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address

const hasCondition = ({ status }: Pod): boolean => (status?.conditions ?? []).some(({ type, reason }) =>
  type === 'PodScheduled' && reason === 'Unschedulable')
