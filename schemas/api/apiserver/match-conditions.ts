/** Conditions on access reviews, in CEL over `request`, the spec of a SubjectAccessReview. */
import { Environment, Problem } from '../../../expressions/program.js'
import { listOf, mapOf, objectOf, STRING } from '../../../expressions/types.js'

const requirement = objectOf({ key: STRING, operator: STRING, values: listOf(STRING) })
const selector = objectOf({ rawSelector: STRING, requirements: listOf(requirement) })

export const ACCESS_REVIEW = new Environment({
  request: objectOf({
    resourceAttributes: objectOf({
      namespace: STRING, verb: STRING, group: STRING, version: STRING, resource: STRING, subresource: STRING,
      name: STRING, fieldSelector: selector, labelSelector: selector
    }),
    nonResourceAttributes: objectOf({ path: STRING, verb: STRING }),
    user: STRING, groups: listOf(STRING), extra: mapOf(STRING, listOf(STRING)), uid: STRING
  }, 'orch.SubjectAccessReviewSpec')
})

/** What is wrong with a condition. */
export function conditionProblem (expression: string): string | undefined {
  try {
    const { kind } = ACCESS_REVIEW.compile(expression).type
    return kind === 'bool' ? undefined : 'must evaluate to bool'
  } catch (error) {
    if (error instanceof Problem) return `compilation failed: ${error.message}`
    throw error
  }
}
