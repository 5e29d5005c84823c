/** Ends the deletion of an object that leaves its dependents behind: they stop naming it, then it goes. */
import { ORPHAN_FINALIZER } from '../../schemas/meta/metadata-rules.js'
import type { CollectTools, Result } from './collect.js'
import type { CollectedType } from './collected-type.js'
import type { GraphNode } from './graph.js'
import { orphansDependents } from './object-state.js'
import { patchMetadata } from './requests.js'

/** Dependents that are changed at the same time. */
const AT_ONCE = 8

/** @throws Refused, errors of reads: it is to be tried again */
export async function orphan (
  tools: Pick<CollectTools, 'graph' | 'requests' | 'catchUp'>, type: CollectedType, uid: string,
  place: Parameters<CollectedType['read']>[0]
): Promise<Result> {
  const { graph, requests, catchUp } = tools
  const object = await type.read(place)
  if (object?.uid !== uid) return 'gone'
  if (!orphansDependents(object)) return 'done'
  await catchUp()
  const dependents = graph.dependents(uid)
  if (dependents.size > 0) {
    const changed = await releaseAll(tools, uid, [...dependents])
    // The graph learns of it by and by; an object that names it only there does not count.
    if (changed) return 'again'
  }
  const finalizers = object.finalizers.filter(finalizer => finalizer !== ORPHAN_FINALIZER)
  const outcome = await patchMetadata(requests, type, object, { finalizers })
  return outcome === 'conflict' ? 'again' : outcome
}

/** @returns whether there was anything to do */
async function releaseAll (
  { requests }: Pick<CollectTools, 'requests'>, owner: string, dependents: readonly GraphNode[]
): Promise<boolean> {
  const queue = dependents.values()
  let changed = false
  let failure: unknown
  const work = async (): Promise<void> => {
    for (const node of queue) {
      try {
        if (await release(requests, owner, node)) changed = true
      } catch (error) {
        failure ??= error
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  if (failure !== undefined) throw failure as Error
  return changed
}

/** @returns false if the object does not name that owner */
async function release (
  requests: CollectTools['requests'], owner: string, { type, uid, namespace, name }: GraphNode
): Promise<boolean> {
  const object = await type.read({ namespace, name })
  if (object?.uid !== uid || !object.owners.some(({ uid }) => uid === owner)) return false
  const ownerReferences = object.owners.filter(({ uid }) => uid !== owner)
  await patchMetadata(requests, type, object, { ownerReferences })
  return true
}
