import t from 'tap'
import { build, listen, Watch, type Json } from '../../build.js'
import { startEtcd } from '../../etcd-process.js'
import { condition, DEFINITIONS, definition, established, install, until, version, WIDGET } from './definitions.js'

const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'
const widget = (name: string, spec: Json = { size: 1 }): Json => ({
  apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec
})
const withSchema = (openAPIV3Schema: Json): Json =>
  definition({ versions: [version('v1', { schema: { openAPIV3Schema } })] })
const object = (properties: Json): Json => ({ type: 'object', properties })

t.test('a schema and objects of many levels are served or refused, and cost little', async t => {
  const server = await build(t)
  const nested = (levels: number): Json => levels === 0 ? { type: 'string' } : object({ a: nested(levels - 1) })
  await install(server, withSchema(object({ spec: nested(400) })))
  const deep = (levels: number): unknown => levels === 0 ? 'end' : { a: deep(levels - 1) }
  t.equal((await server.post(WIDGETS, widget('a', deep(400) as Json))).code, 201)
  t.equal((await server.get(`${WIDGETS}/a`)).code, 200)
  t.equal((await server.post(WIDGETS, widget('b', deep(401) as Json))).code, 422)
  const tooDeep = await server.post(DEFINITIONS, {
    ...definition(
      { versions: [version('v1', { schema: { openAPIV3Schema: object({ spec: nested(1000) }) } })] },
      { plural: 'gadgets', kind: 'Gadget' }
    )
  })
  t.ok(tooDeep.code >= 400 && tooDeep.code < 500, String(tooDeep.code))
  t.equal((await server.get('/openapi/v2')).code, 200)
})

t.test('a pattern matches in linear time, and a string that is too long for it is refused', async t => {
  const server = await build(t)
  await install(server, withSchema(object({
    spec: object({
      text: { type: 'string', pattern: '^(a+)+$' }, heavy: { type: 'string', pattern: '^(?:(?:a{1,50}){1,20}b)*$' }
    })
  })))
  t.equal((await server.post(WIDGETS, widget('a', { text: 'a'.repeat(1_000_000) }))).code, 201)
  for (const spec of [{ text: `${'a'.repeat(20_000)}!` }, { heavy: `${'a'.repeat(1000)}b`.repeat(200) }]) {
    t.equal((await server.post(WIDGETS, widget('b', spec))).code, 422)
  }
})

t.test(
  'a pattern is matched with every string that it may have, and an invalid one is no fault of the server', async t => {
    const server = await build(t)
    const patterns = {
      long: '^[a-zA-Z0-9!@#$%^&*()_+=-]{1,1000}$',
      short: '^[a-z0-9]{1,1000}$',
      base64: '^[A-Za-z0-9+/=]{0,512}$',
      dns: '^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\\.)*[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$',
      any: '^.+$',
      bad: '[a-z]{1,1000}[a-z]{1,1000}[a-z]{1,1000}[a-z]{1,1000}[a-z]{1,1000}[a-z]{1,1000}[a-z]{1,1000}('
    }
    await install(server, withSchema(object({
      spec: object(Object.fromEntries(Object.entries(patterns).map(([name, pattern]) => [
        name, { type: 'string', pattern }
      ])))
    })))
    const valid = {
      long: 'a',
      short: 'a'.repeat(1000),
      base64: 'a'.repeat(512),
      dns: `${'a'.repeat(60)}.`.repeat(20) + 'b',
      any: 'x'.repeat(300_000)
    }
    for (const [name, text] of Object.entries(valid)) {
      t.equal((await server.post(WIDGETS, widget(name, { [name]: text }))).code, 201, name)
    }
    t.match(await server.post(WIDGETS, widget('bad', { bad: 'a' })), {
      code: 422, json: { details: { causes: [{ field: 'spec.bad' }] } }
    })
  }
)

t.test('numbers that JSON cannot write are refused', async t => {
  const server = await build(t)
  await install(server, withSchema(object({
    spec: object({ n: { type: 'number' }, free: { type: 'object', 'x-orch-preserve-unknown-fields': true } })
  })))
  for (const spec of ['{"n":1e400}', '{"n":-1e400}', '{"free":{"a":[1e999]}}']) {
    t.equal((await server.call('POST', WIDGETS, `{"metadata":{"name":"a"},"spec":${spec}}`)).code, 400, spec)
  }
})

t.test('an applied value of another type is refused, and nothing is lost', async t => {
  const server = await build(t)
  const schema = object({
    spec: object({
      o: object({ a: { type: 'string' } }),
      m: { type: 'object', additionalProperties: object({ a: { type: 'string' } }) },
      l: {
        type: 'array',
        'x-orch-list-type': 'map',
        'x-orch-list-map-keys': ['k'],
        items: { type: 'object', required: ['k'], properties: { k: { type: 'string' } } }
      }
    })
  })
  await install(server, withSchema(schema))
  const apply = (spec: unknown): ReturnType<typeof server.call> => server.call(
    'PATCH', `${WIDGETS}/a?fieldManager=me`,
    { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec },
    { 'content-type': 'application/apply-patch+yaml' }
  )
  const spec = { o: { a: 'x' }, m: { k: { a: 'y' } }, l: [{ k: 'z' }] }
  t.equal((await apply(spec)).code, 201)
  for (const wrong of [
    'oops', { o: 'oops' }, { o: ['q'] }, { m: 'oops' }, { m: { k: 'oops' } }, { l: 'oops' }, { l: ['oops'] }
  ]) {
    t.equal((await apply(wrong)).code, 422, JSON.stringify(wrong))
  }
  t.same((await server.get(`${WIDGETS}/a`)).json['spec'], spec)
})

t.test('a null in a list or map has the default of its elements', async t => {
  const server = await build(t)
  await install(server, withSchema(object({
    spec: object({
      l: { type: 'array', items: { type: 'string', default: 'x' } },
      lo: {
        type: 'array', items: { type: 'object', default: {}, properties: { a: { type: 'integer', default: 1 } } }
      },
      m: { type: 'object', additionalProperties: { type: 'string', default: 'z' } },
      plain: { type: 'object', additionalProperties: { type: 'string' } }
    })
  })))
  const made = await server.post(
    WIDGETS, widget('a', { l: [null, 'b'], lo: [null], m: { x: null }, plain: { x: null } })
  )
  t.equal(made.code, 201)
  t.same(made.json['spec'], { l: ['x', 'b'], lo: [{ a: 1 }], m: { x: 'z' }, plain: {} })
})

t.test('names that everything else uses are members like others', async t => {
  const server = await build(t)
  await install(server, withSchema(object({
    spec: object({
      constructor: { type: 'string' }, hasOwnProperty: { type: 'integer' }, toString: { type: 'string' }
    }),
    data: { type: 'object', additionalProperties: { type: 'string' } }
  })))
  const made = await server.call(
    'POST', WIDGETS,
    '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"constructor":"c",' +
    '"__proto__":{"x":1},"valueOf":1},"data":{"__proto__":"p","constructor":"d"}}'
  )
  t.equal(made.code, 201)
  t.same(Object.entries(made.json['spec'] as object), [['constructor', 'c']])
  t.match((await server.get(`${WIDGETS}/a`)).body, '"data":{"__proto__":"p","constructor":"d"}')
  t.equal(({} as Json)['x'], undefined)
  t.equal((await server.post(WIDGETS, widget('b', { hasOwnProperty: 'x' }))).code, 422)
})

t.test('a definition that clashes with a built-in resource is never established, and can be deleted', async t => {
  const server = await build(t)
  const clash = {
    ...definition({ group: 'networking.orch.io' }, { plural: 'ingresses', kind: 'Ingress', singular: 'ingress' }),
    metadata: { name: 'ingresses.networking.orch.io', annotations: { 'api-approved.orch.io': 'unapproved, a test' } }
  }
  t.equal((await server.post(DEFINITIONS, clash)).code, 201)
  const get = async (): Promise<Json> => (await server.get(`${DEFINITIONS}/ingresses.networking.orch.io`)).json
  await until(async () => condition(await get(), 'NamesAccepted') !== undefined)
  t.match(condition(await get(), 'NamesAccepted'), { status: 'False' })
  t.match(
    condition(await get(), 'KubernetesAPIApprovalPolicyConformant'), { status: 'False', reason: 'UnapprovedAnnotation' }
  )
  const ingress = {
    metadata: { name: 'kept' }, spec: { defaultBackend: { service: { name: 's', port: { number: 1 } } } }
  }
  t.equal((await server.post('/apis/networking.orch.io/v1/namespaces/default/ingresses', ingress)).code, 201)
  await server.delete(`${DEFINITIONS}/ingresses.networking.orch.io`)
  await until(async () => (await server.get(`${DEFINITIONS}/ingresses.networking.orch.io`)).code === 404)
  t.equal(
    (await server.get('/apis/networking.orch.io/v1/namespaces/default/ingresses/kept')).code, 200,
    'objects of the built-in type stay'
  )
})

t.test('a definition is deleted while many clients write its objects: nothing is left behind', async t => {
  const server = await build(t)
  await install(server, definition())
  const load = { on: true }
  let written = 0
  const writers = Array.from({ length: 100 }, async (_, client) => {
    for (let at = 0; load.on; at++) {
      const { code } = await server.post(WIDGETS, widget(`w${client}-${at}`))
      if (code === 201) written++
      else if (![404, 405, 410].includes(code)) t.fail(`a write ended with ${code}`)
      if (code !== 201) await new Promise(resolve => { setTimeout(resolve, 5) })
    }
  })
  await until(async () => written > 300)
  await server.delete(`${DEFINITIONS}/widgets.example.com`)
  await until(async () => (await server.get(`${DEFINITIONS}/widgets.example.com`)).code === 404)
  load.on = false
  await Promise.all(writers)
  await install(server, definition())
  t.same((await server.get(WIDGETS)).json['items'], [])
})

t.test('an open watch ends when the schema changes, and the next one continues without a gap', async t => {
  const server = await listen(t)
  await install(server, definition())
  await server.post(WIDGETS, widget('a'))
  const { resourceVersion } = (await server.get(WIDGETS)).json['metadata']
  const watch = await Watch.open(t, `${server.url}${WIDGETS}?watch=1&resourceVersion=${resourceVersion as string}`)
  const wider = structuredClone(WIDGET)
  wider['properties'].spec.properties.depth = { type: 'integer' }
  t.equal(
    (await server.patch(
      `${DEFINITIONS}/widgets.example.com`,
      [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: wider }], 'application/json-patch+json'
    )).code,
    200
  )
  await watch.end()
  await server.post(WIDGETS, widget('b', { size: 1, depth: 2 }))
  const list = await server.get(WIDGETS)
  t.same(list.json['items'].map(({ metadata }: Json) => metadata.name as string), ['a', 'b'])
})

t.test('repeated installation and removal leaves nothing behind', async t => {
  const server = await build(t)
  const before = (await server.get('/apis')).body
  for (let turn = 0; turn < 30; turn++) {
    await install(server, definition({}, { shortNames: ['w'] }))
    t.equal((await server.post(WIDGETS, widget('a'))).code, 201)
    await server.delete(`${DEFINITIONS}/widgets.example.com`)
    await until(async () => (await server.get(`${DEFINITIONS}/widgets.example.com`)).code === 404)
  }
  t.equal((await server.get('/apis')).body, before)
})

t.test('two servers over one etcd install at once, and both serve', async t => {
  const etcd = await startEtcd(t)
  const storage = { kind: 'etcd', servers: [etcd.url] } as const
  const [one, other] = [await build(t, { storage }), await build(t, { storage })]
  const names = Array.from({ length: 10 }, (_, at) => ({ plural: `things${at}`, kind: `Thing${at}` }))
  await Promise.all(names.map((named, at) => (at % 2 === 0 ? one : other).post(DEFINITIONS, definition({}, named))))
  for (const { plural } of names) {
    for (const server of [one, other]) {
      await established(server, `${plural}.example.com`)
      await until(async () => (await server.get(`/apis/example.com/v1/namespaces/default/${plural}`)).code === 200)
    }
  }
  await one.post(
    '/apis/example.com/v1/namespaces/default/things0',
    { apiVersion: 'example.com/v1', kind: 'Thing0', metadata: { name: 'a' }, spec: { size: 1 } }
  )
  await until(async () =>
    (await other.get('/apis/example.com/v1/namespaces/default/things0')).json['items'].length === 1)
  await other.delete(`${DEFINITIONS}/things0.example.com`)
  for (const server of [one, other]) {
    await until(async () => (await server.get('/apis/example.com/v1/namespaces/default/things0')).code === 404)
  }
})
