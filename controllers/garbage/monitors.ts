/** A monitor for each type that can be followed, while there is such a type. */
import type { CollectedType } from './collected-type.js'
import { Monitor, type MonitorOptions } from './monitor.js'
import type { Types } from './types.js'

/** How long the objects of an extension server may be unknown before that holds nothing up any longer. */
const UNKNOWN_MS = 30_000

interface Followed { readonly monitor: Monitor, readonly since: number }

export class Monitors {
  readonly #types: Pick<Types, 'followed'>
  readonly #options: MonitorOptions
  readonly #all = new Map<CollectedType, Followed>()
  #catchingUp: Promise<void> | undefined

  constructor (types: Pick<Types, 'followed'>, options: MonitorOptions) {
    this.#types = types
    this.#options = options
  }

  /** Whether all objects are known, but those of extension servers that have not answered for a while. */
  get areListed (): boolean { return this.#unlisted() === undefined }

  /** Follows the types that there are now. @returns whether others were followed before */
  async update (): Promise<boolean> {
    const types = this.#types.followed()
    let changed = false
    const replaced = new Set<CollectedType>()
    for (const [type, { monitor }] of [...this.#all]) {
      if (types.has(type)) continue
      this.#all.delete(type)
      changed = true
      const next = [...types].find(({ label }) => label === type.label)
      if (next?.isOwn !== type.isOwn) {
        await monitor.retire()
        continue
      }
      await monitor.close()
      this.#options.graph.move(type, next)
      replaced.add(next)
    }
    for (const type of types) {
      if (this.#all.has(type)) continue
      const monitor = new Monitor(type, this.#options, replaced.has(type))
      this.#all.set(type, { monitor, since: performance.now() })
      changed = true
      monitor.start()
    }
    return changed
  }

  /**
   * Resolves when the graph has everything that was acknowledged before the call. Calls of one turn share the work.
   * @throws Error if not all objects are known, or changes arrive too late
   */
  catchUp (): Promise<void> {
    return this.#catchingUp ??= new Promise<void>(resolve => { setImmediate(resolve) }).then(async () => {
      this.#catchingUp = undefined
      const unlisted = this.#unlisted()
      if (unlisted !== undefined) throw new Error(`the objects of ${unlisted.label} are not known yet`)
      await Promise.all([...this.#all.values()].map(({ monitor }) => monitor.catchUp()))
    })
  }

  async close (): Promise<void> {
    const all = [...this.#all.values()]
    this.#all.clear()
    await Promise.all(all.map(({ monitor }) => monitor.close()))
  }

  #unlisted (): CollectedType | undefined {
    for (const [type, { monitor, since }] of this.#all) {
      if (!monitor.isListed && (type.isOwn || performance.now() - since < UNKNOWN_MS)) return type
    }
    return undefined
  }
}
