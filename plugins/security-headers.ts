/**
 * Sets security headers on every response, errors included: no caching, and @fastify/helmet's headers. By default: no
 * type sniffing, no script execution or framing, and HSTS if enabled. Helmet's headers are the same for every request,
 * so its hooks run once, at the start, which saves nearly half of their cost. Benchmark: `npm run bench -- headers`,
 * 'security headers, by helmet for each answer'. As a plugin it would also set them where no hook can replace them.
 * CORS is disabled unless origins are configured. Preflights carry no credentials and are answered before
 * authentication. Origins are matched by RE2, in linear time. As upstream, an expression matches anywhere in the origin
 * unless anchored.
 * @see interface, 'Server start-up options': --cors-allowed-origins, --strict-transport-security-directives
 */
import helmet, { type FastifyHelmetOptions } from '@fastify/helmet'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { plugin } from './shared/plugin.js'

export interface SecurityHeadersOptions {
  /** Regular expressions. Default none: CORS is disabled. */
  allowedOrigins?: readonly string[]
  /**
   * Directives of Strict-Transport-Security: `max-age=SECONDS` (default one year), `includeSubDomains`, `preload`.
   * Default none.
   */
  strictTransportSecurity?: readonly string[]
  /**
   * Options of @fastify/helmet that override the defaults: `{ xFrameOptions: { action: 'deny' } }`. Headers are
   * computed once, so nonces (`enableCSPNonces`) are rejected. `global: false` disables all of them.
   */
  helmet?: FastifyHelmetOptions
}

const ALLOWED = {
  methods: ['POST', 'GET', 'OPTIONS', 'PUT', 'DELETE', 'PATCH'],
  allowedHeaders: [
    'Content-Type', 'Content-Length', 'Accept-Encoding', 'X-CSRF-Token', 'Authorization', 'X-Requested-With',
    'If-Modified-Since'
  ],
  exposedHeaders: ['Date'],
  credentials: true
}

/**
 * Helmet's other headers concern pages. Those of this server (`answers/page/`) have a policy of their own, by the hash
 * of their style sheet.
 */
export const FOR_AN_API = {
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

/** Translates the flag's directives to options of @fastify/helmet. */
function hstsOf (strictTransportSecurity: readonly string[]): FastifyHelmetOptions['strictTransportSecurity'] {
  const directives = strictTransportSecurity.map(directive => directive.toLowerCase())
  const [maxAge] = directives.flatMap(directive =>
    directive.startsWith('max-age=') ? [Number(directive.slice('max-age='.length))] : [])
  return directives.length > 0 && {
    ...(maxAge === undefined ? {} : { maxAge }),
    includeSubDomains: directives.includes('includesubdomains'),
    preload: directives.includes('preload')
  }
}

type Hook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => unknown

/**
 * Computes the headers of every response, names in lower case. @fastify/helmet is registered in its own scope, where
 * its hooks are captured and run once.
 * @throws Error for options that helmet rejects, and for nonces
 */
export async function securityHeadersOf (
  fastify: FastifyInstance, { strictTransportSecurity = [], helmet: own = {} }: SecurityHeadersOptions
): Promise<Array<[string, string]>> {
  if (own.enableCSPNonces === true) {
    throw new Error(
      'securityHeaders.helmet.enableCSPNonces: the headers are decided once, so no answer can have a nonce of its own'
    )
  }
  // The types model option aliases as unions; helmet itself rejects duplicates.
  const options =
    { ...FOR_AN_API, strictTransportSecurity: hstsOf(strictTransportSecurity), ...own } as FastifyHelmetOptions
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
  // Helmet ignores the request and only sets or removes response headers. Any other use would throw.
  const request = { raw: {}, routeOptions: { config: {} } } as unknown as FastifyRequest
  const reply = { raw } as unknown as FastifyReply
  for (const hook of hooks) await hook(request, reply, () => {})
  return [...headers]
}

/** Longest accepted origin: a host name and a port. */
const MAX_ORIGIN = 300
const MAX_CACHED = 1000

/** Returns a predicate for allowed origins; positive results are cached. @throws Error for an invalid expression */
export async function originMatcher (expressions: readonly string[]): Promise<(origin: string) => boolean> {
  const { RE2JS } = await import('re2js')
  const patterns = expressions.map(expression => {
    try {
      return RE2JS.compile(expression)
    } catch (error) {
      throw new Error(
        `allowed origin ${JSON.stringify(expression)} is not a regular expression: ` +
          `${error instanceof Error ? error.message : String(error)}`,
        { cause: error }
      )
    }
  })
  const allowed = new Set<string>()
  return origin => {
    if (origin.length > MAX_ORIGIN) return false
    if (allowed.has(origin)) return true
    if (!patterns.some(pattern => pattern.matcher(origin).find())) return false
    if (allowed.size < MAX_CACHED) allowed.add(origin)
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
  // Caches must not serve one origin's response to another, errors included.
  fastify.addHook('onRequest', (_request, reply, done) => {
    if (!reply.hasHeader('vary')) reply.header('vary', 'Origin')
    done()
  })
}

export default plugin<SecurityHeadersOptions>()(securityHeaders, {
  name: 'orch/security-headers', fastify: '5.x', dependencies: ['orch/request-info']
})
