/**
 * A Fastify with nothing of ours but the context that plugins read: a hook in the place of `orch/request-info` takes
 * the facts from the test.
 */
import type { FastifyRequest } from 'fastify'
import Fastify from '../fastify.js'
import fp from 'fastify-plugin'
import { served, type LimitPlace, type RequestContext } from '../../answers/request-context.js'
import { Trace } from '../../registry/trace.js'
import type { Whole } from '../../plugins/shared/plugin.js'
import type { OrchDecorators } from '../../plugins/shared/server.js'
import { systemClock } from '../../event-loop/clock.js'
import { outside } from '../../plugins/shared/outside.js'
import { OWN_NAMES } from '../../schemas/naming.js'
import type { RequestInfo } from '../../auth/request-info.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { isStatusError } from '../../schemas/status.js'

export const ALICE: UserInfo = { username: 'alice', uid: '42', groups: ['system:authenticated'], extra: {} }

const NON_RESOURCE: RequestInfo = {
  path: '', isResourceRequest: false, verb: '', group: '', version: '', resource: '', subresource: '', namespace: '',
  name: ''
}

/** The info of a request for cluster roles. */
export const clusterRoles = (more: Partial<RequestInfo>): Partial<RequestInfo> => ({
  isResourceRequest: true, group: 'rbac.authorization.orch.io', version: 'v1', resource: 'clusterroles', ...more
})

export interface BareOptions {
  /** Facts of a request; path and verb are filled in from the request line. */
  info?: (request: FastifyRequest) => Partial<RequestInfo>
  /** Decorations that other plugins would add. */
  decorators?: Partial<OrchDecorators>
  context?: Partial<RequestContext>
  /** Receives each log entry. Default none. */
  log?: (entry: Record<string, unknown>) => void
}

export async function bareServer (options: BareOptions = {}): Promise<Whole> {
  const { log } = options
  // pino writes objects
  const logger = log === undefined
    ? false
    : { level: 'info', stream: { write: (line: string) => { log(JSON.parse(line) as Record<string, unknown>) } } }
  const fastify = Fastify({ return503OnClosing: false, logger })
  const decorators: Partial<OrchDecorators> = {
    orchClock: systemClock,
    orchResources: { serves: () => true } as unknown as OrchDecorators['orchResources'],
    orchEgress: { relay: async () => { throw new Error('no proxy') } },
    ...options.decorators,
    orchSettings: { outside: outside(false), ...options.decorators?.orchSettings } as OrchDecorators['orchSettings']
  }
  for (const [name, value] of Object.entries(decorators)) fastify.decorate<unknown>(name, value)
  let requests = 0
  await fastify.register(fp(async instance => {
    instance.decorateRequest('orch')
    instance.addHook('onRequest', (request, reply, done) => {
      const path = decodeURIComponent(request.url.split('?')[0] ?? '')
      let place: LimitPlace | undefined
      const context: RequestContext = {
        info: { ...NON_RESOURCE, path, verb: request.method.toLowerCase(), ...options.info?.(request) },
        query: new URLSearchParams(request.url.split('?')[1]),
        dropQuery: () => {},
        setQuery: () => {},
        receivedAt: new Date(),
        auditId: `audit-${++requests}`,
        trace: new Trace(),
        user: ALICE,
        impersonator: undefined, impersonationConstraint: undefined,
        dryRun: false,
        naming: OWN_NAMES,
        accept: undefined,
        warnings: [],
        annotations: {},
        failure: undefined,
        defect: false,
        overdue: false,
        waited: 0,
        waitedTogether: 0,
        warn: () => {},
        annotate: () => {},
        waitedFor: () => {},
        audited: false,
        filterSince: 0,
        filtered: undefined,
        recorder: undefined,
        isGone: false,
        signal: new AbortController().signal,
        end: () => {},
        onEnd: undefined,
        begun: undefined,
        handedOver: bytes => { place?.handedOver(bytes) },
        occupy: taken => {
          place = taken
          context.onClosed(() => { taken.closed() })
        },
        onClosed: then => { reply.raw.once('close', then) },
        ...options.context
      }
      request.orch = context
      done()
    })
  }, { name: 'orch/request-info' }))
  fastify.setErrorHandler((error, request, reply) => {
    if (!isStatusError(error)) throw error
    served(request).orch.failure = error
    return reply.code(error.status.code).headers(error.headers).send(error.status)
  })
  return fastify as Whole // with what the tested plugin needs
}

/** The part of a test that a builder needs: its end. */
export interface Test { teardown: (end: () => unknown) => void }
