/**
 * Authorizes requests: the first authorizer that allows or denies decides; without an Allow the request gets 403. Runs
 * after authentication and audit and before the body is read, so that rejected requests are cheap. (Interface:
 * Authorization flags.) `fastify.orchAuthorization` offers the same chain to access reviews, impersonation, escalation
 * checks and admission.
 */
import { served, type RequestContext } from '../../answers/request-context.js'
import type { AuthorizationMode } from '../../auth/authorization-modes.js'
import type { RbacAuthorizer } from '../../auth/rbac/authorizer.js'
import type { Attributes, Authorizer, Ruling } from '../../auth/authorizer.js'
import { refusal, undecided } from '../../auth/refusal.js'
import { internalError, type StatusError } from '../../schemas/status.js'
import { oncePer } from '../../schemas/once-per.js'
import { runParts } from '../shared/lifecycle.js'
import type { Authorization } from '../shared/server.js'
import { observeAttempts } from './attempts.js'
import { chain, rulesOf } from './chain.js'
import { configuredAuthorizers } from './configured.js'
import { explanation } from './explain.js'
import { authorizerOf, rbacAuthorizer, type AuthorizationOptions } from './modes.js'
import { SUPERUSERS } from './superusers.js'
import { plugin, type Having } from '../shared/plugin.js'

export type { AuthorizationOptions } from './modes.js'

const DECISION = 'authorization.orch.io/decision'
const REASON = 'authorization.orch.io/reason'

/** Shared, as authorizers remember their rulings. */
const annotationsOf = oncePer(({ decision, reason = '' }: Ruling): Readonly<Record<string, string>> =>
  Object.freeze({ [DECISION]: decision === 'Allow' ? 'allow' : 'forbid', [REASON]: reason }))

/** Annotations if an authorizer failed. */
const UNKNOWN = Object.freeze({ [REASON]: 'internal error' })

type Server = Having<'orchClock' | 'orchEgress' | 'orchMetrics' | 'orchResources' | 'orchSettings'>

/** Authorizers, and what is asked of them together. */
const asked = (all: readonly Authorizer[]) =>
  ({ all, authorize: chain(all), advisor: all.find(({ advise }) => advise !== undefined) })

interface Opened {
  /** Those of the moment: a file of configuration may change. */
  readonly current: () => ReturnType<typeof asked>
  readonly rbac: RbacAuthorizer | undefined
}

async function openAuthorizers (fastify: Server, options: AuthorizationOptions): Promise<Opened> {
  const { modes = ['AlwaysAllow'], authorizers = [], configured } = options
  let rbac: RbacAuthorizer | undefined
  const make = async (mode: AuthorizationMode, webhook = options.webhook): Promise<Authorizer> =>
    mode === 'RBAC'
      ? rbac ??= await rbacAuthorizer(fastify)
      : await authorizerOf(mode, fastify, { ...options, ...(webhook === undefined ? {} : { webhook }) })
  let current: ReturnType<typeof asked>
  if (configured === undefined) {
    const all = [...authorizers, SUPERUSERS]
    for (const mode of modes) all.push(await make(mode))
    current = asked(all)
    runParts(fastify, 'authorizer', all)
  } else {
    const { all, parts } = await configuredAuthorizers(
      fastify, configured, ({ type, webhook }) => make(type, webhook),
      changed => { current = asked([...authorizers, ...changed]) }
    )
    current = asked([...authorizers, ...all])
    runParts(fastify, 'authorizer', [...authorizers, ...parts])
  }
  return { current: () => current, rbac }
}

export default plugin<AuthorizationOptions>()(async (fastify, options) => {
  const { current, rbac } = await openAuthorizers(fastify, options)
  const authorize: Authorizer['authorize'] = attributes => current().authorize(attributes)
  const { orchSettings: { featureGates }, orchMetrics } = fastify
  const observe = featureGates.enabled('MetricsHaveLaterStages') ? observeAttempts(orchMetrics) : undefined
  const settle = (
    context: RequestContext, attributes: Attributes, ruling: Ruling, since: number
  ): StatusError | undefined | Promise<StatusError> => {
    observe?.(ruling, (performance.now() - since) / 1000)
    const { decision, reason = '', evaluationError } = ruling
    const allowed = decision === 'Allow'
    const unknown = !allowed && evaluationError !== undefined
    const said = unknown ? UNKNOWN : annotationsOf(ruling)
    context.annotations = Object.keys(context.annotations).length === 0 ? said : { ...context.annotations, ...said }
    if (unknown) return undecided(evaluationError)
    if (allowed) return undefined
    // Roles do not help against an authorizer that denies.
    const advice = decision === 'Deny' ? '' : current().advisor?.advise?.(attributes, authorize) ?? ''
    return typeof advice === 'string'
      ? refusal(attributes, reason, advice)
      : advice.then(text => refusal(attributes, reason, text), () => refusal(attributes, reason))
  }

  const refusalOf: Authorization['refusalOf'] = context => {
    const { user, info } = context
    if (user === undefined) return internalError(new Error('authorization ran before authentication'))
    const attributes = { user, info }
    const since = observe === undefined ? 0 : performance.now()
    const answer = authorize(attributes)
    return answer instanceof Promise
      ? answer.then(ruling => settle(context, attributes, ruling, since))
      : settle(context, attributes, answer, since)
  }
  fastify.decorate('orchAuthorization', {
    authorizer: { name: 'chain', authorize, rules: (user, namespace) => rulesOf(current().all)(user, namespace) },
    explain: attributes => explanation(current().all)(attributes),
    refusalOf,
    rbac
  })
  fastify.addHook('onRequest', (arrived, _reply, done) => {
    const refused = refusalOf(served(arrived).orch)
    if (!(refused instanceof Promise)) return done(refused)
    void refused.then(done)
  })
}, {
  name: 'orch/authorization',
  fastify: '5.x',
  dependencies: ['orch/impersonation'],
  decorators: {
    fastify: ['orchClock', 'orchEgress', 'orchMetrics', 'orchResources', 'orchSettings'], request: ['orch']
  }
})
