/**
 * Interface, 'ClusterRoleBinding' and 'ClusterRoleBindingList': each field, its type, whether it is required, its
 * rules.
 */
import t from 'tap'
import { BINDINGS, build, binding, type Client, type Json } from '../build.js'

const GROUP = 'rbac.authorization.orch.io'
const roleRef = { apiGroup: GROUP, kind: 'ClusterRole', name: 'view' }

async function refused (
  t: {
    equal: (found: unknown, wanted: unknown, title: string) => unknown
    ok: (found: unknown, title: string) => unknown
  },
  server: Client,
  body: Json,
  field: string,
  type?: string
): Promise<void> {
  const { code, json } = await server.post(BINDINGS, { metadata: { name: 'refused' }, ...body })
  t.equal(code, 422, field)
  t.equal(json.reason, 'Invalid', field)
  const causes = (json.details?.causes ?? []) as Json[]
  t.ok(
    causes.some(cause => cause.field === field && (type === undefined || cause.reason === type)),
    `${field} ${type ?? ''}: ${JSON.stringify(causes)}`
  )
}

t.test('apiVersion and kind are those of the type, and are filled in if omitted', async t => {
  const server = await build(t)
  t.match((await server.post(BINDINGS, { metadata: { name: 'a' }, roleRef })).json, {
    apiVersion: `${GROUP}/v1`, kind: 'ClusterRoleBinding'
  })
  for (const wrong of [
    { apiVersion: 'v1' }, { apiVersion: `${GROUP}/v1beta1` }, { kind: 'RoleBinding' }, { kind: 'clusterrolebinding' }
  ]) {
    t.equal((await server.post(BINDINGS, { ...binding('b'), ...wrong })).code, 400, JSON.stringify(wrong))
  }
})

t.test('roleRef is required with all its fields, and can only be a ClusterRole', async t => {
  const server = await build(t)
  await refused(t, server, {}, 'roleRef.name', 'FieldValueRequired')
  for (const name of ['apiGroup', 'kind', 'name']) {
    const { [name]: _, ...rest } = roleRef as Json
    const finding = name === 'kind' ? 'FieldValueNotSupported' : 'FieldValueRequired'
    await refused(t, server, { roleRef: rest }, `roleRef.${name}`, finding)
    await refused(t, server, { roleRef: { ...roleRef, [name]: '' } }, `roleRef.${name}`, finding)
  }
  await refused(t, server, { roleRef: { ...roleRef, kind: 'Role' } }, 'roleRef.kind')
  await refused(t, server, { roleRef: { ...roleRef, apiGroup: 'other.example' } }, 'roleRef.apiGroup')
  t.same((await server.post(BINDINGS, { metadata: { name: 'a' }, roleRef })).json.roleRef, roleRef)
  t.equal(
    (await server.post(BINDINGS, { metadata: { name: 'b' }, roleRef: { ...roleRef, name: 'not-there-at-all' } })).code,
    201, 'a binding to a missing role is valid; the authorizer reports it'
  )
})

t.test('subjects are not required; kind and name of each are', async t => {
  const server = await build(t)
  t.equal((await server.post(BINDINGS, { metadata: { name: 'none' }, roleRef })).json.subjects, undefined)
  t.equal((await server.post(BINDINGS, { metadata: { name: 'empty' }, roleRef, subjects: [] })).code, 201)
  await refused(t, server, { roleRef, subjects: [{ name: 'ann' }] }, 'subjects[0].kind')
  await refused(
    t, server, { roleRef, subjects: [{ kind: 'User', name: 'ann' }, { kind: 'User' }] }, 'subjects[1].name',
    'FieldValueRequired'
  )
  await refused(t, server, { roleRef, subjects: [{ kind: 'Robot', name: 'r' }] }, 'subjects[0].kind')
})

t.test('apiGroup of a subject defaults by its kind', async t => {
  const server = await build(t)
  const { json } = await server.post(BINDINGS, {
    metadata: { name: 'a' },
    roleRef,
    subjects: [
      { kind: 'User', name: 'ann' },
      { kind: 'Group', name: 'crew' },
      { kind: 'ServiceAccount', name: 'robot', namespace: 'default' }
    ]
  })
  t.same(json.subjects, [
    { kind: 'User', apiGroup: GROUP, name: 'ann' },
    { kind: 'Group', apiGroup: GROUP, name: 'crew' },
    { kind: 'ServiceAccount', name: 'robot', namespace: 'default' }
  ])
  t.equal(
    (await server.put(`${BINDINGS}/a`, {
      ...json, subjects: [{ kind: 'User', name: 'bea' }]
    })).json.subjects[0].apiGroup,
    GROUP,
    'of an update too'
  )
  t.equal(
    (await server.patch(`${BINDINGS}/a`, { subjects: [{ kind: 'Group', name: 'g' }] })).json.subjects[0].apiGroup,
    GROUP, 'and of a patch'
  )
  await refused(
    t, server, { roleRef, subjects: [{ kind: 'User', name: 'ann', apiGroup: 'other.example' }] }, 'subjects[0].apiGroup'
  )
  await refused(
    t, server,
    { roleRef, subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default', apiGroup: GROUP }] },
    'subjects[0].apiGroup'
  )
})

t.test(
  'namespace: a service account has one; on users and groups it is stored, and the authorizer\'s error', async t => {
    const server = await build(t)
    await refused(
      t, server, { roleRef, subjects: [{ kind: 'ServiceAccount', name: 'robot' }] }, 'subjects[0].namespace',
      'FieldValueRequired'
    )
    const { code, json } = await server.post(BINDINGS, {
      metadata: { name: 'a' },
      roleRef,
      subjects: [
        { kind: 'User', name: 'ann', namespace: 'default' }, { kind: 'Group', name: 'crew', namespace: 'default' }
      ]
    })
    t.equal(code, 201)
    t.same(json.subjects.map(({ namespace }: Json) => namespace), ['default', 'default'])
  }
)

t.test('an update keeps to the same rules, and the role stays', async t => {
  const server = await build(t)
  const { json } = await server.post(BINDINGS, binding('a'))
  for (const change of [
    { roleRef: { ...roleRef, name: 'edit' } }, { roleRef: { ...roleRef, kind: 'Role' } },
    { subjects: [{ kind: 'Robot', name: 'x' }] }, { subjects: [{ kind: 'User' }] }
  ]) {
    t.equal((await server.put(`${BINDINGS}/a`, { ...json, ...change })).code, 422, `PUT ${JSON.stringify(change)}`)
    t.equal((await server.patch(`${BINDINGS}/a`, change)).code, 422, `PATCH ${JSON.stringify(change)}`)
  }
  t.equal((await server.get(`${BINDINGS}/a`)).json.metadata.resourceVersion, json.metadata.resourceVersion)
})

t.test('the list has apiVersion, kind, ListMeta and items, which are always there', async t => {
  const server = await build(t)
  const empty = (await server.get(BINDINGS)).json
  t.same(Object.keys(empty).sort(), ['apiVersion', 'items', 'kind', 'metadata'])
  t.match(empty, {
    apiVersion: `${GROUP}/v1`, kind: 'ClusterRoleBindingList', metadata: { resourceVersion: /^\d+$/ }, items: []
  })
  t.same(empty.items, [])
  await server.post(BINDINGS, binding('a'))
  const { items } = (await server.get(BINDINGS)).json
  t.match(items, [
    { kind: 'ClusterRoleBinding', apiVersion: `${GROUP}/v1`, metadata: { name: 'a' }, roleRef: { name: 'view' } }
  ])
})
