/** SelfSubjectReview (v1): who am I to this server? `kubectl auth whoami` asks it. */
import { apiPackage, one, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { resource } from '../../resource.js'
import { UserInfo } from './tokenreviews.js'

const { kind, message } = apiPackage('authentication.orch.io', 'v1', 'io.orch.api.authentication.v1')

export type SelfSubjectReviewStatus = Static<typeof SelfSubjectReviewStatus>
export const SelfSubjectReviewStatus = message('SelfSubjectReviewStatus', 'Who the caller is.', {
  userInfo: one(1, 'What the server knows of the caller.', UserInfo)
})

export type SelfSubjectReview = Static<typeof SelfSubjectReview>
export const SelfSubjectReview = kind('SelfSubjectReview', 'Asks who the caller is to the server.', {
  metadata,
  status: one(2, 'Who the caller is; written by the system.', SelfSubjectReviewStatus)
})

export const selfSubjectReviews = resource(SelfSubjectReview, {
  plural: 'selfsubjectreviews',
  namespaced: false,
  verbs: ['create'],
  singular: 'selfsubjectreview',
  gate: 'APISelfSubjectReview',
  virtual: true
})
