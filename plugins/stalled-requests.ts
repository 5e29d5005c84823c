/**
 * Where a server is several processes: notes which request its event loop works for, and refuses for a while requests
 * like one for which a process of the server hung: of the same user, verb, resource and namespace. Registered after
 * impersonation, whose user counts, and before anything waits.
 */
import { served, type RequestContext } from '../answers/request-context.js'
import { quote } from '../schemas/quote.js'
import { tooManyRequests } from '../schemas/status.js'
import { isProbe } from './shared/request-kinds.js'
import { plugin } from './shared/plugin.js'

/** What requests have in common that may make a process hang again. */
export interface RequestLike {
  readonly user: string
  readonly verb: string
  /** `resource.group/subresource`, or a path. */
  readonly what: string
  /** '' for all, or none. */
  readonly namespace: string
}

export interface StallGuard {
  /** A number for requests like this one. */
  readonly numberOf: (like: RequestLike) => number
  /** When requests like this one are served again, in milliseconds since the epoch; undefined if they are. */
  readonly refusedUntil: (like: RequestLike) => number | undefined
}

export interface StalledRequestsOptions {
  /** Default none: nothing is noted or refused. */
  readonly guard?: StallGuard | undefined
}

function likeOf ({ info, user }: RequestContext): RequestLike {
  const { verb, group, resource, subresource, namespace, path, isResourceRequest } = info
  const username = user?.username ?? ''
  if (!isResourceRequest) return { user: username, verb, what: path, namespace: '' }
  const qualified = group === '' ? resource : `${resource}.${group}`
  return { user: username, verb, what: subresource === '' ? qualified : `${qualified}/${subresource}`, namespace }
}

/** `create of "configmaps" in the namespace "team" by user "ann"` */
export const textOf = ({ user, verb, what, namespace }: RequestLike): string =>
  `${verb} of ${quote(what)}${namespace === '' ? '' : ` in the namespace ${quote(namespace)}`} by user ${quote(user)}`

export default plugin<StalledRequestsOptions>()(async (fastify, { guard }) => {
  if (guard === undefined) return
  fastify.addHook('onRequest', (request, _reply, done) => {
    const { orch } = served(request)
    const { trace, info } = orch
    if (isProbe(info.path)) return done()
    const like = likeOf(orch)
    const until = guard.refusedUntil(like)
    if (until !== undefined) {
      const seconds = Math.max(1, Math.ceil((until - Date.now()) / 1000))
      const refused = 'requests like this one, of the same user, verb, resource and namespace, are refused'
      const why = 'a process of the server hung with one of them'
      return done(tooManyRequests(`${refused} for ${seconds} s: ${why}`, seconds))
    }
    trace.workFor(guard.numberOf(like))
    done()
  })
}, {
  name: 'orch/stalled-requests',
  fastify: '5.x',
  dependencies: ['orch/impersonation'],
  decorators: { request: ['orch'] }
})
