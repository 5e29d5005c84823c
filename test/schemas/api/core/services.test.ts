import t from 'tap'
import { created, creates, served, updated, updates } from '../rules.js'

const services = served('v1', 'services')
const port = (more: object) => ({ spec: { ports: [{ port: 80, ...more }] } })
const ports = (...list: object[]) => ({ spec: { ports: list } })
const VALID = { spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }] } }
const ANNOTATION = 'service.beta.orch.io/load-balancer-source-ranges'

creates(t, services, VALID, [
  ['a name that begins with a digit', { metadata: { name: '1web' } }, 'Invalid metadata.name'],
  ['a name of several labels', { metadata: { name: 'a.b' } }, 'Invalid metadata.name'],
  ['no ports', { spec: { ports: null } }, 'Required spec.ports'],
  ['a headless service needs none', { spec: { ports: null, clusterIP: 'None' } }],
  ['an unknown type', { spec: { type: 'Other' } }, 'NotSupported spec.type'],
  [
    'port 0, which targetPort follows', port({ port: 0 }), 'Invalid spec.ports[0].port',
    'Invalid spec.ports[0].targetPort'
  ],
  ['port 65536', port({ port: 65536, targetPort: 1 }), 'Invalid spec.ports[0].port'],
  ['targetPort -1', port({ targetPort: -1 }), 'Invalid spec.ports[0].targetPort'],
  ['a targetPort in capitals', port({ targetPort: 'HTTP' }), 'Invalid spec.ports[0].targetPort'],
  ['a targetPort of two hyphens', port({ targetPort: 'a--b' }), 'Invalid spec.ports[0].targetPort'],
  ['a targetPort of 16 characters', port({ targetPort: 'a234567890123456' }), 'Invalid spec.ports[0].targetPort'],
  ['an unknown protocol', port({ protocol: 'tcp' }), 'NotSupported spec.ports[0].protocol'],
  [
    'of a load balancer too', { spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'tcp' }] } },
    'NotSupported spec.ports[0].protocol'
  ],
  [
    'protocols may be mixed',
    { spec: { type: 'LoadBalancer', ports: [{ port: 80, name: 'a' }, { port: 80, name: 'b', protocol: 'UDP' }] } }
  ],
  ['an application protocol', port({ appProtocol: 'orch.io/h2c' })],
  ['an application protocol that is no name', port({ appProtocol: 'a b' }), 'Invalid spec.ports[0].appProtocol'],
  ['a port name that is no label', port({ name: 'a.b' }), 'Invalid spec.ports[0].name'],
  [
    'several ports have names', ports({ port: 80 }, { port: 81 }), 'Required spec.ports[0].name',
    'Required spec.ports[1].name'
  ],
  [
    'names of ports are unique', ports({ port: 80, name: 'a' }, { port: 81, name: 'a' }), 'Duplicate spec.ports[1].name'
  ],
  ['ports are unique', ports({ port: 80, name: 'a' }, { port: 80, name: 'b' }), 'Duplicate spec.ports[1]'],
  ['per protocol', ports({ port: 80, name: 'a' }, { port: 80, name: 'b', protocol: 'UDP' })],
  ['a node port of a ClusterIP service', port({ nodePort: 30000 }), 'Forbidden spec.ports[0].nodePort'],
  [
    'node ports are unique',
    {
      spec: {
        type: 'NodePort', ports: [{ port: 80, name: 'a', nodePort: 30000 }, { port: 81, name: 'b', nodePort: 30000 }]
      }
    },
    'Duplicate spec.ports[1].nodePort'
  ],
  ['the port of node agents', { spec: { type: 'LoadBalancer', ports: [{ port: 10250 }] } }, 'Invalid spec.ports[0]'],
  ['a selector of bad labels', { spec: { selector: { 'a b': 'c' } } }, 'Invalid spec.selector'],
  ['a headless NodePort service', { spec: { type: 'NodePort', clusterIP: 'None' } }, 'Invalid spec.clusterIPs[0]'],
  ['a headless load balancer', { spec: { type: 'LoadBalancer', clusterIP: 'None' } }, 'Invalid spec.clusterIPs[0]'],

  ['an external name', { spec: { type: 'ExternalName', externalName: 'web.example.com.', ports: null } }],
  ['which is required', { spec: { type: 'ExternalName' } }, 'Required spec.externalName'],
  ['and a DNS name', { spec: { type: 'ExternalName', externalName: 'a_b' } }, 'Invalid spec.externalName'],
  [
    'with a cluster address', { spec: { type: 'ExternalName', externalName: 'a', clusterIP: '10.0.0.1' } },
    'Forbidden spec.clusterIPs'
  ],
  [
    'with families',
    { spec: { type: 'ExternalName', externalName: 'a', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' } },
    'Forbidden spec.ipFamilies', 'Forbidden spec.ipFamilyPolicy'
  ],

  ['an unknown affinity', { spec: { sessionAffinity: 'Cookie' } }, 'NotSupported spec.sessionAffinity'],
  [
    'affinity of a second',
    { spec: { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 1 } } } }
  ],
  [
    'of none', { spec: { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } } },
    'Invalid spec.sessionAffinityConfig.clientIP.timeoutSeconds'
  ],
  [
    'of more than a day',
    { spec: { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } } } },
    'Invalid spec.sessionAffinityConfig.clientIP.timeoutSeconds'
  ],
  ['settings of no affinity are dropped', { spec: { sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } } }],

  ['a cluster address', { spec: { clusterIP: '10.0.0.1' } }],
  ['whose numbers have leading zeros', { spec: { clusterIP: '010.000.0.01' } }],
  ['that is none', { spec: { clusterIP: '10.0.0.256' } }, 'Invalid spec.clusterIPs[0]'],
  ['only the list of them', { spec: { clusterIPs: ['10.0.0.1'] } }, 'Invalid spec.clusterIPs'],
  ['both, not the same', { spec: { clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.1'] } }, 'Invalid spec.clusterIPs'],
  ['one of each family', { spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', 'fd00::1'] } }],
  [
    'two of one family', { spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '10.0.0.2'] } },
    'Invalid spec.clusterIPs'
  ],
  [
    'three', { spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', 'fd00::1', 'fd00::2'] } },
    'Invalid spec.clusterIPs'
  ],
  ['None and another', { spec: { clusterIP: 'None', clusterIPs: ['None', '10.0.0.1'] } }, 'Invalid spec.clusterIPs'],
  [
    'None as the second', { spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', 'None'] } },
    'Invalid spec.clusterIPs[1]'
  ],
  ['an unknown family', { spec: { ipFamilies: ['IPv5'] } }, 'NotSupported spec.ipFamilies[0]'],
  ['a family twice', { spec: { ipFamilies: ['IPv4', 'IPv4'] } }, 'Duplicate spec.ipFamilies[1]'],
  ['an unknown policy', { spec: { ipFamilyPolicy: 'Dual' } }, 'NotSupported spec.ipFamilyPolicy'],
  [
    'an address of another family', { spec: { clusterIP: 'fd00::1', ipFamilies: ['IPv4'] } },
    'Invalid spec.clusterIPs[0]'
  ],

  ['external addresses', { spec: { externalIPs: ['192.0.2.1', '2001:db8::1'] } }],
  ['that are none', { spec: { externalIPs: ['web', '0.0.0.0', '127.0.0.1', '169.254.1.1', '224.0.0.1'] } },
    'Invalid spec.externalIPs[0]', 'Invalid spec.externalIPs[1]', 'Invalid spec.externalIPs[2]',
    'Invalid spec.externalIPs[3]', 'Invalid spec.externalIPs[4]'],
  ['nor of IPv6', { spec: { externalIPs: ['::', '::1', 'fe80::1', 'ff02::1', '1::2::3', '::ffff:127.0.0.1'] } },
    'Invalid spec.externalIPs[0]', 'Invalid spec.externalIPs[1]', 'Invalid spec.externalIPs[2]',
    'Invalid spec.externalIPs[3]', 'Invalid spec.externalIPs[4]', 'Invalid spec.externalIPs[5]'],

  ['source ranges', { spec: { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.0/8', ' fd00::/8 '] } }],
  [
    'that are none', { spec: { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.0'] } },
    'Invalid spec.LoadBalancerSourceRanges'
  ],
  [
    'with too many bits', { spec: { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.0/33'] } },
    'Invalid spec.LoadBalancerSourceRanges'
  ],
  [
    'without a load balancer', { spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } },
    'Forbidden spec.LoadBalancerSourceRanges'
  ],
  [
    'the same as an annotation', { metadata: { annotations: { [ANNOTATION]: '10.0.0.0/8, x' } } },
    `Forbidden metadata.annotations[${ANNOTATION}]`, `Invalid metadata.annotations[${ANNOTATION}]`
  ],
  ['a class of load balancers', { spec: { type: 'LoadBalancer', loadBalancerClass: 'example.com/fast' } }],
  ['that is no name', { spec: { type: 'LoadBalancer', loadBalancerClass: 'a b' } }, 'Invalid spec.loadBalancerClass'],
  ['without a load balancer', { spec: { loadBalancerClass: 'fast' } }, 'Forbidden spec.loadBalancerClass'],
  [
    'nor node ports of one', { spec: { allocateLoadBalancerNodePorts: false } },
    'Forbidden spec.allocateLoadBalancerNodePorts'
  ],

  [
    'an unknown external policy', { spec: { type: 'NodePort', externalTrafficPolicy: 'Near' } },
    'NotSupported spec.externalTrafficPolicy'
  ],
  ['both of them, and more', {
    spec: {
      type: 'ClusterIP',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 30000,
      internalTrafficPolicy: 'Near',
      sessionAffinity: 'Cookie'
    }
  },
  'Invalid spec.externalTrafficPolicy', 'Invalid spec.healthCheckNodePort', 'NotSupported spec.internalTrafficPolicy',
  'NotSupported spec.sessionAffinity'],
  [
    'an unknown internal policy of a name',
    { spec: { type: 'ExternalName', externalName: 'a', internalTrafficPolicy: 'Near' } },
    'NotSupported spec.internalTrafficPolicy'
  ],
  [
    'an unknown internal policy', { spec: { internalTrafficPolicy: 'Near' } }, 'NotSupported spec.internalTrafficPolicy'
  ],
  ['an external policy inside', { spec: { externalTrafficPolicy: 'Local' } }, 'Invalid spec.externalTrafficPolicy'],
  [
    'a port for health checks',
    { spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30000 } }
  ],
  [
    'that is negative', { spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: -1 } },
    'Invalid spec.healthCheckNodePort'
  ],
  [
    'and means nothing with all nodes', { spec: { type: 'LoadBalancer', healthCheckNodePort: 30000 } },
    'Invalid spec.healthCheckNodePort'
  ]
])

const ADDRESSED = {
  spec: {
    ...VALID.spec, clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack'
  }
}
const DUAL = {
  spec: { clusterIPs: ['10.0.0.1', 'fd00::1'], ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'PreferDualStack' }
}

updates(t, services, ADDRESSED, [
  ['another address', {}, { spec: { clusterIP: '10.0.0.2' } }, 'Invalid spec.clusterIPs[0]'],
  ['an address that is left out stays', {}, { spec: { clusterIP: null, clusterIPs: null } }],
  [
    'another family', {}, { spec: { ipFamilies: ['IPv6'] } }, 'Invalid spec.ipFamilies[0]', 'Invalid spec.clusterIPs[0]'
  ],
  ['a second family', {}, DUAL],
  [
    'a second family goes', DUAL,
    { spec: { clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' } }
  ],
  [
    'but not by chance', DUAL, { spec: { clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'] } },
    'Invalid spec.ipFamilyPolicy'
  ],
  [
    'the first family stays', DUAL,
    { spec: { clusterIP: 'fd00::1', clusterIPs: ['fd00::1'], ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' } },
    'Invalid spec.clusterIPs[0]', 'Invalid spec.ipFamilies[0]'
  ],
  ['a service becomes headless', {}, { spec: { clusterIP: 'None' } }, 'Invalid spec.clusterIPs[0]'],
  ['it becomes a name', {}, { spec: { type: 'ExternalName', externalName: 'a.example.com' } }],
  [
    'and a service again',
    {
      spec: {
        type: 'ExternalName',
        externalName: 'a',
        clusterIP: null,
        clusterIPs: null,
        ipFamilies: null,
        ipFamilyPolicy: null
      }
    },
    { spec: { type: 'ClusterIP' } }
  ],
  [
    'node ports go with the type', { spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30000 }] } },
    { spec: { type: 'ClusterIP' } }
  ],
  [
    'unless they are others', { spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30000 }] } },
    { spec: { type: 'ClusterIP', ports: [{ port: 80, nodePort: 30001 }] } }, 'Forbidden spec.ports[0].nodePort'
  ],
  [
    'ports come and go with them',
    {
      spec: {
        type: 'NodePort', ports: [{ name: 'a', port: 80, nodePort: 30000 }, { name: 'b', port: 81, nodePort: 30001 }]
      }
    },
    { spec: { type: 'ClusterIP', ports: [{ name: 'b', port: 82, nodePort: 30001 }, { name: 'c', port: 83 }] } }
  ],
  [
    'also those a load balancer was not to be given',
    { spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{ port: 80, nodePort: 30000 }] } },
    { spec: { type: 'ClusterIP' } }
  ],
  [
    'another address told by the one field', {}, { spec: { clusterIP: '10.0.0.2', clusterIPs: null } },
    'Invalid spec.clusterIPs[0]'
  ],
  [
    'the class of a load balancer', { spec: { type: 'LoadBalancer', loadBalancerClass: 'a' } },
    { spec: { loadBalancerClass: 'b' } }, 'Invalid spec.loadBalancerClass'
  ],
  [
    'cannot be set later', { spec: { type: 'LoadBalancer' } }, { spec: { loadBalancerClass: 'b' } },
    'Invalid spec.loadBalancerClass'
  ],
  [
    'it goes with the type', { spec: { type: 'LoadBalancer', loadBalancerClass: 'a' } }, { spec: { type: 'ClusterIP' } }
  ],
  [
    'the port of health checks',
    { spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30000 } },
    { spec: { healthCheckNodePort: 30001 } }, 'Forbidden spec.healthCheckNodePort'
  ],
  [
    'it goes with the policy',
    { spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30000 } },
    { spec: { externalTrafficPolicy: 'Cluster' } }
  ],
  ['what is found in new ones is found later', {}, { spec: { ports: [] } }, 'Required spec.ports']
])

updates(t, services, ADDRESSED, [
  [
    'where a load balancer is', {},
    { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { hostname: 'a.example.com' }] } } }
  ],
  ['is an address or a name', {}, {
    status: { loadBalancer: { ingress: [{ ip: 'a' }, { hostname: '1.2.3.4' }, { hostname: 'A' }] } }
  },
  'Invalid status.loadBalancer.ingress[0].ip', 'Invalid status.loadBalancer.ingress[1].hostname',
  'Invalid status.loadBalancer.ingress[2].hostname'],
  [
    'the state of its ports',
    {},
    {
      status: {
        loadBalancer: { ingress: [{ ip: '192.0.2.1', ports: [{ port: 80, protocol: 'X' }] }] }, conditions: [{}]
      }
    }
  ]
], 'status')

t.test('an update of a service that omits allocated fields keeps them', async t => {
  t.match(
    created(services, { spec: { ...VALID.spec, clusterIP: 'None' } }).object, { spec: { clusterIPs: ['None'] } },
    'the one address is a list of one'
  )
  const before = {
    spec: {
      ...ADDRESSED.spec,
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 31000,
      ports: [{ name: 'a', port: 80, nodePort: 30000 }, { name: 'b', port: 81, nodePort: 30001 }]
    }
  }
  const { object } = updated(services, before, {
    spec: {
      ...VALID.spec,
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      ports: [{ name: 'b', port: 81 }, { name: 'c', port: 82 }]
    }
  })
  t.match(object, {
    spec: {
      clusterIP: '10.0.0.1',
      clusterIPs: ['10.0.0.1'],
      healthCheckNodePort: 31000,
      ports: [{ port: 81, nodePort: 30001 }, { port: 82, nodePort: undefined }]
    }
  })
  t.match(updated(services, before, { spec: { ...before.spec, type: 'ClusterIP' } }).object, {
    spec: {
      healthCheckNodePort: undefined,
      allocateLoadBalancerNodePorts: undefined,
      externalTrafficPolicy: undefined,
      ports: [{ nodePort: undefined }, { nodePort: undefined }]
    }
  })
  const renumbered = {
    ...before.spec,
    ports: [
      { name: 'a', port: 90, protocol: 'UDP' }, { name: 'c', port: 81 }, { name: 'b', port: 82 },
      { name: 'd', port: 83, nodePort: 30001 }
    ]
  }
  t.match(
    updated(services, before, { spec: renumbered }).object,
    { spec: { ports: [{ nodePort: 30000 }, { nodePort: undefined }, { nodePort: undefined }, { nodePort: 30001 }] } },
    'ports go by their names'
  )
  const balanced = {
    ...before, status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] }, conditions: [{ type: 'A' }] }
  }
  const { object: unbalanced } = updated(services, balanced, { spec: { ...before.spec, type: 'NodePort' } })
  t.match(
    unbalanced, { status: { loadBalancer: { ingress: undefined }, conditions: [{ type: 'A' }] } },
    'the status of the load balancer is cleared'
  )
  t.match(updated(services, balanced, { spec: before.spec }).object, { status: balanced.status })
})
