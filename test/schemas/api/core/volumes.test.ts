import t from 'tap'
import { created, creates, served, updates } from '../rules.js'

const volumes = served('v1', 'persistentvolumes')
const spec = (more: object) => ({ spec: more })
const csi = (more: object) => spec({ hostPath: null, csi: { driver: 'disk.example.com', volumeHandle: 'v', ...more } })
const VOLUME = spec({ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } })

creates(t, volumes, VOLUME, [
  ['no access modes', spec({ accessModes: [] }), 'Required spec.accessModes'],
  ['an unknown one', spec({ accessModes: ['ReadOften'] }), 'NotSupported spec.accessModes'],
  [
    'one that excludes others', spec({ accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'] }),
    'Forbidden spec.accessModes', 'NotSupported spec.accessModes'
  ],
  ['one of a feature that is off', spec({ accessModes: ['ReadWriteOncePod'] }), 'NotSupported spec.accessModes'],
  ['no capacity', spec({ capacity: null }), 'Required spec.capacity', 'NotSupported spec.capacity'],
  ['capacity of something else', spec({ capacity: { cpu: '1' } }), 'NotSupported spec.capacity'],
  ['no storage', spec({ capacity: { storage: '0' } }), 'Invalid spec.capacity[storage]'],
  ['less than none', spec({ capacity: { storage: '-1' } }), 'Invalid spec.capacity[storage]'],
  ['made of nothing', spec({ hostPath: null }), 'Required spec'],
  ['made of two things', spec({ nfs: { server: 's', path: '/' } }), 'Forbidden spec.nfs'],
  ['of Ceph too', spec({ cephfs: { monitors: ['m'] } }), 'Forbidden spec.cephFS'],
  [
    'an unknown policy', spec({ persistentVolumeReclaimPolicy: 'Keep' }),
    'NotSupported spec.persistentVolumeReclaimPolicy'
  ],
  [
    'a root that is wiped', spec({ hostPath: { path: '/.//' }, persistentVolumeReclaimPolicy: 'Recycle' }),
    'Forbidden spec.persistentVolumeReclaimPolicy'
  ],
  [
    'in whatever way it is told', spec({ hostPath: { path: '/a/..' }, persistentVolumeReclaimPolicy: 'Recycle' }),
    'Invalid spec.hostPath.path', 'Forbidden spec.persistentVolumeReclaimPolicy'
  ],
  ['a class', spec({ storageClassName: 'A' }), 'Invalid spec.storageClassName'],
  ['an unknown mode', spec({ volumeMode: 'Tape' }), 'NotSupported spec.volumeMode'],
  ['affinity to nothing', spec({ nodeAffinity: {} }), 'Required spec.nodeAffinity.required'],
  [
    'a local disk of any node', spec({ hostPath: null, local: { path: '/a/../b' } }), 'Invalid spec.local.path',
    'Required spec.nodeAffinity'
  ],
  ['storage of a driver', csi({})],
  [
    'without names', csi({ driver: null, volumeHandle: null }), 'Required spec.csi.driver', 'Invalid spec.csi.driver',
    'Required spec.csi.volumeHandle'
  ],
  ['of a driver there cannot be', csi({ driver: 'a_b' }), 'Invalid spec.csi.driver'],
  ['of one with a long name', csi({ driver: 'a'.repeat(64) }), 'TooLong spec.csi.driver'],
  [
    'secrets have names and namespaces', csi({ nodeStageSecretRef: {}, nodePublishSecretRef: {} }),
    'Required spec.csi.nodePublishSecretRef.name', 'Required spec.csi.nodePublishSecretRef.namespace'
  ],
  [
    'of the right form', csi({ controllerPublishSecretRef: { name: 'A', namespace: 'a.b' } }), 'Invalid spec.csi.name',
    'Invalid spec.csi.namespace'
  ],
  [
    'a disk of iSCSI',
    spec({ hostPath: null, iscsi: { targetPortal: '10.0.0.1', iqn: 'disk', lun: 256, chapAuthSession: true } }),
    'Invalid spec.iscsi.iqn', 'Invalid spec.iscsi.lun', 'Required spec.iscsi.secretRef'
  ],
  [
    'one of iSCSI with a long address',
    spec({
      hostPath: null,
      iscsi: {
        targetPortal: 'a'.repeat(63), iqn: 'iqn.2001-04.com.example:disk', lun: 1, initiatorName: 'eui.0123456789abcdef'
      }
    }),
    'Invalid spec.iscsi.targetportal'
  ],
  [
    'names of iSCSI that are too short',
    spec({
      hostPath: null, iscsi: { targetPortal: 'a', iqn: 'iqn.2001-04.com.example', lun: 1, initiatorName: 'naa.1' }
    }),
    'Invalid spec.iscsi.iqn',
    'Invalid spec.iscsi.initiatorname'
  ],
  ['a disk without a name', spec({ hostPath: null, gcePersistentDisk: {} }), 'Required spec.persistentDisk.pdName'],
  ['a second source that will not do either', spec({ nfs: {} }), 'Forbidden spec.nfs'],
  [
    'a flex volume beside it', spec({ flexVolume: { options: { 'a.orch.io/b': 'c' } } }),
    'Required spec.flexVolume.driver', 'Invalid spec.flexVolume.options[a.orch.io/b]'
  ],
  [
    'a share without a namespace',
    spec({ hostPath: null, azureFile: { secretName: 's', shareName: 's', secretNamespace: '' } }),
    'Required spec.azureFile.secretNamespace'
  ],
  [
    'endpoints of nowhere',
    spec({ hostPath: null, glusterfs: { endpoints: 'e', path: 'p', endpointsNamespace: 'a.b' } }),
    'Invalid spec.glusterfs.endpointsNamespace'
  ],
  [
    'a secret without a name', spec({ hostPath: null, cinder: { volumeID: 'v', secretRef: {} } }),
    'Required spec.cinder.secretRef.name', 'Required spec.cinder.secretRef.namespace'
  ],
  [
    'storage without a name', spec({ hostPath: null, storageos: { secretRef: { name: 'a' } } }),
    'Required spec.storageos.volumeName', 'Required spec.storageos.secretRef.namespace'
  ],
  [
    'one without a volume', spec({ hostPath: null, scaleIO: { gateway: 'g', system: 's', secretRef: {} } }),
    'Required spec.scaleIO.volumeName'
  ],
  ['a device without monitors', spec({ hostPath: null, rbd: { image: 'i' } }), 'Required spec.rbd.monitors']
])
updates(t, volumes, VOLUME, [
  ['what it is made of', {}, spec({ hostPath: { path: '/other' } }), 'Forbidden spec.persistentvolumesource'],
  ['how it is expanded', csi({}), csi({ controllerExpandSecretRef: { name: 'a', namespace: 'b' } })],
  [
    'and not in another way', csi({ controllerExpandSecretRef: { name: 'a', namespace: 'b' } }),
    csi({ controllerExpandSecretRef: { name: 'c', namespace: 'b' } }), 'Forbidden spec.persistentvolumesource'
  ],
  ['its mode', {}, spec({ volumeMode: 'Block' }), 'Invalid volumeMode'],
  [
    'its nodes',
    spec({
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }] } }
    }),
    spec({ nodeAffinity: null }),
    'Invalid nodeAffinity'
  ],
  ['its capacity', {}, spec({ capacity: { storage: '2Gi' } })]
])

const claims = served('v1', 'persistentvolumeclaims')
const CLAIM = spec({ accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } })
const storage = (amount: string | null) => spec({ resources: { requests: { storage: amount } } })

creates(t, claims, CLAIM, [
  ['no access modes', spec({ accessModes: null }), 'Required spec.accessModes'],
  ['an unknown one', spec({ accessModes: ['x'] }), 'NotSupported spec.accessModes'],
  [
    'one that excludes others', spec({ accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] }),
    'Forbidden spec.accessModes', 'NotSupported spec.accessModes'
  ],
  ['one of a feature that is off', spec({ accessModes: ['ReadWriteOncePod'] }), 'NotSupported spec.accessModes'],
  ['nothing asked for', storage(null), 'Required spec.resources[storage]'],
  ['no storage', storage('0'), 'Invalid spec.resources[storage]'],
  ['a bad selector', spec({ selector: { matchLabels: { a: 'b c' } } }), 'Invalid spec.selector.matchLabels'],
  ['no class', spec({ storageClassName: '' })],
  ['a bad one', spec({ storageClassName: 'A' }), 'Invalid spec.storageClassName'],
  ['an unknown mode', spec({ volumeMode: 'Tape' }), 'NotSupported spec.volumeMode'],
  ['a copy of another', spec({ dataSource: { kind: 'PersistentVolumeClaim', name: 'a' } })],
  [
    'of an object of no group', spec({ dataSourceRef: { kind: 'Secret', name: 'a' } }), 'Invalid spec.dataSource',
    'Invalid spec.dataSourceRef'
  ],
  [
    'of two objects',
    spec({
      dataSource: { kind: 'PersistentVolumeClaim', name: 'a' },
      dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' }
    }),
    'Invalid spec'
  ]
])
const bound = { ...storage('2Gi'), status: { phase: 'Bound' } }
updates(t, claims, CLAIM, [
  ['the volume, once', {}, spec({ volumeName: 'a' })],
  ['and not again', spec({ volumeName: 'a' }), spec({ volumeName: 'b' }), 'Forbidden spec'],
  ['more, before it is bound', {}, storage('2Gi'), 'Forbidden spec'],
  ['more of a bound one', bound, storage('3Gi')],
  ['less of it', bound, storage('1Gi'), 'Forbidden spec.resources.requests.storage'],
  ['its mode', {}, spec({ volumeMode: 'Block' }), 'Forbidden spec', 'Invalid volumeMode'],
  ['its class', spec({ storageClassName: 'a' }), spec({ storageClassName: 'b' }), 'Forbidden spec'],
  [
    'its class as annotation', { metadata: { annotations: { 'volume.beta.orch.io/storage-class': 'a' } } },
    { metadata: { annotations: { 'volume.beta.orch.io/storage-class': 'b' } } },
    'Invalid metadata.annotations.volume.beta.orch.io/storage-class'
  ],
  [
    'the annotation becomes a field', { metadata: { annotations: { 'volume.beta.orch.io/storage-class': 'a' } } },
    { metadata: { annotations: null }, ...spec({ storageClassName: 'a' }) }
  ]
])
updates(t, claims, CLAIM, [
  ['a phase', {}, { status: { phase: 'Bound', capacity: { storage: '1Gi' } } }],
  ['an unknown one', {}, { status: { phase: 'Gone', accessModes: ['Any'] } }],
  ['less than nothing', {}, { status: { capacity: { storage: '-1' } } }, 'Invalid status.capacity[storage]']
], 'status')

t.test('the data source of a claim is set in both fields', async t => {
  const copy = { kind: 'PersistentVolumeClaim', name: 'a' }
  t.match(created(claims, { spec: { ...CLAIM.spec, dataSource: copy } }).object, {
    spec: { dataSource: copy, dataSourceRef: copy }
  })
  const any = { apiGroup: 'example.com', kind: 'Image', name: 'a' }
  t.match(created(claims, { spec: { ...CLAIM.spec, dataSourceRef: any } }).object, {
    spec: { dataSource: any, dataSourceRef: any }
  })
  t.match(
    created(claims, { spec: { ...CLAIM.spec, dataSource: any } }).object,
    { spec: { dataSource: undefined, dataSourceRef: undefined } }, 'the older one takes claims and snapshots'
  )
})
