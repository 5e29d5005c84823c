/**
 * Logs one line per request, depending on `-v`: from 3 method and status, from 8 also headers, at 9 and 10 also
 * objects, cut to 1,000 and 10,000 characters. With a verbosity that may change it is registered below 3 too; a request
 * then costs a comparison. Never logs credentials, secrets, tokens that are reviewed or issued, or objects that are
 * encrypted at rest.
 * @see interface, 'Server start-up options': -v
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { served, type ObjectRecorder, type RequestContext, type ServedRequest } from '../answers/request-context.js'
import { plugin } from './shared/plugin.js'
import { withoutUrlSecrets } from '../schemas/quote.js'

export interface RequestLogOptions {
  /** 0 to 10. A function is called for each request. */
  readonly verbosity: number | (() => number)
}

interface Withheld {
  /** Further resources whose objects are not logged, PLURAL or PLURAL.GROUP, *.GROUP for all: the encrypted ones. */
  readonly encrypted?: readonly string[]
}

const WITH_LINES = 3
const WITH_HEADERS = 8
/** Maximum object characters by verbosity. */
const MAX_LENGTHS: Readonly<Record<number, number>> = { 9: 1000, 10: 10_000 }
/** Headers whose values are or may contain credentials, those for proxied servers included. */
const MASKED =
  /^(?:proxy-)?authorization$|cookie|token|secret|passw|credential|signature|api-?key|^x-auth|^sec-websocket-protocol$/
/** Resources whose objects contain secrets or tokens. */
const SECRET = new Set(['secrets', 'tokenreviews', 'serviceaccounts/token'])

interface LoggedObjects { request?: string, response?: string }

export default plugin<RequestLogOptions & Withheld>()(async (fastify, { verbosity: given, encrypted = [] }) => {
  const verbosity = typeof given === 'number' ? () => given : given
  // in every group, because several may serve one resource
  const withheld = new Set(encrypted.map(name => name.replace(/\..*$/, '')))
  const isWithheld = (resource: string): boolean => withheld.has('*') || withheld.has(resource)
  const bodies = new WeakMap<FastifyRequest, LoggedObjects>()

  fastify.addHook('onRequest', (request, reply, done) => {
    const level = verbosity()
    if (level < WITH_LINES) return done()
    const { method, raw: { url = '' } } = request
    const ip = request.ip.replace(/^::ffff:(?=\d+\.)/, '')
    const since = performance.now()
    const sent = level >= WITH_HEADERS ? masked(request.headers) : undefined
    reply.raw.once('close', () => {
      const { request: body, response } = bodies.get(request) ?? {}
      const { orch } = request
      request.log.info({
        method,
        url: withoutUrlSecrets(url),
        status: reply.raw.statusCode,
        milliseconds: Math.round((performance.now() - since) * 10) / 10,
        user: orch?.user?.username,
        ip,
        auditId: orch?.auditId,
        ...(sent === undefined ? {} : { requestHeaders: sent, responseHeaders: masked(reply.raw.getHeaders()) }),
        ...(body === undefined ? {} : { requestObject: body }),
        ...(response === undefined ? {} : { responseObject: response })
      }, 'request')
    })
    done()
  })
  fastify.addHook('preHandler', (arrived, _reply, done) => {
    const request = served(arrived)
    const longest = MAX_LENGTHS[verbosity()]
    if (longest !== undefined && !isWithheld(request.orch.info.resource) && !isSecret(request.orch)) {
      request.orch.recorder = keeping(request.orch.recorder, longest, bodies, request)
    }
    done()
  })
}, { name: 'orch/request-log', fastify: '5.x' })

const isSecret = ({ info: { resource, subresource } }: RequestContext): boolean =>
  SECRET.has(subresource === '' ? resource : `${resource}/${subresource}`)

/** Wraps the audit recorder, if any. */
function keeping (
  inner: ObjectRecorder | undefined, longest: number, bodies: WeakMap<FastifyRequest, LoggedObjects>,
  request: ServedRequest
): ObjectRecorder {
  const kept: LoggedObjects = {}
  bodies.set(request, kept)
  const cut = (json: string): string => json.length > longest ? `${json.slice(0, longest)}…` : json.trimEnd()
  const response = (json: () => string): void => { kept.response = cut(json()) }
  return {
    wantsRequest: inner?.wantsRequest === true,
    wantsResponse: true,
    request: (sent, json) => {
      kept.request = cut(json())
      inner?.request(sent, json)
    },
    response: json => {
      response(json)
      inner?.response(json)
    },
    status: status => {
      response(() => JSON.stringify(status))
      inner?.status(status)
    },
    tooLarge: () => {
      kept.response = '(too large)'
      inner?.tooLarge()
    }
  }
}

/** Headers in one line: `name: value; …`. */
function masked (headers: IncomingHttpHeaders | OutgoingHttpHeaders): string {
  return Object.entries(headers)
    .map(([name, value]) =>
      `${name}: ${MASKED.test(name) ? `${/^\w+(?= )/.exec(String(value))?.[0] ?? ''}…` : String(value)}`)
    .join('; ')
}
