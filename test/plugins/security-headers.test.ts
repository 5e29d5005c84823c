import t from 'tap'
import securityHeaders, {
  originMatcher, securityHeadersOf, type SecurityHeadersOptions
} from '../../plugins/security-headers.js'
import { unauthorized } from '../../schemas/status.js'
import { bareServer, type Test } from './bare-server.js'
import { ownTime } from '../own-time.js'

async function build (test: Test, options: SecurityHeadersOptions = {}) {
  const fastify = await bareServer()
  await fastify.register(securityHeaders, options)
  fastify.get('/', async () => 'hello')
  fastify.get('/refused', async () => { throw unauthorized() })
  test.teardown(() => fastify.close())
  return fastify
}

t.test(
  'every answer forbids caching, guessing and running what it holds, a refusal and an unknown path too', async t => {
    const fastify = await build(t)
    for (const path of ['/', '/refused', '/nowhere']) {
      const { headers } = await fastify.inject(path)
      t.equal(headers['cache-control'], 'no-cache, private', path)
      t.equal(headers['x-content-type-options'], 'nosniff', path)
      t.equal(headers['content-security-policy'], "default-src 'none';frame-ancestors 'none'", path)
      t.notOk(headers['strict-transport-security'], path)
      t.notOk(headers['vary'], path)
    }
  }
)

t.test('the headers of an API are few, so that an answer stays small', async t => {
  t.strictSame((await securityHeadersOf(await bareServer(), {})).map(([name]) => name), [
    'cache-control', 'content-security-policy', 'x-content-type-options'
  ])
})

t.test('HSTS has exactly the given directives, and a default age', async t => {
  for (const [directives, value] of [
    [['max-age=10'], 'max-age=10'],
    [['preload', 'max-age=0'], 'max-age=0; preload'],
    [['INCLUDESUBDOMAINS'], 'max-age=31536000; includeSubDomains']
  ] as const) {
    t.equal(
      new Map(await securityHeadersOf(await bareServer(), {
        strictTransportSecurity: directives
      })).get('strict-transport-security'),
      value
    )
  }
})

t.test('the directives of HSTS are sent as given', async t => {
  const fastify = await build(t, { strictTransportSecurity: ['max-age=31536000', 'includeSubDomains', 'preload'] })
  t.equal(
    (await fastify.inject('/refused')).headers['strict-transport-security'],
    'max-age=31536000; includeSubDomains; preload'
  )
})

t.test('a host may say more to @fastify/helmet, and in the place of what we say', async t => {
  const fastify = await build(t, {
    strictTransportSecurity: ['max-age=10'],
    helmet: { xFrameOptions: { action: 'deny' }, contentSecurityPolicy: false, xPoweredBy: true }
  })
  const { headers } = await fastify.inject('/refused')
  t.equal(headers['x-frame-options'], 'DENY')
  t.notOk(headers['content-security-policy'])
  t.match(headers, { 'x-content-type-options': 'nosniff', 'strict-transport-security': 'max-age=10' })
  t.equal(
    (await (await build(t, { helmet: { global: false } })).inject('/')).headers['x-content-type-options'], undefined
  )
})

t.test('options that need a decision per request are refused, as are those @fastify/helmet refuses', async t => {
  await t.rejects(build(t, { helmet: { enableCSPNonces: true } }), /enableCSPNonces/)
  await t.rejects(build(t, { helmet: { strictTransportSecurity: { maxAge: -1 } } }), /max-?age/i)
})

t.test('@fastify/helmet sees no request, and its decorators stay in a scope of their own', async t => {
  const fastify = await build(t)
  t.notOk(fastify.hasReplyDecorator('helmet'))
  t.notOk(fastify.hasReplyDecorator('cspNonce'))
})

t.test('CORS is off by default', async t => {
  const fastify = await build(t)
  const { headers, statusCode } = await fastify.inject({ url: '/', headers: { origin: 'https://example.com' } })
  t.equal(statusCode, 200)
  t.notOk(headers['access-control-allow-origin'])
  t.equal(
    (await fastify.inject({ method: 'OPTIONS', url: '/', headers: { origin: 'https://example.com' } })).statusCode, 404
  )
})

t.test('a matching origin is allowed and its preflight answered, any other gets nothing', async t => {
  const fastify = await build(t, { allowedOrigins: ['^https://[a-z]+\\.example\\.com$', 'localhost'] })
  const good = await fastify.inject({ url: '/', headers: { origin: 'https://app.example.com' } })
  t.equal(good.headers['access-control-allow-origin'], 'https://app.example.com')
  t.equal(good.headers['access-control-allow-credentials'], 'true')
  t.match(good.headers['vary'], /Origin/)
  const preflight = await fastify.inject({
    method: 'OPTIONS', url: '/', headers: { origin: 'http://localhost:3000', 'access-control-request-method': 'PATCH' }
  })
  t.equal(preflight.statusCode, 204)
  t.match(preflight.headers['access-control-allow-methods'], /PATCH/)
  t.match(preflight.headers['access-control-allow-headers'], /Authorization/)
  t.equal(preflight.body, '')
  for (const origin of ['https://app.example.com.evil.org', 'https://appxexample.com', 'null']) {
    const bad = await fastify.inject({ url: '/', headers: { origin } })
    t.equal(bad.statusCode, 200)
    t.notOk(bad.headers['access-control-allow-origin'], origin)
    t.match(bad.headers['vary'], /Origin/, 'the refusal must not be cached for another origin')
  }
  t.equal(
    (await fastify.inject({ method: 'OPTIONS', url: '/', headers: { origin: 'https://evil.org' } })).statusCode, 404
  )
})

t.test('an expression that makes others backtrack takes linear time', async t => {
  const matches = await originMatcher(['^(a+)+$', '(x+x+)+y'])
  const before = ownTime()
  t.equal(matches(`${'a'.repeat(299)}!`), false)
  t.equal(matches('x'.repeat(300)), false)
  t.equal(matches('a'.repeat(5000)), false, 'an origin longer than any is not looked at')
  t.ok(ownTime() - before < 1000, 'a backtracking engine would not come back in this life')
})

t.test('an invalid expression fails the start and is named', async t => {
  await t.rejects(originMatcher(['ok', '(']), /"\("/)
  await t.rejects(originMatcher(['(?=lookahead)']), /lookahead/)
})
