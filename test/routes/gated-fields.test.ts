/** Fields of features that are off in this release: dropped from requests, kept if they are stored already. */
import t from 'tap'
import { CronJob } from '../../schemas/api/batch/v1.js'
import { Pod } from '../../schemas/api/core/pods.js'
import { DEFAULT_GATES } from '../../schemas/gates.js'
import { GatedFields } from '../../schemas/language/gated.js'
import { build, type Json } from '../build.js'

const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', minDomains: 2 }
const probe = { exec: { command: ['true'] }, terminationGracePeriodSeconds: 5 }
const container = {
  name: 'c', image: 'i', livenessProbe: probe, startupProbe: probe, securityContext: { procMount: 'Unmasked' }
}
const spec = {
  containers: [container],
  initContainers: [{ name: 'i', image: 'i', securityContext: { procMount: 'Unmasked' } }],
  topologySpreadConstraints: [spread]
}
const labels = { app: 'web' }
const template = { metadata: { labels }, spec }
const once = { ...template, spec: { ...spec, restartPolicy: 'Never' } }
const selector = { matchLabels: labels }

const TEMPLATES: ReadonlyArray<readonly [string, object, (object: Json) => Json]> = [
  ['/api/v1/namespaces/default/pods', { spec }, object => object.spec],
  ['/api/v1/namespaces/default/podtemplates', { template }, object => object['template'].spec],
  [
    '/api/v1/namespaces/default/replicationcontrollers', { spec: { selector: labels, template } },
    object => object.spec.template.spec
  ],
  ...[
    'deployments', 'daemonsets', 'replicasets', 'statefulsets'
  ].map(plural => [
    `/apis/apps/v1/namespaces/default/${plural}`, { spec: { selector, template } },
    (object: Json) => object.spec.template.spec as Json
  ] as const),
  ['/apis/batch/v1/namespaces/default/jobs', { spec: { template: once } }, object => object.spec.template.spec],
  [
    '/apis/batch/v1/namespaces/default/cronjobs',
    { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: once } } } },
    object => object.spec.jobTemplate.spec.template.spec
  ]
]

t.test('of every kind of pod and template', async t => {
  const server = await build(t)
  for (const [url, object, podOf] of TEMPLATES) {
    const { code, json } = await server.post(url, { metadata: { name: 'a' }, ...object })
    t.equal(code, 201, JSON.stringify(json))
    const made = podOf(json)
    t.notMatch(JSON.stringify(made), /minDomains|"terminationGracePeriodSeconds":5|Unmasked/, url)
    t.match(made, {
      containers: [{ securityContext: { procMount: 'Default' }, livenessProbe: { exec: probe.exec } }],
      topologySpreadConstraints: [{ maxSkew: 1 }]
    })
  }
})

t.test('the status of a network policy, however it is written', async t => {
  const server = await build(t)
  const policies = '/apis/networking.orch.io/v1/namespaces/default/networkpolicies'
  const status = {
    conditions: [
      { type: 'Accepted', status: 'True', reason: 'A', message: '', lastTransitionTime: '2022-01-01T00:00:00Z' }
    ]
  }
  t.same((await server.post(policies, { metadata: { name: 'a' }, spec: { podSelector: {} }, status })).json.status, {})
  const { json } = await server.get(`${policies}/a`)
  for (const path of ['', '/status']) {
    t.match(await server.put(`${policies}/a${path}`, { ...json, status }), { code: 200, json: { status: {} } })
    t.same((await server.patch(`${policies}/a${path}`, { status })).json.status, {})
  }
  t.equal((await server.get(`${policies}/a`)).json.metadata.resourceVersion, json.metadata.resourceVersion)
})

t.test('of one kind each', async t => {
  const server = await build(t)
  const made = async (url: string, object: object): Promise<Json> =>
    (await server.post(url, { metadata: { name: 'a' }, ...object })).json
  const set = await made('/apis/apps/v1/namespaces/default/statefulsets', {
    spec: {
      selector,
      template,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' },
      updateStrategy: { rollingUpdate: { partition: 1, maxUnavailable: 2 } }
    }
  })
  t.equal(set.spec.persistentVolumeClaimRetentionPolicy, undefined)
  t.same(set.spec.updateStrategy, { type: 'RollingUpdate', rollingUpdate: { partition: 1 } })
  const node = await made('/api/v1/nodes', {
    spec: { configSource: { configMap: { namespace: 'a', name: 'b', kubeletConfigKey: 'c' } } }
  })
  t.equal(node.spec.configSource, undefined)
  const any = { rule: 'RunAsAny' }
  const policy = await made('/apis/policy/v1beta1/podsecuritypolicies', {
    spec: { seLinux: any, runAsUser: any, supplementalGroups: any, fsGroup: any, allowedProcMountTypes: ['Masked'] }
  })
  t.match(
    { policy: policy.spec.fsGroup, mounts: policy.spec.allowedProcMountTypes }, { policy: any, mounts: undefined }
  )
  const crons = '/apis/batch/v1/namespaces/default/cronjobs'
  const cron = await made(crons, {
    spec: { schedule: 'TZ=UTC * * * * *', timeZone: 'Mars/Phobos', jobTemplate: { spec: { template: once } } }
  })
  t.equal(cron.spec.timeZone, undefined, 'a dropped field is not validated')
  t.equal((await server.patch(`${crons}/a`, { spec: { timeZone: 'UTC' } })).json.spec.timeZone, undefined)
  const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
  await made(claims, { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } })
  t.same(
    (await server.patch(`${claims}/a/status`, {
      status: { phase: 'Bound', resizeStatus: 'NodeExpansionPending', allocatedResources: { storage: '2Gi' } }
    })).json.status,
    { phase: 'Bound' }
  )
})

t.test('the target of a container leaves a metric without a source', async t => {
  const server = await build(t)
  const metrics = [
    {
      type: 'ContainerResource',
      containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 50 } }
    }
  ]
  const { code, json } = await server.post(
    '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
    { metadata: { name: 'a' }, spec: { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'web' }, metrics } }
  )
  t.match(
    { code, json },
    {
      code: 422,
      json: { details: { causes: [{ reason: 'FieldValueRequired', field: 'spec.metrics[0].containerResource' }] } }
    }
  )
})

t.test('existing values are kept', async t => {
  const pod = { metadata: {}, spec } as unknown as Pod // the members that are read
  const sent = structuredClone(pod)
  new GatedFields(Pod, DEFAULT_GATES).drop(sent, structuredClone(pod))
  t.same(sent, pod)
  const cron = {
    metadata: {}, spec: { timeZone: 'UTC', jobTemplate: { spec: { template: {} } } }
  } as unknown as CronJob
  new GatedFields(CronJob, DEFAULT_GATES).drop(cron, structuredClone(cron))
  t.equal(cron.spec.timeZone, 'UTC')
  new GatedFields(CronJob, DEFAULT_GATES).drop(cron, undefined)
  t.equal(cron.spec.timeZone, undefined)
})
