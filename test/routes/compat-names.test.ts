/** `compatNames`: the same objects under the public project's names and ours. */
import t from 'tap'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { ServerOptions } from '../../app.js'
import { decodeProtobuf, openEnvelope } from '../../schemas/codec/protobuf/decode.js'
import { encodeProtobuf } from '../../schemas/codec/protobuf/encode.js'
import { OWN_NAMES } from '../../schemas/naming.js'
import { findResource } from '../schemas/find-resource.js'
import { build, listen, Watch, type Json, type Test } from '../build.js'
import { established } from '../controllers/custom/definitions.js'
import { caBundle, hookServer } from '../admission/webhooks/hook-server.js'
import { extensionServer, outbound, register } from '../controllers/aggregation/extension-server.js'
import { callingAgent, nodeAgent, withPod } from '../node-agent.js'

const OURS = '/apis/rbac.authorization.orch.io/v1'
const PUBLIC = '/apis/rbac.authorization.k8s.io/v1'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const OWN = { accept: 'application/vnd.orch.protobuf;q=0.1, application/json' }
const TABLE = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }

const compat = (t: Test, options: ServerOptions = {}) => build(t, { compatNames: true, ...options })

const role = (name: string, more: Json = {}): Json => ({
  apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role',
  metadata: { name, labels: { 'kubernetes.io/os': 'linux', 'app.kubernetes.io/name': 'kube-system' } },
  rules: [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['get'] }], ...more
})

t.test('without the option no public name is served', async t => {
  const server = await build(t)
  t.equal((await server.get(`${PUBLIC}/clusterroles`)).code, 404)
  t.equal((await server.get('/api/v1/namespaces/kube-system')).code, 404)
  t.notMatch((await server.get('/apis')).body, 'k8s.io')
  t.equal((await server.get('/api/v1/namespaces', { accept: PROTOBUF })).code, 406)
})

t.test('an object is one, by either name', async t => {
  const server = await compat(t)
  const created = await server.post(`${PUBLIC}/namespaces/kube-system/roles`, role('reader'))
  t.match(created, { code: 201, json: role('reader', { metadata: { namespace: 'kube-system' } }) })
  const stored = await server.get(`${OURS}/namespaces/orch-system/roles/reader`)
  t.match(stored.json, {
    apiVersion: 'rbac.authorization.orch.io/v1',
    metadata: { namespace: 'orch-system', labels: { 'orch.io/os': 'linux', 'app.kubernetes.io/name': 'kube-system' } },
    rules: [{ apiGroups: ['rbac.authorization.orch.io'] }]
  })
  t.strictSame((await server.get(`${PUBLIC}/namespaces/kube-system/roles/reader`)).json, created.json)
  t.equal((await server.get(`${PUBLIC}/namespaces/orch-system/roles/reader`)).code, 404)

  await server.put(`${OURS}/namespaces/orch-system/roles/reader`, {
    ...stored.json, metadata: { ...stored.json.metadata, finalizers: ['orch.io/pv-protection'] }
  })
  t.strictSame(
    (await server.get(`${PUBLIC}/namespaces/kube-system/roles/reader`)).json.metadata.finalizers,
    ['kubernetes.io/pv-protection']
  )
  t.match(
    await server.post(
      `${PUBLIC}/namespaces/default/roles`, role('wrong', { apiVersion: 'rbac.authorization.orch.io/v1' })
    ),
    { code: 400 },
    'each path takes its own name'
  )
  t.match(await server.post(`${OURS}/namespaces/default/roles`, role('wrong')), { code: 400 })
  t.match(
    await server.call('POST', `${PUBLIC}/namespaces/default/roles`, 'x', { 'content-type': 'text/plain' }),
    { code: 415, json: { message: new RegExp(PROTOBUF) } }, 'media types are those that leave the names as they are'
  )
})

t.test('types of the core group have public names, but for clients that ask for our media types', async t => {
  const server = await compat(t)
  t.strictSame(
    (await server.get('/api/v1/namespaces')).json.items.map(({ metadata }: Json) => metadata.name),
    ['default', 'kube-node-lease', 'kube-public', 'kube-system']
  )
  t.strictSame(
    (await server.get('/api/v1/namespaces', OWN)).json.items.map(({ metadata }: Json) => metadata.name),
    ['default', 'orch-node-lease', 'orch-public', 'orch-system']
  )
  const { json } = await server.get('/api/v1/namespaces/kube-system')
  t.match(json, {
    metadata: { labels: { 'kubernetes.io/metadata.name': 'kube-system' } }, spec: { finalizers: ['kubernetes'] }
  })
  t.equal((await server.get('/api/v1/namespaces/orch-system')).code, 404)
  const data = { 'kube-system': 'kubernetes.io/os', b: 'orch-system' }
  t.strictSame(
    (await server.post('/api/v1/namespaces/kube-system/configmaps', { metadata: { name: 'mine' }, data })).json.data,
    data
  )
  t.strictSame((await server.get('/api/v1/namespaces/orch-system/configmaps/mine', OWN)).json.data, data)
  for (const [query, names] of [
    ['labelSelector=kubernetes.io/metadata.name in (kube-system,default)', ['default', 'kube-system']],
    ['fieldSelector=metadata.name=kube-public', ['kube-public']],
    ['labelSelector=orch.io/metadata.name=orch-system', []]
  ] as const) {
    const { items } = (await server.get(`/api/v1/namespaces?${encodeURI(query)}`)).json
    t.strictSame(items.map(({ metadata }: Json) => metadata.name), names, query)
  }
})

t.test('a list is the objects, however often it is read and whatever changes between', async t => {
  const server = await compat(t)
  const path = '/api/v1/namespaces/kube-system/pods'
  const pod = (at: number): Json => ({
    metadata: {
      name: `pod-${String(at).padStart(3, '0')}`, labels: at % 2 === 0 ? { 'kubernetes.io/os': 'linux' } : {}
    },
    spec: { containers: [{ name: 'a', image: 'a' }] }
  })
  for (let at = 0; at < 150; at++) t.equal((await server.post(path, pod(at))).code, 201)
  const single = async (): Promise<Json[]> => await Promise.all(Array.from(
    { length: 150 }, async (_, at) => (await server.get(`${path}/${pod(at)['metadata'].name}`)).json
  ))
  const listed = async (headers = {}): Promise<Json[]> => (await server.get(
    path.replace('kube-system', headers === OWN ? 'orch-system' : 'kube-system'), headers
  )).json.items
  for (let round = 0; round < 3; round++) {
    for (let read = 0; read < 3; read++) {
      t.strictSame(await listed(), await single())
      t.match((await listed(OWN))[0], { metadata: { namespace: 'orch-system', labels: { 'orch.io/os': 'linux' } } })
    }
    await server.patch(`${path}/pod-0${round}0`, { metadata: { labels: { 'kubernetes.io/arch': `arm-${round}` } } })
  }
})

t.test('JSON, YAML, protobuf and tables', async t => {
  const server = await compat(t)
  const message = findResource('rbac.authorization.orch.io', 'v1', 'roles')?.message
  if (message === undefined) throw new Error('no roles')
  const path = `${PUBLIC}/namespaces/default/roles`
  const { json } = await server.post(path, role('a'))
  t.strictSame(parse((await server.get(`${path}/a`, { accept: 'application/yaml' })).body), json)
  t.strictSame(JSON.parse((await server.get(`${path}/a?pretty=1`)).body), json)
  const binary = await server.get(`${path}/a`, { accept: PROTOBUF })
  t.equal(binary.headers['content-type'], PROTOBUF)
  t.match(openEnvelope(binary.raw), { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' })
  const names = { ...OWN_NAMES, group: () => 'rbac.authorization.orch.io/v1' }
  t.match(decodeProtobuf(message, binary.raw, undefined, names).object, {
    metadata: { labels: { 'kubernetes.io/os': 'linux' } }, rules: [{ apiGroups: ['rbac.authorization.k8s.io'] }]
  })
  const list = await server.get(path, { accept: PROTOBUF })
  t.match(openEnvelope(list.raw), { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleList' })
  t.ok(list.raw.includes('kubernetes.io/os'))
  t.notOk(list.raw.includes('orch.io'))
  t.match((await server.get(path)).json, { apiVersion: 'rbac.authorization.k8s.io/v1', items: [json] })

  const sent = encodeProtobuf(message, {
    ...role('b'), metadata: { name: 'b', labels: { 'kubernetes.io/arch': 'amd64' } }
  } as never)
  t.match(await server.call('POST', path, sent, { 'content-type': PROTOBUF }), {
    code: 201,
    json: { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { labels: { 'kubernetes.io/arch': 'amd64' } } }
  })
  t.match((await server.get(`${OURS}/namespaces/default/roles/b`)).json, {
    metadata: { labels: { 'orch.io/arch': 'amd64' } }, rules: [{ apiGroups: ['rbac.authorization.orch.io'] }]
  })
  t.match(
    await server.call(
      'POST', path,
      'apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: c, labels: {kubernetes.io/os: x}}\n',
      { 'content-type': 'application/yaml' }
    ),
    { code: 201, json: { metadata: { labels: { 'kubernetes.io/os': 'x' } } } }
  )

  t.match((await server.get('/api/v1/namespaces?includeObject=Object', TABLE)).json.rows[3], {
    cells: ['kube-system', 'Active'], object: { metadata: { name: 'kube-system' } }
  })
  t.match((await server.get(`${path}/a`, TABLE)).json.rows[0], {
    cells: ['a'], object: { metadata: { labels: { 'kubernetes.io/os': 'linux' } } }
  })
  t.match(
    (await server.get(`${path}/a`, { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' })).json,
    { apiVersion: 'meta.k8s.io/v1', metadata: { labels: { 'kubernetes.io/os': 'linux' } } }
  )
  t.match((await server.get('/api/v1/nodes?labelSelector=x', TABLE)).json, { kind: 'Table' })
  await server.post('/api/v1/nodes', {
    metadata: { name: 'n', labels: { 'node-role.kubernetes.io/control-plane': '' } }
  })
  t.equal((await server.get('/api/v1/nodes', TABLE)).json.rows[0].cells[2], 'control-plane', 'cells read our names')
})

t.test('patches and apply', async t => {
  const server = await compat(t)
  const path = `${PUBLIC}/namespaces/default/roles`
  const fields = async (): Promise<string> =>
    JSON.stringify((await server.get(`${OURS}/namespaces/default/roles/a`)).json.metadata.managedFields)
  const apply = async (manager: string, body: Json, query = '') => await server.call(
    'PATCH', `${path}/a?fieldManager=${manager}${query}`, body, { 'content-type': 'application/apply-patch+yaml' }
  )
  const applied = await apply('one', role('a'))
  t.equal(applied.code, 201)
  t.match(applied.json.metadata.managedFields, [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      fieldsV1: { 'f:metadata': { 'f:labels': { 'f:kubernetes.io/os': {} } } }
    }
  ])
  t.match(await fields(), /"apiVersion":"rbac.authorization.orch.io\/v1".*"f:orch.io\/os"/)
  t.match(
    await apply('two', role('a', { metadata: { name: 'a', labels: { 'kubernetes.io/os': 'other' } } })),
    { code: 409, json: { message: /conflict with "one".*\.metadata\.labels\.kubernetes\.io\/os/ } }
  )
  t.strictSame(
    (await apply(
      'one', role('a', { metadata: { name: 'a', labels: { 'kubernetes.io/arch': 'x' } } })
    )).json.metadata.labels,
    { 'kubernetes.io/arch': 'x' }
  )
  for (const [type, body] of [
    ['application/merge-patch+json', { metadata: { labels: { 'kubernetes.io/arch': null, 'kubernetes.io/os': 'a' } } }],
    ['application/strategic-merge-patch+json', { metadata: { labels: { 'kubernetes.io/os': 'b' } } }],
    [
      'application/json-patch+json',
      [
        { op: 'test', path: '/metadata/labels/kubernetes.io~1os', value: 'b' },
        { op: 'replace', path: '/metadata/labels/kubernetes.io~1os', value: 'c' }
      ]
    ]
  ] as const) t.equal((await server.patch(`${path}/a`, body, type)).code, 200, type)
  t.strictSame((await server.get(`${path}/a`)).json.metadata.labels, { 'kubernetes.io/os': 'c' })
  t.strictSame((await server.get(`${OURS}/namespaces/default/roles/a`)).json.metadata.labels, { 'orch.io/os': 'c' })
})

t.test('merge keys and directives of strategic merge patches are public names', async t => {
  const server = await compat(t)
  const labels = { 'kubernetes.io/os': 'linux', 'topology.kubernetes.io/zone': 'a', other: 'b' }
  const spread = (topologyKey: string, maxSkew: number): Json => ({
    topologyKey, maxSkew, whenUnsatisfiable: 'DoNotSchedule'
  })
  const spec = {
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'kube-api-access-x', emptyDir: {} }, { name: 'v', emptyDir: {} }],
    topologySpreadConstraints: [spread('topology.kubernetes.io/zone', 1), spread('kubernetes.io/hostname', 1)]
  }
  const pods = '/api/v1/namespaces/default/pods'
  await server.post(pods, {
    metadata: {
      name: 'p', labels, finalizers: ['kubernetes.io/pvc-protection', 'example.com/a', 'foregroundDeletion']
    },
    spec
  })
  const patched = async (patch: Json): Promise<Json> => {
    const { code, json, body } = await server.call('PATCH', `${pods}/p?dryRun=All`, patch, {
      'content-type': 'application/strategic-merge-patch+json'
    })
    t.ok(code === 200 || code === 422, body) // most of a pod may not change
    return code === 200 ? json : { message: json.message }
  }
  t.strictSame(
    (await patched({
      metadata: { labels: { $retainKeys: ['kubernetes.io/os', 'topology.kubernetes.io/zone'] } }
    }))['metadata'].labels,
    { 'kubernetes.io/os': 'linux', 'topology.kubernetes.io/zone': 'a' }
  )
  t.strictSame(
    (await patched({ metadata: { labels: { $patch: 'replace', 'kubernetes.io/os': 'x' } } }))['metadata'].labels,
    { 'kubernetes.io/os': 'x' }
  )
  t.strictSame(
    (await patched({
      metadata: { '$deleteFromPrimitiveList/finalizers': ['kubernetes.io/pvc-protection'] }
    }))['metadata'].finalizers,
    ['example.com/a', 'foregroundDeletion']
  )
  t.strictSame(
    (await patched({
      metadata: {
        finalizers: ['example.com/a'],
        '$setElementOrder/finalizers': ['foregroundDeletion', 'example.com/a', 'kubernetes.io/pvc-protection']
      }
    }))['metadata'].finalizers,
    ['foregroundDeletion', 'example.com/a', 'kubernetes.io/pvc-protection']
  )
  const template = { metadata: { labels: { app: 'a' } }, spec }
  const deployments = '/apis/apps/v1/namespaces/default/deployments'
  await server.post(deployments, {
    metadata: { name: 'd' }, spec: { selector: { matchLabels: { app: 'a' } }, template }
  })
  const inTemplate = async (change: Json): Promise<Json> => {
    const { json, body } = await server.call(
      'PATCH', `${deployments}/d?dryRun=All`, { spec: { template: { spec: change } } },
      { 'content-type': 'application/strategic-merge-patch+json' }
    )
    t.match(json, { kind: 'Deployment' }, body)
    return json['spec'].template.spec
  }
  t.match(
    (await inTemplate({
      topologySpreadConstraints: [spread('topology.kubernetes.io/zone', 5)]
    }))['topologySpreadConstraints'],
    [spread('topology.kubernetes.io/zone', 5), spread('kubernetes.io/hostname', 1)]
  )
  t.match(
    (await inTemplate({
      topologySpreadConstraints: [
        { topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule', $patch: 'delete' }
      ]
    }))['topologySpreadConstraints'],
    [spread('kubernetes.io/hostname', 1)]
  )
  const ordered = await inTemplate({
    volumes: [{ name: 'kube-api-access-x' }], '$setElementOrder/volumes': [{ name: 'v' }, { name: 'kube-api-access-x' }]
  })
  t.match(ordered['volumes'], [{ name: 'v' }, { name: 'kube-api-access-x' }])
})

t.test('watches', async t => {
  const server = await listen(t, { compatNames: true })
  const watch = async (path: string, headers = {}) => await Watch.open(
    t, `${server.url}${path}?watch=1&labelSelector=${path.includes('orch') ? 'orch' : 'kubernetes'}.io/os`, headers
  )
  const [stock, ours, table] = [
    await watch(`${PUBLIC}/roles`), await watch(`${OURS}/roles`), await watch(`${PUBLIC}/roles`, TABLE)
  ]
  await server.post(`${PUBLIC}/namespaces/default/roles`, role('a'))
  await server.delete(`${OURS}/namespaces/default/roles/a`)
  t.match(await stock.take(2), [
    {
      type: 'ADDED',
      object: { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { labels: { 'kubernetes.io/os': 'linux' } } }
    },
    { type: 'DELETED', object: { apiVersion: 'rbac.authorization.k8s.io/v1' } }
  ])
  t.match(await ours.take(2), [
    {
      type: 'ADDED',
      object: { apiVersion: 'rbac.authorization.orch.io/v1', metadata: { labels: { 'orch.io/os': 'linux' } } }
    },
    { type: 'DELETED' }
  ])
  t.match(await table.take(1), [
    { object: { kind: 'Table', rows: [{ object: { metadata: { labels: { 'kubernetes.io/os': 'linux' } } } }] } }
  ])
})

t.test('discovery and OpenAPI', async t => {
  const server = await compat(t)
  const groups = (await server.get('/apis')).json.groups as Json[]
  t.match(groups.find(({ name }) => name === 'rbac.authorization.k8s.io'), {
    preferredVersion: { groupVersion: 'rbac.authorization.k8s.io/v1' }
  })
  t.notMatch((await server.get('/apis')).body, 'orch.io')
  t.notMatch((await server.get('/apis', OWN)).body, 'k8s.io')
  t.match((await server.get(PUBLIC)).json, { groupVersion: 'rbac.authorization.k8s.io/v1', resources: { length: 4 } })
  t.match((await server.get(OURS)).json, { groupVersion: 'rbac.authorization.orch.io/v1' })
  t.match((await server.get('/apis/rbac.authorization.k8s.io')).json, { name: 'rbac.authorization.k8s.io' })
  t.match(
    (await server.get('/api/v1')).json.resources.find(({ name }: Json) => name === 'serviceaccounts/token'),
    { group: 'authentication.k8s.io' }
  )
  t.ok((await server.get('/')).json.paths.includes(PUBLIC))

  const v2 = (await server.get('/openapi/v2')).json
  t.match(v2.paths[`${PUBLIC}/namespaces/{namespace}/roles`].get, {
    'x-kubernetes-group-version-kind': { group: 'rbac.authorization.k8s.io', kind: 'Role', version: 'v1' },
    responses: { 200: { schema: { $ref: '#/definitions/io.k8s.api.rbac.v1.RoleList' } } }
  })
  t.match(v2.definitions['io.k8s.api.rbac.v1.Role']['x-kubernetes-group-version-kind'], [
    { group: 'rbac.authorization.k8s.io' }
  ])
  const ofSchemas = v2.definitions['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps']
  t.ok(ofSchemas.properties['x-kubernetes-int-or-string'])
  for (const sign of ['orch.io', 'io.orch', 'vnd.orch', 'x-orch']) t.notMatch(JSON.stringify(v2), sign)
  const index = (await server.get('/openapi/v3')).json.paths as Record<string, { serverRelativeURL: string }>
  const url = index['apis/rbac.authorization.k8s.io/v1']?.serverRelativeURL ?? ''
  const v3 = await server.get(url)
  t.match(v3.json.paths, { [`${PUBLIC}/clusterroles`]: {} })
  t.notMatch(v3.body, /orch\.io|io\.orch|vnd\.orch|x-orch/)
  t.match((await server.get(`/openapi/v3${OURS}`)).json.paths, { [`${OURS}/clusterroles`]: {} })
  t.notMatch((await server.get('/openapi/v2', OWN)).body, '"io.k8s')
})

const users = (...names: string[]) => ({
  authenticators: [
    {
      name: 'test',
      authenticate: ({ headers }: { headers: Json }) => names.includes(headers['x-user'] as string)
        ? {
            username: headers['x-user'] as string,
            uid: '',
            groups: headers['x-user'] === 'root' ? ['system:masters'] : [],
            extra: {}
          }
        : undefined
    }
  ]
})
const as = (user: string) => ({ 'x-user': user })

t.test('a request is authorized under our names, whatever it calls them', async t => {
  const asked: Json[] = []
  const server = await compat(t, {
    authentication: users('root', 'ann', 'system:kube-scheduler', 'system:orch-scheduler'),
    authorization: {
      authorizers: [
        {
          name: 'note',
          authorize: ({ user, info }: Json) => {
            asked.push({
              user: user.username, group: info.group, namespace: info.namespace, name: info.name, path: info.path
            })
            return { decision: 'NoOpinion' }
          }
        }
      ],
      modes: ['RBAC']
    }
  } as never)
  const dns = 'system:kube-dns'
  await server.post(
    `${PUBLIC}/namespaces/kube-system/roles`,
    role('reader', {
      rules: [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], resourceNames: [dns], verbs: ['get'] }]
    }),
    as('root')
  )
  await server.post(
    `${PUBLIC}/namespaces/kube-system/rolebindings`,
    {
      metadata: { name: 'b' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }]
    },
    as('root')
  )
  await server.post(`${PUBLIC}/namespaces/kube-system/roles`, role(dns), as('root'))
  asked.length = 0
  t.equal((await server.get(`${PUBLIC}/namespaces/kube-system/roles/${dns}`, as('ann'))).code, 200)
  t.equal((await server.get(`${OURS}/namespaces/orch-system/roles/system:orch-dns`, as('ann'))).code, 200)
  t.strictSame(asked.map(({ group, namespace, name }) => [group, namespace, name]), [
    ['rbac.authorization.orch.io', 'orch-system', 'system:orch-dns'],
    ['rbac.authorization.orch.io', 'orch-system', 'system:orch-dns']
  ])
  t.match(await server.get(`${PUBLIC}/namespaces/orch-system/roles/${dns}`, as('ann')), { code: 403 })
  for (const path of [
    `${PUBLIC}/namespaces/kube-system/roles/system:orch-dns`, `${OURS}/namespaces/kube-system/roles/system:orch-dns`,
    '/apis/rbac.authorization.%6b8s.io/v1/namespaces/kube-system/secrets/x'
  ]) {
    t.equal((await server.get(path, as('ann'))).code, 403, path)
  }
  t.match(await server.get(`${PUBLIC}/namespaces/kube-public/roles/a`, as('ann')), {
    code: 403,
    json: {
      message: /cannot get resource "roles" in API group "rbac.authorization.k8s.io" in the namespace "kube-public"/,
      details: { group: 'rbac.authorization.k8s.io' }
    }
  })

  const mayI = async (user: string, resourceAttributes: Json): Promise<boolean> => (await server.post(
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: { resourceAttributes } }, as(user)
  )).json.status.allowed as boolean
  t.equal(
    await mayI('ann', {
      group: 'rbac.authorization.k8s.io', resource: 'roles', verb: 'get', namespace: 'kube-system', name: dns
    }),
    true
  )
  t.equal(
    await mayI('ann', {
      group: 'rbac.authorization.orch.io', resource: 'roles', verb: 'get', namespace: 'kube-system', name: dns
    }),
    false
  )
  for (const user of ['system:kube-scheduler', 'system:orch-scheduler']) {
    t.equal(await mayI(user, { resource: 'nodes', verb: 'list' }), true, user)
  }
  const impersonated = await server.post(
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    { spec: { resourceAttributes: { resource: 'pods', verb: 'list' } } },
    { ...as('root'), 'impersonate-user': 'system:serviceaccount:kube-system:namespace-controller' }
  )
  t.match(impersonated.json, { apiVersion: 'authorization.k8s.io/v1', status: { allowed: true } })
  t.match(
    (await server.post(
      '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: { namespace: 'kube-system' } }, as('ann')
    )).json.status.resourceRules,
    [{}]
  )
})

t.test('tokens have public claims, and are taken with either', async t => {
  const server = await compat(t)
  await server.post('/api/v1/namespaces/kube-system/serviceaccounts', { metadata: { name: 'robot' } })
  const { json } = await server.post('/api/v1/namespaces/kube-system/serviceaccounts/robot/token', {
    apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {}
  })
  t.equal(json.apiVersion, 'authentication.k8s.io/v1')
  const [, payload = ''] = (json.status.token as string).split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Json
  t.match(claims, {
    sub: 'system:serviceaccount:kube-system:robot',
    'kubernetes.io': { namespace: 'kube-system', serviceaccount: { name: 'robot' } }
  })
  t.notOk('orch.io' in claims)
  const review = async (path: string) => (await server.post(path, { spec: { token: json.status.token } })).json.status
  t.match(await review('/apis/authentication.k8s.io/v1/tokenreviews'), {
    authenticated: true,
    user: {
      username: 'system:serviceaccount:kube-system:robot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated']
    }
  })
  t.match(await review('/apis/authentication.orch.io/v1/tokenreviews'), {
    authenticated: true, user: { username: 'system:serviceaccount:orch-system:robot' }
  })
})

t.test('webhooks are called under public names, and their patches read so', async t => {
  const seen: Json[] = []
  const hook = await hookServer(t, review => {
    seen.push(review)
    return {
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify([
        { op: 'add', path: '/metadata/labels/kubernetes.io~1arch', value: 'amd64' }
      ])).toString('base64')
    }
  })
  const server = await compat(t)
  await server.post('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
    metadata: { name: 'h' },
    webhooks: [
      {
        name: 'h.example.com',
        clientConfig: { url: hook.url, caBundle },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        rules: [
          {
            operations: ['CREATE'], apiGroups: ['rbac.authorization.k8s.io'], apiVersions: ['v1'], resources: ['roles']
          }
        ],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } }
      }
    ]
  })
  for (const [path, name] of [
    [`${PUBLIC}/namespaces/kube-system`, 'a'], [`${OURS}/namespaces/orch-system`, 'b']
  ] as const) {
    const body = role(
      name,
      path.startsWith(OURS)
        ? {
            apiVersion: 'rbac.authorization.orch.io/v1', metadata: { name, labels: { 'orch.io/os': 'linux' } },
            rules: []
          }
        : {}
    )
    t.equal((await server.post(`${path}/roles`, body)).code, 201)
  }
  t.equal(seen.length, 2)
  for (const review of seen) {
    t.match(review, {
      apiVersion: 'admission.k8s.io/v1',
      request: {
        kind: { group: 'rbac.authorization.k8s.io' },
        resource: { group: 'rbac.authorization.k8s.io' },
        namespace: 'kube-system',
        object: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          metadata: { namespace: 'kube-system', labels: { 'kubernetes.io/os': 'linux' } }
        },
        options: { apiVersion: 'meta.k8s.io/v1' }
      }
    })
    t.notMatch(JSON.stringify(review), 'orch')
  }
  for (const name of ['a', 'b']) {
    t.match((await server.get(`${OURS}/namespaces/orch-system/roles/${name}`)).json.metadata.labels, {
      'orch.io/os': 'linux', 'orch.io/arch': 'amd64'
    })
  }
})

t.test('extension servers and node agents are called under public names', async t => {
  const metrics = await extensionServer(t)
  metrics.instead = (_request, raw) => {
    raw.setHeader('content-type', 'application/json').end(
      '{"kind":"PodMetrics","metadata":{"namespace":"kube-system"}}'
    )
    return true
  }
  const agent = await nodeAgent(t, { request: (_request, response) => { response.end('said') } })
  const server = await compat(t, {
    outbound, connections: callingAgent(agent), authentication: users('system:serviceaccount:kube-system:robot')
  })
  t.match(await register(server, metrics.port, { group: 'metrics.orch.io', version: 'v1beta1' }), { status: 'True' })
  t.match(metrics.asked[0], {
    url: '/apis/metrics.k8s.io/v1beta1', headers: { 'x-remote-user': 'system:kube-aggregator' }
  })
  t.match((await server.get('/apis')).json.groups.find(({ name }: Json) => name === 'metrics.k8s.io'), {
    versions: [{ groupVersion: 'metrics.k8s.io/v1beta1' }]
  })
  metrics.asked.length = 0
  await server.get('/apis', { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' })
  t.same(
    metrics.asked.map(({ url }) => url), ['/apis', '/apis/metrics.k8s.io/v1beta1'],
    'it has no document of all groups, and is asked the old way'
  )
  metrics.asked.length = 0
  for (const path of [
    '/apis/metrics.k8s.io/v1beta1/namespaces/kube-system/pods?labelSelector=kubernetes.io%2Fos',
    '/apis/metrics.orch.io/v1beta1/namespaces/orch-system/pods?labelSelector=orch.io%2Fos'
  ]) {
    t.match(await server.get(path, as('system:serviceaccount:kube-system:robot')), {
      code: 200, json: { metadata: { namespace: 'kube-system' } }
    })
  }
  t.equal(metrics.asked.length, 2)
  for (const asked of metrics.asked) {
    t.match(asked, {
      url: '/apis/metrics.k8s.io/v1beta1/namespaces/kube-system/pods?labelSelector=kubernetes.io%2Fos',
      headers: { 'x-remote-user': 'system:serviceaccount:kube-system:robot' }
    })
  }

  await withPod(server, agent.port, { name: 'kubernetes' })
  t.equal((await server.get('/api/v1/namespaces/default/pods/kubernetes/log')).body, 'said')
  t.equal((await agent.next()).url, '/containerLogs/default/kubernetes/main')
})

t.test('the audit log has our names, and the URL as the client sent it', async t => {
  const path = join(t.testdir(), 'audit.log')
  const server = await compat(t, {
    audit: {
      path,
      policy: {
        apiVersion: 'audit.orch.io/v1',
        kind: 'Policy',
        metadata: {},
        omitStages: ['RequestReceived'],
        rules: [{ level: 'RequestResponse', resources: [{ group: 'rbac.authorization.orch.io' }] }]
      }
    }
  })
  const roles = `${PUBLIC}/namespaces/kube-system/roles`
  await server.post(roles, role('a'))
  await server.patch(`${roles}/a`, { metadata: { labels: { 'kubernetes.io/os': null } } })
  for (const [query, accept] of [
    ['/a', '*/*'], ['/a', PROTOBUF], ['/a', 'application/yaml'], ['/a?pretty=1', '*/*'], ['/a', TABLE.accept],
    ['', '*/*'], ['', TABLE.accept], ['', PROTOBUF]
  ] as const) {
    t.equal((await server.get(`${roles}${query}`, { accept })).code, 200)
  }
  await server.get(`${roles}/none`)
  await server.app.close()
  const events = readFileSync(path, 'utf8').split('\n').filter(Boolean).map(line => JSON.parse(line) as Json)
  t.equal(events.length, 11)
  for (const { requestURI, objectRef, requestObject, responseObject } of events) {
    t.match(requestURI, roles)
    t.match(objectRef, { apiGroup: 'rbac.authorization.orch.io', namespace: 'orch-system' })
    t.notMatch(
      JSON.stringify([requestObject, responseObject]).replaceAll('meta.k8s.io', ''), /k8s\.io|kubernetes\.io\/os/
    )
  }
})

t.test('hostile values in renamed fields do no harm and stay unchanged', async t => {
  const server = await compat(t)
  const deep = (text: string): string => `${text}${'['.repeat(200_000)}${']'.repeat(200_000)}`
  const kept = (fields: Json): Json => ({
    metadata: {
      name: 'a',
      managedFields: [
        {
          manager: 'm',
          operation: 'Update',
          apiVersion: 'v1',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:metadata': fields }
        }
      ]
    }
  })
  const maps = '/api/v1/namespaces/default/configmaps'
  for (const [path, body] of [
    [
      '/apis/apps/v1/namespaces/default/deployments',
      {
        metadata: { name: 'a' },
        spec: { selector: { matchExpressions: [{ key: { toString: 1, valueOf: 1 }, values: [] }] } }
      }
    ],
    [maps, { metadata: { name: 'system:serviceaccounts:'.repeat(100_000) } }],
    [maps, kept({ 'f:ownerReferences': { [deep('k:')]: {} } })], [maps, kept({ 'f:finalizers': { [deep('v:')]: {} } })]
  ] as const) t.ok((await server.post(path, body)).code < 500, path)

  const containers = [{ name: 'kubernetes', image: 'registry.k8s.io/kube-proxy:v1' }]
  const labels = { 'kubernetes.io/os': 'orch' }
  await server.post('/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'kubernetes' },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } }
  })
  const cells = async (path: string): Promise<unknown> => (await server.get(path, TABLE)).json.rows[0].cells
  t.strictSame(
    ((await cells('/apis/apps/v1/namespaces/default/deployments')) as string[]).filter(cell => /[a-z]{3}/.test(cell)),
    ['kubernetes', 'kubernetes', 'registry.k8s.io/kube-proxy:v1', 'kubernetes.io/os=orch']
  )
  await server.post('/api/v1/namespaces/default/events', {
    metadata: { name: 'e', namespace: 'default' },
    involvedObject: { kind: 'Service', name: 'kubernetes', namespace: 'default' },
    reason: 'orch',
    message: 'orch-system and kubernetes',
    source: { component: 'kube-proxy' },
    type: 'Normal'
  })
  t.match(
    await cells('/api/v1/namespaces/default/events?fieldSelector=source=kube-proxy,involvedObject.name=kubernetes'),
    ['<unknown>', 'Normal', 'orch', 'service/kubernetes', '', 'kube-proxy', 'orch-system and kubernetes']
  )
  await server.post('/apis/storage.k8s.io/v1/storageclasses', {
    metadata: { name: 's', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'kubernetes.io/no-provisioner'
  })
  t.match(await cells('/apis/storage.k8s.io/v1/storageclasses'), ['s (default)', 'kubernetes.io/no-provisioner'])
  await server.post('/api/v1/namespaces/default/persistentvolumeclaims', {
    metadata: { name: 'p', annotations: { 'volume.beta.kubernetes.io/storage-class': 'orch' } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } }
  })
  t.equal(((await cells('/api/v1/namespaces/default/persistentvolumeclaims')) as string[])[5], 'orch')
  await server.post('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', {
    metadata: { name: 'h' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'kubernetes' },
      maxReplicas: 2,
      metrics: [
        { type: 'Resource', resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 7 } } }
      ]
    }
  })
  for (const version of ['v1', 'v2']) {
    t.match(
      await cells(`/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`),
      ['h', 'Deployment/kubernetes', '<unknown>/7%'], version
    )
  }
})

t.test('a definition keeps its extensions at every depth, and the data in it', async t => {
  const server = await compat(t)
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const keyed = { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }
  const port = { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }
  const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const item = { type: 'object', required: ['name'], properties: { name: { type: 'string' }, port } }
  const atomic = { type: 'array', 'x-kubernetes-list-type': 'atomic', items: free }
  const example = { 'x-orch-map-type': 'x' }
  const schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          'x-orch-map-type': { type: 'string' },
          list: { ...keyed, items: item },
          map: { type: 'object', additionalProperties: atomic },
          any: { type: 'array', items: { ...free, default: { 'x-kubernetes-map-type': 'kube-system' }, example } }
        }
      }
    }
  }
  const sent = {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Thing', plural: 'things' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }]
    }
  }
  const created = await server.post(`${definitions}?fieldValidation=Strict`, sent)
  t.equal(created.code, 201, created.body)
  t.strictSame(created.json['spec'].versions[0].schema.openAPIV3Schema, schema)
  const stored = await server.get(`${definitions.replace('k8s', 'orch')}/things.example.com`)
  t.notMatch(stored.body, /"x-kubernetes-(?!map-type":"kube-system")/)
  await established(server, 'things.example.com')
  const list = [{ name: 'a', port: 'http' }, { name: 'b', port: 5 }]
  const values = { list, map: { k: [{ free: true }] }, any: [{ b: { c: 1 } }] }
  const object = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, spec: values }
  const made = await server.post('/apis/example.com/v1/namespaces/default/things?fieldValidation=Strict', object)
  t.match(made, { code: 201, json: { spec: values } }, made.body)
  const { spec } = (await server.get('/openapi/v2')).json['definitions']['com.example.v1.Thing'].properties
  t.ok(spec.properties['x-orch-map-type'], 'names of properties are their own in OpenAPI too')
  t.strictSame(spec.properties.any.items.example, { 'x-orch-map-type': 'x' })
  const at = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties'
  const patched = await server.patch(`${definitions}/things.example.com`, [
    { op: 'test', path: `${at}/any/items/x-kubernetes-preserve-unknown-fields`, value: true },
    { op: 'add', path: `${at}/map/additionalProperties/items/x-kubernetes-embedded-resource`, value: true }
  ], 'application/json-patch+json')
  t.match(patched.body, '"x-kubernetes-embedded-resource":true')
})

t.test('a type may be called kubernetes', async t => {
  const server = await compat(t)
  const schema = {
    openAPIV3Schema: {
      type: 'object', properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    }
  }
  const additionalPrinterColumns = [
    { name: 'Of', type: 'string', jsonPath: '.spec.of' },
    { name: 'OS', type: 'string', jsonPath: '.metadata.labels.kubernetes\\.io/os' }
  ]
  t.equal(
    (await server.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'kubernetes.example.com' },
      spec: {
        group: 'example.com',
        names: { kind: 'Kubernetes', plural: 'kubernetes' },
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, storage: true, schema, additionalPrinterColumns }]
      }
    })).code,
    201
  )
  const path = '/apis/example.com/v1/namespaces/kube-system/kubernetes'
  const object = {
    apiVersion: 'example.com/v1',
    kind: 'Kubernetes',
    metadata: { name: 'kubernetes', labels: { 'kubernetes.io/os': 'linux' } },
    spec: { of: 'kube-system' }
  }
  await established(server, 'kubernetes.example.com')
  t.match(await server.post(path, object), { code: 201, json: object })
  t.match(
    (await server.get('/apis/example.com/v1/namespaces/orch-system/kubernetes/kubernetes', OWN)).json,
    { metadata: { name: 'kubernetes' }, spec: { of: 'kube-system' } }
  )
  t.strictSame((await server.get(path, TABLE)).json.rows[0].cells, ['kubernetes', 'kube-system', 'linux'])
  t.equal((await server.get('/apis/example.com/v1')).json.resources[0].name, 'kubernetes')
})

t.test('node agents must not set labels of the system under any name', async t => {
  const server = await compat(t, {
    authentication: {
      authenticators: [
        {
          name: 'test',
          authenticate: () => ({
            username: 'system:node:n', uid: '', groups: ['system:nodes', 'system:masters'], extra: {}
          })
        }
      ]
    },
    admission: { enabled: ['NodeRestriction'] }
  } as never)
  const create = async (label: string): Promise<Json> =>
    await server.call('POST', '/api/v1/nodes?dryRun=All', { metadata: { name: 'n', labels: { [label]: 'x' } } })
  for (const label of [
    'node-restriction.kubernetes.io/a', 'tenants.node-restriction.kubernetes.io/a', 'node-role.kubernetes.io/a',
    'other.kubernetes.io/a', 'k8s.io/a', 'orch.io/a'
  ]) {
    t.match(await create(label), { code: 403, json: { message: label } }, label)
  }
  for (const label of [
    'kubernetes.io/hostname', 'node.kubernetes.io/instance-type', 'node.kubernetes.io/a', 'kubelet.kubernetes.io/a',
    'topology.kubernetes.io/zone', 'example.com/a'
  ]) {
    t.equal((await create(label))['code'], 201, label)
  }
})
