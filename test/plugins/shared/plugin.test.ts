/** What code finds on a server whose plugins have all registered. */
import t from 'tap'
import { loadedServer } from '../../../plugins/shared/plugin.js'
import { server as orch } from '../../../app.js'
import Fastify from '../../fastify.js'

t.test('a server is loaded when every plugin has provided what it does, and not before', async t => {
  t.throws(() => loadedServer(undefined), { message: 'the server was not loaded' })
  const bare = Fastify({ logger: false })
  t.teardown(() => bare.close())
  t.throws(() => loadedServer(bare))
  bare.decorate('orchConnections', new Map() as never)
  t.throws(() => loadedServer(bare), 'those of the last plugin alone do not prove the others')

  const whole = Fastify({ logger: false })
  t.teardown(() => whole.close())
  let scope: Parameters<typeof loadedServer>[0]
  await whole.register(async instance => {
    await orch(instance, {})
    scope = instance
  })
  await whole.ready()
  t.equal(loadedServer(scope), scope)
})
