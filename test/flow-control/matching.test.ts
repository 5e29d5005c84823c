import t from 'tap'
import type { FlowSchemaSpec, Subject } from '../../schemas/api/flowcontrol/v1beta1.js'
import type { RequestInfo } from '../../auth/request-info.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { MANDATORY_SCHEMAS, SUGGESTED_SCHEMAS } from '../../flow-control/defaults.js'
import { inOrder, Matcher } from '../../flow-control/matching.js'

interface Named { readonly name: string, readonly spec: FlowSchemaSpec }
type Rules = NonNullable<FlowSchemaSpec['rules']>

const user = (username: string, ...groups: string[]): UserInfo => ({ username, uid: '', groups, extra: {} })
const ALICE = user('alice', 'dev', 'system:authenticated')

const info = (verb: string, resource: string, more: Partial<RequestInfo> = {}): RequestInfo =>
  ({
    path: '',
    isResourceRequest: true,
    verb,
    group: '',
    version: 'v1',
    resource,
    subresource: '',
    namespace: '',
    name: '',
    ...more
  })
const path = (verb: string, at: string): RequestInfo => ({ ...info(verb, ''), isResourceRequest: false, path: at })

const named = (name: string, rules: Rules, matchingPrecedence = 1000): Named => ({
  name, spec: { priorityLevelConfiguration: { name: 'some' }, matchingPrecedence, rules }
})
const rule = (subject: Subject, resources = ['*'], more = {}): Rules =>
  [{
    subjects: [subject],
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources, clusterScope: true, namespaces: ['*'], ...more }],
    nonResourceRules: []
  }]
const EVERYBODY: Subject = { kind: 'User', user: { name: '*' } }

const matched = (schemas: Named[], who: UserInfo, what: RequestInfo): string | undefined =>
  new Matcher([...schemas].sort(inOrder)).match(who, what)?.name

t.test('subjects', t => {
  const group = (name: string): Subject => ({ kind: 'Group', group: { name } })
  const account = (namespace: string, name: string): Subject => ({
    kind: 'ServiceAccount', serviceAccount: { namespace, name }
  })
  const robot = user('system:serviceaccount:ns:robot')
  const cases: Array<readonly [Subject, UserInfo, boolean]> = [
    [{ kind: 'User', user: { name: 'alice' } }, ALICE, true],
    [{ kind: 'User', user: { name: 'bob' } }, ALICE, false],
    [EVERYBODY, ALICE, true],
    [group('dev'), ALICE, true],
    [group('ops'), ALICE, false],
    [group('*'), user('nobody'), true],
    [account('ns', 'robot'), robot, true],
    [account('ns', '*'), robot, true],
    [account('other', '*'), robot, false],
    [account('ns', 'other'), robot, false],
    [account('ns', '*'), user('system:serviceaccount:ns'), false],
    [account('ns', '*'), user('system:serviceaccount:ns:robot:more'), true],
    [account('ns', 'robot'), user('system:serviceaccount:ns:robot:more'), false],
    [{ kind: 'User', user: { name: 'system:serviceaccount:ns:robot' } }, robot, true]
  ]
  for (const [subject, who, expected] of cases) {
    t.equal(
      matched([named('one', rule(subject))], who, info('get', 'pods')) === 'one', expected,
      `${JSON.stringify(subject)} ${who.username}`
    )
  }
  t.end()
})

t.test('resource rules', t => {
  const cases: Array<readonly [object, RequestInfo, boolean]> = [
    [{}, info('get', 'pods'), true],
    [{ verbs: ['list'] }, info('get', 'pods'), false],
    [{ verbs: ['get', 'list'] }, info('list', 'pods'), true],
    [{ apiGroups: ['apps'] }, info('get', 'pods'), false],
    [{ apiGroups: [''] }, info('get', 'pods'), true],
    [{ resources: ['pods'] }, info('get', 'pods', { subresource: 'status' }), false],
    [{ resources: ['pods/status'] }, info('get', 'pods', { subresource: 'status' }), true],
    [{ clusterScope: false }, info('get', 'nodes'), false],
    [{ clusterScope: undefined }, info('get', 'nodes'), false],
    [{ clusterScope: false }, info('get', 'pods', { namespace: 'a' }), true],
    [{ namespaces: ['a', 'b'] }, info('get', 'pods', { namespace: 'c' }), false],
    [{ namespaces: ['a', 'b'] }, info('get', 'pods', { namespace: 'b' }), true],
    [{ namespaces: [] }, info('get', 'pods', { namespace: 'b' }), false],
    [{}, path('get', '/healthz'), false]
  ]
  for (const [more, what, expected] of cases) {
    t.equal(
      matched([named('one', rule(EVERYBODY, ['*'], more))], ALICE, what) === 'one', expected,
      JSON.stringify([more, what])
    )
  }
  t.end()
})

t.test('rules about paths', t => {
  const cases: Array<readonly [string, string, boolean]> = [
    ['*', '/anything', true],
    ['/healthz', '/healthz', true],
    ['/healthz', '/healthz/etcd', true],
    ['/healthz', '/healthzextra', false],
    ['/', '/version', true],
    ['/apis/*', '/apis/apps', true],
    ['/apis/*', '/apis', false],
    ['/apis/*', '/apisextra', false]
  ]
  for (const [url, asked, expected] of cases) {
    const rules: Rules = [{ subjects: [EVERYBODY], nonResourceRules: [{ verbs: ['get'], nonResourceURLs: [url] }] }]
    t.equal(matched([named('one', rules)], ALICE, path('get', asked)) === 'one', expected, `${url} ${asked}`)
    t.equal(matched([named('one', rules)], ALICE, path('post', asked)), undefined)
  }
  t.end()
})

t.test('the lowest precedence wins, of equal ones the first name', t => {
  t.equal(matched([named('z', rule(EVERYBODY), 10), named('a', rule(EVERYBODY), 20)], ALICE, info('get', 'pods')), 'z')
  t.equal(matched([named('z', rule(EVERYBODY), 10), named('a', rule(EVERYBODY), 10)], ALICE, info('get', 'pods')), 'a')
  t.equal(
    matched([named('z', rule(EVERYBODY), 10), named('B', rule(EVERYBODY), 10)], ALICE, info('get', 'pods')), 'B',
    'by bytes'
  )
  t.end()
})

t.test('schemas without matching subjects or rules are skipped', t => {
  t.equal(
    matched(
      [
        named(
          'nobody',
          [{ subjects: [], resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }] }],
          1
        ),
        named('bare', [], 2),
        named('other', rule(EVERYBODY), 3)
      ],
      ALICE,
      info('get', 'pods')
    ),
    'other'
  )
  t.equal(matched([named('broken', [{ subjects: [{ kind: 'User' }] }])], ALICE, info('get', 'pods')), undefined)
  t.end()
})

t.test('where requests go that a server begins with', t => {
  const all = [...MANDATORY_SCHEMAS, ...SUGGESTED_SCHEMAS].map(({ metadata: { name = '' }, spec }) => ({ name, spec }))
  const manager = user('system:orch-controller-manager', 'system:authenticated')
  const robot = user(
    'system:serviceaccount:orch-system:robot', 'system:serviceaccounts', 'system:serviceaccounts:orch-system',
    'system:authenticated'
  )
  const node = user('system:node:one', 'system:nodes', 'system:authenticated')
  const lease = (verb: string, namespace = 'orch-system'): RequestInfo =>
    info(verb, 'leases', { group: 'coordination.orch.io', namespace })
  const cases: Array<readonly [UserInfo, RequestInfo, string]> = [
    [user('root', 'system:masters', 'system:authenticated'), info('list', 'pods'), 'exempt'],
    [user('system:anonymous', 'system:unauthenticated'), path('get', '/readyz'), 'probes'],
    [user('system:anonymous', 'system:unauthenticated'), path('get', '/readyz/etcd'), 'probes'],
    [manager, lease('update'), 'system-leader-election'],
    [robot, lease('get'), 'system-leader-election'],
    [robot, info('update', 'configmaps', { namespace: 'a' }), 'workload-leader-election'],
    [manager, info('update', 'endpoints', { namespace: 'a' }), 'endpoint-controller'],
    [
      user('system:serviceaccount:orch-system:endpoint-controller'), info('update', 'endpoints', { namespace: 'a' }),
      'endpoint-controller'
    ],
    [node, info('patch', 'nodes', { subresource: 'status', name: 'one' }), 'system-node-high'],
    [node, lease('update', 'orch-node-lease'), 'system-node-high'],
    [node, info('get', 'secrets', { namespace: 'a' }), 'system-nodes'],
    [manager, info('list', 'pods'), 'orch-controller-manager'],
    [user('system:orch-scheduler', 'system:authenticated'), info('list', 'pods'), 'orch-scheduler'],
    [robot, info('list', 'pods'), 'orch-system-service-accounts'],
    [
      user('system:serviceaccount:a:robot', 'system:serviceaccounts', 'system:authenticated'), info('list', 'pods'),
      'service-accounts'
    ],
    [ALICE, info('list', 'pods'), 'global-default']
  ]
  for (const [who, what, expected] of cases) {
    t.equal(matched(all, who, what), expected, `${who.username} ${what.verb} ${what.resource}${what.path}`)
  }
  t.equal(matched(all.filter(({ name }) => name !== 'global-default'), ALICE, info('list', 'pods')), 'catch-all')
  t.end()
})

t.test('ten thousand schemas about everybody are looked through once for each kind of request', t => {
  let asked = 0
  const rules = Array.from(
    { length: 10_000 }, (_, index) => named(`schema-${index}`, rule(EVERYBODY, [`resource-${index}`]), index + 1)
  )
  const matcher = new Matcher(rules)
  const counted = new Proxy(info('get', 'resource-9999'), {
    get: (target, key: keyof RequestInfo) => { asked++; return target[key] }
  })
  t.equal(matcher.match(ALICE, counted)?.name, 'schema-9999')
  const once = asked
  t.equal(matcher.match(ALICE, counted)?.name, 'schema-9999')
  t.ok(asked - once < 20, `${asked - once} looks at the request`)
  for (let index = 0; index < 3000; index++) {
    t.equal(matcher.match(user(`user ${index}`), info('get', 'none')), undefined)
  }
  t.end()
})
