/** SelfSubjectReview: who the caller is to this server, after impersonation. */
import type { SelfSubjectReview } from '../../schemas/api/authentication/selfsubjectreviews.js'
import { badRequest } from '../../schemas/status.js'
import type { VirtualOperation } from '../../registry/resource-registry.js'
import { shownUser } from './shown-user.js'

export const selfReview: VirtualOperation = {
  run: async (object, _target, { caller: { user } }) => {
    const review = object as SelfSubjectReview // registered for this kind only
    if (user === undefined) throw badRequest('no user present on request')
    return { ...review, status: { userInfo: shownUser(user) } }
  }
}
