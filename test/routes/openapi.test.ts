import { gunzipSync } from 'node:zlib'
import Fastify from '../fastify.js'
import t from 'tap'
import { createHash } from 'node:crypto'
import { server as orch } from '../../app.js'
import { systemClock } from '../../event-loop/clock.js'
import { fromStructural } from '../../schemas/custom/declaration.js'
import { resource } from '../../schemas/resource.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { client, build, type Answer, type Client, type Json } from '../build.js'
import { definition, install } from '../controllers/custom/definitions.js'
import { CachedDocument, hashInSteps } from '../../routes/cached-document.js'

const GZIP = { 'accept-encoding': 'gzip' }
const V3_PROTOBUF = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf'

/** The address of a document according to the index. */
async function addressOf (server: Client, name: string): Promise<string> {
  return (await server.get('/openapi/v3')).json['paths'][name]?.serverRelativeURL as string
}

t.test('documents have the version that the server says', async t => {
  for (const compatNames of [false, true]) {
    const server = await build(t, { compatNames })
    const { gitVersion } = (await server.get('/version')).json
    for (const path of ['/openapi/v2', '/openapi/v3/api/v1']) {
      t.equal((await server.get(path)).json['info'].version, gitVersion, path)
    }
  }
})

t.test(
  'the index of /openapi/v3 leads to a document of each group version, and of what says which there are', async t => {
    const server = await build(t)
    const { code, headers, json: { paths } } = await server.get('/openapi/v3')
    t.equal(code, 200)
    t.equal(headers['content-type'], 'application/json')
    const groups = (await server.get('/apis')).json['groups'] as Array<{
      name: string
      versions: Array<{ groupVersion: string }>
    }>
    t.same(
      Object.keys(paths),
      [
        '.well-known/openid-configuration',
        'api',
        'api/v1',
        'apis',
        'openid/v1/jwks',
        'version',
        ...groups.flatMap(({ name, versions }) => [
          `apis/${name}`, ...versions.map(({ groupVersion }) => `apis/${groupVersion}`)
        ])
      ].sort()
    )
    for (const [name, { serverRelativeURL }] of Object.entries(
      paths as Record<string, { serverRelativeURL: string }>
    )) {
      t.match(serverRelativeURL, new RegExp(`^/openapi/v3/${name}\\?hash=[0-9A-F]{128}$`))
      t.match(
        await server.get(serverRelativeURL), { code: 200, json: { openapi: '3.0.0', info: { title: 'orch' } } }, name
      )
    }
  }
)

t.test('the URL of a document with its hash is cacheable, and one with another hash redirects to it', async t => {
  const server = await build(t)
  const address = await addressOf(server, 'apis/apps/v1')
  const { headers, json } = await server.get(address)
  t.ok(json['paths']['/apis/apps/v1/namespaces/{namespace}/deployments'])
  t.equal(headers['cache-control'], 'public, immutable')
  t.ok(Date.parse(String(headers['expires'])) > Date.now() + 300 * 24 * 60 * 60 * 1000)
  t.equal(headers['etag'], `"${address.split('=')[1]}"`)
  t.match(await server.get('/openapi/v3/apis/apps/v1?hash=OLD'), { code: 301, headers: { location: address } })
  const plain = await server.get('/openapi/v3/apis/apps/v1')
  t.same([plain.code, plain.headers['expires']], [200, undefined])
  t.notMatch(String(plain.headers['cache-control']), /immutable/)
  t.same(plain.json, json)
  for (const path of ['apis/nothing/v1', 'apis/apps/v9', 'toString', '', 'api/v1/pods']) {
    t.match(await server.get(`/openapi/v3/${path}`), { code: 404, json: { reason: 'NotFound' } }, path)
  }
})

t.test('a host that mounts the server is led to where it is', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(orch, { prefix: '/cluster' })
  await app.ready()
  const answer = await client(app).get('/cluster/openapi/v3/version?hash=OLD')
  t.match(answer, { code: 301, headers: { location: /^\/cluster\/openapi\/v3\/version\?hash=[0-9A-F]{128}$/ } })
})

t.test('entity tags identify documents, plain or compressed', async t => {
  const server = await build(t)
  for (const path of ['/openapi/v2', '/openapi/v3/api/v1']) {
    const { raw, headers: { etag } } = await server.get(path)
    const tag = String(etag)
    for (const known of [tag, `"x", ${tag}`, `W/${tag}`, '*']) {
      const answer = await server.get(path, { 'if-none-match': known })
      t.match(answer, { code: 304, body: '', headers: { etag: tag, vary: 'accept, accept-encoding' } }, known)
    }
    t.equal((await server.get(path, { 'if-none-match': '"x"' })).code, 200)
    for (let time = 0; time < 2; time++) {
      const packed = await server.get(path, GZIP)
      t.match(packed.headers, { 'content-encoding': 'gzip', 'content-type': 'application/json', etag: tag })
      t.ok(gunzipSync(packed.raw).equals(raw))
    }
    t.notOk((await server.get(path, { 'accept-encoding': 'gzip;q=0' })).headers['content-encoding'])
  }
  t.notOk(
    (await server.get('/openapi/v3/version', GZIP)).headers['content-encoding'], 'small responses are not compressed'
  )
})

t.test('a change leaves the documents of other group versions what they were, with their dates', async t => {
  let ahead = 0
  const server = await build(t, { clock: { ...systemClock, wall: () => Date.now() + ahead } })
  const [path, accept] = ['/openapi/v3/apis/apps/v1', V3_PROTOBUF]
  const before = await server.get(path)
  const inProtobuf = await server.get(path, { accept })
  const index = await server.get('/openapi/v3')
  ahead = 10_000
  await install(server, definition())
  const after = await server.get(path)
  t.same([after.headers.etag, after.headers['last-modified']], [before.headers.etag, before.headers['last-modified']])
  t.equal((await server.get(path, { accept })).headers['last-modified'], inProtobuf.headers['last-modified'])
  const changed = await server.get('/openapi/v3')
  t.not(changed.headers.etag, index.headers.etag)
  t.not(changed.headers['last-modified'], index.headers['last-modified'])
  t.ok(changed.json['paths']['apis/example.com/v1'])
})

t.test('dates, tags and ranges of documents are those of files', async t => {
  const server = await build(t)
  for (const [path, accept] of [
    ['/openapi/v3', '*/*'], ['/openapi/v3/version', '*/*'], ['/openapi/v3/version', V3_PROTOBUF], ['/openapi/v2', '*/*']
  ] as const) {
    const get = (headers: Record<string, string>): Promise<Answer> => server.get(path, { accept, ...headers })
    const whole = await get({})
    const [tag, date] = [String(whole.headers.etag), String(whole.headers['last-modified'])]
    const { length } = whole.raw
    t.equal(whole.headers['accept-ranges'], 'bytes')
    t.equal((await get({ 'if-modified-since': date })).code, 304)
    const earlier = new Date(Date.parse(date) - 1000).toUTCString()
    for (const since of [earlier, 'sometime']) t.equal((await get({ 'if-modified-since': since })).code, 200, since)
    t.equal((await get({ 'if-modified-since': date, 'if-none-match': '"other"' })).code, 200, 'the tag comes first')
    for (const [range, start, end] of [
      ['bytes=0-9', 0, 10], ['bytes=5-', 5, length], ['bytes=-7', length - 7, length], ['bytes=3-999999999', 3, length],
      [`bytes=-${length + 5}`, 0, length]
    ] as const) {
      const part = await get({ range, ...GZIP })
      t.same(
        [part.code, part.headers['content-range'], part.headers.etag],
        [206, `bytes ${start}-${end - 1}/${length}`, tag], range
      )
      t.ok(part.raw.equals(whole.raw.subarray(start, end)), range)
    }
    for (const range of ['bytes=9-3', 'bytes=-', 'lines=1-2', 'bytes=0-1,3-4', 'bytes=x-']) {
      t.ok((await get({ range })).raw.equals(whole.raw), `${range} is answered with the whole`)
    }
    for (const range of [`bytes=${length}-`, 'bytes=-0']) {
      t.match(await get({ range }), { code: 416, headers: { 'content-range': `bytes */${length}` } }, range)
    }
    for (const [condition, code] of [[tag, 206], [date, 206], ['"other"', 200], [earlier, 200]] as const) {
      t.equal((await get({ range: 'bytes=0-9', 'if-range': condition })).code, code, condition)
    }
  }
  t.equal(
    (await server.get('/apis', {
      accept: 'application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList', range: 'bytes=0-9'
    })).code,
    200,
    'discovery has no ranges'
  )
})

t.test('documents of v3 in other forms than JSON and protobuf are 406, and the index is JSON', async t => {
  const server = await build(t)
  t.match(await server.get('/openapi/v3/api/v1', { accept: 'application/xml' }), {
    code: 406, json: { reason: 'NotAcceptable' }
  })
  t.match(
    await server.get('/openapi/v3', { accept: V3_PROTOBUF }),
    { code: 200, headers: { 'content-type': 'application/json' }, json: { paths: {} } },
    'the index is JSON whatever is accepted'
  )
  for (const path of ['/openapi/v3', '/openapi/v3/api/v1']) {
    for (const accept of [
      `${V3_PROTOBUF}, application/json`, '*/*', 'application/*;q=0.5', 'application/json; charset=utf-8', ''
    ]) {
      t.equal((await server.get(path, { accept })).code, 200, accept)
    }
  }
})

t.test('disabled versions and resources are in neither document', async t => {
  const server = await build(t, { api: { disabled: ['apps/v1', 'v1/pods'] } })
  const { json } = await server.get('/openapi/v2')
  t.notOk(Object.keys(json['paths']).some(path => /\/(apps|pods)(\/|$)/.test(path)))
  t.ok(json['paths']['/api/v1/configmaps'])
  t.notOk(json['definitions']['io.orch.api.apps.v1.Deployment'])
  t.equal(await addressOf(server, 'apis/apps/v1'), undefined)
  const core = (await server.get('/openapi/v3/api/v1')).json
  t.notOk(core['components'].schemas['io.orch.api.core.v1.PodList'])
  t.ok(core['components'].schemas['io.orch.api.core.v1.PodSpec'], 'templates of pods have one still')
})

t.test('types defined at run time are added and removed', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  let registry: ResourceRegistry | undefined
  await app.register(async scope => {
    await orch(scope, {})
    registry = scope.orchResources
  })
  await app.ready()
  if (registry === undefined) throw new Error('there is no registry')
  const server = client(app)
  const path = '/apis/example.com/v1/namespaces/{namespace}/widgets'
  const all = async (): Promise<Json[]> => [
    (await server.get('/openapi/v2')).json, (await server.get('/openapi/v3')).json
  ]
  const before = await all()
  t.notOk(before[0]?.['paths'][path])
  t.equal((await server.get('/openapi/v3/apis/example.com/v1')).code, 404)

  const message = fromStructural({ group: 'example.com', version: 'v1', kind: 'Widget' }, {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        'x-orch-preserve-unknown-fields': true,
        properties: { size: { type: 'integer', nullable: true } }
      }
    }
  })
  const type = resource(message, { plural: 'widgets', namespaced: true })
  registry.add(type)
  registry.serve(type.stored)
  const [v2, v3] = await all()
  t.match(v2?.['paths'][path], {
    get: {
      operationId: 'listExampleComV1NamespacedWidget',
      produces: ['application/json', 'application/yaml', 'application/json;stream=watch']
    },
    post: {}
  })
  t.strictNotSame(v3?.['paths'], before[1]?.['paths'])
  const { schemas } = (await server.get(
    v3?.['paths']['apis/example.com/v1'].serverRelativeURL as string
  )).json['components']
  t.match(schemas['com.example.v1.Widget'], {
    'x-kubernetes-group-version-kind': [{ group: 'example.com', kind: 'Widget', version: 'v1' }]
  })
  t.match(schemas['com.example.v1.Widget'].properties.spec, {
    'x-orch-preserve-unknown-fields': true, properties: { size: { nullable: true } }
  })
  const options =
    schemas['io.orch.apimachinery.pkg.apis.meta.v1.DeleteOptions']['x-kubernetes-group-version-kind'] as Json[]
  t.ok(
    options.length > 20 && options.every(({ group }) => group !== 'example.com'),
    'a new group version leaves it as it is'
  )

  registry.remove(type)
  t.strictSame(await all(), before)
})

t.test('a document of many megabytes is hashed in steps, and its tag is that of its bytes', async t => {
  const bytes = Buffer.alloc(5_000_000, '{"swagger":"2.0"}')
  const steps = hashInSteps(bytes)
  let count = 0
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) count++
  t.ok(count > 10)
  t.equal(step.value, new CachedDocument(bytes).hash)
  t.equal(step.value, createHash('sha512').update(bytes).digest('hex').toUpperCase())
})
