/** Authorization flags. */
import { AUTHORIZATION_MODES } from '../../auth/authorization-modes.js'
import { oneOf, choice, duration, list, path } from '../flag.js'

export const authorization = {
  'authorization-mode': list(
    ['AlwaysAllow'], 'authorization modes, in the order in which they decide', oneOf(AUTHORIZATION_MODES)
  ),
  'authorization-config': path(
    'file with an AuthorizationConfiguration: authorizers in their order, among them any number of webhooks; it is ' +
      'followed'
  ),
  'authorization-policy-file': path('ABAC policy file, one JSON object per line'),
  'authorization-webhook-config-file': path('kubeconfig of the authorization webhook'),
  'authorization-webhook-cache-authorized-ttl': duration(300_000, 'time to cache authorized answers of the webhook'),
  'authorization-webhook-cache-unauthorized-ttl': duration(30_000, 'time to cache unauthorized answers of the webhook'),
  'authorization-webhook-version': choice(
    ['v1beta1', 'v1'], 'v1beta1', 'version of SubjectAccessReview sent to the authorization webhook'
  )
}
