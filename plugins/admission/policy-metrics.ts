/** Metrics of admission policies and match conditions, with upstream's names. */
import type { PolicyObserver } from '../../admission/policies/observer.js'
import type { Metrics } from '../shared/metric-series.js'

const CHECK_SECONDS = [0.0000005, 0.001, 0.01, 0.1, 1]
const CONDITION_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25]
const OF_CHECK = ['policy', 'policy_binding', 'error_type']
const OF_CONDITIONS = ['name', 'kind', 'type', 'operation']

export function observePolicies ({ counter, histogram }: Metrics): PolicyObserver {
  const validations = counter(
    'apiserver_validating_admission_policy_check_total',
    'Validations that were false or failed, by policy, binding, kind of error and what came of it.',
    [...OF_CHECK, 'enforcement_action']
  )
  const validationSeconds = histogram(
    'apiserver_validating_admission_policy_check_duration_seconds',
    'Seconds of validations that were false or failed, by policy, binding, kind of error and what came of it.',
    CHECK_SECONDS, [...OF_CHECK, 'enforcement_action']
  )
  const mutations = counter(
    'apiserver_mutating_admission_policy_check_total', 'Mutations, by policy, binding and kind of error.', OF_CHECK
  )
  const mutationSeconds = histogram(
    'apiserver_mutating_admission_policy_check_duration_seconds',
    'Seconds of mutations, by policy, binding and kind of error.', CHECK_SECONDS, OF_CHECK
  )
  const conditionSeconds = histogram(
    'apiserver_admission_match_condition_evaluation_seconds',
    'Seconds of evaluations of match conditions, by name and kind of what has them, type and operation.',
    CONDITION_SECONDS, OF_CONDITIONS
  )
  const conditionErrors = counter(
    'apiserver_admission_match_condition_evaluation_errors_total',
    'Match conditions that could not be evaluated, by name and kind of what has them, type and operation.',
    OF_CONDITIONS
  )
  const exclusions = counter(
    'apiserver_admission_match_condition_exclusions_total',
    'Requests that match conditions excluded, by name and kind of what has them, type and operation.', OF_CONDITIONS
  )
  return {
    validated: ({ policy, binding }, error, action, seconds) => {
      validations.with(policy, binding, error, action).add()
      validationSeconds.with(policy, binding, error, action).observe(seconds)
    },
    mutated: ({ policy, binding }, error, seconds) => {
      mutations.with(policy, binding, error).add()
      mutationSeconds.with(policy, binding, error).observe(seconds)
    },
    conditions: ({ name, kind, type, operation }, seconds, errors, isExcluded) => {
      conditionSeconds.with(name, kind, type, operation).observe(seconds)
      if (errors > 0) conditionErrors.with(name, kind, type, operation).add(errors)
      if (isExcluded) exclusions.with(name, kind, type, operation).add()
    }
  }
}
