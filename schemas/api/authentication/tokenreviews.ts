/** TokenReview (v1): whose token is this? */
import { map, one, bool, list, apiPackage, string, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { stringList } from '../../meta/scalars.js'
import { resource } from '../../resource.js'

const { kind, message, special } = apiPackage('authentication.orch.io', 'v1', 'io.orch.api.authentication.v1')

export const ExtraValue = special<string[]>(
  'ExtraValue', 'What else is known of a user under one key.', { items: list(1, 'The values.', 'string') }, stringList
)

export type UserInfo = Static<typeof UserInfo>
export const UserInfo = message('UserInfo', 'What is known of a user.', {
  username: string(1, 'Name of the user, unique among active users.'),
  uid: string(2, 'Identifier of the user, which outlasts the name.'),
  groups: list(3, 'Groups the user is in.', 'string'),
  extra: map(4, 'Further attributes of the user, from the authenticator.', ExtraValue)
})

export type TokenReviewSpec = Static<typeof TokenReviewSpec>
export const TokenReviewSpec = message('TokenReviewSpec', 'The token to check.', {
  token: string(1, 'Bearer token to check.'),
  audiences: list(2, 'Who the token must be meant for; by default the API server.', 'string')
})

export type TokenReviewStatus = Static<typeof TokenReviewStatus>
export const TokenReviewStatus = message('TokenReviewStatus', 'Who a token stands for.', {
  authenticated: bool(1, 'Whether the token is valid for a known user.'),
  user: one(2, 'User the token stands for.', UserInfo),
  audiences: list(4, 'Audiences the token is valid for, among the requested ones.', 'string'),
  error: string(3, 'Why the token could not be checked.')
})

export type TokenReview = Static<typeof TokenReview>
export const TokenReview = kind('TokenReview', 'Asks who a bearer token stands for.', {
  metadata,
  spec: one(2, 'The token to check.', TokenReviewSpec, { required: true }),
  status: one(3, 'Who the token stands for; written by the system.', TokenReviewStatus)
})

export const tokenReviews = resource(TokenReview, {
  plural: 'tokenreviews',
  namespaced: false,
  verbs: ['create'],
  virtual: true
})
