/**
 * PodDisruptionBudget: how many pods must stay available. Stored as v1beta1. An empty selector matches no pod in
 * v1beta1 and every pod in v1, so each version expresses the empty selector of the other by a special label.
 */
import { age, integer, name, text, type Column } from '../../columns.js'
import { sameFields } from '../../conversion.js'
import type { LabelSelector } from '../../meta/options.js'
import { pathSegment } from '../../names.js'
import { resource } from '../../resource.js'
import { validateBudgetConditions, validateBudgetStatus } from './rules/poddisruptionbudgets.js'
import * as v1 from './v1.js'
import * as v1beta1 from './v1beta1.js'

const LABEL = 'pdb.orch.io/deprecated-v1beta1-empty-selector-match'

const isEmpty = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean =>
  Object.keys(matchLabels).length === 0 && matchExpressions.length === 0

/** Whether the selector requires only that the label exists, or does not. */
function isMark ({ matchLabels = {}, matchExpressions = [] }: LabelSelector, operator: string): boolean {
  const [only, ...others] = matchExpressions
  return Object.keys(matchLabels).length === 0 && others.length === 0 && only?.key === LABEL &&
    only.operator === operator && (only.values ?? []).length === 0
}

/** Removes the label, which has no meaning beside other requirements. */
function withoutMark (selector: LabelSelector): LabelSelector {
  const { matchLabels, matchExpressions } = selector
  if (!(matchLabels !== undefined && LABEL in matchLabels) && !matchExpressions?.some(({ key }) => key === LABEL)) {
    return selector
  }
  const { [LABEL]: _, ...labels } = matchLabels ?? {}
  return {
    ...(Object.keys(labels).length > 0 ? { matchLabels: labels } : {}),
    ...(matchExpressions === undefined ? {} : { matchExpressions: matchExpressions.filter(({ key }) => key !== LABEL) })
  }
}

/**
 * Converts empty selectors.
 * @param empty operator for an empty selector; `becomesEmpty`: operator that stands for one
 */
const translated = (empty: string, becomesEmpty: string) =>
  (selector: LabelSelector | undefined): LabelSelector | undefined => {
    if (selector === undefined) return undefined
    if (isEmpty(selector)) return { matchExpressions: [{ key: LABEL, operator: empty }] }
    return isMark(selector, becomesEmpty) ? {} : withoutMark(selector)
  }
const toV1 = translated('Exists', 'DoesNotExist')
const toV1beta1 = translated('DoesNotExist', 'Exists')

const same = sameFields(v1.PodDisruptionBudget, v1beta1.PodDisruptionBudget)
const selecting = (budget: v1.PodDisruptionBudget, translate: typeof toV1): v1.PodDisruptionBudget =>
  ({ ...budget, spec: { ...budget.spec, selector: translate(budget.spec.selector) } })

const NOT_SAID = 'N/A'

const columns: ReadonlyArray<Column<v1beta1.PodDisruptionBudget>> = [
  name,
  text('Min Available', 'Pods that must stay.', ({ spec }) => String(spec.minAvailable ?? NOT_SAID)),
  text('Max Unavailable', 'Pods that may be missing.', ({ spec }) => String(spec.maxUnavailable ?? NOT_SAID)),
  integer('Allowed Disruptions', 'Number of pods that may be evicted now.', ({ status }) => status.disruptionsAllowed),
  age
]

export const podDisruptionBudgets = resource(v1beta1.PodDisruptionBudget, {
  plural: 'poddisruptionbudgets',
  shortNames: ['pdb'],
  namespaced: true,
  subresources: [{
    name: 'status',
    verbs: ['get', 'patch', 'update'],
    changes: ['status'],
    notOnUpdate: ['generateName', 'finalizers'],
    validateUpdate: (budget, _old, report) => {
      validateBudgetConditions(budget as v1beta1.PodDisruptionBudget, report)
    }
  }],
  unconditionalUpdate: false,
  nameRule: pathSegment,
  anyFinalizer: true,
  notOnUpdate: ['generateName'],
  generation: ({ spec }) => spec,
  columns,
  deprecation: { deprecated: '1.21', removed: '1.25', replacement: 'policy/v1 PodDisruptionBudget' },
  others: [{
    message: v1.PodDisruptionBudget,
    toStored: budget => selecting(same.toStored(budget) as v1.PodDisruptionBudget, toV1beta1),
    fromStored: budget => selecting(same.fromStored(budget) as v1.PodDisruptionBudget, toV1),
    rules: {
      update: (budget, _old, report, subresource) => {
        if (subresource === 'status') validateBudgetStatus(budget, report)
      }
    }
  }]
})
