/** Allowed changes of objects of the core group, and the errors for others. */
import t from 'tap'
import { build, type Json } from '../../../build.js'
import { ALL } from '../../../conformance/collections.js'
import { judged, stored } from './cases.js'

const IMAGE = 'spec.containers[0].image'
/** A change of the one container of a sample. */
const container = (more: Json): Json => ({
  spec: {
    containers: [
      {
        name: 'web',
        image: 'nginx:1.23',
        ports: [{ containerPort: 80, protocol: 'TCP' }],
        resources: { requests: { cpu: '100m', memory: '64Mi' } },
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
        ...more
      }
    ]
  }
})
const toleration = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 9 }

t.test('pods', async t => {
  const server = await build(t, { admission: { disabled: ['DefaultTolerationSeconds', 'ServiceAccount'] } })
  await judged(t, server, 'v1 pods', [
    ['another image', {}, container({ image: 'nginx:1.24' })],
    ['no image', {}, container({ image: '' }), `Required ${IMAGE}`],
    ['an image with blanks', {}, container({ image: ' nginx' }), `Invalid ${IMAGE}`],
    ['another command', {}, container({ command: ['sh'] }), 'Forbidden spec'],
    [
      'one container more', {}, [{ op: 'add', path: '/spec/containers/-', value: { name: 'more', image: 'nginx' } }],
      'Forbidden spec.containers'
    ],
    [
      'an init container more', {}, { spec: { initContainers: [{ name: 'more', image: 'nginx' }] } },
      'Forbidden spec.initContainers'
    ],
    ['a deadline', {}, { spec: { activeDeadlineSeconds: 10 } }],
    ['a shorter one', { spec: { activeDeadlineSeconds: 10 } }, { spec: { activeDeadlineSeconds: 5 } }],
    [
      'a longer one', { spec: { activeDeadlineSeconds: 10 } }, { spec: { activeDeadlineSeconds: 11 } },
      'Invalid spec.activeDeadlineSeconds'
    ],
    [
      'none any longer', { spec: { activeDeadlineSeconds: 10 } }, { spec: { activeDeadlineSeconds: null } },
      'Invalid spec.activeDeadlineSeconds'
    ],
    ['one that is over', {}, { spec: { activeDeadlineSeconds: -1 } }, 'Invalid spec.activeDeadlineSeconds'],
    [
      'at once, which is not in its range', {}, { spec: { activeDeadlineSeconds: 0 } },
      'Invalid spec.activeDeadlineSeconds'
    ],
    ['a toleration more', {}, { spec: { tolerations: [toleration] } }],
    [
      'other seconds of one', { spec: { tolerations: [toleration] } },
      { spec: { tolerations: [{ ...toleration, tolerationSeconds: 1 }] } }
    ],
    [
      'one fewer', { spec: { tolerations: [toleration] } }, { spec: { tolerations: null } },
      'Forbidden spec.tolerations'
    ],
    ['another grace period', {}, { spec: { terminationGracePeriodSeconds: 1 } }, 'Forbidden spec'],
    [
      'one second where it was less than nothing', { spec: { terminationGracePeriodSeconds: -1 } },
      { spec: { terminationGracePeriodSeconds: 1 } }
    ],
    ['another node', {}, { spec: { nodeName: 'n' } }, 'Forbidden spec'],
    ['another host name', {}, { spec: { hostname: 'a_b' } }, 'Forbidden spec', 'Invalid spec.hostname'],
    [
      'costs of a deletion that are no number', {},
      { metadata: { annotations: { 'controller.orch.io/pod-deletion-cost': 'much' } } },
      'Invalid metadata.annotations[controller.orch.io/pod-deletion-cost]'
    ],
    [
      'a profile', {},
      { metadata: { annotations: { 'container.apparmor.security.beta.orch.io/web': 'runtime/default' } } },
      'Forbidden metadata.annotations[container.apparmor.security.beta.orch.io/web]'
    ]
  ])
  const ended = {
    state: { terminated: { exitCode: 0 } }, name: 'web', ready: false, restartCount: 0, image: '', imageID: ''
  }
  await judged(t, server, 'v1 pods/status', [
    ['a phase, and addresses', {}, { status: { phase: 'Running', podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] } }],
    ['bad addresses', {}, { status: { podIPs: [{ ip: 'here' }] } }, 'Invalid status.podIPs[0]'],
    [
      'two of one family', {}, { status: { podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] } }, 'Invalid status.podIPs'
    ],
    [
      'a condition of a bad name', {}, { status: { conditions: [{ type: 'a b', status: 'True' }] } },
      'Invalid metadata.conditions[0].Type'
    ],
    [
      'what has ended runs again', { spec: { restartPolicy: 'Never' }, status: { containerStatuses: [ended] } },
      { status: { containerStatuses: [{ ...ended, state: { running: {} } }] } },
      'Forbidden status.containerStatuses[0].state'
    ],
    [
      'what is always restarted', { status: { containerStatuses: [ended] } },
      { status: { containerStatuses: [{ ...ended, state: { running: {} } }] } }
    ]
  ])
  await stored(t, server, 'v1 pods', [
    ['a status is not its to change', {}, { status: { phase: 'Failed' } }, { status: { phase: 'Pending' } }]
  ])
  await stored(t, server, 'v1 pods/status', [
    [
      'a spec is not its to change', {}, { spec: { nodeName: 'n' }, status: { phase: 'Running' } },
      { spec: { nodeName: undefined }, status: { phase: 'Running' } }
    ]
  ])
  await stored(t, server, 'v1 pods/ephemeralcontainers', [
    [
      'nothing but they',
      {},
      {
        metadata: { labels: { more: 'yes' } },
        spec: { nodeName: 'n', ephemeralContainers: [{ name: 'debug', image: 'busybox' }] }
      },
      { metadata: { labels: undefined }, spec: { nodeName: undefined, ephemeralContainers: [{ name: 'debug' }] } }
    ]
  ])
})

const AT = 'metadata.annotations'
const annotated = (name: string, value: string): Json => ({
  metadata: { annotations: { [`scheduler.alpha.orch.io/${name}`]: value } }
})

t.test('nodes', async t => {
  const server = await build(t)
  await judged(t, server, 'v1 nodes', [
    [
      'taints that will not do', {}, { spec: { taints: [{ key: 'a b', effect: 'NoSchedule' }] } },
      'Invalid metadata.taints[0].key'
    ],
    [
      'other ranges', { spec: { podCIDR: '10.2.0.0/24', podCIDRs: ['10.2.0.0/24', 'fd00::/64'] } },
      { spec: { podCIDR: '10.3.0.0/24', podCIDRs: ['10.3.0.0/24', 'fd01::/64'] } }, 'Forbidden spec.podCIDRs'
    ],
    [
      'one fewer', { spec: { podCIDR: '10.2.0.0/24', podCIDRs: ['10.2.0.0/24', 'fd00::/64'] } },
      { spec: { podCIDRs: ['10.2.0.0/24'] } }, 'Forbidden spec.podCIDRs'
    ],
    ['another provider', { spec: { providerID: 'a' } }, { spec: { providerID: 'b' } }, 'Forbidden spec.providerID'],
    ['cordoned', {}, { spec: { unschedulable: true } }],
    [
      'taints in an annotation', {}, annotated('taints', '[{"key":"a b","effect":"NoSchedule"}]'),
      `Invalid ${AT}.scheduler.alpha.orch.io/taints[0].key`
    ],
    ['what is no JSON', {}, annotated('taints', '['), `Invalid ${AT}`],
    [
      'pods to avoid',
      {},
      annotated(
        'preferAvoidPods',
        JSON.stringify({ preferAvoidPods: [{ podSignature: { podController: { controller: true } } }] })
      )
    ],
    [
      'pods of nobody', {},
      annotated('preferAvoidPods', JSON.stringify({ preferAvoidPods: [{}, { podSignature: { podController: {} } }] })),
      `Invalid ${AT}.scheduler.alpha.orch.io/preferAvoidPods[1].PodSignature.PodController.Controller`,
      `Required ${AT}.scheduler.alpha.orch.io/preferAvoidPods[0].PodSignature`
    ],
    ['no pods', {}, annotated('preferAvoidPods', 'none'), `Invalid ${AT}.AvoidPods`]
  ])
  await judged(t, server, 'v1 nodes/status', [
    ['no pods in an annotation', {}, annotated('preferAvoidPods', 'none'), `Invalid ${AT}.AvoidPods`],
    ['any phase', {}, { status: { phase: 'Asleep' } }],
    [
      'less than nothing', {}, { status: { capacity: { cpu: '-1' } } }, 'Invalid status.allocatable.cpu',
      'Invalid status.capacity.cpu'
    ],
    [
      'parts of pods', {}, { status: { capacity: { pods: '1500m' } } }, 'Invalid status.allocatable.pods',
      'Invalid status.capacity.pods'
    ]
  ])
})

t.test('data, accounts, quotas and limits', async t => {
  const server = await build(t, ALL)
  await judged(t, server, 'v1 secrets', [
    ['another type', {}, { type: 'orch.io/tls' }, 'Invalid type', 'Required data[tls.crt]', 'Required data[tls.key]'],
    [
      'what was final', { immutable: true }, { immutable: false, data: { password: 'b3RoZXI=' } }, 'Forbidden data',
      'Forbidden immutable'
    ],
    ['labels of what is final', { immutable: true }, { metadata: { labels: { a: 'b' } } }],
    ['an empty map where there was none', { immutable: true, data: null }, { data: {} }, 'Forbidden data'],
    ['none where there was none', { immutable: true, data: null }, { data: null, metadata: { labels: { a: 'b' } } }]
  ])
  await judged(t, server, 'v1 configmaps', [
    [
      'what was final', { immutable: true }, { immutable: null, data: { a: 'b' }, binaryData: { b: 'AA==' } },
      'Forbidden binaryData', 'Forbidden data', 'Forbidden immutable'
    ],
    [
      'empty maps where there were none', { immutable: true, data: null }, { data: {}, binaryData: {} },
      'Forbidden binaryData'
    ],
    ['a key in both', {}, { data: { k: '' }, binaryData: { k: 'AA==' } }, 'Invalid data[k]']
  ])
  await stored(t, server, 'v1 serviceaccounts', [
    [
      'of secrets the names', {}, { secrets: [{ name: 'a', namespace: 'b', uid: 'c' }] },
      { secrets: [{ name: 'a', namespace: undefined, uid: undefined }] }
    ]
  ])
  await judged(t, server, 'v1 resourcequotas', [
    ['other scopes', {}, { spec: { scopes: ['NotTerminating'] } }, 'Invalid spec.scopes'],
    ['other amounts', {}, { spec: { hard: { pods: '-1' } } }, 'Invalid spec.hard[pods]']
  ])
  await judged(t, server, 'v1 resourcequotas/status', [
    ['less than nothing', {}, { status: { used: { pods: '-1' } } }, 'Invalid status.used[pods]']
  ])
  await judged(t, server, 'v1 limitranges', [
    [
      'the least above the most', {},
      { spec: { limits: [{ type: 'Container', max: { cpu: '1' }, min: { cpu: '2' } }] } },
      'Invalid spec.limits[0].default[cpu]', 'Invalid spec.limits[0].defaultRequest[cpu]',
      'Invalid spec.limits[0].min[cpu]'
    ]
  ])
  await judged(t, server, 'v1 endpoints', [
    ['a bad address', {}, { subsets: [{ addresses: [{ ip: 'x' }] }] }, 'Invalid subsets[0].addresses[0].ip']
  ])
})

t.test('namespaces', async t => {
  const server = await build(t)
  await stored(t, server, 'v1 namespaces', [
    [
      'neither finalizers nor phase', {},
      { spec: { finalizers: ['example.com/mine'] }, status: { phase: 'Terminating' } },
      { spec: { finalizers: ['orch'] }, status: { phase: 'Active' } }
    ]
  ])
  await judged(t, server, 'v1 namespaces/status', [
    ['another phase', {}, { status: { phase: 'Gone' } }, 'Invalid status.Phase'],
    ['conditions that say nothing', {}, { status: { conditions: [{}] } }]
  ])
  const { json } = await server.post('/api/v1/namespaces', { metadata: { name: 'final' } })
  const finalize = (finalizers: string[], metadata: Json = {}) => server.put(
    '/api/v1/namespaces/final/finalize',
    { ...json, metadata: { ...json['metadata'], resourceVersion: undefined, ...metadata }, spec: { finalizers } }
  )
  t.match(await finalize(['orch', 'plain', 'a b/c']), {
    code: 422, json: { details: { causes: [{ field: 'spec.finalizers[1]' }, { field: 'spec.finalizers[2]' }] } }
  })
  t.match(await finalize(['orch', 'example.com/mine'], { labels: { a: 'b' } }), {
    code: 200, json: { spec: { finalizers: ['orch', 'example.com/mine'] }, metadata: { labels: { a: 'b' } } }
  })
})
