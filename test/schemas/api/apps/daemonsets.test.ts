import { DEFAULT_GATES } from '../../../../schemas/gates.js'
import t from 'tap'
import { daemonSets } from '../../../../schemas/api/apps/daemonsets.js'
import { changed, creates, made, updates } from '../cases.js'

const T = 'spec.template'
const set = {
  metadata: { name: 'agent', namespace: 'default' },
  spec: {
    selector: { matchLabels: { app: 'agent' } },
    template: { metadata: { labels: { app: 'agent' } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } }
  }
}

t.test('the rules of a new daemon set', async t => {
  creates(t, daemonSets, set, [
    [{}],
    [{ 'spec.selector': undefined }, `Invalid ${T}.metadata.labels`],
    [{ 'spec.selector': {} }, 'Invalid spec.selector'],
    [{ 'spec.selector.matchLabels': { app: 'other' } }, `Invalid ${T}.metadata.labels`],
    [
      { 'spec.selector.matchExpressions': [{ key: 'a', operator: 'In' }] },
      'Required spec.selector.matchExpressions[0].values'
    ],
    [
      { 'spec.minReadySeconds': -1, 'spec.revisionHistoryLimit': -1 }, 'Invalid spec.minReadySeconds',
      'Invalid spec.revisionHistoryLimit'
    ],
    [{ [`${T}.spec.restartPolicy`]: 'Never' }, `NotSupported ${T}.spec.restartPolicy`],
    [{ [`${T}.spec.activeDeadlineSeconds`]: 1 }, `Forbidden ${T}.spec.activeDeadlineSeconds`],
    [{ [`${T}.spec.containers[0].image`]: '' }, `Required ${T}.spec.containers[0].image`],
    [
      { [`${T}.spec.volumes`]: [{ name: 'a', gcePersistentDisk: { pdName: 'd' } }] },
      `Invalid ${T}.spec.volumes[0].gcePersistentDisk.readOnly`
    ]
  ])
})

t.test('a rolling update has either maxUnavailable or maxSurge', async t => {
  const s = 'spec.updateStrategy'
  const r = `${s}.rollingUpdate`
  creates(t, daemonSets, set, [
    [{ [s]: { type: 'OnDelete' } }],
    [{ [s]: { type: 'Other' } }, `NotSupported ${s}`],
    [{ [r]: { maxUnavailable: 0, maxSurge: 1 } }],
    [{ [r]: { maxUnavailable: '10%' } }],
    [{ [r]: { maxUnavailable: 1, maxSurge: 1 } }, `Invalid ${r}.maxSurge`],
    [{ [r]: { maxUnavailable: 0, maxSurge: '0%' } }, `Required ${r}.maxUnavailable`],
    [{ [r]: { maxUnavailable: '101%', maxSurge: 0 } }, `Invalid ${r}.maxUnavailable`],
    [{ [r]: { maxUnavailable: 0, maxSurge: '101%' } }, `Invalid ${r}.maxSurge`],
    [{ [r]: { maxUnavailable: -1 } }, `Invalid ${r}.maxUnavailable`],
    [{ [r]: { maxUnavailable: 'x', maxSurge: 1 } }, `Invalid ${r}.maxUnavailable`]
  ])
})

t.test('mutable fields and the rules of the status', async t => {
  updates(t, daemonSets, set, [
    [{ [`${T}.spec.containers[0].image`]: 'b' }],
    [{ 'spec.selector.matchLabels.b': 'c', [`${T}.metadata.labels.b`]: 'c' }, 'Invalid spec.selector']
  ])
  const counts = [
    'currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady', 'updatedNumberScheduled',
    'numberAvailable', 'numberUnavailable', 'observedGeneration', 'collisionCount'
  ]
  updates(
    t,
    daemonSets,
    set,
    [
      [{ status: { numberReady: 5 } }],
      ...counts.map(count => [{ [`status.${count}`]: -1 }, `Invalid status.${count}`] as const)
    ],
    'status'
  )
})

t.test('its templates are counted for older controllers, by the server alone', async t => {
  const count = (object: ReturnType<typeof made>) =>
    object.metadata.annotations?.['deprecated.daemonset.template.generation']
  const old = made(daemonSets, set)
  daemonSets.strategy.prepareForCreate?.(old, undefined, DEFAULT_GATES)
  t.equal(count(old), '1')
  const changedTo = (change: Record<string, unknown>) => {
    const object = made(daemonSets, changed(set, change))
    daemonSets.strategy.prepareForUpdate?.(object, old, '', DEFAULT_GATES, Date.now())
    daemonSets.strategy.settle?.(object, old)
    return count(object)
  }
  t.equal(changedTo({ 'spec.minReadySeconds': 3 }), '1')
  t.equal(changedTo({ 'metadata.annotations': { 'deprecated.daemonset.template.generation': '9' } }), '1')
  t.equal(changedTo({ [`${T}.spec.containers[0].image`]: 'b' }), '2')
})
