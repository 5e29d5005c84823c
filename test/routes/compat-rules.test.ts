/** `compatNames`: rules, plugins, columns and strategies act upon what they act upon under own names. */
import t from 'tap'
import type { ServerOptions } from '../../app.js'
import { kept } from '../controllers/aggregation/kept-store.js'
import { build, type Json, type Test } from '../build.js'
import { condition, DEFINITIONS, install, until } from '../controllers/custom/definitions.js'

const OWN = { accept: 'application/vnd.orch.protobuf;q=0.1, application/json' }
const compat = (t: Test, options: ServerOptions = {}) => build(t, { compatNames: true, ...options })

t.test('a claim keeps the snapshot that it is restored from', async t => {
  const server = await compat(t)
  const dataSource = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'kubernetes' }
  const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
  const made = await server.post(claims, {
    metadata: { name: 'a' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } }, dataSource }
  })
  t.match(made, { code: 201, json: { spec: { dataSource } } })
  t.match((await server.get(`${claims}/a`, OWN)).json, {
    spec: { dataSource: { ...dataSource, apiGroup: 'snapshot.storage.orch.io' } }
  })
})

t.test('definitions are named after groups of either project', async t => {
  const server = await compat(t)
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  for (const group of [
    'metrics.k8s.io', 'metrics.orch.io', 'snapshot.storage.k8s.io', 'snapshot.storage.orch.io',
    'volumes.storage.k8s.io', 'orch.io.example.com'
  ]) {
    const metadata = { name: `things.${group}`, annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' } }
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
    const sent = {
      metadata, spec: { group, scope: 'Namespaced', names: { kind: 'Thing', plural: 'things' }, versions }
    }
    t.match(await server.post(definitions, sent), { code: 201, json: { metadata, spec: { group } } }, group)
    t.match(await server.post(definitions, sent), {
      code: 409,
      json: {
        message: `customresourcedefinitions.apiextensions.k8s.io "things.${group}" already exists`,
        details: { name: `things.${group}` }
      }
    })
    const refused = await server.post(definitions, { ...sent, metadata: { ...metadata, name: `others.${group}` } })
    const said = `Invalid value: "others.${group}"`
    t.match(refused, {
      code: 422, json: { message: said, details: { name: `others.${group}`, causes: [{ message: said }] } }
    })
  }
})

t.test('plugins read the tolerations and selectors of namespaces, and native resources are known', async t => {
  const server = await compat(t, { admission: { enabled: ['PodNodeSelector', 'PodTolerationRestriction'] } })
  const tolerations = JSON.stringify([
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' }
  ])
  const annotations = {
    'scheduler.alpha.kubernetes.io/node-selector': 'kubernetes.io/os=linux',
    'scheduler.alpha.kubernetes.io/defaultTolerations': tolerations
  }
  t.match(await server.post('/api/v1/namespaces', { metadata: { name: 'team', annotations } }), {
    code: 201, json: { metadata: { annotations } }
  })
  await server.post('/api/v1/namespaces/team/serviceaccounts', { metadata: { name: 'default' } })
  const limits = { 'kubernetes.io/batch': '1500m' }
  const pod = await server.post('/api/v1/namespaces/team/pods', {
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i', resources: { limits, requests: { 'kubernetes.io/batch': '1' } } }] }
  })
  t.match(
    pod,
    {
      code: 201,
      json: { spec: { nodeSelector: { 'kubernetes.io/os': 'linux' }, containers: [{ resources: { limits } }] } }
    },
    pod.body
  )
  t.ok(pod.json['spec'].tolerations.some(({ key }: Json) => key === 'node.kubernetes.io/not-ready'))
  t.notMatch(pod.body, 'orch.io')
  const volumes = [{ name: 'v', flexVolume: { driver: 'example.com/d', options: { 'a.k8s.io/b': 'x' } } }]
  t.match(
    await server.post('/api/v1/namespaces/team/pods', {
      metadata: { name: 'q' }, spec: { volumes, containers: [{ name: 'c', image: 'i' }] }
    }),
    { code: 422, json: { message: 'the k8s.io namespace is reserved' } }
  )
})

t.test(
  'groups of the public project need its approval, and groups of ours without a partner are nobody\'s', async t => {
    const server = await compat(t)
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const schema = { openAPIV3Schema: { type: 'object' } }
    const sent = (group: string, annotations: Json = {}): Json => ({
      metadata: { name: `things.${group}`, annotations },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind: 'Thing', plural: 'things' },
        versions: [{ name: 'v1', served: true, storage: true, schema }]
      }
    })
    for (const group of ['k8s.io', 'kubernetes.io', 'x.k8s.io', 'x.kubernetes.io', 'metrics.k8s.io']) {
      for (const annotations of [
        {}, { 'api-approved.orch.io': 'https://example.com' }, { 'api-approved.kubernetes.io': 'none' }
      ]) {
        const refused = await server.post(definitions, sent(group, annotations))
        const said = 'protected groups must have approval annotation "api-approved.kubernetes.io"'
        const causes = [{ field: 'metadata.annotations[api-approved.kubernetes.io]' }]
        t.match(refused, { code: 422, json: { message: said, details: { causes } } }, group)
        t.notMatch(refused.body, 'api-approved.orch.io')
      }
      t.equal(
        (await server.post(definitions, sent(group, { 'api-approved.kubernetes.io': 'https://example.com/1' }))).code,
        201, group
      )
      let approval: Json | undefined
      await until(async () => {
        approval = condition(
          (await server.get(`${definitions}/things.${group}`)).json, 'KubernetesAPIApprovalPolicyConformant'
        )
        return approval !== undefined
      })
      t.match(approval, { status: 'True', message: 'approved in https://example.com/1' })
      t.equal(
        (await server.patch(`${definitions}/things.${group}`, {
          metadata: { annotations: { 'api-approved.kubernetes.io': null } }
        })).code,
        422
      )
    }
    for (const group of ['orch.io', 'x.orch.io', 'metrics.orch.io', 'k8s.io.example.com', 'xk8s.io']) {
      t.equal((await server.post(definitions, sent(group))).code, 201, group)
    }
  }
)

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
  t.equal(
    (await server.patch(path, { metadata: { annotations: { 'api-approved.kubernetes.io': 'unapproved' } } })).code, 200
  )
})

const COLLECTIONS: Readonly<Record<string, string>> = {
  Namespace: '/api/v1/namespaces',
  Secret: '/api/v1/namespaces/default/secrets',
  ResourceQuota: '/api/v1/namespaces/default/resourcequotas',
  Pod: '/api/v1/namespaces/default/pods',
  ServiceAccount: '/api/v1/namespaces/default/serviceaccounts',
  PersistentVolumeClaim: '/api/v1/namespaces/default/persistentvolumeclaims',
  HorizontalPodAutoscaler: '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers',
  FlowSchema: '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
  StorageClass: '/apis/storage.k8s.io/v1/storageclasses',
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ValidatingWebhookConfiguration: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
  Deployment: '/apis/apps/v1/namespaces/default/deployments'
}
const containers = [{ name: 'c', image: 'i' }]
const clientConfig = { url: 'https://127.0.0.1:1' }
const common = {
  name: 'h.example.com', clientConfig, failurePolicy: 'Ignore', sideEffects: 'None', admissionReviewVersions: ['v1']
}
const hook = (more: Json): Json => ({ webhooks: [{ ...common, ...more }] })
const workload = (annotations: Json): Json => ({
  spec: { selector: labelled, template: { metadata: { labels: { app: 'a' }, annotations }, spec: { containers } } }
})
const labelled = { matchLabels: { app: 'a' } }
const binding = (role: string, subjects: Json[]): Json => ({ roleRef: { kind: 'ClusterRole', name: role }, subjects })
const flow = (subject: Json, group = ''): Json => ({
  spec: {
    priorityLevelConfiguration: { name: 'global-default' },
    rules: [
      {
        subjects: [subject], resourceRules: [{ verbs: ['*'], apiGroups: [group], resources: ['*'], clusterScope: true }]
      }
    ]
  }
})
/** Names that the server acts upon, and objects that have them. */
const ACTED: ReadonlyArray<readonly [kind: string, name: string, body: (name: string) => Json]> = [
  ['Namespace', 'pod-security.kubernetes.io/enforce', name => ({ metadata: { labels: { [name]: 'restricted' } } })],
  ['Namespace', 'pod-security.kubernetes.io/warn-version', name => ({ metadata: { labels: { [name]: 'latest' } } })],
  [
    'Namespace', 'scheduler.alpha.kubernetes.io/node-selector',
    name => ({ metadata: { annotations: { [name]: 'a=b' } } })
  ],
  ['Secret', 'kubernetes.io/basic-auth', name => ({ type: name, stringData: { username: 'a', password: 'b' } })],
  ['ResourceQuota', 'count/roles.rbac.authorization.k8s.io', name => ({ spec: { hard: { [name]: '1' } } })],
  ['ResourceQuota', 'gold.storageclass.storage.k8s.io/requests.storage', name => ({ spec: { hard: { [name]: '1' } } })],
  [
    'Pod', 'container.seccomp.security.alpha.kubernetes.io/c',
    name => ({ metadata: { annotations: { [name]: 'runtime/default' } }, spec: { containers } })
  ],
  [
    'Pod', 'node.kubernetes.io/not-ready',
    name => ({ spec: { containers, tolerations: [{ key: name, operator: 'Exists', effect: 'NoExecute' }] } })
  ],
  ['Deployment', 'container.apparmor.security.beta.kubernetes.io/c', name => workload({ [name]: 'runtime/default' })],
  [
    'ServiceAccount', 'kubernetes.io/enforce-mountable-secrets',
    name => ({ metadata: { annotations: { [name]: 'true' } } })
  ],
  [
    'StorageClass', 'storageclass.kubernetes.io/is-default-class',
    name => ({ metadata: { annotations: { [name]: 'true' } }, provisioner: 'example.com/p' })
  ],
  ['RoleBinding', 'system:kube-scheduler', name => binding('view', [{ kind: 'User', name }])],
  ['RoleBinding', 'system:kube-dns', name => binding(name, [{ kind: 'User', name: 'kubernetes' }])],
  [
    'ClusterRole', 'rbac.authorization.k8s.io/aggregate-to-view',
    name => ({ metadata: { labels: { [name]: 'true' } }, rules: [] })
  ],
  [
    'ClusterRole', 'rbac.authorization.k8s.io',
    name => ({ rules: [{ apiGroups: [name], resources: ['roles'], verbs: ['get'] }] })
  ],
  [
    'PersistentVolumeClaim',
    'snapshot.storage.k8s.io',
    name => ({
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        dataSource: { apiGroup: name, kind: 'VolumeSnapshot', name: 'a' }
      }
    })
  ],
  [
    'HorizontalPodAutoscaler',
    'autoscaling.alpha.kubernetes.io/behavior',
    name => ({
      metadata: { annotations: { [name]: '{}' } },
      spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' } }
    })
  ],
  ['FlowSchema', 'rbac.authorization.k8s.io', name => flow({ kind: 'User', user: { name: 'ann' } }, name)],
  ['FlowSchema', 'system:kube-scheduler', name => flow({ kind: 'User', user: { name } })],
  [
    'ValidatingWebhookConfiguration', 'rbac.authorization.k8s.io',
    name => hook({ rules: [{ operations: ['CREATE'], apiGroups: [name], apiVersions: ['v1'], resources: ['roles'] }] })
  ],
  [
    'ValidatingWebhookConfiguration', 'kubernetes.io/metadata.name',
    name => hook({ namespaceSelector: { matchLabels: { [name]: 'a' } } })
  ]
]
const ownName = (name: string): string =>
  name.replace(/k8s\.io|kubernetes\.io/, 'orch.io').replace('system:kube-', 'system:orch-')
const withName = (body: Json, name: string): Json => ({ ...body, metadata: { name, ...body['metadata'] } })

t.test('own names that the server acts upon are refused from clients with public names', async t => {
  const server = await compat(t)
  await server.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  for (const [at, [kind, name, body]] of ACTED.entries()) {
    const url = COLLECTIONS[kind] ?? ''
    const own = url.replace('k8s.io', 'orch.io')
    const refused = await server.post(url, withName(body(ownName(name)), 'refused'))
    t.match(refused, { code: 422, json: { message: `use "${name}"` } }, `${kind} ${name}: ${refused.body}`)
    t.notMatch(refused.body, /orch\.io|system:orch/)
    t.match(await server.post(url, withName(body(name), `a${at}`)), { code: 201 }, `${kind} ${name}`)
    // Under our names it was there before, which a client with public names need not mend.
    t.equal(
      (await server.call('POST', own, withName(body(name), `b${at}`), {
        ...OWN, 'content-type': 'application/json'
      })).code,
      201
    )
    t.equal(
      (await server.patch(`${url}/b${at}`, { metadata: { labels: { a: 'b' } } })).code, 200, `${kind} ${name} unchanged`
    )
  }
  const namespaces = '/api/v1/namespaces'
  await server.call(
    'POST', namespaces, { metadata: { name: 'team', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } },
    { ...OWN, 'content-type': 'application/json' }
  )
  t.equal(
    (await server.patch(`${namespaces}/team`, {
      metadata: { labels: { 'pod-security.orch.io/enforce': 'baseline' } }
    })).code,
    422,
    'a change'
  )
  t.equal(
    (await server.patch(`${namespaces}/team`, { metadata: { labels: { 'pod-security.orch.io/enforce': null } } })).code,
    200, 'a removal'
  )
})

t.test('public names that the server would act upon are warned of where nobody uses public names', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  await server.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  for (const [at, [kind, name, body]] of ACTED.entries()) {
    const url = (COLLECTIONS[kind] ?? '').replace('k8s.io', 'orch.io')
    const json = JSON.stringify(withName(body(name), `a${at}`))
    const escaped = at % 2 === 0 ? json : json.replaceAll('k', '\\u006b')
    const made = await server.call('POST', url, escaped, { 'content-type': 'application/json' })
    t.equal(made.code, 201, made.body)
    t.match(
      String(made.headers['warning']), `${name}\\" has no effect on this server, which acts upon \\"${ownName(name)}`
    )
    const again = await server.patch(`${url}/a${at}`, { metadata: { labels: { a: 'b' } } })
    t.notMatch(String(again.headers['warning'] ?? ''), 'no effect')
    t.notMatch(
      String((await server.post(url, withName(body(ownName(name)), `c${at}`))).headers['warning'] ?? ''), 'no effect'
    )
  }
})

t.test(
  'objects of custom types whose kind is that of a built-in type, or of a member of every object, have no such names',
  async t => {
    const metadata = {
      name: 'a', annotations: { 'service.beta.kubernetes.io/load-balancer-source-ranges': '10.0.0.0/8' }
    }
    const [loose, group] = [{ type: 'object', 'x-orch-preserve-unknown-fields': true }, 'example.com']
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: loose } }]
    for (const compatNames of [false, true]) {
      const server = await build(t, { compatNames })
      for (const [kind, plural] of [['Service', 'services'], ['constructor', 'constructors']] as const) {
        const spec = { group, scope: 'Namespaced', names: { kind, plural }, versions }
        await install(server, { metadata: { name: `${plural}.${group}` }, spec })
        const made = await server.post(
          `/apis/${group}/v1/namespaces/default/${plural}`, { apiVersion: `${group}/v1`, kind, metadata }
        )
        t.equal(made.code, 201, `${kind}: ${made.body}`)
        t.notOk(made.headers['warning'])
      }
    }
  }
)
