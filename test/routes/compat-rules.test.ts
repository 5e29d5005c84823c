/** `compatNames`: rules, plugins, columns and strategies act upon what they act upon under own names. */
import t from 'tap'
import type { ServerOptions } from '../../app.js'
import { kept } from '../controllers/aggregation/kept-store.js'
import { build, type Json, type Test } from '../build.js'
import { condition, DEFINITIONS, until } from '../controllers/custom/definitions.js'

const OWN = { accept: 'application/vnd.orch.protobuf;q=0.1, application/json' }
const compat = (t: Test, options: ServerOptions = {}) => build(t, { compatNames: true, ...options })

t.test('a claim keeps the snapshot that it is restored from', async t => {
  const server = await compat(t)
  const dataSource = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'kubernetes' }
  const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
  const made = await server.post(claims, { metadata: { name: 'a' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } }, dataSource } })
  t.match(made, { code: 201, json: { spec: { dataSource } } })
  t.match((await server.get(`${claims}/a`, OWN)).json, { spec: { dataSource: { ...dataSource, apiGroup: 'snapshot.storage.orch.io' } } })
})

t.test('definitions are named after groups of either project', async t => {
  const server = await compat(t)
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  for (const group of ['metrics.k8s.io', 'metrics.orch.io', 'snapshot.storage.k8s.io', 'snapshot.storage.orch.io', 'volumes.storage.k8s.io', 'orch.io.example.com']) {
    const metadata = { name: `things.${group}`, annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' } }
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
    const sent = { metadata, spec: { group, scope: 'Namespaced', names: { kind: 'Thing', plural: 'things' }, versions } }
    t.match(await server.post(definitions, sent), { code: 201, json: { metadata, spec: { group } } }, group)
    t.match(await server.post(definitions, sent), { code: 409, json: { message: `customresourcedefinitions.apiextensions.k8s.io "things.${group}" already exists`, details: { name: `things.${group}` } } })
    const refused = await server.post(definitions, { ...sent, metadata: { ...metadata, name: `others.${group}` } })
    const said = `Invalid value: "others.${group}"`
    t.match(refused, { code: 422, json: { message: said, details: { name: `others.${group}`, causes: [{ message: said }] } } })
  }
})

t.test('plugins read the tolerations and selectors of namespaces, and native resources are known', async t => {
  const server = await compat(t, { admission: { enabled: ['PodNodeSelector', 'PodTolerationRestriction'] } })
  const tolerations = JSON.stringify([{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' }])
  const annotations = { 'scheduler.alpha.kubernetes.io/node-selector': 'kubernetes.io/os=linux', 'scheduler.alpha.kubernetes.io/defaultTolerations': tolerations }
  t.match(await server.post('/api/v1/namespaces', { metadata: { name: 'team', annotations } }), { code: 201, json: { metadata: { annotations } } })
  await server.post('/api/v1/namespaces/team/serviceaccounts', { metadata: { name: 'default' } })
  const limits = { 'kubernetes.io/batch': '1500m' }
  const pod = await server.post('/api/v1/namespaces/team/pods', { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i', resources: { limits, requests: { 'kubernetes.io/batch': '1' } } }] } })
  t.match(pod, { code: 201, json: { spec: { nodeSelector: { 'kubernetes.io/os': 'linux' }, containers: [{ resources: { limits } }] } } }, pod.body)
  t.ok(pod.json['spec'].tolerations.some(({ key }: Json) => key === 'node.kubernetes.io/not-ready'))
  t.notMatch(pod.body, 'orch.io')
  const volumes = [{ name: 'v', flexVolume: { driver: 'example.com/d', options: { 'a.k8s.io/b': 'x' } } }]
  t.match(await server.post('/api/v1/namespaces/team/pods', { metadata: { name: 'q' }, spec: { volumes, containers: [{ name: 'c', image: 'i' }] } }), { code: 422, json: { message: 'the k8s.io namespace is reserved' } })
})

t.test('groups of the public project need its approval, and groups of ours without a partner are nobody\'s', async t => {
  const server = await compat(t)
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const schema = { openAPIV3Schema: { type: 'object' } }
  const sent = (group: string, annotations: Json = {}): Json => ({
    metadata: { name: `things.${group}`, annotations },
    spec: { group, scope: 'Namespaced', names: { kind: 'Thing', plural: 'things' }, versions: [{ name: 'v1', served: true, storage: true, schema }] }
  })
  for (const group of ['k8s.io', 'kubernetes.io', 'x.k8s.io', 'x.kubernetes.io', 'metrics.k8s.io']) {
    for (const annotations of [{}, { 'api-approved.orch.io': 'https://example.com' }, { 'api-approved.kubernetes.io': 'none' }]) {
      const refused = await server.post(definitions, sent(group, annotations))
      const said = 'protected groups must have approval annotation "api-approved.kubernetes.io"'
      const causes = [{ field: 'metadata.annotations[api-approved.kubernetes.io]' }]
      t.match(refused, { code: 422, json: { message: said, details: { causes } } }, group)
      t.notMatch(refused.body, 'api-approved.orch.io')
    }
    t.equal((await server.post(definitions, sent(group, { 'api-approved.kubernetes.io': 'https://example.com/1' }))).code, 201, group)
    let approval: Json | undefined
    await until(async () => {
      approval = condition((await server.get(`${definitions}/things.${group}`)).json, 'KubernetesAPIApprovalPolicyConformant')
      return approval !== undefined
    })
    t.match(approval, { status: 'True', message: 'approved in https://example.com/1' })
    t.equal((await server.patch(`${definitions}/things.${group}`, { metadata: { annotations: { 'api-approved.kubernetes.io': null } } })).code, 422)
  }
  for (const group of ['orch.io', 'x.orch.io', 'metrics.orch.io', 'k8s.io.example.com', 'xk8s.io']) {
    t.equal((await server.post(definitions, sent(group))).code, 201, group)
  }
})

t.test('a definition whose approval did not change passes', async t => {
  const backend = kept(t)
  const before = await build(t, { storage: backend })
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
  const spec = { group: 'x.k8s.io', scope: 'Namespaced', names: { kind: 'Thing', plural: 'things' }, versions }
  t.equal((await before.post(DEFINITIONS, { metadata: { name: 'things.x.k8s.io' }, spec })).code, 201)
  const server = await compat(t, { storage: backend })
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.x.k8s.io'
  t.equal((await server.patch(path, { metadata: { labels: { a: 'b' } } })).code, 200)
  t.equal((await server.patch(path, { metadata: { annotations: { 'api-approved.kubernetes.io': 'none' } } })).code, 422)
  t.equal((await server.patch(path, { metadata: { annotations: { 'api-approved.kubernetes.io': 'unapproved' } } })).code, 200)
})
