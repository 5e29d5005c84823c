/** Implements `auth/follow.ts`: the resources of authorizers, followed by informers. */
import type { Follow, Followed, FollowedResource } from '../auth/follow.js'
import type { ResourceRegistry } from '../registry/resource-registry.js'
import { isStorageError } from '../storage/errors.js'
import { Informer } from './informer.js'

const RETRY_MS = 1000

export interface FollowOptions {
  /** Types are looked up when following starts: they are added after the authorizers are made. */
  readonly resources: ResourceRegistry
  readonly log: (message: string, error: unknown) => void
}

export const followWith = (options: FollowOptions): Follow =>
  (what, resources, acknowledged = false) => new FollowedResources(options, what, resources, acknowledged)

class FollowedResources implements Followed {
  readonly #log: FollowOptions['log']
  readonly #informers: readonly Informer[]
  readonly #unsubscribe: Array<() => void> = []
  #closed = false
  loaded = false

  constructor (
    { resources, log }: FollowOptions, what: string, followed: readonly FollowedResource[], acknowledged: boolean
  ) {
    this.#log = log
    this.#informers = followed.flatMap(({ group, plural, changed, deleted, optional }) => {
      const store = resources.find(group, plural)
      if (store === undefined && optional === true) return []
      if (store === undefined) throw new Error(`${plural} of ${JSON.stringify(group)} are not served`)
      const informer = new Informer({
        store, handlers: [{ changed: entry => { changed(store.entries.read(entry)) }, deleted }], log
      })
      if (acknowledged) this.#unsubscribe.push(store.onCommitted(revision => informer.reach(revision)))
      return informer
    })
    void this.#load(what)
  }

  catchUp (): void { for (const informer of this.#informers) informer.catchUp() }

  close (): void {
    this.#closed = true
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    for (const informer of this.#informers) informer.close()
  }

  async #load (what: string): Promise<void> {
    for (const informer of this.#informers) {
      for (let failed = false; ;) {
        try {
          await informer.start()
          break
        } catch (error) {
          if (this.#closed || isStorageError(error, 'Closed')) return
          if (!failed) this.#log(`${what} could not be loaded, retrying`, error)
          failed = true
          await new Promise(resolve => { setTimeout(resolve, RETRY_MS).unref() })
        }
      }
    }
    this.loaded = true
  }
}
