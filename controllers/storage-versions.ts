/**
 * Publishes in which version this server stores each built-in type (feature gate StorageVersionAPI): an entry of its
 * identity in the StorageVersion GROUP.RESOURCE. Until a type's entry is written, writes of the type wait, so that no
 * object is stored in a version that is not published. Entries of servers that have ended stay: upstream, a controller
 * of the controller manager removes them.
 */
import { storageVersions, type StorageVersion } from '../schemas/api/internal/storageversions.js'
import { timestamp } from '../schemas/meta/time.js'
import type { ResourceType } from '../schemas/resource.js'
import { types } from '../schemas/resources.js'
import { isStatusError } from '../schemas/status.js'
import { systemClock } from '../event-loop/clock.js'
import { isStorageError } from '../storage/errors.js'
import { serverContext, type WriteContext } from '../registry/write-context.js'
import { create } from '../registry/verbs/create.js'
import { change } from '../registry/verbs/change.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { AtStart } from './at-start.js'
import type { ControllerOptions } from './controller.js'
import { withServer } from './storage-version-status.js'

/** Entries that were changed or deleted are restored this often. */
const INTERVAL_MS = 10 * 60_000

const compare = (one: string, other: string): number => one < other ? -1 : Number(one > other)

/** Built-in types with stored objects, by group and plural. */
const STORED: ReadonlySet<ResourceType> = new Set(types.filter(({ virtual }) => !virtual)
  .sort((one, other) => compare(one.group, other.group) || compare(one.plural, other.plural)))

export interface StorageVersionsOptions extends ControllerOptions {
  /** Name of the server's identity lease, which is written before. */
  readonly identity: string
}

export class StorageVersions extends AtStart<StorageVersionsOptions> {
  readonly #published = new Set<ResourceType>()
  readonly #failures = new Map<ResourceType, unknown>()
  #context: WriteContext | undefined
  #cancel: (() => void) | undefined

  /** True when all entries have been written once. */
  completed = false

  /**
   * True if the entry of a type is still to be written. False for custom resources and types without stored objects.
   */
  pending (type: ResourceType): boolean { return !this.completed && STORED.has(type) && !this.#published.has(type) }

  /** Why the last attempt for a type failed; undefined if none has. */
  lastFailure (type: ResourceType): unknown { return this.#failures.get(type) }

  override async close (): Promise<void> {
    this.#cancel?.()
    await super.close()
  }

  /** Resolves when all entries are written. */
  protected async make (): Promise<void> {
    const { resources } = this.options
    const store = resources.find(storageVersions.group, storageVersions.plural)
    if (store === undefined) return
    const served = new Set(resources.own().map(({ type }) => type))
    const failures: Error[] = []
    await this.each([...STORED].filter(type => served.has(type)), async type => {
      try {
        await this.#publish(store, type)
        this.#published.add(type)
        this.#failures.delete(type)
      } catch (error) {
        this.#failures.set(type, error)
        failures.push(error instanceof Error ? error : new Error(String(error)))
      }
    })
    if (this.closing.aborted) return
    const [failure] = failures
    if (failure !== undefined) throw failure
    this.completed = true
    this.#schedule()
  }

  #schedule (): void {
    this.#cancel = (this.options.clock ?? systemClock).after(INTERVAL_MS, () => {
      this.start().catch((error: unknown) => {
        if (this.closing.aborted || isStorageError(error, 'Closed')) return
        this.options.log('the storage versions could not be renewed', error)
        this.#schedule()
      })
    })
  }

  async #publish (store: ResourceStore, { stored, group, plural }: ResourceType): Promise<void> {
    const target = { namespace: '', name: `${group === '' ? 'core' : group}.${plural}` }
    const context = this.#context ??= serverContext(this.closing)
    // Stored objects are read in the stored version only.
    const own = {
      apiServerID: this.options.identity, encodingVersion: stored.apiVersion, decodableVersions: [stored.apiVersion]
    }
    for (;;) {
      try {
        await change(store, { ...target, subresource: 'status' }, context, base => {
          const version = base.copy() as StorageVersion // stores of storage versions contain these
          return { ...version, status: withServer(version, own, timestamp((this.options.clock ?? systemClock).wall())) }
        })
        return
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error
      }
      const created: StorageVersion = {
        kind: 'StorageVersion', apiVersion: storageVersions.stored.apiVersion, metadata: { name: target.name },
        spec: {}, status: {}
      }
      await create(store, created, { namespace: '', name: '' }, context).catch((error: unknown) => {
        if (!isStatusError(error, 'AlreadyExists')) throw error // another server created it
      })
    }
  }
}
