/** Definitions and custom objects, where release 1.36 is emulated. */
import t from 'tap'
import { selfSigned } from '../../serving/certify.js'
import { build, type Client, type Json } from '../build.js'

const CRDS = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const SITES = '/apis/example.com/v1/namespaces/default/sites'
const hook = (caBundle: string): Json => ({
  strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://example.com/convert', caBundle } }
})
const definition = (conversion?: Json): Json => ({
  metadata: { name: 'sites.example.com' },
  spec: {
    group: 'example.com', scope: 'Namespaced', names: { plural: 'sites', kind: 'Site' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' } } } } }],
    ...(conversion === undefined ? {} : { conversion })
  }
})

async function established (server: Client): Promise<Json> {
  for (;;) {
    const { conditions } = (await server.get(`${CRDS}/sites.example.com`)).json['status']
    const found = (conditions as Json[] | null ?? []).find(({ type }) => type === 'Established')
    if (found !== undefined) return found
    await new Promise(resolve => { setTimeout(resolve, 5) })
  }
}

t.test('a conversion webhook without certificates in its caBundle keeps a definition from being served', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  const wrong = hook(Buffer.from('no certificate').toString('base64'))
  t.equal((await server.post(CRDS, definition(wrong))).code, 201)
  t.match(await established(server), { status: 'False', reason: 'InvalidCABundle' })
  t.equal((await server.get(SITES)).code, 404)
  t.equal((await server.patch(`${CRDS}/sites.example.com`, { metadata: { labels: { a: 'b' } } })).code, 200, 'what stands is forgiven')
  const { certificate } = selfSigned('localhost', ['localhost'], new Date())
  const right = hook(Buffer.from(certificate).toString('base64'))
  t.equal((await server.patch(`${CRDS}/sites.example.com`, { spec: { conversion: right } })).code, 200)
  while ((await established(server))['status'] !== 'True') await new Promise(resolve => { setTimeout(resolve, 5) })
  while ((await server.get(SITES)).code !== 200) await new Promise(resolve => { setTimeout(resolve, 5) })
  t.match(await server.patch(`${CRDS}/sites.example.com`, { spec: { conversion: wrong } }), {
    code: 422, json: { details: { causes: [{ reason: 'FieldValueInvalid', field: 'spec.conversion.webhookClientConfig.caBundle' }] } }
  })
  const { resourceVersion } = (await server.get(`${CRDS}/sites.example.com`)).json['metadata']
  await new Promise(resolve => { setTimeout(resolve, 50) })
  t.equal((await server.get(`${CRDS}/sites.example.com`)).json['metadata'].resourceVersion, resourceVersion, 'its controller rests')
})

t.test('the earlier release does not look into caBundle', async t => {
  const server = await build(t)
  t.equal((await server.post(CRDS, definition(hook('YQ==')))).code, 201)
  t.match(await established(server), { status: 'True' })
})

t.test('new finalizers without a domain are warned of', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  await server.post(CRDS, definition())
  while ((await server.get(SITES)).code !== 200) await new Promise(resolve => { setTimeout(resolve, 5) })
  const warned = async (finalizers: string[], method: 'post' | 'patch'): Promise<unknown> => {
    const object = { apiVersion: 'example.com/v1', kind: 'Site', metadata: { name: 'a', finalizers } }
    return (await server[method](method === 'post' ? SITES : `${SITES}/a`, object)).headers['warning']
  }
  t.match(await warned(['hold', 'example.com/hold', 'orphan'], 'post'), [/hold.*prefer a domain-qualified finalizer name/])
  t.equal(await warned(['hold', 'example.com/more'], 'patch'), undefined, 'it was there')
  t.match(await warned(['hold', 'more'], 'patch'), [/more/])
})
