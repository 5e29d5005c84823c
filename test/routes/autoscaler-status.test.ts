/**
 * Autoscalers keep parts of spec and status in annotations of the stored version; a write changes only those of its own
 * part.
 */
import t from 'tap'
import { build } from '../build.js'

const AUTOSCALERS = (version: string): string =>
  `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`
const memory = (name: string) => ({
  type: 'Resource', resource: { name, target: { type: 'AverageValue', averageValue: '1Gi' } }
})
const spec = {
  maxReplicas: 3,
  scaleTargetRef: { kind: 'Deployment', name: 'web' },
  metrics: [memory('memory')],
  behavior: { scaleDown: { selectPolicy: 'Disabled' } }
}
const status = {
  currentReplicas: 1,
  desiredReplicas: 2,
  conditions: [{ type: 'AbleToScale', status: 'True' }],
  currentMetrics: [{ type: 'Resource', resource: { name: 'memory', current: { averageValue: '1' } } }]
}
const metadata = { name: 'a' }

t.test('a new one has no status', async t => {
  const server = await build(t)
  t.same((await server.post(AUTOSCALERS('v2'), { metadata, spec, status })).json.status, {
    desiredReplicas: 0, currentMetrics: null
  })
})

t.test('spec and status are changed apart, in every version', async t => {
  const server = await build(t)
  const url = `${AUTOSCALERS('v2')}/a`
  const made = (await server.post(AUTOSCALERS('v2'), { metadata, spec })).json.spec
  const other = { ...spec, maxReplicas: 9, metrics: [memory('other')], behavior: undefined }
  const updated = (await server.put(`${url}/status`, { metadata, spec: other, status })).json
  t.same(updated.spec, made)
  t.match(updated.status, status)
  const put = (await server.put(url, { metadata, spec: other })).json
  t.match(put.spec, { maxReplicas: 9, metrics: [memory('other')] })
  t.equal(put.spec.behavior, undefined)
  t.same(put.status, updated.status)
  const patched = (await server.patch(url, { spec: { minReplicas: 2 }, status: { conditions: [] } })).json
  t.same(patched.status, updated.status)
  const v1 = await server.put(`${AUTOSCALERS('v1')}/a/status`, {
    metadata,
    spec: { maxReplicas: 1, scaleTargetRef: spec.scaleTargetRef },
    status: { currentReplicas: 5, desiredReplicas: 5 }
  })
  t.match(v1.json, { spec: { maxReplicas: 9, minReplicas: 2 }, status: { currentReplicas: 5, desiredReplicas: 5 } })
  t.same((await server.get(url)).json.spec, patched.spec)
})
