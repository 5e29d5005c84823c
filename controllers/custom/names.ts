/**
 * Names of custom resources: accepted unless another definition of the group, or a built-in resource, has them. With
 * upstream's conditions.
 */
import type {
  CustomResourceDefinition, CustomResourceDefinitionCondition as Condition, CustomResourceDefinitionNames as Names
} from '../../schemas/api/apiextensions/customresourcedefinitions.js'

/** Names in use in a group. */
export interface UsedNames {
  readonly resources: Pick<ReadonlySet<string>, 'has'>, readonly kinds: Pick<ReadonlySet<string>, 'has'>
}

export interface NamesVerdict {
  readonly acceptedNames: Names
  readonly conditions: readonly Condition[]
}

type Finding = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

const ESTABLISHED: Finding = {
  type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted'
}
const NOT_ACCEPTED: Finding = {
  type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted'
}
const BAD_BUNDLE = 'InvalidCABundle'
const NO_CONFLICTS: Finding = {
  type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found'
}

export const conditionOf = ({ status }: CustomResourceDefinition, type: string): Condition | undefined =>
  status.conditions?.find(condition => condition.type === type)
export const isTrue = (definition: CustomResourceDefinition, type: string): boolean =>
  conditionOf(definition, type)?.status === 'True'
/** Whether the objects of a definition are served. */
export const isServed = (definition: CustomResourceDefinition): boolean =>
  (isTrue(definition, 'NamesAccepted') && conditionOf(definition, 'Established')?.reason !== BAD_BUNDLE) ||
  isTrue(definition, 'Established')

/**
 * Decides which names of a definition are accepted. A definition that was established once stays so, under the names it
 * had.
 * @param bundle what is wrong with the certificates of its conversion webhook, which keeps it from being established
 */
export function acceptNames (
  { spec: { names }, status }: CustomResourceDefinition, used: UsedNames, now: string, bundle?: string
): NamesVerdict {
  const accepted: Names = status.acceptedNames ?? { plural: '', kind: '' }
  const next = { ...accepted }
  let conflict: Finding | undefined
  const consider = (reason: string, taken: string | undefined, accept: () => void): void => {
    if (taken === undefined) accept()
    else conflict = { type: 'NamesAccepted', status: 'False', reason, message: taken }
  }
  const takenName = (name = '', own = '', others: UsedNames['kinds']): string | undefined =>
    name === own || !others.has(name) ? undefined : `${JSON.stringify(name)} is already in use`
  consider('PluralConflict', takenName(names.plural, accepted.plural, used.resources), () => {
    next.plural = names.plural
  })
  consider('SingularConflict', takenName(names.singular, accepted.singular, used.resources), () => {
    next.singular = names.singular
  })
  const short = (names.shortNames ?? []).filter(name => accepted.shortNames?.includes(name) !== true &&
    used.resources.has(name))
  consider(
    'ShortNamesConflict',
    short.length === 0 ? undefined : messageOf(short.map(name => `${JSON.stringify(name)} is already in use`)),
    () => { next.shortNames = names.shortNames }
  )
  consider('KindConflict', takenName(names.kind, accepted.kind, used.kinds), () => { next.kind = names.kind })
  consider('ListKindConflict', takenName(names.listKind, accepted.listKind, used.kinds), () => {
    next.listKind = names.listKind
  })
  next.categories = names.categories
  const established = status.conditions?.find(({ type }) => type === 'Established')
  const before = established?.reason === BAD_BUNDLE ? undefined : established
  const blocked: Finding | undefined = bundle === undefined
    ? undefined
    : { type: 'Established', status: 'False', reason: BAD_BUNDLE, message: `its caBundle: ${bundle}` }
  const verdict = [
    conflict ?? NO_CONFLICTS,
    before?.status === 'True' ? before : blocked ?? (conflict === undefined ? ESTABLISHED : before ?? NOT_ACCEPTED)
  ]
  return {
    acceptedNames: next, conditions: verdict
      .reduce<readonly Condition[]>((all, finding) => withCondition(all, finding, now), status.conditions ?? [])
  }
}

const messageOf = (messages: readonly string[]): string =>
  messages.length === 1 ? messages.join() : `[${messages.join(', ')}]`

/** Sets a condition. Its transition time changes only with its status. */
export function withCondition (conditions: readonly Condition[], finding: Finding, now: string): Condition[] {
  const old = conditions.find(({ type }) => type === finding.type)
  const { type, status, reason, message } = finding
  const next: Condition = {
    type, status, lastTransitionTime: old?.status === status ? old.lastTransitionTime ?? now : now, reason, message
  }
  return old === undefined ? [...conditions, next] : conditions.map(condition => condition === old ? next : condition)
}
