/** Webhooks of the code under test: installed in one call, called over TLS with the certificate that the call made. */
import t, { type Test } from 'tap'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { testServer, type InstalledWebhooks, type TestServer } from '../../testing/index.js'

/** As controller-gen writes it. */
const MANIFESTS = `---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: mutating-webhook-configuration
webhooks:
- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: webhook-service
      namespace: system
      path: /mutate-v1-configmap
  failurePolicy: Fail
  name: mconfigmap.shop.example
  rules:
  - apiGroups:
    - ""
    apiVersions:
    - v1
    operations:
    - CREATE
    resources:
    - configmaps
  sideEffects: None
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: validating-webhook-configuration
webhooks:
- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: webhook-service
      namespace: system
      path: /validate-v1-configmap
  failurePolicy: Fail
  name: vconfigmap.shop.example
  rules:
  - apiGroups:
    - ""
    apiVersions:
    - v1
    operations:
    - CREATE
    resources:
    - configmaps
  sideEffects: None
`
const version = (name: string, storage: boolean): object => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' }, text: { type: 'string' } } } }
})
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'cars.shop.example' },
  spec: {
    group: 'shop.example',
    scope: 'Namespaced',
    names: { plural: 'cars', kind: 'Car' },
    versions: [version('v1', true), version('v2', false)],
    conversion: {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: { service: { name: 'webhook-service', namespace: 'system', path: '/convert' } }
      }
    }
  }
}
type Review = {
  readonly request: {
    readonly uid: string
    readonly object: { readonly data?: Record<string, string> }
    readonly objects: object[]
    readonly desiredAPIVersion: string
  }
}

const ANSWERS: Record<string, (request: Review['request']) => object> = {
  '/mutate-v1-configmap': () => ({
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from('[{"op":"add","path":"/data/painted","value":"yes"}]').toString('base64')
  }),
  '/validate-v1-configmap': ({ object: { data = {} } }) =>
    data['colour'] === 'pink' ? { allowed: false, status: { code: 403, message: 'no pink' } } : { allowed: true },
  '/convert': ({ objects, desiredAPIVersion }) => ({
    result: { status: 'Success' },
    convertedObjects: objects.map(object => ({ ...object, apiVersion: desiredAPIVersion, text: 'converted' }))
  })
}

/** Serves as a manager does: from the folder of the certificate. */
async function serve (t: Test, { certDir, port, host }: InstalledWebhooks): Promise<string[]> {
  const called: string[] = []
  const server = createServer({
    cert: await readFile(join(certDir, 'tls.crt')), key: await readFile(join(certDir, 'tls.key'))
  }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => {
      const { pathname } = new URL(request.url ?? '/', 'https://localhost')
      called.push(pathname)
      const review = JSON.parse(Buffer.concat(chunks).toString()) as Review
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({
        ...review, request: undefined, response: { uid: review.request.uid, ...ANSWERS[pathname]?.(review.request) }
      }))
    })
  })
  server.listen(port, host)
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return called
}

async function started (t: Test, compatNames = true): Promise<TestServer> {
  const server = await testServer({ server: { compatNames } })
  t.teardown(() => server.dispose())
  return server
}

async function asked (
  server: TestServer, path: string, body?: object
): Promise<{ code: number, object: Record<string, unknown> }> {
  const response = await fetch(
    server.url + path,
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  )
  return { code: response.status, object: await response.json() as Record<string, unknown> }
}
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string, colour: string): object => ({
  apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { colour }
})

t.test('admission webhooks in files of controller-gen are called with a certificate made for them', async t => {
  const server = await started(t)
  const folder = t.testdir()
  const file = join(folder, 'manifests.yaml')
  await writeFile(file, MANIFESTS)
  const installed = await server.installWebhooks(file)
  t.match(installed, {
    host: '127.0.0.1',
    url: `https://127.0.0.1:${installed.port}`,
    certificate: /^-----BEGIN CERTIFICATE/,
    key: /^-----BEGIN PRIVATE KEY/
  })
  t.match(
    await asked(server, CONFIG_MAPS, configMap('early', 'blue')), { code: 500 }, 'before the code under test serves'
  )
  const called = await serve(t, installed)
  t.match(await asked(server, CONFIG_MAPS, configMap('a', 'blue')), {
    code: 201, object: { data: { colour: 'blue', painted: 'yes' } }
  })
  t.match(await asked(server, CONFIG_MAPS, configMap('b', 'pink')), {
    code: 403, object: { message: /"vconfigmap\.shop\.example" denied the request: no pink/ }
  })
  t.strictSame(new Set(called), new Set(['/mutate-v1-configmap', '/validate-v1-configmap']))
  t.equal(
    (await server.installWebhooks(file, { port: installed.port, certDir: join(folder, 'certs') })).port, installed.port,
    'again: configurations are replaced'
  )
  t.match(
    await asked(server, CONFIG_MAPS, configMap('c', 'blue')),
    { code: 500, object: { message: /failed calling webhook "mconfigmap\.shop\.example"/ } },
    'the certificate of before is not trusted'
  )
  t.ok(existsSync(installed.certDir))
  await server.dispose()
  t.notOk(existsSync(installed.certDir), 'a temporary folder goes with the server')
})

t.test('conversion webhooks of definitions too', async t => {
  const server = await started(t)
  const certDir = join(t.testdir(), 'certs')
  const installed = await server.installWebhooks(definition, { certDir })
  t.equal(installed.certDir, certDir)
  const called = await serve(t, installed)
  t.match(
    await asked(server, '/apis/shop.example/v1/namespaces/default/cars', {
      apiVersion: 'shop.example/v1', kind: 'Car', metadata: { name: 'fast' }, size: 1
    }),
    { code: 201 }
  )
  t.match(await asked(server, '/apis/shop.example/v2/namespaces/default/cars/fast'), {
    code: 200, object: { apiVersion: 'shop.example/v2', size: 1, text: 'converted' }
  })
  t.strictSame([...new Set(called)], ['/convert'])
  await server.dispose()
  t.ok(existsSync(join(certDir, 'tls.key')), 'a given folder stays')
})

t.test('webhooks elsewhere keep their URL; a base URL leads to another host', async t => {
  const server = await started(t, false)
  const hook = (name: string, clientConfig: object): object => ({
    name,
    clientConfig,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    rules: [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] }]
  })
  const configuration = {
    apiVersion: 'admissionregistration.orch.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'two' },
    webhooks: [
      hook('a.shop.example', { url: 'https://policy.example/check' }),
      hook('b.shop.example', { service: { name: 'a', namespace: 'b' } })
    ]
  }
  const installed = await server.installWebhooks(configuration, { url: 'https://hooks.example:9443/below' })
  t.match(installed, { host: 'hooks.example', port: 9443, url: 'https://hooks.example:9443/below' })
  const { object } = await asked(server, '/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations/two')
  t.strictSame((object['webhooks'] as Array<{ clientConfig: object }>).map(({ clientConfig }) => clientConfig), [
    { url: 'https://policy.example/check' },
    { url: 'https://hooks.example:9443/below/', caBundle: Buffer.from(installed.certificate).toString('base64') }
  ])
})

t.test('what cannot be installed is refused by name', async t => {
  const server = await started(t)
  for (const [options, message] of [
    [{ prt: 1 } as object, /^prt: there is no such member; there are port, url, certDir; did you mean port\?$/],
    [{ port: 0 }, /^port: 0: must be a port/],
    [{ url: 'http://127.0.0.1:1' }, /^url: "http:\/\/127\.0\.0\.1:1": must be a URL such as/],
    [{ url: 'https://a:1', port: 1 }, /^port: is part of url/], [{ certDir: '' }, /^certDir: ""/]
  ] as const) await t.rejects(server.installWebhooks(MANIFESTS, options), { name: 'OptionError', message })
  await t.rejects(
    server.installWebhooks({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'webhook-service' } }),
    { message: /^Service webhook-service \(an object\) is neither/ }
  )
  await t.rejects(
    server.installWebhooks({ ...definition, spec: { ...definition.spec, conversion: { strategy: 'None' } } }),
    { message: /^CustomResourceDefinition cars\.shop\.example .* has no conversion webhook/ }
  )
  await t.rejects(server.installWebhooks(MANIFESTS.replace('failurePolicy', 'failurePolice')), {
    message: /^fixture MutatingWebhookConfiguration .*unknown field "webhooks\[0\]\.failurePolice"/
  })
})
