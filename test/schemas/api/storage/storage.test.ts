import t from 'tap'
import { featureGates } from '../../../../schemas/gates.js'
import type { FieldError } from '../../../../schemas/status.js'
import { created, creates, served, updated, updates } from '../rules.js'

const classes = served('storage.orch.io/v1', 'storageclasses')
const CLASS = { provisioner: 'disk.example.com', parameters: { type: 'fast' } }
const terms = (...list: object[]) => ({ allowedTopologies: [{ matchLabelExpressions: list }] })

creates(t, classes, CLASS, [
  ['no provisioner', { provisioner: null }, 'Required provisioner'],
  ['one that is no name', { provisioner: 'a b' }, 'Invalid provisioner'],
  ['one in capitals', { provisioner: 'Example.com/Disk' }],
  ['a parameter without a name', { parameters: { '': 'a' } }, 'Invalid parameters'],
  [
    'too many', { parameters: Object.fromEntries(Array.from({ length: 513 }, (_, index) => [`k${index}`, ''])) },
    'TooLong parameters'
  ],
  ['too large ones', { parameters: { a: 'x'.repeat(256 * 1024) } }, 'TooLong parameters'],
  ['volumes are not wiped', { reclaimPolicy: 'Recycle' }, 'NotSupported reclaimPolicy'],
  ['an unknown policy', { reclaimPolicy: 'Keep' }, 'NotSupported reclaimPolicy'],
  ['an unknown mode', { volumeBindingMode: 'Later' }, 'NotSupported volumeBindingMode'],
  ['zones', terms({ key: 'zone', values: ['a', 'b'] })],
  [
    'a zone twice', terms({ key: 'zone', values: ['a', 'a'] }),
    'Duplicate allowedTopologies[0].matchLabelExpressions[0].values[1]'
  ],
  ['no zones', terms({ key: 'zone' }), 'Required allowedTopologies[0].matchLabelExpressions[0].values'],
  [
    'a label twice', terms({ key: 'zone', values: ['a'] }, { key: 'zone', values: ['b'] }),
    'Duplicate allowedTopologies[0].matchLabelExpressions[1].key'
  ],
  [
    'a label that is none', terms({ key: 'a b', values: ['a'] }),
    'Invalid allowedTopologies[0].matchLabelExpressions[0].key'
  ],
  [
    'the same twice',
    {
      allowedTopologies: [
        { matchLabelExpressions: [{ key: 'z', values: ['a', 'b'] }] },
        { matchLabelExpressions: [{ key: 'z', values: ['b', 'a'] }] }
      ]
    },
    'Duplicate allowedTopologies[1].matchLabelExpressions'
  ],
  [
    'the same again',
    { allowedTopologies: [1, 2, 3].map(() => ({ matchLabelExpressions: [{ key: 'z', values: ['a'] }] })) },
    ...[1, 2].map(index => `Duplicate allowedTopologies[${index}].matchLabelExpressions`)
  ],
  ['nowhere at all', { allowedTopologies: [{}] }, 'Duplicate allowedTopologies[0].matchLabelExpressions'],
  ['no policy', { reclaimPolicy: '' }]
])
updates(t, classes, CLASS, [
  ['what may change', {}, { allowVolumeExpansion: true, mountOptions: ['ro'] }],
  [
    'what may not', {},
    { provisioner: 'x', parameters: null, reclaimPolicy: 'Retain', volumeBindingMode: 'WaitForFirstConsumer' },
    'Forbidden provisioner', 'Forbidden parameters', 'Forbidden reclaimPolicy', 'Invalid volumeBindingMode'
  ]
])

const attachments = served('storage.orch.io/v1', 'volumeattachments')
const ATTACHMENT = { spec: { attacher: 'disk.example.com', nodeName: 'n1', source: { persistentVolumeName: 'pv' } } }
const source = (one: object | null) => ({ spec: { source: one } })

creates(t, attachments, ATTACHMENT, [
  ['nobody to attach it', { spec: { attacher: null } }, 'Required spec.attacher', 'Invalid spec.attacher'],
  ['a driver there cannot be', { spec: { attacher: 'a_b' } }, 'Invalid spec.attacher'],
  ['no node', { spec: { nodeName: null } }, 'Invalid spec.nodeName'],
  ['no volume', source(null), 'Required spec.source'],
  [
    'one without a name', source({ persistentVolumeName: '' }), 'Required spec.source.persistentVolumeName',
    'Invalid spec.source.persistentVolumeName'
  ],
  ['one with a bad name', source({ persistentVolumeName: 'A' }), 'Invalid spec.source.persistentVolumeName'],
  [
    'a volume in place',
    source({
      persistentVolumeName: null,
      inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], csi: { driver: 'd', volumeHandle: 'v' } }
    })
  ],
  [
    'both', source({ inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], csi: { driver: 'd', volumeHandle: 'v' } } }),
    'Forbidden spec.source'
  ],
  ['what a volume in place may not say', source({
    persistentVolumeName: null,
    inlineVolumeSpec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1' },
      claimRef: { name: 'a' },
      storageClassName: 'a',
      volumeMode: 'Block',
      persistentVolumeReclaimPolicy: 'Delete',
      nodeAffinity: {},
      nfs: { server: 's', path: '/' }
    }
  }), ...[
    'capacity', 'claimRef', 'storageClassName', 'volumeMode', 'persistentVolumeReclaimPolicy', 'nodeAffinity'
  ].map(field => `Forbidden spec.source.inlineVolumeSpec.${field}`),
  'Required spec.source.inlineVolumeSpec.csi']
])
updates(t, attachments, ATTACHMENT, [['nothing of it may change', {}, { spec: { nodeName: 'n2' } }, 'Invalid spec']])
updates(t, attachments, ATTACHMENT, [
  [
    'what the attacher tells', {},
    { status: { attached: true, attachmentMetadata: { a: 'b', '': 'c' }, attachError: { message: 'no' } } }
  ],
  [
    'however many things', {},
    { status: { attachmentMetadata: Object.fromEntries(Array.from({ length: 513 }, (_, index) => [`k${index}`, ''])) } }
  ],
  ['too much of it', {}, {
    status: {
      attachmentMetadata: { a: 'x'.repeat(256 * 1024) },
      attachError: { message: 'x'.repeat(1025) },
      detachError: { message: 'x'.repeat(1025) }
    }
  },
  'TooLong status.attachmentMetadata', 'TooLong status.attachError.message', 'TooLong status.detachError.message']
], 'status')

const drivers = served('storage.orch.io/v1', 'csidrivers')
creates(t, drivers, { spec: {} }, [
  ['a name in capitals', { metadata: { name: 'Disk.example.com' } }, 'Invalid metadata.name'],
  ['one that is none', { metadata: { name: 'a/b' } }, 'Invalid metadata.name'],
  ['a long one', { metadata: { name: 'a'.repeat(64) } }],
  ['an unknown policy', { spec: { fsGroupPolicy: 'All' } }, 'NotSupported spec.fsGroupPolicy'],
  ['an unknown life', { spec: { volumeLifecycleModes: ['Eternal'] } }, 'NotSupported spec.volumeLifecycleModes'],
  ['tokens', { spec: { tokenRequests: [{ audience: '' }, { audience: 'a', expirationSeconds: 600 }] } }],
  ['among secrets', { spec: { tokenRequests: [{ audience: 'a' }], serviceAccountTokenInSecrets: true } }],
  [
    'none among secrets', { spec: { serviceAccountTokenInSecrets: false } }, 'Invalid spec.serviceAccountTokenInSecrets'
  ],
  [
    'for one audience twice', { spec: { tokenRequests: [{ audience: 'a' }, { audience: 'a' }] } },
    'Duplicate spec.tokenRequests[1].audience'
  ],
  [
    'for too short a time', { spec: { tokenRequests: [{ audience: 'a', expirationSeconds: 599 }] } },
    'Invalid spec.tokenRequests[0].expirationSeconds'
  ],
  [
    'for too long a time', { spec: { tokenRequests: [{ audience: 'a', expirationSeconds: 2 ** 32 + 1 }] } },
    'Invalid spec.tokenRequests[0].expirationSeconds'
  ]
])
updates(t, drivers, { spec: {} }, [
  ['what may change', {}, { spec: { storageCapacity: true, requiresRepublish: true } }],
  ['what may not', {}, {
    spec: { attachRequired: false, podInfoOnMount: true, fsGroupPolicy: 'None', volumeLifecycleModes: ['Ephemeral'] }
  },
  'Invalid spec.attachedRequired', 'Invalid spec.podInfoOnMount', 'Invalid spec.fsGroupPolicy',
  'Invalid spec.volumeLifecycleModes'],
  [
    'tokens for one audience twice', {}, { spec: { tokenRequests: [{ audience: 'a' }, { audience: 'a' }] } },
    'Duplicate spec.tokenRequests[1].audience'
  ]
])

t.test('the generation of a driver counts its tokens and how often it is called', async t => {
  const generation = (change: object) => updated(drivers, { spec: {} }, { spec: change }).object.metadata.generation
  t.equal(generation({ requiresRepublish: true }), 1)
  t.equal(generation({ tokenRequests: [{ audience: 'a' }] }), 1)
  t.equal(generation({ storageCapacity: true }), undefined)
})

const nodes = served('storage.orch.io/v1', 'csinodes')
const on = (...list: object[]) => ({ spec: { drivers: list } })
const DRIVER = { name: 'disk', nodeID: 'n1', topologyKeys: ['zone'] }
creates(t, nodes, on(DRIVER), [
  ['no drivers', on()],
  [
    'one without names', on({}), 'Required spec.drivers[0].name', 'Invalid spec.drivers[0].name',
    'Required spec.drivers[0].nodeID'
  ],
  ['a long name of the node', on({ ...DRIVER, nodeID: 'n'.repeat(257) }), 'Invalid spec.drivers[0].nodeID'],
  ['a driver twice', on(DRIVER, DRIVER), 'Duplicate spec.drivers[1].name'],
  [
    'fewer volumes than none', on({ ...DRIVER, allocatable: { count: -1 } }),
    'Invalid spec.drivers[0].allocatable.count'
  ],
  ['a topology twice', on({ ...DRIVER, topologyKeys: ['a', 'a'] }), 'Duplicate spec.drivers[0]'],
  ['a topology that is none', on({ ...DRIVER, topologyKeys: ['a b'] }), 'Invalid spec.drivers[0]']
])
updates(t, nodes, on(DRIVER), [
  ['another driver', {}, on(DRIVER, { ...DRIVER, name: 'other' })],
  ['a driver goes', {}, on()],
  ['a driver changes', {}, on({ ...DRIVER, nodeID: 'n2' }), 'Invalid CSINodeDriver']
])

for (const version of ['v1', 'v1beta1']) {
  const capacities = served(`storage.orch.io/${version}`, 'csistoragecapacities')
  const CAPACITY = { storageClassName: 'fast', capacity: '1Gi' }
  creates(t, capacities, CAPACITY, [
    ['no class', { storageClassName: null }, 'Invalid storageClassName'],
    ['less than nothing', { capacity: '-1' }, 'Invalid capacity'],
    ['a largest volume that is none', { maximumVolumeSize: '-2' }],
    ['nodes by bad labels', { nodeTopology: { matchLabels: { 'a b': 'c' } } }, 'Invalid nodeTopology.matchLabels']
  ])
  updates(t, capacities, CAPACITY, [
    [
      'of what it tells', {}, { storageClassName: 'slow', nodeTopology: { matchLabels: { a: 'b' } } },
      'Invalid storageClassName', 'Invalid nodeTopology'
    ]
  ])
}

t.test('drivers and classes where release 1.36 is emulated', async t => {
  const gates = featureGates({}, { release: '1.36' })
  const found = (errors: readonly FieldError[]): string[] =>
    errors.map(({ type, field }) => `${type.replace('FieldValue', '')} ${field}`)
  t.same(
    found(
      updated(
        drivers, { spec: {} }, { spec: { podInfoOnMount: true, fsGroupPolicy: 'None', seLinuxMount: true } }, '', gates
      ).errors
    ),
    []
  )
  t.same(
    found(created(drivers, { spec: { nodeAllocatableUpdatePeriodSeconds: 9 } }, gates).errors),
    ['Invalid spec.nodeAllocatableUpdatePeriodSeconds']
  )
  t.same(found(updated(nodes, on(DRIVER), on({ ...DRIVER, allocatable: { count: 3 } }), '', gates).errors), [])
  t.same(found(updated(nodes, on(DRIVER), on({ ...DRIVER, nodeID: 'n2' }), '', gates).errors), ['Invalid spec.drivers'])
  t.same(found(created(nodes, on({ ...DRIVER, name: '' }), gates).errors), ['Required spec.drivers[0].name'])
  const attachment = { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } } }
  const attachments = served('storage.orch.io/v1', 'volumeattachments')
  t.same(
    found(created(attachments, { spec: { ...attachment.spec, attacher: '' } }, gates).errors),
    ['Required spec.attacher']
  )
  t.same(
    found(
      updated(
        attachments, attachment, { ...attachment, status: { attached: false, attachError: { errorCode: -1 } } },
        'status', gates
      ).errors
    ),
    ['Invalid status.attachError.errorCode']
  )
  const changed = { provisioner: 'b', parameters: { a: 'b' }, reclaimPolicy: 'Retain' }
  t.same(
    found(
      updated(served('storage.orch.io/v1', 'storageclasses'), { provisioner: 'a' }, changed, '', gates).errors
    ).toSorted(),
    ['Invalid parameters', 'Invalid provisioner', 'Invalid reclaimPolicy']
  )
  t.same(
    found(created(served('node.orch.io/v1', 'runtimeclasses'), { handler: '' }, gates).errors), ['Required handler']
  )
})
