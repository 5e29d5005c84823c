/** Selectable fields of definitions: which there may be, and what lists, watches and deletes by them select. */
import t from 'tap'
import { build, listen, TABLE, types, Watch, type Client, type Json } from '../../build.js'
import { CustomResourceDefinition } from '../../../schemas/api/apiextensions/customresourcedefinitions.js'
import { validateDefinition } from '../../../schemas/api/apiextensions/rules/customresourcedefinitions.js'
import { featureGates } from '../../../schemas/gates.js'
import { decode } from '../../../schemas/language/decode.js'
import { collectInSteps } from '../../../schemas/language/validation.js'
import { finish } from '../../../schemas/steps.js'
import { random } from '../../random.js'
import { APPLY, DEFINITIONS, definition, established, install, version } from './definitions.js'

const RELEASE = { emulatedVersion: '1.36' } as const
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'

const SCHEMA: Json = {
  type: 'object',
  properties: {
    metadata: { type: 'object', properties: { name: { type: 'string' } } },
    kind: { type: 'string' },
    spec: {
      type: 'object',
      properties: {
        color: { type: 'string', enum: ['red', 'blue', ''] },
        size: { type: 'integer' },
        ready: { type: 'boolean' },
        ratio: { type: 'number' },
        any: { 'x-orch-int-or-string': true },
        issuer: {
          type: 'object',
          default: {},
          properties: { kind: { type: 'string', default: 'Issuer' }, name: { type: 'string', nullable: true } }
        },
        list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
        labels: { type: 'object', additionalProperties: { type: 'string' } }
      }
    },
    status: { type: 'object', properties: { phase: { type: 'string' } } }
  }
}

const selectable = (...paths: string[]): Json => ({ selectableFields: paths.map(jsonPath => ({ jsonPath })) })
const of = (paths: string[], more: Json = {}): Json =>
  version('v1', { schema: { openAPIV3Schema: SCHEMA }, ...selectable(...paths), ...more })
const defined = (...paths: string[]): Json => definition({ versions: [of(paths)] })
const widget = (name: string, spec: Json = {}, more: Json = {}): Json =>
  ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec, ...more })

/** What an answer refuses, by cause and place; the code if it is none. */
async function refused (answer: ReturnType<Client['post']>): Promise<unknown> {
  const { code, json } = await answer
  return code === 422
    ? (json['details'].causes as Json[]).map(({ reason, field }) => `${String(reason)} ${String(field)}`)
    : code
}

const named = ({ json }: { json: Json }): unknown[] =>
  (json['items'] as Json[]).map(({ metadata }) => metadata.name as unknown)

t.test('selectable fields are few distinct paths to scalars of the schema', async t => {
  const server = await build(t, RELEASE)
  const at = 'spec.selectableFields'
  for (const [paths, causes] of [
    [
      ['.spec.color', '.spec.size', '.spec.ready', '.status.phase', '.spec.issuer.name', '.spec.labels.a', '.kind'], 201
    ],
    [['.spec.color', ''], [`FieldValueRequired ${at}[1].jsonPath`]],
    [['spec.color', '.', '.spec..color', '.spec.none', '.spec.list[0].a', '.spec.list.a', ".spec['color']"],
      Array.from({ length: 7 }, (_, index) => `FieldValueInvalid ${at}[${index}].jsonPath`)],
    [[
      '.spec', '.spec.ratio', '.spec.any', '.spec.list', '.spec.issuer', '.metadata.name', '.metadata.labels',
      '.constructor'
    ],
    Array.from({ length: 8 }, (_, index) => `FieldValueInvalid ${at}[${index}].jsonPath`)],
    [['.spec.color', '.spec.size', '.spec.color'], [`FieldValueDuplicate ${at}[2].jsonPath`]],
    [Array.from({ length: 9 }, (_, index) => `.spec.labels.a${index}`), [`FieldValueTooMany ${at}`]]
  ] as Array<[string[], unknown]>) {
    t.same(
      await refused(server.post(`${DEFINITIONS}?dryRun=All&fieldValidation=Strict`, defined(...paths))), causes,
      paths.join()
    )
  }
})

t.test('versions of one schema have the same selectable fields, others have their own', async t => {
  const server = await build(t, RELEASE)
  const other = (paths: string[], schema: Json = SCHEMA): Json =>
    version('v2', { storage: false, schema: { openAPIV3Schema: schema }, ...selectable(...paths) })
  const wider: Json = { ...SCHEMA, properties: { ...SCHEMA['properties'], more: { type: 'string' } } }
  const answer = async (second: Json): Promise<unknown> =>
    await refused(server.post(`${DEFINITIONS}?dryRun=All`, definition({ versions: [of(['.spec.color']), second] })))
  t.same(await answer(other(['.spec.color'])), 201)
  t.same(await answer(other(['.spec.size'])), [
    'FieldValueInvalid spec.versions[0].selectableFields', 'FieldValueInvalid spec.versions[1].selectableFields'
  ])
  t.same(await answer(other(['.more'], wider)), 201)
  t.same(await answer(other(['.none'], wider)), ['FieldValueInvalid spec.versions[1].selectableFields[0].jsonPath'])
})

t.test('OpenAPI names the selectable fields of a version', async t => {
  const fields = [{ fieldPath: 'spec.color' }, { fieldPath: 'status.phase' }]
  for (const compatNames of [false, true]) {
    const server = await build(t, { ...RELEASE, compatNames })
    await install(server, defined('.spec.color', '.status.phase'))
    const v2 = (await server.get('/openapi/v2')).json['definitions'] as Json
    const { paths } = (await server.get('/openapi/v3')).json
    const v3 =
      (await server.get(paths['apis/example.com/v1'].serverRelativeURL as string)).json['components'].schemas as Json
    for (const document of [v2, v3]) {
      const { 'x-orch-selectable-fields': own, 'x-kubernetes-selectable-fields': stock } =
        document['com.example.v1.Widget']
      t.same([own, stock], [compatNames ? undefined : fields, fields])
    }
  }
})

t.test('lists select by the values of fields', async t => {
  const server = await build(t, RELEASE)
  await install(
    server,
    defined(
      '.spec.color', '.spec.size', '.spec.ready', '.spec.issuer.kind', '.spec.issuer.name', '.status.phase', '.kind'
    )
  )
  await server.post(WIDGETS, widget('a', { color: 'blue', size: 3, ready: true }))
  await server.post(
    WIDGETS, widget('b', { color: 'red', size: 3, ready: false, issuer: { kind: 'Other', name: null } })
  )
  await server.post(WIDGETS, widget('c', { issuer: { name: 'x' } }))
  await server.post(WIDGETS, widget('d', { color: '' }, { status: { phase: 'Done' } }))
  for (const [selector, names] of [
    ['spec.color=blue', ['a']], ['spec.color==blue', ['a']], ['spec.color!=blue', ['b', 'c', 'd']],
    ['spec.color=', ['c', 'd']],
    ['spec.color!=', ['a', 'b']], ['spec.size=3', ['a', 'b']], ['spec.size=3,spec.ready=true', ['a']],
    ['spec.ready=false', ['b']],
    ['spec.ready!=true,spec.color!=red', ['c', 'd']], ['spec.issuer.kind=Issuer', ['a', 'c', 'd']],
    ['spec.issuer.name=', ['a', 'b', 'd']],
    ['status.phase=Done', ['d']], ['metadata.name=b,spec.size=3', ['b']], ['metadata.name=c,spec.size=3', []],
    ['metadata.namespace=default,spec.size=3', ['a', 'b']],
    ['kind=Widget', ['a', 'b', 'c', 'd']], ['kind!=Widget', []], ['spec.color=blue,spec.color=red', []]
  ] as Array<[string, string[]]>) {
    const query = `?fieldSelector=${encodeURIComponent(selector)}`
    t.same(named(await server.get(WIDGETS + query)), names, selector)
    t.same(named(await server.get(`/apis/example.com/v1/widgets${query}&resourceVersion=0`)), names, selector)
  }
  const unknown = await server.get(`${WIDGETS}?fieldSelector=spec.ratio=1`)
  t.match(unknown, { code: 400, json: { reason: 'BadRequest', message: /field label not supported: spec\.ratio/ } })
  t.equal((await server.get(`${WIDGETS}?watch=1&fieldSelector=spec.ratio=1`)).code, 400)
  t.equal((await server.call('DELETE', `${WIDGETS}?fieldSelector=spec.ratio=1`)).code, 400)
})

t.test('custom types without selectable fields are selected by name, and by namespace where they have one', async t => {
  const server = await build(t)
  await install(server, definition())
  await install(server, definition({ scope: 'Cluster', group: 'cluster.example.com' }))
  const codes = async (url: string): Promise<number[]> =>
    await Promise.all(['metadata.name=a', 'metadata.namespace=b', 'spec.size=1'].map(async selector =>
      (await server.get(`${url}?fieldSelector=${selector}`)).code))
  t.same(await codes(WIDGETS), [200, 200, 400])
  t.same(await codes('/apis/cluster.example.com/v1/widgets'), [200, 400, 400])
})

t.test('a watch shows objects that enter and leave its selection', async t => {
  const server = await listen(t, RELEASE)
  await install(server, defined('.spec.color'))
  const { json } = await server.post(WIDGETS, widget('a', { color: 'red' }))
  const from = json['metadata'].resourceVersion as string
  const watch = await Watch.open(
    t, `${server.url}${WIDGETS}?watch=1&resourceVersion=${from}&fieldSelector=spec.color=blue`
  )
  const set = async (spec: Json): Promise<void> => { await server.patch(`${WIDGETS}/a`, { spec }) }
  for (const spec of [{ color: 'blue' }, { size: 1 }, { color: null }, { size: 2 }, { color: 'blue' }]) await set(spec)
  await server.call('DELETE', `${WIDGETS}/a`)
  t.same(types(await watch.take(5)), ['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED a', 'DELETED a'])
})

t.test('deletecollection deletes what its field selector selects', async t => {
  const server = await build(t, RELEASE)
  await install(server, defined('.spec.color'))
  for (const [name, color] of [['a', 'blue'], ['b', 'red'], ['c', 'blue']] as const) {
    await server.post(WIDGETS, widget(name, { color }))
  }
  t.equal((await server.call('DELETE', `${WIDGETS}?fieldSelector=spec.color=blue`)).code, 200)
  t.same(named(await server.get(WIDGETS)), ['b'])
})

t.test('each version selects by its own fields, of its own form', async t => {
  const server = await build(t, RELEASE)
  const older = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { color: { type: 'string' }, tier: { type: 'string', default: 'low' } } }
    }
  }
  await install(server, definition({
    versions: [
      of(['.spec.color', '.spec.size']),
      version('v2', { storage: false, schema: { openAPIV3Schema: older }, ...selectable('.spec.color', '.spec.tier') })
    ]
  }))
  const newer = WIDGETS.replace('v1', 'v2')
  await server.post(WIDGETS, widget('a', { color: 'blue', size: 1 }))
  await server.post(newer, { ...widget('b', { color: 'blue', tier: 'high' }), apiVersion: 'example.com/v2' })
  for (const [url, selector, names] of [
    [WIDGETS, 'spec.color=blue', ['a', 'b']], [newer, 'spec.color=blue', ['a', 'b']],
    [WIDGETS, 'spec.size=1', ['a']], [newer, 'spec.tier=low', []], [newer, 'spec.tier=high', []]
  ] as Array<[string, string, string[]]>) {
    const answer = await server.get(`${url}?fieldSelector=${selector}`)
    t.same(named(answer), names, `${url} ${selector}`)
  }
  t.equal((await server.get(`${newer}?fieldSelector=spec.size=1`)).code, 400)
  t.equal((await server.get(`${WIDGETS}?fieldSelector=spec.tier=low`)).code, 400)
})

t.test('selectable fields of a definition may change while it is served', async t => {
  const server = await build(t, RELEASE)
  await install(server, defined('.spec.color'))
  await server.post(WIDGETS, widget('a', { color: 'blue', size: 3 }))
  t.equal((await server.get(`${WIDGETS}?fieldSelector=spec.size=3`)).code, 400)
  const url = `${DEFINITIONS}/widgets.example.com`
  const changed = await server.patch(url, { spec: { versions: [of(['.spec.size'])] } })
  t.equal(changed.code, 200)
  while ((await server.get(`${WIDGETS}?fieldSelector=spec.color=blue`)).code !== 400) await new Promise(setImmediate)
  t.same(named(await server.get(`${WIDGETS}?fieldSelector=spec.size=3`)), ['a'])
})

t.test('more fields than allowed stay where they were, and no more are added', async t => {
  const stored = (...paths: string[]) => decode(CustomResourceDefinition, {
    ...definition({ versions: [of(paths)] }, { singular: 'widget', listKind: 'WidgetList' }),
    status: { storedVersions: ['v1'] }
  }).object
  const many = Array.from({ length: 9 }, (_, index) => `.spec.labels.a${index}`)
  const findings = (now: string[], before: string[]) =>
    finish(collectInSteps(report => validateDefinition(
      stored(...now), stored(...before), report, featureGates({}, { release: '1.36' })
    ))).map(({ type }) => type)
  t.same(findings(many, many), [])
  t.same(findings([...many, '.spec.color'], many), ['FieldValueTooMany'])
  t.same(findings(many, many.slice(1)), ['FieldValueTooMany'])
})

t.test('a stored definition keeps its fields without the gate, and they select nothing', async t => {
  const storage = { kind: 'embedded', directory: t.testdir() } as const
  const before = await build(t, { ...RELEASE, storage })
  await install(before, defined('.spec.color'))
  await before.app.close()
  const server = await build(t, { storage })
  const url = `${DEFINITIONS}/widgets.example.com`
  await established(server, 'widgets.example.com')
  const { body, headers } = await server.patch(url, { metadata: { labels: { a: 'b' } } })
  t.match(body, '"selectableFields":[{"jsonPath":".spec.color"}]')
  t.equal(headers.warning, undefined)
  t.equal((await server.get(`${WIDGETS}?fieldSelector=spec.color=blue`)).code, 400)
})

t.test('pages, tables, metadata and streamed lists select by them too', async t => {
  const server = await listen(t, { ...RELEASE, compatNames: true })
  await install(server, defined('.spec.color'))
  for (const [name, color] of [['a', 'blue'], ['b', 'red'], ['c', 'blue'], ['d', 'blue']] as const) {
    await server.post(WIDGETS, widget(name, { color }))
  }
  const BLUE = `${WIDGETS}?fieldSelector=spec.color%3Dblue`
  const first = await server.get(`${BLUE}&limit=2`)
  t.same(named(first), ['a', 'c'])
  t.same(named(await server.get(`${BLUE}&limit=2&continue=${String(first.json['metadata'].continue)}`)), ['d'])
  const exact = await server.get(
    `${BLUE}&resourceVersionMatch=Exact&resourceVersion=${String(first.json['metadata'].resourceVersion)}`
  )
  t.same(named(exact), ['a', 'c', 'd'])
  const rows = (await server.get(BLUE, { accept: TABLE })).json['rows'] as Json[]
  t.same(rows.map(({ cells }) => cells[0] as unknown), ['a', 'c', 'd'])
  const metadata = await server.get(BLUE, {
    accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
  })
  t.same(named(metadata), ['a', 'c', 'd'])
  const watch = await Watch.open(
    t, `${server.url}${BLUE}&watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`
  )
  const events = await watch.take(4)
  t.same(types(events.slice(0, 3)), ['ADDED a', 'ADDED c', 'ADDED d'])
  t.equal(events[3]?.type, 'BOOKMARK')
  await server.patch(`${WIDGETS}/b`, { spec: { color: 'blue' } })
  t.same(types((await watch.take(5)).slice(4)), ['ADDED b'])
})

/** As public projects declare them: references with defaults, a state, two versions with fields of their own. */
const PUBLIC: readonly Json[] = [
  definition({
    group: 'certificates.example.org',
    versions: [version('v1', {
      schema: {
        openAPIV3Schema: {
          type: 'object',
          required: ['spec'],
          properties: {
            spec: {
              type: 'object',
              required: ['issuerRef'],
              properties: {
                issuerRef: {
                  type: 'object',
                  required: ['name'],
                  properties: { group: { type: 'string' }, kind: { type: 'string' }, name: { type: 'string' } }
                }
              }
            }
          }
        }
      },
      subresources: { status: {} },
      additionalPrinterColumns: [{ name: 'Issuer', type: 'string', jsonPath: '.spec.issuerRef.name' }],
      ...selectable('.spec.issuerRef.group', '.spec.issuerRef.kind', '.spec.issuerRef.name')
    })]
  }),
  definition({
    group: 'secrets.example.org',
    versions: [
      version('v1', {
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  refreshInterval: { type: 'string', default: '1h0m0s' },
                  storeRef: {
                    type: 'object',
                    properties: {
                      kind: { type: 'string', enum: ['Store', 'ClusterStore'] },
                      name: { type: 'string', maxLength: 253 }
                    }
                  }
                }
              }
            }
          }
        },
        ...selectable('.spec.storeRef.name', '.spec.storeRef.kind', '.spec.refreshInterval')
      }),
      version('v1beta1', {
        storage: false,
        deprecated: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-orch-preserve-unknown-fields': true } }
      })
    ]
  }),
  definition({
    group: 'queues.example.org',
    versions: [
      version('v1', {
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  queueName: { type: 'string' },
                  active: { type: 'boolean', default: true },
                  priority: { type: 'integer', format: 'int32' }
                }
              },
              status: {
                type: 'object', properties: { admission: { type: 'object', properties: { queue: { type: 'string' } } } }
              }
            }
          }
        },
        subresources: { status: {} },
        ...selectable('.spec.queueName', '.spec.active', '.spec.priority', '.status.admission.queue')
      })
    ]
  })
]

t.test('definitions of public projects are applied, and say what is not kept of them', async t => {
  for (const release of ['1.24', '1.36'] as const) {
    const server = await build(t, { emulatedVersion: release })
    for (const made of PUBLIC) {
      const url = `${DEFINITIONS}/${String(made['metadata'].name)}?fieldManager=kubectl`
      for (const code of [201, 200]) {
        const applied = await server.call('PATCH', url, made, { 'content-type': APPLY })
        t.equal(applied.code, code, applied.body)
        t.equal(applied.body.includes('"selectableFields"'), release === '1.36')
        t.equal(
          String(applied.headers.warning).includes(
            'selectableFields are not kept, as the feature gate CustomResourceFieldSelectors is off'
          ),
          release === '1.24'
        )
      }
      await established(server, made['metadata'].name as string)
    }
    const queue = '/apis/queues.example.org/v1/namespaces/default/widgets'
    const created = await server.post(queue, {
      ...widget('a', { queueName: 'q', priority: 5 }), apiVersion: 'queues.example.org/v1'
    })
    t.equal(created.code, 201, created.body)
    await server.patch(`${queue}/a/status`, { status: { admission: { queue: 'all' } } })
    const answer = await server.get(
      `${queue}?fieldSelector=spec.active=true,spec.priority=5,status.admission.queue=all`
    )
    t.same(release === '1.36' ? named(answer) : answer.code, release === '1.36' ? ['a'] : 400)
  }
})

t.test('watches of each version show what enters, changes and leaves, whatever is written', async t => {
  const server = await listen(t, RELEASE)
  const spec = (color: Json): Json => ({
    type: 'object',
    properties: {
      spec: { type: 'object', default: {}, properties: { color: { type: 'string', ...color }, n: { type: 'integer' } } }
    }
  })
  const versionOf = (name: string, color: Json): Json =>
    version(name, { storage: name === 'v1', schema: { openAPIV3Schema: spec(color) }, ...selectable('.spec.color') })
  await install(server, definition({ versions: [versionOf('v1', {}), versionOf('v2', { default: 'red' })] }))
  const dice = random()
  t.comment(`SEED=${dice.seed}`)
  const SELECTORS: ReadonlyArray<readonly [string, (color: string) => boolean]> = [
    ['spec.color=blue', color => color === 'blue'], ['spec.color!=blue', color => color !== 'blue'],
    ['spec.color=', color => color === ''], ['spec.color!=red,spec.color!=', color => color !== 'red' && color !== '']
  ]
  const from = String((await server.get(WIDGETS)).json['metadata'].resourceVersion)
  const views = await Promise.all(['v1', 'v2'].flatMap(name => SELECTORS.map(async ([selector, wants]) => {
    const url = `${WIDGETS.replace('v1', name)}?fieldSelector=${encodeURIComponent(selector)}`
    const shown = (color: string | undefined): boolean => color !== undefined && wants(color)
    return {
      url,
      shown,
      expected: [] as string[],
      watch: await Watch.open(t, `${server.url}${url}&watch=1&resourceVersion=${from}`)
    }
  })))
  const colors = new Map<string, string>()
  for (let write = 0; write < 120; write++) {
    const name = 'abcd'.charAt(dice.int(4))
    const before = colors.get(name)
    const color = ['red', 'blue', ''][dice.int(3)] ?? ''
    const value = color === '' ? null : color
    const after = before !== undefined && dice.int(3) === 0 ? undefined : color
    const { code, body } = after === undefined
      ? await server.delete(`${WIDGETS}/${name}`)
      : before === undefined
        ? await server.post(WIDGETS, widget(name, { ...color === '' ? {} : { color }, n: write }))
        : await server.patch(`${WIDGETS}/${name}`, { spec: { color: value, n: write } })
    if (code > 201) throw new Error(body)
    if (after === undefined) colors.delete(name)
    else colors.set(name, after)
    for (const { shown, expected } of views) {
      const [was, is] = [shown(before), shown(after)]
      if (was || is) expected.push(`${was && is ? 'MODIFIED' : is ? 'ADDED' : 'DELETED'} ${name}`)
    }
  }
  for (const { url, shown, expected, watch } of views) {
    t.same(types(await watch.take(expected.length)), expected, url)
    t.same(
      named(await server.get(url)), [...colors].filter(([, color]) => shown(color)).map(([name]) => name).sort(), url
    )
  }
})
