import t from 'tap'
import { gunzipSync } from 'node:zlib'
import { decodeProtobuf, openEnvelope } from '../../schemas/codec/protobuf/decode.js'
import { encodeProtobuf } from '../../schemas/codec/protobuf/encode.js'
import { ClusterRoleBinding } from '../../schemas/api/rbac/clusterrolebindings.js'
import { Status } from '../../schemas/meta/v1.js'
import { TABLE, BINDINGS, PROTOBUF, build, binding, type Client } from '../build.js'

async function one (t: Parameters<typeof build>[0]): Promise<Client> {
  const server = await build(t)
  await server.post(BINDINGS, binding('one', {
    metadata: { labels: { a: 'b' } },
    subjects: [
      { kind: 'User', name: 'ann' },
      { kind: 'Group', name: 'g' },
      { kind: 'ServiceAccount', name: 's', namespace: 'n' }
    ]
  }))
  return server
}

t.test('an object is written and read as JSON, YAML and protobuf', async t => {
  const server = await one(t)
  const json = await server.get(`${BINDINGS}/one`)
  t.equal(json.headers['content-type'], 'application/json')
  const binary = await server.get(`${BINDINGS}/one`, { accept: PROTOBUF })
  t.equal(binary.headers['content-type'], PROTOBUF)
  t.same([...binary.raw.subarray(0, 4)], [0x6b, 0x38, 0x73, 0x00])
  const { object } = decodeProtobuf(ClusterRoleBinding, binary.raw)
  t.equal(object.metadata.resourceVersion, json.json.metadata.resourceVersion)
  const yaml = await server.get(`${BINDINGS}/one`, { accept: 'application/yaml' })
  t.match(yaml.body, /^kind: ClusterRoleBinding$/m)

  object.metadata = { name: 'two' }
  t.equal(
    (await server.call(
      'POST', BINDINGS, Buffer.from(encodeProtobuf(ClusterRoleBinding, object)), { 'content-type': PROTOBUF }
    )).code,
    201
  )
  t.equal(
    (await server.call(
      'POST', BINDINGS, yaml.body.replace('name: one', 'name: three').replace(/^ +(uid|resourceVersion):.*\n/gm, ''),
      { 'content-type': 'application/yaml' }
    )).code,
    201
  )
  const stock = encodeProtobuf(ClusterRoleBinding, { ...object, metadata: { name: 'four' } })
  t.equal(
    (await server.call('POST', BINDINGS, Buffer.from(stock), {
      'content-type': 'application/vnd.kubernetes.protobuf'
    })).code,
    201,
    'with the media type of stock clients'
  )
  for (const name of ['two', 'three', 'four']) {
    t.same((await server.get(`${BINDINGS}/${name}`)).json.subjects, json.json.subjects)
  }
  t.equal(
    (await server.call('POST', BINDINGS, 'a=b', { 'content-type': 'application/x-www-form-urlencoded' })).code, 415
  )
  t.equal(
    (await server.call('POST', BINDINGS, JSON.stringify(binding('z')), {
      'content-type': 'application/json', 'content-encoding': 'gzip'
    })).code,
    415
  )
  t.equal(
    (await server.app.inject({
      method: 'POST', url: BINDINGS, payload: Buffer.from(JSON.stringify(binding('plain')))
    })).statusCode,
    201,
    'without a type it is JSON'
  )
})

t.test('a list has the same contents in every encoding', async t => {
  const server = await one(t)
  await server.post(BINDINGS, binding('two'))
  const json = await server.get(BINDINGS)
  const binary = await server.get(BINDINGS, { accept: PROTOBUF })
  t.match(openEnvelope(binary.raw), { kind: 'ClusterRoleBindingList', apiVersion: 'rbac.authorization.orch.io/v1' })
  for (const name of ['one', 'two']) t.ok(binary.raw.includes(name))
  const yaml = await server.get(BINDINGS, { accept: 'application/yaml' })
  const { parse } = await import('yaml')
  t.same(parse(yaml.body), json.json)
  t.same(JSON.parse((await server.get(`${BINDINGS}?pretty=1`)).body), json.json)
  t.match((await server.get(`${BINDINGS}?pretty=1`)).body, /\n {4}{\n {6}"kind"/)
  const empty = '/apis/rbac.authorization.orch.io/v1/clusterroles'
  t.same((await server.get(empty)).json.items, [])
  t.same(parse((await server.get(empty, { accept: 'application/yaml' })).body).items, [])
  t.same(JSON.parse((await server.get(`${empty}?pretty=1`)).body).items, [])
})

t.test('a Table has a row per object, with as much of the object as requested', async t => {
  const server = await one(t)
  const table = async (query: string, accept = TABLE) => (await server.get(`${BINDINGS}${query}`, { accept })).json
  t.match(await table(''), {
    kind: 'Table',
    apiVersion: 'meta.orch.io/v1',
    metadata: { resourceVersion: /^\d+$/ },
    columnDefinitions: ['Name', 'Role', 'Age', 'Users', 'Groups', 'ServiceAccounts'].map(name => ({ name })),
    rows: [
      {
        cells: ['one', 'ClusterRole/view', /^\d+s$/, 'ann', 'g', 'n/s'],
        object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1', metadata: { name: 'one' } }
      }
    ]
  })
  t.equal((await table('?includeObject=None')).rows[0].object, null)
  t.match((await table('?includeObject=Object')).rows[0].object, {
    kind: 'ClusterRoleBinding', roleRef: { name: 'view' }
  })
  t.equal((await server.get(`${BINDINGS}?includeObject=All`, { accept: TABLE })).code, 400)
  t.match(await table('/one'), { kind: 'Table', rows: [{ cells: ['one'] }] })
  t.equal((await table('', 'application/json;as=Table;g=meta.orch.io;v=v1beta1')).apiVersion, 'meta.orch.io/v1beta1')
  t.match(
    await table('', 'application/json;as=Table;g=meta.k8s.io;v=v1, application/json'),
    { kind: 'Table', apiVersion: 'meta.k8s.io/v1' }, 'as stock clients ask for it'
  )
  t.equal(
    (await table('', 'application/json;as=Table;g=meta.example.com;v=v1, application/json')).kind,
    'ClusterRoleBindingList'
  )
  t.match(
    (await server.get('/apis/rbac.authorization.orch.io/v1/clusterroles', { accept: TABLE })).json.columnDefinitions,
    [{ name: 'Name', type: 'string' }, { name: 'Created At', type: 'date' }]
  )
})

t.test('metadata can be requested alone', async t => {
  const server = await one(t)
  const as = (kind: string): string => `application/json;as=${kind};g=meta.orch.io;v=v1`
  t.match((await server.get(`${BINDINGS}/one`, { accept: as('PartialObjectMetadata') })).json, {
    kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1', metadata: { name: 'one' }
  })
  const list = (await server.get(BINDINGS, { accept: as('PartialObjectMetadataList') })).json
  t.match(list, {
    kind: 'PartialObjectMetadataList', items: [{ kind: 'PartialObjectMetadata', metadata: { name: 'one' } }]
  })
  t.notOk('subjects' in list.items[0])
  const binary = await server.get(BINDINGS, { accept: `${PROTOBUF};as=PartialObjectMetadataList;g=meta.orch.io;v=v1` })
  t.equal(openEnvelope(binary.raw).kind, 'PartialObjectMetadataList')
})

t.test('metadata of one object is not that of a list', async t => {
  const server = await one(t)
  const as = (kind: string): string => `application/json;as=${kind};g=meta.orch.io;v=v1`
  for (const [path, unfit, kind] of [
    [`${BINDINGS}/one`, 'PartialObjectMetadataList', 'ClusterRoleBinding'],
    [BINDINGS, 'PartialObjectMetadata', 'ClusterRoleBindingList']
  ] as const) {
    t.match(await server.get(path, { accept: as(unfit) }), { code: 406, json: { reason: 'NotAcceptable' } }, path)
    t.match(await server.get(path, { accept: `${as(unfit)}, application/json` }), { code: 200, json: { kind } }, path)
  }
  t.match(
    await server.get(BINDINGS, { accept: 'application/json;g=meta.orch.io;v=v1' }), { code: 406 },
    'a version of nothing'
  )
  t.equal((await server.call('DELETE', BINDINGS, undefined, { accept: as('PartialObjectMetadataList') })).code, 200)
})

t.test('an operation has no Table', async t => {
  const server = await build(t)
  const review = { spec: { user: 'jane', nonResourceAttributes: { path: '/', verb: 'get' } } }
  const url = '/apis/authorization.orch.io/v1/subjectaccessreviews'
  t.match(await server.post(url, review, { accept: TABLE }), { code: 406, json: { reason: 'NotAcceptable' } })
  t.match(await server.post(url, review, { accept: `${TABLE}, application/json` }), {
    code: 201, json: { kind: 'SubjectAccessReview' }
  })
  t.match(await server.get('/api/v1/componentstatuses', { accept: TABLE }), { code: 200, json: { kind: 'Table' } })
})

t.test('a failure is encoded in the requested media type', async t => {
  const server = await build(t)
  const binary = await server.get(`${BINDINGS}/none`, { accept: PROTOBUF })
  t.equal(binary.code, 404)
  t.match(decodeProtobuf(Status, binary.raw).object, { status: 'Failure', reason: 'NotFound', code: 404 })
  const yaml = await server.get(`${BINDINGS}/none`, { accept: 'application/yaml' })
  t.match(yaml.body, /^reason: NotFound$/m)
  const refused = await server.get(BINDINGS, { accept: 'text/html' })
  t.match(refused, { code: 406, json: { kind: 'Status', reason: 'NotAcceptable' } })
  t.match((await server.get(`${BINDINGS}/none?pretty=1`)).body, /^{\n {2}"kind": "Status"/)
})

t.test('protobuf delete options are read', async t => {
  const server = await one(t)
  const { DeleteOptions } = await import('../../schemas/meta/v1.js')
  const options = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'another' } }
  const body = Buffer.from(encodeProtobuf(DeleteOptions, options as never))
  t.equal((await server.call('DELETE', `${BINDINGS}/one`, body, { 'content-type': PROTOBUF })).code, 409)
})

t.test('a large object is gzipped for a client that takes it', async t => {
  const server = await build(t)
  const url = '/api/v1/namespaces/default/configmaps'
  await server.post(url, { metadata: { name: 'large' }, data: { text: 'x'.repeat(200_000) } })
  const zipped = await server.get(`${url}/large`, { 'accept-encoding': 'gzip' })
  t.equal(zipped.headers['content-encoding'], 'gzip')
  t.ok(zipped.raw.length < 10_000)
  t.equal(gunzipSync(zipped.raw).toString(), (await server.get(`${url}/large`)).body)
})
