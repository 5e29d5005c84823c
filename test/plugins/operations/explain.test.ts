/** A review that requests an explanation: the binding, role and rule that allow, or the nearest ones. */
import t, { type Test } from 'tap'
import { build, type Json, type Client } from '../../build.js'

const RBAC = '/apis/rbac.authorization.orch.io/v1'
const REVIEWS = '/apis/authorization.orch.io/v1'
const EXPLAIN = { 'authorization.orch.io/explain': 'true' }
const ROOT = { authorization: 'Bearer root' }

async function start (t: Test): Promise<{ server: Client, why: (spec: Json) => Promise<string> }> {
  const server = await build(t, {
    authentication: { tokens: 'root,root,1,system:masters\nn1,system:node:n1,2,system:nodes\n' },
    authorization: { modes: ['Node', 'RBAC'] }
  })
  const made = async (url: string, body: Json): Promise<void> => {
    t.equal((await server.post(url, body, ROOT)).code, 201, url)
  }
  const roleRef = (kind: string, name: string): Json => ({ apiGroup: 'rbac.authorization.orch.io', kind, name })
  await made('/api/v1/namespaces', { metadata: { name: 'team' } })
  await made(`${RBAC}/clusterroles`, {
    metadata: { name: 'reader' },
    rules: [
      { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] },
      { verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['one'] },
      { verbs: ['get'], nonResourceURLs: ['/metrics'] }
    ]
  })
  await made(`${RBAC}/clusterrolebindings`, {
    metadata: { name: 'ann-reads' },
    roleRef: roleRef('ClusterRole', 'reader'),
    subjects: [{ kind: 'User', name: 'ann' }]
  })
  await made(`${RBAC}/namespaces/team/rolebindings`, {
    metadata: { name: 'team-reads' },
    roleRef: roleRef('ClusterRole', 'reader'),
    subjects: [{ kind: 'Group', name: 'devs' }]
  })
  await made(`${RBAC}/namespaces/team/rolebindings`, {
    metadata: { name: 'broken' }, roleRef: roleRef('Role', 'none'), subjects: [{ kind: 'Group', name: 'devs' }]
  })
  return {
    server,
    why: async spec => (await server.post(
      `${REVIEWS}/subjectaccessreviews`, { metadata: { annotations: EXPLAIN }, spec }, ROOT
    )).json['status'].reason as string
  }
}

t.test('an explanation of an allowance names the binding, the role and the rule', async t => {
  const { why } = await start(t)
  t.equal(await why({ user: 'ann', resourceAttributes: { verb: 'list', resource: 'pods' } }),
    'Node: no opinion | RBAC: allowed by ClusterRoleBinding "ann-reads" of ClusterRole "reader" to User "ann", by ' +
    'the rule {APIGroups:[""], Resources:["pods"], Verbs:["get","list"]}')
  t.match(
    await why({ groups: ['devs'], resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'team' } }),
    /allowed by RoleBinding "team-reads\/team" of ClusterRole "reader" to Group "devs"/
  )
  t.match(
    await why({ groups: ['system:masters'], resourceAttributes: { verb: 'delete', resource: 'nodes' } }),
    /^system:masters: allowed, as its members may do everything/
  )
  t.equal(
    await why({
      user: 'system:node:n1', groups: ['system:nodes'], resourceAttributes: { verb: 'list', resource: 'services' }
    }),
    'Node: allowed',
    'modes after the deciding one are not evaluated'
  )
})

t.test('the closest rule is named with the one thing it lacks', async t => {
  const { why } = await start(t)
  for (const [spec, lack] of [
    [
      { user: 'ann', resourceAttributes: { verb: 'delete', resource: 'pods' } },
      /looked at 1 binding with 3 rules; nearest is ClusterRoleBinding "ann-reads" .*lacks just the verb "delete"$/
    ],
    [
      { user: 'ann', resourceAttributes: { verb: 'get', resource: 'secrets', name: 'two' } },
      /lacks just the resource name "two"$/
    ],
    [{ user: 'ann', resourceAttributes: { verb: 'get', resource: 'secrets' } }, /lacks just that it names no objects/],
    [
      { user: 'ann', resourceAttributes: { verb: 'get', resource: 'pods', subresource: 'log' } },
      /lacks just the resource "pods\/log"$/
    ],
    [
      { user: 'ann', resourceAttributes: { verb: 'get', resource: 'pods', group: 'apps' } },
      /lacks just the API group "apps"$/
    ],
    [{ user: 'ann', nonResourceAttributes: { verb: 'get', path: '/logs' } }, /lacks just the path "\/logs"$/],
    [
      { groups: ['devs'], resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default' } },
      /nearest is RoleBinding "team-reads\/team" .*holds in the namespace "team" and not in "default"$/
    ],
    [{ groups: ['devs'], resourceAttributes: { verb: 'list', resource: 'pods' } }, /and not in all of them$/],
    [
      { groups: ['devs'], resourceAttributes: { verb: 'create', resource: 'nodes', namespace: 'team' } },
      /RoleBinding "broken\/team" of Role "none" to Group "devs" gives nothing: role\.rbac\.authorization\.orch\.io "none" not found/
    ],
    [
      { user: 'eve', groups: ['x'], resourceAttributes: { verb: 'get', resource: 'pods' } },
      /RBAC: no opinion; no binding names User "eve" or one of the groups "x"/
    ],
    [
      {
        user: 'system:node:n1',
        groups: ['system:nodes'],
        resourceAttributes: { verb: 'get', resource: 'secrets', namespace: 'team', name: 's' }
      },
      /^Node: no opinion: no relationship found between node "n1" and this object \| RBAC: no opinion/
    ]
  ] as const) t.match(await why(spec), lack)
})

t.test('only users who may review others get an explanation, and only on request', async t => {
  const { server } = await start(t)
  const spec = { user: 'ann', resourceAttributes: { verb: 'delete', resource: 'pods' } }
  const ask = (url: string, metadata: Json, body: Json = spec) =>
    server.post(`${REVIEWS}/${url}`, { metadata, spec: body }, ROOT)
  t.equal((await ask('subjectaccessreviews', {})).json['status'].reason, undefined)
  t.equal(
    (await ask('subjectaccessreviews', {
      annotations: { 'authorization.orch.io/explain': 'no' }
    })).json['status'].reason,
    undefined
  )
  t.equal((await ask('subjectaccessreviews', { annotations: { ...EXPLAIN, more: 'x' } })).code, 422)
  t.equal(
    (await ask(
      'selfsubjectaccessreviews', { annotations: EXPLAIN }, { resourceAttributes: spec.resourceAttributes }
    )).code,
    422
  )
  const local = await ask(
    'namespaces/team/localsubjectaccessreviews', { namespace: 'team', annotations: EXPLAIN },
    { ...spec, resourceAttributes: { ...spec.resourceAttributes, namespace: 'team' } }
  )
  t.match(local.json['status'].reason, /lacks just the verb/)
  t.equal(
    (await server.post(
      `${REVIEWS}/subjectaccessreviews`, { metadata: { annotations: EXPLAIN }, spec }, { authorization: 'Bearer n1' }
    )).code,
    201,
    'node agents may create reviews'
  )
  t.equal(
    (await server.post(`${REVIEWS}/subjectaccessreviews`, { metadata: { annotations: EXPLAIN }, spec })).code, 403
  )
})
