/** What the status of a namespace that is being emptied says is left in it, in the words that clients know. */
import { now } from '../registry/operations/context.js'

/** How many objects are left, by `RESOURCE.GROUP`, and how many hold each finalizer. */
export interface Left { readonly resources: Map<string, number>, readonly finalizers: Map<string, number> }

export interface Condition { type: string, status: string, lastTransitionTime?: string | undefined, reason?: string | undefined, message?: string | undefined }

export function count (counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

const countsText = (counts: Map<string, number>, words: (name: string, many: number) => string): string => [...counts].sort(([a], [b]) => a < b ? -1 : 1).map(([name, many]) => words(name, many)).join(', ')

/** Those of the deletion, beside whatever others there are; one that has not changed keeps its time. */
export function conditionsOf ({ resources, finalizers }: Left, before: readonly Condition[]): Condition[] {
  const remaining = resources.size > 0
    ? { status: 'True', reason: 'SomeResourcesRemain', message: `Some resources are remaining: ${countsText(resources, (name, many) => `${name} has ${many} resource instances`)}` }
    : { status: 'False', reason: 'ContentRemoved', message: 'All content successfully removed' }
  const held = finalizers.size > 0
    ? { status: 'True', reason: 'SomeFinalizersRemain', message: `Some content in the namespace has finalizers remaining: ${countsText(finalizers, (name, many) => `${name} in ${many} resource instances`)}` }
    : { status: 'False', reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' }
  const wanted: Condition[] = [
    { type: 'NamespaceDeletionDiscoveryFailure', status: 'False', reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
    { type: 'NamespaceDeletionGroupVersionParsingFailure', status: 'False', reason: 'ParsedGroupVersions', message: 'All legacy orch types successfully parsed' },
    { type: 'NamespaceDeletionContentFailure', status: 'False', reason: 'ContentDeleted', message: 'All content successfully deleted, may be waiting on finalization' },
    { type: 'NamespaceContentRemaining', ...remaining },
    { type: 'NamespaceFinalizersRemaining', ...held }
  ]
  const others = before.filter(({ type }) => !wanted.some(one => one.type === type))
  return [...others, ...wanted.map(one => ({ ...one, lastTransitionTime: timeOf(one, before) }))]
}

const timeOf = ({ type, status }: Condition, before: readonly Condition[]): string => {
  const old = before.find(one => one.type === type)
  return old?.status === status && old.lastTransitionTime !== undefined ? old.lastTransitionTime : now()
}
