/** The resources of authorization.orch.io. */
import { localSubjectAccessReviews, selfSubjectAccessReviews, subjectAccessReviews } from './accessreviews.js'
import { selfSubjectRulesReviews } from './rulesreviews.js'

export const authorization = [localSubjectAccessReviews, selfSubjectAccessReviews, selfSubjectRulesReviews, subjectAccessReviews]
