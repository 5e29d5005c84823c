/** SelfSubjectReview, which `kubectl auth whoami` sends. */
import t from 'tap'
import { build, PROTOBUF } from '../../build.js'

const REVIEWS = '/apis/authentication.orch.io/v1/selfsubjectreviews'
const BOB = { authorization: 'Bearer secret' }
const authentication = { tokens: 'secret,bob,1,dev\n' }
const review = { apiVersion: 'authentication.orch.io/v1', kind: 'SelfSubjectReview' }

t.test('a caller learns who the server takes it for', async t => {
  const server = await build(t, { emulatedVersion: '1.36', authentication, authorization: { modes: ['RBAC'] } })
  const { code, json } = await server.call('POST', REVIEWS, review, BOB)
  t.equal(code, 201)
  t.same(json.status, { userInfo: { username: 'bob', uid: '1', groups: ['dev', 'system:authenticated'] } })
  t.match(json, review)
  t.equal((await server.call('POST', REVIEWS, review)).code, 403, 'the default role is for users, not for everybody')
  t.match(await server.call('GET', REVIEWS, undefined, BOB), { code: 403 })
  const forms = await server.call('POST', REVIEWS, review, { ...BOB, accept: PROTOBUF })
  t.equal(forms.code, 201)
  t.match(forms.body, /bob/)
})

t.test('an impersonated user is who asks', async t => {
  const server = await build(t, { emulatedVersion: '1.36', authentication })
  const { json } = await server.call('POST', REVIEWS, review, {
    ...BOB, 'impersonate-user': 'eve', 'impersonate-group': 'ops', 'impersonate-extra-team': 'blue'
  })
  t.same(json.status.userInfo, { username: 'eve', groups: ['ops', 'system:authenticated'], extra: { team: ['blue'] } })
})

t.test('public names, a dry run, and a status that a client made up', async t => {
  const server = await build(t, { emulatedVersion: '1.36', authentication, compatNames: true })
  const spoken = await server.call(
    'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }, BOB
  )
  t.match(spoken, {
    code: 201, json: { apiVersion: 'authentication.k8s.io/v1', status: { userInfo: { username: 'bob' } } }
  })
  const made = await server.call(
    'POST', `${REVIEWS}?dryRun=All`,
    { ...review, metadata: { name: 'x', labels: { a: 'b' } }, status: { userInfo: { username: 'root' } } }, BOB
  )
  t.equal(made.json.status.userInfo.username, 'bob')
})

t.test('releases of before do not have it, unless its gate is on', async t => {
  const before = await build(t, { authentication, authorization: { modes: ['RBAC'] } })
  t.equal((await before.call('POST', REVIEWS, review, BOB)).code, 403)
  const open = await build(t, { authentication })
  t.equal((await open.call('POST', REVIEWS, review, BOB)).code, 404)
  t.notMatch((await open.get('/apis/authentication.orch.io/v1')).body, 'selfsubjectreviews')
  const gated = await build(t, {
    authentication, authorization: { modes: ['RBAC'] }, featureGates: { APISelfSubjectReview: true }
  })
  t.match(await gated.call('POST', REVIEWS, review, BOB), {
    code: 201, json: { status: { userInfo: { username: 'bob' } } }
  })
  t.match(
    (await gated.call('GET', '/apis/authentication.orch.io/v1', undefined, BOB)).json['resources'],
    [{ name: 'selfsubjectreviews', singularName: 'selfsubjectreview', verbs: ['create'] }, { name: 'tokenreviews' }]
  )
})
