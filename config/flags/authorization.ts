/** What they may do. */
import { among, choice, duration, list, path } from '../flag.js'

export const MODES = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node']

export const authorization = {
  'authorization-mode': list(['AlwaysAllow'], 'authorizers in the order in which they are asked', among(MODES)),
  'authorization-policy-file': path('policy of ABAC, one JSON object per line'),
  'authorization-webhook-config-file': path('kubeconfig of the service that authorizes'),
  'authorization-webhook-cache-authorized-ttl': duration(300_000, 'time for which its consent is remembered'),
  'authorization-webhook-cache-unauthorized-ttl': duration(30_000, 'time for which its refusal is remembered'),
  'authorization-webhook-version': choice(['v1beta1', 'v1'], 'v1beta1', 'version of the SubjectAccessReview it is sent')
}
