/** A condition of a policy or of a webhook. */
import { apiPackage, string, type Static } from '../../language/declare.js'

const { message } = apiPackage('admissionregistration.orch.io', 'v1', 'io.orch.api.admissionregistration.v1')

export type MatchCondition = Static<typeof MatchCondition>
export const MatchCondition = message('MatchCondition', 'An expression that must be true of a request.', {
  name: string(1, 'Name of the condition.', { required: true, ruled: true }),
  expression: string(2, 'The expression.', { required: true, ruled: true })
})
