/**
 * Rules for pods, templates and what they say of themselves that release 1.36 has and 1.24 has not, or has at other
 * places.
 */
import t from 'tap'
import { build, type Client, type Json } from '../build.js'

const PODS = '/api/v1/namespaces/default/pods'
const CONTROLLERS = '/api/v1/namespaces/default/replicationcontrollers'
const MERGE = 'application/merge-patch+json'
const STRATEGIC = 'application/strategic-merge-patch+json'
const causes = (answer: { json: Json }): string[] =>
  ((answer.json['details'] as Json | undefined)?.['causes'] as Json[] | undefined ?? [])
    .map(({ reason, field }) => `${String(reason).replace('FieldValue', '')} ${String(field ?? '')}`).toSorted()
const pod = (name: string, spec: Json = {}, ofContainer: Json = {}, metadata: Json = {}): Json =>
  ({ metadata: { name, ...metadata }, spec: { containers: [{ name: 'c', image: 'i', ...ofContainer }], ...spec } })

let later: Client
let earlier: Client
t.before(async () => { [later, earlier] = [await build(t, { emulatedVersion: '1.36' }), await build(t)] })

const C = 'spec.containers[0]'
const S = 'spec.securityContext'
const V = 'spec.volumes[0]'
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const terms = (values: string[]): Json => ({
  [REQUIRED]: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values }] }] }
})
const spread = (more: Json): Json => ({
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule', ...more }]
})
const near = (more: Json): Json => ({ affinity: { podAffinity: { [REQUIRED]: [{ topologyKey: 'z', ...more }] } } })
const claims = { resourceClaims: [{ name: 'a', resourceClaimName: 'x' }] }
const hostPort = { ports: [{ containerPort: 80, hostPort: 81 }] }

/** Causes under 1.36 and 1.24; undefined where the release does not have the field. */
const CASES: ReadonlyArray<readonly [title: string, sent: Json, now: readonly string[], before?: readonly string[]]> = [
  [
    'kernel parameters of the network of the node',
    pod(
      'x',
      {
        hostNetwork: true,
        securityContext: {
          sysctls: [
            { name: 'net.ipv4.a', value: '1' }, { name: 'net/ipv4/b', value: '1' }, { name: 'kernel.sem', value: '1' }
          ]
        }
      }
    ),
    [`Invalid ${S}.sysctls[0].name`, `Invalid ${S}.sysctls[1].name`], []
  ],
  [
    'kernel parameters of the IPC of the node',
    pod(
      'x',
      {
        hostIPC: true,
        securityContext: {
          sysctls: [
            { name: 'kernel.shmmax', value: '1' }, { name: 'fs.mqueue.a', value: '1' }, { name: 'net.a', value: '1' }
          ]
        }
      }
    ),
    [`Invalid ${S}.sysctls[0].name`, `Invalid ${S}.sysctls[1].name`], []
  ],
  [
    'labels at mount', pod('x', { securityContext: { seLinuxChangePolicy: 'MountOption' } }),
    [`NotSupported ${S}.seLinuxChangePolicy`]
  ],
  [
    'values of node affinity', pod('x', { affinity: { nodeAffinity: terms(['-1']) } }),
    [`Invalid spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values[0]`], []
  ],
  [
    'selectors of spreads', pod('x', spread({ labelSelector: { matchExpressions: [{ key: 'a', operator: 'Some' }] } })),
    ['Invalid spec.topologySpreadConstraints[0].labelSelector.matchExpressions[0].operator'], []
  ],
  [
    'keys that the selector of a spread has, too',
    pod('x', spread({ labelSelector: { matchLabels: { a: 'b' } }, matchLabelKeys: ['a'] }), {}, { labels: { a: 'b' } }),
    ['Invalid spec.topologySpreadConstraints[0][0]']
  ],
  [
    'keys that an expression has, too',
    pod(
      'x',
      near({
        labelSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }, matchLabelKeys: ['q', 'a']
      }),
      {}, { labels: { a: 'b' } }
    ),
    [`Invalid spec.affinity.podAffinity.${REQUIRED}[0][1]`]
  ],
  [
    'keys that the pod does not have',
    pod('x', near({ labelSelector: { matchLabels: { a: 'b' } }, matchLabelKeys: ['a'] })), []
  ],
  [
    'keys that must differ',
    pod(
      'x', near({ labelSelector: { matchLabels: { a: 'b' } }, mismatchLabelKeys: ['a'] }), {}, { labels: { a: 'b' } }
    ),
    []
  ],
  [
    'a port of the node that is another', pod('x', { hostNetwork: true }, hostPort), [`Invalid ${C}.ports[0].hostPort`],
    [`Invalid ${C}.ports[0].containerPort`]
  ],
  [
    'names for hosts',
    pod('x', { hostAliases: [{ ip: '1.1.1.1', hostnames: ['a'] }, { ip: 'x', hostnames: ['a', 'b_c'] }] }),
    ['Invalid spec.hostAliases[1].hostnames[1]', 'Invalid spec.hostAliases[1].ip'],
    ['Invalid spec.hostAliases.hostnames', 'Invalid spec.hostAliases.ip']
  ],
  [
    'messages of the end', pod('x', {}, { terminationMessagePolicy: 'No' }),
    [`NotSupported ${C}.terminationMessagePolicy`], [`Invalid ${C}.terminationMessagePolicy`]
  ],
  [
    'probes by gRPC', pod('x', {}, { livenessProbe: { grpc: { port: 0 } } }), [`Invalid ${C}.livenessProbe.grpc.port`],
    [`Invalid ${C}.livenessProbe.gRPC.port`]
  ],
  [
    'a long sleep at the start', pod('x', {}, { lifecycle: { postStart: { sleep: { seconds: 31 } } } }),
    [`Invalid ${C}.lifecycle.postStart.sleep`]
  ],
  [
    'addresses of the node in variables',
    pod('x', {}, { env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: 'status.hostIPs' } } }] }), [],
    [`Invalid ${C}.env[0].valueFrom.fieldRef.fieldPath`]
  ],
  [
    'addresses of the node in files',
    pod(
      'x',
      { volumes: [{ name: 'v', downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'status.hostIPs' } }] } }] }
    ),
    [`NotSupported ${V}.downwardAPI.fieldRef.fieldPath`], [`Invalid ${V}.downwardAPI.fieldRef.fieldPath`]
  ],
  [
    'variables of files anywhere in a volume',
    pod(
      'x', { volumes: [{ name: 'v', emptyDir: {} }] },
      {
        env: ['/a', 'a/../b'].map((path, index) => ({
          name: `v${index}`, valueFrom: { fileKeyRef: { volumeName: 'v', path, key: 'K' } }
        }))
      }
    ),
    [`Invalid ${C}.env[1].valueFrom.fileKeyRef.path`]
  ],
  [
    'a file for the token outside its volume',
    pod(
      'x',
      {
        serviceAccountName: 'default', automountServiceAccountToken: false,
        volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: '../a' } }] } }]
      }
    ),
    [`Invalid ${V}.projected.path`], []
  ],
  [
    'a claim for one pod alone',
    pod(
      'x',
      {
        volumes: [{
          name: 'v',
          ephemeral: {
            volumeClaimTemplate: {
              spec: { accessModes: ['ReadWriteOncePod'], resources: { requests: { storage: '1Gi' } } }
            }
          }
        }]
      }
    ),
    [], [`NotSupported ${V}.ephemeral.volumeClaimTemplate.spec.accessModes`]
  ],
  [
    'restarts on resize of what runs to its end',
    pod(
      'x',
      {
        initContainers: ['Never', 'Always'].map((restartPolicy, index) => ({
          name: `i${index}`, image: 'i', restartPolicy,
          resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }]
        }))
      }
    ),
    ['Invalid spec.initContainers[0].resizePolicy[0].restartPolicy']
  ],
  [
    'rules of restarts without a policy',
    pod('x', {}, { restartPolicyRules: [{ action: 'Stop', exitCodes: { operator: 'In', values: [1] } }] }),
    [`NotSupported ${C}.restartPolicyRules[0].action`, `Required ${C}.restartPolicy`]
  ],
  [
    'a claim beside a request of it',
    pod('x', claims, { resources: { claims: [{ name: 'a', request: 'r' }, { name: 'a' }] } }),
    [`Duplicate ${C}.resources.claims[1]`]
  ],
  [
    'a request beside its claim',
    pod('x', claims, { resources: { claims: [{ name: 'a' }, { name: 'a', request: 'r' }] } }),
    [`Duplicate ${C}.resources.claims[1]`]
  ],
  [
    'requests of claims without a name',
    pod('x', claims, { resources: { claims: [{ name: 'a', request: '*' }, { name: '' }] } }),
    [`Invalid ${C}.resources.claims[0].request`, `Required ${C}.resources.claims[1]`]
  ],
  [
    'claims of static pods',
    pod('x', { nodeName: 'n', ...claims }, {}, { annotations: { 'orch.io/config.mirror': 'a' } }), ['Forbidden ']
  ],
  [
    'huge pages beyond those of the pod',
    pod(
      'x', { resources: { limits: { 'hugepages-2Mi': '2Mi', cpu: '1' } } },
      { resources: { limits: { 'hugepages-2Mi': '4Mi', cpu: '1' } } }
    ),
    [
      'Invalid spec.resources.containers[0][hugepages-2Mi].limits', 'Invalid spec.resources.limits[hugepages-2Mi]',
      'Invalid spec.resources.requests[hugepages-2Mi]'
    ]
  ],
  [
    'limits of init containers beyond those of the pod',
    pod(
      'x',
      {
        resources: { limits: { cpu: '1' } },
        initContainers: [{ name: 'i', image: 'i', resources: { limits: { cpu: '2' }, requests: { cpu: '1m' } } }]
      }
    ),
    []
  ],
  [
    'unknown resources of pods', pod('x', { resources: { requests: { some: '1' } } }),
    ['Invalid spec.resources.requests[some]']
  ],
  [
    'resources of pods for Windows', pod('x', { os: { name: 'windows' }, resources: { requests: { some: '1' } } }),
    ['Forbidden spec.resources']
  ],
  [
    'a profile of AppArmor without a type',
    pod('x', { securityContext: { appArmorProfile: { type: 'None', localhostProfile: 'a' } } }),
    [`NotSupported ${S}.appArmorProfile.type`]
  ],
  [
    'a profile of AppArmor that an annotation contradicts',
    pod(
      'x', { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }, {},
      { annotations: { 'container.apparmor.security.beta.orch.io/c': '' } }
    ),
    [`Forbidden ${C}.securityContext.appArmorProfile.type`]
  ]
]

for (const [title, sent, now, before] of CASES) {
  t.test(`${title}: as in the release`, async t => {
    const url = `${PODS}?dryRun=All`
    t.same(causes(await later.post(url, sent)), now, '1.36')
    if (before !== undefined) t.same(causes(await earlier.post(url, sent)), before, '1.24')
    if (now.length === 0) t.equal((await later.post(url, sent)).code, 201)
  })
}

t.test('templates follow the release, too', async t => {
  const controller = (spec: Json, ofContainer: Json = {}, metadata: Json = {}): Json => ({
    metadata: { name: 'x' },
    spec: {
      replicas: 2, selector: { a: 'b' },
      template: {
        metadata: { labels: { a: 'b' }, ...metadata },
        spec: { containers: [{ name: 'c', image: 'i', ...ofContainer }], ...spec }
      }
    }
  })
  const both = async (sent: Json): Promise<string[][]> =>
    [
      causes(await later.post(`${CONTROLLERS}?dryRun=All`, sent)),
      causes(await earlier.post(`${CONTROLLERS}?dryRun=All`, sent))
    ]
  t.same(
    await both(controller({ volumes: [{ name: 'v', gcePersistentDisk: { pdName: 'a' } }] })),
    [[], ['Invalid spec.template.spec.volumes[0].gcePersistentDisk.readOnly']]
  )
  t.same(
    await both(controller({ hostNetwork: true }, hostPort)),
    [[`Invalid spec.template.${C}.ports[0].hostPort`], [`Invalid spec.template.${C}.ports[0].containerPort`]]
  )
  const contradicted = controller(
    {}, { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } },
    { annotations: { 'container.apparmor.security.beta.orch.io/c': 'unconfined' } }
  )
  t.same((await both(contradicted))[0], [`Forbidden spec.template.${C}.securityContext.appArmorProfile.type`])
})

t.test('ports of templates on the host network stay as they are, those of pods do not', async t => {
  const port = { containerPort: 80, protocol: 'TCP' }
  const sent = {
    replicas: 0, selector: { a: 'b' },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: {
        hostNetwork: true, initContainers: [{ name: 'i', image: 'i', ports: [port] }],
        containers: [{ name: 'c', image: 'i', ports: [port] }]
      }
    }
  }
  const portsOf = ({ json }: { json: Json }): unknown => {
    const { template, containers, initContainers } = json['spec'] as Record<string, {
      spec: Record<string, Json[]>
    }> & Record<string, Json[]>
    const [first, second] = template === undefined
      ? [containers, initContainers]
      : [template.spec['containers'], template.spec['initContainers']]
    return [first?.[0]?.['ports'], second?.[0]?.['ports']]
  }
  for (const [client, given] of [[later, port], [earlier, { ...port, hostPort: 80 }]] as const) {
    const stored = [[given], [given]]
    t.same(portsOf(await client.post(CONTROLLERS, { metadata: { name: 'ports' }, spec: sent })), stored)
    t.same(portsOf(await client.get(`${CONTROLLERS}/ports`)), stored)
    t.same(portsOf(await client.patch(`${CONTROLLERS}/ports`, { metadata: { labels: { a: 'b' } } }, MERGE)), stored)
    t.same(portsOf(await client.put(`${CONTROLLERS}/ports`, { metadata: { name: 'ports' }, spec: sent })), stored)
    const applied = {
      apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'ports' },
      spec: { template: { spec: { containers: [{ name: 'c', image: 'j' }] } } }
    }
    t.same(
      portsOf(await client.patch(
        `${CONTROLLERS}/ports?fieldManager=x&force=true`, applied, 'application/apply-patch+yaml'
      )),
      stored
    )
    const { spec } = sent.template
    t.same(
      portsOf(await client.post(`${PODS}?dryRun=All`, { metadata: { name: 'ports' }, spec })),
      [[{ ...port, hostPort: 80 }], [{ ...port, hostPort: 80 }]]
    )
  }
})

t.test('pods that were stored before a rule may still be changed', async t => {
  const storage = { kind: 'embedded', directory: t.testdir() } as const
  const first = await build(t, { storage })
  const sent = pod(
    'old',
    {
      hostNetwork: true, affinity: { nodeAffinity: terms(['-1']) },
      securityContext: { sysctls: [{ name: 'net.a', value: '1' }] }
    }
  )
  t.equal((await first.post(PODS, sent)).code, 201)
  await first.app.close()
  const second = await build(t, { storage, emulatedVersion: '1.36' })
  t.equal((await second.patch(`${PODS}/old`, { metadata: { labels: { a: 'b' } } }, MERGE)).code, 200)
  t.same(
    causes(await second.patch(
      `${PODS}/old`,
      { spec: { securityContext: { sysctls: [{ name: 'net.a', value: '1' }, { name: 'net.b', value: '1' }] } } }, MERGE
    )),
    ['Forbidden spec', `Invalid ${S}.sysctls[1].name`]
  )
})

const state = (name: string, ended?: number): Json => ({
  name, image: '', imageID: '', ready: false, restartCount: 0,
  state: ended === undefined ? { running: {} } : { terminated: { exitCode: ended } }
})

t.test('containers start again as their own policies say', async t => {
  const rule = (action: string): Json => ({
    restartPolicy: 'Never', restartPolicyRules: [{ action, exitCodes: { operator: 'In', values: [42] } }]
  })
  const restarted = async (client: Client, spec: Json, ofContainer: Json, exitCode = 1): Promise<string[]> => {
    const { json } = await client.post(PODS, { ...pod('', spec, ofContainer), metadata: { generateName: 'again-' } })
    const url = `${PODS}/${String(json['metadata'].name)}/status`
    const status = (ended?: number): Json => ({
      status: { containerStatuses: [state('c', ended)], initContainerStatuses: [state('s', ended)] }
    })
    await client.patch(url, status(exitCode), MERGE)
    return causes(await client.patch(url, status(), MERGE))
  }
  const sidecar = { initContainers: [{ name: 's', image: 'i', restartPolicy: 'Always' }] }
  const [main, init] = [
    'Forbidden status.containerStatuses[0].state', 'Forbidden status.initContainerStatuses[0].state'
  ]
  t.same(await restarted(later, { restartPolicy: 'Never', ...sidecar }, {}), [main])
  t.same(await restarted(later, { restartPolicy: 'Never', ...sidecar }, { restartPolicy: 'Always' }), [])
  t.same(await restarted(later, sidecar, { restartPolicy: 'Never' }), [main])
  t.same(
    await restarted(later, { restartPolicy: 'Never' }, rule('Restart'), 42), [init], 'there is no such init container'
  )
  t.same(await restarted(later, { restartPolicy: 'Never', ...sidecar }, rule('Restart'), 1), [main])
  t.same(await restarted(later, { restartPolicy: 'Never' }, rule('RestartAllContainers')), [])
  t.same(await restarted(earlier, {}, {}), [])
  t.same(await restarted(earlier, { restartPolicy: 'Never' }, {}), [main, init])
})

t.test('what node agents say of a pod is checked', async t => {
  const change = async (client: Client, name: string, status: Json): Promise<string[]> => causes(await client.patch(
    `${PODS}/${name}/status`, { status }, MERGE
  ))
  for (const client of [later, earlier]) await client.post(PODS, pod('told', { nodeName: 'n', os: { name: 'linux' } }))
  await later.post(PODS, pod('windows', { os: { name: 'windows' } }))
  const condition = { conditions: [{ type: 'a/b/c', status: 'True' }] }
  t.same(
    [await change(later, 'told', condition), await change(earlier, 'told', condition)],
    [['Invalid status.conditions[0].Type'], ['Invalid metadata.conditions[0].Type']]
  )
  const nominated = { nominatedNodeName: 'm' }
  t.same(
    [await change(later, 'told', nominated), await change(earlier, 'told', nominated)],
    [['Forbidden status.nominatedNodeName'], []]
  )
  const twice = { podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.1' }] }
  t.same(
    [await change(later, 'told', twice), await change(earlier, 'told', twice)],
    [['Invalid status.podIPs'], ['Duplicate status.podIPs[1]', 'Invalid status.podIPs']]
  )
  const user = (linux: Json): Json => ({ containerStatuses: [{ ...state('c'), user: { linux } }] })
  t.same(
    await change(later, 'told', user({ uid: -1, gid: -1, supplementalGroups: [-1] })),
    ['gid', 'supplementalGroups[0]', 'uid'].map(field => `Invalid status.containerStatuses[0].user.linux.${field}`)
  )
  t.same(await change(later, 'windows', user({ uid: 1, gid: 1 })), ['Forbidden status.containerStatuses[0].user.linux'])
  const devices = (name: string, ...resources: Json[]): Json => ({
    containerStatuses: [{ ...state('c'), allocatedResourcesStatus: [{ name, resources }] }]
  })
  const at = 'status.containerStatuses[0].allocatedResourcesStatus[0]'
  t.same(await change(
    later, 'told',
    devices('a.b/c', { resourceID: 'x', health: 'Fair' }, { resourceID: 'x', health: 'Healthy', message: '' })
  ),
  [
    `Duplicate ${at}.resources[1].resourceID`, `Invalid ${at}.name`, `NotSupported ${at}.resources[0].health`,
    `Required ${at}.resources[1].message`
  ])
  await later.post(
    PODS, pod('devices', claims, { resources: { limits: { 'a.b/c': '1' }, claims: [{ name: 'a', request: 'r' }] } })
  )
  t.same(await change(later, 'devices', devices('a.b/c', { resourceID: 'x', health: 'Unhealthy' })), [])
  t.same(await change(later, 'devices', devices('claim:a/r', { resourceID: 'x', health: 'Unknown' })), [])
  t.same(await change(later, 'devices', devices('claim:a')), [`Invalid ${at}.name`])
  t.same(
    await change(
      later, 'devices', { ephemeralContainerStatuses: [{ ...state('e'), allocatedResourcesStatus: [{ name: 'a' }] }] }
    ),
    ['Forbidden status.ephemeralContainerStatuses[0].allocatedResourcesStatus']
  )
})

t.test('ephemeral containers have places of their own, aim at ordinary ones, and are not for static pods', async t => {
  for (const client of [later, earlier]) {
    await client.post(PODS, pod('host'))
    await client.post(PODS, pod('static', { nodeName: 'n' }, {}, { annotations: { 'orch.io/config.mirror': 'a' } }))
  }
  const both = async (name: string, ephemeralContainers: Json[]): Promise<string[][]> =>
    await Promise.all([later, earlier].map(async client => causes(await client.patch(
      `${PODS}/${name}/ephemeralcontainers?dryRun=All`, { spec: { ephemeralContainers } }, STRATEGIC
    ))))
  const at = 'spec.ephemeralContainers[0]'
  t.same(await both('host', [{ name: 'e' }]), [[`Required ${at}.image`], [`Required ${at}[0].image`]])
  t.same(
    await both('host', [{ name: 'e', image: 'i' }, { name: 'f', image: 'i', targetContainerName: 'e' }]),
    [['NotFound spec.ephemeralContainers[1].targetContainerName'], []]
  )
  t.same(await both('static', [{ name: 'e', image: 'i' }]), [['Forbidden '], []])
})
