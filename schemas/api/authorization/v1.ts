/** The public types of authorization.orch.io/v1. */
export {
  ExtraValue, FieldSelectorAttributes, LabelSelectorAttributes, LocalSubjectAccessReview, NonResourceAttributes,
  ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec, SubjectAccessReview,
  SubjectAccessReviewSpec, SubjectAccessReviewStatus
} from './accessreviews.js'
export {
  NonResourceRule, ResourceRule, SelfSubjectRulesReview, SelfSubjectRulesReviewSpec, SubjectRulesReviewStatus
} from './rulesreviews.js'
