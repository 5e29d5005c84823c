/** Defaults of a definition may multiply what a client sends. They are counted before they are filled in. */
import t from 'tap'
import { addedTo, valuesIn } from '../../../schemas/language/growth.js'
import { planOf } from '../../../schemas/language/plan.js'
import { applyDefaults } from '../../../schemas/language/defaults.js'
import { declareKind } from '../../../schemas/custom/declaration.js'
import type { JSONSchemaProps } from '../../../schemas/api/apiextensions/schemas.js'
import { build, listen, TABLE, Watch, type Json } from '../../build.js'
import { definition, DEFINITIONS, established, install, until, version } from './definitions.js'

const URL = '/apis/example.com/v1/namespaces/default/widgets'
const URL2 = URL.replace('v1', 'v2')
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1'
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.orch.io;v=v1'

/** Items with that many defaulted members. */
const wide = (members: number): Json => ({
  type: 'object',
  properties: {
    items: {
      type: 'array',
      items: {
        type: 'object',
        properties: Object.fromEntries(Array.from(
          { length: members }, (_, at) => [`m${at}`, { type: 'integer', default: 1 }]
        ))
      }
    }
  }
})
/** Lists of ten in lists of ten, all of them by default. */
const deep = (levels: number): Json => levels === 0
  ? { type: 'object', properties: { x: { type: 'integer', default: 1 } } }
  : {
      type: 'object',
      properties: { list: { type: 'array', default: Array.from({ length: 10 }, () => ({})), items: deep(levels - 1) } }
    }
const schema = (spec: Json): Json => ({ schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } })
const widget = (name: string, count: number): Json => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec: { items: Array.from({ length: count }, () => ({})) }
})

t.test('the count is that of what is filled in', async t => {
  const numbers: Json = { type: 'integer', default: 0 }
  for (const [title, spec, value] of [
    ['wide', wide(7), { items: [{}, { m1: 3 }, {}] }],
    ['deep', deep(3), {}],
    ['deep, in part', deep(3), { list: [{}, { list: [] }, { list: [{ list: [{ x: 0 }] }] }] }],
    [
      'maps, and lists of lists',
      {
        type: 'object',
        properties: {
          map: {
            type: 'object',
            default: { a: {} },
            additionalProperties: { type: 'object', properties: { a: numbers, b: numbers } }
          },
          lists: { type: 'array', items: { type: 'array', items: { type: 'object', properties: { a: numbers } } } }
        }
      },
      { lists: [[{}, {}], [{ a: 1 }], []] }
    ],
    ['values of other types', wide(2), { items: [3, 'x', {}] }]
  ] as ReadonlyArray<readonly [string, Json, Json]>) {
    const message = declareKind(
      { group: 'example.com', version: 'v1', kind: 'Widget' },
      { type: 'object', properties: { spec } } as JSONSchemaProps
    )
    const object = { kind: 'Widget', apiVersion: 'example.com/v1', metadata: {}, spec: structuredClone(value) }
    const [before, expected] = [valuesIn(object), addedTo(planOf(message), object)]
    t.equal(applyDefaults(message, object), true)
    t.equal(valuesIn(object) - before, expected, title)
    t.equal(addedTo(planOf(message), object), 0, 'nothing is missing then')
  }
})

t.test('the count ends at its limit', async t => {
  const message = declareKind(
    { group: 'example.com', version: 'v1', kind: 'Widget' },
    { type: 'object', properties: { spec: wide(400) } } as JSONSchemaProps
  )
  let looked = 0
  const items = Array.from({ length: 3000 }, () => ({ get m0 () { looked++; return undefined } }))
  const added = addedTo(planOf(message), { metadata: {}, spec: { items } }, 5000)
  t.ok(added > 5000 && added <= 5000 + 400, `${added}`)
  t.equal(looked, 13, 'items beyond the limit are not looked at')
})

t.test(
  'an object that its defaults make too large is refused by every write, dry or not, before they are built',
  async t => {
    const server = await build(t)
    await install(server, definition({ versions: [version('v1', schema(wide(400)))] }))
    await server.post(URL, widget('small', 3))
    for (const query of ['', '?dryRun=All']) {
      t.match(
        await server.post(`${URL}${query}`, widget('large', 3000)),
        { code: 413, json: { message: /with its defaults in example.com\/v1/ } }, query
      )
      t.match(await server.patch(`${URL}/small${query}`, { spec: widget('', 3000)['spec'] as Json }), { code: 413 })
      t.match(
        await server.patch(
          `${URL}/other${query}${query === '' ? '?' : '&'}fieldManager=me`, widget('other', 3000),
          'application/apply-patch+yaml'
        ),
        { code: 413 }
      )
    }
    t.equal((await server.post(URL, widget('limit', 120))).code, 201)
    await install(server, definition({ versions: [version('v1', schema(deep(8)))] }, { plural: 'deeps', kind: 'Deep' }))
    for (const query of ['', '?dryRun=All']) {
      t.match(
        await server.post(
          `${URL.replace('widgets', 'deeps')}${query}`,
          { apiVersion: 'example.com/v1', kind: 'Deep', metadata: { name: 'a' }, spec: {} }
        ),
        { code: 413 }
      )
    }
  }
)

t.test('defaults of another version are filled in when something is written in it, not when it is read', async t => {
  const server = await build(t)
  await install(
    server,
    definition({ versions: [version('v1', schema(wide(1))), version('v2', { storage: false, ...schema(wide(400)) })] })
  )
  t.match(await server.post(URL, widget('large', 500)), { code: 201 })
  t.strictSame((await server.get(`${URL2}/large`)).json['spec'].items[0], { m0: 1 })
  for (const query of ['', '?dryRun=All']) {
    t.match(
      await server.post(`${URL2}${query}`, { ...widget('other', 500), apiVersion: 'example.com/v2' }),
      { code: 413, json: { message: /with its defaults/ } }
    )
    t.equal((await server.patch(`${URL2}/large${query}`, { metadata: { labels: { a: 'b' } } })).code, 413)
  }
})

t.test('a stored object that further defaults make too large is refused to its own GET alone', async t => {
  const server = await listen(t)
  await install(server, definition({ versions: [version('v1', schema(wide(1)))] }))
  for (const name of ['held', 'large']) {
    t.match(
      await server.post(
        URL, { ...widget(name, 500), metadata: { name, finalizers: name === 'held' ? ['example.com/hold'] : [] } }
      ),
      { code: 201 }
    )
  }
  const stored = await established(server, 'widgets.example.com')
  const versions = [version('v1', { storage: false, ...schema(wide(1)) }), version('v2', { ...schema(wide(400)) })]
  t.match(
    await server.put(`${DEFINITIONS}/widgets.example.com`, { ...stored, spec: { ...stored['spec'], versions } }),
    { code: 200 }
  )
  await until(async () => (await server.get(URL2)).code === 200)

  t.match(await server.get(`${URL2}/large`), { code: 413 })
  t.match(await server.get(`${URL2}/large`, { accept: METADATA }), { code: 200, json: { metadata: { name: 'large' } } })
  for (const accept of [
    'application/json', TABLE, METADATA_LIST
  ]) t.equal((await server.get(URL2, { accept })).code, 200)
  const { items } = (await server.get(URL2)).json
  t.strictSame(Object.keys(items[1].spec.items[0] as Json), ['m0'], 'without the further defaults')
  const watch = await Watch.open(t, `${server.url}${URL2}?watch=1`)
  t.same(
    (await watch.take(2)).map(({ type, object }) => `${type} ${String(object['metadata'].name)}`),
    ['ADDED held', 'ADDED large']
  )

  t.match(
    await server.patch(`${URL2}/large`, { metadata: { labels: { a: 'b' } } }), { code: 413 }, 'it cannot be written'
  )
  t.match(await server.delete(`${URL2}/large`), { code: 200 })
  t.match(await server.delete(`${URL2}/held`), { code: 202 })
  t.match(
    await server.patch(`${URL2}/held`, { metadata: { finalizers: null } }), { code: 200 },
    'one that is being deleted can'
  )
  t.match(await server.get(`${URL2}/held`), { code: 404 })
})
