/**
 * Each feature gate of the release: without effect, for another component, or with the effect that its proof checks.
 */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { GATES, gatesOf } from '../../schemas/gates.js'
import { GATES_CAME, GATES_WENT } from '../../schemas/gates-1.36.js'
import { build, type Client, type Json } from '../build.js'
import { definition, DEFINITIONS, version } from '../controllers/custom/definitions.js'

const FACTS = (JSON.parse(readFileSync(new URL('../../../test/facts/feature-gates.json', import.meta.url), 'utf8')) as {
  gates: Record<string, { default: boolean, stage: string }>
}).gates

/** Gates of node agents, schedulers, controller managers, proxies and clouds. */
const OF_OTHERS = `
  CPUCFSQuotaPeriod CPUManager CPUManagerPolicyAlphaOptions CPUManagerPolicyBetaOptions CPUManagerPolicyOptions
  CSIMigrationAWS CSIMigrationAzureFile CSIMigrationGCE CSIMigrationPortworx CSIMigrationRBD CSIMigrationvSphere
  CSIVolumeHealth DelegateFSGroupToCSIDriver DevicePlugins DisableAcceleratorUsageMetrics DisableCloudProviders
  DisableKubeletCloudCredentialProviders ExperimentalHostUserNamespaceDefaultingGate GracefulNodeShutdown
  GracefulNodeShutdownBasedOnPodPriority HonorPVReclaimPolicy InTreePluginAWSUnregister
  InTreePluginAzureDiskUnregister InTreePluginAzureFileUnregister InTreePluginGCEUnregister
  InTreePluginOpenStackUnregister InTreePluginPortworxUnregister InTreePluginRBDUnregister
  InTreePluginvSphereUnregister JobReadyPods KubeletCredentialProviders KubeletInUserNamespace KubeletPodResources
  KubeletPodResourcesGetAllocatable LegacyServiceAccountTokenNoAutoGeneration
  LocalStorageCapacityIsolationFSQuotaMonitoring LogarithmicScaleDown MemoryManager MemoryQoS
  NodeOutOfServiceVolumeDetach NodeSwap PodAndContainerStatsFromCRI ProxyTerminatingEndpoints QOSReserved
  RotateKubeletServerCertificate SeccompDefault SizeMemoryBackedVolumes TopologyManager VolumeCapacityPriority WinDSR
  WinOverlay`.trim().split(/\s+/)

/** Proved in other files. */
const ELSEWHERE = [
  'RemainingItemCount', 'APIServerTracing', 'APIPriorityAndFairness', 'APIServerIdentity', 'StorageVersionAPI',
  'CSIMigration'
]

/** Names the schema of the versions of a definition. */
const OF_VERSIONS = 'io.orch.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion'

const ns = (group: string, plural: string): string => `${group}/namespaces/default/${plural}`
const PODS = ns('/api/v1', 'pods')
const labels = { app: 'a' }
const selector = { matchLabels: labels }
const container = { name: 'c', image: 'i' }
const pod = (spec: Json = {}, more: Json = {}, metadata: Json = {}): Json => ({
  metadata: { name: 'a', ...metadata }, spec: { containers: [{ ...container, ...more }], ...spec }
})
const template = { metadata: { labels }, spec: { containers: [container] } }
const job = (spec: Json = {}): Json => ({
  metadata: { name: 'a' }, spec: { template: { spec: { containers: [container], restartPolicy: 'Never' } }, ...spec }
})
const claim = (spec: Json = {}): Json => ({
  metadata: { name: 'a' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } }, ...spec }
})
const service = (spec: Json): Json => ({
  metadata: { name: 'a' }, spec: { ports: [{ name: 'p', port: 80 }], selector: labels, ...spec }
})
const autoscaler = (spec: Json): Json => ({
  metadata: { name: 'a' }, spec: { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'web' }, ...spec }
})
const slice = (endpoint: Json): Json => ({
  metadata: { name: 'a' }, addressType: 'IPv4', ports: [], endpoints: [{ addresses: ['10.0.0.1'], ...endpoint }]
})

/** The created object, or the fields of its refusal. */
async function made (server: Client, url: string, object: Json): Promise<Json> {
  const { code, json } = await server.post(url, object)
  return code === 201
    ? json
    : { refused: ((json['details'] as Json)['causes'] as Json[]).map(({ field }) => field as unknown) }
}
const code = async (answer: Promise<{ code: number }>): Promise<number> => (await answer).code

interface Proof {
  readonly of: (server: Client) => Promise<unknown>
  readonly on: unknown
  readonly off: unknown
}

const STATEFUL = ns('/apis/apps/v1', 'statefulsets')
const stateful = (spec: Json = {}): Json => ({
  metadata: { name: 'a' }, spec: { selector, template, serviceName: 's', ...spec }
})
const AUTOSCALERS = ns('/apis/autoscaling/v2', 'horizontalpodautoscalers')
const CLAIMS = ns('/api/v1', 'persistentvolumeclaims')
const POLICIES = ns('/apis/networking.orch.io/v1', 'networkpolicies')
const source = { apiGroup: 'example.com', kind: 'Any', name: 'b' }
const lists = async (server: Client): Promise<Json> => {
  for (const name of ['a', 'b', 'c']) await server.post(ns('/api/v1', 'configmaps'), { metadata: { name } })
  return (await server.get(`${ns('/api/v1', 'configmaps')}?limit=2`)).json
}

const PROOFS: Readonly<Record<string, Proof>> = {
  APIListChunking: {
    of: async server => { const { items } = await lists(server); return (items as unknown[]).length > 2 },
    on: false,
    off: true
  },
  APIResponseCompression: {
    of: async server => {
      await server.post(ns('/api/v1', 'configmaps'), { metadata: { name: 'large' }, data: { a: 'a'.repeat(200_000) } })
      return (await server.get(
        `${ns('/api/v1', 'configmaps')}/large`, { 'accept-encoding': 'gzip' }
      )).headers['content-encoding']
    },
    on: 'gzip',
    off: undefined
  },
  CustomResourceValidationExpressions: {
    of: async server => {
      const { body, headers } = await server.post(DEFINITIONS, definition({
        versions: [
          version('v1', { schema: { openAPIV3Schema: { type: 'object', 'x-orch-validations': [{ rule: 'true' }] } } })
        ]
      }))
      return [body.includes('"x-orch-validations"'), headers.warning]
    },
    on: [true, undefined],
    off: [
      false,
      ['299 - "spec.versions: x-orch-validations are not kept, as the feature gate ' +
        'CustomResourceValidationExpressions is off"']
    ]
  },
  CustomResourceFieldSelectors: {
    of: async server => {
      const schema = {
        openAPIV3Schema: {
          type: 'object', properties: { spec: { type: 'object', properties: { color: { type: 'string' } } } }
        }
      }
      const made = definition({
        group: 'fields.example.com',
        versions: [version('v1', { schema, selectableFields: [{ jsonPath: '.spec.color' }] })]
      })
      const { body, headers } = await server.post(`${DEFINITIONS}?fieldValidation=Strict`, made)
      const { definitions } = (await server.get('/openapi/v2')).json as Json
      return [
        body.includes('"selectableFields"'), headers.warning, 'selectableFields' in definitions[OF_VERSIONS].properties
      ]
    },
    on: [true, undefined, true],
    off: [
      false,
      ['299 - "spec.versions: selectableFields are not kept, as the feature gate CustomResourceFieldSelectors is off"'],
      false
    ]
  },
  OpenAPIEnums: {
    of: async server => {
      const { definitions } = (await server.get('/openapi/v2')).json as Json
      return 'enum' in definitions['io.orch.api.core.v1.ContainerPort'].properties.protocol
    },
    on: true,
    off: false
  },
  OpenAPIV3: {
    of: async server => [
      await code(server.get('/openapi/v3')), await code(server.get('/openapi/v3/version')),
      (await server.get('/')).body.includes('/openapi/v3')
    ],
    on: [200, 200, true],
    off: [404, 404, false]
  },
  ServerSideFieldValidation: {
    of: async server => [
      (await server.post(PODS, { ...pod(), nope: 1 })).headers.warning !== undefined,
      await code(server.post(`${PODS}?fieldValidation=Strict`, { ...pod({}, {}, { name: 'b' }), nope: 1 }))
    ],
    on: [true, 400],
    off: [false, 201]
  },
  StorageVersionHash: {
    of: async server => (await server.get('/api/v1')).body.includes('storageVersionHash'), on: true, off: false
  },

  AnyVolumeDataSource: {
    of: async server => {
      const { spec } = await made(server, CLAIMS, claim({ dataSourceRef: source }))
      return spec['dataSourceRef']
    },
    on: source,
    off: undefined
  },
  AppArmor: {
    of: async server => (await made(
      server, PODS,
      pod({}, {}, { annotations: { 'container.apparmor.security.beta.orch.io/c': 'runtime/default', other: 'kept' } })
    )).metadata['annotations'],
    on: { 'container.apparmor.security.beta.orch.io/c': 'runtime/default', other: 'kept' },
    off: { other: 'kept' }
  },
  CSIInlineVolume: {
    of: async server => {
      const driver = await made(server, '/apis/storage.orch.io/v1/csidrivers', {
        metadata: { name: 'a' }, spec: { volumeLifecycleModes: ['Ephemeral'] }
      })
      const { spec, refused } = await made(server, PODS, pod({ volumes: [{ name: 'v', csi: { driver: 'd' } }] }))
      return [driver.spec['volumeLifecycleModes'], spec === undefined ? refused : spec['volumes'][0].csi]
    },
    on: [['Ephemeral'], { driver: 'd' }],
    off: [undefined, ['spec.volumes[0]']]
  },
  CronJobTimeZone: {
    of: async server => (await made(server, ns('/apis/batch/v1', 'cronjobs'), {
      metadata: { name: 'a' },
      spec: { schedule: '* * * * *', timeZone: 'UTC', jobTemplate: { spec: job().spec as Json } }
    })).spec['timeZone'],
    on: 'UTC',
    off: undefined
  },
  DaemonSetUpdateSurge: {
    of: async server => {
      const url = ns('/apis/apps/v1', 'daemonsets')
      const set = (name: string, rollingUpdate: Json): Json => ({
        metadata: { name }, spec: { selector, template, updateStrategy: { type: 'RollingUpdate', rollingUpdate } }
      })
      const { refused = [] } = await made(server, url, set('a', { maxSurge: 1, maxUnavailable: 0 }))
      return refused
    },
    on: [],
    off: ['spec.updateStrategy.rollingUpdate.maxUnavailable']
  },
  DownwardAPIHugePages: {
    of: async server => (await made(
      server,
      PODS,
      pod(
        {},
        {
          resources: { limits: { 'hugepages-2Mi': '2Mi', memory: '1Gi' } },
          env: [{ name: 'E', valueFrom: { resourceFieldRef: { resource: 'limits.hugepages-2Mi' } } }]
        }
      )
    ))['refused'],
    on: undefined,
    off: ['spec.containers[0].env[0].valueFrom.resourceFieldRef.resource']
  },
  DynamicKubeletConfig: {
    of: async server => (await made(server, '/api/v1/nodes', {
      metadata: { name: 'a' },
      spec: { configSource: { configMap: { namespace: 'a', name: 'b', kubeletConfigKey: 'c' } } }
    })).spec['configSource'] !== undefined,
    on: true,
    off: false
  },
  EndpointSliceTerminatingCondition: {
    of: async server => (await made(
      server, ns('/apis/discovery.orch.io/v1', 'endpointslices'),
      slice({ conditions: { ready: true, serving: true, terminating: false } })
    ))['endpoints'][0].conditions,
    on: { ready: true, serving: true, terminating: false },
    off: { ready: true }
  },
  EphemeralContainers: {
    of: async server => {
      await server.post(PODS, pod())
      return [
        await code(server.patch(`${PODS}/a/ephemeralcontainers`, {
          spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] }
        })),
        (await server.get('/api/v1')).body.includes('pods/ephemeralcontainers')
      ]
    },
    on: [200, true],
    off: [404, false]
  },
  ExpandedDNSConfig: {
    of: async server => (await made(
      server, PODS, pod({ dnsConfig: { searches: Array.from({ length: 20 }, (_, index) => `d${index}.example`) } })
    ))['refused'],
    on: undefined,
    off: ['spec.dnsConfig.searches']
  },
  GRPCContainerProbe: {
    of: async server => (await made(server, PODS, pod({}, { livenessProbe: { grpc: { port: 1 } } })))['refused'],
    on: undefined,
    off: ['spec.containers[0].livenessProbe']
  },
  HPAContainerMetrics: {
    of: async server => (await made(server, AUTOSCALERS, autoscaler({
      metrics: [
        {
          type: 'ContainerResource',
          containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 50 } }
        }
      ]
    })))['refused'],
    on: undefined,
    off: ['spec.metrics[0].containerResource']
  },
  HPAScaleToZero: {
    of: async server => (await made(server, AUTOSCALERS, autoscaler({
      minReplicas: 0,
      metrics: [{ type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value', value: '1' } } }]
    })))['refused'],
    on: undefined,
    off: ['spec.minReplicas']
  },
  IdentifyPodOS: {
    of: async server => (await made(server, PODS, pod({ os: { name: 'linux' } }))).spec['os'],
    on: { name: 'linux' },
    off: undefined
  },
  JobMutableNodeSchedulingDirectives: {
    of: async server => {
      await server.post(ns('/apis/batch/v1', 'jobs'), job({ suspend: true }))
      return await code(server.patch(`${ns('/apis/batch/v1', 'jobs')}/a`, {
        spec: { template: { spec: { nodeSelector: labels } } }
      }))
    },
    on: 200,
    off: 422
  },
  JobTrackingWithFinalizers: {
    of: async server => (await made(server, ns('/apis/batch/v1', 'jobs'), job())).metadata['annotations'],
    on: { 'batch.orch.io/job-tracking': '' },
    off: undefined
  },
  LocalStorageCapacityIsolation: {
    of: async server => (await made(
      server, PODS, pod({ volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }] })
    )).spec['volumes'][0].emptyDir,
    on: { sizeLimit: '1Gi' },
    off: {}
  },
  MaxUnavailableStatefulSet: {
    of: async server => [
      (await made(
        server, STATEFUL, stateful({ updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } })
      )).spec['updateStrategy'].rollingUpdate,
      (await made(server, STATEFUL, { ...stateful(), metadata: { name: 'b' } })).spec['updateStrategy'].rollingUpdate
    ],
    on: [{ partition: 0, maxUnavailable: 2 }, { partition: 0, maxUnavailable: 1 }],
    off: [{ partition: 0 }, { partition: 0 }]
  },
  MinDomainsInPodTopologySpread: {
    of: async server => (await made(server, PODS, pod({
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule', minDomains: 2 }]
    }))).spec['topologySpreadConstraints'][0].minDomains,
    on: 2,
    off: undefined
  },
  MixedProtocolLBService: {
    of: async server => {
      const { refused } = await made(
        server, ns('/api/v1', 'services'),
        service({ type: 'LoadBalancer', ports: [{ name: 't', port: 80 }, { name: 'u', port: 80, protocol: 'UDP' }] })
      )
      await made(server, ns('/api/v1', 'services'), { ...service({ type: 'LoadBalancer' }), metadata: { name: 'b' } })
      const { json } = await server.patch(`${ns('/api/v1', 'services')}/b/status`, {
        status: { loadBalancer: { ingress: [{ ip: '192.0.2.1', ports: [{ port: 80, protocol: 'TCP' }] }] } }
      })
      return [refused, 'ports' in json.status['loadBalancer'].ingress[0]]
    },
    on: [undefined, true],
    off: [['spec.ports'], false]
  },
  NetworkPolicyEndPort: {
    of: async server => (await made(server, POLICIES, {
      metadata: { name: 'a' }, spec: { podSelector: {}, egress: [{ ports: [{ port: 1, endPort: 2 }] }] }
    })).spec['egress'][0].ports[0].endPort,
    on: 2,
    off: undefined
  },
  NetworkPolicyStatus: {
    of: async server => {
      await server.post(POLICIES, { metadata: { name: 'a' }, spec: { podSelector: {} } })
      return (await server.patch(`${POLICIES}/a/status`, {
        status: {
          conditions: [
            { type: 'Accepted', status: 'True', reason: 'A', message: '', lastTransitionTime: '2022-01-01T00:00:00Z' }
          ]
        }
      })).json.status['conditions']?.length
    },
    on: 1,
    off: undefined
  },
  PodDeletionCost: {
    of: async server => (await made(
      server, PODS, pod({}, {}, { annotations: { 'controller.orch.io/pod-deletion-cost': 'much' } })
    ))['refused'] !== undefined,
    on: true,
    off: false
  },
  PodSecurity: {
    of: async server => {
      await server.post('/api/v1/namespaces', {
        metadata: { name: 'strict', labels: { 'pod-security.orch.io/enforce': 'restricted' } }
      })
      return await code(server.post('/api/v1/namespaces/strict/pods', pod()))
    },
    on: 403,
    off: 201
  },
  ProbeTerminationGracePeriod: {
    of: async server => (await made(
      server, PODS, pod({}, { livenessProbe: { exec: { command: ['a'] }, terminationGracePeriodSeconds: 5 } })
    )).spec['containers'][0].livenessProbe.terminationGracePeriodSeconds,
    on: 5,
    off: undefined
  },
  ProcMountType: {
    of: async server => (await made(
      server, PODS, pod({}, { securityContext: { procMount: 'Unmasked' } })
    )).spec['containers'][0].securityContext.procMount,
    on: 'Unmasked',
    off: 'Default'
  },
  ReadWriteOncePod: {
    of: async server => (await made(server, CLAIMS, claim({ accessModes: ['ReadWriteOncePod'] })))['refused'],
    on: undefined,
    off: ['spec.accessModes']
  },
  RecoverVolumeExpansionFailure: {
    of: async server => {
      await server.post(CLAIMS, claim())
      const { json } = await server.patch(`${CLAIMS}/a/status`, {
        status: { phase: 'Bound', capacity: { storage: '500Mi' }, resizeStatus: 'NodeExpansionFailed' }
      })
      return [
        json.status['resizeStatus'],
        await code(server.patch(`${CLAIMS}/a`, { spec: { resources: { requests: { storage: '1Gi' } } } })),
        await code(server.patch(`${CLAIMS}/a`, { spec: { resources: { requests: { storage: '500Mi' } } } }))
      ]
    },
    on: ['NodeExpansionFailed', 200, 422],
    off: [undefined, 422, 422]
  },
  ServiceInternalTrafficPolicy: {
    of: async server => [
      (await made(
        server, ns('/api/v1', 'services'), service({ internalTrafficPolicy: 'Local' })
      )).spec['internalTrafficPolicy'],
      (await server.patch(
        `${ns('/api/v1', 'services')}/a`, { metadata: { labels } }
      )).json.spec['internalTrafficPolicy']
    ],
    on: ['Local', 'Local'],
    off: [undefined, undefined]
  },
  ServiceIPStaticSubrange: {
    of: async server => {
      const last = new Set<boolean>()
      for (let index = 0; index < 30; index++) {
        const metadata = { name: `s${index}` }
        const { spec } = await made(server, ns('/api/v1', 'services'), { ...service({}), metadata })
        last.add(Number(String(spec['clusterIP']).split('.')[3]) > 16)
      }
      return last.has(false)
    },
    on: false,
    off: true
  },
  StatefulSetAutoDeletePVC: {
    of: async server => [
      (await made(
        server, STATEFUL, stateful({ persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } })
      )).spec['persistentVolumeClaimRetentionPolicy'],
      (await made(server, STATEFUL, {
        ...stateful(), metadata: { name: 'b' }
      })).spec['persistentVolumeClaimRetentionPolicy']
    ],
    on: [{ whenDeleted: 'Delete', whenScaled: 'Retain' }, { whenDeleted: 'Retain', whenScaled: 'Retain' }],
    off: [undefined, undefined]
  },
  StatefulSetMinReadySeconds: {
    of: async server => (await made(server, STATEFUL, stateful({ minReadySeconds: 5 }))).spec['minReadySeconds'],
    on: 5,
    off: undefined
  },
  TopologyAwareHints: {
    of: async server => (await made(
      server, ns('/apis/discovery.orch.io/v1', 'endpointslices'),
      slice({ zone: 'z', hints: { forZones: [{ name: 'z' }] } })
    ))['endpoints'][0].hints,
    on: { forZones: [{ name: 'z' }] },
    off: undefined
  },
  WindowsHostProcessContainers: {
    of: async server => (await made(
      server, PODS, pod({ hostNetwork: true, securityContext: { windowsOptions: { hostProcess: true } } })
    ))['refused'],
    on: undefined,
    off: ['spec']
  }
}

const DRIVEN = { services: { clusterIPRanges: ['10.96.0.0/26'] } }

t.test('each gate of the release is of one kind', async t => {
  const stages = Object.entries(FACTS)
  const ended = stages.filter(([, { stage }]) => stage === 'GA').map(([name]) => name)
  const all = [...OF_OTHERS, ...ELSEWHERE, ...Object.keys(PROOFS), ...ended]
  t.same(all.filter(name => Object.hasOwn(FACTS, name)).toSorted(), stages.map(([name]) => name).toSorted())
  const differs = stages.filter(([name, fact]) => {
    const gate = GATES.get(name)
    return gate?.stage !== fact.stage || gate.default !== fact.default
  }).map(([name]) => name)
  t.same(differs, ['ServerSideFieldValidation'], 'the interface has its parameter')
  const later = [...GATES].filter(([name]) => !Object.hasOwn(FACTS, name))
  t.ok(
    later.length > 1 && later.every(([, { stage, default: on }]) => stage === 'Alpha' && !on),
    'gates that came later are off'
  )
  t.equal(GATES.size, stages.length + later.length)
})

/** The same server for one proof, with a namespace of its own. */
async function apart (server: Client, name: string): Promise<Client> {
  const namespace = name.toLowerCase()
  await server.post('/api/v1/namespaces', { metadata: { name: namespace } })
  const moved = (url: string): string => url.replace('/namespaces/default/', `/namespaces/${namespace}/`)
  return {
    ...server,
    call: (method, url, ...rest) => server.call(method, moved(url), ...rest),
    get: (url, ...rest) => server.get(moved(url), ...rest),
    post: (url, ...rest) => server.post(moved(url), ...rest),
    put: (url, ...rest) => server.put(moved(url), ...rest),
    patch: (url, ...rest) => server.patch(moved(url), ...rest)
  }
}

/**
 * Any two gates differ on some of these servers, and each is on and off on some: gate n is on where a bit of n is set,
 * and on further servers where that bit is not set. A server for each gate and value would take a minute.
 */
const NAMES = Object.keys(PROOFS)
const BITS = Array.from({ length: Math.ceil(Math.log2(NAMES.length)) }, (_, bit) => bit)
const isSet = (index: number, bit: number): boolean => (index >> bit & 1) === 1

for (const bit of BITS) {
  for (const inverted of [false, true]) {
    t.test(`each gate takes effect alone, pattern ${bit}${inverted ? ' inverted' : ''}`, async t => {
      const gates = Object.fromEntries(NAMES.map((name, index) => [name, isSet(index, bit) !== inverted]))
      const server = await build(t, { ...DRIVEN, featureGates: gates })
      for (const [name, { of, on, off }] of Object.entries(PROOFS)) {
        t.same(await of(await apart(server, name)), gates[name] === true ? on : off, `${name}=${String(gates[name])}`)
      }
    })
  }
}

const GATED_RULES = (JSON.parse(readFileSync(
  new URL('../../../test/facts/rbac-bootstrap.json', import.meta.url), 'utf8'
)) as { clusterRoles: Array<{ name: string, rules: Json[] }> }).clusterRoles
  .flatMap(({ name, rules }) => rules.map(rule => ({ name, rule }))).filter(({ rule }) =>
  rule['featureGate'] !== undefined)

t.test('default roles have the rules of gates that are on', async t => {
  t.ok(GATED_RULES.length > 1)
  for (const value of [true, false]) {
    const server = await build(t, {
      authorization: { modes: ['RBAC', 'AlwaysAllow'] },
      featureGates: { CSIMigration: value, StatefulSetAutoDeletePVC: value }
    })
    for (const { name, rule: { featureGate, ...rule } } of GATED_RULES) {
      const { rules } =
        (await server.get(`/apis/rbac.authorization.orch.io/v1/clusterroles/${name}`)).json as { rules: Json[] }
      t.equal(
        rules.some(one => JSON.stringify([
          one['verbs'], one['apiGroups'], one['resources']
        ]) === JSON.stringify([rule['verbs'], rule['apiGroups'], rule['resources']])),
        value,
        `${name} ${String(featureGate)}=${String(value)}`
      )
    }
  }
})

t.test('a role of two gates exists with both alone', async t => {
  for (const featureGates of [
    { StorageVersionAPI: true, APIServerIdentity: true }, { StorageVersionAPI: true }, { APIServerIdentity: true }
  ]) {
    const server = await build(t, { authorization: { modes: ['RBAC', 'AlwaysAllow'] }, featureGates })
    for (const plural of ['clusterroles', 'clusterrolebindings']) {
      t.equal(
        (await server.get(
          `/apis/rbac.authorization.orch.io/v1/${plural}/system:controller:storage-version-garbage-collector`
        )).code,
        'StorageVersionAPI' in featureGates && 'APIServerIdentity' in featureGates ? 200 : 404
      )
    }
  }
})

t.test('pages say how many items remain, with the gate of both', async t => {
  for (const featureGates of [{}, { RemainingItemCount: false }, { APIListChunking: false }]) {
    const { metadata } = await lists(await build(t, { featureGates }))
    t.same(
      [typeof metadata['continue'], 'remainingItemCount' in metadata],
      'APIListChunking' in featureGates ? ['undefined', false] : ['string', !('RemainingItemCount' in featureGates)]
    )
  }
})

t.test('gates of other components are accepted and change nothing', async t => {
  const server = await build(t, {
    featureGates: Object.fromEntries(OF_OTHERS.map(name => [name, GATES.get(name)?.default !== true]))
  })
  t.equal((await server.post(PODS, pod())).code, 201)
})

t.test('stages are switched at once', async t => {
  const [on, off] = [
    await build(t, { featureGates: { AllAlpha: true, AllBeta: true } }),
    await build(t, { featureGates: { AllAlpha: false, AllBeta: false } })
  ]
  const policy = { metadata: { name: 'a' }, spec: { podSelector: {}, egress: [{ ports: [{ port: 1, endPort: 2 }] }] } }
  t.equal((await made(on, POLICIES, policy)).spec['egress'][0].ports[0].endPort, 2)
  t.equal((await made(off, POLICIES, policy)).spec['egress'][0].ports[0].endPort, undefined)
  t.equal(
    (await made(
      on, PODS, pod({}, { securityContext: { procMount: 'Unmasked' } })
    )).spec['containers'][0].securityContext.procMount,
    'Unmasked'
  )
})

t.test('a stored object keeps the field of its gate, and new ones do not get it', async t => {
  const storage = { kind: 'embedded', directory: t.testdir() } as const
  const before = await build(t, {
    storage, featureGates: { ServiceInternalTrafficPolicy: true, StatefulSetAutoDeletePVC: true }
  })
  const services = ns('/api/v1', 'services')
  const spec = { podSelector: {}, egress: [{ ports: [{ port: 1, endPort: 2 }] }] }
  for (const name of ['old', 'same']) await before.post(POLICIES, { metadata: { name }, spec })
  await before.post(services, { ...service({ internalTrafficPolicy: 'Local' }), metadata: { name: 'local' } })
  await before.post(services, { ...service({}), metadata: { name: 'default' } })
  await before.post(PODS, pod({}, { livenessProbe: { grpc: { port: 1 } } }))
  await before.app.close()
  const server = await build(t, {
    storage,
    featureGates: { NetworkPolicyEndPort: false, ServiceInternalTrafficPolicy: false, GRPCContainerProbe: false }
  })
  t.match(await server.patch(`${POLICIES}/old`, { metadata: { labels } }), { code: 200, json: { spec } })
  t.equal(
    (await server.put(`${POLICIES}/old`, {
      metadata: { name: 'old' }, spec: { ...spec, egress: [{ ports: [{ port: 1, endPort: 3 }] }] }
    })).json.spec['egress'][0].ports[0].endPort,
    3
  )
  t.notMatch(
    (await server.put(`${POLICIES}/old`, { metadata: { name: 'old' }, spec: { podSelector: {} } })).body, 'endPort'
  )
  t.notMatch(
    (await server.put(`${POLICIES}/old`, { metadata: { name: 'old' }, spec })).body, 'endPort', 'it was given up'
  )
  t.notMatch((await server.post(POLICIES, { metadata: { name: 'new' }, spec })).body, 'endPort')
  t.match((await server.patch(`${services}/local`, { metadata: { labels } })).json.spec, {
    internalTrafficPolicy: 'Local'
  })
  t.equal((await server.get(`${services}/default`)).json.spec['internalTrafficPolicy'], undefined)
  t.match((await server.patch(`${PODS}/a`, { metadata: { labels } })).body, '"grpc"')
})

t.test('with 1.36 emulated, rules of definitions apply without a gate', async t => {
  const server = await build(t, { emulatedVersion: '1.36', compatNames: true })
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: { size: { type: 'integer' } },
          'x-kubernetes-validations': [{ rule: 'self.size < 3' }]
        }
      }
    }
  }
  const { code, headers } = await server.post(
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    { ...definition({ versions: [version('v1', { schema })] }), apiVersion: 'apiextensions.k8s.io/v1' }
  )
  t.strictSame([code, headers.warning], [201, undefined])
  const without = await build(t, { compatNames: true, emulatedVersion: '1.24' })
  const warned = await without.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    ...definition({ versions: [version('v1', { schema })] }), apiVersion: 'apiextensions.k8s.io/v1'
  })
  t.equal(warned.code, 201)
  t.match(String(warned.headers.warning), /x-kubernetes-validations are not kept, as the feature gate/)
})

interface Fact {
  default: boolean
  stage: string
  locked?: boolean
  dependsOn?: string[]
  history: Array<[string, ...unknown[]]>
}
const OF_1_36 = JSON.parse(readFileSync(new URL('../../../test/facts/1.36/gates.json', import.meta.url), 'utf8')) as {
  gates: Record<string, Fact>
  client: Record<string, Fact>
  removed: Record<string, { lastSeen: string }>
}

t.test('each gate of 1.36 has its stage, default, lock and needs', t => {
  const gates = gatesOf('1.36')
  const facts = { ...OF_1_36.gates, ...OF_1_36.client }
  t.same([...gates.keys()].toSorted(), Object.keys(facts).toSorted())
  for (const [name, { history: [first] }] of Object.entries(OF_1_36.client)) {
    t.equal(GATES_CAME.get(name), first?.[0], name)
  }
  for (const [name, { stage, default: initial, locked, dependsOn = [] }] of Object.entries(facts)) {
    const { needs = [], ...gate } = gates.get(name) ?? {}
    t.same([gate, needs], [{ stage, default: initial, ...locked === true ? { locked } : {} }, dependsOn], name)
  }
  for (const [name, { lastSeen }] of Object.entries(OF_1_36.removed)) {
    t.equal(GATES_WENT.get(name), lastSeen.replace(/\d+$/, minor => String(Number(minor) + 1)), name)
  }
  t.end()
})

t.test('stages of 1.36 are switched at once too', async t => {
  for (const featureGates of [
    { AllAlpha: true, AllBeta: true }, { AllAlpha: true, AllBeta: false }, { AllBeta: false }
  ]) {
    const server = await build(t, { emulatedVersion: '1.36', featureGates })
    t.equal((await server.post(PODS, pod())).code, 201)
  }
})
