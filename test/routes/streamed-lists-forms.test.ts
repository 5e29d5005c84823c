/** Each object of a streamed list has the bytes that a read of it has, in every form, version and naming. */
import t, { type Test } from 'tap'
import { protobufWatchFrame } from '../../schemas/codec/protobuf/encode.js'
import { keptForms } from '../../storage/cache/forms-budget.js'
import { caBundle, hookServer } from '../admission/webhooks/hook-server.js'
import { listen, TABLE, Watch, type Json, type Listening } from '../build.js'
import { definition, install, version } from '../controllers/custom/definitions.js'

const MARKED = 'watch=1&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&allowWatchBookmarks=true'
const OWN = '/apis/rbac.authorization.orch.io/v1'
const PUBLIC = '/apis/rbac.authorization.k8s.io/v1'
/** The first read finds nothing joined, the second joins, the third finds that. */
const READS = 3

/** The bytes of a stream before the mark. */
async function streamed (url: string, accept: string): Promise<Buffer> {
  const { body, status } = await fetch(url, { headers: { accept } })
  if (status !== 200 || body === null) throw new Error(`${url}: ${status}`)
  let bytes = Buffer.alloc(0)
  for await (const chunk of body) {
    bytes = Buffer.concat([bytes, chunk as Uint8Array])
    const at = bytes.lastIndexOf('BOOKMARK')
    if (at === -1 || !bytes.includes('initial-events-end', at)) continue
    const isProtobuf = accept.includes('protobuf')
    // A line starts with the type; a frame with its length, a tag and the length of the type.
    return bytes.subarray(0, isProtobuf ? at - 6 : bytes.lastIndexOf('\n', at) + 1)
  }
  throw new Error('no mark')
}

const asEvent = (accept: string, object: Buffer): Buffer => accept.includes('protobuf')
  ? protobufWatchFrame('ADDED', object)
  : Buffer.concat([Buffer.from('{"type":"ADDED","object":'), object.subarray(0, -1), Buffer.from('}\n')])

/** What the reads of all objects of a list give, as events. */
async function expected (server: Listening, path: string, accept: string): Promise<Buffer> {
  const { json: { items } } = await server.get(path)
  const base = path.replace(/(\/namespaces\/\w+)?\/(\w+)$/, '')
  const plural = path.split('/').at(-1) ?? ''
  const single = accept.split(',')[0] ?? ''
  const objects: Buffer[] = []
  for (const { metadata: { namespace, name } } of items as Json[]) {
    const { raw, code } = await server.get(
      `${base}/namespaces/${namespace as string}/${plural}/${name as string}`, { accept: single }
    )
    if (code !== 200) throw new Error(String(code))
    objects.push(asEvent(accept, raw))
  }
  return Buffer.concat(objects)
}

async function compare (t: Test, server: Listening, path: string, accept: string): Promise<void> {
  const wanted = await expected(server, path, accept)
  for (let read = 0; read < READS; read++) {
    const bytes = await streamed(`${server.url}${path}?${MARKED}`, accept)
    t.ok(bytes.equals(wanted), `${path} as ${accept}, read ${read}: ${bytes.length} bytes, not ${wanted.length}`)
  }
}

const metadata = (type: string, names: string): string => `${type};as=PartialObjectMetadata;g=meta.${names}.io;v=v1`
const streamOf = (accept: string): string => `${accept},${accept.replace('protobuf', 'protobuf;stream=watch')}`
const FORMS: ReadonlyArray<readonly [string, string]> = [
  [OWN, 'application/json'], [PUBLIC, 'application/json'],
  [OWN, metadata('application/json', 'orch')], [PUBLIC, metadata('application/json', 'k8s')],
  [OWN, streamOf('application/vnd.orch.protobuf')], [PUBLIC, streamOf('application/vnd.kubernetes.protobuf')],
  [OWN, streamOf(metadata('application/vnd.orch.protobuf', 'orch'))],
  [PUBLIC, streamOf(metadata('application/vnd.kubernetes.protobuf', 'k8s'))]
]

/** Some leaves of bindings in two namespaces; large ones among them where leaves are not kept. */
async function filled (t: Test): Promise<Listening> {
  const server = await listen(t, { compatNames: true })
  await server.post('/api/v1/namespaces', { metadata: { name: 'team' } })
  for (let at = 0; at < 150; at++) {
    const subjects = [
      { kind: 'Group', apiGroup: 'rbac.authorization.orch.io', name: 'g'.repeat(at % 50 === 49 ? 150_000 : at + 1) }
    ]
    const { code } = await server.post(`${OWN}/namespaces/${at % 3 === 0 ? 'team' : 'default'}/rolebindings`, {
      metadata: { name: `b${String(at).padStart(3, '0')}`, labels: { at: String(at) } }, subjects,
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' }
    })
    if (code !== 201) throw new Error(String(code))
  }
  return server
}

const joinedHits = (): number => {
  let hits = 0
  for (const keeper of keptForms().all) if (keeper.name === 'joined lists') hits = keeper.hits
  return hits
}

t.test('in every form and under both names, before and after a change', async t => {
  const server = await filled(t)
  for (const [base, accept] of FORMS) {
    const before = joinedHits()
    await compare(t, server, `${base}/rolebindings`, accept)
    t.ok(joinedHits() > before, 'the last read found joined leaves')
    await compare(t, server, `${base}/namespaces/team/rolebindings`, accept)
  }
  await server.patch(`${OWN}/namespaces/default/rolebindings/b070`, { metadata: { labels: { at: 'changed' } } })
  await server.delete(`${OWN}/namespaces/team/rolebindings/b030`)
  for (const [base, accept] of FORMS) await compare(t, server, `${base}/rolebindings`, accept)
})

t.test('as a Table the rows are those of the list', async t => {
  const server = await filled(t)
  for (const include of ['', '&includeObject=None', '&includeObject=Object']) {
    const list = (await server.get(`${OWN}/rolebindings?${include}`, { accept: TABLE })).json
    const age = (list['columnDefinitions'] as Json[]).findIndex(({ name }) => name === 'Age')
    t.ok(age > 0)
    const withoutAge = ({ cells, object }: Json): Json => ({ cells: (cells as unknown[]).toSpliced(age, 1), object })
    const watch = await Watch.open(t, `${server.url}${OWN}/rolebindings?${MARKED}${include}`, { accept: TABLE })
    const events = await watch.take(151)
    t.same(events.map(({ type }) => type), [...Array.from({ length: 150 }, () => 'ADDED'), 'BOOKMARK'])
    t.same(
      events.slice(0, 150).flatMap(({ object }) => object.rows.map(withoutAge) as Json[]), list['rows'].map(withoutAge),
      include
    )
    t.same(events.map(({ object }) => object.columnDefinitions !== null), events.map((_, at) => at === 0))
    watch.close()
  }
})

const WIDGETS = '/apis/example.com'
const schema = (properties: Json): Json =>
  ({ openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } })
const V1 = { size: { type: 'integer' }, colour: { type: 'string', default: 'red' } }
const V2 = {
  size: { type: 'integer' },
  dimensions: { type: 'object', properties: { size: { type: 'integer' } } },
  shape: { type: 'string', default: 'round' }
}
const VERSIONS = [version('v1', { schema: schema(V1) }), version('v2', { storage: false, schema: schema(V2) })]

async function widgets (t: Test, conversion: Json): Promise<Listening> {
  const server = await listen(t)
  await install(server, definition({ versions: VERSIONS, conversion }))
  for (let at = 0; at < 100; at++) {
    const { code } = await server.post(`${WIDGETS}/v1/namespaces/default/widgets`, {
      apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: `w${String(at).padStart(3, '0')}` },
      spec: { size: at }
    })
    if (code !== 201) throw new Error(String(code))
  }
  return server
}

/**
 * As `size` of v1 is kept in v2 by conversions that only name the version, and moved by the webhook. Defaults are those
 * of the stored version alone.
 */
async function compareVersions (t: Test, server: Listening, second: Json): Promise<void> {
  for (const [name, spec] of [['v1', { size: 0, colour: 'red' }], ['v2', second]] as const) {
    for (const accept of ['application/json', metadata('application/json', 'orch')]) {
      await compare(t, server, `${WIDGETS}/${name}/widgets`, accept)
    }
    const watch = await Watch.open(t, `${server.url}${WIDGETS}/${name}/namespaces/default/widgets?${MARKED}`)
    const [first] = await watch.take(101)
    t.strictSame([first?.object.apiVersion, first?.object.spec], [`example.com/${name}`, spec])
    watch.close()
    const table = await Watch.open(
      t, `${server.url}${WIDGETS}/${name}/widgets?${MARKED}&includeObject=Object`, { accept: TABLE }
    )
    const rows = (await table.take(101)).map(({ object }) => object.rows[0].object)
    t.ok(rows.every(({ apiVersion }) => apiVersion === `example.com/${name}`))
    t.strictSame(rows[0].spec, spec)
    table.close()
  }
}

t.test('custom types in a version that is not stored, without a converter', async t => {
  const server = await widgets(t, { strategy: 'None' })
  await compareVersions(t, server, { size: 0 })
})

t.test('custom types that a webhook converts', async t => {
  const { url, asked } = await hookServer(t, ({ request }: Json) => ({
    result: { status: 'Success' },
    convertedObjects: request.objects.map(({ spec: { size }, ...object }: Json) =>
      ({ ...object, apiVersion: request.desiredAPIVersion as string, spec: { dimensions: { size } } }))
  }))
  const webhook = { clientConfig: { url, caBundle }, conversionReviewVersions: ['v1'] }
  const server = await widgets(t, { strategy: 'Webhook', webhook })
  await compareVersions(t, server, { dimensions: { size: 0 } })
  t.ok(asked.length > 0)
})
