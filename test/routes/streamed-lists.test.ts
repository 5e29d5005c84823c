/** Watches that ask for the state they begin with: what each combination of parameters gives. */
import t, { type Test } from 'tap'
import type { ServerOptions } from '../../app.js'
import { BINDINGS, binding, listen, TABLE, types, Watch, type Json, type Listening } from '../build.js'
import { protobufWatchFrame } from '../../schemas/codec/protobuf/encode.js'
import { startEtcd } from '../etcd-process.js'

const PUBLIC_END = { 'k8s.io/initial-events-end': 'true' }
const END = { 'orch.io/initial-events-end': 'true', ...PUBLIC_END }
const STREAMED = 'watch=1&resourceVersionMatch=NotOlderThan&sendInitialEvents=true'
const MARKED = `${STREAMED}&allowWatchBookmarks=true`
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1'

/** Names of the events, with that of a marking bookmark. */
const shown = (watch: Watch): string[] => watch.events.map(({ type, object }) => type === 'BOOKMARK'
  ? `${type}${object.metadata.annotations === undefined ? '' : ' END'}`
  : `${type} ${String(object.metadata.name)}`)

interface Made { readonly server: Listening, readonly first: string, readonly second: string }

/** Two objects; the first was changed. */
async function filled (t: Test, options: ServerOptions = {}): Promise<Made> {
  const server = await listen(t, options)
  const first =
    (await server.post(BINDINGS, binding('b', { metadata: { labels: { team: 'red' } } }))).json.metadata.resourceVersion
  const second = (await server.post(BINDINGS, binding('a'))).json.metadata.resourceVersion
  return { server, first, second }
}

const VERSIONS = ['', '0', 'first'] as const
const BACKENDS: ReadonlyArray<readonly [string, (t: Test) => Promise<ServerOptions>]> = [
  ['in memory', async () => ({})],
  ['without a cache', async () => ({ watchCache: { sizes: { 'clusterrolebindings.rbac.authorization.orch.io': 0 } } })],
  ['over etcd', async t => ({ storage: { kind: 'etcd', servers: [(await startEtcd(t)).url] } })]
]

for (const [name, options] of BACKENDS) {
  t.test(`${name}: each combination of version, initial events and bookmarks`, async t => {
    const { server, first } = await filled(t, await options(t))
    const { resourceVersion: newest } = (await server.get(BINDINGS)).json.metadata
    const cases = VERSIONS.flatMap(version =>
      [undefined, true, false].flatMap(initial => [true, false].map(bookmarks => ({ version, initial, bookmarks }))))
    const watches: Array<{ watch: Watch, title: string, expected: string[], marked: boolean }> = []
    for (const { version, initial, bookmarks } of cases) {
      const query = new URLSearchParams({
        watch: '1', ...(version === '' ? {} : { resourceVersion: version === 'first' ? first : version })
      })
      if (initial !== undefined) {
        query.set('resourceVersionMatch', 'NotOlderThan')
        query.set('sendInitialEvents', String(initial))
      }
      if (bookmarks) query.set('allowWatchBookmarks', 'true')
      const watch = await Watch.open(t, `${server.url}${BINDINGS}?${query.toString()}`)
      t.equal(watch.code, 200)
      const hasState = initial ?? version !== 'first'
      const state = hasState ? ['ADDED a', 'ADDED b'] : version === 'first' ? ['ADDED a'] : []
      const marked = initial === true && bookmarks
      watches.push({
        watch, title: query.toString(), expected: [...state, ...(marked ? ['BOOKMARK END'] : []), 'ADDED c'], marked
      })
    }
    await server.post(BINDINGS, binding('c'))
    for (const { watch, title, expected, marked } of watches) {
      await watch.until(() => shown(watch).includes('ADDED c'))
      t.same(shown(watch), expected, title)
      if (!marked) continue
      const mark = watch.events[2]?.object
      t.same(mark, {
        kind: 'ClusterRoleBinding', apiVersion: 'rbac.authorization.orch.io/v1',
        metadata: { resourceVersion: mark?.metadata.resourceVersion, annotations: END }
      })
      t.ok(Number(mark?.metadata.resourceVersion) >= Number(newest))
    }
  })
}

t.test('what contradicts itself is refused with every cause', async t => {
  const { server } = await filled(t)
  const match = (message: RegExp): object => ({ field: 'resourceVersionMatch', message })
  const needs = match(/sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/)
  const alone = match(/forbidden for watch unless sendInitialEvents is provided/)
  const continued = match(/forbidden when continue is provided/)
  const unknown = {
    ...match(/^Unsupported value: "\w+": supported values: "NotOlderThan"$/), reason: 'FieldValueNotSupported'
  }
  const list = {
    field: 'sendInitialEvents', reason: 'FieldValueForbidden',
    message: 'Forbidden: sendInitialEvents is forbidden for list'
  }
  const cases: ReadonlyArray<readonly [string, object[]]> = [
    ['watch=1&sendInitialEvents=true', [needs]],
    ['watch=1&sendInitialEvents=false', [needs]],
    ['watch=1&sendInitialEvents', [needs]],
    ['watch=1&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1', [needs, unknown]],
    ['watch=1&sendInitialEvents=false&resourceVersionMatch=Some', [needs, unknown]],
    ['watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=1', [alone]],
    ['watch=1&resourceVersionMatch=Exact&resourceVersion=1', [alone, unknown]],
    ['watch=1&resourceVersionMatch=Exact&continue=x', [alone, unknown, continued]],
    [`${STREAMED}&continue=x`, [continued]],
    ['sendInitialEvents=true', [list]],
    ['sendInitialEvents=false', [list]],
    ['sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=0', [
      match(/forbidden for resourceVersion "0"/), list
    ]],
    ['sendInitialEvents=true&resourceVersionMatch=Some&continue=x', [
      match(/unless resourceVersion is provided/), continued, match(/supported values: "Exact", "NotOlderThan", ""/),
      list
    ]]
  ]
  for (const [query, causes] of cases) {
    const { code, json } = await server.get(`${BINDINGS}?${query}`)
    t.match(
      { code, json },
      { code: 422, json: { reason: 'Invalid', details: { group: 'meta.orch.io', kind: 'ListOptions' } } }, query
    )
    t.match(json.details.causes, causes, query)
    t.equal(json.details.causes.length, causes.length, query)
  }
  for (const wrong of ['resourceVersion=x', 'limit=x', 'timeoutSeconds=x']) {
    t.equal((await server.get(`${BINDINGS}?${STREAMED}&${wrong}`)).code, 400, wrong)
  }
  const negative = await Watch.open(t, `${server.url}${BINDINGS}?${STREAMED}&limit=-1`)
  t.same(types(await negative.take(2)), ['ADDED a', 'ADDED b'], 'a negative limit is none')
})

for (const [name, options] of BACKENDS) {
  t.test(`${name}: a version of the future is an error in the stream, after a wait`, async t => {
    const { server, second } = await filled(t, await options(t))
    const watch = await Watch.open(t, `${server.url}${BINDINGS}?${MARKED}&resourceVersion=${Number(second) + 1000}`)
    await watch.end()
    t.equal(watch.code, 200)
    t.equal(watch.events.length, 1)
    t.match(watch.events, [{
      type: 'ERROR', object: {
        kind: 'Status', code: 504, reason: 'Timeout',
        details: { retryAfterSeconds: 1, causes: [{ reason: 'ResourceVersionTooLarge' }] }
      }
    }])
  })
}

t.test('a version that the store reaches while it is waited for is served', async t => {
  const { server, second } = await filled(t)
  const opened = Watch.open(t, `${server.url}${BINDINGS}?${MARKED}&resourceVersion=${Number(second) + 2}`)
  for (const made of ['c', 'd', 'e']) await server.post(BINDINGS, binding(made))
  const watch = await opened
  await watch.until(() => shown(watch).includes('BOOKMARK END'))
  const mark = watch.events.find(({ type }) => type === 'BOOKMARK')?.object
  t.ok(Number(mark?.metadata.resourceVersion) >= Number(second) + 2)
})

t.test(
  'a version no longer kept is an error in a stream of changes, and none where the state is asked for', async t => {
    const { server, first } = await filled(t, { storage: { compactionInterval: 30 } })
    const query = `watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=${first}`
    for (;;) {
      await server.patch(`${BINDINGS}/a`, { metadata: { labels: { at: String(Math.random()).slice(2) } } })
      if ((await server.get(`${BINDINGS}?resourceVersion=${first}&resourceVersionMatch=Exact`)).code === 410) break
    }
    const changes = await Watch.open(t, `${server.url}${BINDINGS}?${query}&sendInitialEvents=false`)
    await changes.end()
    t.equal(changes.code, 200)
    t.match(changes.events, [{ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }])
    const state = await Watch.open(t, `${server.url}${BINDINGS}?${query}&sendInitialEvents=true`)
    t.same(types(await state.take(2)), ['ADDED a', 'ADDED b'])
  }
)

t.test('objects that a selector excludes are not sent, the mark is', async t => {
  const { server } = await filled(t)
  for (const [selector, expected] of [[
    'labelSelector=team%3Dred', ['ADDED b']
  ], ['fieldSelector=metadata.name%3Da', ['ADDED a']], ['labelSelector=team%3Dnone', []]] as const) {
    const watch = await Watch.open(t, `${server.url}${BINDINGS}?${MARKED}&${selector}`)
    await watch.take(expected.length + 1)
    t.same(shown(watch), [...expected, 'BOOKMARK END'], selector)
  }
  const empty = await Watch.open(t, `${server.url}/api/v1/namespaces/default/secrets?${MARKED}`)
  await empty.take(1)
  t.same(shown(empty), ['BOOKMARK END'], 'an empty collection')
})

t.test('as a Table the mark is a row with the annotation, whatever else rows include, and the first event alone has ' +
  'columns', async t => {
  const { server } = await filled(t)
  const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1' }
  for (const [include, types] of [['', partial], [
    '&includeObject=None', partial
  ], ['&includeObject=Object', { kind: 'ClusterRoleBinding', apiVersion: 'rbac.authorization.orch.io/v1' }]] as const) {
    const watch = await Watch.open(t, `${server.url}${BINDINGS}?${MARKED}${include}`, { accept: TABLE })
    const [first, second, mark] = await watch.take(3)
    t.match(first, {
      type: 'ADDED', object: { kind: 'Table', columnDefinitions: [{ name: 'Name' }], rows: [{ cells: ['a'] }] }
    })
    t.match(second, { type: 'ADDED', object: { columnDefinitions: null, rows: [{ cells: ['b'] }] } })
    const { resourceVersion } = mark?.object.metadata as Json
    t.match(mark, { type: 'BOOKMARK', object: { columnDefinitions: null } })
    t.same(mark?.object.rows[0].object, { ...types, metadata: { resourceVersion, annotations: END } }, include)
    const none = await Watch.open(
      t, `${server.url}${BINDINGS}?${MARKED}${include}&labelSelector=team%3Dnone`, { accept: TABLE }
    )
    t.match(await none.take(1), [{ type: 'BOOKMARK', object: { columnDefinitions: [{ name: 'Name' }] } }])
  }
})

t.test('metadata alone, and under public names, with their name of the mark', async t => {
  const { server } = await filled(t, { compatNames: true })
  const metadata = await Watch.open(t, `${server.url}${BINDINGS}?${MARKED}`, { accept: METADATA })
  t.match(await metadata.take(3), [
    { type: 'ADDED', object: { kind: 'PartialObjectMetadata', metadata: { name: 'a' } } },
    { type: 'ADDED', object: { metadata: { name: 'b' } } },
    {
      type: 'BOOKMARK', object: {
        kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1', metadata: { annotations: END }
      }
    }
  ])
  const open = (accept: string): Promise<Watch> =>
    Watch.open(t, `${server.url}${BINDINGS.replace('orch.io', 'k8s.io')}?${MARKED}`, { accept })
  const [first, , mark] = await (await open('application/json')).take(3)
  t.equal(first?.object.apiVersion, 'rbac.authorization.k8s.io/v1')
  t.strictSame(mark?.object.metadata.annotations, PUBLIC_END)
  for (const include of [
    'application/json;as=Table;g=meta.k8s.io;v=v1', 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
  ]) {
    const [, , end] = await (await open(include)).take(3)
    t.same((end?.object.rows?.[0].object ?? end?.object).metadata.annotations, PUBLIC_END, include)
  }
})

t.test('under 1.36 plain watches from nothing and from 0 have the mark too, under 1.24 none', async t => {
  for (const release of ['1.36', '1.24'] as const) {
    const { server, first } = await filled(t, { emulatedVersion: release })
    for (const version of ['', '&resourceVersion=0', `&resourceVersion=${first}`]) {
      const watch = await Watch.open(t, `${server.url}${BINDINGS}?watch=1&allowWatchBookmarks=true${version}`)
      const without = await Watch.open(t, `${server.url}${BINDINGS}?watch=1${version}`)
      await server.post(BINDINGS, binding('later'))
      for (const each of [watch, without]) await each.until(() => shown(each).includes('ADDED later'))
      t.equal(shown(watch).includes('BOOKMARK END'), release === '1.36' &&
        version !== `&resourceVersion=${first}`, `${release} ${version}`)
      t.notOk(shown(without).some(line => line.startsWith('BOOKMARK')))
      await server.delete(`${BINDINGS}/later`)
    }
  }
})

t.test('in protobuf the state has the bytes that reads of its objects have, and the mark follows', async t => {
  const { server } = await filled(t)
  for (const as of ['', ';as=PartialObjectMetadata;g=meta.orch.io;v=v1']) {
    const bytes = async (path: string, accept: string): Promise<Buffer> =>
      Buffer.from(await (await fetch(`${server.url}${path}`, { headers: { accept } })).arrayBuffer())
    const objects = await Promise
      .all(['a', 'b'].map(name => bytes(`${BINDINGS}/${name}`, `application/vnd.orch.protobuf${as}`)))
    const expected = Buffer.concat(objects.map(object => protobufWatchFrame('ADDED', object)))
    const sent = await bytes(
      `${BINDINGS}?${MARKED}&timeoutSeconds=1`, `application/vnd.orch.protobuf;stream=watch${as}`
    )
    t.ok(sent.subarray(0, expected.length).equals(expected), `protobuf${as}`)
    t.match(
      sent.subarray(expected.length).toString('latin1'),
      /BOOKMARK[^]*k8s\.io\/initial-events-end[^]*orch\.io\/initial-events-end/
    )
  }
})
