import t from 'tap'
import Fastify from '../fastify.js'
import orch from '../../app.js'
import { host } from '../../examples/embed.js'
import { BINDINGS, client, build, binding, type Client, type Test } from '../build.js'
import { polled } from '../polled.js'

async function embedded (t: Test): Promise<Client> {
  const app = await host()
  t.teardown(() => app.close())
  await app.ready()
  const made = client(app)
  await polled(async () => (await made.get('/cluster/readyz')).code === 200)
  return made
}

t.test('a host keeps its own handlers, parsers and decorators', async t => {
  const server = await embedded(t)
  t.same((await server.get('/')).json, { host: 'hello' })
  t.same((await server.post('/echo', { a: 1 })).json, { a: 1 }, 'the host parses its own bodies')
  t.match(await server.get('/nothing'), { code: 404, json: { host: 'has no such page' } })
  t.match(await server.get('/cluster/nothing'), { code: 404, json: { kind: 'Status', reason: 'NotFound' } })
  t.match(await server.get('/api/v1/namespaces'), { code: 404, json: { host: /./ } })
  t.match((await server.get('/cluster/api')).json, { kind: 'APIVersions', versions: ['v1'] })
  t.equal((await server.get('/cluster/api')).headers['x-host'], 'yes', 'hooks of the host see our answers')
  t.notOk('orchResources' in server.app, 'nothing of ours but `orch` leaks into the host')
})

t.test('objects live below the prefix', async t => {
  const server = await embedded(t)
  const url = `/cluster${BINDINGS}`
  t.equal((await server.post(url, binding('one'))).code, 201)
  t.equal((await server.get(`${url}/one`)).json.metadata.name, 'one')
  const long = 'n'.repeat(253)
  t.equal((await server.post(url, binding(long))).code, 201)
  t.equal((await server.get(`${url}/${long}`)).code, 200, 'names longer than the parameters of the host\'s router')
})

t.test('authenticators, authorizers and admission of the host are called', async t => {
  const server = await embedded(t)
  const configs = '/cluster/api/v1/namespaces/default/configmaps'
  const made = await server.post(configs, { metadata: { name: 'a' } }, { 'x-clerk': 'day' })
  t.same(made.json.metadata.labels, { owner: 'clerks' })
  t.match(await server.post(configs, { metadata: { name: 'b' }, data: { forbidden: 'x' } }), {
    code: 403, json: { message: 'this host forbids that key' }
  })
  t.match(await server.call('DELETE', `${configs}/a`, undefined, { 'x-clerk': 'night' }), {
    code: 403, json: { message: /nothing is deleted at night/ }
  })
  t.equal((await server.call('DELETE', `${configs}/a`, undefined, { 'x-clerk': 'day' })).code, 200)
})

t.test('two servers in one process do not touch each other', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(orch, { prefix: '/one' })
  await app.register(orch, {
    prefix: '/two', authentication: { anonymous: true }, authorization: { modes: ['AlwaysDeny'] }
  })
  const other = await build(t)
  await app.ready()
  const server = client(app)
  await polled(async () => (await server.get('/one/readyz')).code === 200)
  t.equal((await server.post(`/one${BINDINGS}`, binding('only-one'))).code, 201)
  t.equal((await server.get(`/two${BINDINGS}`)).code, 403)
  t.equal((await other.get(`${BINDINGS}/only-one`)).code, 404)
})
