import t from 'tap'
import { checkedFlags, configuration } from '../../../config/options.js'
import type { Json, Test } from '../../build.js'
import { serve, MERGE, pod, PODS, container, type Served } from '../served.js'

const NODES = '/api/v1/nodes'
const LEASES = '/apis/coordination.orch.io/v1/namespaces'
const CSI_NODES = '/apis/storage.orch.io/v1/csinodes'
const MIRROR = { 'orch.io/config.mirror': 'x' }

const tokens = ['n1,system:node:n1,3,"system:nodes"', 'nobody,system:node:,4,"system:nodes"']
const start = (
  t: Test, enabled: readonly string[] = ['NodeRestriction'], featureGates: Record<string, boolean> = {}
): Promise<Served> => serve(t, { enabled, disabled: ['ServiceAccount'] }, { tokens, featureGates })

t.test('a node agent creates mirror pods of its own node, which refer to no other objects', async t => {
  const { as, made } = await start(t)
  const { metadata: { uid } } = await made(NODES, { metadata: { name: 'n1' } })
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid, controller: true }
  const mirror = (spec: Json = {}, owners: Json[] = [owner], annotations: Json = MIRROR): Json =>
    pod('m', { nodeName: 'n1', ...spec }, { annotations, ownerReferences: owners })
  const refused: ReadonlyArray<readonly [Json, string]> = [
    [
      mirror({}, [owner], {}),
      'pod does not have "orch.io/config.mirror" annotation, node "n1" can only create mirror pods'
    ],
    [mirror({ nodeName: 'n2' }), 'node "n1" can only create pods with spec.nodeName set to itself'],
    [mirror({}, []), 'node "n1" can only create pods with an owner reference set to itself'],
    [
      mirror({}, [owner, { ...owner, uid: 'other' }]),
      'node "n1" can only create pods with a single owner reference set to itself'
    ],
    [mirror({}, [{ ...owner, name: 'n2' }]), 'node "n1" can only create pods with an owner reference set to itself'],
    [
      mirror({}, [{ ...owner, controller: false }]),
      'node "n1" can only create pods with a controller owner reference set to itself'
    ],
    [
      mirror({}, [{ ...owner, blockOwnerDeletion: true }]),
      'node "n1" must not set blockOwnerDeletion on an owner reference'
    ],
    [mirror({}, [{ ...owner, uid: 'other' }]), `node n1 UID mismatch: expected other got ${uid}`],
    [mirror({ serviceAccountName: 'a' }), 'node "n1" can not create pods that reference a service account'],
    [
      mirror({ volumes: [{ name: 'v', secret: { secretName: 's' } }] }),
      'node "n1" can not create pods that reference secrets'
    ],
    [mirror({ imagePullSecrets: [{ name: 's' }] }), 'node "n1" can not create pods that reference secrets'],
    [
      mirror({ containers: [container({ envFrom: [{ secretRef: { name: 's' } }] })] }),
      'node "n1" can not create pods that reference secrets'
    ],
    [
      mirror({ volumes: [{ name: 'v', configMap: { name: 's' } }] }),
      'node "n1" can not create pods that reference configmaps'
    ],
    [
      mirror({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 's' } }] }),
      'node "n1" can not create pods that reference persistentvolumeclaims'
    ]
  ]
  for (const [body, why] of refused) {
    t.match(
      await as('n1', 'POST', PODS, body),
      { code: 403, json: { reason: 'Forbidden', message: `pods "m" is forbidden: ${why}` } }, why
    )
  }
  t.match(await as('nobody', 'POST', PODS, mirror()), {
    code: 403, json: { message: 'pods "m" is forbidden: could not determine node from user "system:node:"' }
  })
  t.equal((await as('n1', 'POST', PODS, mirror())).code, 201)
  t.equal((await as('ann', 'POST', PODS, pod('free'))).code, 201, 'other users are not restricted')
})

t.test(
  'a node agent deletes, evicts and updates the status of pods bound to it, and changes no pod otherwise', async t => {
    const { as, made } = await start(t)
    for (const [name, nodeName] of [['mine', 'n1'], ['theirs', 'n2'], ['gone', 'n1']]) {
      await made(PODS, pod(name ?? '', { nodeName }))
    }
    const status = { status: { phase: 'Running' } }
    t.equal((await as('n1', 'PATCH', `${PODS}/mine/status`, status, MERGE)).code, 200)
    const refused: ReadonlyArray<readonly [string, string, unknown, RegExp]> = [
      [
        'PATCH', `${PODS}/theirs/status`, status,
        /pods "theirs" is forbidden: node "n1" can only update pod status for pods with spec.nodeName set to itself/
      ],
      [
        'PATCH', `${PODS}/mine/status`, { metadata: { labels: { a: 'b' } } },
        /node "n1" cannot update labels through pod status/
      ],
      [
        'PATCH', `${PODS}/mine`, { metadata: { labels: { a: 'b' } } },
        /unexpected operation "UPDATE", node "n1" can only create and delete mirror pods/
      ],
      [
        'PATCH', `${PODS}/mine/ephemeralcontainers`, {},
        /unexpected pod subresource "ephemeralcontainers", only 'status' and 'eviction' are allowed/
      ],
      ['DELETE', `${PODS}/theirs`, undefined, /node "n1" can only delete pods with spec.nodeName set to itself/],
      [
        'POST', `${PODS}/theirs/eviction`, { metadata: { name: 'theirs' } },
        /pods "theirs" is forbidden: node n1 can only evict pods with spec.nodeName set to itself/
      ]
    ]
    for (const [method, url, body, message] of refused) {
      t.match(
        await as('n1', method, url, body, method === 'PATCH' ? MERGE : undefined), { code: 403, json: { message } },
        `${method} ${url}`
      )
    }
    t.equal((await as('n1', 'POST', `${PODS}/nowhere/eviction`, { metadata: { name: 'nowhere' } })).code, 404)
    t.equal((await as('n1', 'POST', `${PODS}/gone/eviction`, { metadata: { name: 'gone' } })).code, 201)
    t.equal((await as('n1', 'DELETE', `${PODS}/mine`)).code, 202)
  }
)

t.test('a node agent writes only its own node, lease and CSINode, and no taints or protected labels', async t => {
  const { as, made } = await start(t)
  const node = (name: string, labels: Json = {}, spec: Json = {}): Json => ({ metadata: { name, labels }, spec })
  const refused: ReadonlyArray<readonly [string, Json, string]> = [
    [NODES, node('n2'), 'nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"'],
    [
      NODES,
      node('n1', { 'node-restriction.orch.io/a': 'b', 'x.orch.io/y': 'z', 'example.com/fine': 'a' }),
      'nodes "n1" is forbidden: node "n1" is not allowed to set the following labels: ' +
      'node-restriction.orch.io/a, x.orch.io/y'
    ],
    [
      NODES, node('n1', {}, { configSource: { configMap: { namespace: 'a', name: 'b', kubeletConfigKey: 'c' } } }),
      'nodes "n1" is forbidden: node "n1" is not allowed to create nodes with a configSource'
    ],
    [
      `${LEASES}/default/leases`, node('n1'),
      'leases.coordination.orch.io "n1" is forbidden: can only access leases in the "orch-node-lease" system namespace'
    ],
    [
      `${LEASES}/orch-node-lease/leases`,
      { metadata: { name: 'n2' } },
      'leases.coordination.orch.io "n2" is forbidden: ' +
      'can only access node lease with the same name as the requesting node'
    ],
    [
      CSI_NODES, { metadata: { name: 'n2' }, spec: { drivers: [] } },
      'csinodes.storage.orch.io "n2" is forbidden: can only access CSINode with the same name as the requesting node'
    ]
  ]
  for (const [url, body, message] of refused) {
    t.match(await as('n1', 'POST', url, body), { code: 403, json: { message } }, message)
  }
  const labels = {
    'orch.io/hostname': 'n1',
    'node.orch.io/instance-type': 'm',
    'node-agent.orch.io/a': 'b',
    'topology.orch.io/zone': 'z',
    plain: 'p'
  }
  t.equal((await as('n1', 'POST', NODES, node('n1', labels))).code, 201)
  t.equal((await as('n1', 'POST', CSI_NODES, { metadata: { name: 'n1' }, spec: { drivers: [] } })).code, 201)
  t.equal((await as('n1', 'POST', `${LEASES}/orch-node-lease/leases`, { metadata: { name: 'n1' } })).code, 201)
  await made(NODES, node('n2'))
  const change = (name: string, body: Json, sub = '') => as('n1', 'PATCH', `${NODES}/${name}${sub}`, body, MERGE)
  t.match(await change('n2', { metadata: { labels: { plain: 'x' } } }), {
    code: 403, json: { message: /not allowed to modify node "n2"/ }
  })
  t.match(await change('n1', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }), {
    code: 403, json: { message: 'nodes "n1" is forbidden: node "n1" is not allowed to modify taints' }
  })
  t.match(await change('n1', { metadata: { labels: { 'role.orch.io/a': 'b' } } }, '/status'), {
    code: 403, json: { message: 'nodes "n1" is forbidden: is not allowed to modify labels: role.orch.io/a' }
  })
  t.equal((await change('n1', { metadata: { labels: { plain: 'x' } } })).code, 200)
  t.match(await as('n1', 'DELETE', `${NODES}/n2`), { code: 403 })
  t.equal((await as('n1', 'DELETE', `${NODES}/n1`)).code, 200)
})

t.test('a generated name is not the node\'s own name, whatever its prefix', async t => {
  const { as } = await start(t)
  const metadata = { generateName: 'n1' }
  for (const [url, body, why] of [
    [NODES, { metadata }, 'nodes "n1" is forbidden: node "n1" is not allowed to modify node ""'],
    [
      `${LEASES}/orch-node-lease/leases`,
      { metadata },
      'leases.coordination.orch.io "n1" is forbidden: ' +
      'can only access node lease with the same name as the requesting node'
    ],
    [
      CSI_NODES, { metadata, spec: { drivers: [] } },
      'csinodes.storage.orch.io "n1" is forbidden: can only access CSINode with the same name as the requesting node'
    ]
  ] as const) t.match(await as('n1', 'POST', url, body), { code: 403, json: { message: why } }, url)
  t.equal(
    (await as('n1', 'POST', NODES, { metadata: { name: 'n1', generateName: 'n2' } })).code, 201,
    'a name that is given counts'
  )
})

t.test('a node agent may request tokens bound to its pods and report the growth of volumes, and no more', async t => {
  const { as, made } = await start(t)
  await made('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'app' } })
  const { metadata: { uid } } = await made(PODS, pod('mine', { nodeName: 'n1', serviceAccountName: 'app' }))
  const { metadata: { uid: theirs } } = await made(PODS, pod('theirs', { nodeName: 'n2', serviceAccountName: 'app' }))
  const ask = (boundObjectRef?: Json) => as(
    'n1', 'POST', '/api/v1/namespaces/default/serviceaccounts/app/token',
    { spec: { audiences: ['a'], ...(boundObjectRef === undefined ? {} : { boundObjectRef }) } }
  )
  const to = (name: string, of?: string): Json => ({ apiVersion: 'v1', kind: 'Pod', name, uid: of })
  t.match(await ask(), {
    code: 403, json: { message: 'serviceaccounts "app" is forbidden: node requested token not bound to a pod' }
  })
  t.match(await ask(to('mine')), { code: 403, json: { message: /token with a pod binding without a uid/ } })
  t.match(await ask(to('mine', 'other')), {
    code: 403, json: { message: /the UID in the bound object reference \(other\) does not match the UID in record/ }
  })
  t.match(await ask(to('theirs', theirs)), {
    code: 403, json: { message: /bound to a pod scheduled on a different node/ }
  })
  t.equal((await ask(to('nowhere', 'x'))).code, 404)
  t.not((await ask(to('mine', uid))).code, 403)
  const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
  await made(claims, {
    metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  })
  t.match(await as('n1', 'PATCH', `${claims}/data`, {}, MERGE), {
    code: 403, json: { message: /may only update PVC status/ }
  })
  t.match(
    await as('n1', 'PATCH', `${claims}/data/status`, { metadata: { labels: { a: 'b' } } }, MERGE),
    {
      code: 403,
      json: { message: /node "n1" is not allowed to update fields other than status.capacity and status.conditions/ }
    }
  )
  t.equal(
    (await as('n1', 'PATCH', `${claims}/data/status`, { status: { capacity: { storage: '2Gi' } } }, MERGE)).code, 200
  )
})

t.test('--authorization-mode=Node without NodeRestriction gives a warning at the start', async t => {
  const warnings = async (...flags: string[]) => (await configuration(
    checkedFlags([`--data-dir=${t.testdir()}`, '--authorization-mode=Node,RBAC', ...flags])
  )).warnings.filter(text => text.includes('NodeRestriction'))
  t.equal((await warnings()).length, 1)
  t.same(await warnings('--enable-admission-plugins=NodeRestriction'), [])
})

t.test('with its gate, a node agent reports how the expansion of a volume failed', async t => {
  for (const value of [true, false]) {
    const { as, made } = await start(t, undefined, { RecoverVolumeExpansionFailure: value })
    const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
    await made(claims, {
      metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    })
    const answer = await as(
      'n1', 'PATCH', `${claims}/data/status`, { status: { resizeStatus: 'NodeExpansionFailed' } }, MERGE
    )
    t.equal(answer.json['status'].resizeStatus, value ? 'NodeExpansionFailed' : undefined)
  }
})
