/** SelfSubjectRulesReview (v1): what may I do? */
import { one, bool, string, list, apiPackage, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { resource } from '../../resource.js'

const { kind, message } = apiPackage('authorization.orch.io', 'v1', 'io.orch.api.authorization.v1')

export type NonResourceRule = Static<typeof NonResourceRule>
export const NonResourceRule = message('NonResourceRule', 'Requests for other paths that are allowed.', {
  verbs: list(1, 'HTTP methods in lower case; * means all.', 'string', { required: true }),
  nonResourceURLs: list(2, 'Paths that may be requested; * stands for all, or for a last segment.', 'string')
})

export type ResourceRule = Static<typeof ResourceRule>
export const ResourceRule = message('ResourceRule', 'Requests about resources that are allowed.', {
  verbs: list(1, 'Verbs that are allowed, such as get; * means all.', 'string', { required: true }),
  apiGroups: list(2, 'API groups of the resources; * means all.', 'string'),
  resources: list(3, 'Resources in plural; * means all.', 'string'),
  resourceNames: list(4, 'Names of the objects; empty means all.', 'string')
})

export type SelfSubjectRulesReviewSpec = Static<typeof SelfSubjectRulesReviewSpec>
export const SelfSubjectRulesReviewSpec =
  message('SelfSubjectRulesReviewSpec', 'The namespace a rules review is about.', {
    namespace: string(1, 'Namespace of the question; required.')
  })

export type SubjectRulesReviewStatus = Static<typeof SubjectRulesReviewStatus>
export const SubjectRulesReviewStatus =
  message('SubjectRulesReviewStatus', 'What is allowed in a namespace; may be incomplete.', {
    resourceRules: list(
      1, 'Requests about resources that are allowed; order means nothing.', ResourceRule, { required: true }
    ),
    nonResourceRules: list(
      2, 'Requests for other paths that are allowed; order means nothing.', NonResourceRule, { required: true }
    ),
    incomplete: bool(3, 'Whether the rules are not all that is allowed.', { required: true }),
    evaluationError: string(4, 'What went wrong while the rules were gathered.')
  })

export type SelfSubjectRulesReview = Static<typeof SelfSubjectRulesReview>
export const SelfSubjectRulesReview = kind('SelfSubjectRulesReview', 'Asks what the caller may do in a namespace.', {
  metadata,
  spec: one(2, 'Namespace of the question.', SelfSubjectRulesReviewSpec, { required: true }),
  status: one(3, 'What is allowed; written by the system.', SubjectRulesReviewStatus)
})

export const selfSubjectRulesReviews = resource(SelfSubjectRulesReview, {
  plural: 'selfsubjectrulesreviews',
  namespaced: false,
  verbs: ['create'],
  virtual: true
})
