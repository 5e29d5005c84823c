/** Status conditions of a namespace that is being emptied, with upstream's texts. */
import { shorten } from '../schemas/quote.js'

export interface RemainingContents {
  /** Number of remaining objects by `RESOURCE.GROUP`, and of those held by each finalizer. */
  readonly resources: Map<string, number>
  readonly finalizers: Map<string, number>
  /** Why group versions of extension servers could not be discovered. */
  readonly undiscovered: Map<string, string>
  /** Why objects of extension servers could not be deleted. */
  readonly failures: string[]
}

export const nothingRemaining = (): RemainingContents =>
  ({ resources: new Map(), finalizers: new Map(), undiscovered: new Map(), failures: [] })

const MAX_MESSAGE = 2000

export interface Condition {
  type: string, status: string, lastTransitionTime?: string | undefined, reason?: string | undefined,
  message?: string | undefined
}

export function count (counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

const countsText = (counts: Map<string, number>, words: (name: string, many: number) => string): string =>
  [...counts].sort(([a], [b]) => a < b ? -1 : 1).map(([name, many]) => words(name, many)).join(', ')

/** The deletion's conditions besides all others; unchanged ones keep their time. */
export function conditionsOf (
  { resources, finalizers, undiscovered, failures }: RemainingContents, before: readonly Condition[], now: string
): Condition[] {
  const content = resources.size > 0
    ? {
        status: 'True', reason: 'SomeResourcesRemain',
        message: 'Some resources are remaining: ' +
        `${countsText(resources, (name, many) => `${name} has ${many} resource instances`)}`
      }
    : { status: 'False', reason: 'ContentRemoved', message: 'All content successfully removed' }
  const finalizing = finalizers.size > 0
    ? {
        status: 'True', reason: 'SomeFinalizersRemain',
        message: 'Some content in the namespace has finalizers remaining: ' +
        `${countsText(finalizers, (name, many) => `${name} in ${many} resource instances`)}`
      }
    : { status: 'False', reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' }
  const failing = [...undiscovered]
    .sort(([a], [b]) => a < b ? -1 : 1).map(([groupVersion, reason]) => `${groupVersion}: ${reason}`).join(', ')
  const discovery = undiscovered.size > 0
    ? {
        status: 'True', reason: 'DiscoveryFailed', message: shorten(
      `Discovery failed for some groups, ${undiscovered.size} failing: unable to retrieve the complete list of ` +
        `server APIs: ${failing}`,
      MAX_MESSAGE
        )
      }
    : { status: 'False', reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' }
  const deletion = failures.length > 0
    ? {
        status: 'True', reason: 'ContentDeletionFailed', message: shorten(
      `Failed to delete all resource types, ${failures.length} remaining: ${[...failures].sort().join(', ')}`,
      MAX_MESSAGE
        )
      }
    : {
        status: 'False', reason: 'ContentDeleted',
        message: 'All content successfully deleted, may be waiting on finalization'
      }
  const desired: Condition[] = [
    { type: 'NamespaceDeletionDiscoveryFailure', ...discovery },
    {
      type: 'NamespaceDeletionGroupVersionParsingFailure', status: 'False', reason: 'ParsedGroupVersions',
      message: 'All legacy orch types successfully parsed'
    },
    { type: 'NamespaceDeletionContentFailure', ...deletion },
    { type: 'NamespaceContentRemaining', ...content },
    { type: 'NamespaceFinalizersRemaining', ...finalizing }
  ]
  const others = before.filter(({ type }) => !desired.some(condition => condition.type === type))
  return [
    ...others, ...desired.map(condition => ({ ...condition, lastTransitionTime: timeOf(condition, before) ?? now }))
  ]
}

/** The time of a condition that has not changed. */
const timeOf = ({ type, status }: Condition, before: readonly Condition[]): string | undefined => {
  const old = before.find(condition => condition.type === type)
  return old?.status === status ? old.lastTransitionTime : undefined
}
