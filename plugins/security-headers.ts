/**
 * Headers that tell browsers and caches what they may do with an answer, on every answer, refusals too:
 * no caching, and what helmet decides: no guessing of types, nothing in an answer is run or framed by a browser that
 * shows it, HSTS where it is asked for. Helmet is asked once, at the start, as its answer is the same for every
 * request: its Fastify adapter, which asks at each, costs 7 us of CPU a request, the headers by themselves 0.1.
 *
 * And CORS, off unless origins are given: then a call from a matching origin is allowed, and its preflight is answered
 * here, before anybody asks who is calling, as a preflight carries no credentials.
 *
 * Origins are matched by RE2: linear in the length of the header, whatever the expression. As in the
 * convention an expression matches anywhere in the origin unless it is anchored.
 *
 * @see interface, 'Server start-up options': --cors-allowed-origins, --strict-transport-security-directives
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import helmet from 'helmet'

export interface SecurityHeadersOptions {
  /** Regular expressions. Default none: no CORS. */
  allowedOrigins?: readonly string[]
  /** Directives of Strict-Transport-Security: `max-age=SECONDS` (where it is missing a year), `includeSubDomains`, `preload`. Default none. */
  strictTransportSecurity?: readonly string[]
}

const ALLOWED = {
  methods: ['POST', 'GET', 'OPTIONS', 'PUT', 'DELETE', 'PATCH'],
  allowedHeaders: ['Content-Type', 'Content-Length', 'Accept-Encoding', 'X-CSRF-Token', 'Authorization', 'X-Requested-With', 'If-Modified-Since'],
  exposedHeaders: ['Date'],
  credentials: true
}

/** For an API: helmet's other headers are about pages, which this server has none of. */
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

/** Names in lower case and values of the headers that every answer has. */
export function securityHeadersOf (strictTransportSecurity: readonly string[]): Array<[string, string]> {
  const headers = new Map([['cache-control', 'no-cache, private']])
  const directives = strictTransportSecurity.map(directive => directive.toLowerCase())
  const [maxAge] = directives.flatMap(directive => directive.startsWith('max-age=') ? [Number(directive.slice('max-age='.length))] : [])
  const decide = helmet({
    ...FOR_AN_API,
    strictTransportSecurity: directives.length > 0 && {
      ...(maxAge === undefined ? {} : { maxAge }),
      includeSubDomains: directives.includes('includesubdomains'),
      preload: directives.includes('preload')
    }
  })
  const answer = { setHeader: (name: string, value: string) => { headers.set(name.toLowerCase(), value) } }
  // It looks at no request, and of an answer sets headers alone; it would throw for anything else.
  decide({} as IncomingMessage, answer as unknown as ServerResponse, (error?: unknown) => { if (error !== undefined) throw error })
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

async function securityHeaders (fastify: FastifyInstance, { allowedOrigins = [], strictTransportSecurity = [] }: SecurityHeadersOptions): Promise<void> {
  const headers = securityHeadersOf(strictTransportSecurity)
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
