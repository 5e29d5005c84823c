/**
 * Which owners of an object exist. Nothing is concluded from the graph, which may be late: each owner is read, and is
 * the one that a reference names only with its UID, in its kind, under its name and in its namespace. What is absent
 * stays absent, as no UID is given twice.
 */
import type { CollectedType } from './collected-type.js'
import { waitsForDependents, type ObjectState, type OwnerReference } from './object-state.js'
import type { Types } from './types.js'

export interface Owners {
  readonly present: readonly OwnerReference[]
  readonly absent: readonly OwnerReference[]
  /** Present, and being deleted after their dependents. */
  readonly waiting: readonly OwnerReference[]
}

/** An owner of a kind that no server serves at present: it may exist. */
export class UnknownKind extends Error {
  constructor ({ apiVersion, kind }: OwnerReference) {
    super(`owners of kind ${kind} in ${apiVersion} are unknown, their dependents stay`)
  }
}

/** A cluster-scoped object cannot be owned by one in a namespace: it is never collected. */
export class OwnerInNamespace extends Error {}

const MAX_ABSENT = 10_000

export class OwnerCheck {
  readonly #types: Pick<Types, 'resolve'>
  /** The latest ones last. */
  readonly #absent = new Set<string>()

  constructor (types: Pick<Types, 'resolve'>) { this.#types = types }

  /** @throws UnknownKind, OwnerInNamespace; errors of reads */
  async classify ({ namespace, owners }: Pick<ObjectState, 'namespace' | 'owners'>): Promise<Owners> {
    const [present, absent, waiting]: [OwnerReference[], OwnerReference[], OwnerReference[]] = [[], [], []]
    for (const reference of owners) {
      const owner = await this.#read(reference, namespace)
      if (owner === undefined) absent.push(reference)
      else if (waitsForDependents(owner)) waiting.push(reference)
      else present.push(reference)
    }
    return { present, absent, waiting }
  }

  /**
   * Notes that an object has been deleted, while its kind is known: it may go together with its type. Nothing is noted
   * unless that is certain, as an object that cannot be read any longer is not listed either. Never rejects.
   */
  async confirmDeleted (type: CollectedType, object: Pick<ObjectState, 'namespace' | 'name' | 'uid'>): Promise<void> {
    const { namespace, name, uid } = object
    if (await type.isThere(object).catch(() => true)) return
    for (const { apiVersion, kind } of type.kinds) this.#note(identityOf({ apiVersion, kind, name, uid }, namespace))
  }

  async #read (reference: OwnerReference, namespace: string): Promise<ObjectState | undefined> {
    const { apiVersion, kind, name, uid } = reference
    if ([namespace, ''].some(place => this.#absent.has(identityOf(reference, place)))) return undefined
    const type = this.#types.resolve(apiVersion, kind)
    if (type === undefined) throw new UnknownKind(reference)
    if (type.namespaced && namespace === '') throw new OwnerInNamespace()
    const place = { namespace: type.namespaced ? namespace : '', name }
    const owner = await type.read(place)
    if (owner?.uid === uid) return owner
    this.#note(identityOf(reference, place.namespace))
    return undefined
  }

  #note (identity: string): void {
    this.#absent.delete(identity)
    this.#absent.add(identity)
    const [oldest = ''] = this.#absent.size > MAX_ABSENT ? this.#absent : []
    this.#absent.delete(oldest)
  }
}

const identityOf = ({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): string =>
  `${apiVersion} ${kind} ${namespace}/${name} ${uid}`
