/** Types that come and go, are converted by webhooks, or are served by others. */
import t from 'tap'
import { hookServer, caBundle } from '../../admission/webhooks/hook-server.js'
import { build, type Json } from '../../build.js'
import { DEFINITIONS, definition, install, version } from '../custom/definitions.js'
import { extensionServer, GROUP, outbound, register, ROOT } from '../aggregation/extension-server.js'
import { collecting, collectingServer, owner, until } from './server.js'

const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'
const widget = (name: string, ownerReferences: readonly Json[] = []): Json =>
  ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name, ownerReferences }, spec: { size: 1 } })

t.test('custom objects own and are owned, of types that come while the server runs', async t => {
  const server = await collectingServer(t)
  const waits = await server.make('waits', [
    { apiVersion: 'example.com/v1', kind: 'Widget', name: 'absent', uid: 'none' }
  ])
  await install(server, definition())
  await server.gone('waits')
  t.ok(waits['metadata'].uid, 'its owner could have been of a type that was unknown')
  const top = await server.make('top')
  const { json: middle } = await server.post(WIDGETS, widget('middle', [owner(top)]))
  await server.make('bottom', [owner(middle)])
  await server.remove('top', 'Background')
  await server.gone('bottom')
  t.equal((await server.get(`${WIDGETS}/middle`)).code, 404)
})

t.test('dependents of custom objects go with their type', async t => {
  const server = await collectingServer(t)
  await install(server, definition())
  const { json: top } = await server.post(WIDGETS, widget('top'))
  await server.make('bottom', [owner(top)])
  await server.delete(`${DEFINITIONS}/widgets.example.com`)
  await server.gone('bottom')
  t.equal((await server.get(WIDGETS)).code, 404)
})

t.test('a conversion webhook that fails holds nothing up, not even objects that it would convert', async t => {
  const server = await collectingServer(t)
  const { url } = await hookServer(t, () => ({ result: { status: 'Failed', message: 'broken' } }))
  const conversion = {
    strategy: 'Webhook', webhook: { clientConfig: { url, caBundle }, conversionReviewVersions: ['v1'] }
  }
  const versions = (stored: string): Json[] => ['v1', 'v2'].map(name => version(name, { storage: name === stored }))
  await install(server, definition({ conversion, versions: versions('v1') }))
  const top = await server.make('top')
  t.equal((await server.post(WIDGETS, widget('old', [owner(top)]))).code, 201)
  const { json: found } = await server.get(`${DEFINITIONS}/widgets.example.com`)
  await server.put(`${DEFINITIONS}/widgets.example.com`, {
    ...found, spec: { ...found['spec'], versions: versions('v2') }
  })
  await until(async () => (await server.get(`${WIDGETS.replace('/v1/', '/v2/')}/old`)).code === 500)
  const other = await server.make('other', [owner(top)])
  t.ok(other)
  await server.remove('top', 'Foreground')
  await server.gone('top')
  await server.gone('other')
  await until(async () => (await server.get(`${WIDGETS}/old`)).code === 404)
})

t.test('objects of an extension server are followed, and deleted through it', async t => {
  const shop = await extensionServer(t)
  const server = collecting(await build(t, { outbound, collectGarbage: true }))
  await register(server, shop.port)
  const gadgets = `${ROOT}/namespaces/default/gadgets`
  const gadget = (name: string, ownerReferences: readonly Json[] = []): Json =>
    ({ apiVersion: `${GROUP}/v1`, kind: 'Gadget', metadata: { name, ownerReferences }, spec: { price: 5 } })
  await until(async () => shop.watches() > 0)
  const top = await server.make('top')
  const { json: middle, code } = await server.post(gadgets, gadget('middle', [owner(top)]))
  t.equal(code, 201)
  await server.make('bottom', [owner(middle)])
  await server.make('stays', [{ ...owner(middle), kind: 'Unknown' }])
  await server.remove('top', 'Background')
  await server.gone('bottom')
  t.equal((await server.get(`${gadgets}/middle`)).code, 404)
  t.ok(await server.config('stays'))
  const [deletion] = shop.asked.filter(({ method }) => method === 'DELETE')
  t.match(deletion?.headers, { 'x-remote-user': 'system:serviceaccount:orch-system:generic-garbage-collector' })
  t.match(JSON.parse(deletion?.body ?? ''), { preconditions: { uid: middle['metadata'].uid } })
})

t.test('objects whose owners an extension server has stay while it is away', async t => {
  const shop = await extensionServer(t)
  const server = collecting(await build(t, { outbound, collectGarbage: true }))
  await register(server, shop.port)
  await until(async () => shop.watches() > 0)
  const { json: top } = await server.post(`${ROOT}/namespaces/default/gadgets`, {
    apiVersion: `${GROUP}/v1`, kind: 'Gadget', metadata: { name: 'top' }, spec: { price: 5 }
  })
  shop.instead = (_request, raw) => {
    raw.writeHead(500).end('{}')
    return true
  }
  await server.make('kept', [owner(top)])
  const before = shop.asked.length
  const gone = await server.make('gone', [
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'none' }, owner(top)
  ])
  await until(async () => shop.asked.length > before + 2)
  t.ok(await server.config('kept'))
  t.ok(await server.config('gone'), `${gone['metadata'].name as string} has an owner of which nothing is known`)
  shop.instead = () => false
  await until(async () => (await server.config('gone'))?.['metadata'].ownerReferences.length === 1)
  t.ok(await server.config('kept'))
})
