/**
 * Deletes objects whose owners are gone, and ends deletions that wait for dependents or leave them behind, as the
 * collector of a controller manager does. Beside another one it is harmless: each step reads the present state, and
 * writes nothing but that object in that version.
 */
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import { isStorageError } from '../../storage/errors.js'
import type { Controller, ControllerOptions } from '../controller.js'
import { WorkQueue, type Verdict } from '../work-queue.js'
import { collect, type CollectTools, type Result } from './collect.js'
import { FailureLog } from './failure-log.js'
import { Graph, type Difference, type GraphNode } from './graph.js'
import { Monitors } from './monitors.js'
import { NamespaceWarnings } from './namespace-warnings.js'
import { orphan } from './orphan.js'
import { OwnerCheck } from './owners.js'
import type { Requests } from './requests.js'
import { isDangling, isSuspect } from './suspicion.js'
import { Types, type Discover } from './types.js'

export interface GarbageCollectorOptions extends ControllerOptions {
  readonly requests: Requests
  /** What extension servers serve. */
  readonly discover: Discover
  /** For what an operator wants to know. */
  readonly note: (message: string) => void
  /** Objects that wait at the same time, to be collected or to be tried again. Default 10,000 each. */
  readonly maxWaiting?: number
}

/** Objects at the same time, as upstream. */
const WORKERS = 20
/** Delays of objects that others change at the same time, and of those that fail. */
const CONFLICTS = { first: 20, max: 60_000 }
const FAILURES = { first: 1000, max: 60_000 }
/** Milliseconds until what found no place in the queues is looked for again. */
const SWEEP_MS = 10_000
/** Milliseconds until what failed and found no place to wait is tried again. */
const ROUND_MS = 60_000
/** Milliseconds between questions for the types of extension servers. */
const DISCOVER_MS = 30_000
const APISERVICES = 'apiservices.apiregistration.orch.io'

export class GarbageCollector implements Controller {
  readonly #options: GarbageCollectorOptions
  readonly #graph = new Graph()
  readonly #types: Types
  readonly #monitors: Monitors
  readonly #owners: OwnerCheck
  readonly #tools: CollectTools
  readonly #failures: FailureLog
  readonly #collecting: WorkQueue
  readonly #orphaning: WorkQueue
  readonly #closing = new AbortController()
  #unsubscribe = (): void => {}
  #timers = new Set<NodeJS.Timeout>()
  #updating: Promise<void> | undefined
  #mayUpdate = false
  /** Nothing is concluded before everything is known. */
  #isReady = false
  #sweeping: Promise<void> | undefined
  /** Some objects found no place in a queue. */
  #missed = false
  /** Those that failed and found no place to wait are put off until the next round. */
  #round = 0

  constructor (options: GarbageCollectorOptions) {
    this.#options = options
    const { resources, requests, log, clock = resources.clock } = options
    this.#failures = new FailureLog(log)
    this.#types = new Types(resources, requests)
    this.#monitors = new Monitors(this.#types, {
      graph: this.#graph, log, changed: difference => { this.#changed(difference) },
      removed: node => { this.#removed(node) }, listed: () => { void this.#begin() }
    })
    this.#owners = new OwnerCheck(this.#types)
    const warnings = new NamespaceWarnings(requests, clock, log)
    this.#tools = {
      graph: this.#graph, owners: this.#owners, requests, enqueue: uid => this.#add(this.#collecting, uid),
      catchUp: () => this.#monitors.catchUp(),
      reportNamespace: (type, object, reference) => warnings.report(type, object, reference)
    }
    this.#collecting = this.#queue('garbage_collector_attempt_to_delete', collect)
    this.#orphaning = this.#queue('garbage_collector_attempt_to_orphan', orphan)
  }

  /** Resolves at once: readiness does not wait for the objects. */
  async start (): Promise<void> {
    this.#unsubscribe()
    this.#unsubscribe = this.#options.resources.onChange(() => { this.#update() })
    this.#update()
    this.#every(DISCOVER_MS, () => { this.#update() })
    this.#every(SWEEP_MS, () => {
      if (!this.#isReady) void this.#begin()
      else if (this.#missed) this.#sweep()
    })
    this.#every(ROUND_MS, () => {
      this.#round++
      this.#sweep()
    })
  }

  async close (): Promise<void> {
    this.#closing.abort()
    this.#unsubscribe()
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all([this.#collecting.close(), this.#orphaning.close(), this.#monitors.close()])
    await this.#updating
    await this.#monitors.close()
    await this.#sweeping
  }

  #queue (name: string, step: typeof collect): WorkQueue {
    const { observeQueue } = this.#options
    const queue: WorkQueue = new WorkQueue({
      workers: WORKERS, name, observe: observeQueue, backoff: CONFLICTS, retry: FAILURES,
      work: async uid => {
        try {
          const verdict = await this.#step(uid, step)
          return verdict === 'later' && !this.#mayWait(queue, uid) ? 'done' : verdict
        } catch (error) {
          if (this.#closing.signal.aborted || isStorageError(error, 'Closed')) return 'done'
          this.#failures.add(error)
          if (this.#mayWait(queue, uid)) throw error
          return 'done'
        } finally {
          if (this.#missed && queue.depth === 0) this.#sweep()
        }
      },
      failed: () => {} // that is in the log already
    })
    return queue
  }

  /** Whether there is room to wait; else it is put off. */
  #mayWait (queue: WorkQueue, uid: string): boolean {
    if (queue.waiting < this.#maxWaiting) return true
    const node = this.#graph.find(uid)
    if (node !== undefined) node.putOff = this.#round
    queue.forget(uid)
    return false
  }

  async #step (uid: string, step: typeof collect): Promise<Verdict> {
    const node = this.#graph.find(uid)
    if (node === undefined) return 'done'
    const { type, namespace, name } = node
    const result: Result = await step(this.#tools, type, uid, { namespace, name })
    return result === 'again' ? 'later' : 'done'
  }

  get #maxWaiting (): number { return this.#options.maxWaiting ?? 10_000 }

  /** What finds no place is missed, and found again by a sweep. @returns false if it found none */
  #add (queue: WorkQueue, uid: string): boolean {
    if (queue.depth >= this.#maxWaiting) {
      this.#missed = true
      return false
    }
    queue.add(uid)
    return true
  }

  #changed ({ node, owned, waits, released }: Difference): void {
    if (node.type.label === APISERVICES) this.#update()
    if (!this.#isReady) return
    if (node.orphansDependents) this.#add(this.#orphaning, node.uid)
    if ((owned || node.waitsForDependents) && isSuspect(this.#graph, node)) this.#add(this.#collecting, node.uid)
    if (waits) this.#addDependents(node.uid)
    for (const owner of released) this.#addIfFree(owner)
  }

  #removed (node: GraphNode): void {
    if (node.type.label === APISERVICES) this.#update()
    const { uid } = node
    if (this.#graph.dependents(uid).size > 0) void this.#owners.confirmDeleted(node.type, node)
    if (!this.#isReady) return
    this.#addDependents(uid)
    for (const owner of node.owners) if (owner.blockOwnerDeletion === true) this.#addIfFree(owner.uid)
  }

  #addDependents (uid: string): void {
    for (const dependent of this.#graph.dependents(uid)) if (!this.#add(this.#collecting, dependent.uid)) return
  }

  /** An owner that waits for dependents, none of which blocks it any longer. */
  #addIfFree (uid: string): void {
    const owner = this.#graph.find(uid)
    if (owner?.waitsForDependents === true && isSuspect(this.#graph, owner)) this.#add(this.#collecting, uid)
  }

  /** Follows the types that there are now; changes meanwhile are followed afterwards. */
  #update (): void {
    this.#mayUpdate = true
    this.#updating ??= this.#updateTypes().catch((error: unknown) => {
      this.#options.log('garbage collection cannot find out which types there are', error)
    }).finally(() => {
      this.#updating = undefined
      if (this.#mayUpdate && !this.#closing.signal.aborted) this.#update()
    })
  }

  async #updateTypes (): Promise<void> {
    while (this.#mayUpdate && !this.#closing.signal.aborted) {
      // A type that is replaced causes several changes.
      await new Promise(resolve => { setImmediate(resolve) })
      this.#mayUpdate = false
      this.#types.setRemote(await this.#options.discover())
      if (await this.#monitors.update()) {
        this.#failures.typesChanged()
        if (this.#isReady) this.#sweep(true)
      }
      await this.#begin()
    }
  }

  /** Begins when everything is known: before that, an owner may only not have been seen yet. */
  async #begin (): Promise<void> {
    if (this.#isReady || this.#closing.signal.aborted || !this.#monitors.areListed) return
    this.#isReady = true
    let dangling = 0
    for (const node of this.#graph.nodes()) {
      if (isDangling(this.#graph, node)) dangling++
      if (turnIsOver()) await nextTurn()
    }
    if (dangling > 0) {
      this.#options.note(
        `garbage collection: ${dangling} of ${this.#graph.size} objects have owners that were not found; they are ` +
          'deleted once it is certain that these are gone'
      )
    }
    this.#sweep()
  }

  /**
   * Looks through all objects for what is to be done, as far as there is room.
   * @param retries also those that wait to be tried again
   */
  #sweep (retries = false): void {
    if (this.#sweeping !== undefined) this.#missed = true
    this.#sweeping ??= this.#sweepAll(retries).finally(() => { this.#sweeping = undefined })
  }

  async #sweepAll (retries: boolean): Promise<void> {
    this.#missed = false
    const isDue = (queue: WorkQueue, { uid, putOff }: GraphNode): boolean =>
      retries || (putOff !== this.#round && !queue.isWaiting(uid))
    for (const node of this.#graph.nodes()) {
      if (this.#closing.signal.aborted) return
      if (node.orphansDependents && isDue(this.#orphaning, node)) this.#add(this.#orphaning, node.uid)
      const isSuspected = isSuspect(this.#graph, node) && isDue(this.#collecting, node)
      if (isSuspected && !this.#add(this.#collecting, node.uid)) return
      if (turnIsOver()) await nextTurn()
    }
  }

  #every (milliseconds: number, run: () => void): void {
    this.#timers.add(setInterval(run, milliseconds).unref())
  }
}
