import t from 'tap'
import { describe } from '../../../schemas/status.js'
import { creates, served, updates, updated, created, type Plain } from './rules.js'

const priorities = served('scheduling.orch.io/v1', 'priorityclasses')
creates(t, priorities, { value: 1000 }, [
  ['the highest of users', { value: 1_000_000_000 }],
  ['one above', { value: 1_000_000_001 }, 'Forbidden value'],
  ['a class of the system', { metadata: { name: 'system-node-critical' }, value: 2_000_001_000 }],
  ['with another value', { metadata: { name: 'system-node-critical' }, value: 5 }, 'Forbidden metadata.name'],
  ['a name like one', { metadata: { name: 'system-mine' } }, 'Forbidden metadata.name'],
  ['an unknown policy', { preemptionPolicy: 'Ask' }, 'NotSupported preemptionPolicy'],
  ['an empty one', { preemptionPolicy: '' }, 'Required preemptionPolicy']
])
updates(t, priorities, { value: 1000 }, [
  ['what may change', {}, { globalDefault: true, description: 'x' }],
  ['what may not', {}, { value: 1, preemptionPolicy: 'Never' }, 'Forbidden value', 'Invalid preemptionPolicy']
])

creates(t, served('coordination.orch.io/v1', 'leases'), { spec: { leaseDurationSeconds: 15 } }, [
  ['no time', { spec: { leaseDurationSeconds: 0 } }, 'Invalid spec.leaseDurationSeconds'],
  ['fewer holders than none', { spec: { leaseTransitions: -1 } }, 'Invalid spec.leaseTransitions']
])

for (const version of ['v1', 'v1beta1']) {
  const runtimes = served(`node.orch.io/${version}`, 'runtimeclasses')
  creates(t, runtimes, { handler: 'runc' }, [
    ['no handler', { handler: null }, 'Invalid handler'],
    ['one that is no label', { handler: 'a.b' }, 'Invalid handler'],
    ['what it takes', { overhead: { podFixed: { cpu: '100m' } } }],
    [
      'less than nothing of what nobody knows', { overhead: { podFixed: { pods: '-1' } } },
      'Invalid overhead.limits[pods]'
    ],
    ['huge pages alone', { overhead: { podFixed: { 'hugepages-2Mi': '2Mi' } } }, 'Forbidden overhead'],
    [
      'for so long, or for another time',
      {
        scheduling: {
          tolerations: [1, 2].map(tolerationSeconds => ({
            key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds
          }))
        }
      },
      'Duplicate scheduling.tolerations[1]'
    ],
    [
      'a toleration of a bad key', { scheduling: { tolerations: [{ key: 'a b', operator: 'Exists' }] } },
      'Invalid scheduling.tolerations.tolerations[0].key'
    ],
    ['nodes by bad labels', { scheduling: { nodeSelector: { 'a b': 'c' } } }, 'Invalid scheduling.nodeSelector'],
    [
      'a toleration twice',
      { scheduling: { tolerations: [{ key: 'a', operator: 'Exists' }, { key: 'a', operator: 'Exists' }] } },
      'Duplicate scheduling.tolerations[1]'
    ]
  ])
  updates(t, runtimes, { handler: 'runc' }, [['another handler', {}, { handler: 'kata' }, 'Invalid handler']])
}

const endpoints = served('v1', 'endpoints')
const subset = (one: object) => ({ subsets: [one] })
const address = (one: object) => subset({ addresses: [one] })
const ADDRESS = 'subsets[0].addresses[0]'
creates(t, endpoints, address({ ip: '10.0.0.1' }), [
  ['nobody', subset({}), 'Required subsets[0]'],
  ['somebody who is not ready', subset({ notReadyAddresses: [{ ip: '10.0.0.1' }] })],
  ['no address', address({}), `Invalid ${ADDRESS}.ip`],
  ['an address of every machine', address({ ip: '127.0.0.1' }), `Invalid ${ADDRESS}.ip`],
  [
    'a host and a node of bad names', address({ ip: '10.0.0.1', hostname: 'a.b', nodeName: 'A' }),
    `Invalid ${ADDRESS}.hostname`, `Invalid ${ADDRESS}.nodeName`
  ],
  ['ports', subset({
    addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 0, name: 'A', appProtocol: 'a b', protocol: 'X' }]
  }),
  'Invalid subsets[0].ports[0].port', 'Invalid subsets[0].ports[0].name', 'Invalid subsets[0].ports[0].appProtocol',
  'NotSupported subsets[0].ports[0].protocol'],
  [
    'several ports without names', subset({ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 1 }, { port: 2 }] }),
    'Required subsets[0].ports[0].name', 'Required subsets[0].ports[1].name'
  ]
])

for (const version of ['v1', 'v1beta1']) {
  const slices = served(`discovery.orch.io/${version}`, 'endpointslices')
  const SLICE = { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }] }
  const endpoint = (one: object) => ({ endpoints: [{ addresses: ['10.0.0.1'], ...one }] })
  const addresses = (addressType: string, ...list: string[]) => ({ addressType, endpoints: [{ addresses: list }] })
  creates(t, slices, SLICE, [
    ['no type', { addressType: null }, 'Required addressType'],
    ['an unknown one', { addressType: 'MAC' }, 'NotSupported addressType'],
    ['no addresses', endpoint({ addresses: [] }), 'Required endpoints[0].addresses'],
    ['101', endpoint({ addresses: Array.from({ length: 101 }, () => '10.0.0.1') }), 'TooMany endpoints[0].addresses'],
    [
      '101 of which one is none', endpoint({ addresses: ['x', ...Array.from({ length: 100 }, () => '10.0.0.1')] }),
      'TooMany endpoints[0].addresses', 'Invalid endpoints[0].addresses[0]'
    ],
    [
      'as many ports as may be',
      { ports: Array.from({ length: 20_000 }, (_, index) => ({ name: `p${index}`, port: 80 })) }
    ],
    [
      '20001 ports', { ports: Array.from({ length: 20_001 }, (_, index) => ({ name: `p${index}`, port: 80 })) },
      'TooMany ports'
    ],
    [
      '1001 endpoints', { endpoints: Array.from({ length: 1001 }, () => ({ addresses: ['10.0.0.1'] })) },
      'TooMany endpoints'
    ],
    ['addresses of IPv6', addresses('IPv6', '2001:db8::1')],
    ['of another type', addresses('IPv4', '2001:db8::1'), 'Invalid endpoints[0].addresses[0]'],
    ['of every machine', addresses('IPv6', '::1'), 'Invalid endpoints[0].addresses[0]'],
    ['names', addresses('FQDN', 'a.example.com', 'example.com.')],
    [
      'names that are not full', addresses('FQDN', 'a', 'A.b'), 'Invalid endpoints[0].addresses[0]',
      'Invalid endpoints[0].addresses[1]'
    ],
    [
      'no name, and one of a part that is too long', addresses('FQDN', '', `${'a'.repeat(64)}.example.com`),
      'Required endpoints[0].addresses[0]', 'Invalid endpoints[0].addresses[1]'
    ],
    [
      'bad names', endpoint({ hostname: 'a.b', nodeName: 'A b' }), 'Invalid endpoints[0].hostname',
      'Invalid endpoints[0].nodeName'
    ],
    ['a hint for nowhere', endpoint({ hints: { forZones: [{ name: '' }] } })],
    [
      'hints', endpoint({ hints: { forZones: [{ name: 'a' }, { name: 'a' }, { name: 'b c' }] } }),
      'Duplicate endpoints[0].hints.forZones[1].name', 'Invalid endpoints[0].hints.forZones[2].name'
    ],
    ['ports', {
      ports: [{ name: 'a', port: 80 }, { name: 'a', port: 81 }, { name: 'B', appProtocol: 'a b', protocol: 'X' }]
    },
    'Duplicate ports[1].name', 'Invalid ports[2].name', 'Invalid ports[2].appProtocol',
    'NotSupported ports[2].protocol']
  ])
  updates(t, slices, SLICE, [['another type', {}, addresses('IPv6', '2001:db8::1'), 'Invalid addressType']])
}

t.test('topology of v1beta1 becomes fields in v1, where the rest of it is read-only', async t => {
  const [v1, v1beta1] = [
    served('discovery.orch.io/v1', 'endpointslices'), served('discovery.orch.io/v1beta1', 'endpointslices')
  ]
  const slice = (endpoint: object) => ({ addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'], ...endpoint }] })
  const old = { 'topology.orch.io/zone': 'z', 'example.com/rack': 'r' }
  const inV1 = (object: object): unknown =>
    (v1.conversion?.fromStored(object as never) as unknown as { endpoints: unknown[] } | undefined)?.endpoints[0]
  t.match(inV1(created(v1beta1, slice({ topology: old })).object), {
    zone: 'z', deprecatedTopology: { 'example.com/rack': 'r' }
  })
  t.notMatch(
    inV1(created(v1, slice({ zone: 'z', deprecatedTopology: { 'example.com/rack': 'r' } })).object),
    { deprecatedTopology: {} }, 'dropped'
  )
  t.same(created(v1, slice({ zone: 'any zone' })).errors, [], 'a zone is no label there')
  const told = { 'orch.io/hostname': 'n1' }
  const [before, after] = [slice({ topology: told }), slice({ hostname: 'h', deprecatedTopology: told })]
  t.match(
    inV1(updated(v1, slice({ deprecatedTopology: told }), after).object),
    { nodeName: 'n1', deprecatedTopology: undefined }, 'the stored hostname becomes the node name'
  )
  t.notMatch(inV1(updated(v1, slice({}), after).object), { nodeName: 'n1' }, 'another does not')
  t.match(inV1(created(v1beta1, before).object), { nodeName: undefined, deprecatedTopology: told })
  const shown = slice({ zone: 'z', deprecatedTopology: { 'example.com/rack': 'r' } })
  t.match(
    inV1(updated(v1, shown, { ...shown, metadata: { labels: { a: 'b' } } }).object),
    { deprecatedTopology: { 'example.com/rack': 'r' } }, 'kept while the endpoints are as they were'
  )
  t.notMatch(
    inV1(updated(v1, shown, slice({ zone: 'y', deprecatedTopology: { 'example.com/rack': 'r' } })).object),
    { deprecatedTopology: {} }
  )
})

t.test('errors for too many items state their number, and limits in bytes say so', async t => {
  const many = created(
    served('discovery.orch.io/v1', 'endpointslices'),
    { addressType: 'IPv4', endpoints: Array.from({ length: 1001 }, () => ({ addresses: ['10.0.0.1'] })) }
  )
  t.same(many.errors.map(describe), ['Too many: 1001: must have at most 1000 items'])
  const long = created(
    served('storage.orch.io/v1', 'csinodes'), { spec: { drivers: [{ name: 'a'.repeat(64), nodeID: 'n' }] } }
  )
  t.same(long.errors.map(describe), ['Too long: must have at most 63 bytes'])
})

t.test('words that clients know', async t => {
  const told = (version: string, plural: string, body: object): string[] =>
    created(served(version, plural), body as Plain).errors.map(describe)
  const system = (name: string, change: object = {}) =>
    told('scheduling.orch.io/v1', 'priorityclasses', { metadata: { name }, value: 1, ...change })
  const reserved = "Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: "
  t.same(system('system-mine'), [`${reserved}system-mine is not a known system priority class`])
  t.same(system('system-node-critical'), [`${reserved}value of system-node-critical PriorityClass must be 2000001000`])
  t.same(system('system-node-critical', { value: 2_000_001_000, globalDefault: true }), [
    `${reserved}globalDefault of system-node-critical PriorityClass must be false`
  ])
  const controlled = (controller: string) => told('networking.orch.io/v1', 'ingressclasses', { spec: { controller } })
  t.same(controlled('example.com'), [
    'Invalid value: "example.com": must be a domain-prefixed path (such as "acme.io/foo")'
  ])
  t.same(controlled('example.com/a b'), [
    'Invalid value: "a b": Invalid path (regex used for validation is \'[A-Za-z0-9/\\-._~%!$&\'()*+,;=:]+\')'
  ])
  t.match(controlled('Example/a'), ['Invalid value: "Example": '])
  t.same(told('v1', 'configmaps', { data: { a: '' }, binaryData: { a: '' } }), [
    'Invalid value: "a": duplicate of key present in binaryData'
  ])
  t.ok(told('apps/v1', 'daemonsets', { spec: { updateStrategy: { type: 'Never' } } }).includes(
    'Unsupported value: {"type":"Never"}: supported values: "RollingUpdate", "OnDelete"'
  ))
  t.same(told('v1', 'configmaps', { metadata: { finalizers: ['orphan', 'foregroundDeletion'] } }), [
    'Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set'
  ])
  t.same(told('v1', 'configmaps', { metadata: { finalizers: ['plain'] } }), [
    'Invalid value: "plain": name is neither a standard finalizer name nor is it fully qualified'
  ])
})

t.test('words of single kinds that clients know', async t => {
  const told = (version: string, plural: string, body: object): string[] =>
    created(served(version, plural), body as Plain).errors.map(describe)
  const RBAC = 'rbac.authorization.orch.io'
  const granted = (roleRef: object, subjects: object[] = []) =>
    told(`${RBAC}/v1`, 'rolebindings', { roleRef: { apiGroup: RBAC, kind: 'Role', name: 'a', ...roleRef }, subjects })
  t.same(granted({ kind: 'Pod' }), ['Unsupported value: "Pod": supported values: "Role", "ClusterRole"'])
  t.same(
    granted({}, [{ kind: 'Robot', name: 'a' }]),
    ['Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"']
  )
  const expression = { key: 'a', operator: 'In', values: ['-b'] }
  t.same(
    told(`${RBAC}/v1`, 'clusterroles', {
      aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [expression] }] }
    }),
    ['Invalid value: "null": invalid label selector.']
  )
  const service = (clientConfig: object) => told(
    'admissionregistration.orch.io/v1', 'validatingwebhookconfigurations',
    { webhooks: [{ name: 'a.b.c', sideEffects: 'None', admissionReviewVersions: ['v1'], clientConfig }] }
  )
  t.same(service({ service: {} }), [
    'Required value: service name is required', 'Required value: service namespace is required'
  ])
  const paths = [{ path: '/', backend: { service: { name: 'a', port: { number: 80 } } } }]
  t.same(told('networking.orch.io/v1', 'ingresses', { spec: { rules: [{ http: { paths } }] } }), [
    'Required value: pathType must be specified'
  ])
  const ports = (port: object) =>
    told('networking.orch.io/v1', 'networkpolicies', { spec: { podSelector: {}, egress: [{ ports: [port] }] } })
  t.same(
    ports({ port: 80, endPort: 70 }), ['Invalid value: 80: must be greater than or equal to `port`'],
    'the value in the message is the first port'
  )
  t.match(ports({ port: '-', endPort: 70 }), [
    'Invalid value: 70: may not be specified when `port` is non-numeric', 'Invalid value: "-": '
  ])
  t.match(
    told('storage.orch.io/v1', 'storageclasses', { provisioner: 'A.B/C!' }), ['Invalid value: "a.b/c!": '],
    'as it is compared'
  )
  const api = (spec: object) => told('apiregistration.orch.io/v1', 'apiservices', {
    metadata: { name: 'v1.a' },
    spec: { group: 'a', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, ...spec }
  })
  t.same(api({ group: 'b' }), ['Invalid value: "v1.a": must be `spec.version+"."+spec.group`: "v1.b"'])
  t.same(api({ caBundle: 'AAAA' }), ['Invalid value: "3 bytes": local APIServices may not have a caBundle'])
  t.same(api({ service: { namespace: 'a', name: 'b', port: 0 } }), [
    'Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive'
  ])
})

t.test('findings that name several things name them as clients know them', async t => {
  const told = (...[version, plural, before, change]: [string, string, object, object]): string[] =>
    updated(served(version, plural), before as Plain, { ...before, ...change } as Plain).errors.map(describe)
  const set = {
    spec: {
      serviceName: 'a',
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [] } }
    }
  }
  t.same(told('apps/v1', 'statefulsets', set, { spec: { ...set.spec, serviceName: 'b' } }), [
    "Forbidden: updates to statefulset spec for fields other than 'replicas', 'template', 'updateStrategy', " +
    "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
  ])
  const service = { spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } }
  t.same(
    told('v1', 'services', service, { spec: { ...service.spec, loadBalancerSourceRanges: ['10.0.0.0/8', 'x'] } }),
    ['Invalid value: "[10.0.0.0/8 x]": must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ']
  )
  const taint = { key: 'a', effect: 'NoExecute' }
  t.ok(told('v1', 'nodes', {}, { spec: { taints: [taint, taint] } }).every(text =>
    text.endsWith('taints must be unique by key and effect pair')))
})
