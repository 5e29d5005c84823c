import t from 'tap'
import { decode } from '../../../../schemas/language/decode.js'
import { applyDefaults } from '../../../../schemas/language/defaults.js'
import { agesAt } from '../../../../schemas/meta/duration.js'
import { tableRow } from '../../../../schemas/table.js'
import { autoscalerColumns, scaleColumns } from '../../../../schemas/api/autoscaling/columns.js'
import { Scale } from '../../../../schemas/api/autoscaling/scale.js'
import { horizontalPodAutoscalers } from '../../../../schemas/api/autoscaling/horizontalpodautoscalers.js'
import * as v1 from '../../../../schemas/api/autoscaling/v1.js'
import { HorizontalPodAutoscaler } from '../../../../schemas/api/autoscaling/v2.js'
import { minutesAgo, NOW } from '../cells.js'

const metadata = { name: 'web', namespace: 'shop', creationTimestamp: minutesAgo(90) }

function shown (metrics: object[], currentMetrics: object[] = [], more: object = {}) {
  const spec = {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 10, metrics, ...more
  }
  const { object } = decode(HorizontalPodAutoscaler, {
    metadata, spec, status: { currentReplicas: 3, desiredReplicas: 4, currentMetrics }
  })
  return Object.fromEntries(autoscalerColumns.filter(({ gate }) => gate === undefined).map(
    ({ name, cell }) => [name, cell(object, agesAt(NOW), own => own)]
  ))
}

const cpu = (target: object) => ({ type: 'Resource', resource: { name: 'cpu', target } })
const half = { type: 'Utilization', averageUtilization: 50 }

t.test('an autoscaler', async t => {
  t.same(shown(
    [cpu({ ...half, averageUtilization: 80 })],
    [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 37, averageValue: '370m' } } }],
    { minReplicas: 2 }
  ),
  {
    Name: 'web', Reference: 'Deployment/web', Targets: '37%/80%', MinPods: '2', MaxPods: 10, Replicas: 3, Age: '90m'
  })
  t.match(shown([]), { Targets: '<none>', MinPods: '<unset>' }, 'without its defaults')
})

t.test('a metric that was not read yet is unknown', async t => {
  t.equal(shown([cpu(half)])['Targets'], '<unknown>/50%')
  t.equal(shown([cpu({ type: 'Utilization' })])['Targets'], '<unknown>/<auto>')
  const object = { metric: { name: 'hits' }, describedObject: { kind: 'Ingress', name: 'web' } }
  t.equal(
    shown([{ type: 'Object', object: { ...object, target: { type: 'Value', value: '10k' } } }])['Targets'],
    '<unknown>/10k'
  )
})

t.test('metrics of every source', async t => {
  const metric = { name: 'm' }
  const describedObject = { kind: 'Ingress', name: 'web' }
  const target = { type: 'AverageValue', averageValue: '100m' }
  const current = { averageValue: '50m' }
  const total = { type: 'Value', value: '2k' }
  const cases: Array<[object, object, string]> = [
    [cpu(target), { resource: { name: 'cpu', current } }, '50m/100m'],
    [
      { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'web', target: half } },
      { containerResource: { name: 'cpu', container: 'web', current: { averageUtilization: 20 } } }, '20%/50%'
    ],
    [{ type: 'Pods', pods: { metric, target } }, { pods: { metric, current } }, '50m/100m'],
    [
      { type: 'Object', object: { metric, describedObject, target } }, { object: { metric, describedObject, current } },
      '50m/100m (avg)'
    ],
    [
      { type: 'Object', object: { metric, describedObject, target: total } },
      { object: { metric, describedObject, current: { value: '1k' } } }, '1k/2k'
    ],
    [{ type: 'External', external: { metric, target } }, { external: { metric, current } }, '50m/100m (avg)'],
    [
      { type: 'External', external: { metric, target: total } }, { external: { metric, current: { value: '1k' } } },
      '1k/2k'
    ],
    [
      { type: 'External', external: { metric, target } }, { external: { metric, current: { value: '1k' } } },
      '<unknown>/100m (avg)'
    ],
    [{ type: 'External', external: { metric, target: total } }, { external: { metric, current } }, '<unset>/2k'],
    [{ type: 'Pods', pods: { metric, target } }, { pods: { metric, current: {} } }, '<unset>/100m'],
    [cpu(target), { resource: { name: 'cpu', current: { averageUtilization: 20 } } }, '<unset>/100m'],
    [cpu(half), { pods: { metric, current } }, '<unknown>/50%'],
    [{ type: 'Weather' }, {}, '<unknown type>']
  ]
  for (const [spec, status, expected] of cases) {
    t.equal(shown([spec], [{ type: (spec as { type: string }).type, ...status }])['Targets'], expected, expected)
  }
})

t.test('two of many metrics are listed, and the rest counted', async t => {
  t.equal(shown([cpu(half), cpu(half)])['Targets'], '<unknown>/50%, <unknown>/50%')
  t.equal(shown([cpu(half), cpu(half), cpu(half), cpu(half)])['Targets'], '<unknown>/50%, <unknown>/50% + 2 more...')
})

t.test('the metrics that v1 keeps in annotations are read once for all cells of a row', async t => {
  const { object } = decode(v1.HorizontalPodAutoscaler, {
    metadata,
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 10 },
    status: { currentReplicas: 3, desiredReplicas: 4 }
  })
  let read = 0
  Object.defineProperty(object.metadata, 'annotations', {
    enumerable: true, get: () => { read++; return { 'autoscaling.alpha.orch.io/metrics': '[]' } }
  })
  const [representation] = horizontalPodAutoscalers.representations
  tableRow({ columns: representation?.columns }, object, NOW)
  const first = read
  t.ok(first > 0)
  tableRow({ columns: representation?.columns }, object, NOW)
  t.equal(read, first, 'nor for a second row of the same object')
})

t.test('a scale has columns for the desired and the available pods', async t => {
  const { object } = decode(Scale, { metadata, spec: { replicas: 4 }, status: { replicas: 3 } })
  applyDefaults(Scale, object)
  t.same(
    scaleColumns.map(({ name, format, type, cell }) => [name, type, format, cell(object, agesAt(NOW), own => own)]),
    [
      ['Name', 'string', '', 'web'], ['Desired', 'integer', '', 4], ['Available', 'integer', '', 3],
      ['Age', 'string', '', '90m']
    ]
  )
})

t.test('a later release names the resource of a metric', t => {
  const later = autoscalerColumns.find(({ name, gate }) => name === 'Targets' && gate !== undefined)
  const { object } = decode(HorizontalPodAutoscaler, {
    metadata,
    spec: {
      scaleTargetRef: { kind: 'Deployment', name: 'web' },
      maxReplicas: 10,
      metrics: [cpu({ type: 'Utilization', averageUtilization: 80 })]
    }
  })
  t.equal(later?.cell(object, agesAt(NOW), own => own), 'cpu: <unknown>/80%')
  t.end()
})
