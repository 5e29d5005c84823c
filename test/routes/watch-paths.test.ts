import t from 'tap'
import { BINDINGS, Watch, types, listen, binding, type Json } from '../build.js'

const WATCHED = BINDINGS.replace('/v1/', '/v1/watch/')
const config = (name: string, labels = {}): Json => ({ metadata: { name, labels } })

t.test('a path with watch watches a collection or one object', async t => {
  const server = await listen(t)
  const all = await Watch.open(t, `${server.url}${WATCHED}`)
  const one = await Watch.open(t, `${server.url}${WATCHED}/b`)
  const both = await Watch.open(t, `${server.url}${WATCHED}/b?watch=0&labelSelector=none`)
  t.same([all.code, one.code, both.code], [200, 200, 200])
  for (const name of ['a', 'b']) await server.post(BINDINGS, binding(name))
  await server.delete(`${BINDINGS}/b`)
  await server.delete(`${BINDINGS}/a`)
  t.same(types(await all.take(4)), ['ADDED a', 'ADDED b', 'DELETED b', 'DELETED a'])
  t.same(types(await one.take(2)), ['ADDED b', 'DELETED b'])
  t.same(both.events, [], 'selectors of the query apply too')
})

t.test('the path may be in a namespace, in all of them, or of a namespace', async t => {
  const server = await listen(t)
  for (const name of ['one', 'two']) await server.post('/api/v1/namespaces', { metadata: { name } })
  const watch = (path: string): Promise<Watch> => Watch.open(t, `${server.url}/api/v1/watch/${path}`)
  const [inOne, named, everywhere, namespace] = [
    await watch('namespaces/one/secrets'), await watch('namespaces/one/secrets/x'),
    await watch('secrets?labelSelector=seen'), await watch('namespaces/two')
  ]
  for (const name of ['one', 'two']) {
    for (const secret of ['x', 'y']) {
      await server.post(`/api/v1/namespaces/${name}/secrets`, config(secret, { seen: 'yes' }))
    }
  }
  t.same(types(await inOne.take(2)), ['ADDED x', 'ADDED y'])
  t.same(types(await named.take(1)), ['ADDED x'])
  t.same(
    (await everywhere.take(4)).map(({ object: { metadata: { namespace, name } } }) => `${namespace} ${name}`),
    ['one x', 'one y', 'two x', 'two y']
  )
  t.same(types(await namespace.take(1)), ['ADDED two'])
})

t.test('no other paths or methods below watch are served', async t => {
  const server = await listen(t)
  for (const path of ['', 'secrets/x', 'nothing', 'namespaces/default/nothing']) {
    t.equal((await server.get(`/api/v1/watch/${path}`)).code, 404, path)
  }
  t.equal((await server.get('/api/v1/watch/namespaces/default/secrets/x/status')).code, 404)
  t.equal((await server.get('/api/v1/watch/namespaces/default/pods/x/status')).code, 405)
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    t.equal((await server.call(method, '/api/v1/watch/secrets', {})).code, 404, method)
  }
})
