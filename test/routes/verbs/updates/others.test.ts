/** Allowed changes of objects of all other groups. */
import t from 'tap'
import { build, type Json } from '../../../build.js'
import { CERTIFICATE } from '../../../certificate-requests.js'
import { ALL } from '../../../conformance/collections.js'
import { judged, stored } from './cases.js'

const RBAC = 'rbac.authorization.orch.io/v1'

t.test('roles and bindings', async t => {
  const server = await build(t)
  for (const kind of ['roles', 'clusterroles']) {
    await judged(t, server, `${RBAC} ${kind}`, [
      ['a rule of nothing', {}, { rules: [{ apiGroups: [''], resources: ['pods'] }] }, 'Required rules[0].verbs']
    ])
  }
  for (const kind of ['rolebindings', 'clusterrolebindings']) {
    await judged(t, server, `${RBAC} ${kind}`, [
      ['another role', {}, { roleRef: { name: 'other' } }, 'Invalid roleRef'],
      ['a role of another kind', {}, { roleRef: { kind: 'Other' } }, 'NotSupported roleRef.kind', 'Invalid roleRef'],
      ['subjects nobody knows', {}, { subjects: [{ kind: 'Robot', name: 'r' }] }, 'NotSupported subjects[0].kind'],
      ['others', {}, { subjects: [{ kind: 'Group', name: 'g' }] }]
    ])
  }
})

t.test('networking', async t => {
  const server = await build(t, ALL)
  const group = 'networking.orch.io/v1'
  await judged(t, server, `${group} ingresses`, [
    [
      'a class beside the annotation', { metadata: { annotations: { 'orch.io/ingress.class': 'a' } } },
      { spec: { ingressClassName: 'b' } }
    ],
    ['a bad host', {}, { spec: { rules: [{ host: '10.0.0.1' }] } }, 'Invalid spec.rules[0].host'],
    ['nothing', {}, { spec: { rules: null } }, 'Invalid spec']
  ])
  await judged(t, server, `${group} ingresses/status`, [
    [
      'a bad address', {}, { status: { loadBalancer: { ingress: [{ ip: 'x' }] } } },
      'Invalid status.loadBalancer.ingress[0].ip'
    ]
  ])
  await judged(t, server, `${group} ingressclasses`, [
    ['another controller', {}, { spec: { controller: 'other.example.com/ingress' } }, 'Invalid spec.controller'],
    ['its parameters', {}, { spec: { parameters: { kind: 'Config', name: 'c' } } }]
  ])
  await judged(t, server, `${group} networkpolicies`, [
    ['a bad port', {}, { spec: { ingress: [{ ports: [{ port: 0 }] }] } }, 'Invalid spec.ingress[0].ports[0].port']
  ])
  await judged(t, server, 'v1 services', [
    [
      'a class of balancers it has none of', {}, { spec: { loadBalancerClass: 'example.com/a' } },
      'Forbidden spec.loadBalancerClass'
    ],
    ['a class when it begins to have one', {}, { spec: { type: 'LoadBalancer', loadBalancerClass: 'example.com/a' } }],
    [
      'another class', { spec: { type: 'LoadBalancer', loadBalancerClass: 'example.com/a' } },
      { spec: { loadBalancerClass: 'example.com/b' } }, 'Invalid spec.loadBalancerClass'
    ],
    [
      'another address', { spec: { clusterIP: '10.0.0.5' } }, { spec: { clusterIP: '10.0.0.77' } },
      'Invalid spec.clusterIPs[0]'
    ],
    [
      'no address any more', { spec: { clusterIP: '10.0.0.6' } }, { spec: { clusterIP: 'None' } },
      'Invalid spec.clusterIPs[0]'
    ]
  ])
  await judged(t, server, 'v1 services/status', [
    [
      'what is not looked at',
      {},
      {
        status: {
          loadBalancer: { ingress: [{ hostname: 'a.example.com', ports: [{ port: 0, protocol: 'X' }] }] },
          conditions: [{}]
        }
      }
    ],
    [
      'a bad name', {}, { status: { loadBalancer: { ingress: [{ hostname: 'a b' }] } } },
      'Invalid status.loadBalancer.ingress[0].hostname'
    ]
  ])
  await stored(t, server, 'discovery.orch.io/v1 endpointslices', [
    [
      'other labels are another generation', {}, { metadata: { labels: { 'orch.io/service-name': 'web' } } },
      { metadata: { generation: 2 } }
    ],
    ['other annotations are none', {}, { metadata: { annotations: { a: 'b' } } }, { metadata: { generation: 1 } }]
  ])
  await judged(t, server, 'discovery.orch.io/v1 endpointslices', [
    ['another type', {}, { addressType: 'IPv6', endpoints: [{ addresses: ['fd00::1'] }] }, 'Invalid addressType'],
    ['a bad address', {}, { endpoints: [{ addresses: ['x'] }] }, 'Invalid endpoints[0].addresses[0]']
  ])
})

t.test('policies, classes and locks', async t => {
  const server = await build(t, ALL)
  await judged(t, server, 'scheduling.orch.io/v1 priorityclasses', [
    ['another value', {}, { value: 7 }, 'Forbidden value'],
    ['a policy nobody knows', {}, { preemptionPolicy: 'Ask' }, 'Invalid preemptionPolicy'],
    ['for all', {}, { globalDefault: true, description: 'd' }]
  ])
  await judged(t, server, 'policy/v1 poddisruptionbudgets', [
    ['both', {}, { spec: { maxUnavailable: 1 } }, 'Invalid spec'],
    ['all of it', {}, { spec: { minAvailable: '50%', selector: { matchLabels: { a: 'b' } } } }]
  ])
  await judged(t, server, 'policy/v1 poddisruptionbudgets/status', [
    ['fewer than none', {}, { status: { currentHealthy: -1 } }, 'Invalid status.currentHealthy']
  ])
  await judged(t, server, 'policy/v1beta1 poddisruptionbudgets/status', [
    ['fewer than none', {}, { status: { currentHealthy: -1 } }]
  ])
  await judged(t, server, 'node.orch.io/v1 runtimeclasses', [
    ['another handler', {}, { handler: 'kata' }, 'Invalid handler'],
    ['what it takes', {}, { overhead: { podFixed: { cpu: '1' } } }]
  ])
  await judged(t, server, 'coordination.orch.io/v1 leases', [
    ['no time', {}, { spec: { leaseDurationSeconds: 0 } }, 'Invalid spec.leaseDurationSeconds']
  ])
  for (const version of ['v1', 'v2', 'v2beta2', 'v2beta1']) {
    await judged(t, server, `autoscaling/${version} horizontalpodautoscalers`, [
      ['fewer than one', { spec: { metrics: null } }, { spec: { maxReplicas: 0 } }, 'Invalid spec.maxReplicas']
    ])
    await judged(t, server, `autoscaling/${version} horizontalpodautoscalers/status`, [
      [
        'fewer than none', { spec: { metrics: null } }, { status: { currentReplicas: -1, desiredReplicas: -1 } },
        'Invalid status.currentReplicas', 'Invalid status.desiredReplicas'
      ]
    ])
  }
})

t.test('extensions of the server', async t => {
  const server = await build(t, ALL)
  const widgets = (spec: Json = {}): Json => ({ metadata: { name: 'widgets.example.com' }, spec })
  const definitions = 'apiextensions.orch.io/v1 customresourcedefinitions'
  await judged(t, server, definitions, [
    [
      'another group and plural', widgets(), { spec: { group: 'other.com', names: { plural: 'others' } } },
      'Invalid spec.group', 'Invalid spec.names.plural'
    ]
  ])
  await server.delete('/apis/apiextensions.orch.io/v1/customresourcedefinitions/widgets.example.com')
  await judged(t, server, `${definitions}/status`, [
    [
      'names that are none', widgets(), { status: { acceptedNames: { plural: 'a b', kind: 'X' } } },
      'Invalid status.acceptedNames.plural'
    ]
  ])
  await judged(t, server, 'apiregistration.orch.io/v1 apiservices', [
    [
      'no such priority', { metadata: { name: 'v1.metrics.example.com' } }, { spec: { groupPriorityMinimum: 0 } },
      'Invalid spec.groupPriorityMinimum'
    ]
  ])
  const local = {
    metadata: { name: 'v1.local.example.com' },
    spec: { group: 'local.example.com', service: null, insecureSkipTLSVerify: null }
  }
  await stored(t, server, 'apiregistration.orch.io/v1 apiservices', [
    [
      'what is local is available', local, { metadata: { labels: { a: 'b' } } },
      { status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] } }
    ]
  ])
  await judged(t, server, 'admissionregistration.orch.io/v1 validatingwebhookconfigurations', [
    [
      'nobody to ask', {}, [{ op: 'replace', path: '/webhooks/0/clientConfig', value: {} }],
      'Required webhooks[0].clientConfig'
    ]
  ])
  await judged(t, server, 'flowcontrol.apiserver.orch.io/v1beta2 flowschemas', [
    ['no such precedence', {}, { spec: { matchingPrecedence: -1 } }, 'Invalid spec.matchingPrecedence']
  ])
})

t.test('events', async t => {
  const server = await build(t)
  await judged(t, server, 'v1 events', [
    [
      'all of it', {},
      { reason: 'Other', message: 'other', count: 2, type: 'Warning', involvedObject: { name: 'other' } }
    ],
    ['an object elsewhere', {}, { involvedObject: { namespace: 'other' } }, 'Invalid involvedObject.namespace']
  ])
  await judged(t, server, 'events.orch.io/v1 events', [
    [
      'what was told', {}, { reason: 'Other', note: 'other', type: 'Warning', action: 'Other' }, 'Invalid reason',
      'Invalid action', 'Invalid message', 'Invalid type'
    ],
    [
      'who told it', {}, { reportingController: 'example.com/other', reportingInstance: 'two' },
      'Invalid reportingController', 'Invalid reportingInstance'
    ],
    ['that it goes on', {}, { series: { count: 2, lastObservedTime: '2026-01-02T03:04:05.000006Z' } }],
    ['once', {}, { series: { count: 1 } }, 'Invalid series.count', 'Required series.lastObservedTime'],
    ['another uid', {}, { metadata: { uid: 'another' } }, 'Invalid metadata.uid']
  ])
  await judged(t, server, 'events.orch.io/v1beta1 events', [['what was told', {}, { reason: 'Other' }]])
})

t.test('requests for certificates', async t => {
  const server = await build(t)
  const place = 'certificates.orch.io/v1 certificatesigningrequests'
  const approved = { type: 'Approved', status: 'True' }
  await stored(t, server, place, [
    [
      'neither what is asked for nor the answer', {},
      { spec: { signerName: 'other.example.com/signer' }, status: { certificate: CERTIFICATE } },
      { spec: { signerName: 'example.com/signer' }, status: { certificate: undefined } }
    ]
  ])
  await stored(t, server, `${place}/approval`, [
    [
      'conditions alone, with their times',
      {},
      { status: { conditions: [approved], certificate: CERTIFICATE } },
      {
        status: {
          conditions: [{ ...approved, lastUpdateTime: String, lastTransitionTime: String }], certificate: undefined
        }
      }
    ]
  ])
  await judged(t, server, `${place}/status`, [
    ['a decision', {}, { status: { conditions: [approved] } }, 'Forbidden status.conditions'],
    ['a failure', {}, { status: { conditions: [{ type: 'Failed', status: 'True' }] } }],
    ['what is no certificate', {}, { status: { certificate: 'eA==' } }, 'Invalid status.certificate']
  ])
  const both = { status: { conditions: [approved, { type: 'Denied', status: 'True' }] } }
  await judged(t, server, `${place}/approval`, [['both', {}, both, 'Invalid status.conditions[1].type']])
  await judged(
    t, await build(t, { emulatedVersion: '1.36' }), `${place}/approval`,
    [['both', {}, both, 'Invalid status.conditions']]
  )
})
