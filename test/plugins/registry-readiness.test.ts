/** How long readiness waits until everything is in memory. */
import t from 'tap'
import Fastify from '../fastify.js'
import orch from '../../app.js'
import { openBackend } from '../../storage/open.js'
import type { Backend } from '../../storage/backend.js'

/** A store whose lists of ConfigMaps never come. */
async function stuck (): Promise<Backend> {
  const store = await openBackend({ kind: 'memory' })
  const methods = [
    'get', 'count', 'create', 'update', 'delete', 'watch', 'compact', 'compactedRevision', 'revision', 'revisionNow',
    'status', 'lease', 'close'
  ] as const
  return Object.assign({ name: store.name }, ...methods.map(name => ({ [name]: store[name].bind(store) })), {
    list: async (...args: Parameters<Backend['list']>) =>
      JSON.stringify(args).includes('/configmaps/') ? await new Promise(() => {}) : await store.list(...args)
  }) as Backend
}

t.test('readiness waits for everything, or as long as it is given', async t => {
  for (const [initialization, isReady] of [[0, false], [1, true]] as const) {
    const app = Fastify({ logger: false, forceCloseConnections: true })
    t.teardown(() => { void app.close() })
    await app.register(orch, { storage: await stuck(), watchCache: { initialization } })
    await app.ready()
    const waiting = async (): Promise<boolean> =>
      /\[-\](?:informer-sync|poststarthook\/start-watch-caches)/.test((await app.inject('/readyz?verbose')).body)
    for (let turn = isReady ? 0 : 199; turn < 200 && await waiting(); turn++) {
      await new Promise(resolve => { setImmediate(resolve) })
    }
    t.equal(await waiting(), !isReady)
  }
})
