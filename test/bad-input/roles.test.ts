/** Malicious roles and bindings: never a permission that no rule grants, a clear answer, bounded work. */
import t from 'tap'
import { build, type Client, type Json, type Answer, type Test } from '../build.js'

const GROUP = 'rbac.authorization.orch.io'
const RBAC = `/apis/${GROUP}/v1`
const ROOT = { authorization: 'Bearer root' }
const ANN = { authorization: 'Bearer ann' }

const role = (name: string, rules: Json[], more: Json = {}): Json => ({
  metadata: { name, ...more['metadata'] },
  rules,
  ...(more['aggregationRule'] === undefined ? {} : { aggregationRule: more['aggregationRule'] })
})
const binding = (name: string, to: string): Json => ({
  metadata: { name },
  roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: to },
  subjects: [{ apiGroup: GROUP, kind: 'User', name: 'ann' }]
})
const rule = (verbs: string[], resources: string[], more: Json = {}): Json => ({
  verbs, apiGroups: [''], resources, ...more
})
const many = (count: number, make: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => make(index))

/** Ann may write roles and read pods, and nothing else. */
async function start (t: Test): Promise<{
  server: Client
  root: (url: string, body: Json) => Promise<Answer>
  ann: (url: string, body: Json) => Promise<Answer>
}> {
  const server = await build(t, {
    authentication: { tokens: 'root,root,1,system:masters\nann,ann,2\n' }, authorization: { modes: ['RBAC'] }
  })
  const root = (url: string, body: Json) => server.post(`${RBAC}/${url}`, body, ROOT)
  await root('clusterroles', role('writer', [
    {
      verbs: ['create', 'get', 'update', 'delete'],
      apiGroups: [GROUP],
      resources: ['clusterroles', 'clusterrolebindings']
    },
    rule(['get'], ['pods'])
  ]))
  await root('clusterrolebindings', binding('writer', 'writer'))
  return { server, root, ann: (url, body) => server.post(`${RBAC}/${url}`, body, ANN) }
}

t.test('rules with too many combinations to compare are refused while other requests are served', async t => {
  const { server, root, ann } = await start(t)
  const three = many(300, index => `x${index}`)
  t.match(
    await ann('clusterroles', role('cube', [{ verbs: three, apiGroups: three, resources: three }])),
    { code: 403, json: { message: /more than 20000 single permissions/ } }
  )
  t.match(
    await ann('clusterroles', role('long', many(100_000, index => `p${index}`).map(name => rule(['get'], [name])))),
    { code: 413, json: { reason: 'RequestEntityTooLarge' } }
  )
  const copies = Array.from({ length: 5000 }, () => rule(['get'], ['pods']))
  t.equal((await root('clusterroles', role('copies', copies))).code, 201)
  t.equal((await root('clusterrolebindings', binding('copies', 'copies'))).code, 201)
  t.equal((await ann('clusterroles', role('more-copies', copies))).code, 201, 'equal rules are compared as one')
  const each = many(5000, index => `p${index}`).map(name => rule(['get'], ['pods'], { resourceNames: [name] }))
  t.equal((await root('clusterroles', role('each', each))).code, 201)
  t.equal((await root('clusterrolebindings', binding('each', 'each'))).code, 201)
  t.match(await ann('clusterroles', role('each-again', each)), {
    code: 403,
    json: { message: /5000 single permissions, to be looked for in 50\d\d rules, which is more than can be compared/ }
  })
  t.match(await ann('clusterrolebindings', binding('each-again', 'each')), { code: 403 })
  t.equal(
    (await ann('clusterroles', role('few', [rule(['get'], ['pods'])]))).code, 201, 'a small role is still compared'
  )
  t.equal((await server.get('/api/v1/secrets', ANN)).code, 403)
  t.equal((await server.get('/api/v1/namespaces/default/pods/none', ANN)).code, 404)
})

t.test('odd names in rules match only themselves', async t => {
  const { server, root } = await start(t)
  const odd = [
    '', '..', '.', '/', '//', ':', '*/', '/*', '**', 's*', 'secrets/', '/secrets', 'SECRETS', '%2a', '__proto__',
    'constructor', 'secrets\u0000', ' secrets', 'secrets,pods', '*\u200b'
  ]
  t.equal(
    (await root('clusterroles', role('odd', [
      rule(['get', 'list', 'delete'], odd), rule(['', 'g*', 'GET', ' get', 'get ', 'constructor'], ['*']),
      rule(['get'], ['secrets'], { resourceNames: ['*', '', '..', 'sh*', '__proto__'] }),
      { verbs: ['get'], apiGroups: ['*s', '**', ' '], resources: ['*'] }
    ]))).code,
    201
  )
  t.equal((await root('clusterrolebindings', binding('odd', 'odd'))).code, 201)
  await server.post('/api/v1/namespaces/default/secrets', { metadata: { name: 'shown' } }, ROOT)
  for (const url of [
    '/api/v1/secrets', '/api/v1/namespaces/default/secrets/shown', '/apis/apps/v1/deployments', '/metrics',
    '/api/v1/namespaces/default/secrets//shown', '/api/v1/namespaces/default/secrets/./shown',
    '/api/v1/namespaces/default/secrets/%2e%2e/secrets/shown', '/api/v1/namespaces/default;x/secrets/shown'
  ]) {
    t.match([403, 404, 400].includes((await server.get(url, ANN)).code), true, url)
    t.notMatch((await server.get(url, ANN)).body, /"kind":"Secret"/, url)
  }
  t.equal((await server.call('DELETE', '/api/v1/namespaces/default/secrets/shown', undefined, ANN)).code, 403)
})

t.test('a rule without verbs, and one that names resources and paths, is refused', async t => {
  const { root } = await start(t)
  const refused = async (rules: Json[], field: string): Promise<void> => {
    t.match(await root('clusterroles', role('bad', rules)), { code: 422, json: { details: { causes: [{ field }] } } })
  }
  await refused([{ apiGroups: [''], resources: ['pods'] }], 'rules[0].verbs')
  await refused([rule([], ['pods'])], 'rules[0].verbs')
  await refused(
    [{ verbs: ['get'], nonResourceURLs: ['/x'], resources: ['pods'], apiGroups: [''] }], 'rules[0].nonResourceURLs'
  )
  await refused([{ verbs: ['get'], resources: ['pods'] }], 'rules[0].apiGroups')
})

t.test('roles that aggregate themselves or each other cause no endless loop', async t => {
  const { server, root } = await start(t)
  const gathers = (name: string, label: string): Json => role(
    name,
    [],
    {
      metadata: { labels: { [label]: 'yes', own: name } },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { gathered: 'yes' } }] }
    }
  )
  t.equal((await root('clusterroles', gathers('itself', 'gathered'))).code, 201)
  t.equal((await root('clusterroles', gathers('other', 'gathered'))).code, 201)
  t.equal(
    (await root(
      'clusterroles', role('source', [rule(['list'], ['events'])], { metadata: { labels: { gathered: 'yes' } } })
    )).code,
    201
  )
  const rulesOf = async (name: string): Promise<Json[]> =>
    (await server.get(`${RBAC}/clusterroles/${name}`, ROOT)).json['rules'] ?? []
  while ((await rulesOf('itself')).length === 0 || (await rulesOf('other')).length === 0) {
    await new Promise(resolve => { setTimeout(resolve, 10) })
  }
  let settled = 0
  let before = ''
  while (settled < 20) {
    const now = JSON.stringify([
      await server.get(`${RBAC}/clusterroles/itself`, ROOT), await server.get(`${RBAC}/clusterroles/other`, ROOT)
    ].map(({ json }) => json))
    settled = now === before ? settled + 1 : 0
    before = now
    await new Promise(resolve => { setTimeout(resolve, 5) })
  }
  t.strictSame(await rulesOf('itself'), [rule(['list'], ['events'])])
  t.strictSame(await rulesOf('other'), [rule(['list'], ['events'])])
})

t.test('bindings to a role that is repeatedly deleted allow only while it exists', async t => {
  const { server, root } = await start(t)
  await root('clusterrolebindings', binding('flicker', 'flicker'))
  for (let round = 0; round < 50; round++) {
    t.equal((await root('clusterroles', role('flicker', [rule(['list'], ['secrets'])]))).code, 201)
    t.equal((await server.get('/api/v1/secrets', ANN)).code, 200)
    const asked = Promise.all(Array.from({ length: 10 }, async () => (await server.get('/api/v1/secrets', ANN)).code))
    t.equal((await server.call('DELETE', `${RBAC}/clusterroles/flicker`, undefined, ROOT)).code, 200)
    t.match(await server.get('/api/v1/secrets', ANN), {
      code: 403, json: { message: /clusterrole.rbac.authorization.orch.io "flicker" not found/ }
    })
    t.ok((await asked).every(code => code === 200 || code === 403))
  }
})
