import t from 'tap'
import { DEFAULT_GATES } from '../../../../schemas/gates.js'
import { created, creates, served, updated, updates } from '../rules.js'

const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
const VALID = { spec: { maxReplicas: 5, scaleTargetRef: target } }
const spec = (more: object) => ({ spec: more })
const metrics = (...list: object[]) => spec({ metrics: list })
const AT = 'spec.metrics[0]'
const resource = (one: object) =>
  metrics({ type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', ...one } } })
const named = (type: string, source: string, one: object, more: object = {}) =>
  metrics({ type, [source]: { metric: { name: 'm' }, target: { type: 'Value', ...one }, ...more } })
const scaleUp = (more: object) => spec({ behavior: { scaleUp: more } })
const UP = 'spec.behavior.scaleUp'

for (const version of ['v1', 'v2', 'v2beta1', 'v2beta2']) {
  const autoscalers = served(`autoscaling/${version}`, 'horizontalpodautoscalers')
  creates(t, autoscalers, VALID, [
    ['no replicas', spec({ minReplicas: 0 }), 'Invalid spec.minReplicas', 'Forbidden spec.metrics'],
    ['no most', spec({ maxReplicas: 0 }), 'Invalid spec.maxReplicas'],
    ['the most below the least', spec({ minReplicas: 6 }), 'Invalid spec.maxReplicas'],
    [
      'no target', spec({ scaleTargetRef: null }), 'Required spec.scaleTargetRef.kind',
      'Required spec.scaleTargetRef.name'
    ],
    [
      'a target that is no path', spec({ scaleTargetRef: { kind: 'a/b', name: '..' } }),
      'Invalid spec.scaleTargetRef.kind', 'Invalid spec.scaleTargetRef.name'
    ]
  ])
  updates(t, autoscalers, VALID, [['what is new', {}, spec({ maxReplicas: 0 }), 'Invalid spec.maxReplicas']])
  updates(
    t,
    autoscalers,
    VALID,
    [
      [
        'fewer than none', {}, { status: { currentReplicas: -1, desiredReplicas: -1 } },
        'Invalid status.currentReplicas', 'Invalid status.desiredReplicas'
      ]
    ],
    'status'
  )
}

for (const version of ['v2', 'v2beta2']) {
  creates(t, served(`autoscaling/${version}`, 'horizontalpodautoscalers'), VALID, [
    ['memory', resource({ averageValue: '1Gi' })],
    ['a target of nothing', resource({}), `Required ${AT}.resource.target.averageUtilization`],
    [
      'two targets', resource({ averageValue: '1Gi', averageUtilization: 50 }),
      `Forbidden ${AT}.resource.target.averageValue`
    ],
    ['targets that are not positive', resource({ averageValue: '0' }), `Invalid ${AT}.resource.target.averageValue`],
    ['use of nothing', resource({ averageUtilization: 0 }), `Invalid ${AT}.resource.target.averageUtilization`],
    ['no type', metrics({}), `Required ${AT}.type`, `NotSupported ${AT}.type`],
    ['an unknown one', metrics({ type: 'Weather' }), `NotSupported ${AT}.type`],
    ['no source', metrics({ type: 'Pods' }), `Required ${AT}.pods`],
    ['a metric of each pod', named('Pods', 'pods', { averageValue: '5' })],
    ['of no value', named('Pods', 'pods', { averageValue: '0' }), `Invalid ${AT}.pods.target.averageValue`],
    [
      'without a name', named('Pods', 'pods', { averageValue: '5' }, { metric: { name: '' } }),
      `Required ${AT}.pods.metric.name`
    ],
    [
      'with a name that is no path', named('Pods', 'pods', { averageValue: '5' }, { metric: { name: 'a/b' } }),
      `Invalid ${AT}.pods.metric.name`
    ],
    ['a metric of an object', named('Object', 'object', { value: '5' }, { describedObject: target })],
    [
      'an average of it',
      named('Object', 'object', { type: 'AverageValue', averageValue: '5' }, { describedObject: target })
    ],
    [
      'a target without a type', resource({ type: null, averageValue: '5' }), `Required ${AT}.resource.target.type`,
      `Invalid ${AT}.resource.target.type`
    ],
    [
      'of an unknown one', named('External', 'external', { type: 'Mean', value: '5' }),
      `Invalid ${AT}.external.target.type`
    ],
    ['of nothing', named('Pods', 'pods', {}), `Required ${AT}.pods.target.averageValue`],
    [
      'of no object', named('Object', 'object', { value: '5' }, { describedObject: {} }),
      `Required ${AT}.object.describedObject.kind`, `Required ${AT}.object.describedObject.name`
    ],
    ['a metric from outside', named('External', 'external', { value: '5' })],
    [
      'with two values', named('External', 'external', { value: '5', averageValue: '1' }),
      `Forbidden ${AT}.external.target.value`
    ],
    ['with none', named('External', 'external', {}), `Required ${AT}.external.target.averageValue`],
    [
      'two sources',
      metrics({
        type: 'Resource',
        resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1' } },
        pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1' } }
      }),
      `Forbidden ${AT}.pods`
    ],
    [
      'no container',
      metrics({
        type: 'ContainerResource',
        containerResource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1' } }
      }),
      `Required ${AT}.containerResource.container`
    ],
    ['how fast', scaleUp({ stabilizationWindowSeconds: 3600, selectPolicy: 'Disabled' })],
    ['looking back too far', scaleUp({ stabilizationWindowSeconds: 3601 }), `Invalid ${UP}.stabilizationWindowSeconds`],
    ['looking forward', scaleUp({ stabilizationWindowSeconds: -1 }), `Invalid ${UP}.stabilizationWindowSeconds`],
    ['an unknown choice', scaleUp({ selectPolicy: 'Mean' }), `NotSupported ${UP}.selectPolicy`],
    ['no policies', scaleUp({ policies: [] }), `Required ${UP}.policies`],
    ['policies that nobody named', scaleUp({ policies: null })],
    [
      'a policy of nothing', scaleUp({ policies: [{}] }), `NotSupported ${UP}.policies[0].type`,
      `Invalid ${UP}.policies[0].value`, `Invalid ${UP}.policies[0].periodSeconds`
    ],
    [
      'a long period', scaleUp({ policies: [{ type: 'Pods', value: 1, periodSeconds: 1801 }] }),
      `Invalid ${UP}.policies[0].periodSeconds`
    ]
  ])
}

t.test('of several CPU metrics the one in percent becomes the target in v1, at any position', async t => {
  const v2 = served('autoscaling/v2', 'horizontalpodautoscalers')
  const cpu = (target: object) => ({ type: 'Resource', resource: { name: 'cpu', target } })
  const metrics = [
    cpu({ type: 'AverageValue', averageValue: '300m' }), cpu({ type: 'Utilization', averageUtilization: 70 })
  ]
  const { object } = created(v2, { spec: { ...VALID.spec, metrics } })
  t.match(object, { spec: { targetCPUUtilizationPercentage: 70 } })
  v2.type.strategy.canonicalize?.(object, DEFAULT_GATES)
  t.match(v2.conversion?.fromStored(object), { spec: { metrics } })
  const used = (...all: number[]) =>
    all.map(averageUtilization => ({ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization } } }))
  t.match(
    updated(
      v2, { spec: { ...VALID.spec, metrics } },
      { spec: { ...VALID.spec, metrics }, status: { currentMetrics: used(10, 20) } }, 'status'
    ).object,
    { status: { currentCPUUtilizationPercentage: 20 } },
    'of those in use the last'
  )
})

t.test('a behavior annotation without contents is dropped', async t => {
  const { object } = created(served('autoscaling/v1', 'horizontalpodautoscalers'), {
    metadata: { annotations: { 'autoscaling.alpha.orch.io/behavior': '{"ScaleUp":null}' } },
    spec: { scaleTargetRef: target, maxReplicas: 5 }
  })
  t.equal(object.metadata.annotations, undefined)
})

t.test('an average over the pods of an object stays valid in every version', async t => {
  const v2 = served('autoscaling/v2', 'horizontalpodautoscalers')
  const metric = {
    type: 'Object',
    object: { describedObject: target, metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '5' } }
  }
  const { object } = created(v2, { spec: { ...VALID.spec, metrics: [metric] } })
  v2.type.strategy.canonicalize?.(object, DEFAULT_GATES)
  for (const version of ['v1', 'v2', 'v2beta1', 'v2beta2']) {
    const one = served(`autoscaling/${version}`, 'horizontalpodautoscalers')
    const shown = one.conversion?.fromStored(object) ?? object
    t.same(created(one, JSON.parse(JSON.stringify(shown))).errors, [], version)
  }
  t.match(v2.conversion?.fromStored(object), { spec: { metrics: [metric] } })
})
