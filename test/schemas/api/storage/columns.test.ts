import t from 'tap'
import { tableColumns } from '../../../../schemas/table.js'
import { csiDrivers } from '../../../../schemas/api/storage/csidrivers.js'
import { csiNodes } from '../../../../schemas/api/storage/csinodes.js'
import { csiStorageCapacities } from '../../../../schemas/api/storage/csistoragecapacities.js'
import { storageClasses } from '../../../../schemas/api/storage/storageclasses.js'
import { volumeAttachments } from '../../../../schemas/api/storage/volumeattachments.js'
import { cellsOf } from '../cells.js'

t.test('a storage class, and the default one', async t => {
  t.same(cellsOf(storageClasses, {
    metadata: { name: 'fast' },
    provisioner: 'csi.example.com',
    allowVolumeExpansion: true,
    reclaimPolicy: 'Retain',
    volumeBindingMode: 'WaitForFirstConsumer'
  }),
  {
    Name: 'fast',
    Provisioner: 'csi.example.com',
    ReclaimPolicy: 'Retain',
    VolumeBindingMode: 'WaitForFirstConsumer',
    AllowVolumeExpansion: true,
    Age: '24h'
  })
  for (const annotation of ['storageclass.orch.io/is-default-class', 'storageclass.beta.orch.io/is-default-class']) {
    const annotated = (value: string) => cellsOf(storageClasses, {
      metadata: { name: 'slow', annotations: { [annotation]: value } }, provisioner: 'csi.example.com'
    })
    t.hasStrict(annotated('true'), {
      Name: 'slow (default)', ReclaimPolicy: 'Delete', VolumeBindingMode: 'Immediate', AllowVolumeExpansion: false
    })
    t.hasStrict(annotated('false'), { Name: 'slow' })
  }
})

t.test('a driver', async t => {
  t.same(cellsOf(csiDrivers, { metadata: { name: 'csi.example.com' }, spec: {} }), {
    Name: 'csi.example.com', AttachRequired: true, PodInfoOnMount: false, StorageCapacity: false,
    TokenRequests: '<unset>', RequiresRepublish: false, Modes: 'Persistent', Age: '24h'
  })
  const spec = {
    attachRequired: false,
    podInfoOnMount: true,
    storageCapacity: true,
    tokenRequests: [{ audience: 'vault' }, { audience: 'aws' }],
    requiresRepublish: true,
    volumeLifecycleModes: ['Persistent', 'Ephemeral']
  }
  t.hasStrict(cellsOf(csiDrivers, { spec }), {
    AttachRequired: false,
    PodInfoOnMount: true,
    StorageCapacity: true,
    TokenRequests: 'vault,aws',
    RequiresRepublish: true,
    Modes: 'Persistent,Ephemeral'
  })
})

t.test('the drivers of a node are counted', async t => {
  t.same(
    cellsOf(csiNodes, {
      metadata: { name: 'node-1' }, spec: { drivers: [{ name: 'a', nodeID: '1' }, { name: 'b', nodeID: '2' }] }
    }),
    { Name: 'node-1', Drivers: 2, Age: '24h' }
  )
  t.hasStrict(cellsOf(csiNodes, { spec: {} }), { Drivers: 0 })
})

t.test('an attachment', async t => {
  const spec = { attacher: 'csi.example.com', nodeName: 'node-1', source: { persistentVolumeName: 'pv-1' } }
  t.same(cellsOf(volumeAttachments, { spec, status: { attached: true } }), {
    Name: 'web', Attacher: 'csi.example.com', PV: 'pv-1', Node: 'node-1', Attached: true, Age: '24h'
  })
  t.hasStrict(cellsOf(volumeAttachments, { spec: { ...spec, source: {} } }), { PV: '', Attached: false })
})

t.test('storage capacities have the table of types without columns', async t => {
  for (const representation of csiStorageCapacities.representations) {
    t.same(tableColumns(representation).map(({ name }) => name), ['Name', 'Created At'])
  }
})
