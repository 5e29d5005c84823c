/** What the graph lets one suspect; only what is read live decides. */
import type { Graph, GraphNode } from './graph.js'
import type { OwnerReference } from './object-state.js'

/** Whether an object may have to be collected, or may end its wait for dependents. */
export function isSuspect (graph: Graph, node: GraphNode): boolean {
  if (node.waitsForDependents) return graph.blocking(node.uid).next().done === true
  return !node.isTerminating && node.owners.some(reference => mayBeCollectedWith(graph, node, reference))
}

/** Whether no object is known that the reference names. */
export const isDangling = (graph: Graph, node: GraphNode): boolean => !node.isTerminating && node.owners.length > 0 &&
  node.owners.every(reference => !isOwner(graph.find(reference.uid), node, reference))

function mayBeCollectedWith (graph: Graph, node: GraphNode, reference: OwnerReference): boolean {
  const owner = graph.find(reference.uid)
  return !isOwner(owner, node, reference) || owner?.waitsForDependents === true
}

function isOwner (
  owner: GraphNode | undefined, { namespace }: GraphNode, { apiVersion, kind, name }: OwnerReference
): boolean {
  return owner !== undefined && owner.name === name && (!owner.type.namespaced || owner.namespace === namespace) &&
    owner.type.kinds.some(known => known.apiVersion === apiVersion && known.kind === kind)
}
