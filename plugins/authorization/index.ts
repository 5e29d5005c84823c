/**
 * Authorizes requests: the first authorizer that allows or denies decides; without an Allow the request gets 403. Runs
 * after authentication and audit and before the body is read, so that rejected requests are cheap. (Interface:
 * Authorization flags.) `fastify.orchAuthorization` offers the same chain to access reviews, impersonation, escalation
 * checks and admission.
 */
import fp from 'fastify-plugin'
import { served, type ServedRequest } from '../../answers/request-context.js'
import type { RbacAuthorizer } from '../../auth/rbac/authorizer.js'
import type { Attributes, Authorizer, Rules, Ruling } from '../../auth/authorizer.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { reasonOf } from '../../storage/errors.js'
import { refusal, undecided } from '../../auth/refusal.js'
import { internalError, type StatusError } from '../../schemas/status.js'
import { runParts } from '../shared/lifecycle.js'
import { explanation } from './explain.js'
import { authorizerOf, rbacAuthorizer, type AuthorizationOptions } from './modes.js'

export type { AuthorizationOptions } from './modes.js'

const DECISION = 'authorization.orch.io/decision'
const REASON = 'authorization.orch.io/reason'
const annotations = new WeakMap<Ruling, Readonly<Record<string, string>>>()

/** Shared, as authorizers remember their rulings. */
function annotationsOf (ruling: Ruling): Readonly<Record<string, string>> {
  let known = annotations.get(ruling)
  if (known === undefined) {
    const { decision, reason = '' } = ruling
    known = Object.freeze({ [DECISION]: decision === 'Allow' ? 'allow' : 'forbid', [REASON]: reason })
    annotations.set(ruling, known)
  }
  return known
}

/** Annotations if an authorizer failed. */
const UNKNOWN = Object.freeze({ [REASON]: 'internal error' })

/**
 * Combines authorizers. Never throws or rejects; synchronous if all authorizers it calls are. An authorizer that throws
 * ends the chain without an opinion; an evaluation error is kept in case no later one has an opinion.
 */
export function chain (authorizers: readonly Authorizer[]): (attributes: Attributes) => Ruling | Promise<Ruling> {
  const ask = (from: number, attributes: Attributes, before: Ruling): Ruling | Promise<Ruling> => {
    let known = before
    for (let at = from; at < authorizers.length; at++) {
      let answer: Ruling | Promise<Ruling>
      try {
        answer = (authorizers[at] as Authorizer).authorize(attributes)
      } catch (error) {
        return failed(known, error)
      }
      if (answer instanceof Promise) {
        const preceding = known
        return answer.then(settled => settled.decision === 'NoOpinion'
          ? ask(at + 1, attributes, joinReasons(preceding, settled))
          : settled, error => failed(preceding, error))
      }
      if (answer.decision !== 'NoOpinion') return answer
      known = joinReasons(known, answer)
    }
    return known
  }
  return attributes => ask(0, attributes, NO_OPINION)
}

const NO_OPINION: Ruling = { decision: 'NoOpinion', reason: '' }

/** Joins two rulings without an opinion, one reason per line, as upstream. */
function joinReasons (before: Ruling, { reason = '', evaluationError }: Ruling): Ruling {
  if (reason === '' && evaluationError === undefined) return before
  const error = before.evaluationError ?? evaluationError
  const said = before.reason ?? ''
  return {
    decision: 'NoOpinion', reason: said === '' ? reason : reason === '' ? said : `${said}\n${reason}`,
    ...(error === undefined ? {} : { evaluationError: error })
  }
}

const failed = (before: Ruling, error: unknown): Ruling => joinReasons(before, {
  decision: 'NoOpinion', evaluationError: error ?? new Error('an authorizer failed without a reason')
})

const NO_RULES: Rules = { resourceRules: [], nonResourceRules: [], incomplete: false }

/** Collects the rules of all authorizers. Incomplete if one cannot list its rules or fails. */
export function rulesOf (authorizers: readonly Authorizer[]): (user: UserInfo, namespace: string) => Promise<Rules> {
  return async (user, namespace) => {
    const all = await Promise.all(authorizers.map(async authorizer => {
      try {
        return await authorizer.rules?.(user, namespace) ?? {
          ...NO_RULES, incomplete: true, evaluationError: new Error(`authorizer ${authorizer.name} does not list rules`)
        }
      } catch (error) {
        return { ...NO_RULES, incomplete: true, evaluationError: error }
      }
    }))
    const problems = all.flatMap(({ evaluationError }) =>
      evaluationError === undefined ? [] : [reasonOf(evaluationError)])
    return {
      resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
      nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
      incomplete: all.some(({ incomplete }) => incomplete),
      ...(problems.length === 0 ? {} : { evaluationError: new Error(problems.join(', ')) })
    }
  }
}

export default fp<AuthorizationOptions>(async (fastify, options) => {
  const { modes = ['AlwaysAllow'], authorizers = [] } = options
  const all = [...authorizers]
  let rbac: RbacAuthorizer | undefined
  for (const mode of modes) {
    all.push(mode === 'RBAC' ? rbac ??= await rbacAuthorizer(fastify) : await authorizerOf(mode, fastify, options))
  }
  const authorize = chain(all)
  const advisor = all.find(({ advise }) => advise !== undefined)
  fastify.decorate('orchAuthorization', {
    authorizer: { name: 'chain', authorize, rules: rulesOf(all) },
    explain: explanation(all),
    rbac
  })
  runParts(fastify, 'authorizer', all)

  const settle = (
    request: ServedRequest, attributes: Attributes, ruling: Ruling
  ): StatusError | undefined | Promise<StatusError> => {
    const { decision, reason = '', evaluationError } = ruling
    const allowed = decision === 'Allow'
    const unknown = !allowed && evaluationError !== undefined
    const said = unknown ? UNKNOWN : annotationsOf(ruling)
    request.orch.annotations = Object.keys(request.orch.annotations).length === 0
      ? said
      : { ...request.orch.annotations, ...said }
    if (unknown) return undecided(evaluationError)
    if (allowed) return undefined
    // Roles do not help against an authorizer that denies.
    const advice = decision === 'Deny' ? '' : advisor?.advise?.(attributes, authorize) ?? ''
    return typeof advice === 'string'
      ? refusal(attributes, reason, advice)
      : advice.then(text => refusal(attributes, reason, text), () => refusal(attributes, reason))
  }

  fastify.addHook('onRequest', (arrived, _reply, done) => {
    const request = served(arrived)
    const { user, info } = request.orch
    if (user === undefined) return done(internalError(new Error('authorization ran before authentication')))
    const attributes = { user, info }
    const answer = authorize(attributes)
    const settled = answer instanceof Promise
      ? answer.then(ruling => settle(request, attributes, ruling))
      : settle(request, attributes, answer)
    if (!(settled instanceof Promise)) return done(settled)
    void settled.then(done)
  })
}, {
  name: 'orch/authorization',
  fastify: '5.x',
  dependencies: ['orch/authentication'],
  decorators: { fastify: ['orchClock', 'orchEgress', 'orchMetrics', 'orchResources'], request: ['orch'] }
})
