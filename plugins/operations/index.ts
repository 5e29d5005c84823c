/**
 * Registers the operations of virtual types and subresources: access and token reviews, pod binding and eviction, token
 * requests, component statuses. They must be registered before their types are served.
 */
import { accessReviews } from './access-reviews.js'
import { componentStatuses } from './component-statuses.js'
import { podBinding } from './pod-binding.js'
import { podEviction } from './pod-eviction.js'
import { rulesReview } from './rules-review.js'
import { selfReview } from './self-review.js'
import { tokenRequest } from './token-request.js'
import { tokenReview } from './token-review.js'
import { plugin } from '../shared/plugin.js'

const AUTHORIZATION = 'authorization.orch.io'

export default plugin()(async fastify => {
  const {
    orchClock: clock, orchResources: resources, orchAuthentication: {
      audiences, authenticator, tokens: serviceAccountTokens
    }, orchAuthorization: { authorizer, explain }, orchSettings: { featureGates: gates }
  } = fastify
  const { subject, self, local } = accessReviews(authorizer, explain)
  resources.provideOperation({ group: AUTHORIZATION, plural: 'subjectaccessreviews' }, '', subject)
  resources.provideOperation({ group: AUTHORIZATION, plural: 'selfsubjectaccessreviews' }, '', self)
  resources.provideOperation({ group: AUTHORIZATION, plural: 'localsubjectaccessreviews' }, '', local)
  resources.provideOperation({ group: AUTHORIZATION, plural: 'selfsubjectrulesreviews' }, '', rulesReview(authorizer))
  resources.provideOperation(
    { group: 'authentication.orch.io', plural: 'tokenreviews' }, '', tokenReview(authenticator, audiences)
  )
  resources.provideOperation({ group: 'authentication.orch.io', plural: 'selfsubjectreviews' }, '', selfReview)
  resources.provideOperation({ group: '', plural: 'serviceaccounts' }, 'token', tokenRequest({
    resources, tokens: serviceAccountTokens, now: clock.wall, gates
  }))
  const binding = podBinding(resources)
  resources.provideOperation({ group: '', plural: 'bindings' }, '', binding)
  resources.provideOperation({ group: '', plural: 'pods' }, 'binding', binding)
  resources.provideOperation({ group: '', plural: 'pods' }, 'eviction', podEviction(resources))
  resources.provideSource({ group: '', plural: 'componentstatuses' }, componentStatuses(resources))
}, {
  name: 'orch/operations',
  fastify: '5.x',
  decorators: { fastify: ['orchAuthentication', 'orchAuthorization', 'orchClock', 'orchResources', 'orchSettings'] }
})
