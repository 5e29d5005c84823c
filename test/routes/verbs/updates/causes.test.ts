/** Causes come once each, in the order of the declaration: metadata, fields, rules, immutable fields. */
import t from 'tap'
import { build, type Json } from '../../../build.js'
import { given } from './cases.js'

const fields = (json: Json): string[] => (json['details'].causes as Json[]).map(({ field }) => String(field))

t.test('of an update', async t => {
  const server = await build(t)
  const { url } = await given(server, 'rbac.authorization.orch.io/v1 rolebindings', {})
  const { code, json } = await server.patch(url, {
    metadata: { labels: { 'a b': 'c' }, finalizers: ['plain'] },
    roleRef: { apiGroup: 'x', kind: 'X', name: '' },
    subjects: [{ kind: 'User', name: '', apiGroup: 'x' }, { kind: 'X', name: 'a' }]
  })
  t.equal(code, 422)
  t.same(fields(json), [
    'metadata.labels', 'metadata.finalizers[0]', 'subjects[0].name', 'subjects[0].apiGroup', 'subjects[1].kind',
    'roleRef.name', 'roleRef.apiGroup', 'roleRef.kind', 'roleRef'
  ])
})

t.test('of a new object', async t => {
  const server = await build(t)
  const { code, json } = await server.post('/apis/certificates.orch.io/v1/certificatesigningrequests', {
    metadata: { name: 'a' }, spec: { signerName: 'x', usages: ['x', 'x'], request: 'eA==', expirationSeconds: 5 }
  })
  t.equal(code, 422)
  t.equal(
    new Set((json['details'].causes as Json[]).map(cause => JSON.stringify(cause))).size, json['details'].causes.length
  )
  t.same(
    new Set(fields(json)),
    new Set(['spec.request', 'spec.signerName', 'spec.usages[0]', 'spec.usages[1]', 'spec.expirationSeconds'])
  )
})

t.test('kinds of roles are those that a binding may name', async t => {
  const server = await build(t)
  for (const [place, kinds] of [
    ['clusterrolebindings', '"ClusterRole"'], ['rolebindings', '"Role", "ClusterRole"']
  ] as const) {
    const { url } = await given(server, `rbac.authorization.orch.io/v1 ${place}`, {})
    const { json } = await server.patch(url, { roleRef: { kind: 'X' } })
    t.equal(json['details'].causes[0].message, `Unsupported value: "X": supported values: ${kinds}`)
  }
})
