/** Remembered decisions: asked twice, changed in between, and questions that must not be taken for each other. */
import t from 'tap'
import type { FollowedResource } from '../../../auth/follow.js'
import { pathRequest, resourceRequest, type RequestInfo } from '../../../auth/request-info.js'
import { RbacAuthorizer } from '../../../auth/rbac/authorizer.js'
import { Decisions } from '../../../auth/rbac/decisions.js'
import type { ApiObject } from '../../../schemas/meta/api-object.js'
import type { UserInfo } from '../../../schemas/meta/user-info.js'

const GROUP = 'rbac.authorization.orch.io'
const ANN: UserInfo = { username: 'ann', uid: '', groups: ['devs'], extra: {} }

type Rule = Record<'verbs' | 'apiGroups' | 'resources', string[]> & { resourceNames?: string[] }
const rule = (verb: string, resource: string, resourceNames?: string[]): Rule => ({
  verbs: [verb], apiGroups: ['*'], resources: [resource], ...(resourceNames === undefined ? {} : { resourceNames })
})
const info = (verb: string, resource: string, more: Partial<RequestInfo> = {}): RequestInfo =>
  resourceRequest({ verb, group: '', version: 'v1', resource, namespace: 'team', ...more })

/** An authorizer whose roles and bindings the test sets. */
async function started (): Promise<{
  allows: (info: RequestInfo, user?: UserInfo) => boolean, role: (name: string, ...rules: Rule[]) => void,
  bind: (name: string, role: string) => void, unbind: (name: string) => void, unrole: (name: string) => void
}> {
  const followed = new Map<string, FollowedResource>()
  const authorizer = new RbacAuthorizer({
    follow: (_what, resources) => {
      for (const resource of resources) followed.set(resource.plural, resource)
      return { loaded: true, catchUp: () => {}, close: () => {} }
    }
  })
  await authorizer.start()
  // of the followed type
  const changed = (plural: string, object: object): void => { followed.get(plural)?.changed(object as ApiObject) }
  return {
    allows: (info, user = ANN) => authorizer.authorize({ user, info }).decision === 'Allow',
    role: (name, ...rules) => { changed('roles', { metadata: { name, namespace: 'team' }, rules }) },
    bind: (name, role) => {
      changed('rolebindings', {
        metadata: { name, namespace: 'team' }, roleRef: { apiGroup: GROUP, kind: 'Role', name: role },
        subjects: [{ kind: 'User', name: 'ann' }]
      })
    },
    unbind: name => { followed.get('rolebindings')?.deleted({ namespace: 'team', name }) },
    unrole: name => { followed.get('roles')?.deleted({ namespace: 'team', name }) }
  }
}

t.test('a decision is taken again after each change of a role or binding', async t => {
  const { allows, role, bind, unbind, unrole } = await started()
  const question = info('get', 'pods')
  const twice = (expected: boolean, when: string): void => {
    for (const time of ['asked first', 'asked again']) t.equal(allows(question), expected, `${when}, ${time}`)
  }
  twice(false, 'nothing is there')
  bind('b', 'reader')
  twice(false, 'bound to a role that is missing')
  role('reader', rule('get', 'pods'))
  twice(true, 'the role is made')
  role('reader', rule('get', 'secrets'))
  twice(false, 'the role says less')
  role('reader', rule('get', 'pods'))
  twice(true, 'the role says it again')
  unbind('b')
  twice(false, 'the binding is gone')
  bind('b', 'reader')
  unrole('reader')
  twice(false, 'the role is gone')
})

t.test('what holds for one name is not remembered for another', async t => {
  const { allows, role, bind } = await started()
  role('named', rule('get', 'secrets', ['mine']))
  bind('named', 'named')
  for (const round of [1, 2]) {
    t.equal(allows(info('get', 'secrets', { name: 'mine' })), true, `its own, round ${round}`)
    t.equal(allows(info('get', 'secrets', { name: 'yours' })), false, `another, round ${round}`)
    t.equal(allows(info('get', 'secrets')), false, `none, round ${round}`)
  }
  role('all', rule('get', 'secrets'))
  bind('all', 'all')
  t.equal(allows(info('get', 'secrets', { name: 'yours' })), true)
})

t.test('questions whose texts run into each other are told apart, as a review asks with any text', async t => {
  const { allows, role, bind } = await started()
  role('odd', rule('get', 'pods'))
  bind('odd', 'odd')
  t.equal(allows(info('get', 'pods', { group: 'x' })), true)
  for (const other of [
    info('get', 'ods', { group: 'xp' }), info('getx', 'pods'), info('get', 'pod', { group: 'x', subresource: 's' }),
    info('get', 'pods', { group: 'x', namespace: '', subresource: 'team' }), pathRequest('xpodsteam', 'get')
  ]) {
    t.equal(allows(other), false, JSON.stringify(other))
  }
})

t.test('users are told apart, also those of one name', async t => {
  const { allows, role, bind } = await started()
  role('reader', rule('get', 'pods'))
  bind('b', 'reader')
  t.equal(allows(info('get', 'pods')), true)
  t.equal(allows(info('get', 'pods'), { ...ANN, username: 'eve' }), false)
  t.equal(allows(info('get', 'pods'), { ...ANN }), true)
})

t.test('the number of decisions is bounded', async t => {
  const decisions = new Decisions()
  const asked = (at: number): RequestInfo => info('get', 'pods', { namespace: `n${at}` })
  for (let at = 0; at <= 10_000; at++) decisions.remember(ANN, asked(at), { decision: 'Allow' })
  t.equal(decisions.of(ANN, asked(0)), undefined, 'the first are forgotten')
  t.match(decisions.of(ANN, asked(10_000)), { decision: 'Allow' })
})
