/**
 * May they: asks the authorizers in order; the first that allows or denies ends it, and a request no
 * authorizer allows is refused with 403. After authentication and audit, before any body is read, so a
 * refused request costs little. (Interface: Authorization flags.)
 */
import fp from 'fastify-plugin'
import type { FastifyRequest } from 'fastify'
import type { Attributes, Authorizer, Decision } from '../schemas/request.js'
import { forbidden, internalError, StatusError } from '../schemas/status.js'

export type AuthorizationMode = 'AlwaysAllow' | 'AlwaysDeny'

export interface AuthorizationOptions {
  readonly modes: readonly AuthorizationMode[]
  /** Asked before the modes. */
  readonly authorizers: readonly Authorizer[]
}

const MODES: Record<AuthorizationMode, Authorizer> = {
  AlwaysAllow: { name: 'AlwaysAllow', authorize: () => ALLOW },
  AlwaysDeny: { name: 'AlwaysDeny', authorize: () => DENY }
}
const ALLOW: Answer = { decision: 'Allow' }
const DENY: Answer = { decision: 'NoOpinion', reason: 'Everything is forbidden.' }

const DECISION = 'authorization.orch.io/decision'
const REASON = 'authorization.orch.io/reason'
/** Of most requests. */
const ALLOWED = Object.freeze({ [DECISION]: 'allow', [REASON]: '' })

type Answer = { decision: Decision, reason?: string }

/** `User "u" cannot list resource "pods" in API group "" in the namespace "x"`, or the path for what is no resource. */
export function refusal ({ user, info }: Attributes, reason: string): StatusError {
  const why = reason === '' ? '' : `: ${reason}`
  if (!info.isResourceRequest) {
    return forbidden({ group: '', resource: '' }, '', `User ${JSON.stringify(user.username)} cannot ${info.verb} path ${JSON.stringify(info.path)}${why}`)
  }
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  const where = info.namespace !== '' && info.resource !== 'namespaces' ? ` in the namespace ${JSON.stringify(info.namespace)}` : info.namespace === '' ? ' at the cluster scope' : ''
  return forbidden({ group: info.group, resource: info.resource }, info.name,
    `User ${JSON.stringify(user.username)} cannot ${info.verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(info.group)}${where}${why}`)
}

/** The chain as one function; synchronous as long as the authorizers asked are. */
export function chain (authorizers: readonly Authorizer[]): (attributes: Attributes) => Answer | Promise<Answer> {
  const ask = (from: number, attributes: Attributes, before: readonly string[]): Answer | Promise<Answer> => {
    let reasons = before
    for (let at = from; at < authorizers.length; at++) {
      const answer = (authorizers[at] as Authorizer).authorize(attributes)
      if (answer instanceof Promise) {
        return answer.then(settled => settled.decision === 'NoOpinion' ? ask(at + 1, attributes, joined(reasons, settled)) : settled)
      }
      if (answer.decision !== 'NoOpinion') return answer
      reasons = joined(reasons, answer)
    }
    return { decision: 'NoOpinion', reason: reasons.join(', ') }
  }
  return attributes => ask(0, attributes, NONE)
}

const NONE: readonly string[] = []
const joined = (reasons: readonly string[], { reason }: Answer): readonly string[] => reason ? [...reasons, reason] : reasons

export default fp<AuthorizationOptions>(async (fastify, { modes, authorizers }) => {
  const authorize = chain([...authorizers, ...modes.map(mode => MODES[mode])])

  const settle = (request: FastifyRequest, attributes: Attributes, answer: Answer): StatusError | undefined => {
    const { decision, reason = '' } = answer
    const allowed = decision === 'Allow'
    request.orch.annotations = allowed && reason === '' ? ALLOWED : { [DECISION]: allowed ? 'allow' : 'forbid', [REASON]: reason }
    return allowed ? undefined : refusal(attributes, reason)
  }

  fastify.addHook('onRequest', (request, _reply, done) => {
    const { user, info } = request.orch
    if (user === undefined) return done(internalError(new Error('authorization ran before authentication')))
    const attributes = { user, info }
    try {
      const answer = authorize(attributes)
      if (!(answer instanceof Promise)) return done(settle(request, attributes, answer))
      answer.then(settled => { done(settle(request, attributes, settled)) }, error => { done(internalError(error)) })
    } catch (error) {
      done(internalError(error))
    }
  })
}, { name: 'orch/authorization', fastify: '5.x', dependencies: ['orch/request-info', 'orch/authentication'] })
