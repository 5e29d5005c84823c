import { forbidden, internalError, StatusError } from '../schemas/status.js'
import { adviceOnGroup } from '../schemas/upstream-groups.js'
import type { Attributes, Ruling } from './authorizer.js'

/**
 * A 403: `User "u" cannot list resource "pods" in API group "" in the namespace "x"`, or the path of a non-resource
 * request. As upstream, a Namespace object counts as inside its own namespace.
 * @param advice what would allow it, for users who may know; '' for others
 */
export function refusal ({ user, info }: Attributes, reason: string, advice = ''): StatusError {
  const advices = [advice, info.isResourceRequest ? adviceOnGroup(info.group) : ''].filter(text => text !== '')
  const why = `${reason === '' ? '' : `: ${reason}`}${advices.map(text => `; ${text}`).join('')}`
  if (!info.isResourceRequest) {
    return forbidden(
      { group: '', resource: '' }, '', `User ${quote(user.username)} cannot ${info.verb} path ${quote(info.path)}${why}`
    )
  }
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  const where = info.namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(info.namespace)}`
  return forbidden({ group: info.group, resource: info.resource }, info.name,
    `User ${quote(user.username)} cannot ${info.verb} resource ${quote(resource)} in API group ${quote(info.group)} ` +
      `${where}${why}`)
}

/**
 * No opinion before the server has loaded what it decides by: 503, and clients try again, unless another authorizer
 * decides.
 */
export function notLoaded (reason: string): Ruling {
  const message = `the request cannot be authorized yet: ${reason}`
  const details = { retryAfterSeconds: 1 }
  const evaluationError = new StatusError('ServiceUnavailable', message, { details, unlogged: true })
  return { decision: 'NoOpinion', reason, evaluationError }
}

/** Whether a ruling allows. @throws StatusError 503 if that cannot be decided yet */
export function allows ({ decision, evaluationError }: Ruling): boolean {
  if (decision === 'NoOpinion' && evaluationError instanceof StatusError) throw evaluationError
  return decision === 'Allow'
}

/** A failure that its authorizer has put into the log, at a bounded rate. */
export class ReportedFailure extends Error {}

/** The answer to a request that no authorizer decides because one failed. */
export const undecided = (error: unknown): StatusError =>
  error instanceof StatusError ? error : internalError(error, error instanceof ReportedFailure)

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Escapes HTML, because a browser may display the message after following a link. */
export const quote = (text: string): string =>
  JSON.stringify(text).replace(/[&<>]/g, letter => ENTITIES[letter] ?? letter)
