/** Interface, 'Generic request shapes': which representation is sent and accepted, for each rule. */
import t from 'tap'
import { TABLE, BINDINGS, PROTOBUF, build, binding, type Client } from '../build.js'

const MAGIC = '6b387300'

async function withOne (t: Parameters<typeof build>[0]): Promise<Client> {
  const server = await build(t)
  await server.post(BINDINGS, binding('a'))
  return server
}

t.test('JSON is the default, and each type of Accept is answered with its Content-Type', async t => {
  const server = await withOne(t)
  for (const [accept, type] of [
    [undefined, 'application/json'], ['', 'application/json'], ['*/*', 'application/json'],
    ['application/*', 'application/json'], ['application/json', 'application/json'],
    ['application/json; charset=utf-8', 'application/json'], ['APPLICATION/JSON', 'application/json'],
    ['application/yaml', 'application/yaml'], [PROTOBUF, PROTOBUF],
    // A client that may meet types without a protobuf form sends several media types.
    [`${PROTOBUF},application/json`, PROTOBUF], [`application/json,${PROTOBUF}`, 'application/json'],
    [`application/json;q=0.5,${PROTOBUF}`, PROTOBUF],
    [`${PROTOBUF};q=0.1,application/yaml;q=0.2,application/json;q=0.3`, 'application/json'],
    ['text/html,application/json;q=0.1', 'application/json'], ['text/html, */*;q=0.1', 'application/json'],
    ['application/json;q=0, */*', 'application/yaml'], ['application/json;q=0, application/yaml;q=0, */*', PROTOBUF]
  ] as const) {
    for (const url of [BINDINGS, `${BINDINGS}/a`]) {
      const answer = await server.get(url, accept === undefined ? {} : { accept })
      t.equal(answer.code, 200, String(accept))
      t.equal(String(answer.headers['content-type']).split(';')[0], type, `${accept} of ${url}`)
      if (type === PROTOBUF) t.equal(answer.raw.subarray(0, 4).toString('hex'), MAGIC)
      if (type === 'application/yaml') t.match(answer.body, /^kind: ClusterRoleBinding/m)
      if (type === 'application/json') t.match(answer.json.kind, /^ClusterRoleBinding/)
    }
  }
})

t.test('406 when none of the types is served, whatever the method', async t => {
  const server = await withOne(t)
  for (const accept of [
    'text/html', 'application/xml', 'image/*', 'application/json;as=Unknown;g=meta.orch.io;v=v1',
    'application/json;q=0', TABLE.replace('v=v1', 'v=v0')
  ]) {
    for (const [method, url, body] of [
      ['GET', BINDINGS, undefined], ['GET', `${BINDINGS}/a`, undefined], ['GET', `${BINDINGS}?watch=1`, undefined],
      ['POST', BINDINGS, binding('b')], ['PUT', `${BINDINGS}/a`, binding('a')], ['DELETE', `${BINDINGS}/a`, undefined],
      ['DELETE', BINDINGS, undefined]
    ] as const) {
      t.match(
        await server.call(method, url, body, { accept }),
        { code: 406, json: { kind: 'Status', reason: 'NotAcceptable', code: 406 } }, `${method} ${url} ${accept}`
      )
    }
  }
  t.equal((await server.get(BINDINGS)).json.items.length, 1, 'and nothing was done')
})

t.test('Content-Type declares the type of the body', async t => {
  const server = await withOne(t)
  const json = (await server.get(`${BINDINGS}/a`)).body
  const yaml = (await server.get(`${BINDINGS}/a`, { accept: 'application/yaml' })).body
  const protobuf = (await server.get(`${BINDINGS}/a`, { accept: PROTOBUF })).raw
  for (const [type, body] of [
    ['application/json', json], ['application/json;charset=utf-8', json], ['application/yaml', yaml],
    ['application/yaml', json], [PROTOBUF, protobuf]
  ] as const) {
    const { code, json: put } = await server.put(`${BINDINGS}/a`, body, { 'content-type': type })
    t.equal(code, 200, type)
    t.same(put, JSON.parse(json), 'each says the same')
    await server.delete(`${BINDINGS}/b`)
    const fresh = type === PROTOBUF
      ? body
      : String(body)
          .replaceAll(/(name"?: ?"?)a\b/g, '$1b')
          .replace(/"?resourceVersion"?: ?"\d+",?/, '')
          .replace(/"?uid"?: ?"?[-0-9a-f]{36}"?,?/, '')
    if (type !== PROTOBUF) {
      t.equal((await server.post(BINDINGS, fresh, { 'content-type': type })).code, 201, `POST ${type}`)
    }
  }
  t.equal(
    (await server.app.inject({ method: 'PUT', url: `${BINDINGS}/a`, payload: Buffer.from(json) })).statusCode, 200,
    'JSON where none is declared'
  )
  t.equal((await server.put(`${BINDINGS}/a`, yaml, { 'content-type': 'application/json' })).code, 400)
  t.equal((await server.put(`${BINDINGS}/a`, json, { 'content-type': PROTOBUF })).code, 400)
  t.match(await server.put(`${BINDINGS}/a`, json, { 'content-type': 'text/plain' }), {
    code: 415, json: { reason: 'UnsupportedMediaType' }
  })
})

t.test('the response has the requested media type, whatever that of the request', async t => {
  const server = await withOne(t)
  const yaml = await server.post(BINDINGS, binding('b'), { accept: 'application/yaml' })
  t.equal(yaml.code, 201)
  t.match(yaml.body, /^kind: ClusterRoleBinding$/m)
  const protobuf = await server.put(`${BINDINGS}/b`, binding('b'), { accept: PROTOBUF })
  t.equal(protobuf.raw.subarray(0, 4).toString('hex'), MAGIC)
  const deleted = await server.call('DELETE', `${BINDINGS}/b`, undefined, { accept: 'application/yaml' })
  t.match(deleted.body, /^kind: Status$/m)
  for (const accept of ['application/yaml', PROTOBUF]) {
    const missing = await server.get(`${BINDINGS}/none`, { accept })
    t.equal(missing.code, 404)
    t.equal(missing.headers['content-type'], accept, 'an error too')
  }
})

t.test('a Table is requested by Accept, with JSON as a fallback', async t => {
  const server = await withOne(t)
  for (const accept of [TABLE, `${TABLE},application/json`, 'application/json;v=v1;g=meta.orch.io;as=Table']) {
    t.match(
      await server.get(BINDINGS, { accept }), { code: 200, json: { kind: 'Table', apiVersion: 'meta.orch.io/v1' } },
      accept
    )
  }
  t.equal(
    (await server.get(BINDINGS, {
      accept: `${TABLE.replace('meta.orch.io', 'other.example')},application/json`
    })).json.kind,
    'ClusterRoleBindingList'
  )
  t.equal(
    (await server.get('/apis', { accept: `${TABLE},application/json` })).json.kind, 'APIGroupList',
    'a resource without Table falls back'
  )
  t.equal((await server.get('/apis', { accept: TABLE })).code, 406)
})

t.test(
  'patch types: JSON patch, merge patch and strategic merge patch are served, and other types refused by name',
  async t => {
    const server = await withOne(t)
    for (const [value, type, patch] of [
      ['1', 'json-patch+json', [{ op: 'add', path: '/metadata/labels', value: { a: '1' } }]],
      ['2', 'merge-patch+json', { metadata: { labels: { a: '2' } } }],
      ['3', 'strategic-merge-patch+json', { metadata: { labels: { a: '3' } } }]
    ] as const) {
      const { json } = await server.patch(`${BINDINGS}/a`, patch, `application/${type}`)
      t.equal(json.metadata?.labels?.a, value)
    }
    t.match(await server.patch(`${BINDINGS}/a`, '{}', 'text/plain'), {
      code: 415, json: { kind: 'Status', reason: 'UnsupportedMediaType', message: /apply-patch\+yaml/ }
    })
    for (const type of ['application/json', 'application/yaml', PROTOBUF, 'text/plain', '']) {
      t.equal((await server.patch(`${BINDINGS}/a`, '{}', type)).code, 415, type)
    }
  }
)

t.test('the paths of a virtual resource that is not served are no paths', async t => {
  const server = await build(t, { api: { disabled: ['authorization.orch.io/v1'] } })
  t.match(await server.post('/apis/authorization.orch.io/v1/subjectaccessreviews', { spec: {} }), {
    code: 404, json: { kind: 'Status', reason: 'NotFound' }
  })
})
