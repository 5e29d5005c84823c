/**
 * Match conditions of a webhook: it is asked only where all are true of the review. A false one means no opinion; an
 * error without a false one means what the failure policy says.
 */
import type { Attributes, Authorizer, Ruling } from '../../auth/authorizer.js'
import { runStepsWithinBudget } from '../../event-loop/turns.js'
import { MAX_COST_OF_CONDITIONS } from '../../expressions/meter.js'
import { CostExceeded } from '../../expressions/program.js'
import { Fault } from '../../expressions/values.js'
import { ACCESS_REVIEW } from '../../schemas/api/apiserver/match-conditions.js'
import type { Metrics } from '../shared/metric-series.js'
import type { Outside } from '../shared/outside.js'
import { reviewedSpec, type FailurePolicy } from './webhook.js'

const NO_OPINION: Ruling = { decision: 'NoOpinion' }

export interface ConditionsOptions {
  readonly name: string
  readonly conditions: readonly string[]
  readonly failurePolicy: FailurePolicy
  /** What they are about, as the webhook is shown it. */
  readonly shown: Outside['accessReview']
}

export function conditional (
  authorizer: Authorizer, { name, conditions, failurePolicy, shown }: ConditionsOptions, metrics: Metrics
): Authorizer {
  if (conditions.length === 0) return authorizer
  const programs = conditions.map(text => ACCESS_REVIEW.compile(text))
  const excluded = metrics.counter(
    'apiserver_authorization_match_condition_exclusions_total', 'Reviews that conditions kept from a webhook.',
    ['type', 'name']
  ).with('Webhook', name)
  const failed = metrics.counter(
    'apiserver_authorization_match_condition_evaluation_errors_total', 'Conditions that could not be evaluated.',
    ['type', 'name']
  ).with('Webhook', name)

  /** @returns an Error if a condition failed and none is false */
  const matches = async (attributes: Attributes): Promise<boolean | Error> => {
    const request = reviewedSpec(attributes, shown)
    let spent = 0
    let failure: Error | undefined
    for (const [index, program] of programs.entries()) {
      try {
        const { value, cost } = await runStepsWithinBudget(program.evaluate({ request }))
        if (value === false) return false
        if ((spent += cost) > MAX_COST_OF_CONDITIONS) throw new CostExceeded()
        if (value instanceof Fault) failure ??= new Error(`condition ${index} of ${name}: ${value.message}`)
      } catch (error) {
        if (!(error instanceof CostExceeded)) throw error
        return new Error(`the conditions of ${name} cost too much`, { cause: error })
      }
    }
    return failure ?? true
  }

  return {
    ...authorizer,
    authorize: async attributes => {
      const outcome = await matches(attributes)
      if (outcome === true) return await authorizer.authorize(attributes)
      if (outcome === false) {
        excluded.add()
        return NO_OPINION
      }
      failed.add()
      return { decision: failurePolicy === 'Deny' ? 'Deny' : 'NoOpinion', evaluationError: outcome }
    }
  }
}
