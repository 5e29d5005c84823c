import t from 'tap'
import { build, type Json, type Client } from '../build.js'

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } }
const deployment = { metadata: { name: 'web' }, spec: { selector: { matchLabels: { app: 'web' } }, template } }

const generation = ({ metadata }: Json): number | undefined => metadata.generation as number | undefined

async function created (server: Client, url: string, object: object): Promise<Json> {
  const { code, json } = await server.post(url, object)
  if (code !== 201) throw new Error(JSON.stringify(json))
  return json
}

t.test('the generation counts changes of the spec', async t => {
  const server = await build(t)
  const url = `${DEPLOYMENTS}/web`
  t.equal(
    generation(await created(server, DEPLOYMENTS, { ...deployment, metadata: { name: 'web', generation: 7 } })), 1
  )
  const patched = async (patch: object, at = url) => generation((await server.patch(at, patch)).json)
  t.equal(await patched({ spec: { replicas: 2 } }), 2)
  t.equal(await patched({ spec: { replicas: 2 } }), 2, 'nothing new is wanted')
  t.equal(await patched({ metadata: { labels: { a: 'b' } } }), 2)
  t.equal(await patched({ metadata: { generation: 9 } }), 2, 'clients do not set it')
  t.equal(await patched({ metadata: { annotations: { a: 'b' } } }), 3, 'annotations of a deployment are handed on')
  t.equal(await patched({ status: { replicas: 2 }, metadata: { annotations: { c: 'd' } } }, `${url}/status`), 3)
  t.equal(await patched({ status: { replicas: 9 } }), 3, 'a status sent to the object itself is nothing')
  await server.patch(url, { metadata: { finalizers: ['example.com/keep'] } })
  await server.delete(url)
  t.equal(generation((await server.get(url)).json), 4, 'a deletion increases it')
})

t.test('an empty member differs from an absent one', async t => {
  const server = await build(t)
  await created(server, DEPLOYMENTS, { ...deployment, metadata: { name: 'web' } })
  const MERGE = 'application/merge-patch+json'
  const patched = async (spec: object, type = MERGE) => {
    const { json } = await server.patch(`${DEPLOYMENTS}/web`, { spec: { template: { spec } } }, type)
    return [json.metadata.generation, json.spec.template.spec.affinity, json.spec.template.spec.dnsConfig]
  }
  t.same(await patched({ affinity: {} }), [2, {}, undefined])
  t.same(await patched({ affinity: {} }), [2, {}, undefined])
  t.same(
    await patched({ dnsConfig: {}, tolerations: [], nodeSelector: {} }), [3, {}, {}],
    'lists and maps are as good as not there'
  )
  t.same(await patched({ tolerations: null }), [3, {}, {}])
  t.same(await patched({ affinity: { podAffinity: {} } }), [4, { podAffinity: {} }, {}])
  t.same(await patched({ affinity: null }), [5, undefined, {}])
  const sets = '/apis/apps/v1/namespaces/default/daemonsets'
  await created(server, sets, {
    metadata: { name: 'web' }, spec: { selector: deployment.spec.selector, template: deployment.spec.template }
  })
  const { json } = await server.patch(`${sets}/web`, { spec: { template: { spec: { affinity: {} } } } }, MERGE)
  t.match(json, { metadata: { generation: 2, annotations: { 'deprecated.daemonset.template.generation': '2' } } })
})

t.test('settings of a rolling update of a daemon set are numbers wherever they are there', async t => {
  const server = await build(t)
  const url = '/apis/apps/v1/namespaces/default/daemonsets'
  for (const [type, rollingUpdate, made] of [
    ['OnDelete', {}, { maxUnavailable: 0, maxSurge: 0 }],
    ['OnDelete', { maxUnavailable: 2 }, { maxUnavailable: 2, maxSurge: 0 }], ['OnDelete', undefined, undefined],
    ['RollingUpdate', {}, { maxUnavailable: 1, maxSurge: 0 }]
  ] as const) {
    const { json } = await server.post(`${url}?dryRun=All`, {
      metadata: { name: 'a' },
      spec: {
        selector: deployment.spec.selector, template: deployment.spec.template, updateStrategy: { type, rollingUpdate }
      }
    })
    t.same(json.spec.updateStrategy, made === undefined ? { type } : { type, rollingUpdate: made })
  }
})

t.test('each type with a generation starts with 1', async t => {
  const server = await build(t)
  const apps = '/apis/apps/v1/namespaces/default'
  const batch = '/apis/batch/v1/namespaces/default'
  const pod = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] }
  const kinds: ReadonlyArray<readonly [url: string, object: object]> = [
    [`${apps}/replicasets`, deployment],
    [`${apps}/daemonsets`, deployment],
    [`${apps}/statefulsets`, deployment],
    ['/api/v1/namespaces/default/replicationcontrollers', { metadata: { name: 'web' }, spec: { template } }],
    ['/api/v1/namespaces/default/podtemplates', { metadata: { name: 'web' }, template }],
    [
      '/apis/networking.orch.io/v1/namespaces/default/networkpolicies',
      { metadata: { name: 'web' }, spec: { podSelector: {} } }
    ],
    [`${batch}/jobs`, { metadata: { name: 'web' }, spec: { template: { spec: pod } } }],
    [
      `${batch}/cronjobs`,
      { metadata: { name: 'web' }, spec: { schedule: '@daily', jobTemplate: { spec: { template: { spec: pod } } } } }
    ],
    [
      '/apis/batch/v1beta1/namespaces/default/cronjobs',
      { metadata: { name: 'old' }, spec: { schedule: '@daily', jobTemplate: { spec: { template: { spec: pod } } } } }
    ]
  ]
  for (const [url, object] of kinds) t.equal(generation(await created(server, url, object)), 1, url)
  t.equal(
    generation(await created(server, '/api/v1/namespaces/default/pods', { metadata: { name: 'web' }, spec: pod })),
    undefined, 'pods count none'
  )
})

t.test('a job gets its selector, and a pod its phase and QoS class', async t => {
  const server = await build(t)
  const pod = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] }
  const job = await created(server, '/apis/batch/v1/namespaces/default/jobs', {
    metadata: { generateName: 'import-' }, spec: { template: { spec: pod } }, status: { active: 3 }
  })
  const labels = { 'controller-uid': job['metadata'].uid, 'job-name': job['metadata'].name }
  t.same(job['spec'].selector, { matchLabels: { 'controller-uid': job['metadata'].uid } })
  t.same(job['spec'].template.metadata.labels, labels)
  t.same(job['status'], {})
  const made = await created(server, '/api/v1/namespaces/default/pods', {
    metadata: { name: 'web' }, spec: pod, status: { phase: 'Running', podIP: '10.0.0.1' }
  })
  t.same(made['status'], { phase: 'Pending', qosClass: 'BestEffort' })
})

t.test('all errors of an object are reported at once, each with its field', async t => {
  const server = await build(t)
  const { code, json } = await server.post(DEPLOYMENTS, {
    metadata: { name: 'web' },
    spec: {
      replicas: -1,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main' }] } }
    }
  })
  t.equal(code, 422)
  t.match(json, { reason: 'Invalid', details: { group: 'apps', kind: 'Deployment', name: 'web' } })
  t.same(json['details'].causes.map(({ reason, field }: Json) => `${reason} ${field}`), [
    'FieldValueInvalid spec.replicas', 'FieldValueRequired spec.template.spec.containers[0].image'
  ])
})

t.test('containers are added to a running pod by ephemeralcontainers, and nothing else is', async t => {
  const server = await build(t)
  const url = '/api/v1/namespaces/default/pods/web'
  await created(server, '/api/v1/namespaces/default/pods', {
    metadata: { name: 'web' }, spec: { containers: [{ name: 'main', image: 'nginx' }] }
  })
  const answer = await server.patch(`${url}/ephemeralcontainers`, {
    metadata: { labels: { a: 'b' } },
    spec: { nodeName: 'x', ephemeralContainers: [{ name: 'debug', image: 'busybox' }] }
  })
  t.equal(answer.code, 200, answer.body)
  t.match(answer.json['spec'], { ephemeralContainers: [{ name: 'debug' }] })
  t.equal(answer.json['spec'].nodeName, undefined)
  t.equal(answer.json['metadata'].labels, undefined)
  t.match(await server.patch(`${url}/ephemeralcontainers`, { spec: { ephemeralContainers: null } }), {
    code: 422, json: { details: { causes: [{ reason: 'FieldValueForbidden', field: 'spec.ephemeralContainers' }] } }
  })
  t.match(await server.patch(url, { spec: { ephemeralContainers: null } }), {
    code: 422, json: { details: { causes: [{ reason: 'FieldValueForbidden', field: 'spec' }] } }
  })
})

t.test('an update of a pod\'s status is stored and leaves its owners unchanged', async t => {
  const server = await build(t)
  const url = '/api/v1/namespaces/default/pods/web'
  const owner = { apiVersion: 'v1', kind: 'ReplicationController', name: 'r', uid: 'u' }
  await created(server, '/api/v1/namespaces/default/pods', {
    metadata: { name: 'web', ownerReferences: [owner] }, spec: { containers: [{ name: 'main', image: 'nginx' }] }
  })
  const { json } = await server.patch(`${url}/status`, {
    metadata: { ownerReferences: null }, spec: { nodeName: 'x' }, status: { phase: 'Running', podIP: '10.0.0.1' }
  })
  t.same(json['metadata'].ownerReferences, [owner])
  t.equal(json['spec'].nodeName, undefined)
  t.match(json['status'], { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }], qosClass: 'BestEffort' })
  t.match(await server.patch(`${url}/status`, { status: { podIP: 'x', podIPs: [{ ip: 'x' }] } }), {
    code: 422, json: { details: { causes: [{ reason: 'FieldValueInvalid', field: 'status.podIPs[0]' }] } }
  })
})
