/** What becomes of one object that has owners, or waits for its dependents: one step at a time. */
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../schemas/meta/metadata-rules.js'
import type { CollectedType } from './collected-type.js'
import type { Graph, GraphNode } from './graph.js'
import { sameOwners, waitsForDependents, type ObjectState, type OwnerReference } from './object-state.js'
import { OwnerInNamespace, type OwnerCheck, type Owners } from './owners.js'
import { deleteObject, patchMetadata, type Outcome, type Policy, type Requests } from './requests.js'

/** `again`: it has changed meanwhile. `gone`: it does not exist any more. */
export type Result = 'done' | 'again' | 'gone'

export interface CollectTools {
  readonly graph: Graph
  readonly owners: Pick<OwnerCheck, 'classify'>
  readonly requests: Requests
  /** Says that an owner was looked for in the wrong namespace. */
  readonly reportNamespace: (type: CollectedType, object: ObjectState, reference: OwnerReference) => Promise<void>
  /** Resolves when the graph has everything that was acknowledged before. */
  readonly catchUp: () => Promise<void>
  /** Puts an object in line for `collect`. @returns whether there was room */
  readonly enqueue: (uid: string) => boolean
}

/** Deletes that lose against other writes before the object is looked at anew. */
const MAX_CONFLICTS = 5

/** @throws Refused, UnknownKind, errors of reads: it is to be tried again */
export async function collect (
  tools: CollectTools, type: CollectedType, uid: string, place: ObjectPlace
): Promise<Result> {
  const object = await type.read(place)
  if (object?.uid !== uid) return 'gone'
  if (waitsForDependents(object)) return await endWait(tools, type, object)
  if (object.isTerminating || object.owners.length === 0) return 'done'
  let owners: Owners
  try {
    owners = await tools.owners.classify(object)
  } catch (error) {
    if (!(error instanceof OwnerInNamespace)) throw error
    await reportMisplaced(tools, type, object, object.owners)
    return 'done'
  }
  await reportMisplaced(tools, type, object, owners.absent)
  return await decide(tools, type, object, owners)
}

type ObjectPlace = Parameters<CollectedType['read']>[0]

async function decide (
  tools: CollectTools, type: CollectedType, object: ObjectState, { present, absent, waiting }: Owners
): Promise<Result> {
  if (present.length > 0) {
    if (absent.length + waiting.length === 0) return 'done'
    return resultOf(await patchMetadata(tools.requests, type, object, { ownerReferences: present }))
  }
  const dependents = tools.graph.dependents(object.uid)
  if (waiting.length === 0 || dependents.size === 0) return await removed(tools, type, object, policyOf(object))
  // Objects that own each other would wait for one another for ever, so this one stops blocking its owners.
  if (someWaits(dependents) && object.owners.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true)) {
    const ownerReferences = object.owners.map(owner => ({ ...owner, blockOwnerDeletion: false }))
    const outcome = await patchMetadata(tools.requests, type, object, { ownerReferences })
    return outcome === 'done' ? 'again' : resultOf(outcome)
  }
  return await removed(tools, type, object, 'Foreground')
}

function someWaits (dependents: Iterable<GraphNode>): boolean {
  for (const { waitsForDependents } of dependents) if (waitsForDependents) return true
  return false
}

/** As the object itself asks for by its finalizers. */
const policyOf = ({ finalizers }: ObjectState): Policy => finalizers.includes(ORPHAN_FINALIZER)
  ? 'Orphan'
  : finalizers.includes(FOREGROUND_FINALIZER) ? 'Foreground' : 'Background'

/** Deletes an object whose owners are what they were; another change of it does not matter. */
async function removed (
  { requests }: CollectTools, type: CollectedType, object: ObjectState, policy: Policy
): Promise<Result> {
  let current = object
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
    const outcome = await deleteObject(requests, type, current, policy)
    if (outcome !== 'conflict') return resultOf(outcome)
    const latest = await type.read(object)
    if (latest?.uid !== object.uid) return 'gone'
    if (latest.isTerminating || !sameOwners(latest.owners, object.owners) || policyOf(latest) !== policyOf(object)) {
      return 'again'
    }
    current = latest
  }
  return 'again'
}

/** An object that waits goes when nothing blocks it any longer; what blocks it goes before it. */
async function endWait (tools: CollectTools, type: CollectedType, object: ObjectState): Promise<Result> {
  const { graph, requests, catchUp, enqueue } = tools
  if (!hasBlocking(graph, object.uid)) await catchUp()
  if (hasBlocking(graph, object.uid)) {
    for (const { uid, isTerminating } of graph.blocking(object.uid)) if (!isTerminating && !enqueue(uid)) break
    return 'done'
  }
  const finalizers = object.finalizers.filter(finalizer => finalizer !== FOREGROUND_FINALIZER)
  return resultOf(await patchMetadata(requests, type, object, { finalizers }))
}

const hasBlocking = (graph: Graph, uid: string): boolean => graph.blocking(uid).next().done !== true

const resultOf = (outcome: Outcome): Result => outcome === 'conflict' ? 'again' : outcome

async function reportMisplaced (
  { graph, reportNamespace }: CollectTools, type: CollectedType, object: ObjectState,
  references: readonly OwnerReference[]
): Promise<void> {
  for (const reference of references) {
    const owner = graph.find(reference.uid)
    if (owner?.type.namespaced === true && owner.namespace !== object.namespace) {
      await reportNamespace(type, object, reference)
    }
  }
}
