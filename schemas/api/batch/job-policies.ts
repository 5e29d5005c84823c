/** What failed and successful pods mean for a job. */
import { list, int32, one, string, type Static } from '../../language/declare.js'
import { message } from './package.js'

export type PodFailurePolicyOnExitCodesRequirement = Static<typeof PodFailurePolicyOnExitCodesRequirement>
export const PodFailurePolicyOnExitCodesRequirement =
  message('PodFailurePolicyOnExitCodesRequirement', 'Exit codes of containers that a rule is for.', {
    containerName: string(1, 'The container that is meant; by default all.', { pointer: true }),
    operator: string(2, 'Whether the rule is for the codes (In) or for all others (NotIn).', {
      required: true, values: ['In', 'NotIn'], closed: true, ruled: true
    }),
    values: list(3, 'The exit codes, ascending, at most 255; 0 only with NotIn.', 'int32', {
      required: true, ruled: true, listType: 'set'
    })
  })

export type PodFailurePolicyOnPodConditionsPattern = Static<typeof PodFailurePolicyOnPodConditionsPattern>
export const PodFailurePolicyOnPodConditionsPattern =
  message('PodFailurePolicyOnPodConditionsPattern', 'A condition of a failed pod that a rule is for.', {
    type: string(1, 'Type of the condition.', {
      required: true, ruled: true, values: [
        'ContainersReady', 'Initialized', 'Ready', 'PodScheduled', 'DisruptionTarget', 'PodReadyToStartContainers',
        'PodResizePending', 'PodResizeInProgress', 'AllContainersRestarting'
      ]
    }),
    status: string(2, 'Status of the condition: True, False or Unknown; by default True.', {
      values: ['True', 'False', 'Unknown'], written: true
    })
  }, { defaults: pattern => { pattern.status ||= 'True' } })

export type PodFailurePolicyRule = Static<typeof PodFailurePolicyRule>
export const PodFailurePolicyRule = message('PodFailurePolicyRule', 'What certain failures mean for the job.', {
  action: string(1, 'FailJob, FailIndex, Ignore, or Count toward the limit of retries.', {
    required: true, values: ['FailJob', 'FailIndex', 'Ignore', 'Count'], closed: true, ruled: true
  }),
  onExitCodes: one(2, 'Exit codes that the rule is for.', PodFailurePolicyOnExitCodesRequirement, { pointer: true }),
  onPodConditions: list(3, 'Conditions that the rule is for.', PodFailurePolicyOnPodConditionsPattern, {
    listType: 'atomic'
  })
})

export type PodFailurePolicy = Static<typeof PodFailurePolicy>
export const PodFailurePolicy = message('PodFailurePolicy', 'What failed pods mean for a job.', {
  rules: list(1, 'Rules, at most 20; the first that matches a failed pod counts.', PodFailurePolicyRule, {
    required: true, mayBeEmpty: true, listType: 'atomic'
  })
})

export type SuccessPolicyRule = Static<typeof SuccessPolicyRule>
export const SuccessPolicyRule = message('SuccessPolicyRule', 'Which successes are enough.', {
  succeededIndexes: string(1, 'Indexes that must all succeed, such as 1,3-5,7.', { pointer: true }),
  succeededCount: int32(2, 'Number of indexes that must succeed, of those named or of all.', { pointer: true })
})

export type SuccessPolicy = Static<typeof SuccessPolicy>
export const SuccessPolicy = message('SuccessPolicy', 'When a job has succeeded before all of its pods have.', {
  rules: list(1, 'Rules, at most 20; one that is met is enough.', SuccessPolicyRule, {
    required: true, ruled: true, listType: 'atomic'
  })
})
