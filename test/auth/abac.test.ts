/** `--authorization-mode=ABAC`: policies of a file, line by line. */
import t from 'tap'
import { abacAuthorizer, parsePolicies } from '../../auth/abac.js'
import type { RequestInfo } from '../../auth/request-info.js'
import { build } from '../build.js'

const line = (spec: object): string =>
  JSON.stringify({ apiVersion: 'abac.authorization.orch.io/v1beta1', kind: 'Policy', spec })
const info = (verb: string, where: string): RequestInfo => {
  if (where.startsWith('/')) {
    return {
      path: where,
      isResourceRequest: false,
      verb,
      group: '',
      version: '',
      resource: '',
      subresource: '',
      namespace: '',
      name: ''
    }
  }
  const [namespace = '', resource = '', group = ''] = where.split(' ')
  return {
    path: '',
    isResourceRequest: true,
    verb,
    group,
    version: 'v1',
    resource,
    subresource: '',
    namespace: namespace === '-' ? '' : namespace,
    name: ''
  }
}
const users = {
  ann: { username: 'ann', uid: '', groups: ['devs', 'system:authenticated'], extra: {} },
  bob: { username: 'bob', uid: '', groups: ['system:authenticated'], extra: {} },
  nobody: { username: 'system:anonymous', uid: '', groups: ['system:unauthenticated'], extra: {} }
}

t.test('a policy names a user, a group or both, and allows what it names', async t => {
  for (const [spec, who, verb, where, allowed] of [
    [{ user: 'ann', namespace: '*', resource: '*', apiGroup: '*' }, 'ann', 'delete', 'team pods', true],
    [{ user: 'ann', namespace: '*', resource: '*', apiGroup: '*' }, 'bob', 'get', 'team pods', false],
    [{ user: 'ann', namespace: '*', resource: '*', apiGroup: '*' }, 'ann', 'get', '/metrics', false],
    [{ group: 'devs', namespace: 'team', resource: 'pods' }, 'ann', 'get', 'team pods', true],
    [{ group: 'devs', namespace: 'team', resource: 'pods' }, 'ann', 'get', 'other pods', false],
    [{ group: 'devs', namespace: 'team', resource: 'pods' }, 'ann', 'get', 'team pods apps', false],
    [{ group: 'devs', namespace: 'team', resource: 'pods' }, 'ann', 'get', '- pods', false],
    [{ user: 'bob', group: 'devs', namespace: '*', resource: '*' }, 'bob', 'get', 'team pods', false],
    [
      { user: 'ann', namespace: 'team', resource: 'deployments', apiGroup: 'apps', readonly: true }, 'ann', 'watch',
      'team deployments apps', true
    ],
    [
      { user: 'ann', namespace: 'team', resource: 'deployments', apiGroup: 'apps', readonly: true }, 'ann', 'create',
      'team deployments apps', false
    ],
    [{ user: '*', nonResourcePath: '/version' }, 'bob', 'get', '/version', true],
    [{ user: '*', nonResourcePath: '/version' }, 'nobody', 'get', '/version', false],
    [{ group: 'system:unauthenticated', readonly: true, nonResourcePath: '*' }, 'nobody', 'get', '/healthz', true],
    [{ user: 'ann', nonResourcePath: '/api*' }, 'ann', 'get', '/apis/apps', true],
    [{ user: 'ann', nonResourcePath: '/api*' }, 'ann', 'get', '/version', false],
    [{ namespace: '*', resource: '*', apiGroup: '*', nonResourcePath: '*' }, 'ann', 'get', 'team pods', false]
  ] as const) {
    const ruling = abacAuthorizer(line(spec)).authorize({ user: users[who], info: info(verb, where) })
    t.match(
      ruling, allowed ? { decision: 'Allow' } : { decision: 'NoOpinion', reason: 'No policy matched.' },
      `${JSON.stringify(spec)}: ${who} ${verb} ${where}`
    )
  }
})

t.test('a bad line is named', async t => {
  t.equal(parsePolicies(`# comment\n\n${line({ user: 'ann' })}\n`).length, 1)
  for (const [content, message] of [
    ['{', /^line 1 is no JSON/], ['[]', /^line 1 is no object/],
    [`${line({})}\n{"kind":"Policy","spec":{}}`, /^line 2 is no Policy of abac\.authorization\.orch\.io\/v1beta1/],
    [line({ readonly: 'yes' }), /spec\.readonly must be true or false/],
    [line({ user: 1 }), /spec\.user must be a string/], [line({ verbs: '*' }), /spec\.verbs is no property/]
  ] as const) t.throws(() => parsePolicies(content), { message })
})

t.test('authorization modes are evaluated in their order', async t => {
  const policies = [
    {
      user: 'ann', namespace: '*', resource: 'configmaps', readonly: true
    }, { user: 'ann', namespace: 'other', resource: 'pods' }, { user: 'ann', namespace: 'default', resource: 'leases' }
  ].map(line).join('\n')
  const server = await build(t, {
    authentication: { tokens: 'ann,ann,1\n' }, authorization: { modes: ['ABAC', 'RBAC'], policies }
  })
  const as = { authorization: 'Bearer ann' }
  t.equal((await server.get('/api/v1/configmaps', as)).code, 200)
  t.match(await server.get('/api/v1/secrets', as), {
    code: 403, json: { message: /at the cluster scope: No policy matched\.$/ }
  })
  t.equal((await server.get('/version')).code, 200, 'by a default role')
  const { status } = (await server.call(
    'POST', '/apis/authorization.orch.io/v1/selfsubjectrulesreviews', { spec: { namespace: 'default' } }, as
  )).json as { status: { resourceRules: object[] } }
  t.match(status.resourceRules[0], { resources: ['configmaps'], verbs: ['get', 'list', 'watch'] })
  t.match(status.resourceRules[1], { resources: ['leases'], verbs: ['*'] }, 'those of other namespaces are left out')
})
