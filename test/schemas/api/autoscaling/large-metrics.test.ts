/** Versions of an autoscaler keep each other's fields, whose annotations may be larger than others. */
import t from 'tap'
import { build, type Json } from '../../../build.js'

t.test('metrics and behavior of any size that fits an object are kept', async t => {
  const server = await build(t)
  const url = (version: string, name = ''): string =>
    `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers${name === '' ? '' : `/${name}`}`
  const spec = { maxReplicas: 5, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } }
  const metrics = (count: number, name = 'a-metric-with-a-long-name-as-they-are-in-clusters'): Json[] => Array.from(
    { length: count },
    (_, index) => ({
      type: 'Pods',
      pods: { metric: { name: `${name}-${index}` }, target: { type: 'AverageValue', averageValue: `1${index}7` } }
    })
  )
  const policies = Array.from({ length: 6000 }, (_, index) => ({ type: 'Pods', value: index + 1, periodSeconds: 60 }))

  const made = await server.post(url('v2'), {
    metadata: { name: 'created' }, spec: { ...spec, metrics: metrics(2500), behavior: { scaleUp: { policies } } }
  })
  t.match(made, { code: 201 })
  const { json } = await server.get(url('v2', 'created'))
  t.strictSame(json['spec'].metrics, metrics(2500))
  t.equal(json['spec'].behavior.scaleUp.policies.length, 6000)
  t.match(
    await server.post(url('v2'), { metadata: { name: 'patched' }, spec: { ...spec, metrics: metrics(3) } }),
    { code: 201 }
  )
  t.match(await server.patch(url('v2', 'patched'), { spec: { metrics: metrics(2500) } }), { code: 200 })
  t.equal((await server.get(url('v2', 'patched'))).json['spec'].metrics.length, 2500)

  for (const version of ['v1', 'v2', 'v2beta1', 'v2beta2']) {
    const seen = (await server.get(url(version, 'created'))).json
    t.match(
      await server.put(url(version, 'created'), { ...seen, spec: { ...seen['spec'], maxReplicas: 6 } }), { code: 200 },
      version
    )
    t.strictSame(
      (await server.get(url('v2', 'created'))).json['spec'], { ...json['spec'], maxReplicas: 6 },
      `after an update in ${version}`
    )
    t.match(
      await server.put(url(version, 'created'), {
        ...seen, metadata: { ...seen['metadata'], resourceVersion: undefined }
      }),
      { code: 200 }
    )
  }

  t.match(
    await server.patch(url('v2', 'patched'), { spec: { metrics: metrics(6000, 'x'.repeat(300)) } }), { code: 413 }
  )
  t.match(
    await server.patch(url('v2', 'patched'), { spec: { metrics: Array.from({ length: 45_000 }, () => ({})) } }),
    { code: 422 }
  )
  const inV1 = (text: string): Json => ({ metadata: { annotations: { 'autoscaling.alpha.orch.io/metrics': text } } })
  t.match(await server.patch(url('v1', 'patched'), inV1(`[${'{},'.repeat(45_000)}{}]`)), { code: 422 })
  t.match(await server.patch(url('v1', 'patched'), inV1(`[${'{},'.repeat(200_000)}{}]`)), { code: 413 })
  t.match(
    await server.patch(url('v1', 'patched'), { metadata: { annotations: { other: 'x'.repeat(300_000) } } }),
    { code: 422 }, 'other annotations have their limit'
  )
  t.equal((await server.get(url('v2', 'patched'))).json['spec'].metrics.length, 2500)
})

t.test('behavior that v1 and v2beta1 have for one direction alone is kept so', async t => {
  const server = await build(t)
  const text = JSON.stringify({
    ScaleUp: {
      StabilizationWindowSeconds: null, SelectPolicy: null, Policies: [{ Type: 'Pods', Value: 4, PeriodSeconds: 60 }]
    }
  })
  for (const version of ['v1', 'v2beta1']) {
    const key = 'autoscaling.alpha.orch.io/behavior'
    const metadata = { name: version, annotations: { [key]: text } }
    const url = `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`
    t.match(
      await server.post(url, {
        metadata, spec: { maxReplicas: 5, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } }
      }),
      { code: 201 },
      version
    )
    const { annotations } = (await server.get(`${url}/${version}`)).json['metadata'] as Json
    t.match(JSON.parse(annotations[key] as string), { ...JSON.parse(text) as Json, ScaleDown: null })
    t.match(
      (await server.get(`${url.replace(version, 'v2')}/${version}`)).json['spec'].behavior.scaleUp.policies,
      [{ type: 'Pods', value: 4, periodSeconds: 60 }]
    )
  }
})
