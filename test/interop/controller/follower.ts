/**
 * An informer that restarts after an error, as authors of controllers must ensure, with its objects indexed by the
 * owner that controls them.
 */
import {
  makeInformer, type Informer, type KubeConfig, type ObjectCache, type KubernetesObject, type KubernetesListObject
} from '@kubernetes/client-node'

const PAUSE = 100

export const nameOf = ({ metadata }: KubernetesObject): string => metadata?.name ?? ''
export const uidOf = ({ metadata }: KubernetesObject): string => metadata?.uid ?? ''
/** The owner that controls it. */
export const ownerOf = ({ metadata }: KubernetesObject): { kind: string, name: string, uid: string } | undefined =>
  metadata?.ownerReferences?.find(({ controller }) => controller === true)

export class Follower<T extends KubernetesObject> {
  readonly #informer: Informer<T> & ObjectCache<T>
  readonly #owned = new Map<string, Map<string, T>>()
  #stopped = false
  #pause: NodeJS.Timeout | undefined
  /** All events, to check afterwards that none was repeated or lost. */
  readonly history: Array<readonly [type: 'add' | 'delete', name: string, uid: string]> = []

  constructor (
    config: KubeConfig, path: string, list: () => Promise<KubernetesListObject<T>>, changed: (object: T) => void
  ) {
    this.#informer = makeInformer<T>(config, path, list)
    for (const verb of ['add', 'update', 'delete'] as const) {
      this.#informer.on(verb as 'add', object => {
        if (verb !== 'update') this.history.push([verb, nameOf(object), uidOf(object)])
        this.#index(object, verb !== 'delete')
        changed(object)
      })
    }
    this.#informer.on('error', () => { this.#again() })
  }

  #index (object: T, there: boolean): void {
    const { uid } = ownerOf(object) ?? { uid: '' }
    let siblings = this.#owned.get(uid)
    if (siblings === undefined) this.#owned.set(uid, siblings = new Map())
    if (there) siblings.set(nameOf(object), object)
    else siblings.delete(nameOf(object))
  }

  /** Resolves when its first list has arrived, or has failed and will be retried. */
  async start (): Promise<void> {
    await this.#informer.start().catch(() => { this.#again() })
  }

  #again (): void {
    if (this.#stopped || this.#pause !== undefined) return
    this.#pause = setTimeout(() => {
      this.#pause = undefined
      void this.start()
    }, PAUSE)
  }

  async stop (): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#pause)
    await this.#informer.stop()
  }

  get (namespace: string, name: string): T | undefined { return this.#informer.get(name, namespace) }
  list (): readonly T[] { return this.#informer.list() }
  /** The objects that the owner with that uid controls. */
  ownedBy (uid: string): T[] { return [...this.#owned.get(uid)?.values() ?? []] }
}
