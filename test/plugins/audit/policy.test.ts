/** Which requests a policy records, and which policies are valid. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { checkedFlags, configuration } from '../../../config/options.js'
import { compilePolicy } from '../../../plugins/audit/policy.js'
import type { RequestInfo } from '../../../auth/request-info.js'
import type { AuditPolicy } from '../../../schemas/api/audit/policy.js'

type Rules = NonNullable<AuditPolicy['rules']>
const policy = (...rules: Rules): AuditPolicy => ({
  apiVersion: 'audit.orch.io/v1', kind: 'Policy', metadata: {}, rules
})
const user = (username: string, ...groups: string[]) => ({ username, uid: '', groups, extra: {} })
const resource = (more: Partial<RequestInfo> = {}): RequestInfo => ({
  path: '',
  isResourceRequest: true,
  verb: 'get',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'default',
  name: 'x',
  ...more
})
const path = (path: string, verb = 'get'): RequestInfo => ({
  path, isResourceRequest: false, verb, group: '', version: '', resource: '', subresource: '', namespace: '', name: ''
})

t.test('a star as the group is every group', async t => {
  const rule = compilePolicy(policy({
    level: 'Request', resources: [{ group: '*', resources: ['deployments', '*/scale'] }]
  }))
  t.equal(rule(user('ann'), resource({ group: 'apps', resource: 'deployments' })).level, 'Request')
  t.equal(rule(user('ann'), resource({ resource: 'replicationcontrollers', subresource: 'scale' })).level, 'Request')
  t.equal(rule(user('ann'), resource({ group: 'apps', resource: 'statefulsets' })).level, 'None')
})

t.test('the first rule that everything of a request matches decides', async t => {
  const rule = compilePolicy({
    ...policy(
      {
        level: 'None',
        users: ['system:orch-proxy'],
        verbs: ['watch'],
        resources: [{ group: '', resources: ['endpoints', 'services'] }]
      },
      {
        level: 'None',
        userGroups: ['system:nodes'],
        verbs: ['get'],
        resources: [{ resources: ['nodes', 'nodes/status'] }]
      },
      { level: 'None', nonResourceURLs: ['/healthz*', '/version'] },
      { level: 'RequestResponse', namespaces: ['team'], omitStages: ['RequestReceived'] },
      {
        level: 'Metadata',
        resources: [
          { resources: ['secrets'] },
          { group: 'apps', resources: ['deployments/*'], resourceNames: ['one'] },
          { group: 'batch' },
          { resources: ['*/log'] }
        ]
      },
      { level: 'Request', omitManagedFields: false, namespaces: [''] }
    ),
    omitStages: ['ResponseStarted'],
    omitManagedFields: true
  })
  const level = (...asked: Parameters<typeof rule>): string => rule(...asked).level
  t.equal(level(user('system:orch-proxy'), resource({ verb: 'watch', resource: 'services' })), 'None')
  t.equal(
    level(user('ann', 'system:nodes'), resource({ resource: 'nodes', subresource: 'status', namespace: '' })), 'None'
  )
  t.equal(level(user('ann'), resource({ resource: 'nodes', namespace: '' })), 'Request', 'a user of another group')
  t.equal(
    level(undefined, resource({ resource: 'nodes', namespace: '' })), 'Request', 'a missing user matches no user rule'
  )
  for (const at of ['/healthz', '/healthz/etcd', '/version']) t.equal(level(user('ann'), path(at)), 'None')
  t.equal(level(user('ann'), path('/version/x')), 'None', 'a request that matches no rule is not logged')
  t.equal(level(user('ann'), resource({ namespace: 'team' })), 'RequestResponse')
  t.equal(level(user('ann'), resource({ resource: 'secrets' })), 'Metadata')
  t.equal(level(user('ann'), resource({ resource: 'secrets', group: 'other' })), 'None')
  t.equal(level(user('ann'), resource({ resource: 'deployments', group: 'apps', name: 'one' })), 'Metadata')
  t.equal(
    level(user('ann'), resource({ resource: 'deployments', subresource: 'scale', group: 'apps', name: 'one' })),
    'Metadata'
  )
  t.equal(level(user('ann'), resource({ resource: 'deployments', group: 'apps', name: 'two' })), 'None')
  t.equal(
    level(user('ann'), resource({ resource: 'jobs', group: 'batch' })), 'Metadata',
    'a group without resources is all of it'
  )
  t.equal(level(user('ann'), resource({ subresource: 'log' })), 'Metadata')
  t.equal(level(user('ann'), resource()), 'None')
  const { omitStages, omitManagedFields } = rule(user('ann'), resource({ namespace: 'team' }))
  t.strictSame(
    [[...omitStages].sort(), omitManagedFields], [['RequestReceived', 'ResponseStarted'], true],
    'stages of both, managedFields of the policy'
  )
  t.equal(rule(user('ann'), resource({ namespace: '' })).omitManagedFields, false, 'unless the rule says otherwise')
  t.equal(compilePolicy(undefined)(undefined, path('/x')).level, 'Metadata', 'without a policy')
})

t.test('an invalid policy ends the start, naming the flag, the file and the field', async t => {
  const folder = t.testdir()
  const file = join(folder, 'policy.yaml')
  const head = 'apiVersion: audit.orch.io/v1\nkind: Policy\n'
  for (const [text, message] of [
    [`${head}rules: [{ level: Everything }]`, /--audit-policy-file=.*policy\.yaml.*rules\[0\]\.level.*None/],
    [`${head}rules: [{ users: [a] }]`, /rules\[0\]\.level: Required value/],
    [`${head}rules: []`, /rules/],
    [`${head}rules: [{ level: None, user: [a] }]`, /unknown field "rules\[0\]\.user"/],
    [`${head}rules: [{ level: None, level: Metadata }]`, /duplicate|level/],
    [
      `${head}rules: [{ level: None, nonResourceURLs: [/x], resources: [{ group: apps }] }]`,
      /cannot apply to both regular resources and non-resource URLs/
    ],
    [`${head}rules: [{ level: None, nonResourceURLs: [x] }]`, /must begin with a '\/' character/],
    [`${head}rules: [{ level: None, nonResourceURLs: [/a*b] }]`, /must be the final character/],
    [`${head}rules: [{ level: None, omitStages: [Never] }]`, /rules\[0\]\.omitStages\[0\].*RequestReceived/],
    [`${head}rules: [{ level: None, resources: [{ resourceNames: [a] }] }]`, /rules\[0\]\.resources\[0\]\.resources/],
    [`${head}rules: [{ level: None, resources: [{ group: apps/v1 }] }]`, /without a version/],
    [
      `${head}rules: [{ level: None, resources: [{ group: '*.io' }] }]`,
      /rules\[0\]\.resources\[0\]\.group.*RFC 1123 subdomain/
    ],
    [`${head}rules: 5`, /rules/],
    ['apiVersion: audit.orch.io/v2\nkind: Policy\nrules: [{ level: None }]', /not Policy of audit\.orch\.io\/v1/],
    ['[]', /not an object/],
    ['a: [', /policy\.yaml/]
  ] as const) {
    writeFileSync(file, text)
    await t.rejects(
      configuration(checkedFlags([`--data-dir=${folder}/data`, '--audit-log-path=-', `--audit-policy-file=${file}`])),
      { name: 'FlagError', message }, text
    )
  }
  await t.rejects(
    configuration(checkedFlags([
      `--data-dir=${folder}/data`, '--audit-log-path=-', `--audit-policy-file=${folder}/none`
    ])),
    { message: /--audit-policy-file=.*there is no such file/ }
  )
})

t.test('ten thousand rules are one policy', async t => {
  const rule = compilePolicy(policy(...Array.from(
    { length: 10_000 }, (_, at) => ({ level: 'Metadata', users: [`user-${at}`] })
  )))
  t.equal(rule(user('user-9999'), resource()).level, 'Metadata')
  t.equal(rule(user('nobody'), resource()).level, 'None')
})
