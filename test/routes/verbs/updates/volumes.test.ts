/** Allowed changes of volumes, claims and storage classes. */
import t from 'tap'
import { build } from '../../../build.js'
import { ALL } from '../../../conformance/collections.js'
import { judged, stored } from './cases.js'

const BOUND = { status: { phase: 'Bound' } }
const size = (storage: string) => ({ spec: { resources: { requests: { storage } } } })

t.test('volumes and claims', async t => {
  const server = await build(t, ALL)
  await judged(t, server, 'v1 persistentvolumes', [
    ['another source', {}, { spec: { hostPath: { path: '/other' } } }, 'Forbidden spec.persistentvolumesource'],
    ['a block device', {}, { spec: { volumeMode: 'Block' } }, 'Invalid volumeMode'],
    ['no ways to mount it', {}, { spec: { accessModes: [] } }, 'Required spec.accessModes'],
    [
      'whose it is, and how large',
      {},
      {
        spec: {
          claimRef: { namespace: 'default', name: 'c', uid: 'u' },
          capacity: { storage: '2Gi' },
          persistentVolumeReclaimPolicy: 'Delete',
          storageClassName: 'fast'
        }
      }
    ]
  ])
  await judged(t, server, 'v1 persistentvolumes/status', [['any phase', {}, { status: { phase: 'Somewhere' } }]])
  await stored(t, server, 'v1 persistentvolumes', [
    ['its phase is told by its status alone', {}, { status: { phase: 'Failed' } }, { status: { phase: 'Pending' } }]
  ])
  await judged(t, server, 'v1 persistentvolumeclaims', [
    ['another class', {}, { spec: { storageClassName: 'fast' } }, 'Forbidden spec'],
    ['its volume', {}, { spec: { volumeName: 'v' } }],
    ['another volume', { spec: { volumeName: 'v' } }, { spec: { volumeName: 'w' } }, 'Forbidden spec'],
    ['more, before it is bound', {}, size('2Gi'), 'Forbidden spec'],
    ['less', BOUND, size('1Mi'), 'Forbidden spec.resources.requests.storage'],
    ['a block device', {}, { spec: { volumeMode: 'Block' } }, 'Forbidden spec', 'Invalid volumeMode'],
    [
      'nothing any more', BOUND, { spec: { resources: { requests: { storage: null, cpu: '1' } } } },
      'Required spec.resources[storage]', 'Forbidden spec', 'Forbidden spec.resources.requests.storage'
    ],
    ['no ways to mount it', {}, { spec: { accessModes: null } }, 'Required spec.accessModes', 'Forbidden spec']
  ])
  await judged(t, server, 'v1 persistentvolumeclaims/status', [
    ['any phase and mode', {}, { status: { phase: 'Somewhere', accessModes: ['Any'] } }],
    ['less than nothing', {}, { status: { capacity: { storage: '-1' } } }, 'Invalid status.capacity[storage]']
  ])
})

t.test('what drivers need', async t => {
  const server = await build(t, ALL)
  await judged(t, server, 'storage.orch.io/v1 storageclasses', [
    ['an empty map where there was none', { parameters: null }, { parameters: {} }, 'Forbidden parameters'],
    [
      'all that stays',
      {},
      {
        provisioner: 'other.example.com',
        parameters: { a: 'b' },
        reclaimPolicy: 'Retain',
        volumeBindingMode: 'WaitForFirstConsumer'
      },
      'Forbidden parameters',
      'Forbidden provisioner',
      'Forbidden reclaimPolicy',
      'Invalid volumeBindingMode'
    ],
    ['what changes', {}, { allowVolumeExpansion: true, mountOptions: ['ro'] }]
  ])
  await judged(t, server, 'storage.orch.io/v1 volumeattachments', [
    ['another node', {}, { spec: { nodeName: 'n2' } }, 'Invalid spec'],
    ['a node that can be none', {}, { spec: { nodeName: 'a b' } }, 'Invalid spec.nodeName', 'Invalid spec']
  ])
  await judged(t, server, 'storage.orch.io/v1 volumeattachments/status', [
    [
      'too much to say', {}, { status: { attachError: { message: 'x'.repeat(1025) } } },
      'TooLong status.attachError.message'
    ]
  ])
  await judged(t, server, 'storage.orch.io/v1 csidrivers', [
    [
      'what stays',
      {},
      {
        spec: { attachRequired: true, podInfoOnMount: true, fsGroupPolicy: 'None', volumeLifecycleModes: ['Ephemeral'] }
      },
      'Invalid spec.attachedRequired',
      'Invalid spec.fsGroupPolicy',
      'Invalid spec.podInfoOnMount',
      'Invalid spec.volumeLifecycleModes'
    ],
    [
      'what changes', {},
      { spec: { requiresRepublish: true, tokenRequests: [{ audience: 'a' }], storageCapacity: true } }
    ],
    [
      'a token twice', {}, { spec: { tokenRequests: [{ audience: 'a' }, { audience: 'a' }] } },
      'Duplicate spec.tokenRequests[1].audience'
    ]
  ])
  await stored(t, server, 'storage.orch.io/v1 csidrivers', [
    [
      'a driver that has not changed has no generation', {}, { metadata: { labels: { a: 'b' } } },
      { metadata: { generation: undefined } }
    ],
    ['the first change begins the first', {}, { spec: { requiresRepublish: true } }, { metadata: { generation: 1 } }]
  ])
  await judged(t, server, 'storage.orch.io/v1 csinodes', [
    [
      'a driver as it was', {}, { spec: { drivers: [{ name: 'disk.example.com', nodeID: 'n2', topologyKeys: null }] } },
      'Invalid CSINodeDriver'
    ],
    [
      'one twice', {},
      { spec: { drivers: [{ name: 'a.example.com', nodeID: 'n' }, { name: 'a.example.com', nodeID: 'n' }] } },
      'Duplicate spec.drivers[1].name'
    ],
    ['others', {}, { spec: { drivers: [{ name: 'other.example.com', nodeID: 'n1' }] } }]
  ])
  await judged(t, server, 'storage.orch.io/v1 csistoragecapacities', [
    [
      'where, and of what', {}, { storageClassName: 'slow', nodeTopology: { matchLabels: { a: 'b' } } },
      'Invalid nodeTopology', 'Invalid storageClassName'
    ],
    ['how much', {}, { capacity: '-1' }, 'Invalid capacity']
  ])
})
