/** Pods where release 1.36 is emulated: their new fields, and what is answered otherwise than by 1.24. */
import t from 'tap'
import { build, type Answer, type Client, type Json } from '../build.js'

const PODS = '/api/v1/namespaces/default/pods'
const container = { name: 'c', image: 'i' }
const pod = (name: string, spec: Json = {}, metadata: Json = {}, ofContainer: Json = {}): Json => ({
  kind: 'Pod', apiVersion: 'v1', metadata: { name, ...metadata },
  spec: { containers: [{ ...container, ...ofContainer }], ...spec }
})
const causes = (answer: { json: Json }): string[] =>
  ((answer.json['details'] as Json | undefined)?.['causes'] as Json[] | undefined ?? []).map(
    ({ reason, field }) => `${String(reason).replace('FieldValue', '')} ${String(field)}`
  )

const STRATEGIC = 'application/strategic-merge-patch+json'

let later: Client
t.before(async () => { later = await build(t, { emulatedVersion: '1.36' }) })

const selector = { matchLabels: { a: 'b' } }
const REFUSED: ReadonlyArray<readonly [title: string, spec: Json, causes: readonly string[], ofContainer?: Json]> = [
  [
    'users of its own beside namespaces of the node',
    { hostUsers: false, hostNetwork: true, hostPID: true, hostIPC: true },
    ['Forbidden spec.hostNetwork', 'Forbidden spec.HostPID', 'Forbidden spec.HostIPC']
  ],
  ['gates of a pod on a node', { schedulingGates: [{ name: 'a' }], nodeName: 'n' }, ['Forbidden spec.nodeName']],
  [
    'gates without a name, and twice', { schedulingGates: [{ name: 'a/b/c' }, { name: 'x' }, { name: 'x' }] },
    ['Invalid spec.schedulingGates[0]', 'Duplicate spec.schedulingGates[2]']
  ],
  [
    'a host name beside the network of the node', { hostnameOverride: 'a.b', hostNetwork: true },
    ['Forbidden spec.hostnameOverride']
  ],
  ['a long host name', { hostnameOverride: 'a'.repeat(65) }, ['TooLong spec.hostnameOverride']],
  [
    'claims of two sources, and of none',
    { resourceClaims: [{ name: 'a', resourceClaimName: 'x', resourceClaimTemplateName: 'y' }, { name: 'b' }] },
    ['Invalid spec.resourceClaims[0]', 'Invalid spec.resourceClaims[1]']
  ],
  [
    'a claim that the pod does not have', {}, ['NotFound spec.containers[0].resources.claims[0]'],
    { resources: { claims: [{ name: 'a' }] } }
  ],
  ['policies of resizes', {}, [
    'NotSupported spec.containers[0].resizePolicy', 'Duplicate spec.containers[0].resizePolicy[2]',
    'NotSupported spec.containers[0].resizePolicy'
  ],
  {
    resizePolicy: [
      { resourceName: 'storage', restartPolicy: 'NotRequired' }, { resourceName: 'cpu', restartPolicy: 'NotRequired' },
      { resourceName: 'cpu', restartPolicy: 'Maybe' }
    ]
  }],
  [
    'rules of restarts without a policy', {}, ['Required spec.containers[0].restartPolicy'],
    { restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] }
  ],
  [
    'unknown rules of restarts',
    {},
    [
      'NotSupported spec.containers[0].restartPolicyRules[0].action',
      'Required spec.containers[0].restartPolicyRules[0].exitCodes'
    ],
    { restartPolicy: 'Never', restartPolicyRules: [{ action: 'Stop' }] }
  ],
  [
    'hooks of ordinary init containers',
    { initContainers: [{ name: 'i', image: 'i', lifecycle: { preStop: { exec: { command: ['a'] } } } }] },
    ['Forbidden spec.initContainers[0].lifecycle']
  ],
  [
    'sleeping longer than the pod may take', { terminationGracePeriodSeconds: 5 },
    ['Invalid spec.containers[0].lifecycle.preStop.sleep'], { lifecycle: { preStop: { sleep: { seconds: 6 } } } }
  ],
  [
    'recursion in writable mounts', { volumes: [{ name: 'v', emptyDir: {} }] },
    ['Forbidden spec.containers[0].volumeMounts.recursiveReadOnly'],
    { volumeMounts: [{ name: 'v', mountPath: '/v', recursiveReadOnly: 'Enabled' }] }
  ],
  ['images without a name', { volumes: [{ name: 'v', image: {} }] }, ['Required spec.volumes[0].image.reference']],
  [
    'keys of labels without a selector',
    {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule', matchLabelKeys: ['x'] }
      ]
    },
    ['Forbidden spec.topologySpreadConstraints[0].matchLabelKeys']
  ],
  [
    'domains where any is good',
    {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'ScheduleAnyway', minDomains: 2, labelSelector: selector }
      ]
    },
    ['Invalid spec.topologySpreadConstraints[0].minDomains']
  ],
  ['keys of labels both ways', {
    affinity: {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: 'a', labelSelector: selector, matchLabelKeys: ['x'], mismatchLabelKeys: ['x'] }
        ]
      }
    }
  },
  ['Invalid spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys[0]']],
  [
    'less for the pod than for its containers', { resources: { requests: { cpu: '1' } } },
    ['Invalid spec.resources.requests[cpu]'], { resources: { requests: { cpu: '2' } } }
  ],
  [
    'more for a container than for the pod', { resources: { limits: { memory: '1Gi' } } },
    ['Invalid spec.resources.containers[0][memory].limits'],
    { resources: { limits: { memory: '2Gi' }, requests: { memory: '1Mi' } } }
  ],
  [
    'other resources of pods', { resources: { requests: { 'ephemeral-storage': '1' } } },
    ['NotSupported spec.resources.requests[ephemeral-storage]']
  ],
  [
    'profiles of AppArmor', { securityContext: { appArmorProfile: { type: 'Localhost' } } },
    ['Required spec.securityContext.appArmorProfile.localhostProfile']
  ],
  [
    'longer profiles of AppArmor',
    { securityContext: { appArmorProfile: { type: 'Localhost', localhostProfile: 'a'.repeat(4096) } } },
    ['TooLong spec.securityContext.appArmorProfile.localhostProfile']
  ],
  [
    'dots of domains without a name', { dnsConfig: { searches: ['..', '__a'] } },
    ['Invalid spec.dnsConfig.searches[0]', 'Invalid spec.dnsConfig.searches[1]']
  ],
  ['variables of files in other volumes', {
    volumes: [{ name: 'h', hostPath: { path: '/h' } }]
  }, [
    'NotFound spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName',
    'Invalid spec.containers[0].env[1].valueFrom.fileKeyRef.volumeName'
  ],
  {
    env: ['v', 'h'].map(volumeName => ({
      name: volumeName, valueFrom: { fileKeyRef: { volumeName, path: 'p', key: 'K' } }
    }))
  }],
  ['names of variables', {}, ['Invalid spec.containers[0].env[0].name'], { env: [{ name: 'a=b', value: 'c' }] }]
]

for (const [title, spec, expected, ofContainer] of REFUSED) {
  t.test(`${title} are refused`, async t => {
    t.same(causes(await later.post(PODS, pod('refused', spec, {}, ofContainer))).toSorted(), expected.toSorted())
  })
}

t.test('domains that are searched may be the root, and have underscores', async t => {
  const dns = { dnsConfig: { searches: ['.', '_tcp.a_b.c.'] } }
  t.same((await later.post(PODS, pod('searching', dns))).code, 201)
  const earlier = await build(t)
  t.same(causes(await earlier.post(PODS, pod('searching', dns))), [
    'Invalid spec.dnsConfig.searches[0]', 'Invalid spec.dnsConfig.searches[1]'
  ])
})

t.test('what is too long, and which operators tolerations have, is said in the words of the release', async t => {
  const earlier = await build(t)
  const told = async (client: Client): Promise<unknown[]> => {
    const [manager, tolerant] = [
      await client.post(`/api/v1/namespaces/default/configmaps?fieldManager=${'a'.repeat(129)}`, {}),
      await client.post(PODS, pod('tolerant', { tolerations: [{ key: 'a', operator: 'Gt', value: '1' }] }))
    ]
    return [manager, tolerant].map(({ json }) => ((json['details'] as Json)['causes'] as Json[])[0]?.['message'])
  }
  t.same(await told(earlier), [
    'Too long: must have at most 128 bytes', 'Unsupported value: "Gt": supported values: "Equal", "Exists"'
  ])
  t.same(await told(later), [
    'Too long: may not be more than 128 bytes',
    'Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"'
  ])
})

t.test('the claim for extended resources is that of containers that ask for these', async t => {
  await later.post(
    PODS, pod('extended', {}, {}, { resources: { requests: { 'a.b/gpu': '1' }, limits: { 'a.b/gpu': '1' } } })
  )
  const status = async (resourceClaimName: string, ...requestMappings: Json[]) =>
    causes(await later.patch(`${PODS}/extended/status`, {
      status: { extendedResourceClaimStatus: { resourceClaimName, requestMappings } }
    }))
  const mapping = { containerName: 'c', resourceName: 'a.b/gpu', requestName: 'r' }
  const at = 'status.extendedResourceClaimStatus'
  t.same(await status(''), [`Required ${at}.requestMappings`, `Required ${at}.resourceClaimName`])
  t.same(await status('x', { ...mapping, containerName: 'd' }, { ...mapping, resourceName: 'cpu' }), [
    `Invalid ${at}.requestMappings[0].containerName`, `Invalid ${at}.requestMappings[1].resourceName`
  ])
  t.same(await status('X', mapping, mapping), [
    ...['containerName', 'resourceName', 'requestName'].map(field => `Duplicate ${at}.requestMappings[1].${field}`),
    `Invalid ${at}.resourceClaimName`
  ])
  t.same(await status('x', mapping), [])
})

t.test('fields of today are stored', async t => {
  const spec = {
    hostUsers: false, schedulingGates: [{ name: 'a.b/c' }],
    resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 't' }],
    initContainers: [
      {
        name: 's',
        image: 'i:1',
        restartPolicy: 'Always',
        startupProbe: { exec: { command: ['a'] } },
        lifecycle: { preStop: { sleep: { seconds: 0 } } }
      }
    ],
    securityContext: {
      appArmorProfile: { type: 'RuntimeDefault' }, supplementalGroupsPolicy: 'Strict', seLinuxChangePolicy: 'Recursive'
    },
    volumes: [{ name: 'v', image: { reference: 'a:1' } }, { name: 'e', emptyDir: {} }]
  }
  const made = await later.post(PODS, pod('whole', spec, {}, {
    env: [
      { name: 'a b:c', value: 'd' }, { name: 'f', valueFrom: { fileKeyRef: { volumeName: 'e', path: 'p', key: 'K' } } }
    ],
    volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: true, recursiveReadOnly: 'IfPossible' }],
    resources: { claims: [{ name: 'gpu', request: 'r' }] }
  }))
  t.equal(made.code, 201, made.body)
  t.match(made.json, {
    metadata: { generation: 1 },
    spec: {
      ...spec,
      volumes: [{ image: { pullPolicy: 'IfNotPresent' } }, {}],
      containers: [
        {
          env: [{}, { valueFrom: { fileKeyRef: { optional: false } } }],
          resources: { claims: [{ name: 'gpu', request: 'r' }] }
        }
      ]
    },
    status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] }
  })
})

t.test('generations count changes of spec, whatever was sent', async t => {
  t.equal((await later.post(PODS, pod('g', {}, { generation: 7 }))).json['metadata'].generation, 1)
  const image = { spec: { containers: [{ name: 'c', image: 'j' }] } }
  t.equal((await later.patch(`${PODS}/g`, image, STRATEGIC)).json['metadata'].generation, 2)
  t.equal(
    (await later.patch(`${PODS}/g`, { metadata: { labels: { a: 'b' } } }, STRATEGIC)).json['metadata'].generation, 2
  )
  const status = {
    status: { observedGeneration: 2, conditions: [{ type: 'Ready', status: 'False', observedGeneration: 2 }] }
  }
  t.equal((await later.patch(`${PODS}/g/status`, status, STRATEGIC)).json['metadata'].generation, 2)
  const kept = await later.patch(
    `${PODS}/g/status`,
    { status: { observedGeneration: null, conditions: [{ type: 'Ready', status: 'True', observedGeneration: null }] } },
    STRATEGIC
  )
  t.match(kept.json['status'], { observedGeneration: 2, conditions: [{ status: 'True', observedGeneration: 2 }] })
  t.same(
    causes(await later.patch(`${PODS}/g/status`, { status: { qosClass: 'Guaranteed' } }, STRATEGIC)),
    ['Invalid status.qosClass']
  )
  const earlier = await build(t)
  t.equal((await earlier.post(PODS, pod('g'))).json['metadata'].generation, undefined)
})

t.test('each of several conditions of one type keeps the generation that it is about', async t => {
  await later.post(PODS, pod('twice'))
  const twice = (...observed: Array<number | undefined>): Json => ({
    status: { conditions: observed.map(observedGeneration => ({ type: 'Own', status: 'True', observedGeneration })) }
  })
  t.equal((await later.patch(`${PODS}/twice/status`, twice(1, 2))).code, 200)
  const kept = await later.patch(`${PODS}/twice/status`, twice(undefined, undefined, undefined))
  t.strictSame(
    kept.json['status'].conditions.map(({ observedGeneration }: Json) => observedGeneration), [1, 2, undefined]
  )
})

t.test('a pod of an earlier release counts its generations from 0', async t => {
  const storage = { kind: 'embedded', directory: t.testdir() } as const
  const first = await build(t, { storage })
  t.equal((await first.post(PODS, pod('p', { nodeName: 'n' }))).json['metadata'].generation, undefined)
  await first.app.close()
  const second = await build(t, { storage, emulatedVersion: '1.36' })
  const read = (await second.get(`${PODS}/p`)).json
  t.equal(read['metadata'].generation, undefined)
  t.equal((await second.put(`${PODS}/p`, read)).json['metadata'].generation, undefined, 'what was read is no change')
  t.equal(
    (await second.patch(`${PODS}/p/status`, {
      status: { phase: 'Running', observedGeneration: 0 }
    })).json['metadata'].generation,
    undefined
  )
  const image = (image: string): Json => ({ spec: { containers: [{ name: 'c', image }] } })
  t.equal((await second.patch(`${PODS}/p`, image('j'), STRATEGIC)).json['metadata'].generation, 1)
  t.equal((await second.patch(`${PODS}/p`, image('k'), STRATEGIC)).json['metadata'].generation, 2)
  t.equal((await second.delete(`${PODS}/p`)).json['metadata'].generation, 3)
})

t.test('gates only go, and demands on nodes only grow while there are any', async t => {
  const terms = (...expressions: Json[]): Json => ({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: expressions }] }
    }
  })
  const one = { key: 'a', operator: 'Exists' }
  const made = await later.post(
    PODS,
    pod('gated', { schedulingGates: [{ name: 'x' }, { name: 'y' }], nodeSelector: { a: 'b' }, affinity: terms(one) })
  )
  const put = async (change: Json) => await later.put(`${PODS}/gated`, {
    ...made.json, metadata: { name: 'gated' }, spec: { ...made.json['spec'] as Json, ...change }
  })
  t.same(causes(await put({ schedulingGates: [{ name: 'z' }] })), ['Forbidden spec.schedulingGates[0].name'])
  t.same(causes(await put({ nodeSelector: { c: 'd' } })), ['Invalid spec.nodeSelector'])
  t.same(causes(await put({ affinity: terms({ key: 'c', operator: 'Exists' }) })), [
    'Invalid spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]'
  ])
  t.equal(
    (await put({ nodeSelector: { a: 'b', c: 'd' }, affinity: terms(one, { key: 'c', operator: 'Exists' }) })).code, 200
  )
  t.match(
    (await put({
      schedulingGates: [{ name: 'y' }],
      nodeSelector: { a: 'b', c: 'd' },
      affinity: terms(one, { key: 'c', operator: 'Exists' })
    })).json,
    { metadata: { generation: 3 }, spec: { schedulingGates: [{ name: 'y' }] } }
  )
})

t.test('values of its own labels are merged into selectors', async t => {
  const { json } = await later.post(PODS, pod('m', {
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 1,
            podAffinityTerm: {
              topologyKey: 'a', labelSelector: selector, matchLabelKeys: ['h'], mismatchLabelKeys: ['n']
            }
          }
        ]
      }
    },
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'a',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: selector,
        matchLabelKeys: ['h', 'missing']
      }
    ]
  }, { labels: { h: '1', n: '2' } }))
  const has = { key: 'h', operator: 'In', values: ['1'] }
  const [{ podAffinityTerm: term }] =
    json['spec'].affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution
  t.same(term.labelSelector.matchExpressions, [has, { key: 'n', operator: 'NotIn', values: ['2'] }])
  t.same(json['spec'].topologySpreadConstraints[0].labelSelector.matchExpressions, [has])
})

t.test('requests of a pod are those of its containers, or its limits', async t => {
  const { json } = await later.post(PODS, pod('r', {
    resources: { limits: { cpu: '4', memory: '1Gi' } },
    initContainers: [
      { name: 's', image: 'i', restartPolicy: 'Always', resources: { requests: { cpu: '1' } } },
      { name: 't', image: 'i', resources: { requests: { cpu: '2500m' } } }
    ]
  }, {}, { resources: { requests: { cpu: '500m' } } }))
  t.same(
    [json['spec'].resources, json['status'].qosClass],
    [{ limits: { cpu: '4', memory: '1Gi' }, requests: { cpu: '3500m', memory: '1Gi' } }, 'Burstable']
  )
  const limited = await later.post(
    PODS,
    pod(
      'l', { resources: { limits: { cpu: '4' } } }, {},
      { resources: { requests: { memory: '1Mi', 'a.b/c': '1' }, limits: { 'a.b/c': '1' } } }
    )
  )
  t.same(
    limited.json['spec'].resources, { limits: { cpu: '4' }, requests: { cpu: '4', memory: '1Mi' } },
    'also without a limit'
  )
})

t.test('annotations of AppArmor make fields, those of seccomp no longer do', async t => {
  const annotations = {
    'container.apparmor.security.beta.orch.io/c': 'localhost/p', 'seccomp.security.alpha.orch.io/pod': 'runtime/default'
  }
  const made = await later.post(PODS, pod('a', { terminationGracePeriodSeconds: -5 }, { annotations }))
  t.match(made.json, {
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [{ securityContext: { appArmorProfile: { type: 'Localhost', localhostProfile: 'p' } } }]
    }
  })
  t.match(made.headers['warning'], [/appArmorProfile/])
  t.equal(made.json['spec'].securityContext.seccompProfile, undefined)
  t.same(
    causes(await later.post(
      PODS, pod('b', {}, { annotations }, { securityContext: { appArmorProfile: { type: 'Unconfined' } } })
    )),
    ['Forbidden spec.containers[0].securityContext.appArmorProfile.type']
  )
})

t.test('a pod of a later release can be changed by an earlier one', async t => {
  const storage = { kind: 'embedded', directory: t.testdir() } as const
  const first = await build(t, { storage, emulatedVersion: '1.36' })
  const sidecar = { name: 's', image: 'i', restartPolicy: 'Always' }
  t.equal((await first.post(PODS, pod('p', { initContainers: [sidecar] }, {}, { restartPolicy: 'Never' }))).code, 201)
  await first.app.close()
  const earlier = await build(t, { storage })
  const changed = await earlier.patch(`${PODS}/p`, { metadata: { labels: { a: 'b' } } }, 'application/merge-patch+json')
  t.equal(changed.code, 200, changed.body)
})

t.test('logs of one stream need their gate, and earlier releases do not know the parameter', async t => {
  const POD = '/api/v1/namespaces/default/pods/logged'
  const asked = async (options: Parameters<typeof build>[1], query: string): Promise<Answer> => {
    const server = await build(t, options)
    await server.post('/api/v1/namespaces/default/pods', {
      metadata: { name: 'logged' }, spec: { containers: [{ name: 'c', image: 'i' }] }
    })
    return await server.get(`${POD}/log?${query}`)
  }
  const causes = ({ json }: Answer): unknown =>
    json['details'].causes.map(({ reason, field }: Json) => `${reason} ${field}`)
  t.same(causes(await asked({ emulatedVersion: '1.36' }, 'stream=All')), ['FieldValueForbidden stream'])
  t.equal((await asked({}, 'stream=All')).code, 204, 'it has no node')
  const on = { emulatedVersion: '1.36', featureGates: { PodLogsQuerySplitStreams: true } } as const
  t.equal((await asked(on, 'stream=Stdout')).code, 204)
  t.same(causes(await asked(on, 'stream=Foo')), ['FieldValueNotSupported stream'])
  t.same(causes(await asked(on, 'stream=Stdout&tailLines=1')), ['FieldValueForbidden stream'])
})

t.test('a status without a class of quality keeps the one there is', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  const PODS = '/api/v1/namespaces/default/pods'
  const made = (await server.post(PODS, {
    metadata: { name: 'q' }, spec: { containers: [{ name: 'c', image: 'i' }] }
  })).json
  t.match(await server.put(`${PODS}/q/status`, { ...made, status: { phase: 'Failed' } }), {
    code: 200, json: { status: { phase: 'Failed', qosClass: 'BestEffort' } }
  })
  t.equal((await server.patch(`${PODS}/q/status`, { status: { qosClass: 'Guaranteed' } })).code, 422)
})

t.test(
  'what a whole pod asks for is a default of what was sent, before limits of the namespace are added to its containers',
  async t => {
    const server = await build(t, { emulatedVersion: '1.36' })
    await server.post('/api/v1/namespaces/default/limitranges', {
      metadata: { name: 'l' }, spec: {
        limits: [{ type: 'Container', default: { cpu: '200m', memory: '100Mi' }, defaultRequest: { cpu: '100m' } }]
      }
    })
    const { json } = await server.post(PODS, pod('whole', { resources: { limits: { cpu: '1' } } }))
    t.strictSame(json['spec'].resources, { limits: { cpu: '1' }, requests: { cpu: '1', memory: '100Mi' } })
    t.strictSame(
      json['metadata'].managedFields[0].fieldsV1['f:spec']['f:resources'],
      { '.': {}, 'f:limits': { '.': {}, 'f:cpu': {} }, 'f:requests': { '.': {}, 'f:cpu': {} } }, 'whose client owns it'
    )
  }
)
