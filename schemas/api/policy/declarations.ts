/** PodDisruptionBudget and Eviction, for both versions of policy. */
import { Condition } from '../../meta/answers.js'
import { DeleteOptions } from '../../meta/v1.js'
import { IntOrString } from '../../meta/int-or-string.js'
import { LabelSelector } from '../../meta/options.js'
import { Time } from '../../meta/scalars.js'
import { apiPackage, int32, int64, list, map, one, string } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { validateBudget } from './rules/poddisruptionbudgets.js'

/** The messages of one version. */
export function declare (version: 'v1' | 'v1beta1') {
  const { kind, message } = apiPackage('policy', version, `io.orch.api.policy.${version}`)

  const PodDisruptionBudgetSpec =
    message('PodDisruptionBudgetSpec', 'Which pods are covered, and how many must stay.', {
      minAvailable: one(
        1, 'Pods that must stay after an eviction, number or percentage.', IntOrString, { pointer: true }
      ),
      selector: one(2, 'Labels of the pods that are covered.', LabelSelector, {
        pointer: true, ...(version === 'v1' ? { patchStrategy: 'replace' } as const : {})
      }),
      maxUnavailable: one(
        3, 'Pods that may be missing after an eviction, number or percentage.', IntOrString, { pointer: true }
      ),
      unhealthyPodEvictionPolicy: string(4, 'Whether unready pods may go whatever is left; by default they may not.', {
        pointer: true, values: ['IfHealthyBudget', 'AlwaysAllow'], closed: true, since: '1.26'
      })
    }, { validate: (spec, at, report) => { validateBudget(spec, at, report) } })

  const PodDisruptionBudgetStatus = message('PodDisruptionBudgetStatus', 'What is observed of a disruption budget.', {
    observedGeneration: int64(1, 'Generation of the spec the controller last acted on.'),
    disruptedPods: map(2, 'When pods were evicted that still exist, by name.', Time),
    disruptionsAllowed: int32(3, 'Number of pods that may be evicted now.', { required: true }),
    currentHealthy: int32(4, 'Number of pods that are healthy.', { required: true }),
    desiredHealthy: int32(5, 'Least number of pods that must be healthy.', { required: true }),
    expectedPods: int32(6, 'Number of pods the budget counts.', { required: true }),
    conditions: list(7, 'What was found about the budget, such as DisruptionAllowed.', Condition, {
      listType: 'map', listMapKeys: ['type'], patchStrategy: 'merge', patchMergeKey: 'type'
    })
  })

  const PodDisruptionBudget = kind('PodDisruptionBudget', 'How many of a set of pods may be taken down on purpose.', {
    metadata,
    spec: one(2, 'Which pods are covered, and how many must stay.', PodDisruptionBudgetSpec),
    status: one(3, 'What is observed of the budget; written by the system.', PodDisruptionBudgetStatus)
  })

  const Eviction = kind('Eviction', 'Asks for a pod to be removed, if its disruption budget allows.', {
    metadata,
    deleteOptions: one(2, 'Options of the deletion.', DeleteOptions, { pointer: true })
  })

  return { PodDisruptionBudgetSpec, PodDisruptionBudgetStatus, PodDisruptionBudget, Eviction }
}
