import Fastify from '../fastify.js'
import t from 'tap'
import { server as orch, type ServerOptions } from '../../app.js'
import { fromStructural, type StructuralSchema } from '../../schemas/custom/declaration.js'
import { resource, type ResourceType } from '../../schemas/resource.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { TABLE, client, Watch, types, PROTOBUF, type Client, type Json, type Answer, type Test } from '../build.js'
import { polled } from '../polled.js'

const SCHEMA: StructuralSchema = {
  type: 'object',
  description: 'Something that turns.',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: { size: { type: 'integer', minimum: 1 }, colour: { type: 'string', default: 'red' } }
    },
    status: { type: 'object', properties: { turned: { type: 'integer' } } }
  }
}
const widgets = (): ResourceType =>
  resource(fromStructural({ group: 'example.com', version: 'v1', kind: 'Widget' }, SCHEMA), {
    plural: 'widgets', shortNames: ['w'], namespaced: true, protobuf: false, storagePrefix: 'example.com/widgets',
    subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'] }]
  })
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'
const widget = (name: string, spec: Json = { size: 1 }): Json =>
  ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec })

/** A server with its registry, which is otherwise private. */
async function start (
  t: Test, options: ServerOptions = {}
): Promise<Client & { resources: ResourceRegistry, url: string }> {
  const app = Fastify({ logger: false, forceCloseConnections: true })
  t.teardown(() => app.close())
  let resources: ResourceRegistry | undefined
  await app.register(async scope => {
    await orch(scope, options)
    resources = scope.orchResources
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const made = client(app)
  await polled(async () => (await made.get('/api/v1/namespaces/default')).code === 200)
  if (resources === undefined) throw new Error('the server has no registry')
  return { ...made, resources, url }
}

for (const [title, sizes] of [
  ['kept in memory', {}], ['answered by the store alone', { 'example.com/widgets': 0 }]
] as const) {
  t.test(`an added type is served and a removed one is not: ${title}`, async t => {
    const server = await start(t, { watchCache: { sizes } })
    const { resources, url } = server
    const groups = async (): Promise<string[]> =>
      (await server.get('/apis')).json.groups.map(({ name }: { name: string }) => name)
    t.equal((await server.get(WIDGETS)).code, 404)
    const before = await server.get('/openapi/v2')

    const type = widgets()
    resources.add(type)
    t.equal((await server.get(WIDGETS)).code, 404, 'an added type is not served yet')
    resources.serve(type.stored)
    t.match((await groups()).at(-1), 'example.com', 'it comes last in discovery')
    t.match((await server.get('/apis/example.com/v1')).json.resources, [
      { name: 'widgets', kind: 'Widget', shortNames: ['w'], namespaced: true }, { name: 'widgets/status' }
    ])
    const after = await server.get('/openapi/v2')
    t.not(after.headers.etag, before.headers.etag)
    t.match(after.json, {
      paths: { '/apis/example.com/v1/namespaces/{namespace}/widgets': { post: {} } },
      definitions: { 'com.example.v1.Widget': { description: 'Something that turns.' } }
    })

    const created = await server.post(WIDGETS, { ...widget('one', { size: 2, unknown: 1 }), status: { turned: 5 } })
    t.equal(created.code, 201)
    t.match(created.json, {
      kind: 'Widget',
      apiVersion: 'example.com/v1',
      spec: { size: 2, colour: 'red', unknown: undefined },
      status: undefined
    })
    t.match(String(created.headers['warning']), /unknown field \\"spec.unknown\\"/)
    t.match(await server.post(WIDGETS, widget('none', { size: 0 })), {
      code: 422, json: { details: { causes: [{ field: 'spec.size' }] } }
    })
    t.match((await server.get(`${WIDGETS}/one`)).json, created.json)

    const watch = await Watch.open(
      t, `${url}${WIDGETS}?watch=1&resourceVersion=${created.json.metadata.resourceVersion}`
    )
    t.match(
      (await server.patch(`${WIDGETS}/one/status`, { spec: { size: 9 }, status: { turned: 1 } })).json,
      { spec: { size: 2 }, status: { turned: 1 } }
    )
    await server.post(WIDGETS, widget('two'))
    t.same(types(await watch.take(2)), ['MODIFIED one', 'ADDED two'])
    const list = await server.get('/apis/example.com/v1/widgets')
    t.match(list.json, { kind: 'WidgetList', items: [{ metadata: { name: 'one' } }, { metadata: { name: 'two' } }] })
    t.same(
      (await server.get(WIDGETS, { accept: TABLE })).json.rows.map(({ cells }: { cells: string[] }) => cells[0]),
      ['one', 'two']
    )
    for (const path of [WIDGETS, `${WIDGETS}/one`, `${WIDGETS}?watch=1`]) {
      t.equal((await server.get(path, { accept: PROTOBUF })).code, 406, 'it has no protobuf form')
    }
    t.equal(
      (await server.get(`${WIDGETS}/one`, { accept: `${PROTOBUF}, application/json;q=0.5` })).json.kind, 'Widget',
      'clients that prefer protobuf get JSON'
    )
    t.throws(() => resources.add(type), /there already/)

    resources.remove(type)
    await watch.end()
    t.match(watch.events.at(-1), { type: 'ERROR', object: { kind: 'Status', code: 410 } }, 'its watches are ended')
    for (const gone of [WIDGETS, `${WIDGETS}/one`, '/apis/example.com/v1', '/apis/example.com']) {
      t.equal((await server.get(gone)).code, 404, gone)
    }
    t.equal((await server.post(WIDGETS, widget('three'))).code, 404)
    t.notOk((await groups()).includes('example.com'))
    t.equal((await server.get('/openapi/v2')).headers.etag, before.headers.etag)

    const again = widgets()
    resources.add(again)
    resources.serve(again.stored)
    t.equal((await server.get(WIDGETS)).json.items.length, 2, 'stored objects are served again with the type')
  })
}

t.test('a field that has become atomic is owned as a whole by the owners of its parts', async t => {
  const { call, resources } = await start(t)
  const served = (atomic: object): ResourceType => {
    const spec = {
      type: 'object',
      properties: {
        map: { type: 'object', additionalProperties: { type: 'string' }, ...atomic }, size: { type: 'integer' }
      }
    } as const
    const type = resource(
      fromStructural({ group: 'example.com', version: 'v1', kind: 'Widget' }, { type: 'object', properties: { spec } }),
      { plural: 'widgets', namespaced: true, protobuf: false, storagePrefix: 'example.com/widgets' }
    )
    resources.add(type)
    resources.serve(type.stored)
    return type
  }
  const apply = (by: string, spec: Json, force = ''): Promise<Answer> =>
    call('PATCH', `${WIDGETS}/one?fieldManager=${by}${force}`,
      JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'one' }, spec }),
      { 'content-type': 'application/apply-patch+yaml' })
  const parts = served({})
  t.equal((await apply('a', { map: { x: '1' }, size: 1 })).code, 201)
  t.equal((await apply('b', { map: { y: '1' } })).code, 200)
  resources.remove(parts)
  served({ 'x-orch-map-type': 'atomic' })
  const causes = (await apply('c', { map: { z: '1' } })).json.details.causes
  t.match(causes, [
    { message: 'conflict with "a"', field: '.spec.map' }, { message: 'conflict with "b"', field: '.spec.map' }
  ])
  const { json } = await apply('c', { map: { z: '1' } }, '&force=true')
  t.same(json.spec, { map: { z: '1' }, size: 1 })
  t.same(json.metadata.managedFields.map(({ manager, fieldsV1 }: Json) => [manager, fieldsV1]), [
    ['a', { 'f:spec': { 'f:size': {} } }], ['c', { 'f:spec': { 'f:map': {} } }]
  ])
})

t.test('a withdrawn version is not served, while its type stays', async t => {
  const { resources, get } = await start(t)
  const type = widgets()
  resources.add(type)
  resources.serve(type.stored)
  resources.withdraw(type.stored)
  t.equal((await get(WIDGETS)).code, 404)
  resources.serve(type.stored)
  t.equal((await get(WIDGETS)).code, 200)
})
