import t from 'tap'
import { BINDINGS, build, binding, type Client, type Json } from '../build.js'

const names = ({ items }: Json): string[] => items.map((item: Json) => item.metadata.name)

async function filled (server: Client, count: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    await server.post(
      BINDINGS, binding(`b${String(at).padStart(3, '0')}`, { metadata: { labels: { even: String(at % 2 === 0) } } })
    )
  }
}

t.test('pages of a list are one snapshot', async t => {
  const server = await build(t)
  await filled(server, 10)
  const first = await server.get(`${BINDINGS}?limit=4`)
  t.same(names(first.json), ['b000', 'b001', 'b002', 'b003'])
  t.equal(first.json.metadata.remainingItemCount, 6)
  await server.delete(`${BINDINGS}/b005`)
  await server.post(BINDINGS, binding('b0055'))
  await server.patch(`${BINDINGS}/b006`, { metadata: { labels: { new: 'yes' } } })
  const second = await server.get(`${BINDINGS}?limit=4&continue=${first.json.metadata.continue}`)
  t.same(names(second.json), ['b004', 'b005', 'b006', 'b007'])
  t.equal(second.json.items[2].metadata.labels.new, undefined)
  t.equal(second.json.metadata.resourceVersion, first.json.metadata.resourceVersion)
  t.equal(second.json.metadata.remainingItemCount, 2)
  const third = await server.get(`${BINDINGS}?limit=4&resourceVersion=0&continue=${second.json.metadata.continue}`)
  t.same(names(third.json), ['b008', 'b009'])
  t.notOk('continue' in third.json.metadata)
  t.notOk('remainingItemCount' in third.json.metadata)
  const whole = await server.get(`${BINDINGS}?continue=${first.json.metadata.continue}`)
  t.equal(whole.json.items.length, 6, 'without a limit the rest comes at once')
  const last = await server.get(`${BINDINGS}?limit=10`)
  t.notOk('continue' in last.json.metadata, 'a page that ends with the list has no continue token')
})

t.test('selectors filter a list and omit the remaining count', async t => {
  const server = await build(t)
  await filled(server, 10)
  const page = await server.get(`${BINDINGS}?labelSelector=even%3Dtrue&limit=2`)
  t.same(names(page.json), ['b000', 'b002'])
  t.notOk('remainingItemCount' in page.json.metadata)
  const rest = await server.get(`${BINDINGS}?labelSelector=even%3Dtrue&limit=2&continue=${page.json.metadata.continue}`)
  t.same(names(rest.json), ['b004', 'b006'])
  t.same(names((await server.get(`${BINDINGS}?fieldSelector=metadata.name%3Db003`)).json), ['b003'])
  t.same(
    names((await server.get(`${BINDINGS}?fieldSelector=metadata.name!%3Db003&labelSelector=even%20in%20(false)`)).json),
    ['b001', 'b005', 'b007', 'b009']
  )
  t.same(names((await server.get(`${BINDINGS}?labelSelector=missing`)).json), [])
  for (const bad of [
    'labelSelector=%3D%3D', 'labelSelector=a%20in%20(', 'fieldSelector=spec.color%3Dblue', 'fieldSelector=x',
    'limit=many', 'limit=-1', 'resourceVersion=abc', 'resourceVersion=-1', 'continue=junk', 'continue=%7B%7D'
  ]) {
    t.match(await server.get(`${BINDINGS}?${bad}`), { code: 400, json: { kind: 'Status', reason: 'BadRequest' } }, bad)
  }
})

t.test('an invalid token or version is refused', async t => {
  const server = await build(t)
  const token = (value: unknown): string =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
  const v = 'meta.orch.io/v1'
  const tokens = [
    'abc!', 'abcde', 'YWI=', token({ v: 'meta.orch.io/v2', rv: 1, start: 'a' }), token({}), token({ v, start: 'a' }),
    token({ v, rv: 0, start: '' }), token({ v, rv: 1, start: '' }),
    token({ v, rv: 1 }), token({ v, rv: 1, start: '../a' }), token({ v, rv: 1, start: 'a/../../b' }), token('junk'),
    token({ v, rv: '1', start: 'a' }), token('null')
  ]
  for (const sent of tokens) {
    t.match(
      (await server.get(`${BINDINGS}?limit=1&continue=${encodeURIComponent(sent)}`)).json,
      { code: 400, message: 'invalid continue token: it is none of this server; start the list again' }, sent
    )
  }
  for (const sent of ['abc', '-1', '18446744073709551616']) {
    const message =
      `invalid resource version: resourceVersion: Invalid value: "${sent}": must be a whole number up to ` +
      '9007199254740991'
    for (const query of ['', '&limit=1', '&watch=1']) {
      t.match((await server.get(`${BINDINGS}?resourceVersion=${sent}${query}`)).json, { code: 400, message }, sent)
    }
  }
})

t.test('a forged token reads nothing beyond the request', async t => {
  const server = await build(t)
  await server.post('/api/v1/namespaces/orch-system/secrets', { metadata: { name: 'hidden' } })
  await server.post('/api/v1/namespaces/default/secrets', { metadata: { name: 'a' } })
  const { json } = await server.get('/api/v1/namespaces/default/secrets')
  for (const start of [
    '../orch-system/hidden', '/', '', '..', '../../', 'a/../../orch-system/', '\u0000', 'zzz/../x'
  ]) {
    const token = Buffer.from(JSON.stringify({
      v: 'meta.orch.io/v1', rv: Number(json.metadata.resourceVersion), start
    })).toString('base64url')
    const answer = await server.get(`/api/v1/namespaces/default/secrets?limit=5&continue=${token}`)
    t.ok(answer.code === 400 || !answer.body.includes('hidden'), JSON.stringify(start))
  }
})

t.test('every cell of the resource version table', async t => {
  const server = await build(t)
  await filled(server, 3)
  const old = String((await server.get(BINDINGS)).json.metadata.resourceVersion)
  await server.post(BINDINGS, binding('later'))
  const current = String((await server.get(BINDINGS)).json.metadata.resourceVersion)
  const list = async (query: string) => await server.get(`${BINDINGS}?${query}`)
  const expectState = async (query: string, version: string, count: number): Promise<void> => {
    const { code, json } = await list(query)
    t.match(
      { code, version: json.metadata?.resourceVersion, count: json.items?.length }, { code: 200, version, count }, query
    )
  }
  // unset match
  await expectState('', current, 4)
  await expectState('resourceVersion=0', current, 4)
  await expectState(`resourceVersion=${old}`, current, 4)
  await expectState('limit=9', current, 4)
  await expectState('limit=9&resourceVersion=0', current, 4)
  await expectState(`limit=9&resourceVersion=${old}`, old, 3)
  const { continue: token } = (await list('limit=2')).json.metadata
  await expectState(`limit=9&continue=${token}`, current, 2)
  await expectState(`limit=9&continue=${token}&resourceVersion=0`, current, 2)
  await expectState(`limit=9&continue=${token}&resourceVersion=${current}`, current, 2)
  t.equal((await list(`limit=9&continue=${token}&resourceVersion=${old}`)).code, 400)
  // Exact
  await expectState(`resourceVersionMatch=Exact&resourceVersion=${old}`, old, 3)
  await expectState(`resourceVersionMatch=Exact&resourceVersion=${old}&limit=2`, old, 2)
  await expectState(`resourceVersionMatch=Exact&resourceVersion=${current}`, current, 4)
  // NotOlderThan
  await expectState('resourceVersionMatch=NotOlderThan&resourceVersion=0', current, 4)
  await expectState(`resourceVersionMatch=NotOlderThan&resourceVersion=${old}`, current, 4)
  await expectState(`resourceVersionMatch=NotOlderThan&resourceVersion=${old}&limit=9`, current, 4)
  await expectState('resourceVersionMatch=NotOlderThan&resourceVersion=0&limit=9', current, 4)
  for (const invalid of [
    'resourceVersionMatch=Exact', 'resourceVersionMatch=Exact&limit=2', 'resourceVersionMatch=Exact&resourceVersion=0',
    'resourceVersionMatch=Exact&resourceVersion=0&limit=2',
    'resourceVersionMatch=NotOlderThan', 'resourceVersionMatch=NotOlderThan&limit=2',
    `resourceVersionMatch=Newest&resourceVersion=${old}`,
    `resourceVersionMatch=Exact&resourceVersion=${current}&continue=${token}`
  ]) t.match(await list(invalid), { code: 400, json: { reason: 'BadRequest' } }, invalid)
})

t.test('a read of a future version waits a little, then is a 504 that says so', async t => {
  const server = await build(t)
  const { json } = await server.post(BINDINGS, binding('one'))
  const future = Number(json.metadata.resourceVersion) + 1000
  const answers = await Promise.all([
    `${BINDINGS}?resourceVersion=${future}`, `${BINDINGS}/one?resourceVersion=${future}`,
    `${BINDINGS}?resourceVersionMatch=Exact&resourceVersion=${future}`
  ].map(url => server.get(url)))
  for (const answer of answers) {
    t.match(answer, {
      code: 504,
      json: {
        reason: 'Timeout',
        message: /^Timeout: Too large resource version: \d+, current: \d+$/,
        details: {
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1
        }
      }
    })
    t.equal(answer.headers['retry-after'], '1')
  }
})

t.test('a version about to come is waited for', async t => {
  const server = await build(t)
  const { json } = await server.post(BINDINGS, binding('one'))
  const waiting = server.get(`${BINDINGS}?resourceVersion=${Number(json.metadata.resourceVersion) + 1}`)
  await server.post(BINDINGS, binding('two'))
  t.match(await waiting, { code: 200, json: { items: { length: 2 } } })
})

t.test('a page of a compacted revision is 410 Expired', async t => {
  const server = await build(t, { storage: { compactionInterval: 50 } })
  await filled(server, 4)
  const { continue: token, resourceVersion } = (await server.get(`${BINDINGS}?limit=1`)).json.metadata
  const store = server.app
  t.ok(store)
  for (;;) {
    await server.patch(`${BINDINGS}/b000`, { metadata: { labels: { at: String(Date.now()) } } })
    const answer = await server.get(`${BINDINGS}?limit=1&continue=${token}`)
    if (answer.code !== 200) {
      t.match(answer, { code: 410, json: { reason: 'Expired' } })
      break
    }
    await new Promise(resolve => { setTimeout(resolve, 20) })
  }
  t.match(
    await server.get(`${BINDINGS}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`),
    { code: 410, json: { message: 'The resourceVersion for the provided list is too old.' } }
  )
})

t.test('lists cover all namespaces or one', async t => {
  const server = await build(t)
  for (const namespace of ['default', 'orch-system']) {
    await server.post(`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: 'c' } })
  }
  t.equal((await server.get('/api/v1/configmaps')).json.items.length, 2)
  t.equal((await server.get('/api/v1/namespaces/default/configmaps')).json.items.length, 1)
  t.equal((await server.get('/api/v1/configmaps?fieldSelector=metadata.namespace%3Ddefault')).json.items.length, 1)
  t.equal(
    (await server.get(
      '/api/v1/configmaps?fieldSelector=metadata.namespace%3Ddefault,metadata.name%3Dc'
    )).json.items.length,
    1
  )
  const page = await server.get('/api/v1/configmaps?limit=1')
  t.equal(
    (await server.get(
      `/api/v1/configmaps?limit=1&continue=${page.json.metadata.continue}`
    )).json.items[0].metadata.namespace,
    'orch-system'
  )
})

t.test('a large list is streamed in pieces, gzipped on request, with the same contents', async t => {
  const server = await build(t)
  const data = { text: 'x'.repeat(2000), escaped: '<&>' }
  for (let at = 0; at < 200; at++) {
    await server.post('/api/v1/namespaces/default/configmaps', { metadata: { name: `c${at}` }, data })
  }
  const plain = await server.get('/api/v1/configmaps')
  t.equal(plain.json.items.length, 200)
  t.equal(plain.json.items[7].data.escaped, '<&>')
  t.ok(plain.body.includes('\\u003c\\u0026\\u003e'))
  const zipped = await server.get('/api/v1/configmaps', { 'accept-encoding': 'gzip' })
  t.equal(zipped.headers['content-encoding'], 'gzip')
  const { gunzipSync } = await import('node:zlib')
  t.equal(gunzipSync(zipped.raw).toString(), plain.body)
  t.equal(
    (await server.get('/api/v1/configmaps', { 'accept-encoding': 'gzip;q=0' })).headers['content-encoding'], undefined
  )
  t.equal(JSON.parse((await server.get('/api/v1/configmaps?pretty=true')).body).items.length, 200)
})
