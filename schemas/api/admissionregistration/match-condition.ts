/** A condition of a policy or of a webhook. */
import { apiPackage, string, type Static } from '../../language/declare.js'

/** The message of one version. */
export const declare = (version: 'v1' | 'v1beta1') =>
  apiPackage('admissionregistration.orch.io', version, `io.orch.api.admissionregistration.${version}`)
    .message('MatchCondition', 'An expression that must be true of a request.', {
      name: string(1, 'Name of the condition.', { required: true, ruled: true }),
      expression: string(2, 'The expression.', { required: true, ruled: true })
    })

export type MatchCondition = Static<typeof MatchCondition>
export const MatchCondition = declare('v1')
