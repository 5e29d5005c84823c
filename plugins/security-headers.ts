/**
 * Headers that tell browsers and caches what they may do with an answer, on every answer, refusals too: no caching, and
 * what @fastify/helmet decides. By default that is: no guessing of types, no answer is run or framed by a browser, and HSTS
 * where it is asked for. @fastify/helmet runs once, at the start: its answer is the same for every request, and running it
 * for each one costs 7 us of CPU where the kept headers cost 0.1.
 *
 * And CORS, off unless origins are given: then a call from a matching origin is allowed, and its preflight is answered
 * here, before anybody asks who is calling, as a preflight carries no credentials.
 *
 * Origins are matched by RE2: linear in the length of the header, whatever the expression. As in the
 * convention an expression matches anywhere in the origin unless it is anchored.
 *
 * @see interface, 'Server start-up options': --cors-allowed-origins, --strict-transport-security-directives
 */
import helmet from '@fastify/helmet'
import type { FastifyHelmetOptions } from '@fastify/helmet'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

export interface SecurityHeadersOptions {
  /** Regular expressions. Default none: no CORS. */
  allowedOrigins?: readonly string[]
  /** Directives of Strict-Transport-Security: `max-age=SECONDS` (where it is missing a year), `includeSubDomains`, `preload`. Default none. */
  strictTransportSecurity?: readonly string[]
  /**
   * Options of @fastify/helmet, each in the place of our own: `{ xFrameOptions: { action: 'deny' } }`. The headers are decided once, at the
   * start, so nonces (`enableCSPNonces`) are refused. `global: false` sends none of them.
   */
  helmet?: FastifyHelmetOptions
}

const ALLOWED = {
  methods: ['POST', 'GET', 'OPTIONS', 'PUT', 'DELETE', 'PATCH'],
  allowedHeaders: ['Content-Type', 'Content-Length', 'Accept-Encoding', 'X-CSRF-Token', 'Authorization', 'X-Requested-With', 'If-Modified-Since'],
  exposedHeaders: ['Date'],
  credentials: true
}

/** For an API: helmet's other headers are about pages, and this server has none. */
const FOR_AN_API = {
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  xContentTypeOptions: true,
  crossOriginEmbedderPolicy: false,
  crossOriginOpenerPolicy: false,
  crossOriginResourcePolicy: false,
  originAgentCluster: false,
  referrerPolicy: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false,
  xPermittedCrossDomainPolicies: false,
  xPoweredBy: false,
  xXssProtection: false
} as const

/** Options of @fastify/helmet for the directives of the flag. */
function hstsOf (strictTransportSecurity: readonly string[]): FastifyHelmetOptions['strictTransportSecurity'] {
  const directives = strictTransportSecurity.map(directive => directive.toLowerCase())
  const [maxAge] = directives.flatMap(directive => directive.startsWith('max-age=') ? [Number(directive.slice('max-age='.length))] : [])
  return directives.length > 0 && {
    ...(maxAge === undefined ? {} : { maxAge }),
    includeSubDomains: directives.includes('includesubdomains'),
    preload: directives.includes('preload')
  }
}

type Hook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => unknown

/**
 * Names in lower case and values of the headers that every answer has. @fastify/helmet is registered in a scope of its own,
 * where its hooks are taken and called once, so that no request reaches them.
 *
 * @throws Error for options that it refuses, and for nonces
 */
export async function securityHeadersOf (fastify: FastifyInstance, { strictTransportSecurity = [], helmet: own = {} }: SecurityHeadersOptions): Promise<Array<[string, string]>> {
  if (own.enableCSPNonces === true) throw new Error('securityHeaders.helmet.enableCSPNonces: the headers are decided once, so no answer can have a nonce of its own')
  // Helmet itself refuses an option under two names, which its types have as unions.
  const options = { ...FOR_AN_API, strictTransportSecurity: hstsOf(strictTransportSecurity), ...own } as FastifyHelmetOptions
  const hooks: Hook[] = []
  await fastify.register(async scope => {
    const take = (name: string, hook: Hook): FastifyInstance => {
      if (name === 'onRequest') hooks.push(hook)
      return scope
    }
    scope.addHook = take as typeof scope.addHook
    await scope.register(helmet, options)
  })
  const headers = new Map([['cache-control', 'no-cache, private']])
  const raw = {
    setHeader: (name: string, value: string) => { headers.set(name.toLowerCase(), value) },
    removeHeader: () => {}
  }
  // Helmet looks at no request, and of an answer it sets and removes headers alone; it would throw for anything else.
  const request = { raw: {}, routeOptions: { config: {} } } as unknown as FastifyRequest
  const reply = { raw } as unknown as FastifyReply
  for (const hook of hooks) await hook(request, reply, () => {})
  return [...headers]
}

/** No origin is longer than a host name and its port. */
const MAX_ORIGIN = 300
const REMEMBERED = 1000

/** Whether an origin is allowed; the answers for origins that are, are remembered. @throws Error for a bad expression */
export async function originMatcher (expressions: readonly string[]): Promise<(origin: string) => boolean> {
  const { RE2JS } = await import('re2js')
  const patterns = expressions.map(expression => {
    try {
      return RE2JS.compile(expression)
    } catch (error) {
      throw new Error(`allowed origin ${JSON.stringify(expression)} is not a regular expression: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
    }
  })
  const allowed = new Set<string>()
  return origin => {
    if (origin.length > MAX_ORIGIN) return false
    if (allowed.has(origin)) return true
    if (!patterns.some(pattern => pattern.matcher(origin).find())) return false
    if (allowed.size < REMEMBERED) allowed.add(origin)
    return true
  }
}

async function securityHeaders (fastify: FastifyInstance, options: SecurityHeadersOptions): Promise<void> {
  const { allowedOrigins = [] } = options
  const headers = await securityHeadersOf(fastify, options)
  fastify.addHook('onRequest', (_request, reply, done) => {
    for (const [name, value] of headers) reply.header(name, value)
    done()
  })
  if (allowedOrigins.length === 0) return

  const matches = await originMatcher(allowedOrigins)
  const { default: cors } = await import('@fastify/cors')
  await fastify.register(cors, {
    ...ALLOWED,
    origin: (origin, answer) => { answer(null, origin !== undefined && matches(origin)) },
    strictPreflight: false
  })
  // A cache must not hand one origin's answer to another, a refusal neither.
  fastify.addHook('onRequest', (_request, reply, done) => {
    if (!reply.hasHeader('vary')) reply.header('vary', 'Origin')
    done()
  })
}

export default fp(securityHeaders, { name: 'orch/security-headers', fastify: '5.x', dependencies: ['orch/request-info'] })
