import t from 'tap'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from './fastify.js'
import type { FastifyInstance } from 'fastify'
import orch, { type ServerOptions } from '../app.js'
import { BINDINGS, client, binding, type Client, type Json, type Test } from './build.js'

async function serve (t: Test, options: ServerOptions): Promise<Client & { events: () => Json[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-app-'))
  const path = join(folder, 'audit.log')
  const app: FastifyInstance = Fastify({ logger: false })
  t.teardown(async () => {
    await app.close()
    rmSync(folder, { recursive: true })
  })
  await app.register(orch, { ...options, audit: { path } })
  await app.ready()
  const made = client(app)
  return { ...made, events: () => readFileSync(path, 'utf8').trim().split('\n').map(line => JSON.parse(line) as Json) }
}

const TOKENS = 'good,ann,1\n'
const ANN = { authorization: 'Bearer good' }

t.test('authentication comes first: without credentials every path is 401, existing or not', async t => {
  const server = await serve(t, { authentication: { tokens: TOKENS, anonymous: false } })
  for (const url of [BINDINGS, '/nothing/here', '/apis', '/version', '/openapi/v2', '/metrics']) {
    t.equal((await server.get(url)).code, 401, url)
  }
  t.equal(
    (await server.post(`${BINDINGS}?dryRun=Nonsense`, 'not even json')).code, 401,
    'before anything of the request is looked at'
  )
  t.equal((await server.get(BINDINGS, { accept: 'text/html' })).code, 401, 'before the form of the answer')
})

t.test('refused requests are audited as well as served ones', async t => {
  const server = await serve(t, {
    authentication: { tokens: TOKENS, anonymous: false },
    authorization: {
      authorizers: [
        { name: 'no-deletes', authorize: ({ info }) => ({ decision: info.verb === 'delete' ? 'Deny' : 'NoOpinion' }) }
      ]
    }
  })
  await server.get(`${BINDINGS}/one`, ANN)
  await server.call('DELETE', `${BINDINGS}/one`, undefined, ANN)
  await server.get('/nothing', ANN)
  await server.post(BINDINGS, binding('one'), ANN)
  await server.app.close() // the last event is written after its answer
  const complete = server.events()
    .filter(({ stage }) => stage === 'ResponseComplete')
    .map(({ verb, responseStatus, user }) => `${verb} ${responseStatus.code} ${user.username}`)
  t.same(complete, ['get 404 ann', 'delete 403 ann', 'get 404 ann', 'create 201 ann'])
})

t.test('security headers and metrics come before authentication: refused requests have them too', async t => {
  const server = await serve(t, {
    authentication: { tokens: TOKENS, anonymous: false }, securityHeaders: { allowedOrigins: ['example.com'] }
  })
  const { code, headers } = await server.get(BINDINGS, { origin: 'https://example.com' })
  t.equal(code, 401)
  t.match(headers, { 'x-content-type-options': 'nosniff', 'access-control-allow-origin': 'https://example.com' })
  t.ok(/^apiserver_request_total\{verb="LIST".*code="401"\} 1$/m.test((await server.get('/metrics', ANN)).body))
})

t.test(
  'impersonation follows audit, which names both users, and precedes authorization, which is for the impersonated one',
  async t => {
    const server = await serve(t, {
      authentication: { tokens: TOKENS },
      authorization: {
        authorizers: [
          {
            name: 'boss',
            authorize: ({ user, info }) => ({
              decision: user.username === 'ann' && info.verb !== 'impersonate' ? 'Deny' : 'Allow'
            })
          }
        ]
      }
    })
    t.equal((await server.get(BINDINGS, ANN)).code, 403)
    t.equal((await server.get(BINDINGS, { ...ANN, 'impersonate-user': 'bob' })).code, 200)
    await server.app.close()
    t.match(server.events()
      .filter(({ stage }) => stage === 'ResponseComplete')
      .at(-1), { user: { username: 'ann' }, impersonatedUser: { username: 'bob' } })
  }
)

t.test('a forbidden request is 403 whatever its media type and body', async t => {
  const server = await serve(t, { authorization: { modes: ['AlwaysDeny'] } })
  t.equal((await server.get(BINDINGS, { accept: 'text/html' })).code, 403)
  t.equal(
    (await server.post(`${BINDINGS}?dryRun=Nonsense`, 'x'.repeat(4 * 1024 * 1024))).code, 403, 'its body is not read'
  )
})

t.test('a full server refuses requests after authentication and before authorization', async t => {
  const asked = { times: 0 }
  let release = (): void => {}
  const held = new Promise<void>(resolve => { release = resolve })
  const server = await serve(t, {
    limits: { maxRequestsInflight: 1 },
    authorization: {
      authorizers: [
        {
          name: 'slow',
          authorize: async ({ info }) => {
            asked.times++
            if (info.name === 'slow') await held
            return { decision: 'Allow' }
          }
        }
      ]
    }
  })
  const slow = server.get(`${BINDINGS}/slow`)
  while (asked.times === 0) await new Promise(resolve => { setImmediate(resolve) })
  const refused = await server.get(`${BINDINGS}/other`)
  t.match(refused, { code: 429, json: { reason: 'TooManyRequests' }, headers: { 'retry-after': /^\d+$/ } })
  t.equal(asked.times, 1)
  release()
  t.equal((await slow).code, 404)
  t.equal((await server.get(`${BINDINGS}/other`)).code, 404, 'and serves again')
})

t.test('every response carries its audit ID', async t => {
  const server = await serve(t, {})
  const ids = await Promise.all([BINDINGS, '/nothing', '/version'].map(async url =>
    (await server.get(url)).headers['audit-id']))
  t.equal(new Set(ids).size, 3)
  for (const id of ids) t.match(id, /^[0-9a-f-]{36}$/)
})

t.test('a request\'s audit ID is kept if it is valid', async t => {
  const server = await serve(t, {})
  const idOf = async (id: string) => (await server.get('/version', { 'audit-id': id })).headers['audit-id']
  for (const id of ['71c9ccb4-c6c8-4e3a-a5a3-9a7e8a1f0d52', 'gateway-1:42', 'x'.repeat(256)]) {
    t.equal(await idOf(id), id)
  }
  for (const id of ['', 'a b', 'a,b', '"', 'a\tb', 'x'.repeat(257)]) t.match(await idOf(id), /^[0-9a-f-]{36}$/)
})

t.test('a request that takes too long is aborted', async t => {
  const server = await serve(t, {
    limits: { requestTimeout: 50 },
    authorization: {
      authorizers: [
        {
          name: 'never',
          authorize: async ({ info }) => info.verb === 'list' ? await new Promise(() => {}) : { decision: 'Allow' }
        }
      ]
    }
  })
  const alive = setInterval(() => {}, 1000) // inject opens no socket that would keep the process alive
  t.teardown(() => { clearInterval(alive) })
  t.match(await server.get(BINDINGS), { code: 504, json: { reason: 'Timeout' } })
})
