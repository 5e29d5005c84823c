/** Objects that extension servers serve in a namespace are deleted with it. */
import t from 'tap'
import { build, type Client, type Json } from '../../build.js'
import { until } from '../custom/definitions.js'
import { conditionOf, extensionServer, GROUP, outbound, register, ROOT, SERVICES } from './extension-server.js'

const TEAM = '/api/v1/namespaces/team'
const THEIRS = `${ROOT}/namespaces/team/gadgets`
const gadget = (name: string): Json => ({
  apiVersion: `${GROUP}/v1`, kind: 'Gadget', metadata: { name }, spec: { price: 5 }
})
const condition = async (server: Client, type: string): Promise<Json | undefined> =>
  (await server.get(TEAM)).json['status']?.conditions?.find((one: Json) => one['type'] === type)
const removed = (server: Client) => until(async () => (await server.get(TEAM)).code === 404)

t.test('objects of an extension server are deleted with their namespace, by the namespace controller', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound })
  await register(server, shop.port)
  await server.post('/api/v1/namespaces', { metadata: { name: 'team' } })
  for (const name of ['one', 'two']) t.equal((await server.post(THEIRS, gadget(name))).code, 201)
  t.equal((await server.post(`${ROOT}/namespaces/other/gadgets`, gadget('kept'))).code, 201)
  const { uid } = (await server.get(`${THEIRS}/one`)).json['metadata']
  shop.asked.length = 0
  await server.delete(TEAM)
  await removed(server)
  t.same((await server.get(`${ROOT}/gadgets`)).json['items'].map(({ metadata }: Json) => metadata.name), ['kept'])
  const deletions = shop.asked.filter(({ method }) => method === 'DELETE')
  t.same(deletions.map(({ url }) => url), [`${THEIRS}/one`, `${THEIRS}/two`])
  t.match(JSON.parse(deletions[0]?.body ?? ''), {
    kind: 'DeleteOptions', preconditions: { uid }, propagationPolicy: 'Background'
  })
  t.match(deletions[0]?.headers, {
    'x-remote-user': 'system:serviceaccount:orch-system:namespace-controller',
    'x-remote-group': 'system:serviceaccounts, system:serviceaccounts:orch-system, system:authenticated'
  })
})

t.test('an extension server with deletecollection gets one request', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound })
  await register(server, shop.port)
  let items = ['a', 'b']
  shop.instead = ({ url, method }, raw) => {
    if (url === ROOT) {
      raw.end(JSON.stringify({
        resources: [
          { name: 'gadgets', namespaced: true, verbs: ['delete', 'deletecollection', 'list'] },
          { name: 'gadgets/status', namespaced: true, verbs: ['delete'] },
          { name: '../x', namespaced: true, verbs: ['delete'] }, null,
          { name: 'shops', namespaced: false, verbs: ['delete'] }
        ]
      }))
    } else if (method === 'DELETE') {
      items = []
      raw.end('{}')
    } else raw.end(JSON.stringify({ items: items.map(name => ({ metadata: { name } })) }))
    return true
  }
  await server.post('/api/v1/namespaces', { metadata: { name: 'team' } })
  shop.asked.length = 0
  await server.delete(TEAM)
  await removed(server)
  t.same(shop.asked.filter(({ method }) => method === 'DELETE').map(({ url }) => url), [THEIRS])
  t.same(shop.asked.filter(({ url }) => !url.startsWith(ROOT)), [])
})

t.test(
  'a namespace stays while an extension server is away, hangs, refuses or holds on, and its conditions say why',
  async t => {
    const shop = await extensionServer(t)
    const server = await build(t, { outbound })
    await register(server, shop.port)
    await server.post('/api/v1/namespaces', { metadata: { name: 'team' } })
    let answer: readonly [number, string] = [500, '{}']
    shop.instead = ({ url }, raw) => {
      if (!url.startsWith(`${ROOT}/`)) return false
      raw.writeHead(answer[0]).end(answer[1])
      return true
    }
    const becomes = async (type: string, expected: Json): Promise<void> => {
      await until(async () => (await condition(server, type))?.['message'] === expected['message'])
      t.match(await condition(server, type), expected)
    }
    await server.delete(TEAM)
    await becomes('NamespaceDeletionContentFailure', {
      status: 'True',
      reason: 'ContentDeletionFailed',
      message: `Failed to delete all resource types, 1 remaining: gadgets.${GROUP}: the list was answered with 500`
    })
    answer = [200, JSON.stringify({ items: [{ metadata: { name: 'a', finalizers: ['example.com/hold'] } }] })]
    await becomes('NamespaceContentRemaining', {
      status: 'True',
      reason: 'SomeResourcesRemain',
      message: `Some resources are remaining: gadgets.${GROUP} has 1 resource instances`
    })
    await becomes('NamespaceFinalizersRemaining', {
      status: 'True',
      message: 'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances'
    })
    for (const [body, message] of [
      ['[', /JSON/], ['{"items":1}', /the answer is no list/], ['{"items":[null]}', /null/]
    ] as const) {
      answer = [200, body]
      await until(async () => message.test((await condition(server, 'NamespaceDeletionContentFailure'))?.['message']))
    }
    await server.patch(`${SERVICES}/v1.${GROUP}`, { spec: { service: { name: 'none' } } })
    await conditionOf(server, `v1.${GROUP}`, ({ status }) => status === 'False')
    await becomes('NamespaceDeletionDiscoveryFailure', {
      status: 'True',
      reason: 'DiscoveryFailed',
      message:
        'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: ' +
        `${GROUP}/v1: the server is currently unable to handle the request`
    })
    t.match(await condition(server, 'NamespaceDeletionContentFailure'), { status: 'False', reason: 'ContentDeleted' })
    await server.delete(`${SERVICES}/v1.${GROUP}`)
    await removed(server)
  }
)
