/**
 * All objects by UID, and the dependents of each. Pure memory: what follows from a change is asked of it, not done by
 * it. References are as objects state them, so an owner may be missing or be another object than its reference says.
 */
import type { CollectedType } from './collected-type.js'
import {
  orphansDependents, sameOwners, waitsForDependents, type ObjectState, type OwnerReference
} from './object-state.js'

export class GraphNode {
  owners: readonly OwnerReference[] = []
  isTerminating = false
  waitsForDependents = false
  orphansDependents = false
  /** The collector's round in which it is not tried again. */
  putOff = -1

  readonly uid: string
  readonly namespace: string
  readonly name: string

  constructor (public type: CollectedType, readonly key: string, { uid, namespace, name }: ObjectState) {
    this.uid = uid
    this.namespace = namespace
    this.name = name
  }

  /** Takes what may change. */
  take (state: ObjectState): void {
    if (!sameOwners(this.owners, state.owners)) this.owners = state.owners
    this.isTerminating = state.isTerminating
    this.waitsForDependents = waitsForDependents(state)
    this.orphansDependents = orphansDependents(state)
  }
}

export interface Difference {
  readonly node: GraphNode
  /** It is new, or has other owners than before. */
  readonly owned: boolean
  /** It has begun to wait for its dependents. */
  readonly waits: boolean
  /** Owners that it no longer names, or no longer blocks. */
  readonly released: readonly string[]
  /** The object that had its place before, if that is another one. */
  readonly replaced: GraphNode | undefined
}

export class Graph {
  readonly #byUid = new Map<string, GraphNode>()
  readonly #dependents = new Map<string, Set<GraphNode>>()
  readonly #byType = new Map<CollectedType, Map<string, GraphNode>>()

  get size (): number { return this.#byUid.size }
  find (uid: string): GraphNode | undefined { return this.#byUid.get(uid) }
  nodes (): Iterable<GraphNode> { return this.#byUid.values() }
  keys (type: CollectedType): Iterable<string> { return this.#byType.get(type)?.keys() ?? [] }

  /** Objects that name the UID as that of an owner. */
  dependents (uid: string): ReadonlySet<GraphNode> { return this.#dependents.get(uid) ?? NONE }

  /** Dependents whose owner may not go before them, if it waits; one that names itself would wait for ever. */
  * blocking (uid: string): Generator<GraphNode, void, void> {
    for (const node of this.dependents(uid)) if (node.uid !== uid && blocks(node.owners, uid)) yield node
  }

  put (type: CollectedType, key: string, state: ObjectState): Difference {
    const nodeAtKey = this.#byType.get(type)?.get(key)
    const replaced = nodeAtKey === undefined || nodeAtKey.uid === state.uid ? undefined : nodeAtKey
    if (replaced !== undefined) this.delete(type, key)
    const before = replaced === undefined ? nodeAtKey : undefined
    const node = before ?? new GraphNode(type, key, state)
    const { owners: old, waitsForDependents: waited } = node
    node.take(state)
    if (before === undefined) this.#add(node)
    const owned = before === undefined ? node.owners.length > 0 : node.owners !== old
    if (owned) this.#relink(node, old)
    const released = owned ? releasedOf(old, node.owners) : []
    return { node, owned, replaced, waits: node.waitsForDependents && !waited, released }
  }

  /** @returns the object that was there */
  delete (type: CollectedType, key: string): GraphNode | undefined {
    const all = this.#byType.get(type)
    const node = all?.get(key)
    if (node === undefined || all === undefined) return undefined
    all.delete(key)
    if (all.size === 0) this.#byType.delete(type)
    if (this.#byUid.get(node.uid) === node) this.#byUid.delete(node.uid)
    for (const { uid } of node.owners) this.#unlink(uid, node)
    return node
  }

  /** What was of one type is of the other from now on, under the same keys. */
  move (from: CollectedType, to: CollectedType): void {
    const all = this.#byType.get(from)
    if (all === undefined) return
    this.#byType.delete(from)
    this.#byType.set(to, all)
    for (const node of all.values()) node.type = to
  }

  #add (node: GraphNode): void {
    this.#byUid.set(node.uid, node)
    let all = this.#byType.get(node.type)
    if (all === undefined) this.#byType.set(node.type, all = new Map())
    all.set(node.key, node)
  }

  #relink (node: GraphNode, old: readonly OwnerReference[]): void {
    for (const { uid } of old) this.#unlink(uid, node)
    for (const { uid } of node.owners) {
      const dependents = this.#dependents.get(uid)
      if (dependents === undefined) this.#dependents.set(uid, new Set([node]))
      else dependents.add(node)
    }
  }

  #unlink (uid: string, node: GraphNode): void {
    const dependents = this.#dependents.get(uid)
    if (dependents?.delete(node) === true && dependents.size === 0) this.#dependents.delete(uid)
  }
}

const NONE: ReadonlySet<GraphNode> = new Set()

const blockedBy = (owners: readonly OwnerReference[]): string[] =>
  owners.filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true).map(({ uid }) => uid)

/** In time that does not grow with the square of their number: an object may have thousands. */
function releasedOf (old: readonly OwnerReference[], owners: readonly OwnerReference[]): string[] {
  const blocked = new Set(blockedBy(owners))
  return blockedBy(old).filter(uid => !blocked.has(uid))
}

const blocks = (owners: readonly OwnerReference[], owner: string): boolean =>
  owners.some(({ uid, blockOwnerDeletion }) => uid === owner && blockOwnerDeletion === true)
