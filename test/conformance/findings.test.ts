/** Where findings about metadata and core kinds are reported, and what is corrected silently, as upstream. */
import t from 'tap'
import { BINDINGS, binding, build, type Answer, type Json } from '../build.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const SECRETS = '/api/v1/namespaces/default/secrets'
const NAMESPACES = '/api/v1/namespaces'
const ROLES = '/apis/rbac.authorization.orch.io/v1/clusterroles'

/** `FieldValueInvalid metadata.finalizers`, in order. */
const causes = ({ json }: Answer): string[] =>
  ((json.details?.causes ?? []) as Json[]).map(({ reason, field }) => `${String(reason)} ${String(field)}`)

t.test('metadata', async t => {
  const server = await build(t)
  const create = (metadata: Json): Promise<Answer> =>
    server.post(CONFIGS, { metadata: { generateName: 'c-', ...metadata } })
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }
  const cases: ReadonlyArray<readonly [Json, string[]]> = [
    [
      { ownerReferences: [owner, {}] },
      ['apiVersion', 'kind', 'name', 'uid'].map(member => `FieldValueInvalid metadata.ownerReferences.${member}`)
    ],
    [
      { ownerReferences: [{ ...owner, apiVersion: 'a/b/c' }] },
      ['FieldValueInvalid metadata.ownerReferences.apiVersion']
    ],
    [
      { ownerReferences: [{ ...owner, controller: true }, { ...owner, uid: 'v', controller: true }] },
      ['FieldValueInvalid metadata.ownerReferences']
    ],
    [{ ownerReferences: [{ ...owner, kind: 'Event' }] }, ['FieldValueInvalid metadata.ownerReferences']],
    [{ finalizers: ['a b/c'] }, ['FieldValueInvalid metadata.finalizers']],
    [
      { finalizers: [''] },
      [
        'FieldValueInvalid metadata.finalizers', 'FieldValueInvalid metadata.finalizers',
        'FieldValueInvalid metadata.finalizers[0]'
      ]
    ],
    [{ finalizers: ['orphan', 'foregroundDeletion'] }, ['FieldValueInvalid metadata.finalizers']],
    [{ generation: -1 }, ['FieldValueInvalid metadata.generation']]
  ]
  for (const [metadata, wanted] of cases) {
    const answer = await create(metadata)
    t.equal(answer.code, 422, JSON.stringify(metadata))
    t.same(causes(answer), wanted, JSON.stringify(metadata))
  }
  const merged = await create({ ownerReferences: [owner, { ...owner }, { ...owner, name: 'q' }] })
  t.same(merged.json.metadata.ownerReferences, [owner, { ...owner, name: 'q' }], 'identical owners are one')
  t.match(merged.headers.warning, /duplicate/)
  t.match((await create({ generation: 7, clusterName: 'east' })).json.metadata, {
    generation: 7, clusterName: undefined
  })
})

t.test('a body null says nothing', async t => {
  const server = await build(t)
  const answer = await server.post(CONFIGS, 'null')
  t.match(answer, { code: 422, json: { reason: 'Invalid', details: { kind: 'ConfigMap' } } })
  t.same(causes(answer), ['FieldValueRequired metadata.name'])
  t.equal(answer.json.details.name, undefined)
})

t.test('an update names its object', async t => {
  const server = await build(t)
  await server.post(CONFIGS, { metadata: { name: 'a' } })
  for (const body of [{}, { metadata: {} }, { metadata: null }, 'null']) {
    t.equal((await server.put(`${CONFIGS}/a`, body)).code, 400, JSON.stringify(body))
  }
  t.equal(
    (await server.put(`${CONFIGS}/none`, { metadata: { name: 'none', uid: 'u' } })).code, 409,
    'with a uid, it is another object that is meant'
  )
  t.equal((await server.put(`${CONFIGS}/none`, { metadata: { name: 'none' } })).code, 404)
  t.equal((await server.put(`${BINDINGS}/none`, binding('none', { metadata: { uid: 'u' } }))).code, 409)
})

t.test('patches that do not fit', async t => {
  const server = await build(t)
  await server.post(CONFIGS, { metadata: { name: 'a' } })
  const patch = (body: Json[]): Promise<Answer> => server.patch(`${CONFIGS}/a`, body, 'application/json-patch+json')
  const undecodable = await patch([{ op: 'add', path: '/data', value: 'text' }])
  t.equal(undecodable.code, 422)
  t.same(causes(undecodable), ['FieldValueInvalid patch'])
  const misfit = await patch([{ op: 'remove', path: '/data/none' }])
  t.match(misfit, { code: 422, json: { reason: 'Invalid' } })
  t.same(causes(misfit), [])
})

t.test('namespaces', async t => {
  // plugins that read them too
  const server = await build(t, { admission: { enabled: ['NamespaceLifecycle', 'PodSecurity'] } })
  t.same(
    causes(await server.post(NAMESPACES, { metadata: { name: 'x' }, spec: { finalizers: ['a b', 'plain'] } })),
    ['FieldValueInvalid spec.finalizers', 'FieldValueInvalid spec.finalizers', 'FieldValueInvalid spec.finalizers']
  )
  const level = 'pod-security.orch.io/enforce'
  t.same(
    causes(await server.post(NAMESPACES, {
      metadata: { name: 'x', labels: { [level]: 'none', [`${level}-version`]: '1.24' } }
    })),
    [`FieldValueInvalid metadata.labels[${level}]`, `FieldValueInvalid metadata.labels[${level}-version]`]
  )
  t.equal(
    (await server.post(NAMESPACES, {
      metadata: { name: 'x', labels: { [level]: 'baseline', [`${level}-version`]: 'v1.24' } }
    })).code,
    201
  )
  t.same(causes(await server.patch(`${NAMESPACES}/x`, { metadata: { labels: { [level]: 'some' } } })), [
    `FieldValueInvalid metadata.labels[${level}]`
  ])
  t.same(causes(await server.patch(`${NAMESPACES}/x/status`, { status: { phase: 'Terminating' } })), [
    'FieldValueInvalid status.Phase'
  ])
  await server.post(`${NAMESPACES}/x/configmaps`, { metadata: { name: 'held', finalizers: ['example.com/hold'] } })
  const { json } = await server.delete(`${NAMESPACES}/x`)
  t.match(json, {
    metadata: { deletionTimestamp: String, deletionGracePeriodSeconds: undefined }, status: { phase: 'Terminating' }
  })
  await server.patch(`${NAMESPACES}/x/configmaps/held`, { metadata: { finalizers: null } })
})

t.test('secrets and config maps', async t => {
  const server = await build(t)
  const docker = (text: string): Promise<Answer> => server.post(SECRETS, {
    metadata: { generateName: 's-' }, type: 'orch.io/dockerconfigjson', stringData: { '.dockerconfigjson': text }
  })
  t.equal((await docker('{"auths":{}}')).code, 201)
  for (const text of ['[]', '"x"', '1', '{']) {
    t.same(causes(await docker(text)), ['FieldValueInvalid data[.dockerconfigjson]'], text)
  }
  t.same(
    causes(await server.post(CONFIGS, { metadata: { name: 'large' }, data: { a: 'x'.repeat(1024 * 1024 + 1) } })),
    ['FieldValueTooLong []']
  )
})

t.test('roles and bindings', async t => {
  const server = await build(t)
  t.equal((await server.post(ROLES, { metadata: { name: 'empty' }, rules: [] })).json.rules, null)
  t.equal((await server.get(`${ROLES}/empty`)).json.rules, null)
  const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' }
  t.same(
    causes(await server.post(BINDINGS, { metadata: { name: 'a' }, roleRef: { ...roleRef, kind: undefined } })),
    ['FieldValueNotSupported roleRef.kind']
  )
  t.same(
    causes(await server.post(BINDINGS, { metadata: { name: 'a' }, roleRef, subjects: [{ name: 'x' }] })),
    ['FieldValueNotSupported subjects[0].kind']
  )
  const account = { kind: 'ServiceAccount', name: 'x' }
  t.same(
    causes(await server.post(BINDINGS, { metadata: { name: 'a' }, roleRef, subjects: [account] })),
    ['FieldValueRequired subjects[0].namespace']
  )
  t.equal(
    (await server.post('/apis/rbac.authorization.orch.io/v1/namespaces/default/rolebindings', {
      metadata: { name: 'a' }, roleRef, subjects: [account]
    })).code,
    201,
    'there it is that of the binding'
  )
  const selector = { matchExpressions: [{ key: 'a b', operator: 'In' }] }
  const at = 'aggregationRule.clusterRoleSelectors[0]'
  t.same(causes(await server.post(ROLES, {
    metadata: { name: 'a' }, rules: [], aggregationRule: { clusterRoleSelectors: [selector] }
  })), [
    `FieldValueRequired ${at}.matchExpressions[0].values`, `FieldValueInvalid ${at}.matchExpressions[0].key`,
    `FieldValueInvalid ${at}`
  ])
})
