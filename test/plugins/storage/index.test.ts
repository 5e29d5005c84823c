import t from 'tap'
import Fastify from 'fastify'
import orch from '../../../app.js'
import { openMemory } from '../../../storage/embedded/memory.js'

t.test('a host\'s back end is used by its servers, and closed by the host alone', async t => {
  const backend = await openMemory()
  const url = '/api/v1/namespaces/default/configmaps'
  const first = Fastify()
  await first.register(orch, { storage: backend })
  t.equal(
    (await first.inject({
      method: 'POST', url, headers: { 'content-type': 'application/json' }, payload: '{"metadata":{"name":"a"}}'
    })).statusCode,
    201
  )
  await first.close()
  const second = Fastify()
  t.teardown(() => second.close())
  await second.register(orch, { storage: backend })
  t.equal((await second.inject(`${url}/a`)).statusCode, 200)
  t.equal((await second.inject('/readyz/etcd')).statusCode, 200)
})
