/** SelfSubjectRulesReview: lists the caller's rules in a namespace. The list may be incomplete. */
import type { SelfSubjectRulesReview } from '../../schemas/api/authorization/rulesreviews.js'
import type { Authorizer } from '../../auth/authorizer.js'
import { badRequest } from '../../schemas/status.js'
import { reasonOf } from '../../storage/errors.js'
import type { VirtualOperation } from '../../registry/resource-registry.js'

export const rulesReview = (authorizer: Authorizer): VirtualOperation => ({
  run: async (object, _target, { caller: { user } }) => {
    const { kind, apiVersion, spec } = object as SelfSubjectRulesReview // registered for this kind only
    if (user === undefined) throw badRequest('no user present on request')
    const namespace = spec.namespace ?? ''
    if (namespace === '') throw badRequest('no namespace on request')
    const { resourceRules = [], nonResourceRules = [], incomplete = true, evaluationError } = await authorizer
      .rules?.(user, namespace) ?? {}
    return {
      kind,
      apiVersion,
      metadata: {},
      spec: {},
      status: {
        resourceRules, nonResourceRules, incomplete,
        ...(evaluationError === undefined ? {} : { evaluationError: reasonOf(evaluationError) })
      }
    }
  }
})
