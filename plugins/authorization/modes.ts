/** The modes of `--authorization-mode` and their options. */
import type { AuthorizationMode } from '../../auth/authorization-modes.js'
import type { RbacAuthorizer } from '../../auth/rbac/authorizer.js'
import type { Authorizer, Rules, Ruling } from '../../auth/authorizer.js'
import { failureFields } from '../../storage/errors.js'
import type { Follow } from '../../auth/follow.js'
import { followWith } from '../../controllers/follow.js'
import { doubling } from '../shared/metric-series.js'
import { outgoingMetrics } from '../shared/outgoing-metrics.js'
import { reviewMetrics } from '../shared/review-metrics.js'
import { abacAuthorizer } from '../../auth/abac.js'
import type { ConfiguredAuthorizersOptions } from './configured.js'
import type { AuthorizationWebhookOptions } from './webhook.js'
import type { Having } from '../shared/plugin.js'

type AuthorizingServer = Having<'orchClock' | 'orchEgress' | 'orchMetrics' | 'orchResources' | 'orchSettings'>

export interface AuthorizationOptions {
  /** `--authorization-mode`. Default AlwaysAllow. */
  readonly modes?: readonly AuthorizationMode[]
  /** Contents of --authorization-policy-file, for mode ABAC. */
  readonly policies?: string
  /** Required for mode Webhook. */
  readonly webhook?: AuthorizationWebhookOptions
  /** `--authorization-config`: instead of the modes. */
  readonly configured?: ConfiguredAuthorizersOptions
  /** Called before the modes. */
  readonly authorizers?: readonly Authorizer[]
}

const EVERYTHING: Rules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }], incomplete: false
}
const NOTHING: Rules = { resourceRules: [], nonResourceRules: [], incomplete: false }
const ALLOW: Ruling = { decision: 'Allow' }
const DENY: Ruling = { decision: 'NoOpinion', reason: 'Everything is forbidden.' }

/** Lets a mode follow stored objects. */
const follow = (fastify: AuthorizingServer): Follow =>
  followWith({
    resources: fastify.orchResources, log: (message, error) => { fastify.log.warn(failureFields(error), message) }
  })

/** Exponential buckets from 0.1 ms. */
const GRAPH_SECONDS = doubling(0.0001, 12)

/** Modules of a mode are loaded only if it is enabled. */
const MODES: Readonly<Record<Exclude<AuthorizationMode, 'RBAC'>, (
  fastify: AuthorizingServer, options: AuthorizationOptions
) => Authorizer | Promise<Authorizer>>> = {
  AlwaysAllow: () => ({ name: 'AlwaysAllow', authorize: () => ALLOW, rules: () => EVERYTHING }),
  AlwaysDeny: () => ({ name: 'AlwaysDeny', authorize: () => DENY, rules: () => NOTHING }),
  ABAC: (_fastify, { policies = '' }) => abacAuthorizer(policies),
  Node: async fastify => {
    const { NodeAuthorizer } = await import('../../auth/node/authorizer.js')
    const actions = fastify.orchMetrics.histogram(
      'node_authorizer_graph_actions_duration_seconds',
      'Seconds that changes of the graph of nodes and what their pods refer to took, by operation.', GRAPH_SECONDS,
      ['operation']
    )
    return new NodeAuthorizer({
      gates: fastify.orchSettings.featureGates, follow: follow(fastify),
      observe: (action, seconds) => { actions.with(action).observe(seconds) }
    })
  },
  Webhook: async (fastify, { webhook }) => {
    if (webhook === undefined) throw new TypeError('authorization mode Webhook needs the option authorization.webhook')
    return (await import('./webhook.js')).webhookAuthorizer({
      ...webhook,
      client: { tunnel: fastify.orchEgress.controlPlane, ...outgoingMetrics(fastify.orchMetrics), ...webhook.client }
    }, {
      log: fastify.log, clock: fastify.orchClock, timed: reviewMetrics(fastify.orchMetrics, 'authz'),
      names: fastify.orchSettings.outside
    })
  }
}

export const rbacAuthorizer = async (fastify: AuthorizingServer): Promise<RbacAuthorizer> =>
  new (await import('../../auth/rbac/authorizer.js')).RbacAuthorizer({ follow: follow(fastify) })

export const authorizerOf = (
  mode: Exclude<AuthorizationMode, 'RBAC'>, fastify: AuthorizingServer, options: AuthorizationOptions
): Authorizer | Promise<Authorizer> =>
  MODES[mode](fastify, options)
