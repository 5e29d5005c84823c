/** Interface, 'List paging', 'Collection metadata', 'Collections in general' and 'Table representation'. */
import t from 'tap'
import { TABLE, BINDINGS, PROTOBUF, build, binding, type Client, type Json } from '../build.js'

const names = (json: Json): string[] => json.items.map(({ metadata }: Json) => metadata.name)
const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `n-${String(index).padStart(3, '0')}`)

async function withMany (t: Parameters<typeof build>[0], count: number): Promise<Client> {
  const server = await build(t)
  for (const [index, name] of numbered(count).entries()) {
    await server.post(BINDINGS, binding(name, { metadata: { labels: { odd: String(index % 2) } } }))
  }
  return server
}

/** All pages of a list; `between` runs between two of them. */
async function pages (
  server: Client, query: string, limit: number, between: (page: number) => Promise<unknown> = async () => {}
): Promise<Json[]> {
  const found: Json[] = []
  let token = ''
  do {
    const { code, json } = await server.get(
      `${BINDINGS}?limit=${limit}${query}${token === '' ? '' : `&continue=${token}`}`
    )
    if (code !== 200) throw new Error(`page ${found.length}: ${code} ${json.message}`)
    found.push(json)
    token = json.metadata.continue ?? ''
    await between(found.length)
  } while (token !== '')
  return found
}

t.test('limit bounds the items of each page, continue leads through all of them, empty at the end', async t => {
  const server = await withMany(t, 25)
  for (const limit of [1, 2, 7, 24, 25, 26, 1000]) {
    const found = await pages(server, '', limit)
    t.same(found.flatMap(names), numbered(25), `limit ${limit}`)
    t.equal(found.length, Math.ceil(25 / limit))
    t.ok(found.every(({ items }) => items.length <= limit))
    t.ok(!found.at(-1)?.metadata.continue)
  }
  t.same(names((await server.get(`${BINDINGS}?limit=0`)).json), numbered(25), '0 is no limit')
})

t.test('remainingItemCount counts the remaining items, and is omitted at the end and with selectors', async t => {
  const server = await withMany(t, 10)
  t.same((await pages(server, '', 4)).map(({ metadata }) => metadata.remainingItemCount), [6, 2, undefined])
  t.equal((await server.get(BINDINGS)).json.metadata.remainingItemCount, undefined)
  for (const selector of ['labelSelector=odd%3D1', 'fieldSelector=metadata.name!%3Dn-000']) {
    for (const { metadata } of await pages(server, `&${selector}`, 2)) {
      t.equal(metadata.remainingItemCount, undefined, selector)
    }
  }
})

t.test('pages are one snapshot: its version is constant and later changes are not in it', async t => {
  const server = await withMany(t, 12)
  const found = await pages(server, '', 3, async page => {
    await server.post(BINDINGS, binding(`n-00${page}-new`))
    await server.delete(`${BINDINGS}/n-01${page - 1}`)
    await server.patch(`${BINDINGS}/n-009`, { metadata: { labels: { page: String(page) } } })
  })
  t.same(found.flatMap(names), numbered(12))
  t.equal(new Set(found.map(({ metadata }) => metadata.resourceVersion)).size, 1)
  t.equal(found.at(-1)?.items[0].metadata.labels.page, undefined, 'items are as they were')
  t.not((await server.get(BINDINGS)).json.metadata.resourceVersion, found[0]?.metadata.resourceVersion)
})

t.test('selectors and pages can be combined', async t => {
  const server = await withMany(t, 20)
  const found = await pages(server, '&labelSelector=odd%3D1', 3)
  t.same(found.flatMap(names), numbered(20).filter((_, index) => index % 2 === 1))
  t.ok(found.slice(0, -1).every(({ items }) => items.length === 3), 'a page is full as long as there are more')
})

t.test('pages cover all namespaces as well as one', async t => {
  const server = await build(t)
  for (const namespace of ['one', 'two']) {
    await server.post('/api/v1/namespaces', { metadata: { name: namespace } })
    for (const name of ['a', 'b', 'c']) {
      await server.post(`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name } })
    }
  }
  for (const [url, wanted] of [
    ['/api/v1/configmaps', ['one/a', 'one/b', 'one/c', 'two/a', 'two/b', 'two/c']],
    ['/api/v1/namespaces/one/configmaps', ['one/a', 'one/b', 'one/c']]
  ] as const) {
    const seen: string[] = []
    let token = ''
    do {
      const { json } = await server.get(`${url}?limit=2&continue=${token}`)
      seen.push(...json.items.map(({ metadata }: Json) => `${metadata.namespace}/${metadata.name}`))
      token = json.metadata.continue ?? ''
    } while (token !== '')
    t.same(seen, wanted, url)
  }
})

t.test('an expired token is 410, and the list may be started again, or continued with what is there now', async t => {
  const server = await build(t, { storage: { compactionInterval: 20 } })
  for (const name of numbered(6)) await server.post(BINDINGS, binding(name))
  const { continue: token } = (await server.get(`${BINDINGS}?limit=2`)).json.metadata
  let answer = await server.get(`${BINDINGS}?limit=2&continue=${token}`)
  for (const deadline = Date.now() + 60_000; answer.code === 200 && Date.now() < deadline;) {
    await server.patch(`${BINDINGS}/n-000`, { metadata: { labels: { now: String(performance.now()) } } })
    await new Promise(resolve => { setTimeout(resolve, 5) })
    answer = await server.get(`${BINDINGS}?limit=2&continue=${token}`)
  }
  t.match(answer, {
    code: 410,
    json: {
      kind: 'Status',
      reason: 'Expired',
      code: 410,
      message: /^The provided continue parameter is too old to display a consistent list result\. You can start/
    }
  })
  t.same(names((await server.get(`${BINDINGS}?limit=2`)).json), ['n-000', 'n-001'])
  t.same(names((await server.get(BINDINGS)).json), numbered(6))
  await server.delete(`${BINDINGS}/n-003`)
  const { json } = await server.get(`${BINDINGS}?limit=2&continue=${answer.json.metadata.continue}`)
  t.same(names(json), ['n-002', 'n-004'], 'or continue after the last page with the current objects')
  t.equal(
    (await server.get(`${BINDINGS}?limit=2&resourceVersion=1&continue=${answer.json.metadata.continue}`)).code, 400
  )
  t.same(names((await server.get(`${BINDINGS}?continue=${json.metadata.continue}`)).json), ['n-005'])
})

t.test('a list has the kind of its items with List appended, and all items are of that kind', async t => {
  const server = await build(t)
  const RBAC = '/apis/rbac.authorization.orch.io/v1'
  const { roleRef } = binding('any')
  const kinds: Record<string, readonly [string, Json]> = {
    [`${RBAC}/clusterrolebindings`]: ['ClusterRoleBinding', { roleRef }],
    [`${RBAC}/clusterroles`]: ['ClusterRole', {}],
    [`${RBAC}/namespaces/default/rolebindings`]: ['RoleBinding', { roleRef }],
    [`${RBAC}/namespaces/default/roles`]: ['Role', {}],
    '/api/v1/namespaces': ['Namespace', {}],
    '/api/v1/namespaces/default/configmaps': ['ConfigMap', {}],
    '/api/v1/namespaces/default/secrets': ['Secret', {}],
    '/api/v1/namespaces/default/serviceaccounts': ['ServiceAccount', {}]
  }
  for (const [url, [kind, body]] of Object.entries(kinds)) {
    await server.post(url, { ...body, metadata: { name: 'a' } })
    const { json } = await server.get(url)
    t.equal(json.kind, `${kind}List`)
    t.ok(
      json.items.length > 0 &&
        json.items.every((item: Json) => item.kind === kind && item.apiVersion === json.apiVersion),
      `each item is a ${kind}`
    )
  }
})

t.test('a Table of bindings has named and typed columns, and a row per object', async t => {
  const server = await withMany(t, 3)
  const { code, json, headers } = await server.get(BINDINGS, { accept: TABLE })
  t.equal(code, 200)
  t.match(headers['content-type'], /^application\/json/)
  t.match(json, { kind: 'Table', apiVersion: 'meta.orch.io/v1', metadata: { resourceVersion: /^\d+$/ } })
  for (const column of json.columnDefinitions) {
    t.match(column, { name: String, type: /^(?:string|integer|number|boolean|date)$/ })
  }
  t.equal(json.columnDefinitions[0].name, 'Name')
  t.same(json.rows.map(({ cells }: Json) => cells[0]), numbered(3))
  for (const { cells } of json.rows) t.equal(cells.length, json.columnDefinitions.length, 'a cell per column')
  t.match(json.rows[0].object, {
    kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1', metadata: { name: 'n-000' }
  })
  t.match(
    (await server.get(`${BINDINGS}?includeObject=Object`, { accept: TABLE })).json.rows[0].object,
    { kind: 'ClusterRoleBinding', roleRef: { name: 'view' } }
  )
  t.equal((await server.get(`${BINDINGS}?includeObject=None`, { accept: TABLE })).json.rows[0].object, null)
  t.match(
    (await server.get(`${BINDINGS}/n-001`, { accept: TABLE })).json, { kind: 'Table', rows: [{ cells: ['n-001'] }] },
    'of one object too'
  )
  const page = await server.get(`${BINDINGS}?limit=2`, { accept: TABLE })
  t.match(page.json, { metadata: { remainingItemCount: 1, continue: String }, rows: { length: 2 } }, 'and of a page')
  t.equal((await server.get(`${BINDINGS}?labelSelector=odd%3D9`, { accept: TABLE })).json.rows.length, 0)
})

t.test('a type without columns of its own has the name and the time of creation', async t => {
  const server = await build(t)
  await server.post('/apis/rbac.authorization.orch.io/v1/clusterroles', { metadata: { name: 'a' } })
  const { json } = await server.get('/apis/rbac.authorization.orch.io/v1/clusterroles', { accept: TABLE })
  t.match(json.columnDefinitions, [{ name: 'Name', type: 'string' }, { name: 'Created At', type: 'date' }])
  t.equal(json.columnDefinitions.length, 2)
  t.equal(json.rows[0].cells[0], 'a')
  t.ok(!Number.isNaN(Date.parse(json.rows[0].cells[1])))
})

t.test('a large response is compressed on request, with the same contents', async t => {
  const { gunzipSync } = await import('node:zlib')
  const server = await build(t)
  for (const name of numbered(100)) {
    await server.post(BINDINGS, binding(name, { metadata: { annotations: { fill: 'x'.repeat(3000) } } }))
  }
  for (const accept of ['application/json', 'application/yaml', PROTOBUF]) {
    const plain = await server.get(BINDINGS, { accept })
    const packed = await server.get(BINDINGS, { accept, 'accept-encoding': 'gzip' })
    t.equal(plain.headers['content-encoding'], undefined)
    t.equal(packed.headers['content-encoding'], 'gzip', accept)
    t.ok(gunzipSync(packed.raw).equals(plain.raw), accept)
  }
  t.equal(
    (await server.get(`${BINDINGS}/n-000`, { 'accept-encoding': 'gzip' })).headers['content-encoding'], undefined,
    'a small one is not'
  )
})
