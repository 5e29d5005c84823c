/** The types of authentication.orch.io/v1, for those who use them elsewhere. */
export { BoundObjectReference, TokenRequest, TokenRequestSpec, TokenRequestStatus } from './tokenrequests.js'
export { ExtraValue, TokenReview, TokenReviewSpec, TokenReviewStatus, UserInfo } from './tokenreviews.js'
