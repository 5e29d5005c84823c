/** `compatNames`: who a client is and what it may touch agree under both names, for every pair of names. */
import t from 'tap'
import type { ServerOptions } from '../../app.js'
import { PAIRS } from '../../schemas/compat/names.js'
import { namesOf, translateNamespace } from '../../schemas/compat/text.js'
import { representations } from '../../schemas/resources.js'
import { build, type Answer, type Client, type Json, type Test } from '../build.js'

const OWN = { accept: 'application/vnd.orch.protobuf;q=0.1, application/json' }
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
/** Every name with a partner that objects of any kind may have, in either direction. */
const NAMES = [
  ...new Set(Object.values(PAIRS)
    .flat()
    .filter(([stock]) => /^[a-z0-9.-]+$/.test(stock))
    .flatMap(([stock, ours]) => [`${stock} ${ours}`, `${ours} ${stock}`]))
]
  .map(pair => pair.split(' ') as [name: string, partner: string])

const TOKENS = [
  'root,root,1,"system:masters"',
  ...NAMES.flatMap(([name]) => [
    `node-${name},system:node:${name},${name}-1,"system:nodes"`, `user-${name},${name},${name}-2`
  ])
]

/** Of so many kinds, one is asked about each name: each kind has several names. */
const SHARE = 12

interface As {
  (token: string, method: string, url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

async function start (
  t: Test, options: ServerOptions = {}
): Promise<{ as: As, make: (url: string, body: Json) => Promise<Json>, server: Client }> {
  const server = await build(t, {
    ...options,
    compatNames: true,
    authentication: { tokens: `${TOKENS.join('\n')}\n` },
    authorization: { modes: ['Node', 'RBAC'] },
    admission: { enabled: ['NodeRestriction'] }
  })
  const as: As = (token, method, url, body, headers) =>
    server.call(method, url, body, {
      authorization: `Bearer ${token}`,
      ...(method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}),
      ...headers
    })
  const make = async (url: string, body: Json): Promise<Json> => {
    const { code, json, body: text } = await as('root', 'POST', url, body)
    if (code !== 201) throw new Error(`${url}: ${code} ${text}`)
    return json
  }
  await make('/api/v1/namespaces', { metadata: { name: 'team' } })
  return { as, make, server }
}

t.test('a node agent is the node of its name, under both names', async t => {
  const { as, make } = await start(t)
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
  t.ok(NAMES.length > 40)
  for (const [name] of NAMES) {
    await make('/api/v1/nodes', { metadata: { name } })
    await make('/api/v1/namespaces/team/secrets', { metadata: { name } })
    await make('/api/v1/namespaces/team/pods', {
      metadata: { name },
      spec: { nodeName: name, containers: [{ name: 'c', image: 'i', envFrom: [{ secretRef: { name } }] }] }
    })
    t.equal(
      (await as(`node-${name}`, 'POST', leases, { metadata: { name }, spec: { holderIdentity: name } })).code, 201, name
    )
  }
  for (const [name, partner] of NAMES) {
    for (const headers of [{}, OWN]) {
      const own = 'accept' in headers
      const lease = own ? leases.replace('k8s', 'orch').replace('kube', 'orch') : leases
      const urls = [`/api/v1/nodes/${name}`, `/api/v1/namespaces/team/secrets/${name}`, `${lease}/${name}`]
      t.match(
        (await as(`node-${name}`, 'GET', `/api/v1/namespaces/team/pods/${name}`, undefined, headers)).json,
        { metadata: { name }, spec: { nodeName: name } }
      )
      t.match((await as(`node-${name}`, 'GET', `${lease}/${name}`, undefined, headers)).json, {
        metadata: { name }, spec: { holderIdentity: name }
      })
      for (const url of urls) {
        const touch = url.includes('secrets')
          ? [undefined, 'GET'] as const
          : [{ metadata: { labels: { own: String(own) } } }, 'PATCH'] as const
        t.match(
          await as(`node-${name}`, touch[1], url, touch[0], headers), { code: 200, json: { metadata: { name } } }, url
        )
        const refused = await as(`node-${partner}`, touch[1], url, touch[0], headers)
        t.equal(refused.code, 403, url)
        t.ok(
          refused.json['message'].includes(`system:node:${partner}`) ||
            refused.json['message'].includes(`node "${partner}"`),
          refused.body
        )
      }
    }
  }
})

t.test('a user or service account is who it is called, under both names', async t => {
  const { as, make } = await start(t)
  const secrets = '/api/v1/namespaces/team/secrets'
  await make(`${RBAC}/namespaces/team/roles`, {
    metadata: { name: 'reader' }, rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['list'] }]
  })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' }
  for (const [name, partner] of NAMES) {
    await make(`${RBAC}/namespaces/team/rolebindings`, {
      metadata: { name: 'user' }, roleRef, subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }]
    })
    for (const headers of [{}, OWN]) {
      t.equal((await as(`user-${name}`, 'GET', secrets, undefined, headers)).code, 200, name)
      t.match(await as(`user-${partner}`, 'GET', secrets, undefined, headers), {
        code: 403, json: { message: `User "${partner}" cannot list` }
      })
    }
    t.equal((await as('root', 'GET', secrets, undefined, { 'impersonate-user': name })).code, 200)
    t.equal((await as('root', 'GET', secrets, undefined, { 'impersonate-user': partner })).code, 403)
    t.equal((await as('root', 'DELETE', `${RBAC}/namespaces/team/rolebindings/user`)).code, 200)
  }
  // Which of the namespaces with two names it is makes no difference to the name of an account.
  for (const [namespace, names] of [
    ['team', NAMES], ['kube-system', NAMES], ['kube-public', NAMES.slice(0, 4)]
  ] as const) {
    for (const [name] of names) {
      const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
      await make(accounts, { metadata: { name } })
      await make(`${RBAC}/namespaces/team/rolebindings`, {
        metadata: { name: `${namespace}.${name}` }, roleRef, subjects: [{ kind: 'ServiceAccount', namespace, name }]
      })
      const { token } = (await make(`${accounts}/${name}/token`, { spec: {} }))['status']
      const review = async (group: string): Promise<string> =>
        (await make(`/apis/authentication.${group}/v1/tokenreviews`, { spec: { token } }))['status'].user.username
      t.equal(await review('k8s.io'), `system:serviceaccount:${namespace}:${name}`)
      t.equal(await review('orch.io'), `system:serviceaccount:${translateNamespace(namespace)}:${name}`)
      t.equal((await as(token, 'GET', secrets)).code, 200, name)
      const impersonated = await as('root', 'GET', secrets, undefined, {
        'impersonate-user': `system:serviceaccount:${namespace}:${name}`
      })
      t.equal(impersonated.code, 200, name)
    }
  }
})

t.test('a role that names an object means the same one under both names', async t => {
  const { as, make } = await start(t)
  const kinds = [
    ...new Map(representations.map(({ group, plural }) => [`${group}/${plural}`, { group, plural }])).values()
  ]
  const publicGroup = (group: string): string => group.replace(/orch\.io$/, 'k8s.io')
  await make(`${RBAC}/clusterrolebindings`, {
    metadata: { name: 'b' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }]
  })
  const may = async (domain: string, resourceAttributes: Json): Promise<boolean> =>
    (await make(`/apis/authorization.${domain}/v1/subjectaccessreviews`, {
      spec: { user: 'ann', resourceAttributes: { verb: 'get', namespace: 'team', ...resourceAttributes } }
    }))['status'].allowed as boolean
  for (const [at, [name, partner]] of NAMES.entries()) {
    const asked = kinds.filter((_, kind) => kind % SHARE === at % SHARE)
    const rules = asked.map(({ group, plural }) => ({
      apiGroups: [publicGroup(group)], resources: [plural], resourceNames: [name], verbs: ['get']
    }))
    const { json } = await as('root', 'POST', `${RBAC}/clusterroles`, { metadata: { name: 'r' }, rules })
    t.strictSame(json['rules'].map((rule: Json) => rule['resourceNames'][0]), rules.map(() => name))
    for (const { group, plural } of asked) {
      const title = `${group}/${plural} ${name}`
      const ours = namesOf(group, plural)?.(name) ?? name
      const theOther = ours === name ? partner : name
      t.equal(await may('k8s.io', { group: publicGroup(group), resource: plural, name }), true, title)
      t.equal(await may('k8s.io', { group: publicGroup(group), resource: plural, name: partner }), false, title)
      t.equal(await may('orch.io', { group, resource: plural, name: ours }), true, title)
      t.equal(await may('orch.io', { group, resource: plural, name: theOther }), false, title)
    }
    await as('root', 'DELETE', `${RBAC}/clusterroles/r`)
  }
})

t.test('a review asks for the same extra value of users as the role that allows it', async t => {
  const { make } = await start(t)
  const key = 'authentication.kubernetes.io/pod-name'
  const rules = [{ apiGroups: ['authentication.k8s.io'], resources: [`userextras/${key}`], verbs: ['impersonate'] }]
  await make(`${RBAC}/clusterroles`, { metadata: { name: 'r' }, rules })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }]
  await make(`${RBAC}/clusterrolebindings`, { metadata: { name: 'b' }, roleRef, subjects })
  for (const [domain, subresource, allowed] of [
    ['k8s.io', key, true], ['k8s.io', 'authentication.orch.io/pod-name', false],
    ['orch.io', 'authentication.orch.io/pod-name', true], ['orch.io', key, false]
  ] as const) {
    const resourceAttributes = {
      verb: 'impersonate', group: `authentication.${domain}`, resource: 'userextras', subresource
    }
    const url = `/apis/authorization.${domain}/v1/subjectaccessreviews`
    const { status } = await make(url, { spec: { user: 'ann', resourceAttributes } }) as { status: Json }
    t.equal(status['allowed'], allowed, `${domain} ${subresource}`)
  }
})

t.test('reviews say why under the names of their reader', async t => {
  const { make } = await start(t)
  for (const [domain, user] of [['k8s.io', 'system:kube-scheduler'], ['orch.io', 'system:orch-scheduler']] as const) {
    const url = `/apis/authorization.${domain}/v1/subjectaccessreviews`
    const { status } = await make(url, {
      spec: { user, resourceAttributes: { verb: 'list', resource: 'pods' } }
    }) as { status: Json }
    const why = `RBAC: allowed by ClusterRoleBinding "${user}" of ClusterRole "${user}" to User "${user}"`
    t.strictSame(status, { allowed: true, reason: why })
  }
})

t.test('a rule whose resources disagree about a name is refused, unless it was there before', async t => {
  const { as, make } = await start(t)
  const roles = `${RBAC}/namespaces/team/roles`
  const mixed = {
    apiGroups: [''], resources: ['nodes', 'services'], resourceNames: ['kubernetes', 'a'], verbs: ['get']
  }
  const simple = { apiGroups: [''], resources: ['services'], resourceNames: ['kubernetes'], verbs: ['get'] }
  for (const rule of [mixed, { ...mixed, resources: ['*'] }, { ...mixed, apiGroups: ['*'], resources: ['services'] }]) {
    const refused = await as('root', 'POST', roles, { metadata: { name: 'r' }, rules: [simple, rule] })
    t.match(refused, {
      code: 422,
      json: { message: /rules\[1\]\.resourceNames: Invalid value: "kubernetes": .*write a rule for each resource/ }
    })
    t.equal(refused.json['details'].causes.length, 1)
  }
  const own = '/apis/rbac.authorization.orch.io/v1/namespaces/team/roles'
  await make(own, { metadata: { name: 'r' }, rules: [mixed] })
  t.match(await as('root', 'PATCH', `${roles}/r`, { metadata: { labels: { a: 'b' } } }), {
    code: 200, json: { rules: [mixed] }
  })
  const type = { 'content-type': 'application/json-patch+json' }
  t.equal(
    (await as('root', 'PATCH', `${roles}/r`, [{ op: 'add', path: '/rules/0/resourceNames/-', value: 'b' }], type)).code,
    422
  )
  t.equal(
    (await as('root', 'PATCH', `${roles}/r`, [{ op: 'replace', path: '/rules', value: [simple] }], type)).code, 200
  )
  t.match(
    await as(
      'root',
      'PATCH',
      `${roles}/r`,
      [
        { op: 'test', path: '/rules/0/resourceNames/0', value: 'kubernetes' },
        { op: 'add', path: '/rules/0/resources/-', value: 'endpoints' }
      ],
      type
    ),
    { code: 200 }
  )
  t.match((await as('root', 'GET', `${own}/r`)).json, {
    rules: [{ resources: ['services', 'endpoints'], resourceNames: ['orch'] }]
  })
  t.equal(
    (await as(
      'root', 'PATCH', `${roles}/r`, [{ op: 'replace', path: '/rules/0/resources', value: ['nodes'] }], type
    )).code,
    200,
    'the name means what it says'
  )
  t.match((await as('root', 'GET', `${own}/r`)).json, {
    rules: [{ resources: ['nodes'], resourceNames: ['kubernetes'] }]
  })
})

t.test('components of either name hold their locks and have their roles', async t => {
  const { as, make } = await start(t, { emulatedVersion: '1.24' })
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
  const may = async (user: string, resourceAttributes: Json): Promise<boolean> =>
    (await make('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      spec: { user, resourceAttributes: { namespace: 'kube-system', ...resourceAttributes } }
    }))['status'].allowed as boolean
  for (const component of ['scheduler', 'controller-manager']) {
    await make(leases, { metadata: { name: `kube-${component}` }, spec: {} })
    t.match(
      (await as(
        'root', 'GET', leases.replace('k8s', 'orch').replace('kube', 'orch')
      )).json['items'].map(({ metadata }: Json) => metadata.name),
      [`kube-${component}`]
    )
    await as('root', 'DELETE', `${leases}/kube-${component}`)
    for (const name of [`kube-${component}`, `orch-${component}`]) {
      for (const [group, resource] of [['coordination.k8s.io', 'leases'], ['', 'endpoints'], ['', 'configmaps']]) {
        t.ok(await may(`system:kube-${component}`, { verb: 'update', group, resource, name }), `${resource} ${name}`)
      }
      t.ok(await may(`system:serviceaccount:kube-system:${name}`, { verb: 'update', resource: 'configmaps', name }))
    }
    t.notOk(await may(`system:kube-${component}`, {
      verb: 'update', group: 'coordination.k8s.io', resource: 'leases', name: 'other'
    }))
  }
  for (const name of ['kube-dns', 'orch-dns']) {
    t.ok(await may(`system:serviceaccount:kube-system:${name}`, { verb: 'list', resource: 'endpoints', namespace: '' }))
  }
})
