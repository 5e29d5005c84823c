import t from 'tap'
import { build, listen, Watch, types, TABLE, PROTOBUF, type Json } from '../../build.js'
import {
  APPLY, condition, DEFINITIONS, definition, established, install, until, version, WIDGET
} from './definitions.js'

const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'
const widget = (name: string, spec: Json = { size: 1 }, more: Json = {}): Json => ({
  apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec, ...more
})

t.test('a definition is established, and its type is found by discovery and OpenAPI', async t => {
  const server = await build(t)
  t.equal((await server.get(WIDGETS)).code, 404)
  const created = await server.post(DEFINITIONS, definition({}, { shortNames: ['wd'], categories: ['all'] }))
  t.match(created.json, { status: { acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] } })
  const made = await established(server, 'widgets.example.com')
  t.match(made['status'], {
    acceptedNames: {
      plural: 'widgets',
      singular: 'widget',
      kind: 'Widget',
      listKind: 'WidgetList',
      shortNames: ['wd'],
      categories: ['all']
    },
    conditions: [
      { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts' },
      { type: 'Established', status: 'True', reason: 'InitialNamesAccepted' }
    ]
  })
  t.match((await server.get('/apis/example.com/v1')).json['resources'], [
    {
      name: 'widgets', singularName: 'widget', namespaced: true, kind: 'Widget', shortNames: ['wd'], categories: ['all']
    }
  ])
  t.match((await server.get('/apis')).json['groups'].at(-1), {
    name: 'example.com', preferredVersion: { version: 'v1' }
  })
  const v2 = (await server.get('/openapi/v2')).json
  t.match(
    v2['definitions']['com.example.v1.Widget'],
    {
      properties: {
        metadata: {},
        spec: {
          required: ['size'],
          properties: {
            size: { minimum: 1 }, note: { type: undefined, nullable: undefined },
            free: { type: undefined, 'x-kubernetes-preserve-unknown-fields': true }, port: { anyOf: undefined },
            template: { required: undefined }
          }
        }
      }
    }
  )
  const { paths } = (await server.get('/openapi/v3')).json
  const v3 = (await server.get(paths['apis/example.com/v1'].serverRelativeURL as string)).json
  t.match(
    v3['components'].schemas['com.example.v1.Widget'].properties.spec.properties,
    {
      note: { nullable: true }, parts: { 'x-kubernetes-list-type': 'map' },
      port: { anyOf: [{ type: 'integer' }, { type: 'string' }] }, template: { required: ['kind', 'apiVersion'] }
    }
  )
})

t.test('objects are pruned, defaulted, validated, patched, applied and watched', async t => {
  const server = await listen(t)
  await install(server, definition())
  const warned = await server.post(WIDGETS, widget('a', {
    size: 1, unknown: 1, note: null, parts: [{ name: 'x', other: 1 }], free: { any: { thing: [1] } }, port: null
  }))
  t.equal(warned.code, 201)
  t.match(warned.json, {
    metadata: { generation: 1 },
    spec: { size: 1, colour: 'red', note: null, parts: [{ name: 'x', weight: 1 }], free: { any: { thing: [1] } } }
  })
  t.same(Object.keys(warned.json['spec']).sort(), ['colour', 'free', 'note', 'parts', 'size'])
  t.match(
    String(warned.headers['warning']), /unknown field \\"spec.parts\[0\].other\\".*unknown field \\"spec.unknown\\"/
  )
  t.equal((await server.post(`${WIDGETS}?fieldValidation=Strict`, widget('b', { size: 1, unknown: 1 }))).code, 400)

  const invalid = await server.post(WIDGETS, widget('b', {
    size: 'x',
    colour: 'blue',
    tags: ['a', 'a'],
    parts: [{ name: 'x' }, { name: 'x' }, {}],
    port: 1.5,
    template: { metadata: { name: 'a/b' } }
  }))
  t.equal(invalid.code, 422)
  const causes = (invalid.json['details'].causes as Json[])
    .map(({ reason, field }) => `${reason as string} ${field as string}`)
  t.same(causes.sort(), [
    'FieldValueDuplicate spec.parts[1]', 'FieldValueDuplicate spec.tags[1]',
    'FieldValueInvalid spec.template.metadata.name', 'FieldValueNotSupported spec.colour',
    'FieldValueRequired spec.parts[2].name', 'FieldValueRequired spec.template.apiVersion',
    'FieldValueRequired spec.template.kind', 'FieldValueTypeInvalid spec.port', 'FieldValueTypeInvalid spec.size'
  ])

  const watch = await Watch.open(
    t, `${server.url}${WIDGETS}?watch=1&resourceVersion=${warned.json['metadata'].resourceVersion as string}`
  )
  const merged = await server.patch(`${WIDGETS}/a`, { spec: { colour: 'green', parts: [{ name: 'y' }] } })
  t.match(merged.json, { metadata: { generation: 2 }, spec: { colour: 'green', parts: [{ name: 'y', weight: 1 }] } })
  t.equal(
    (await server.patch(`${WIDGETS}/a`, { metadata: { labels: { a: 'b' } } })).json['metadata'].generation, 2,
    'metadata are no desired state'
  )
  t.match(
    (await server.patch(
      `${WIDGETS}/a`, [{ op: 'add', path: '/spec/tags', value: ['t'] }], 'application/json-patch+json'
    )).json['spec'].tags,
    ['t']
  )
  t.equal((await server.patch(`${WIDGETS}/a`, {}, 'application/strategic-merge-patch+json')).code, 415)
  t.same(types(await watch.take(3)), ['MODIFIED a', 'MODIFIED a', 'MODIFIED a'])

  const apply = (manager: string, spec: Json, force = ''): ReturnType<typeof server.call> =>
    server.call('PATCH', `${WIDGETS}/c?fieldManager=${manager}${force}`, widget('c', spec), { 'content-type': APPLY })
  t.equal((await apply('one', { size: 1, parts: [{ name: 'x', weight: 2 }], tags: ['a'] })).code, 201)
  t.match((await apply('two', { size: 1, parts: [{ name: 'y' }], tags: ['b'] })).json['spec'], {
    parts: [{ name: 'x', weight: 2 }, { name: 'y', weight: 1 }], tags: ['a', 'b']
  })
  const conflict = await apply('two', { size: 2 })
  t.equal(conflict.code, 409)
  t.match(conflict.json['details'].causes, [{ reason: 'FieldManagerConflict', field: '.spec.size' }])
  t.match((await apply('two', { size: 2 }, '&force=true')).json['spec'], { size: 2, parts: [{ name: 'x' }] })

  const put = await server.put(`${WIDGETS}/a`, widget('a', { size: 9 }))
  t.equal(put.code, 422, 'an update names the version it is of')
  t.match(put.json['details'].causes, [{ field: 'metadata.resourceVersion' }])
  t.equal((await server.get(WIDGETS, { accept: PROTOBUF })).code, 406)
  t.match(
    (await server.get(WIDGETS, {
      accept: `${PROTOBUF};as=PartialObjectMetadataList;g=meta.orch.io;v=v1`
    })).headers['content-type'],
    PROTOBUF
  )
  t.match((await server.get(WIDGETS, { accept: 'application/yaml' })).body, /kind: WidgetList/)
  t.equal((await server.post(`${WIDGETS}?dryRun=All`, widget('d'))).code, 201)
  t.equal((await server.get(`${WIDGETS}/d`)).code, 404)
  t.equal((await server.get(`${WIDGETS}?fieldSelector=metadata.name=a`)).json['items'].length, 1)
  t.equal((await server.get(`${WIDGETS}?fieldSelector=spec.size=1`)).code, 400)
  t.equal((await server.get(`${WIDGETS}?labelSelector=a=b`)).json['items'].length, 1)
  t.equal((await server.delete(WIDGETS)).code, 200)
  t.same((await server.get(WIDGETS)).json['items'], [])
})

t.test(
  'a status that the schema does not declare is kept where unknown fields are, and pruned where they are not',
  async t => {
    const server = await build(t)
    for (const keeps of [true, false]) {
      await install(
        server,
        definition({
          versions: [
            version('v1', {
              subresources: { status: {} },
              schema: {
                openAPIV3Schema: { type: 'object', ...keeps ? { 'x-orch-preserve-unknown-fields': true } : {} }
              }
            })
          ]
        })
      )
      const { json } = await server.post(WIDGETS, widget('a'))
      const put = await server.put(`${WIDGETS}/a/status`, { ...json, status: { ready: true } })
      t.equal(put.code, 200)
      t.strictSame(put.json['status'], keeps ? { ready: true } : undefined)
      t.equal((await server.patch(`${WIDGETS}/a/status`, { status: { ready: 'no' } })).code, 200)
      await server.delete(`${DEFINITIONS}/widgets.example.com`)
      await until(async () => (await server.get(`${DEFINITIONS}/widgets.example.com`)).code === 404)
    }
  }
)

t.test('status and scale are subresources where the definition says so', async t => {
  const server = await build(t)
  await install(server, definition({
    versions: [
      version('v1', {
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector'
          }
        }
      })
    ]
  }))
  const created = await server.post(WIDGETS, widget('a', { size: 1 }, { status: { replicas: 5 } }))
  t.notOk('status' in created.json)
  t.match(
    (await server.get(`${WIDGETS}/a/scale`)).json,
    { code: 500, message: 'Internal error occurred: the spec replicas field ".spec.replicas" does not exist' },
    'there is nothing to scale'
  )
  t.match(
    (await server.patch(`${WIDGETS}/a/scale`, { metadata: { labels: { a: 'b' } } })).json,
    { code: 400, reason: 'BadRequest', message: 'the spec replicas field ".spec.replicas" cannot be empty' }
  )
  t.match(
    (await server.patch(`${WIDGETS}/a/scale?dryRun=All`, { spec: { replicas: 3 } })).json,
    { kind: 'Scale', spec: { replicas: 3 } }, 'a patch may be the first to set replicas'
  )
  t.equal((await server.patch(`${WIDGETS}/a/scale?dryRun=All`, { spec: { replicas: 0 } })).code, 200)
  await server.patch(`${WIDGETS}/a`, { spec: { replicas: 2 }, status: { replicas: 7 } })
  const status = await server.patch(`${WIDGETS}/a/status`, {
    spec: { size: 99 }, status: { replicas: 1, selector: 'a=b' }, metadata: { labels: { no: 'no' } }
  })
  t.match(status.json, {
    metadata: { generation: 2, labels: undefined }, spec: { size: 1 }, status: { replicas: 1, selector: 'a=b' }
  })
  t.match((await server.get(`${WIDGETS}/a/scale`)).json, {
    kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 2 }, status: { replicas: 1, selector: 'a=b' }
  })
  t.match(
    (await server.get(`${WIDGETS}/a/scale`, { accept: TABLE })).json,
    {
      columnDefinitions: [
        { name: 'Name', format: 'name' }, { name: 'Desired' }, { name: 'Available' }, { name: 'Age', type: 'date' }
      ],
      rows: [{ cells: ['a', 2, 1, /s$/] }]
    }
  )
  t.match((await server.patch(`${WIDGETS}/a/scale`, { spec: { replicas: 4 } })).json, { spec: { replicas: 4 } })
  t.match(
    (await server.put(`${WIDGETS}/a/scale`, {
      apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a', namespace: 'default' }, spec: { replicas: 5 }
    })).json,
    { spec: { replicas: 5 } }
  )
  t.match((await server.get(`${WIDGETS}/a`)).json, { metadata: { generation: 4 }, spec: { replicas: 5, size: 1 } })
  t.match((await server.post(WIDGETS, widget('b', { size: 1, replicas: -1 }))).json['details'].causes, [
    { field: '.spec.replicas', reason: 'FieldValueInvalid' }
  ])
  t.match(
    (await server.patch(`${WIDGETS}/a/status`, { status: { replicas: 'many' } })).json['details'].causes,
    [{ field: 'status.replicas' }, { field: '.status.replicas' }]
  )
})

t.test('tables have the columns of the definition', async t => {
  const server = await build(t)
  const columns = [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    {
      name: 'Ready',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].status',
      priority: 1,
      description: 'Whether it is ready.'
    },
    { name: 'Note', type: 'string', jsonPath: '.metadata.annotations.example\\.com/note' },
    { name: 'Made', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Tags', type: 'string', jsonPath: '.spec.tags' },
    { name: 'Bad', type: 'string', jsonPath: '.spec[' },
    { name: 'Mismatch', type: 'boolean', jsonPath: '.spec.size' },
    { name: 'Quoted', type: 'string', jsonPath: ".metadata.annotations['example\\.com/note']" },
    { name: 'Steps', type: 'string', jsonPath: ".spec['free.deep']" },
    { name: 'Slash', type: 'string', jsonPath: '.spec.free.a/b' },
    { name: 'Object', type: 'string', jsonPath: '.spec.free' },
    { name: 'Null', type: 'string', jsonPath: '.spec.note' },
    { name: 'Day', type: 'date', jsonPath: '.spec.free.day' },
    { name: 'Empty', type: 'date', jsonPath: '.spec.free.empty' }
  ]
  await install(server, definition({ versions: [version('v1', { additionalPrinterColumns: columns })] }))
  await server.post(WIDGETS, {
    ...widget(
      'a', { size: 3, tags: ['x'], note: null, free: { deep: '<', day: '2024-05-06', 'a/b': 1, empty: '' } },
      { status: { conditions: [{ type: 'Other', status: 'False' }, { type: 'Ready', status: 'True' }] } }
    ),
    metadata: { name: 'a', annotations: { 'example.com/note': 'hi' } }
  })
  const table = (await server.get(WIDGETS, { accept: TABLE })).json
  t.same(
    table['columnDefinitions'].map(({ name, priority }: Json) => `${name as string} ${priority as number}`),
    [
      'Name 0', 'Size 0', 'Ready 1', 'Note 0', 'Made 0', 'Tags 0', 'Bad 0', 'Mismatch 0', 'Quoted 0', 'Steps 0',
      'Slash 0', 'Object 0', 'Null 0', 'Day 0', 'Empty 0'
    ]
  )
  t.match(table['rows'][0].cells, [
    'a', 3, 'True', 'hi', /s$/, '["x"]', null, null, 'hi', '<', '1',
    '{"a/b":1,"day":"2024-05-06","deep":"\\u003c","empty":""}', '<no value>', '<invalid>', '<unknown>'
  ])
  await install(server, definition({}, { plural: 'gadgets', kind: 'Gadget' }))
  await server.post(
    '/apis/example.com/v1/namespaces/default/gadgets',
    { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'g' }, spec: { size: 1 } }
  )
  t.match(
    (await server.get('/apis/example.com/v1/namespaces/default/gadgets', { accept: TABLE })).json,
    { columnDefinitions: [{ name: 'Name' }, { name: 'Age' }], rows: [{ cells: ['g', /s$/] }] }
  )
})

t.test('a version is converted by the schemas alone, deprecated ones warn, and a new schema holds at once, ' +
  'for stored objects too', async t => {
  const server = await build(t)
  const old = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { size: { type: 'integer' }, shape: { type: 'string', default: 'round' } } }
    }
  }
  const versions = [
    version('v1'), version('v1beta1', { storage: false, deprecated: true, schema: { openAPIV3Schema: old } }),
    version('v1alpha1', { storage: false, served: false }),
    version('v2', { storage: false, deprecated: true, deprecationWarning: 'use v1' }),
    version('v3', { storage: false, deprecated: true })
  ]
  const made = await install(server, definition({ versions }))
  const other = (name: string): string => WIDGETS.replace('/v1/', `/${name}/`)
  t.same(
    (await server.get('/apis/example.com')).json['versions'].map(({ version }: Json) => version as string),
    ['v3', 'v2', 'v1', 'v1beta1']
  )
  t.equal((await server.get(other('v1alpha1'))).code, 404)
  await server.post(WIDGETS, widget('a', { size: 2, tags: ['x'] }))
  const beta = await server.get(`${other('v1beta1')}/a`)
  t.same(
    [beta.json['apiVersion'], beta.json['spec']], ['example.com/v1beta1', { size: 2 }],
    'defaults are those of the stored version'
  )
  t.match((await server.patch(`${other('v1beta1')}/a?dryRun=All`, { spec: { size: 3 } })).json, { spec: { size: 3 } })
  t.match(beta.headers['warning'], /"example.com\/v1beta1 Widget is deprecated; use example.com\/v1 Widget"/)
  t.match(
    (await server.get(other('v3'))).headers['warning'], /"example.com\/v3 Widget is deprecated"/,
    'nothing newer is better'
  )
  t.match((await server.get(other('v2'))).headers['warning'], /use v1/)
  t.equal(
    (await server.post(other('v1beta1'), {
      apiVersion: 'example.com/v1beta1', kind: 'Widget', metadata: { name: 'b' }, spec: { shape: 'flat' }
    })).code,
    201,
    'it is validated by the schema of its own version'
  )
  t.same((await server.get(`${WIDGETS}/b`)).json['spec'], { colour: 'red' })
  t.match(
    (await server.patch(`${WIDGETS}/b`, { metadata: { labels: { a: 'b' } } })).json['details'].causes,
    [{ field: 'spec.size' }]
  )

  const wider = structuredClone(WIDGET)
  wider['properties'].spec.properties.depth = { type: 'integer', default: 7 }
  delete wider['properties'].spec.properties.tags
  const { spec } = made
  const changed = await server.patch(
    `${DEFINITIONS}/widgets.example.com`,
    [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: wider }], 'application/json-patch+json'
  )
  t.equal(changed.code, 200)
  t.not(spec, undefined)
  t.same((await server.get(`${WIDGETS}/a`)).json['spec'], { colour: 'red', depth: 7, size: 2 }, 'at once')
  t.same((await server.get(WIDGETS)).json['items'][0].spec, { colour: 'red', depth: 7, size: 2 })

  const moved = await server.patch(
    `${DEFINITIONS}/widgets.example.com`,
    [
      { op: 'replace', path: '/spec/versions/0/storage', value: false },
      { op: 'replace', path: '/spec/versions/3/storage', value: true }
    ],
    'application/json-patch+json'
  )
  t.same(moved.json['status'].storedVersions, ['v1', 'v2'])
  t.match((await server.get(`${WIDGETS}/a`)).json, { apiVersion: 'example.com/v1', spec: { size: 2 } })
  t.equal((await server.patch(`${other('v2')}/a`, { spec: { size: 5 } })).code, 200)
  t.match((await server.get(`${WIDGETS}/a`)).json, { apiVersion: 'example.com/v1', spec: { size: 5 } })
})

t.test('of two definitions with the same name the first one gets it', async t => {
  const server = await build(t)
  await install(server, definition({}, { shortNames: ['w'] }))
  await server.post(
    DEFINITIONS, definition({}, { plural: 'gadgets', kind: 'Widget', singular: 'gadget', shortNames: ['w', 'g'] })
  )
  let second: Json = {}
  await until(async () =>
    condition(second = (await server.get(`${DEFINITIONS}/gadgets.example.com`)).json, 'NamesAccepted') !== undefined)
  t.match(second['status'], {
    acceptedNames: { plural: 'gadgets', singular: 'gadget', kind: '' },
    conditions: [
      { type: 'NamesAccepted', status: 'False', reason: 'ListKindConflict', message: '"WidgetList" is already in use' },
      { type: 'Established', status: 'False', reason: 'NotAccepted' }
    ]
  })
  t.equal((await server.get(WIDGETS.replace('widgets', 'gadgets'))).code, 404)
  await server.delete(`${DEFINITIONS}/widgets.example.com`)
  t.match((await established(server, 'gadgets.example.com'))['status'].acceptedNames, {
    kind: 'Widget', shortNames: ['w', 'g']
  })
  t.equal((await server.get(WIDGETS.replace('widgets', 'gadgets'))).code, 200)
})

t.test('a definition whose status lists a version that it lacks can be deleted', async t => {
  const server = await build(t)
  await install(server, definition())
  const url = `${DEFINITIONS}/widgets.example.com`
  t.equal((await server.patch(`${url}/status`, { status: { storedVersions: ['v1', 'gone'] } })).code, 200)
  t.match(await server.patch(url, { metadata: { labels: { a: 'b' } } }), {
    code: 422, json: { details: { causes: [{ field: 'status.storedVersions[1]' }] } }
  })
  t.equal((await server.delete(url)).code, 202)
  await until(async () => (await server.get(url)).code === 404)
})

t.test('the objects of a type are deleted before its definition', async t => {
  const server = await build(t)
  await install(server, definition())
  await server.post(WIDGETS, widget('a'))
  await server.post(WIDGETS, { ...widget('held'), metadata: { name: 'held', finalizers: ['example.com/hold'] } })
  const deleted = await server.delete(`${DEFINITIONS}/widgets.example.com`)
  t.match(deleted.json, {
    metadata: {
      finalizers: ['customresourcecleanup.apiextensions.orch.io'], generation: 1, deletionGracePeriodSeconds: undefined
    }
  })
  t.match(condition(deleted.json, 'Terminating'), { status: 'True', reason: 'InstanceDeletionPending' })
  await until(async () => condition(
    (await server.get(`${DEFINITIONS}/widgets.example.com`)).json, 'Terminating'
  )?.['reason'] === 'InstanceDeletionInProgress')
  t.equal((await server.post(WIDGETS, widget('late'))).code, 405)
  t.match(
    (await server.patch(
      `${WIDGETS}/late?fieldManager=me`, { apiVersion: 'example.com/v1', kind: 'Widget', ...widget('late') }, APPLY
    )).json,
    { code: 403, message: /"late" is forbidden: create not allowed while custom resource definition is terminating/ }
  )
  t.same(
    (await server.get('/apis/example.com/v1')).json['resources'][0].verbs,
    ['delete', 'deletecollection', 'get', 'list', 'watch']
  )
  t.same((await server.get(WIDGETS)).json['items'].map(({ metadata }: Json) => metadata.name as string), ['held'])
  t.equal((await server.patch(`${WIDGETS}/held`, { metadata: { finalizers: null } })).code, 200)
  await until(async () => (await server.get(`${DEFINITIONS}/widgets.example.com`)).code === 404)
  t.equal((await server.get(WIDGETS)).code, 404)
  await install(server, definition())
  t.same((await server.get(WIDGETS)).json['items'], [], 'nothing is left behind')
})

t.test(
  'objects that were to orphan their dependents still do so when their definition is deleted, ' +
  'and creates are 403 since 1.34',
  async t => {
    const server = await build(t, { emulatedVersion: '1.36' })
    await install(server, definition())
    await server.post(WIDGETS, { ...widget('a'), metadata: { name: 'a', finalizers: ['orphan'] } })
    await server.delete(`${DEFINITIONS}/widgets.example.com`)
    await until(async () => condition(
      (await server.get(`${DEFINITIONS}/widgets.example.com`)).json, 'Terminating'
    )?.['reason'] === 'InstanceDeletionInProgress')
    t.match((await server.get(`${WIDGETS}/a`)).json, {
      metadata: { finalizers: ['orphan'], deletionTimestamp: String }
    })
    t.match((await server.post(WIDGETS, widget('late'))).json, { code: 403, reason: 'Forbidden' })
    t.equal((await server.patch(`${WIDGETS}/a`, { metadata: { finalizers: null } })).code, 200)
    await until(async () => (await server.get(`${DEFINITIONS}/widgets.example.com`)).code === 404)
  }
)

t.test('namespaces and quotas know custom objects', async t => {
  const server = await build(t)
  await install(server, definition())
  await server.post('/api/v1/namespaces', { metadata: { name: 'n' } })
  const inside = WIDGETS.replace('default', 'n')
  await server.post('/api/v1/namespaces/n/resourcequotas', {
    metadata: { name: 'q' }, spec: { hard: { 'count/widgets.example.com': '1' } }
  })
  await until(async () => (await server.get('/api/v1/namespaces/n/resourcequotas/q')).json['status'].hard !== undefined)
  t.equal((await server.post(inside, widget('a'))).code, 201)
  t.equal((await server.post(inside, widget('b'))).code, 403)
  await server.delete('/api/v1/namespaces/n')
  await until(async () => (await server.get('/api/v1/namespaces/n')).code === 404)
  t.same((await server.get('/apis/example.com/v1/widgets')).json['items'], [])
})
