/** Interface, 'Health endpoints': rules 1 to 6. */
import t from 'tap'
import Fastify from '../fastify.js'
import { server as orch } from '../../app.js'
import { BINDINGS, binding, build, client } from '../build.js'
import { loadedServer } from '../../plugins/shared/plugin.js'
import { polled } from '../polled.js'

const ENDPOINTS = ['/healthz', '/livez', '/readyz'] as const

t.test('200 means well, and the text is for people', async t => {
  const server = await build(t)
  for (const path of ENDPOINTS) {
    const brief = await server.get(path)
    t.equal(brief.code, 200)
    t.equal(brief.body, 'ok')
    t.match(brief.headers['content-type'], /^text\/plain/)
    const verbose = await server.get(`${path}?verbose`)
    t.equal(verbose.code, 200)
    const lines = verbose.body.trimEnd().split('\n')
    t.ok(lines.length > 2)
    for (const line of lines.slice(0, -1)) t.match(line, /^\[\+\]\S+ ok$/, path)
    t.equal(lines.at(-1), 'healthz check passed')
  }
})

t.test('each check has its own path, by the name that verbose prints', async t => {
  const server = await build(t)
  for (const path of ['/livez', '/readyz']) {
    const names = [...(await server.get(`${path}?verbose`)).body.matchAll(/^\[\+\](\S+) ok$/gm)].map(([, name]) => name)
    t.ok(names.includes('ping') && names.includes('etcd'), names.join())
    for (const name of names) t.match(await server.get(`${path}/${name}`), { code: 200, body: 'ok' }, `${path}/${name}`)
    t.match(await server.get(`${path}/none`), { code: 404, json: { kind: 'Status' } })
  }
})

t.test('excluded checks are listed as excluded, and exclude can be repeated', async t => {
  const server = await build(t)
  const { code, body } = await server.get('/readyz?verbose&exclude=ping&exclude=etcd')
  t.equal(code, 200)
  t.match(body, /^\[\+\]ping excluded: ok$/m)
  t.match(body, /^\[\+\]etcd excluded: ok$/m)
  t.match(body, /^\[\+\]log ok$/m)
  t.match((await server.get('/livez?verbose&exclude=nothing')).body, /nothing/, 'an unknown excluded check is named')
})

t.test('a failing check fails its endpoints, with a minus and no reason, and is well again after', async t => {
  const app = Fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  let broken = true
  await app.register(async scope => {
    await orch(scope, {})
    loadedServer(scope).orchHealth.add('own', () => { if (broken) throw new Error('a secret reason') })
  })
  await app.ready()
  const server = client(app)
  await polled(async () => (await server.get('/readyz?exclude=own')).code === 200)
  for (const path of ENDPOINTS) {
    const { code, body } = await server.get(`${path}?verbose`)
    t.equal(code, 500)
    t.match(body, /^\[-\]own failed/m)
    t.notMatch(body, /secret/)
    t.notMatch(body, /check passed/)
    t.equal((await server.get(`${path}?exclude=own`)).code, 200, 'and it can be left out')
    t.equal((await server.get(`${path}/own`)).code, 500)
  }
  broken = false
  for (const path of ENDPOINTS) t.equal((await server.get(path)).code, 200)
})

t.test('--livez-grace-period: until it is over livez takes unfinished work for done, readyz does not', async t => {
  const app = Fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  let finish = (): void => {}
  await app.register(async scope => {
    await orch(scope, { health: { livezGracePeriod: 500 } })
    loadedServer(scope).orchHealth.postStart('slow', new Promise<void>(resolve => { finish = resolve }))
  })
  await app.ready()
  const server = client(app)
  t.equal((await server.get('/livez')).code, 200)
  t.equal((await server.get('/readyz')).code, 500)
  t.match((await server.get('/readyz?verbose')).body, /^\[-\]poststarthook\/slow failed/m)
  await polled(async () => (await server.get('/livez')).code !== 200)
  t.pass('when it is over livez fails')
  finish()
  t.equal((await server.get('/livez')).code, 200)
})

t.test('--shutdown-delay-duration: readyz fails at once, all else is served until it is over', async t => {
  const app = Fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  let begin = async (): Promise<number> => 0
  await app.register(async scope => {
    await orch(scope, { shutdown: { delay: 60_000 } })
    begin = () => loadedServer(scope).orchShutdown.begin()
  })
  await app.ready()
  const server = client(app)
  await polled(async () => (await server.get('/readyz')).code === 200)
  const ending = begin()
  t.equal((await server.get('/readyz')).code, 500)
  t.match((await server.get('/readyz?verbose')).body, /^\[-\]shutdown failed/m)
  for (const path of ['/healthz', '/livez', BINDINGS]) t.equal((await server.get(path)).code, 200, path)
  t.equal((await server.post(BINDINGS, binding('a'))).code, 201)
  await app.close()
  await ending
})

t.test('they ask for no credentials that are not there, and /metrics is beside them', async t => {
  const server = await build(t, {
    authorization: {
      authorizers: [
        { name: 'health', authorize: ({ info }) => ({ decision: info.isResourceRequest ? 'Deny' : 'Allow' }) }
      ]
    }
  })
  for (const path of ENDPOINTS) t.equal((await server.get(path)).code, 200)
  const { code, body, headers } = await server.get('/metrics')
  t.equal(code, 200)
  t.match(headers['content-type'], /^text\/plain/)
  t.match(body, /^apiserver_request_total\{/m)
})
