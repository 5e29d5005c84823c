import t from 'tap'
import { server as orch } from '../../../app.js'
import { watch } from '../../../registry/verbs/watch.js'
import type { ResourceRegistry } from '../../../registry/resource-registry.js'
import { parseFieldSelector } from '../../../schemas/selectors/fields.js'
import { NO_LABELS } from '../../../schemas/selectors/labels.js'
import { build, client, type Json } from '../../build.js'
import Fastify from '../../fastify.js'
import { polled } from '../../polled.js'

const NODES = 40
const PODS = 200
const pod = (at: number): object => ({
  metadata: { name: `pod-${at}`, labels: { parity: at % 2 === 0 ? 'even' : 'odd' } },
  spec: { nodeName: `node-${at % NODES}`, automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] }
})
const namespaceOf = (at: number): string => at % 3 === 0 ? 'one' : 'two'
const pathOf = (at: number): string => `/api/v1/namespaces/${namespaceOf(at)}/pods/pod-${at}`

t.test('a list by an indexed field is what a look at all objects finds', async t => {
  const { get, post, patch, delete: remove } = await build(t, { admission: { disabled: ['ServiceAccount'] } })
  for (const name of ['one', 'two']) await post('/api/v1/namespaces', { metadata: { name } })
  for (let at = 0; at < PODS; at++) {
    t.equal((await post(`/api/v1/namespaces/${namespaceOf(at)}/pods`, pod(at))).code, 201)
  }
  const before = (await get('/api/v1/pods')).json
  const names = ({ items }: Json): string[] =>
    items.map(({ metadata }: Json) => `${metadata.namespace}/${metadata.name}`)
  const checkAt = async (version: string): Promise<void> => {
    const all = (await get(`/api/v1/pods?${version}`)).json.items as Json[]
    const expected = (is: (one: Json) => boolean): string[] => names({ items: all.filter(is) })
    const selected = async (query: string, base = '/api/v1'): Promise<string[]> =>
      names((await get(`${base}/pods?${query}&${version}`)).json)
    for (const node of ['node-0', 'node-7', 'node-none', '']) {
      t.same(
        await selected(`fieldSelector=spec.nodeName%3D${node}`), expected(({ spec }) => (spec.nodeName ?? '') === node),
        `${version}: ${node}`
      )
    }
    t.same(
      await selected('fieldSelector=spec.host%3Dnode-7'), expected(({ spec }) => spec.nodeName === 'node-7'),
      'by the older label'
    )
    t.same(await selected('fieldSelector=spec.nodeName%3Dnode-6&labelSelector=parity%3Dodd'), [])
    t.same(await selected('fieldSelector=spec.nodeName%3Dnode-6,spec.nodeName!%3Dnode-6'), [])
    t.same(await selected('fieldSelector=spec.nodeName%3Dnode-6,spec.nodeName%3Dnode-7'), [])
    t.same(
      await selected('fieldSelector=spec.nodeName%3Dnode-6', '/api/v1/namespaces/one'),
      expected(({ metadata, spec }) => spec.nodeName === 'node-6' && metadata.namespace === 'one')
    )
    t.same(
      await selected('fieldSelector=metadata.namespace%3Done'), expected(({ metadata }) => metadata.namespace === 'one')
    )
    t.same(await selected('fieldSelector=metadata.namespace%3Done/pod-0'), [])
    for (const phase of ['Pending', 'Running']) {
      t.same(
        await selected(`fieldSelector=status.phase%3D${phase}`), expected(({ status }) => status.phase === phase), phase
      )
    }
  }
  await checkAt('')
  for (const at of [7, 47, 87]) await patch(`${pathOf(at)}/status`, { status: { phase: 'Running' } })
  for (const at of [6, 127]) await remove(pathOf(at), { gracePeriodSeconds: 0 })
  await post('/api/v1/namespaces/two/pods', pod(1007))
  await checkAt('')
  await checkAt(`resourceVersion=${before.metadata.resourceVersion}&resourceVersionMatch=Exact`)
})

t.test('pages of a list by an indexed field join to the whole', async t => {
  const { get, post } = await build(t, { admission: { disabled: ['ServiceAccount'] } })
  for (const name of ['one', 'two']) await post('/api/v1/namespaces', { metadata: { name } })
  for (let at = 0; at < PODS; at++) await post(`/api/v1/namespaces/${namespaceOf(at)}/pods`, pod(at))
  const path = '/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-7'
  const whole = (await get(path)).json.items
  t.equal(whole.length, PODS / NODES)
  const joined: Json[] = []
  for (let token = ''; ;) {
    const { items, metadata } = (await get(`${path}&limit=2&continue=${token}`)).json
    joined.push(...items)
    t.ok(items.length <= 2)
    if (metadata.continue === undefined) break
    token = metadata.continue
    await post('/api/v1/namespaces/two/pods', pod(NODES * (joined.length + 10) + 7)) // after the list began
  }
  t.same(joined, whole)
})

t.test('a watch that begins with what an indexed field selects holds these objects alone', async t => {
  const app = Fastify({ logger: false })
  t.teardown(() => app.close())
  let resources: ResourceRegistry | undefined
  await app.register(async scope => {
    await orch(scope, { admission: { disabled: ['ServiceAccount'] } })
    resources = scope.orchResources
  })
  await app.ready()
  const { get, post } = client(app)
  await polled(async () => (await get('/readyz')).code === 200)
  for (const name of ['one', 'two']) await post('/api/v1/namespaces', { metadata: { name } })
  for (let at = 0; at < PODS; at++) await post(`/api/v1/namespaces/${namespaceOf(at)}/pods`, pod(at))
  const store = resources?.find('', 'pods')
  if (store === undefined) throw new Error('there are no pods')
  const initial = async (selector: string, namespace = ''): Promise<string[]> => {
    const fields = parseFieldSelector(selector, store.representation)
    const { initial, range, matches, feed } = await watch(
      store, { namespace, labels: NO_LABELS, fields, resourceVersion: '', sendInitialEvents: true },
      { wake: () => {}, end: () => {} }
    )
    feed.close()
    const names: string[] = []
    initial?.map.forEach('', '\uffff', (entry, key) => {
      if (key < range.start || key >= range.end || !matches(entry)) t.fail(key)
      names.push(entry.name)
      return true
    })
    return names.sort()
  }
  t.same(await initial('spec.nodeName=node-7'), ['pod-127', 'pod-167', 'pod-47', 'pod-7', 'pod-87'])
  t.same(await initial('spec.nodeName=node-7', 'one'), ['pod-87'])
  t.same(await initial('spec.nodeName=node-none'), [])
})
