/** Effects of directives, and errors for wrong ones. */
import t from 'tap'
import type { Json } from '../../build.js'
import { run } from './scenarios.js'

const strategy = (strategy: Json): Json => ({ spec: { replicas: 1, strategy } })
const change = (strategy: Json): Json => ({ spec: { strategy } })
const rolling = { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } }

run(t, 'apps/v1', 'Deployment', [
  // $retainKeys, as kubectl apply sends it when the strategy changes.
  {
    title: '$retainKeys drops what belongs to another strategy',
    object: strategy(rolling),
    patch: change({ $retainKeys: ['type'], type: 'Recreate' }),
    gives: strategy({ type: 'Recreate' })
  },
  {
    title: '$retainKeys keeps what it names and the patch leaves alone',
    object: strategy(rolling),
    patch: change({ $retainKeys: ['type', 'rollingUpdate'], type: 'RollingUpdate' }),
    gives: strategy(rolling)
  },
  {
    title: '$retainKeys merges what it keeps',
    object: strategy(rolling),
    patch: change({ $retainKeys: ['type', 'rollingUpdate'], rollingUpdate: { maxSurge: 2 } }),
    gives: strategy({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } })
  },
  {
    title: 'an empty $retainKeys drops all',
    object: strategy(rolling),
    patch: change({ $retainKeys: [] }),
    gives: strategy({})
  },
  {
    title: '$retainKeys may leave out what the patch deletes',
    object: strategy(rolling),
    patch: change({ $retainKeys: ['type'], type: 'Recreate', rollingUpdate: null }),
    gives: strategy({ type: 'Recreate' })
  },
  {
    title: '$retainKeys works on any object',
    object: { metadata: { labels: { a: '1', b: '2' } } },
    patch: { metadata: { labels: { $retainKeys: ['b', 'c'], c: '3' } } },
    gives: { metadata: { labels: { b: '2', c: '3' } } }
  },
  {
    title: '$retainKeys is no content where nothing was',
    object: { spec: { replicas: 1 } },
    patch: change({ $retainKeys: ['type'], type: 'Recreate' }),
    gives: strategy({ type: 'Recreate' })
  },
  {
    title: 'without $retainKeys the strategy is merged',
    object: strategy(rolling),
    patch: change({ type: 'Recreate' }),
    gives: strategy({ ...rolling, type: 'Recreate' })
  },
  {
    title: '$retainKeys that leaves out what the patch sets is refused',
    object: strategy(rolling),
    patch: change({ $retainKeys: ['rollingUpdate'], type: 'Recreate' }),
    code: 400,
    says: /spec\.strategy: \$retainKeys leaves out "type"/
  },
  {
    title: 'so it is where nothing was',
    object: {},
    patch: change({ $retainKeys: [], type: 'Recreate' }),
    code: 400,
    says: /spec\.strategy: \$retainKeys leaves out "type"/
  },
  {
    title: '$retainKeys that is no list is refused',
    object: strategy(rolling),
    patch: change({ $retainKeys: 'type', type: 'Recreate' }),
    code: 400,
    says: /"\$retainKeys" must be a list/
  },

  // $patch in objects.
  {
    title: '$patch: replace replaces an object',
    object: strategy(rolling),
    patch: change({ $patch: 'replace', type: 'Recreate' }),
    gives: strategy({ type: 'Recreate' })
  },
  {
    title: '$patch: replace with nothing else leaves an empty object',
    object: strategy(rolling),
    patch: change({ $patch: 'replace' }),
    gives: strategy({})
  },
  {
    title: '$patch: delete leaves an empty object',
    object: strategy(rolling),
    patch: change({ $patch: 'delete' }),
    gives: strategy({})
  },
  {
    title: '$patch: delete of what is not there leaves nothing',
    object: { spec: { replicas: 1 } },
    patch: change({ $patch: 'delete' }),
    gives: { spec: { replicas: 1 } }
  },
  {
    title: '$patch: delete goes before whatever stands beside it',
    object: strategy(rolling),
    patch: change({ $patch: 'delete', type: 'Recreate' }),
    gives: strategy({})
  },
  {
    title: '$patch: replace in labels keeps no other label',
    object: { metadata: { labels: { a: '1' } } },
    patch: { metadata: { labels: { $patch: 'replace', b: '2' } } },
    gives: { metadata: { labels: { b: '2' } } }
  },
  {
    title: '$patch: replace is no label where there were none',
    object: { metadata: { name: 'x' } },
    patch: { metadata: { labels: { $patch: 'replace', b: '2' } } },
    gives: { metadata: { name: 'x', labels: { b: '2' } } }
  },
  {
    title: '$patch: replace of the whole object',
    object: { metadata: { name: 'x' }, spec: { replicas: 1 } },
    patch: { $patch: 'replace', metadata: { name: 'x' } },
    gives: { metadata: { name: 'x' } }
  },
  {
    title: 'another $patch is refused',
    object: strategy(rolling),
    patch: change({ $patch: 'remove' }),
    code: 400,
    says: /spec\.strategy: \$patch must be replace, merge or delete/
  },
  {
    title: 'so it is where nothing was',
    object: {},
    patch: change({ $patch: null }),
    code: 400,
    says: /spec\.strategy: \$patch/
  },
  {
    title: 'so it is in an item',
    object: { spec: { template: { spec: { containers: [{ name: 'a' }] } } } },
    patch: { spec: { template: { spec: { containers: [{ name: 'a', $patch: ['delete'] }] } } } },
    code: 400,
    says: /spec\.template\.spec\.containers\[0\]: \$patch/
  },

  // Nulls, and values that are added where there were none.
  {
    title: 'nulls in what is added are nothing',
    object: {},
    patch: {
      metadata: { annotations: { a: '1', b: null } },
      spec: {
        template: {
          spec: {
            containers: [{ name: 'a', image: null, env: null, resources: { limits: { cpu: null, memory: '1Gi' } } }]
          }
        }
      }
    },
    gives: {
      metadata: { annotations: { a: '1' } },
      spec: { template: { spec: { containers: [{ name: 'a', resources: { limits: { memory: '1Gi' } } }] } } }
    }
  },
  {
    title: 'nulls in an item that is added are nothing',
    object: { spec: { template: { spec: { containers: [{ name: 'a' }] } } } },
    patch: { spec: { template: { spec: { containers: [{ name: 'b', resources: { limits: { cpu: null } } }] } } } },
    gives: { spec: { template: { spec: { containers: [{ name: 'b', resources: { limits: {} } }, { name: 'a' }] } } } }
  },
  {
    title: 'an item deleted from a list that is not there is not added',
    object: {},
    patch: { spec: { template: { spec: { containers: [{ name: 'a', $patch: 'delete' }, { name: 'b' }] } } } },
    gives: { spec: { template: { spec: { containers: [{ name: 'b' }] } } } }
  },
  {
    title: 'an order is no content where there is nothing',
    object: {},
    patch: {
      spec: { template: { spec: { '$setElementOrder/containers': [{ name: 'a' }], containers: [{ name: 'a' }] } } }
    },
    gives: { spec: { template: { spec: { containers: [{ name: 'a' }] } } } }
  },
  {
    title: 'a value of another type is taken as it is',
    object: { spec: { replicas: 1, template: 'x', strategy: [] } },
    patch: { spec: { replicas: '2', template: { spec: {} }, strategy: {} } },
    gives: { spec: { replicas: '2', template: { spec: {} }, strategy: {} } }
  },
  {
    title: 'members nobody declared are taken, for the decoder to report',
    object: { spec: { replicas: 1 } },
    patch: { spec: { replica: 2 }, $other: { a: [null, 1] } },
    gives: { spec: { replicas: 1, replica: 2 }, $other: { a: [null, 1] } }
  },

  // Items without their merge key.
  {
    title: 'an item without the merge key is refused',
    object: { spec: { template: { spec: { containers: [{ name: 'a' }] } } } },
    patch: { spec: { template: { spec: { containers: [{ image: 'x' }] } } } },
    code: 422,
    says: /spec\.template\.spec\.containers\[0\]: "name", the merge key/
  },
  {
    title: 'an item to delete without the merge key is refused',
    object: { spec: { template: { spec: { containers: [{ name: 'a' }] } } } },
    patch: { spec: { template: { spec: { containers: [{ name: 'a' }, { $patch: 'delete' }] } } } },
    code: 422,
    says: /containers\[1\]: "name", the merge key/
  },
  {
    title: 'an item to put in the place of all without the merge key is refused',
    object: { spec: { template: { spec: { containers: [{ name: 'a' }] } } } },
    patch: { spec: { template: { spec: { containers: [{ image: 'x' }, { $patch: 'replace' }] } } } },
    code: 422,
    says: /containers\[0\]: "name", the merge key/
  },
  {
    title: 'an item that is no object is refused',
    object: { spec: { template: { spec: { containers: [{ name: 'a' }] } } } },
    patch: { spec: { template: { spec: { containers: ['a'] } } } },
    code: 422,
    says: /containers\[0\]: the items of this list are objects/
  }
])

const finalizers = (...finalizers: string[]): Json => ({ metadata: { finalizers } })
const unfinalized = (...gone: unknown[]): Json => ({ metadata: { '$deleteFromPrimitiveList/finalizers': gone } })

run(t, 'v1', 'ConfigMap', [
  // Merged lists of scalars.
  {
    title: 'finalizers are added, each once, those of the patch where they belong',
    object: finalizers('a/1', 'a/2'),
    patch: finalizers('a/3', 'a/1'),
    gives: finalizers('a/3', 'a/1', 'a/2')
  },
  {
    title: 'finalizers that are there already change nothing',
    object: finalizers('a/1', 'a/2'),
    patch: finalizers('a/1'),
    gives: finalizers('a/1', 'a/2')
  },
  {
    title: 'finalizers are taken where there were none',
    object: { metadata: {} },
    patch: finalizers('a/2', 'a/1'),
    gives: finalizers('a/2', 'a/1')
  },
  {
    title: '$deleteFromPrimitiveList takes a finalizer away',
    object: finalizers('a/1', 'a/2'),
    patch: unfinalized('a/1'),
    gives: finalizers('a/2')
  },
  {
    title: '$deleteFromPrimitiveList of what is not there changes nothing',
    object: finalizers('a/1'),
    patch: unfinalized('b', 7, null),
    gives: finalizers('a/1')
  },
  {
    title: '$deleteFromPrimitiveList of the last one leaves an empty list',
    object: finalizers('a/1'),
    patch: unfinalized('a/1'),
    gives: finalizers()
  },
  {
    title: '$deleteFromPrimitiveList of a list that is not there leaves none',
    object: { metadata: { name: 'x' } },
    patch: unfinalized('a/1'),
    gives: { metadata: { name: 'x' } }
  },
  {
    title: '$deleteFromPrimitiveList is no content where nothing was',
    object: {},
    patch: unfinalized('a/1'),
    gives: { metadata: {} }
  },
  {
    title: 'one is added and another taken away',
    object: finalizers('a/1', 'a/2'),
    patch: {
      metadata: {
        '$deleteFromPrimitiveList/finalizers': ['a/1'],
        finalizers: ['a/3'],
        '$setElementOrder/finalizers': ['a/2', 'a/3']
      }
    },
    gives: finalizers('a/2', 'a/3')
  },
  {
    title: 'null takes all finalizers away',
    object: finalizers('a/1'),
    patch: { metadata: { finalizers: null } },
    gives: { metadata: {} }
  },
  {
    title: '$deleteFromPrimitiveList that is no list is refused',
    object: finalizers('a/1'),
    patch: { metadata: { '$deleteFromPrimitiveList/finalizers': null } },
    code: 400,
    says: /metadata: "\$deleteFromPrimitiveList\/finalizers" must be a list/
  },
  {
    title: '$deleteFromPrimitiveList without a name is refused',
    object: finalizers('a/1'),
    patch: { metadata: { $deleteFromPrimitiveList: ['a/1'] } },
    code: 400,
    says: /must name a list/
  },
  {
    title: '$deleteFromPrimitiveList with nothing behind the stroke is refused',
    object: finalizers('a/1'),
    patch: { metadata: { '$deleteFromPrimitiveList/': ['a/1'] } },
    code: 400,
    says: /must name a list/
  },
  {
    title: '$deleteFromPrimitiveList of a list of objects is refused',
    object: { metadata: { ownerReferences: [{ uid: 'u' }] } },
    patch: { metadata: { '$deleteFromPrimitiveList/ownerReferences': ['u'] } },
    code: 400,
    says: /"ownerReferences" is none/
  },
  {
    title: 'an object among finalizers is refused',
    object: finalizers('a/1'),
    patch: { metadata: { finalizers: [{}] } },
    code: 422,
    says: /metadata\.finalizers\[0\]: this list holds values/
  },
  {
    title: 'null among finalizers is refused',
    object: finalizers('a/1'),
    patch: { metadata: { finalizers: ['x', null] } },
    code: 422,
    says: /metadata\.finalizers\[1\]/
  },
  {
    title: 'owners are merged by uid',
    object: { metadata: { ownerReferences: [{ uid: 'u', name: 'a' }, { uid: 'v', name: 'b' }] } },
    patch: { metadata: { ownerReferences: [{ uid: 'v', controller: true }, { uid: 'u', $patch: 'delete' }] } },
    gives: { metadata: { ownerReferences: [{ uid: 'v', name: 'b', controller: true }] } }
  },
  {
    title: 'data is merged, key by key',
    object: { data: { a: '1', b: '2' }, binaryData: { c: 'AA==' } },
    patch: { data: { a: '3', b: null, d: '4' } },
    gives: { data: { a: '3', d: '4' }, binaryData: { c: 'AA==' } }
  },
  {
    title: 'data is replaced',
    object: { data: { a: '1', b: '2' } },
    patch: { data: { $patch: 'replace', c: '3' } },
    gives: { data: { c: '3' } }
  },
  {
    title: 'labels and annotations, as kubectl label and annotate send them',
    object: { metadata: { labels: { a: '1', b: '2' } } },
    patch: { metadata: { labels: { a: null, b: '3' }, annotations: { note: 'x' } } },
    gives: { metadata: { labels: { b: '3' }, annotations: { note: 'x' } } }
  },
  {
    title: 'managed fields are replaced as a whole',
    object: { metadata: { managedFields: [{ manager: 'a' }, { manager: 'b' }] } },
    patch: { metadata: { managedFields: [{}] } },
    gives: { metadata: { managedFields: [{}] } }
  }
])
