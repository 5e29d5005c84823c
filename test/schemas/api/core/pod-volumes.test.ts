import t from 'tap'
import { pods } from '../../../../schemas/api/core/pods.js'
import { creates, type Row } from '../cases.js'

const c = 'spec.containers[0]'
const v = 'spec.volumes[0]'
const pod = {
  metadata: { name: 'web', namespace: 'default' },
  spec: { serviceAccountName: 'default', containers: [{ name: 'main', image: 'nginx' }] }
}
const table = (title: string, rows: readonly Row[]) => t.test(title, async t => { creates(t, pods, pod, rows) })
/** A change that gives a volume this source. */
const source = (value: object) => ({ [v]: { name: 'a', ...value } })

table('volumes have names of their own and come from one place', [
  [source({})],
  [{ [v]: { emptyDir: {} } }, `Required ${v}.name`],
  [{ [v]: { name: 'A', emptyDir: {} } }, `Invalid ${v}.name`],
  [{ 'spec.volumes': [{ name: 'a' }, { name: 'a' }] }, 'Duplicate spec.volumes[1].name'],
  [source({ emptyDir: {}, hostPath: { path: '/' } }), `Forbidden ${v}.hostPath`],
  [source({ hostPath: { path: '/' }, secret: {}, csi: {} }), `Forbidden ${v}.secret`, `Forbidden ${v}.csi`],
  [
    source({ nfs: { server: 's', path: '/' }, cephfs: {}, downwardAPI: {} }), `Forbidden ${v}.cephFS`,
    `Forbidden ${v}.downwarAPI`
  ]
])

table('what each source needs', [
  [source({ emptyDir: { sizeLimit: '1Gi', medium: 'Memory' } })],
  [source({ emptyDir: { sizeLimit: '-1' } }), `Forbidden ${v}.emptyDir.sizeLimit`],
  [source({ hostPath: { path: '/a', type: 'Socket' } })],
  [source({ hostPath: {} }), `Required ${v}.hostPath.path`],
  [source({ hostPath: { path: '/a/../b' } }), `Invalid ${v}.hostPath.path`],
  [source({ hostPath: { path: '/a', type: 'Pipe' } }), `NotSupported ${v}.hostPath.type`],
  [source({ gitRepo: { repository: 'r', directory: '/a' } }), `Invalid ${v}.gitRepo.directory`],
  [source({ gitRepo: { directory: '..' } }), `Required ${v}.gitRepo.repository`, `Invalid ${v}.gitRepo.directory`],
  [source({ gcePersistentDisk: { pdName: 'd', partition: 255 } })],
  [
    source({ gcePersistentDisk: { partition: 256 } }), `Required ${v}.persistentDisk.pdName`,
    `Invalid ${v}.persistentDisk.partition`
  ],
  [
    source({ awsElasticBlockStore: { partition: -1 } }), `Required ${v}.awsElasticBlockStore.volumeID`,
    `Invalid ${v}.awsElasticBlockStore.partition`
  ],
  [source({ nfs: { server: 's', path: 'a' } }), `Invalid ${v}.nfs.path`],
  [source({ nfs: {} }), `Required ${v}.nfs.server`, `Required ${v}.nfs.path`, `Invalid ${v}.nfs.path`],
  [source({ iscsi: { targetPortal: 'p', iqn: 'iqn.2001-04.com.example:a', lun: 255 } })],
  [source({ iscsi: { targetPortal: 'p', iqn: `eui.${'0'.repeat(16)}`, lun: 0 } })],
  [
    source({ iscsi: { targetPortal: 'p', iqn: 'naa.1', lun: 256 } }), `Invalid ${v}.iscsi.iqn`, `Invalid ${v}.iscsi.lun`
  ],
  [
    source({ iscsi: { iqn: 'x', lun: -1, chapAuthSession: true } }), `Required ${v}.iscsi.targetPortal`,
    `Invalid ${v}.iscsi.iqn`, `Invalid ${v}.iscsi.lun`, `Required ${v}.iscsi.secretRef`
  ],
  [
    source({ iscsi: { targetPortal: 'p', iqn: 'iqn.2001-04.com.example:a', lun: 1, initiatorName: 'x' } }),
    `Invalid ${v}.iscsi.initiatorname`
  ],
  [
    source({
      iscsi: {
        targetPortal: 'p'.repeat(64),
        iqn: 'iqn.2001-04.com.example:a',
        lun: 1,
        initiatorName: 'iqn.2001-04.com.example:b'
      }
    }),
    `Invalid ${v}.name`
  ],
  [source({ glusterfs: {} }), `Required ${v}.glusterfs.endpoints`, `Required ${v}.glusterfs.path`],
  [source({ flocker: {} }), `Required ${v}.flocker`],
  [
    source({ flocker: { datasetName: 'a/b', datasetUUID: 'c' } }), `Invalid ${v}.flocker`,
    `Invalid ${v}.flocker.datasetName`
  ],
  [source({ persistentVolumeClaim: {} }), `Required ${v}.persistentVolumeClaim.claimName`],
  [source({ rbd: {} }), `Required ${v}.rbd.monitors`, `Required ${v}.rbd.image`],
  [source({ cinder: { secretRef: {} } }), `Required ${v}.cinder.volumeID`, `Required ${v}.cinder.secretRef.name`],
  [source({ cephfs: {} }), `Required ${v}.cephfs.monitors`],
  [source({ quobyte: { registry: 'a:1,b:2', volume: 'v' } })],
  [source({ quobyte: { registry: 'a' } }), `Invalid ${v}.quobyte.registry`, `Required ${v}.quobyte.volume`],
  [source({ quobyte: { registry: 'a', volume: 'v', tenant: 'x'.repeat(65) } }), `Required ${v}.quobyte.tenant`],
  [source({ fc: {} }), `Required ${v}.fc.targetWWNs`],
  [source({ fc: { targetWWNs: ['a'], wwids: ['b'] } }), `Invalid ${v}.fc.targetWWNs`, `Required ${v}.fc.lun`],
  [source({ fc: { targetWWNs: ['a'], lun: 256 } }), `Invalid ${v}.fc.lun`],
  [
    source({ flexVolume: { driver: 'd', options: { 'a.orch.io/b': 'c', d: 'e' } } }),
    `Invalid ${v}.flexVolume.options[a.orch.io/b]`
  ],
  [source({ flexVolume: {} }), `Required ${v}.flexVolume.driver`],
  [source({ azureFile: {} }), `Required ${v}.azureFile.secretName`, `Required ${v}.azureFile.shareName`],
  [source({ vsphereVolume: {} }), `Required ${v}.vsphereVolume.volumePath`],
  [source({ photonPersistentDisk: {} }), `Required ${v}.photonPersistentDisk.pdID`],
  [source({ portworxVolume: {} }), `Required ${v}.portworxVolume.volumeID`],
  [source({ azureDisk: { diskName: 'd', diskURI: 'https://a/b.vhd' } })],
  [source({ azureDisk: { diskName: 'd', diskURI: '/subscriptions/x', kind: 'Managed' } })],
  [
    source({ azureDisk: { diskName: 'd', diskURI: 'https://a', kind: 'Managed' } }),
    `NotSupported ${v}.azureDisk.diskURI`
  ],
  [
    source({ azureDisk: { diskName: 'd', diskURI: 'https://a', kind: 'Small', cachingMode: 'All' } }),
    `NotSupported ${v}.azureDisk.kind`, `NotSupported ${v}.azureDisk.cachingMode`
  ],
  [source({ storageos: {} }), `Required ${v}.storageos.volumeName`],
  [
    source({ storageos: { volumeName: 'A', volumeNamespace: 'B', secretRef: {} } }),
    `Invalid ${v}.storageos.volumeName`, `Invalid ${v}.storageos.volumeNamespace`,
    `Required ${v}.storageos.secretRef.name`
  ],
  [
    source({ scaleIO: {} }), `Required ${v}.scaleIO.gateway`, `Required ${v}.scaleIO.system`,
    `Required ${v}.scaleIO.volumeName`
  ],
  [source({ csi: { driver: 'Example.com' } })],
  [source({ csi: {} }), `Required ${v}.csi.driver`, `Invalid ${v}.csi.driver`],
  [
    source({ csi: { driver: 'x'.repeat(64), nodePublishSecretRef: { name: 'A' } } }), `TooLong ${v}.csi.driver`,
    `Invalid ${v}.csi.name`
  ],
  [source({ csi: { driver: 'd', nodePublishSecretRef: {} } }), `Required ${v}.csi.nodePublishSecretRef.name`]
])

table('data is shown as files', [
  [source({ secret: { secretName: 's', defaultMode: 0o777, items: [{ key: 'k', path: 'a/b', mode: 0 }] } })],
  [source({ secret: {} }), `Required ${v}.secret.secretName`],
  [source({ secret: { secretName: 's', defaultMode: 0o1000 } }), `Invalid ${v}.secret.defaultMode`],
  [
    source({ secret: { secretName: 's', items: [{}] } }), `Required ${v}.secret.items[0].key`,
    `Required ${v}.secret.items[0].path`
  ],
  [
    source({ secret: { secretName: 's', items: [{ key: 'k', path: '/a', mode: -1 }] } }),
    `Invalid ${v}.secret.items[0].path`, `Invalid ${v}.secret.items[0].mode`
  ],
  [source({ configMap: {} }), `Required ${v}.configMap.name`],
  [
    source({ configMap: { name: 'c', defaultMode: -1, items: [{ key: 'k', path: '..data' }] } }),
    `Invalid ${v}.configMap.defaultMode`, `Invalid ${v}.configMap.items[0].path`
  ],
  [source({ configMap: { name: 'c', items: [{ key: 'k', path: 'a/../b' }] } }), `Invalid ${v}.configMap.items[0].path`],
  [source({ downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } })],
  [
    source({ downwardAPI: { defaultMode: 512, items: [{}] } }), `Invalid ${v}.downwardAPI.defaultMode`,
    `Required ${v}.downwardAPI.path`, `Required ${v}.downwardAPI`
  ],
  [
    source({ downwardAPI: { items: [{ path: '/a', mode: 512, fieldRef: { fieldPath: 'spec.nodeName' } }] } }),
    `Invalid ${v}.downwardAPI.path`, `Invalid ${v}.downwardAPI.mode`, `NotSupported ${v}.downwardAPI.fieldRef.fieldPath`
  ],
  [
    source({ downwardAPI: { items: [{ path: 'a', resourceFieldRef: { resource: 'limits.cpu' } }] } }),
    `Required ${v}.downwardAPI.resourceFieldRef.containerName`
  ],
  [
    source({
      downwardAPI: {
        items: [
          {
            path: 'a',
            fieldRef: { fieldPath: 'metadata.name' },
            resourceFieldRef: { containerName: 'main', resource: 'limits.cpu' }
          }
        ]
      }
    }),
    `Invalid ${v}.downwardAPI`
  ]
])

const p = `${v}.projected`
const projected = (...sources: object[]) => source({ projected: { sources } })
table('several sources in one directory', [
  [projected({ secret: { name: 's' } }, { configMap: { name: 'c' } }, { serviceAccountToken: { path: 'token' } })],
  [source({ projected: { sources: [], defaultMode: 512 } }), `Invalid ${p}.defaultMode`],
  [
    projected({ secret: {} }, { configMap: {} }), `Required ${p}.sources[0].secret.name`,
    `Required ${p}.sources[1].configMap.name`
  ],
  [projected({ secret: { name: 's' }, configMap: { name: 'c' } }), `Forbidden ${p}.sources[0]`],
  [
    projected(
      { secret: { name: 's', items: [{ key: 'k', path: 'a' }] } },
      { configMap: { name: 'c', items: [{ key: 'k', path: 'a' }] } }
    ),
    `Invalid ${p}`
  ],
  [projected({ downwardAPI: { items: [{ path: 'a' }] } }), `Required ${p}.sources[0].downwardAPI`],
  [
    projected({ serviceAccountToken: { expirationSeconds: 599 } }),
    `Invalid ${p}.sources[0].serviceAccountToken.expirationSeconds`, `Required ${p}.path`
  ],
  [
    projected({ serviceAccountToken: { path: 'a', expirationSeconds: 2 ** 32 + 1 } }),
    `Invalid ${p}.sources[0].serviceAccountToken.expirationSeconds`
  ],
  [
    { ...projected({ serviceAccountToken: { path: 'a' } }), 'spec.serviceAccountName': undefined },
    `Forbidden ${p}.sources[0].serviceAccountToken`
  ]
])

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
table('claims are made for a pod', [
  [source({ ephemeral: { volumeClaimTemplate: { metadata: { labels: { a: 'b' } }, spec: claim } } })],
  [source({ ephemeral: {} }), `Required ${v}.ephemeral.volumeClaimTemplate`],
  [
    source({ ephemeral: { volumeClaimTemplate: { metadata: { name: 'n', labels: { a: 'b c' } }, spec: claim } } }),
    `Forbidden ${v}.ephemeral.volumeClaimTemplate.metadata.name`,
    `Invalid ${v}.ephemeral.volumeClaimTemplate.metadata.labels`
  ],
  [
    {
      ...source({ ephemeral: { volumeClaimTemplate: { spec: claim } } }),
      'spec.volumes[1]': { name: 'b', persistentVolumeClaim: { claimName: 'web-a' } }
    },
    'Invalid spec.volumes[1].persistentVolumeClaim.claimName'
  ]
])

const m = `${c}.volumeMounts[0]`
const d = `${c}.volumeDevices[0]`
table('containers mount volumes there are', [
  [{ ...source({}), [m]: { name: 'a', mountPath: '/a', subPath: 'b' } }],
  [{ [m]: { name: 'a', mountPath: '/a' } }, `NotFound ${m}.name`],
  [
    { ...source({ hostPath: {} }), [m]: { name: 'a', mountPath: '/a' } }, `Required ${v}.hostPath.path`,
    `NotFound ${m}.name`
  ],
  [{ ...source({}), [m]: {} }, `Required ${m}.name`, `NotFound ${m}.name`, `Required ${m}.mountPath`],
  [
    { ...source({}), [`${c}.volumeMounts`]: [{ name: 'a', mountPath: '/a' }, { name: 'a', mountPath: '/a' }] },
    `Invalid ${c}.volumeMounts[1].mountPath`
  ],
  [{ ...source({}), [m]: { name: 'a', mountPath: '/a', subPath: '../b' } }, `Invalid ${c}.volumeMounts.subPath`],
  [
    { ...source({}), [m]: { name: 'a', mountPath: '/a', subPath: 'b', subPathExpr: '/c' } }, `Invalid ${m}.subPathExpr`,
    `Invalid ${c}.volumeMounts.subPathExpr`
  ],
  [
    { ...source({}), [m]: { name: 'a', mountPath: '/a', mountPropagation: 'Bidirectional' } },
    `Forbidden ${c}.volumeMounts.mountPropagation`
  ],
  [
    {
      ...source({}),
      [m]: { name: 'a', mountPath: '/a', mountPropagation: 'Bidirectional' },
      [`${c}.securityContext.privileged`]: true
    }
  ],
  [{ ...source({}), [d]: { name: 'a', devicePath: '/dev/a' } }, `Invalid ${d}.name`],
  [{ ...source({ persistentVolumeClaim: { claimName: 'c' } }), [d]: { name: 'a', devicePath: '/dev/a' } }],
  [
    { ...source({ persistentVolumeClaim: { claimName: 'c' } }), [d]: { name: 'a', devicePath: '/dev/../a' } },
    `Invalid ${d}.devicePath`
  ],
  [
    {
      ...source({ persistentVolumeClaim: { claimName: 'c' } }),
      [`${c}.volumeDevices`]: [{ name: 'a', devicePath: '/a' }, { name: 'a', devicePath: '/a' }]
    },
    `Invalid ${c}.volumeDevices[1].name`,
    `Invalid ${c}.volumeDevices[1].devicePath`
  ],
  [
    { ...source({ persistentVolumeClaim: { claimName: 'c' } }), [d]: {} }, `Required ${d}.name`, `NotFound ${d}.name`,
    `Required ${d}.devicePath`
  ],
  [
    {
      ...source({ persistentVolumeClaim: { claimName: 'c' } }),
      [d]: { name: 'a', devicePath: '/a' },
      [m]: { name: 'a', mountPath: '/a' }
    },
    `Invalid ${d}.name`,
    `Invalid ${d}.devicePath`,
    `Invalid ${m}.name`,
    `Invalid ${m}.mountPath`
  ]
])
