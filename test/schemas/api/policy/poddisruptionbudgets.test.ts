import t from 'tap'
import { created, creates, served, updated, updates } from '../rules.js'

const VALID = { spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } } }
const condition = {
  type: 'DisruptionAllowed', status: 'True', reason: 'Enough', message: '', lastTransitionTime: '2026-01-02T03:04:05Z'
}
const conditions = (...list: object[]) => ({ status: { conditions: list } })
const AT = 'status.conditions[0]'

for (const version of ['v1', 'v1beta1']) {
  const budgets = served(`policy/${version}`, 'poddisruptionbudgets')
  creates(t, budgets, VALID, [
    ['any name that a path can have', { metadata: { name: 'Any_Name', finalizers: ['plain'] } }],
    ['one that it cannot', { metadata: { name: 'a/b' } }, 'Invalid metadata.name'],
    ['percentages', { spec: { minAvailable: '50%' } }],
    ['both bounds', { spec: { maxUnavailable: 1 } }, 'Invalid spec'],
    ['less than none', { spec: { minAvailable: -1 } }, 'Invalid spec.minAvailable'],
    ['more than all', { spec: { minAvailable: null, maxUnavailable: '101%' } }, 'Invalid spec.maxUnavailable'],
    ['no percentage', { spec: { minAvailable: 'half' } }, 'Invalid spec.minAvailable'],
    ['a bad selector', { spec: { selector: { matchLabels: { app: 'a b' } } } }, 'Invalid spec.selector.matchLabels']
  ])
  updates(t, budgets, VALID, [
    ['another bound', {}, { spec: { minAvailable: null, maxUnavailable: 2 } }],
    ['whatever its status was once allowed to tell', { status: { expectedPods: -1 } }, { spec: { minAvailable: 2 } }]
  ])
  const negative = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']
  updates(t, budgets, VALID, [
    ['a condition', {}, conditions(condition)],
    ['a condition twice', {}, conditions(condition, condition), 'Duplicate status.conditions[1].type'],
    [
      'conditions that say nothing', {}, conditions({}), `Invalid ${AT}.type`, `NotSupported ${AT}.status`,
      `Required ${AT}.reason`, `Required ${AT}.lastTransitionTime`
    ],
    ['conditions of bad words', {}, conditions({
      ...condition, type: 'a b', status: 'Maybe', reason: 'a b', observedGeneration: -1
    }),
      `Invalid ${AT}.type`, `NotSupported ${AT}.status`, `Invalid ${AT}.reason`, `Invalid ${AT}.observedGeneration`],
    [
      'fewer than none', {}, { status: Object.fromEntries(negative.map(field => [field, -1])) },
      ...(version === 'v1' ? negative.map(field => `Invalid status.${field}`) : [])
    ]
  ], 'status')
}

t.test('an empty selector matches every pod in v1 and none in v1beta1; a missing one matches none in both', async t => {
  const [v1, v1beta1] = [served('policy/v1', 'poddisruptionbudgets'), served('policy/v1beta1', 'poddisruptionbudgets')]
  const shownIn = (one: typeof v1, selector: object | undefined) => (version: typeof v1): unknown => {
    const { object } = created(one, { spec: { minAvailable: 1, selector } })
    return ((version.conversion?.fromStored(object) ?? object) as { spec?: { selector?: unknown } }).spec?.selector
  }
  t.same(shownIn(v1, {})(v1), {})
  t.match(shownIn(v1, {})(v1beta1), { matchExpressions: [{ operator: 'DoesNotExist' }] })
  t.same(shownIn(v1beta1, {})(v1beta1), {})
  t.match(shownIn(v1beta1, {})(v1), { matchExpressions: [{ operator: 'Exists' }] })
  for (const one of [v1, v1beta1]) t.same([v1, v1beta1].map(shownIn(one, undefined)), [undefined, undefined])
  t.same(updated(v1, VALID, { spec: { minAvailable: 1, selector: {} } }).errors, [])
})
