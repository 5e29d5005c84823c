/** Metrics are stored in an order of their own; errors name the positions in the request. */
import t from 'tap'
import { build, type Json, type Answer } from '../build.js'

const urlOf = (version: string): string => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
const cpu = (averageUtilization: number): Json => ({
  type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } }
})
const memory = (target: Json): Json => ({
  type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', ...target } }
})
const good = memory({ averageValue: '1Gi' })
const bad = memory({})
const RAW = 'resource.target.averageUtilization'
const causes = ({ json }: Answer): string[] => (json.details?.causes ?? []).map(({ field }: Json) => field)

const CASES: ReadonlyArray<readonly [title: string, metrics: readonly Json[], ...fields: string[]]> = [
  ['all is well', [cpu(50), good]],
  ['a CPU target first', [cpu(0), good], `spec.metrics[0].${RAW}`],
  ['a CPU target last', [good, cpu(0)], `spec.metrics[1].${RAW}`],
  ['another behind a CPU target', [cpu(50), bad], `spec.metrics[1].${RAW}`],
  ['another before and behind', [bad, cpu(50), good, bad], `spec.metrics[0].${RAW}`, `spec.metrics[3].${RAW}`],
  ['two CPU targets', [cpu(50), cpu(50), bad], `spec.metrics[2].${RAW}`]
]

for (const version of ['v2', 'v2beta2']) {
  t.test(`of ${version}`, async t => {
    const server = await build(t)
    const url = urlOf(version)
    const object = (name: string, metrics: readonly Json[]): Json => ({
      metadata: { name }, spec: { scaleTargetRef, maxReplicas: 3, metrics }
    })
    t.equal((await server.post(url, object('there', [good]))).code, 201)
    for (const [title, metrics, ...fields] of CASES) {
      for (const [verb, answer] of [
        ['create', await server.post(`${url}?dryRun=All`, object('new', metrics))],
        ['update', await server.put(`${url}/there?dryRun=All`, object('there', metrics))],
        ['patch', await server.patch(`${url}/there?dryRun=All`, { spec: { metrics } })],
        [
          'apply',
          await server.call(
            'PATCH', `${url}/there?dryRun=All&fieldManager=x&force=true`,
            { apiVersion: `autoscaling/${version}`, kind: 'HorizontalPodAutoscaler', ...object('there', metrics) },
            { 'content-type': 'application/apply-patch+yaml' }
          )
        ]
      ] as const) {
        t.equal(answer.code, fields.length > 0 ? 422 : verb === 'create' ? 201 : 200, `${verb}: ${title}`)
        t.same(causes(answer), fields, `${verb}: ${title}`)
      }
    }
    const made = await server.post(url, object('ordered', [cpu(50), good]))
    t.same(made.json.spec.metrics.map(({ resource }: Json) => resource.name), ['memory', 'cpu'], 'as it is stored')
    const stored = await server.get(`${urlOf('v1')}/ordered`)
    t.same(
      Object.keys(stored.json.metadata.annotations), ['autoscaling.alpha.orch.io/metrics'],
      'and nothing of the order sent is kept'
    )
    t.equal(stored.json.spec.targetCPUUtilizationPercentage, 50)
  })
}

t.test('only the server writes the annotation of sent metrics', async t => {
  const server = await build(t)
  const sent = JSON.stringify([
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 1 } } },
    { type: 'Resource', resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 1 } } }
  ])
  const annotations = { 'autoscaling.alpha.orch.io/sent-metrics': sent }
  const wrong = {
    ...annotations,
    'autoscaling.alpha.orch.io/metrics': JSON.stringify([
      { type: 'Resource', resource: { name: 'memory', targetAverageUtilization: -1 } }
    ])
  }
  const refused = await server.post(urlOf('v1'), {
    metadata: { name: 'x', annotations: wrong }, spec: { scaleTargetRef, maxReplicas: 3 }
  })
  t.equal(refused.code, 422, 'the annotation of metrics is validated')
  const made = await server.post(urlOf('v1'), {
    metadata: { name: 'x', annotations }, spec: { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 50 }
  })
  t.equal(made.code, 201)
  t.equal(made.json.metadata.annotations, undefined)
  t.equal((await server.get(`${urlOf('v2')}/x`)).json.spec.metrics.length, 1)
})
