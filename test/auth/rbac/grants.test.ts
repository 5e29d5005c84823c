/** Grants by namespace, subject and role: what a decision and a change look at, counted. */
import t from 'tap'
import { Grants, type Binding } from '../../../auth/rbac/grants.js'
import type { UserInfo } from '../../../schemas/meta/user-info.js'

const GROUP = 'rbac.authorization.orch.io'
const ANN: UserInfo = { username: 'ann', uid: '', groups: ['devs', 'system:authenticated'], extra: {} }

type Subject = Record<'kind' | 'name', string> & { namespace?: string }
const user = (name: string): Subject => ({ kind: 'User', name })
const group = (name: string): Subject => ({ kind: 'Group', name })
const bindingOf = (name: string, namespace: string, role: string, subjects: Subject[]): Binding =>
  // of either kind
  ({
    metadata: { name, namespace }, roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: role }, subjects
  }) as unknown as Binding

function granted (...bindings: Binding[]): {
  grants: Grants
  bind: (one: Binding) => void
  looked: (action: () => void) => number
} {
  const grants = new Grants()
  const bind = (one: Binding): void => { grants.set(`${one.metadata.namespace ?? ''}/${one.metadata.name ?? ''}`, one) }
  for (const one of bindings) bind(one)
  const looked = (action: () => void): number => {
    const before = grants.looked
    action()
    return grants.looked - before
  }
  return { grants, bind, looked }
}

const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))

t.test(
  'a decision looks at what is bound cluster-wide and in its namespace, however many namespaces bind the same group',
  async t => {
    const { grants, looked } = granted(
      bindingOf('everywhere', '', 'view', [group('devs')]),
      ...many(5000, at => bindingOf('devs', `n${at}`, `role-${at % 7}`, [group('devs')]))
    )
    t.equal(looked(() => { t.same(grants.of(ANN, 'n8').map(({ roleRef }) => roleRef.name), ['view', 'role-1']) }), 2)
    t.equal(looked(() => { t.same(grants.of(ANN, '').map(({ roleRef }) => roleRef.name), ['view']) }), 1)
    t.equal(looked(() => { t.same(grants.of({ ...ANN, groups: [] }, 'n8'), []) }), 0)
  }
)

t.test(
  'equal subjects of a binding count once, and a role that many bindings grant to a subject is looked at once',
  async t => {
    const { grants, looked } = granted(...many(151, at =>
      bindingOf(`b${at}`, 'team', 'view', many(1000, () => group('devs')))))
    t.equal(looked(() => { t.same(grants.of(ANN, 'team').map(({ binding }) => binding), ['b0']) }), 1)
    t.equal(
      looked(() => { t.equal(grants.of({ ...ANN, groups: many(10_000, () => 'devs') }, 'team').length, 1) }), 1,
      'also for a review that repeats the group'
    )
    for (let at = 0; at < 151; at++) {
      t.equal(grants.of(ANN, 'team')[0]?.binding, `b${at}`)
      t.equal(looked(() => { grants.delete(`team/b${at}`) }), 1)
    }
    t.same(grants.of(ANN, 'team'), [])
  }
)

t.test('a change of a binding looks at its own grants, however many bindings name its subjects', async t => {
  const users = many(18, at => user(`u${at}`))
  const { grants, bind, looked } = granted(...many(5000, at => bindingOf(`b${at}`, '', `role-${at}`, users)))
  t.equal(looked(() => { bind(bindingOf('b7', '', 'role-7', users.slice(1))) }), 18 + 17)
  t.equal(grants.of({ ...ANN, username: 'u0' }, '').length, 4999)
  t.equal(grants.of({ ...ANN, username: 'u1' }, '').length, 5000)
  t.equal(looked(() => { grants.delete('/b7') }), 17)
  t.equal(grants.of({ ...ANN, username: 'u1' }, '').length, 4999)
})

t.test('a void grant hides no other, and one fault of a subject is kept', async t => {
  const { grants } = granted(bindingOf('b', 'team', 'view', [
    ...many(1000, at => ({ ...user('ann'), namespace: `n${at}` })), user('ann'), { kind: 'Robot', name: 'r' }
  ]))
  t.same(grants.of(ANN, 'team').map(({ fault }) => fault), [
    'User "ann" has a namespace, "n0"', undefined, 'unrecognized subject kind "Robot"'
  ])
  t.same(
    grants.of({ ...ANN, username: 'bob' }, 'team').map(({ fault }) => fault), ['unrecognized subject kind "Robot"'],
    'an unknown kind is reported to everyone'
  )
})

t.test('grants elsewhere are those of other namespaces', async t => {
  const { grants } = granted(
    bindingOf('all', '', 'view', [user('ann')]), ...many(3, at => bindingOf('b', `n${at}`, 'edit', [user('ann')]))
  )
  t.same(grants.elsewhere(ANN, 'n1').map(({ namespace }) => namespace), ['n0', 'n2'])
})
