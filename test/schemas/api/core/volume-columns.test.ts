import t from 'tap'
import { persistentVolumeClaims } from '../../../../schemas/api/core/persistentvolumeclaims.js'
import { persistentVolumes } from '../../../../schemas/api/core/persistentvolumes.js'
import { minutesAgo, cellsOf } from '../cells.js'

const metadata = { deletionTimestamp: minutesAgo(1), finalizers: ['orch.io/pv-protection'] }
const volume = {
  capacity: { storage: '10240Mi' },
  accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
  nfs: { server: 'nfs', path: '/' },
  storageClassName: 'fast'
}

t.test('a volume', async t => {
  const claimRef = { kind: 'PersistentVolumeClaim', namespace: 'shop', name: 'data' }
  t.same(cellsOf(persistentVolumes, {
    metadata: { name: 'pv-1' }, spec: { ...volume, claimRef }, status: { phase: 'Bound' }
  }), {
    Name: 'pv-1', Capacity: '10Gi', 'Access Modes': 'RWO,RWX', 'Reclaim Policy': 'Retain', Status: 'Bound',
    Claim: 'shop/data', StorageClass: 'fast', Reason: '', Age: '24h', VolumeMode: 'Filesystem'
  })
  t.hasStrict(cellsOf(persistentVolumes, {
    spec: { accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'] }, status: { phase: 'Failed', reason: 'RecyclerFailed' }
  }),
  {
    Capacity: '0', 'Access Modes': 'ROX,RWOP', Status: 'Failed', Claim: '', StorageClass: '', Reason: 'RecyclerFailed'
  })
  t.hasStrict(
    cellsOf(persistentVolumes, { metadata, spec: volume, status: { phase: 'Bound' } }), { Status: 'Terminating' }
  )
})

t.test('a claim', async t => {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '8Gi' } }, storageClassName: 'fast' }
  t.same(cellsOf(persistentVolumeClaims, { metadata: { name: 'data' }, spec }), {
    Name: 'data', Status: 'Pending', Volume: '', Capacity: '', 'Access Modes': '', StorageClass: 'fast', Age: '24h',
    VolumeMode: 'Filesystem'
  })
  const bound = {
    spec: { ...spec, volumeName: 'pv-1' },
    status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '10Gi' } }
  }
  t.hasStrict(
    cellsOf(persistentVolumeClaims, bound), { Status: 'Bound', Volume: 'pv-1', Capacity: '10Gi', 'Access Modes': 'RWO' }
  )
  t.hasStrict(cellsOf(persistentVolumeClaims, { ...bound, metadata }), { Status: 'Terminating' })
  t.hasStrict(cellsOf(persistentVolumeClaims, { spec: {} }), { StorageClass: '' })
  t.hasStrict(
    cellsOf(persistentVolumeClaims, {
      spec, metadata: { annotations: { 'volume.beta.orch.io/storage-class': 'slow' } }
    }),
    { StorageClass: 'slow' },
    'the annotation takes precedence over the field'
  )
})
