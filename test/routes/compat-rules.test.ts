/** `compatNames`: rules, plugins, columns and strategies act upon what they act upon under own names. */
import t from 'tap'
import type { ServerOptions } from '../../app.js'
import { build, type Json, type Test } from '../build.js'

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
