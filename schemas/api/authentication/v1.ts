/** The public types of authentication.orch.io/v1. */
export { BoundObjectReference, TokenRequest, TokenRequestSpec, TokenRequestStatus } from './tokenrequests.js'
export { ExtraValue, TokenReview, TokenReviewSpec, TokenReviewStatus, UserInfo } from './tokenreviews.js'
