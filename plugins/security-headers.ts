/**
 * Headers that tell browsers and caches what they may do with an answer, on every answer, refusals too:
 * no caching, no guessing of types, HSTS where it is asked for. And CORS, off unless origins are given:
 * then a call from a matching origin is allowed, and its preflight is answered here, before anybody asks
 * who is calling, as a preflight carries no credentials.
 *
 * Origins are matched by RE2: linear in the length of the header, whatever the expression. As in the
 * convention an expression matches anywhere in the origin unless it is anchored.
 *
 * @see interface, 'Server start-up options': --cors-allowed-origins, --strict-transport-security-directives
 */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

export interface SecurityHeadersOptions {
  /** Regular expressions. Default none: no CORS. */
  allowedOrigins?: readonly string[]
  /** Directives of Strict-Transport-Security. Default none. */
  strictTransportSecurity?: readonly string[]
}

const ALLOWED = {
  methods: ['POST', 'GET', 'OPTIONS', 'PUT', 'DELETE', 'PATCH'],
  allowedHeaders: ['Content-Type', 'Content-Length', 'Accept-Encoding', 'X-CSRF-Token', 'Authorization', 'X-Requested-With', 'If-Modified-Since'],
  exposedHeaders: ['Date'],
  credentials: true
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

async function securityHeaders (fastify: FastifyInstance, { allowedOrigins = [], strictTransportSecurity = [] }: SecurityHeadersOptions): Promise<void> {
  const strict = strictTransportSecurity.join('; ')
  fastify.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-cache, private')
    reply.header('x-content-type-options', 'nosniff')
    if (strict !== '') reply.header('strict-transport-security', strict)
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
