/**
 * The front page: which clients get it and what each reader may see. It escapes all text, and reads only what is in
 * memory.
 */
import t from 'tap'
import Fastify from '../fastify.js'
import orch from '../../app.js'
import { build, client, type Client, type Json, type Test } from '../build.js'
import { ATTACK, dashboardRole, eventOf, TOKENS } from './front-page-objects.js'
import { polled } from '../polled.js'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
const RBAC = { authentication: { tokens: TOKENS }, authorization: { modes: ['RBAC' as const] } }
const EVENTS = '/api/v1/namespaces/default/events'

const as = (token: string, accept = BROWSER): Record<string, string> => ({ accept, authorization: `Bearer ${token}` })
const pageOf = async (
  server: Client, headers: Record<string, string> = { accept: BROWSER }, url = '/'
): Promise<string> => (await server.get(url, headers)).body
/** The text of a section. */
function section (page: string, id: string): string {
  const found = page.split('<section ').find(part => part.startsWith(`aria-labelledby="${id}"`)) ?? ''
  return found.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ').trim()
}

async function withRoles (t: Test, username: string, more?: Json[]): Promise<Client> {
  const server = await build(t, RBAC)
  for (const { url, object } of dashboardRole(username, more)) await server.post(url, object, as('root', '*/*'))
  return server
}

t.test('API clients get the same bytes as before', async t => {
  const server = await build(t)
  const { body, headers } = await server.get('/')
  t.match(body, /^\{"paths":\["\/\.well-known\/openid-configuration","\/api","\/api\/v1","\/apis",.*\]\}\n$/)
  for (const accept of [
    '*/*', 'application/json', 'application/*', 'application/json;q=0.9, */*;q=0.8',
    'application/vnd.orch.protobuf, application/json', 'text/plain, */*'
  ]) {
    const { body: same, headers: sent } = await server.get('/', { accept })
    t.equal(same, body, accept)
    for (const name of ['content-type', 'content-security-policy', 'vary', 'content-length']) {
      t.equal(sent[name], headers[name], `${accept}: ${name}`)
    }
  }
  const indented = `${JSON.stringify(JSON.parse(body), null, 2)}`
  for (const accept of [
    'application/json, text/html', 'text/html;q=0.5, application/json', 'application/json, text/html;q=0.9, */*;q=0.1',
    'text/html;q=0, */*'
  ]) {
    t.equal((await server.get('/', { accept })).body, indented, accept)
  }
  t.match(await server.get('/', { accept: 'application/yaml' }), { headers: { 'content-type': 'application/yaml' } })
  t.match((await server.get('/', { accept: 'image/png' })).json, {
    code: 406, message: 'only the following media types are accepted: application/json, application/yaml'
  })
  t.equal((await server.get('/apis', { accept: 'text/html' })).code, 406, 'no other path has a page')
  t.match((await server.get('/apis', { accept: BROWSER })).body, /^\{\n {2}"kind": "APIGroupList"/)
  t.equal((await server.call('POST', '/', '', { accept: BROWSER })).code, 405)
})

t.test('a browser gets a page with a policy that allows its style sheet and nothing else', async t => {
  const server = await build(t, { securityHeaders: { helmet: { contentSecurityPolicy: false } } })
  for (const accept of [
    BROWSER, 'text/html', 'TEXT/HTML', 'text/html, application/json', 'application/json;q=0.5, text/html'
  ]) {
    const { code, headers } = await server.get('/', { accept })
    t.match(
      { code, headers },
      {
        code: 200,
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'x-content-type-options': 'nosniff',
          'cache-control': 'no-cache, private'
        }
      },
      accept
    )
    t.match(
      headers['content-security-policy'],
      /^default-src 'none';style-src 'sha256-[\w+/=]+';img-src data:;base-uri 'none';form-action 'none';frame-ancestors 'none'$/,
      'even if the host has switched its own off'
    )
  }
})

t.test('users who may not read / get a page that says so, with the refusal of API clients', async t => {
  const server = await build(t, RBAC)
  for (const token of [undefined, 'ann']) {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const browser = await server.get('/', { accept: BROWSER, ...headers })
    t.match(browser, { code: 403, headers: { 'content-type': 'text/html; charset=utf-8' } })
    t.match(browser.body, ((await server.get('/', headers)).json['message'] as string).replaceAll('"', '&quot;'))
  }
  const closed = await build(t, {
    ...RBAC,
    authentication: {
      tokens: TOKENS,
      anonymous: false,
      authenticators: [
        {
          name: 'probe',
          authenticate: ({ headers }) =>
            headers.accept === undefined ? { username: 'probe', uid: '', groups: [], extra: {} } : undefined
        }
      ]
    },
    authorization: {}
  })
  t.match(await closed.get('/', { accept: BROWSER }), { code: 401, body: /Unauthorized/ })
})

t.test('each reader sees the resources they may list and get, and which are not permitted', async t => {
  const server = await withRoles(t, 'ann')
  await server.post(EVENTS, eventOf('secret-event', 'a message for few'), as('root', '*/*'))
  await server.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'one' } }, as('root', '*/*'))
  await server.post('/api/v1/namespaces/default/secrets', { metadata: { name: 'hidden' } }, as('root', '*/*'))
  const own = await pageOf(server, as('ann'))
  t.match(own, 'You are <strong>ann</strong>, in 2 groups: readers, system:authenticated')
  t.match(own, 'Release v1.24.0+orch-', 'everybody may read the version by default')
  t.match(section(own, 'health'), /Ready \d+ checks of readyz pass .* Live \d+ checks of livez pass/)
  t.match(
    section(own, 'resources'),
    /Resources Resource API group Objects configmaps core 1 \d+ not permitted: you may not list them .*secrets/,
    'the names of resources are in discovery'
  )
  t.notMatch(section(own, 'resources'), /without objects/)
  t.match(section(own, 'events'), 'Not permitted: you may not list events')
  t.notMatch(own, 'a message for few')
  for (const path of ['/metrics', '/debug/api_priority_and_fairness/dump_requests']) {
    t.match(section(own, 'slow'), `you may not get ${path}`)
  }
  t.match(section(own, 'documents'), /OpenAPI 2 OpenAPI 3 API groups Version readyz livez$/)
  const all = await pageOf(server, as('root'))
  t.match(all, 'a message for few')
  t.match(section(all, 'resources'), /secrets core 1/)
  t.notMatch(all, 'ot permitted')
  t.equal(
    (await pageOf(server, {
      ...as('root'), 'impersonate-user': 'ann', 'impersonate-group': 'readers'
    })).replace(/(?:&lt; )?[\d.]+ m?s/g, ''),
    own.replace(/(?:&lt; )?[\d.]+ m?s/g, ''),
    'an impersonator sees the page of the impersonated user'
  )
})

t.test('users who may not discover a resource learn neither its name nor its number', async t => {
  const server = await withRoles(t, 'system:anonymous')
  const page = await pageOf(server)
  t.match(section(page, 'resources'), /1 without objects configmaps$/, 'as the role permits')
  t.notMatch(section(page, 'resources'), /secrets|not permitted|clusterroles/)
  t.match(section(page, 'documents'), /Documents Version readyz livez$/)
  t.match(page, 'You are <strong>system:anonymous</strong>, in 1 group: system:unauthenticated')
})

t.test('events come newest first, each once, without those that are deleted', async t => {
  const server = await build(t)
  for (let at = 0; at < 30; at++) await server.post(EVENTS, eventOf(`e-${at}`, `message ${at}.`))
  await server.delete(`${EVENTS}/e-29`)
  for (let at = 0; at < 50; at++) await server.patch(`${EVENTS}/e-3`, { count: at + 2 })
  const shown = section(await pageOf(server), 'events').match(/message \d+\./g)
  t.same(shown, [3, ...Array.from({ length: 19 }, (_, at) => 28 - at)].map(at => `message ${at}.`))
  await server.post(EVENTS, {
    ...eventOf('large', 'x'), metadata: { name: 'large', namespace: 'default', annotations: { a: 'x'.repeat(100_000) } }
  })
  t.match(section(await pageOf(server), 'events'), /default large: too large for this page/)
})

t.test('after a restart the events are read from memory if they are few', async t => {
  const directory = t.testdir()
  for (const start of [1, 2]) {
    const app = Fastify()
    await app.register(orch, { storage: { kind: 'embedded', directory } })
    await app.ready()
    const server = client(app)
    await polled(async () => (await server.get('/readyz')).code === 200)
    if (start === 1) for (let at = 0; at < 3; at++) await server.post(EVENTS, eventOf(`e-${2 - at}`, `message ${at}.`))
    else {
      t.same(section(await pageOf(server), 'events').match(/message \d+\./g), [
        'message 2.', 'message 1.', 'message 0.'
      ])
    }
    await app.close()
  }
})

t.test('all names from clients are escaped', async t => {
  let release = (): void => {}
  const held = new Promise<void>(resolve => { release = resolve })
  const server = await build(t, {
    authentication: { tokens: TOKENS },
    authorization: {
      authorizers: [
        {
          name: 'slow',
          authorize: async ({ info }) => { if (info.name.includes('script')) await held; return { decision: 'Allow' } }
        }
      ]
    }
  })
  const event = eventOf('attack', ATTACK, 'Normal')
  await server.post(EVENTS, {
    ...event,
    reason: `r${ATTACK}`,
    type: 'Warning',
    involvedObject: { kind: `K${ATTACK}`, name: `n${ATTACK}`, namespace: 'default' }
  })
  const path = `/api/v1/namespaces/default/configmaps/${encodeURIComponent('<script>alert(4)<script>')}`
  const waiting = server.get(path, as('bob', '*/*'))
  const page = await pageOf(server, as('bob'))
  const names = page.match(/&lt;script&gt;/g) ?? []
  t.ok(names.length >= 6, 'the reader, the request, its user and each part of the event')
  t.match(section(page, 'slow'), 'get /api/v1/namespaces/default/configmaps/&lt;script&gt;alert(4)&lt;script&gt;')
  t.same(page.match(/<(?:script|img|iframe)|<a href="(?!\.\/)|<[^>]*\son\w+=/g), null)
  t.notMatch(await pageOf(server, as('bob'), '/?x="><script>alert(5)</script>'), 'alert(5)')
  await new Promise(resolve => setTimeout(resolve, 600)) // a slow request takes that long
  release()
  await waiting
  t.match(
    section(await pageOf(server, as('bob')), 'slow'),
    /Slow lately .* get \/api\/v1\/namespaces\/default\/configmaps\/&lt;script&gt;alert\(4\)&lt;script&gt; &lt;script&gt;alert\(1\)/
  )
})

t.test('a view of the page lists and counts nothing in the store, however many objects there are', async t => {
  const server = await build(t)
  for (let at = 0; at < 300; at++) {
    await server.post('/api/v1/namespaces/default/configmaps', { metadata: { name: `c-${at}` } })
  }
  const reads = async (): Promise<string[]> => (await server.get('/metrics')).body.split('\n').filter(
    line => /^(?:apiserver_cache_list_\w+|apiserver_storage_list_\w+|etcd_request_duration_seconds_count)\{/.test(line)
  )
  const before = await reads()
  t.ok(before.length > 0)
  for (let at = 0; at < 5; at++) t.match(section(await pageOf(server), 'resources'), 'configmaps core 300')
  t.same(await reads(), before)
})

t.test('links work below the prefix of a host, with and without its slash', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(orch, { prefix: '/clusters/one' })
  await app.ready()
  const server = client(app)
  await polled(async () => (await server.get('/clusters/one/readyz')).code === 200)
  for (const url of ['/clusters/one', '/clusters/one/', '/clusters/one?a=b/c']) {
    const links = [
      ...(await pageOf(server, { accept: BROWSER }, url)).matchAll(/<a href="([^"]*)"/g)
    ].map(([, link = '']) => new URL(link, `http://host${url}`).href)
    t.ok(links.length > 5)
    for (const link of new Set(links)) {
      t.equal((await server.get(link.slice('http://host'.length))).code, 200, `${url}: ${link}`)
    }
  }
})

t.test(
  'with a failing authorizer the page lists nothing, and a remote authorizer gets few requests at once', async t => {
    let asked = 0
    let together = 0
    let most = 0
    const server = await build(t, {
      authorization: {
        authorizers: [{
          name: 'remote',
          authorize: async ({ info }) => {
            if (info.verb !== 'list') {
              return { decision: info.path === '/' || info.path === '/readyz' ? 'Allow' : 'NoOpinion' }
            }
            asked++
            most = Math.max(most, ++together)
            await new Promise(resolve => { setImmediate(resolve) })
            together--
            return { decision: 'NoOpinion', evaluationError: new Error('no answer') }
          }
        }],
        modes: ['AlwaysDeny']
      }
    })
    const page = await pageOf(server)
    t.match(section(page, 'resources'), 'you may list no resource')
    t.ok(asked > 40)
    t.ok(most > 1 && most <= 16, 'several at a time, but not all')
  }
)

t.test('slow decisions are made in several turns of the event loop, however many read the page', async t => {
  let inTurn = 0
  let most = 0
  let over = false
  const server = await build(t, {
    authorization: {
      authorizers: [{
        name: 'many-rules',
        authorize: ({ info: { verb, path } }) => {
          if (verb === 'list') {
            most = Math.max(most, ++inTurn)
            const until = performance.now() + 3
            while (performance.now() < until); // as with thousands of rules
          }
          return { decision: verb === 'list' || path === '/' || path === '/readyz' ? 'Allow' : 'NoOpinion' }
        }
      }],
      modes: ['AlwaysDeny']
    }
  })
  const tick = (): void => {
    inTurn = 0
    if (!over) setImmediate(tick)
  }
  tick()
  const pages = await Promise.all(Array.from({ length: 5 }, () => pageOf(server)))
  over = true
  for (const page of pages) t.match(section(page, 'resources'), 'configmaps')
  t.ok(most > 0 && most < 10, `${most} decisions in a turn`)
})
