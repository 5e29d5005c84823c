/**
 * `--authorization-mode=Node,RBAC`: what a node agent can reach through the pods bound to its node, and nothing else.
 */
import t from 'tap'
import { volumeReferences, podReferences } from '../../../auth/node/references.js'
import { build, type Json, type Answer, type Test } from '../../build.js'

const TOKENS = [
  'root,root,1,"system:masters"', 'n1,system:node:n1,2,"system:nodes"', 'n2,system:node:n2,3,"system:nodes"',
  'nobody,system:node:,4,"system:nodes"', 'outsider,system:node:n1,5',
  'twice,system:node:system:node:n1,6,"system:nodes"'
]
const CORE = '/api/v1/namespaces/team'
const STORAGE = '/apis/storage.orch.io/v1'
const LEASES = '/apis/coordination.orch.io/v1/namespaces'

type As = (token: string, method: string, url: string, body?: unknown, type?: string) => Promise<Answer>

const container = (more: Json = {}): Json => ({ name: 'c', image: 'i', ...more })
const pod = (name: string, spec: Json, annotations: Json = {}): Json => ({
  metadata: { name, annotations }, spec: { containers: [container()], ...spec }
})

async function start (t: Test): Promise<As> {
  const server = await build(t, {
    authentication: { tokens: `${TOKENS.join('\n')}\n` },
    authorization: { modes: ['Node', 'RBAC'] },
    admission: { disabled: ['StorageObjectInUseProtection'] }
  })
  const as: As = (token, method, url, body, type) => server.call(method, url, body, {
    authorization: `Bearer ${token}`, ...(type === undefined ? {} : { 'content-type': type })
  })
  const made = async (url: string, body: Json): Promise<void> => {
    const { code, json } = await as('root', 'POST', url, body)
    if (code !== 201) throw new Error(`${url}: ${code} ${JSON.stringify(json)}`)
  }
  await made('/api/v1/namespaces', { metadata: { name: 'team' } })
  await made(`${CORE}/serviceaccounts`, { metadata: { name: 'runner' } })
  for (const name of ['pull', 'env', 'from', 'mounted', 'projected', 'disk', 'other']) {
    await made(`${CORE}/secrets`, { metadata: { name } })
  }
  for (const name of ['env', 'from', 'mounted', 'projected', 'other']) {
    await made(`${CORE}/configmaps`, { metadata: { name } })
  }
  const claim = (name: string): Json => ({
    metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  })
  for (const name of ['data', 'loose', 'p-scratch']) await made(`${CORE}/persistentvolumeclaims`, claim(name))
  const volume = (name: string, of: string, secret: string): Json => ({
    metadata: { name },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      claimRef: { namespace: 'team', name: of },
      csi: {
        driver: 'd.example.com',
        volumeHandle: name,
        nodeStageSecretRef: { namespace: 'team', name: secret },
        controllerPublishSecretRef: { namespace: 'team', name: 'other' }
      }
    }
  })
  await made('/api/v1/persistentvolumes', volume('disk', 'data', 'disk'))
  await made('/api/v1/persistentvolumes', volume('spare', 'loose', 'other'))
  await made(`${STORAGE}/volumeattachments`, {
    metadata: { name: 'here' },
    spec: { attacher: 'd.example.com', nodeName: 'n1', source: { persistentVolumeName: 'disk' } }
  })
  await made(`${CORE}/pods`, pod('p', {
    nodeName: 'n1',
    serviceAccountName: 'runner',
    imagePullSecrets: [{ name: 'pull' }],
    initContainers: [
      container({ name: 'init', envFrom: [{ secretRef: { name: 'from' } }, { configMapRef: { name: 'from' } }] })
    ],
    containers: [
      container({
        env: [
          { name: 'A', valueFrom: { secretKeyRef: { name: 'env', key: 'k' } } },
          { name: 'B', valueFrom: { configMapKeyRef: { name: 'env', key: 'k' } } }
        ]
      })
    ],
    volumes: [
      { name: 'a', secret: { secretName: 'mounted' } }, { name: 'b', configMap: { name: 'mounted' } },
      { name: 'c', projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'projected' } }] } },
      { name: 'd', persistentVolumeClaim: { claimName: 'data' } },
      {
        name: 'scratch',
        ephemeral: {
          volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }
        }
      }
    ]
  }))
  await made(`${CORE}/pods`, pod('waiting', { volumes: [{ name: 'a', secret: { secretName: 'other' } }] }))
  return as
}

t.test('a node agent reads what its pods refer to, and nothing else', async t => {
  const as = await start(t)
  const mine = [
    ...['pull', 'env', 'from', 'mounted', 'projected', 'disk'].map(name => `${CORE}/secrets/${name}`),
    ...['env', 'from', 'mounted', 'projected'].map(name => `${CORE}/configmaps/${name}`),
    `${CORE}/persistentvolumeclaims/data`, `${CORE}/persistentvolumeclaims/p-scratch`, '/api/v1/persistentvolumes/disk',
    `${STORAGE}/volumeattachments/here`,
    `${CORE}/secrets?fieldSelector=metadata.name%3Dmounted`
  ]
  for (const url of mine) {
    t.equal((await as('n1', 'GET', url)).code, 200, url)
    for (const other of ['n2', 'nobody', 'twice', 'outsider']) {
      t.equal((await as(other, 'GET', url)).code, 403, `${other} ${url}`)
    }
  }
  const others = [
    `${CORE}/secrets/other`, `${CORE}/secrets`, '/api/v1/secrets', `${CORE}/configmaps/other`, `${CORE}/configmaps`,
    `${CORE}/persistentvolumeclaims/loose`, `${CORE}/persistentvolumeclaims`, '/api/v1/persistentvolumes/spare',
    '/api/v1/persistentvolumes', `${STORAGE}/volumeattachments`, `${CORE}/serviceaccounts/runner`
  ]
  for (const url of others) t.equal((await as('n1', 'GET', url)).code, 403, url)
  t.match(
    (await as('n1', 'GET', `${CORE}/secrets/other`)).json['message'],
    /no relationship found between node "n1" and this object/
  )
  for (const method of ['PUT', 'DELETE']) {
    t.equal((await as('n1', method, `${CORE}/secrets/mounted`, {})).code, 403, method)
  }
  t.equal(
    (await as('n1', 'PATCH', `${CORE}/persistentvolumeclaims/data/status`, {}, 'application/merge-patch+json')).code,
    200
  )
  t.equal(
    (await as('n1', 'PATCH', `${CORE}/persistentvolumeclaims/data`, {}, 'application/merge-patch+json')).code, 403
  )
})

t.test('node agents have the rights of the default role of nodes', async t => {
  const as = await start(t)
  for (const url of [
    '/api/v1/nodes', '/api/v1/pods', '/api/v1/services', '/apis/node.orch.io/v1/runtimeclasses', `${STORAGE}/csidrivers`
  ]) {
    t.equal((await as('n1', 'GET', url)).code, 200, url)
  }
  t.equal((await as('n1', 'POST', '/api/v1/nodes', { metadata: { name: 'n1' } })).code, 201)
  for (const url of ['/apis/apps/v1/deployments', '/apis/rbac.authorization.orch.io/v1/roles', '/metrics']) {
    t.equal((await as('n1', 'GET', url)).code, 403, url)
  }
  t.equal((await as('outsider', 'GET', '/api/v1/nodes')).code, 403, 'a name alone makes no node')
  t.match((await as('nobody', 'GET', '/api/v1/nodes')).json['message'], /unknown node for user "system:node:"/)
})

t.test('a node agent may request tokens for the accounts of its pods', async t => {
  const as = await start(t)
  const token = (account: string): string => `${CORE}/serviceaccounts/${account}/token`
  t.equal((await as('n1', 'POST', token('runner'), { spec: {} })).code, 201)
  t.equal((await as('n1', 'POST', token('default'), { spec: {} })).code, 403)
  t.equal((await as('n2', 'POST', token('runner'), { spec: {} })).code, 403)
})

t.test('a node agent has access to the lease and the CSINode of its name', async t => {
  const as = await start(t)
  const lease = { metadata: { name: 'n1' }, spec: { holderIdentity: 'n1' } }
  const mine = `${LEASES}/orch-node-lease/leases`
  t.equal((await as('n1', 'POST', mine, lease)).code, 201)
  t.equal((await as('n1', 'GET', `${mine}/n1`)).code, 200)
  for (const [method, url] of [
    ['GET', `${mine}/n2`], ['GET', mine], ['DELETE', `${mine}/n2`], ['GET', `${LEASES}/team/leases/n1`],
    ['POST', `${LEASES}/team/leases`]
  ] as const) {
    t.equal((await as('n1', method, url, method === 'POST' ? lease : undefined)).code, 403, `${method} ${url}`)
  }
  t.equal(
    (await as('n1', 'POST', `${STORAGE}/csinodes`, { metadata: { name: 'n1' }, spec: { drivers: [] } })).code, 201
  )
  t.equal((await as('n1', 'GET', `${STORAGE}/csinodes/n1`)).code, 200)
  t.equal((await as('n2', 'GET', `${STORAGE}/csinodes/n1`)).code, 403)
})

t.test(
  'a node agent gains access with the binding of a pod and loses it with the deletion, at the next request',
  async t => {
    const as = await start(t)
    const url = `${CORE}/secrets/other`
    t.equal((await as('n2', 'GET', url)).code, 403)
    t.equal(
      (await as('root', 'POST', `${CORE}/pods/waiting/binding`, {
        metadata: { name: 'waiting' }, target: { kind: 'Node', name: 'n2' }
      })).code,
      201
    )
    t.equal((await as('n2', 'GET', url)).code, 200)
    await as('root', 'DELETE', `${CORE}/pods/waiting`, { gracePeriodSeconds: 0 })
    t.equal((await as('n2', 'GET', url)).code, 403)
    await as('root', 'DELETE', '/api/v1/persistentvolumes/disk')
    t.equal((await as('n1', 'GET', `${CORE}/secrets/disk`)).code, 403, 'and with the volume')
  }
)

t.test('references of mirror pods give no access; secrets of volumes of every kind are references', async t => {
  const names = (spec: Json, annotations?: Json): string[] => [
    ...podReferences({
      ...pod('p', spec, annotations),
      metadata: { name: 'p', namespace: 'n', annotations: annotations ?? {} },
      status: {}
    } as never)
  ]
  t.strictSame(names({ serviceAccountName: 'a' }, { 'orch.io/config.mirror': 'x' }), [])
  for (const [kind, source] of Object.entries({
    rbd: { secretRef: { name: 's' } },
    cephfs: { secretRef: { name: 's' } },
    iscsi: { secretRef: { name: 's' } },
    flexVolume: { secretRef: { name: 's' } },
    csi: { nodePublishSecretRef: { name: 's' } },
    azureFile: { secretName: 's' }
  })) {
    t.strictSame(names({ volumes: [{ name: 'v', [kind]: source }] }), ['secrets/n/s'], kind)
  }
  const claimed = volumeReferences({
    spec: { claimRef: { namespace: 'n', name: 'c' }, azureFile: { secretName: 's' } }
  } as never)
  t.strictSame([...claimed?.secrets ?? []], ['secrets/n/s'], 'in the namespace of the claim')
  t.equal(volumeReferences({ spec: { azureFile: { secretName: 's' } } } as never), undefined)
})

t.test('updates of the graph are timed by kind', async t => {
  const as = await start(t)
  t.equal((await as('n1', 'GET', `${CORE}/secrets/pull`)).code, 200, 'the graph has caught up')
  t.equal((await as('root', 'DELETE', `${STORAGE}/volumeattachments/here`)).code, 200)
  t.equal((await as('n1', 'GET', `${STORAGE}/volumeattachments/here`)).code, 403)
  const { body } = await as('root', 'GET', '/metrics')
  for (const [operation, count] of [
    ['AddPod', '[2-9]'], ['AddPV', '[2-9]'], ['AddVolumeAttachment', '[1-9]'], ['DeleteVolumeAttachment', '1']
  ]) {
    t.match(
      body,
      new RegExp(`^node_authorizer_graph_actions_duration_seconds_count\\{operation="${operation}"\\} ${count}$`, 'm')
    )
  }
})

t.test('the list of rules is complete for users who are not node agents', async t => {
  const as = await start(t)
  const review = async (token: string) => (await as(
    token, 'POST', '/apis/authorization.orch.io/v1/selfsubjectrulesreviews', { spec: { namespace: 'team' } }
  )).json.status
  for (const token of ['root', 'outsider']) {
    const { incomplete, evaluationError } = await review(token)
    t.same([incomplete, evaluationError], [false, undefined], token)
  }
  t.match(await review('n1'), {
    incomplete: true, evaluationError: 'node authorizer does not support user rule resolution'
  })
})
