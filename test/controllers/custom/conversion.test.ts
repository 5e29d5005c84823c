import t from 'tap'
import { openBackend } from '../../../storage/open.js'
import { build, listen, Watch, types, type Client, type Json, type Test } from '../../build.js'
import { hookServer, caBundle } from '../../admission/webhooks/hook-server.js'
import { APPLY, DEFINITIONS, definition, established, install, until, version } from './definitions.js'

const at = (version: string): string => `/apis/example.com/${version}/namespaces/default/widgets`
const widget = (version: string, name: string, spec: Json): Json => ({
  apiVersion: `example.com/${version}`, kind: 'Widget', metadata: { name }, spec
})
const V1 = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { size: { type: 'integer' }, colour: { type: 'string', default: 'red' } } }
  }
}
const V2 = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['dimensions'],
      properties: {
        dimensions: { type: 'object', properties: { size: { type: 'integer', minimum: 1 } } },
        colour: { type: 'string' }
      }
    }
  }
}

/** Moves `spec.size` to `spec.dimensions.size` and back. */
function converted (object: Json, apiVersion: string): Json {
  const { size, dimensions, ...spec } = (object['spec'] ?? {}) as Json
  const value = size ?? dimensions?.size
  const moved = apiVersion.endsWith('/v2') ? { dimensions: { size: value } } : { size: value }
  return { ...object, apiVersion, spec: { ...spec, ...moved } }
}

const success = ({ request }: Json): Json => ({
  result: { status: 'Success' },
  convertedObjects: request.objects.map((object: Json) => converted(object, request.desiredAPIVersion as string))
})

async function start (
  t: Test, server: Client, answer: (review: Json) => Json = success, reviews = ['v1']
): Promise<{ asked: Json[] }> {
  const { url, asked } = await hookServer(t, answer)
  const conversion = {
    strategy: 'Webhook', webhook: { clientConfig: { url, caBundle }, conversionReviewVersions: reviews }
  }
  await install(server, definition({
    conversion,
    versions: [
      version('v1', { schema: { openAPIV3Schema: V1 } }),
      version('v2', { storage: false, schema: { openAPIV3Schema: V2 } })
    ]
  }))
  return { asked }
}

t.test('each version is served through the webhook: written, read, listed, patched, applied, watched', async t => {
  const server = await listen(t)
  const { asked } = await start(t, server)
  t.equal((await server.post(at('v1'), widget('v1', 'a', { size: 1 }))).code, 201)
  t.equal(asked.length, 0, 'the storage version needs no conversion')
  const two = await server.get(`${at('v2')}/a`)
  t.match(two.json, {
    apiVersion: 'example.com/v2',
    spec: { dimensions: { size: 1 }, colour: 'red', size: undefined },
    metadata: { name: 'a', resourceVersion: /\d+/, generation: 1 }
  })
  const watch = await Watch.open(
    t, `${server.url}${at('v2')}?watch=1&resourceVersion=${two.json['metadata'].resourceVersion as string}`
  )

  t.match((await server.post(at('v2'), widget('v2', 'b', { dimensions: { size: 2 } }))).json, {
    apiVersion: 'example.com/v2', spec: { dimensions: { size: 2 } }
  })
  t.match((await server.get(`${at('v1')}/b`)).json, { apiVersion: 'example.com/v1', spec: { size: 2 } })
  t.match(
    (await server.post(at('v2'), widget('v2', 'c', { dimensions: { size: 0 } }))).json['details'].causes,
    [{ field: 'spec.dimensions.size' }], 'it is validated by its own schema'
  )
  t.match((await server.patch(`${at('v2')}/a`, { spec: { dimensions: { size: 5 } } })).json, {
    spec: { dimensions: { size: 5 } }, metadata: { generation: 2 }
  })
  t.match((await server.get(`${at('v1')}/a`)).json['spec'], { size: 5, colour: 'red' })
  const applied = await server.call(
    'PATCH', `${at('v2')}/d?fieldManager=me`, widget('v2', 'd', { dimensions: { size: 7 } }), { 'content-type': APPLY }
  )
  t.equal(applied.code, 201)
  t.match((await server.get(`${at('v1')}/d`)).json['spec'], { size: 7 })
  t.same(
    (await server.get(at('v2'))).json['items'].map(({ apiVersion, spec }: Json) => [apiVersion, spec.dimensions.size]),
    [['example.com/v2', 5], ['example.com/v2', 2], ['example.com/v2', 7]]
  )
  t.equal((await server.delete(`${at('v2')}/b`)).code, 200)
  const events = await watch.take(4)
  t.same(types(events), ['ADDED b', 'MODIFIED a', 'ADDED d', 'DELETED b'])
  t.ok(events.every(({ object }) => (object as Json)['apiVersion'] === 'example.com/v2'))
  t.ok(asked.every(({ apiVersion, request }) =>
    apiVersion === 'apiextensions.orch.io/v1' && typeof request.uid === 'string'))
})

t.test(
  'a webhook gets objects with the defaults of the version in which they are stored, and readers those alone',
  async t => {
    const server = await listen(t)
    const { asked } = await start(t, server)
    await server.post(at('v1'), widget('v1', 'a', { size: 1 }))
    const stored = (await server.get(`${DEFINITIONS}/widgets.example.com`)).json
    const [first, second] = stored['spec'].versions as Json[]
    const more = (one: Json, fields: Json): Json => {
      const copy = structuredClone(one)
      Object.assign(copy['schema'].openAPIV3Schema.properties.spec.properties as Json, fields)
      return copy
    }
    const text = { type: 'string' }
    const versions = [
      more(first as Json, { shape: { ...text, default: 'round' } }),
      more(second as Json, { shape: text, label: { ...text, default: 'none' } })
    ]
    t.equal(
      (await server.put(`${DEFINITIONS}/widgets.example.com`, {
        ...stored, spec: { ...stored['spec'], versions }
      })).code,
      200
    )
    asked.length = 0
    t.same((await server.get(`${at('v2')}/a`)).json['spec'], { dimensions: { size: 1 }, colour: 'red', shape: 'round' })
    t.same(asked[0]?.['request'].objects[0].spec, { size: 1, colour: 'red', shape: 'round' })
    const patched = await server.patch(`${at('v2')}/a`, { metadata: { labels: { a: 'b' } } })
    const sent = asked.flatMap(({ request }) => request.objects as Json[])
      .filter(({ apiVersion }) => apiVersion.endsWith('/v2'))
      .at(-1)
    t.match(sent?.['spec'], { shape: 'round', label: 'none' }, 'what is written has those of its version')
    t.same(patched.json['spec'], (await server.get(`${at('v2')}/a`)).json['spec'], 'and is answered as it is read')
  }
)

t.test('writes are answered with what is read back through the webhook, which a dry run calls too', async t => {
  const server = await build(t)
  const { asked } = await start(t, server, ({ request }) => ({
    result: { status: 'Success' },
    convertedObjects: request.objects.map((object: Json) => {
      const made = converted(object, request.desiredAPIVersion as string)
      return { ...made, spec: { ...made['spec'], colour: `${made['spec'].colour as string}!` } }
    })
  }))
  const [dry, real] = ['?dryRun=All', ''].map(query => `${at('v2')}${query}`) as [string, string]
  for (const [url, calls] of [[dry, 2], [real, 2]] as const) {
    asked.length = 0
    const { code, json } = await server.post(url, widget('v2', 'a', { dimensions: { size: 1 }, colour: 'blue' }))
    t.strictSame([code, json['spec'], asked.length], [201, { dimensions: { size: 1 }, colour: 'blue!!' }, calls], url)
  }
  t.equal((await server.get(`${at('v1')}/a`)).json['spec'].colour, 'blue!')
  asked.length = 0
  const patched = await server.patch(`${at('v2')}/a?dryRun=All`, { spec: { colour: 'green' } })
  t.match(patched, { code: 200, json: { spec: { colour: 'green!!' } } })
  t.same(asked.map(({ request }) => request.desiredAPIVersion as string).slice(-2), [
    'example.com/v1', 'example.com/v2'
  ])
  t.equal((await server.get(`${at('v1')}/a`)).json['spec'].colour, 'blue!', 'nothing is written')
})

t.test('each version selects by its own fields, as the webhook converts them', async t => {
  const server = await listen(t, { emulatedVersion: '1.36' })
  const { url } = await hookServer(t, success)
  const conversion = {
    strategy: 'Webhook', webhook: { clientConfig: { url, caBundle }, conversionReviewVersions: ['v1'] }
  }
  const selectable = (jsonPath: string): Json => ({ selectableFields: [{ jsonPath }] })
  await install(server, definition({
    conversion,
    versions: [
      version('v1', { schema: { openAPIV3Schema: V1 }, ...selectable('.spec.size') }),
      version('v2', { storage: false, schema: { openAPIV3Schema: V2 }, ...selectable('.spec.dimensions.size') })
    ]
  }))
  const { json: { metadata } } = await server.post(at('v1'), widget('v1', 'a', { size: 1 }))
  await server.post(at('v2'), widget('v2', 'b', { dimensions: { size: 2 } }))
  for (const [version, selector, code, names] of [
    ['v1', 'spec.size=2', 200, ['b']], ['v2', 'spec.dimensions.size=2', 200, ['b']],
    ['v2', 'spec.dimensions.size!=2', 200, ['a']],
    ['v1', 'spec.dimensions.size=2', 400, undefined], ['v2', 'spec.size=2', 400, undefined]
  ] as const) {
    const { code: got, json } = await server.get(`${at(version)}?fieldSelector=${selector}`)
    t.same(
      [got, json['items']?.map((object: Json) => object['metadata'].name as string)], [code, names],
      `${version} ${selector}`
    )
  }
  const watch = await Watch.open(
    t,
    `${server.url}${at('v2')}?watch=1&fieldSelector=spec.dimensions.size=2&resourceVersion=` +
    `${metadata.resourceVersion as string}`
  )
  await server.patch(`${at('v1')}/a`, { spec: { size: 2 } })
  await server.patch(`${at('v1')}/b`, { spec: { size: 3 } })
  t.same(types(await watch.take(3)), ['ADDED b', 'ADDED a', 'DELETED b'])
})

t.test('the storage version may move, and what was stored before is converted', async t => {
  const server = await build(t)
  await start(t, server, success, ['v3', 'v1beta1'])
  await server.post(at('v1'), widget('v1', 'a', { size: 1 }))
  const moved = await server.patch(
    `${DEFINITIONS}/widgets.example.com`,
    [
      { op: 'replace', path: '/spec/versions/0/storage', value: false },
      { op: 'replace', path: '/spec/versions/1/storage', value: true }
    ],
    'application/json-patch+json'
  )
  t.same(moved.json['status'].storedVersions, ['v1', 'v2'])
  await server.post(at('v2'), widget('v2', 'b', { dimensions: { size: 2 } }))
  t.same((await server.get(at('v2'))).json['items'].map(({ spec }: Json) => spec.dimensions.size as number), [1, 2])
  t.same((await server.get(at('v1'))).json['items'].map(({ spec }: Json) => spec.size as number), [1, 2])
  await server.patch(`${at('v2')}/a`, { metadata: { labels: { moved: 'yes' } } })
  const status = await server.patch(`${DEFINITIONS}/widgets.example.com/status`, { status: { storedVersions: ['v2'] } })
  t.same(status.json['status'].storedVersions, ['v2'])
  t.same((await server.get(at('v2'))).json['items'].map(({ spec }: Json) => spec.dimensions.size as number), [1, 2])
  await server.delete(`${DEFINITIONS}/widgets.example.com`)
  await until(async () => (await server.get(`${DEFINITIONS}/widgets.example.com`)).code === 404)
})

t.test('a stored value that is no object is reported alone, and can be deleted', async t => {
  const store = await openBackend({ kind: 'memory' })
  t.teardown(() => store.close())
  const server = await build(t, { storage: store })
  await start(t, server)
  await server.post(at('v1'), widget('v1', 'a', { size: 1 }))
  const [stored] = (await store.list({
    start: '/', end: '0', revision: 0
  })).kvs.filter(({ key }) => key.endsWith('/widgets/default/a'))
  const key = stored?.key.replace(/a$/, '') ?? ''
  for (const [name, value, what] of [
    ['broken', '{"kind":sesame}', 'damaged'],
    ['encrypted', 'orch:enc:aesgcm:v1:k:sesame', 'encrypted by aesgcm'],
    ['list', '["sesame"]', 'damaged']
  ] as const) {
    t.ok((await store.create(key + name, Buffer.from(value))).succeeded)
    for (const version of ['v1', 'v2']) {
      await until(async () => (await server.get(`${at(version)}/${name}`)).code === 500)
      t.match((await server.get(`${at(version)}/${name}`)).json['message'], new RegExp(`${key}${name} is ${what}`))
      t.equal((await server.get(`${at(version)}/a`)).code, 200, 'the others are served')
    }
    t.equal((await server.delete(`${at('v2')}/${name}`)).code, 200)
    await until(async () => (await server.get(at('v2'))).code === 200)
  }
})

const LIES: ReadonlyArray<readonly [string, (review: Json) => Json, RegExp]> = [
  [
    'it fails', () => ({ result: { status: 'Failure', message: 'not today' } }),
    /conversion webhook for example.com\/v1, Kind=Widget failed: not today/
  ],
  ['other uid', review => ({ ...success(review), uid: 'x' }), /another uid/],
  ['too few', review => ({ ...success(review), convertedObjects: [] }), /returned 0 objects, expected 1/],
  [
    'too many', review => ({ ...success(review), convertedObjects: [...success(review)['convertedObjects'], {}] }),
    /returned 2 objects, expected 1/
  ],
  [
    'unconverted', ({ request }) => ({ result: { status: 'Success' }, convertedObjects: request.objects as Json }),
    /index 0: invalid groupVersion \(expected example.com\/v2, received example.com\/v1\)/
  ],
  [
    'other kind',
    review => ({
      ...success(review),
      convertedObjects: success(review)['convertedObjects'].map((one: Json) => ({ ...one, kind: 'Gadget' }))
    }),
    /invalid kind/
  ],
  [
    'an object for a kind',
    review => ({
      ...success(review),
      convertedObjects: success(review)['convertedObjects'].map((one: Json) => ({ ...one, kind: { toString: 1 } }))
    }),
    /invalid kind \(expected Widget, received object\)/
  ],
  [
    'other name',
    review => ({
      ...success(review),
      convertedObjects: success(review)['convertedObjects'].map((one: Json) => ({
        ...one, metadata: { ...one['metadata'], name: 'z' }
      }))
    }),
    /metadata.name must not change/
  ],
  [
    'bad labels',
    review => ({
      ...success(review),
      convertedObjects: success(review)['convertedObjects'].map((one: Json) => ({
        ...one, metadata: { ...one['metadata'], labels: { a: 1 } }
      }))
    }),
    /metadata.labels are invalid/
  ],
  [
    'too many values',
    review => ({
      ...success(review),
      convertedObjects: success(review)['convertedObjects'].map((one: Json) => ({
        ...one, spec: { ...one['spec'], more: Array.from({ length: 60_000 }, () => 1) }
      }))
    }),
    /more than 50000 values/
  ],
  ['no objects', () => ({ result: { status: 'Success' }, convertedObjects: 'x' }), /returned no objects/],
  ['null', () => ({ result: null }), /no success/]
]

for (const [title, answer, message] of LIES) {
  t.test(`a wrong conversion is an error, and nothing is lost: ${title}`, async t => {
    const server = await build(t)
    await start(t, server, answer)
    await server.post(at('v1'), widget('v1', 'a', { size: 1 }))
    for (const path of [`${at('v2')}/a`, at('v2')]) t.match(await server.get(path), { code: 500, json: { message } })
    for (const query of ['', '?dryRun=All']) {
      t.equal((await server.post(`${at('v2')}${query}`, widget('v2', 'b', { dimensions: { size: 1 } }))).code, 500)
    }
    t.equal((await server.get(`${at('v1')}/b`)).code, 404, 'nothing was written')
    t.match(await server.get(at('v1')), { code: 200, json: { items: [{ spec: { size: 1 } }] } })
  })
}

t.test('a conversion changes labels and annotations, and no other metadata', async t => {
  const server = await build(t)
  await start(t, server, review => ({
    result: { status: 'Success' },
    convertedObjects: success(review)['convertedObjects'].map((one: Json) => ({
      ...one,
      metadata: {
        ...one['metadata'],
        labels: { by: 'webhook' },
        finalizers: ['example.com/x'],
        generation: 99,
        ownerReferences: [{}]
      }
    }))
  }))
  await server.post(at('v1'), widget('v1', 'a', { size: 1 }))
  t.match((await server.get(`${at('v2')}/a`)).json['metadata'], {
    labels: { by: 'webhook' }, generation: 1, finalizers: undefined, ownerReferences: undefined
  })
})

t.test('an unreachable webhook fails only requests that need a conversion', async t => {
  const server = await build(t)
  const conversion = {
    strategy: 'Webhook',
    webhook: { clientConfig: { url: 'https://127.0.0.1:1/convert', caBundle }, conversionReviewVersions: ['v1'] }
  }
  await server.post(DEFINITIONS, definition({
    conversion,
    versions: [
      version('v1', { schema: { openAPIV3Schema: V1 } }),
      version('v2', { storage: false, schema: { openAPIV3Schema: V2 } })
    ]
  }))
  await established(server, 'widgets.example.com')
  t.same((await server.get(at('v2'))).json['items'], [])
  await server.post(at('v1'), widget('v1', 'a', { size: 1 }))
  t.match(await server.get(at('v2')), {
    code: 500,
    json: {
      message: /conversion webhook for example.com\/v1, Kind=Widget failed: Post "https:\/\/127.0.0.1:1\/convert/
    }
  })
  t.equal((await server.get(at('v1'))).code, 200)
  t.equal((await server.get('/readyz')).code, 200)
  await server.delete(`${DEFINITIONS}/widgets.example.com`)
  await until(async () => (await server.get(`${DEFINITIONS}/widgets.example.com`)).code === 404)
})

/** Renames `spec.replicas` of v1 to `spec.count` of v2. */
function renamed (object: Json, apiVersion: string): Json {
  const { replicas, count, ...spec } = (object['spec'] ?? {}) as Json
  const value = replicas ?? count
  const moved = value === undefined ? {} : { [apiVersion.endsWith('/v2') ? 'count' : 'replicas']: value as number }
  return { ...object, apiVersion, spec: { ...spec, ...moved } }
}

const integers = (...names: string[]): Json => ({
  type: 'object',
  properties: {
    spec: { type: 'object', properties: Object.fromEntries(names.map(name => [name, { type: 'integer' }])) }
  }
})

/**
 * A type whose versions name one field differently. @returns what converts, to be replaced, and a client that applies
 */
async function renaming (t: Test): Promise<{
  server: Client
  hook: { fails: boolean }
  apply: (version: string, manager: string, spec: Json, more?: string) => Promise<{ code: number, json: Json }>
}> {
  const server = await build(t)
  const hook = { fails: false }
  const { url } = await hookServer(t, ({ request }) => hook.fails
    ? { result: { status: 'Failure', message: 'not today' } }
    : {
        result: { status: 'Success' },
        convertedObjects: request.objects.map((object: Json) => renamed(object, request.desiredAPIVersion as string))
      })
  await install(server, definition({
    conversion: { strategy: 'Webhook', webhook: { clientConfig: { url, caBundle }, conversionReviewVersions: ['v1'] } },
    versions: [
      version('v1', { schema: { openAPIV3Schema: integers('replicas', 'other') } }),
      version('v2', { storage: false, schema: { openAPIV3Schema: integers('count', 'other') } })
    ]
  }))
  const apply = async (
    version: string, manager: string, spec: Json, more = ''
  ): Promise<{ code: number, json: Json }> =>
    await server.call(
      'PATCH', `${at(version)}/a?fieldManager=${manager}${more}`, widget(version, 'a', spec), { 'content-type': APPLY }
    )
  return { server, hook, apply }
}

const ownersOf = ({ json: { metadata } }: { json: Json }): string[] =>
  (metadata.managedFields as Json[]).map((
    { manager, apiVersion, fieldsV1 }
  ) =>
    `${manager as string} ${(apiVersion as string).slice(-2)} ` +
    `${Object.keys(fieldsV1['f:spec'] as Json).filter(name => name !== '.').join()}`)

t.test(
  'an apply in one version conflicts with the owner of the same field in another, in the names of the owner\'s version',
  async t => {
    const { server, apply } = await renaming(t)
    t.equal((await server.post(`${at('v2')}?fieldManager=creator`, widget('v2', 'a', { count: 2 }))).code, 201)
    t.match(await apply('v1', 'applier', { replicas: 5 }), {
      code: 409,
      json: {
        details: {
          causes: [
            {
              reason: 'FieldManagerConflict',
              field: '.spec.count',
              message: 'conflict with "creator" using example.com/v2'
            }
          ]
        }
      }
    })
    t.match((await server.get(`${at('v2')}/a`)).json['spec'], { count: 2 })
    const forced = await apply('v1', 'applier', { replicas: 5 }, '&force=true')
    t.same(ownersOf(forced), ['applier v1 f:replicas', 'creator v2 '], 'the creator still owns what holds the field')
    const dropped = await apply('v2', 'applier', {})
    t.same(dropped.json['spec'], {}, 'what was applied in one version is removed by an apply in the other')
  }
)

t.test('an update takes a field from its owners in every version', async t => {
  const { server, hook, apply } = await renaming(t)
  await apply('v2', 'applier', { count: 2, other: 1 })
  t.same(ownersOf(await server.patch(`${at('v1')}/a?fieldManager=updater`, { spec: { replicas: 3 } })), [
    'applier v2 f:other', 'updater v1 f:replicas'
  ])
  hook.fails = true
  const alone = await server.patch(`${at('v1')}/a?fieldManager=updater`, { spec: { other: 2 } })
  t.equal(alone.code, 200, 'an update in the storage version does not need the webhook')
  t.match(
    await apply('v1', 'third', { other: 3 }), { code: 500, json: { message: /not today/ } },
    'an apply cannot tell who owns what'
  )
})

t.test('owners of versions that the definition no longer has are dropped with the next change', async t => {
  const { server, apply } = await renaming(t)
  await apply('v2', 'applier', { other: 1 })
  await server.patch(`${at('v1')}/a?fieldManager=updater`, { spec: { replicas: 3 } })
  const { json } = await server.patch(
    `${DEFINITIONS}/widgets.example.com`,
    [
      { op: 'remove', path: '/spec/versions/1' },
      { op: 'replace', path: '/spec/conversion', value: { strategy: 'None' } }
    ],
    'application/json-patch+json'
  )
  t.equal(json['spec'].versions.length, 1)
  await until(async () => (await server.get(`${at('v2')}/a`)).code === 404)
  t.same(
    ownersOf(await server.patch(`${at('v1')}/a?fieldManager=updater`, { spec: { replicas: 4 } })),
    ['updater v1 f:replicas']
  )
})
