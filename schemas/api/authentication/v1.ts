/** The public types of authentication.orch.io/v1. */
export { BoundObjectReference, TokenRequest, TokenRequestSpec, TokenRequestStatus } from './tokenrequests.js'
export { SelfSubjectReview, SelfSubjectReviewStatus } from './selfsubjectreviews.js'
export { ExtraValue, TokenReview, TokenReviewSpec, TokenReviewStatus, UserInfo } from './tokenreviews.js'
