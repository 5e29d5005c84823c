/** Stock clients and an extension server behind the launcher: they discover its resource and use it like any other. */
import t from 'tap'
import { join } from 'node:path'
import {
  CustomObjectsApi, KubeConfig, makeInformer, type KubernetesListObject, type KubernetesObject
} from '@kubernetes/client-node'
import type { Json, Test } from '../build.js'
import {
  apiService, extensionServer, type ExtensionServer, GROUP, proxyPair, ROOT
} from '../controllers/aggregation/extension-server.js'
import { Kubectl, programs } from './kubectl.js'
import { ServerHere, until } from './server.js'

const gadget = (name: string, price = 5): Json => ({
  apiVersion: `${GROUP}/v1`, kind: 'Gadget', metadata: { name, namespace: 'default' }, spec: { price }
})

async function running (
  t: Test & { testdir: (files: Record<string, string>) => string }
): Promise<{ readonly shop: ExtensionServer, readonly server: ServerHere }> {
  const shop = await extensionServer(t)
  const folder = t.testdir({ 'proxy.crt': proxyPair.certificate, 'proxy.key': proxyPair.key })
  const server = await ServerHere.start(
    t, [`--proxy-client-cert-file=${join(folder, 'proxy.crt')}`, `--proxy-client-key-file=${join(folder, 'proxy.key')}`]
  )
  const { code, body } = await server.ask('/api/v1/namespaces/default/services', 'POST', {
    metadata: { name: 'shop' }, spec: { type: 'ExternalName', externalName: 'localhost' }
  })
  if (code !== 201) throw new Error(body)
  return { shop, server }
}

t.test('kubectl creates, reads, explains and watches what an extension server serves', async t => {
  const { shop, server } = await running(t)
  for (const program of programs()) {
    await t.test(`kubectl ${program.version}`, async t => {
      const kubectl = new Kubectl(t, program, server.tokenConfig())
      await kubectl.ok(
        'create', `--filename=${kubectl.file('apiservice.json', apiService(shop.port))}`, '--validate=false'
      )
      await until('the APIService to be available', async () =>
        /^v1\.shop\.example\.com +default\/shop +True +\S+$/m.test(await kubectl.ok('get', 'apiservices')))
      await kubectl.ok('wait', `apiservice/v1.${GROUP}`, '--for=condition=Available', '--timeout=20s')
      t.match(
        await kubectl.ok('api-resources', `--api-group=${GROUP}`),
        /^gadgets +gd +shop\.example\.com\/v1 +true +Gadget$/m
      )
      const watching = kubectl.begin(t, 'get', 'gadgets', '--watch', '--output-watch-events')
      await until('the watch', () => shop.watches() > 0)
      t.match(await kubectl.ok('create', `--filename=${kubectl.file('gadget.json', gadget('one'))}`), /created/)
      t.match(await kubectl.ok('get', 'gd'), /^NAME +PRICE\none +5$/)
      await watching.shows(/^ADDED +one +5$/m)
      t.match(await kubectl.json('get', 'gadget', 'one'), { spec: { price: 5, colour: 'red' } })
      t.match(await kubectl.ok('explain', 'gadgets.spec.price'), /In cents\./)
      t.match(
        await kubectl.refused('create', `--filename=${kubectl.file('wrong.json', gadget('wrong', 0))}`),
        /spec\.price|is invalid/
      )
      t.match(await kubectl.ok('delete', 'gadget', 'one', '--wait=false'), /deleted/)
      await watching.shows(/^DELETED +one/m)
      await watching.stop()
      await until('the watch to end there too', () => shop.watches() === 0)

      await kubectl.ok(
        'patch', 'apiservice', `v1.${GROUP}`, '--type=merge', '--patch={"spec":{"service":{"name":"none"}}}'
      )
      await until('the APIService to be unavailable', async () =>
        /False \(ServiceNotFound\)/.test(await kubectl.ok('get', 'apiservices')))
      t.match(
        await kubectl.refused('get', `gadgets.v1.${GROUP}`),
        /service unavailable|unable to handle the request|doesn't have a resource type/
      )
      t.match(await kubectl.ok('get', 'namespaces'), /default/)
      await kubectl.ok('delete', 'apiservice', `v1.${GROUP}`)
    })
  }
  t.match(shop.asked.find(({ url }) => url.startsWith(`${ROOT}/namespaces/default/gadgets`)), {
    headers: { 'x-remote-user': 'ann', 'x-remote-group': 'crew, system:authenticated' }, certificate: 'aggregator'
  })
})

t.test('an informer of the public library follows it', async t => {
  const { shop, server } = await running(t)
  await server.ask('/apis/apiregistration.orch.io/v1/apiservices', 'POST', apiService(shop.port))
  const path = `${ROOT}/namespaces/default/gadgets`
  await until('the extension server', async () => (await server.ask(path)).code === 200)
  const config = new KubeConfig()
  config.loadFromFile(server.tokenConfig())
  const api = config.makeApiClient(CustomObjectsApi)
  await server.ask(path, 'POST', gadget('first'))
  const informer = makeInformer(config, path, async () => await api.listNamespacedCustomObject({
    group: GROUP, version: 'v1', namespace: 'default', plural: 'gadgets'
  }) as KubernetesListObject<KubernetesObject>)
  const seen: string[] = []
  for (const verb of ['add', 'update', 'delete'] as const) {
    informer.on(verb, ({ metadata }) => { seen.push(`${verb} ${metadata?.name ?? ''}`) })
  }
  await informer.start()
  t.teardown(() => informer.stop())
  await until('its watch', () => shop.watches() > 0)
  await server.ask(path, 'POST', gadget('second'))
  const { body } = await server.ask(`${path}/second`)
  await server.ask(`${path}/second`, 'PUT', { ...JSON.parse(body) as Json, spec: { price: 6 } })
  await server.ask(`${path}/first`, 'DELETE')
  await until(() => `all events, not ${seen.join()}`, () => seen.length >= 4)
  t.same(seen, ['add first', 'add second', 'update second', 'delete first'])
  await informer.stop()
})
