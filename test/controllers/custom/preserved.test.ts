/**
 * What a schema keeps besides what it declares: unknown members of items in lists, and metadata of embedded objects.
 */
import t from 'tap'
import { build, type Json } from '../../build.js'
import { APPLY, definition, install, version } from './definitions.js'

const URL = '/apis/example.com/v1/namespaces/default/widgets'
const KEEPS = { 'x-orch-preserve-unknown-fields': true }
const object = (properties: Json, more: Json = {}): Json => ({ type: 'object', properties, ...more })
const of = (spec: Json): Json =>
  definition({ versions: [version('v1', { schema: { openAPIV3Schema: object({ spec: object(spec) }) } })] })
const widget = (name: string, spec: Json): Json => ({
  apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec
})

t.test('a list that preserves unknown fields keeps those of its items, whose own members are pruned', async t => {
  const server = await build(t)
  const item = object({
    name: { type: 'string' },
    inner: object({ a: { type: 'string' } }),
    list: { type: 'array', items: object({ b: { type: 'string' } }) }
  })
  await install(server, of({
    plain: { type: 'array', items: item },
    list: { type: 'array', items: item, ...KEEPS },
    nested: { type: 'array', items: { type: 'array', items: item }, ...KEEPS },
    keyed: {
      type: 'array',
      items: { ...item, required: ['name'] },
      'x-orch-list-type': 'map',
      'x-orch-list-map-keys': ['name'],
      ...KEEPS
    },
    filled: {
      type: 'array', items: object({ c: { type: 'string' } }), default: [{ c: 'd', other: { e: 1 } }], ...KEEPS
    }
  }))
  const sent = { name: 'a', inner: { a: 'b', pruned: 1 }, list: [{ b: 'c', pruned: 1 }], kept: { x: [{ y: 1 }] } }
  const kept = { name: 'a', inner: { a: 'b' }, list: [{ b: 'c' }], kept: { x: [{ y: 1 }] } }
  const { kept: _, ...known } = kept
  const spec = { plain: [sent], list: [sent], nested: [[sent]], keyed: [sent] }
  const stored = {
    plain: [known], list: [kept], nested: [[kept]], keyed: [kept], filled: [{ c: 'd', other: { e: 1 } }]
  }
  t.strictSame((await server.post(URL, widget('posted', spec))).json['spec'], stored)
  t.strictSame((await server.get(`${URL}/posted`)).json['spec'], stored)
  const applied = await server.patch(
    `${URL}/applied?fieldManager=one`,
    widget('applied', { plain: [known], list: [kept], nested: [[kept]], keyed: [kept] }), APPLY
  )
  t.strictSame(applied.json['spec'], stored, applied.body)
  t.match(
    await server.post(
      `${URL}?fieldValidation=Strict`, widget('strict', { list: [kept], nested: [[kept]], keyed: [kept] })
    ),
    { code: 201 }
  )
  const { message } = (await server.post(`${URL}?fieldValidation=Strict`, widget('refused', spec))).json
  t.match(message, /"spec.list\[0\].inner.pruned"/)
  t.match(message, /"spec.plain\[0\].kept"/)
  t.notMatch(message, /"spec.list\[0\].kept"/)
  // Members that nobody declares are owned too.
  const other = { ...kept, kept: { x: [{ y: 2 }] } }
  t.match(
    await server.patch(
      `${URL}/applied?fieldManager=two`, widget('applied', { keyed: [{ name: 'a', kept: other.kept }] }), APPLY
    ),
    { code: 409, json: { details: { causes: [{ field: /kept/ }] } } }
  )
})

t.test('metadata of an embedded object are an ObjectMeta, whatever its schema says', async t => {
  const server = await build(t)
  const embedded = (metadata: Json | undefined, more: Json = {}): Json => object(
    {
      apiVersion: { type: 'string' },
      kind: { type: 'string', default: 'Thing' },
      ...metadata === undefined ? {} : { metadata }
    },
    { 'x-orch-embedded-resource': true, ...more }
  )
  await install(server, of({
    bare: embedded({ type: 'object' }),
    undeclared: embedded(undefined),
    named: embedded(object({ name: { type: 'string', pattern: '^a' } })),
    filled: embedded(object({
      name: { type: 'string', default: 'a' }, labels: object({ app: { type: 'string', default: 'x' } }, { default: {} })
    })),
    nullable: embedded({ type: 'object' }, { nullable: true }),
    open: { type: 'object', 'x-orch-embedded-resource': true, ...KEEPS, nullable: true },
    outer: {
      type: 'object',
      'x-orch-embedded-resource': true,
      properties: { spec: object({ inner: embedded({ type: 'object' }) }) }
    },
    list: { type: 'array', items: embedded({ type: 'object' }) }
  }))
  const metadata = {
    name: 'ab',
    namespace: 'b',
    labels: { a: 'b' },
    annotations: { c: 'd' },
    finalizers: ['example.com/x'],
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }]
  }
  const one = { apiVersion: 'v1', kind: 'Thing', metadata: { ...metadata, unknown: 1 } }
  const kept = { apiVersion: 'v1', kind: 'Thing', metadata }
  const outer = (inner: Json): Json => ({ apiVersion: 'v1', kind: 'Outer', spec: { inner } })
  const made = await server.post(URL, widget('kept', {
    bare: one,
    undeclared: one,
    named: one,
    list: [one],
    outer: outer(one),
    nullable: null,
    filled: { apiVersion: 'v1', metadata: { labels: { other: 'y' } } }
  }))
  t.equal(made.code, 201, made.body)
  const { spec } = (await server.get(`${URL}/kept`)).json
  for (const name of ['bare', 'undeclared', 'named']) t.strictSame(spec[name], kept, name)
  t.strictSame(spec.list, [kept])
  t.strictSame(spec.outer.spec.inner, kept)
  t.strictSame(
    spec.filled, { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', labels: { app: 'x', other: 'y' } } },
    'its defaults are those of the schema'
  )

  const refused = async (title: string, spec: Json, ...fields: string[]): Promise<void> => {
    const { code, json } = await server.post(URL, widget('refused', spec))
    t.equal(code, 422, `${title}: ${JSON.stringify(json['message'] ?? json)}`)
    t.same(json['details']?.causes?.map(({ field }: Json) => field as string), fields, title)
  }
  t.match(
    await server.post(URL, widget('nameless', { bare: { apiVersion: 'v1', kind: 'Thing', metadata: {} } })),
    { code: 201 }
  )
  await refused('no apiVersion', { bare: { kind: 'Thing' } }, 'spec.bare.apiVersion')
  await refused('no kind', { undeclared: { apiVersion: 'v1' }, outer: { apiVersion: 'v1' } }, 'spec.outer.kind')
  await refused('a bad label', { bare: { ...kept, metadata: { labels: { a: ' ' } } } }, 'spec.bare.metadata.labels')
  await refused(
    'of a nested one', { outer: outer({ ...kept, metadata: { name: 'a/b' } }) }, 'spec.outer.spec.inner.metadata.name'
  )
  await refused('by the schema too', { named: { ...kept, metadata: { name: 'b' } } }, 'spec.named.metadata.name')
  t.match(
    await server.post(`${URL}?fieldValidation=Strict`, widget('strict', { bare: one })),
    { code: 400, json: { message: /"spec.bare.metadata.unknown"/ } }
  )

  for (const [at, member] of ['nullable', 'open'].entries()) {
    for (const [round, value] of [null, kept, null, null].entries()) {
      const applied = await server.patch(
        `${URL}/null${at}?fieldManager=one`, widget(`null${at}`, { [member]: value }), APPLY
      )
      t.match(applied, { code: round === 0 ? 201 : 200 }, applied.body)
      t.strictSame((await server.get(`${URL}/null${at}`)).json['spec'][member], value)
    }
  }
})

t.test(
  'an apply may have members that are pruned below what preserves unknown fields, and in objects without properties',
  async t => {
    const server = await build(t)
    const known = object({ a: { type: 'string' } })
    await install(server, of({
      open: object(
        { inner: known, list: { type: 'array', items: known }, map: { type: 'object', additionalProperties: known } },
        KEEPS
      ),
      bare: { type: 'object' }, closed: object({ inner: known })
    }))
    const apply = async (spec: Json, query = ''): ReturnType<typeof server.patch> => await server.patch(
      `${URL}/a?fieldManager=one${query}`, widget('a', spec), APPLY
    )
    const sent = { open: { inner: { a: 'x', b: 1 }, list: [{ b: 1 }], map: { k: { b: 1 } } }, bare: { b: { c: 1 } } }
    const unknown = ['spec.bare.b', 'spec.open.inner.b', 'spec.open.list[0].b', 'spec.open.map.k.b']
    for (const query of ['', '&fieldValidation=Strict']) {
      const { code, json, headers } = await apply(sent, query)
      t.equal(code, query === '' ? 201 : 200)
      t.strictSame(json['spec'], { open: { inner: { a: 'x' }, list: [{}], map: { k: {} } }, bare: {} })
      t.strictSame(
        [headers['warning']].flat().join(), unknown.map(path => `299 - "unknown field \\"${path}\\""`).join()
      )
    }
    t.notOk((await apply(sent, '&fieldValidation=Ignore')).headers['warning'])
    for (const spec of [
      { closed: { b: 1 } }, { closed: { inner: { b: 1 } } }, { other: 1 }
    ]) t.match(await apply(spec), { code: 400, json: { message: /field not declared in schema/ } })
    t.equal(
      (await server.post(`${URL}?fieldValidation=Strict`, widget('b', sent))).code, 400,
      'creates are validated as before'
    )
  }
)
