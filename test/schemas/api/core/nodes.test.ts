import t from 'tap'
import { created, creates, served, updates } from '../rules.js'

const nodes = served('v1', 'nodes')
const spec = (more: object) => ({ spec: more })
const taints = (...list: object[]) => spec({ taints: list })

creates(t, nodes, {}, [
  ['a taint', taints({ key: 'example.com/gpu', value: 'yes', effect: 'NoExecute' })],
  ['a taint of nothing', taints({}), 'Invalid metadata.taints[0].key', 'Required metadata.taints[0].effect'],
  ['an unknown effect', taints({ key: 'a', effect: 'Maybe' }), 'NotSupported metadata.taints[0].effect'],
  ['a bad value', taints({ key: 'a', value: 'b c', effect: 'NoExecute' }), 'Invalid metadata.taints[0].value'],
  [
    'a taint twice', taints({ key: 'a', effect: 'NoExecute' }, { key: 'a', value: 'b', effect: 'NoExecute' }),
    'Duplicate metadata.taints[1]'
  ],
  ['the same of another effect', taints({ key: 'a', effect: 'NoExecute' }, { key: 'a', effect: 'NoSchedule' })],
  ['a range for pods', spec({ podCIDR: '10.0.0.0/24' })],
  ['that is none', spec({ podCIDR: '10.0.0.0' }), 'Invalid spec.podCIDRs[0]'],
  ['of both families', spec({ podCIDRs: ['10.0.0.0/24', 'fd00::/64'] })],
  ['two of one family', spec({ podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] }), 'Invalid spec.podCIDRs'],
  ['three', spec({ podCIDRs: ['10.0.0.0/24', 'fd00::/64', 'fd01::/64'] }), 'Invalid spec.podCIDRs'],
  [
    'one twice', spec({ podCIDRs: ['10.0.0.0/24', '10.0.0.0/24'] }), 'Invalid spec.podCIDRs',
    'Duplicate spec.podCIDRs[1]'
  ]
])
updates(t, nodes, {}, [
  ['what the cluster gives it', {}, spec({ podCIDR: '10.0.0.0/24', providerID: 'cloud://a', unschedulable: true })],
  [
    'stays', spec({ podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'], providerID: 'cloud://a' }),
    spec({ podCIDR: '10.0.1.0/24', podCIDRs: ['10.0.1.0/24'], providerID: 'cloud://b' }), 'Forbidden spec.podCIDRs',
    'Forbidden spec.providerID'
  ],
  ['a name of old', {}, spec({ externalID: 'a' }), 'Forbidden spec.externalID'],
  ['which is empty', {}, spec({ externalID: '' })],
  [
    'what stays and what may change', spec({ providerID: 'cloud://a' }),
    spec({ providerID: '', unschedulable: true, taints: [{ key: 'a', effect: 'NoExecute' }] }),
    'Forbidden spec.providerID'
  ],
  ['a configuration of nothing', {}, spec({ configSource: {} }), 'Invalid spec.configSource'],
  ['one that is not named', {}, spec({ configSource: { configMap: { uid: 'u' } } }),
    'Forbidden spec.configSource.configMap.uid',
    ...['namespace', 'name', 'kubeletConfigKey'].map(field => `Required spec.configSource.configMap.${field}`)]
])
updates(t, nodes, spec({ podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] }), [
  [
    'what a node agent tells',
    {},
    {
      status: {
        capacity: { cpu: '4', pods: '110', 'example.com/gpu': '2' },
        addresses: [{ type: 'InternalIP', address: '10.0.0.1' }]
      }
    }
  ],
  [
    'an address twice', {},
    { status: { addresses: [{ type: 'InternalIP', address: 'a' }, { type: 'InternalIP', address: 'a' }] } },
    'Duplicate status.addresses[1]'
  ],
  ['an unknown phase', {}, { status: { phase: 'Asleep' } }],
  [
    'a configuration of no version', {},
    { status: { config: { active: { configMap: { namespace: 'a', name: 'b', kubeletConfigKey: 'c' } } } } },
    'Required status.config.active.configMap.uid', 'Required status.config.active.configMap.resourceVersion'
  ],
  [
    'what comes in pieces is whole', {},
    { status: { capacity: { pods: '1500m', cpu: '-1' }, allocatable: { 'example.com/gpu': '0.5' } } },
    'Invalid status.capacity.pods', 'Invalid status.capacity.cpu', 'Invalid status.allocatable.example.com/gpu'
  ]
], 'status')

t.test('the range of pods and the first of the ranges are one', async t => {
  t.match(created(nodes, spec({ podCIDR: '10.0.0.0/24' })).object, spec({ podCIDRs: ['10.0.0.0/24'] }))
  t.match(
    created(nodes, spec({ podCIDRs: ['10.0.0.0/24', 'fd00::/64'] })).object,
    spec({ podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24', 'fd00::/64'] })
  )
  const { object } = created(nodes, spec({ podCIDR: '10.0.1.0/24', podCIDRs: ['10.0.0.0/24'] }))
  t.same((object as unknown as { spec: unknown }).spec, { podCIDR: '10.0.1.0/24', podCIDRs: ['10.0.1.0/24'] })
})
