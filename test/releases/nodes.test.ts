/** What node agents may do where release 1.36 is emulated. */
import t from 'tap'
import { build, type Json } from '../build.js'

const TOKENS = [
  'root,root,1,"system:masters"', 'n1,system:node:n1,2,"system:nodes"', 'n2,system:node:n2,3,"system:nodes"'
]
const PODS = '/api/v1/namespaces/default/pods'
/** Of system:node:n2; openssl has made it. */
const CSR = `-----BEGIN CERTIFICATE REQUEST-----
MIHrMIGSAgEAMDAxFTATBgNVBAoMDHN5c3RlbTpub2RlczEXMBUGA1UEAwwOc3lz
dGVtOm5vZGU6bjIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATC/IdYkKF34IS/
UUvEIFcwe0PGWVEMAxYzrE9497NBgFpzrPg3IIZzcsXewvsdBGijKhLBBN12HmEQ
hxl27TrvoAAwCgYIKoZIzj0EAwIDSAAwRQIhALVJPmfbR/o4Sxb+PTnfO4RZ8KOy
jzN78Vy7T8JjGBA3AiANirpr3edCJKF17LHPevuCUfY1G5+kB5XyW8WLGzuBZA==
-----END CERTIFICATE REQUEST-----
`

t.test('a node agent reads its own node and pods', async t => {
  for (const emulatedVersion of ['1.24', '1.36'] as const) {
    const server = await build(t, {
      emulatedVersion, authentication: { tokens: `${TOKENS.join('\n')}\n` }, authorization: { modes: ['Node', 'RBAC'] }
    })
    const as = async (token: string, method: string, url: string, body?: Json) =>
      (await server.call(method, url, body, { authorization: `Bearer ${token}` })).code
    for (const name of ['n1', 'n2']) await as('root', 'POST', '/api/v1/nodes', { metadata: { name } })
    await as('root', 'POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'runner' } })
    t.equal(
      await as('root', 'POST', PODS, {
        metadata: { name: 'p' },
        spec: { nodeName: 'n1', serviceAccountName: 'runner', containers: [{ name: 'c', image: 'i' }] }
      }),
      201
    )
    const isLater = emulatedVersion === '1.36'
    const refused = isLater ? 403 : 200
    const expected: ReadonlyArray<readonly [token: string, method: string, url: string, code: number]> = [
      ['n1', 'GET', '/api/v1/nodes/n1', 200], ['n1', 'GET', '/api/v1/nodes?fieldSelector=metadata.name=n1', 200],
      ['n1', 'GET', '/api/v1/nodes/n2', refused], ['n1', 'GET', '/api/v1/nodes', refused],
      ['n1', 'GET', `${PODS}/p`, 200], ['n2', 'GET', `${PODS}/p`, refused],
      ['n1', 'GET', '/api/v1/pods?fieldSelector=spec.nodeName=n1', 200],
      ['n2', 'GET', '/api/v1/pods?fieldSelector=spec.nodeName=n1', refused],
      ['n1', 'GET', '/api/v1/pods?fieldSelector=spec.nodeName!=n1', refused], ['n1', 'GET', '/api/v1/pods', refused],
      ['n1', 'GET', `${PODS}?fieldSelector=spec.nodeName=n1,status.phase=Pending`, 200],
      ['n1', 'GET', '/api/v1/namespaces/default/serviceaccounts/runner', isLater ? 200 : 403],
      ['n2', 'GET', '/api/v1/namespaces/default/serviceaccounts/runner', 403]
    ]
    for (const [token, method, url, code] of expected) {
      t.equal(await as(token, method, url), code, `${emulatedVersion} ${token} ${method} ${url}`)
    }
  }
})

async function restricted (emulatedVersion: '1.24' | '1.36') {
  const server = await build(t, {
    emulatedVersion,
    authentication: { tokens: `${TOKENS.join('\n')}\n` },
    authorization: { modes: ['Node', 'RBAC'] },
    admission: { enabled: ['NodeRestriction'] }
  })
  const as = async (token: string, method: string, url: string, body?: Json, type = 'application/json') =>
    await server.call(method, url, body, { authorization: `Bearer ${token}`, 'content-type': type })
  await as('root', 'POST', '/api/v1/nodes', { metadata: { name: 'n1' } })
  return { server, as }
}
const MERGE = 'application/merge-patch+json'

t.test('a node agent gets tokens for the audiences that its pod asks for, or that are granted', async t => {
  const { as } = await restricted('1.36')
  await as('root', 'POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'runner' } })
  for (const [name, tokenRequests] of [
    ['one.csi', [{ audience: 'of-driver' }]], ['two.csi', [{ audience: 'of-volume' }]]
  ] as const) {
    await as('root', 'POST', '/apis/storage.orch.io/v1/csidrivers', { metadata: { name }, spec: { tokenRequests } })
  }
  await as('root', 'POST', '/api/v1/persistentvolumes', {
    metadata: { name: 'v' },
    spec: {
      capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], csi: { driver: 'two.csi', volumeHandle: 'h' }
    }
  })
  await as('root', 'POST', '/api/v1/namespaces/default/persistentvolumeclaims', {
    metadata: { name: 'c' },
    spec: { volumeName: 'v', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  })
  const volumes = [
    { name: 'a', projected: { sources: [{ serviceAccountToken: { path: 't', audience: 'of-pod' } }] } },
    { name: 'b', csi: { driver: 'one.csi' } },
    { name: 'c', persistentVolumeClaim: { claimName: 'c' } }
  ]
  const pod = await as('root', 'POST', PODS, {
    metadata: { name: 'p' },
    spec: { nodeName: 'n1', serviceAccountName: 'runner', containers: [{ name: 'c', image: 'i' }], volumes }
  })
  t.equal(pod.code, 201)
  const ask = async (...audiences: string[]) => await as(
    'n1', 'POST', '/api/v1/namespaces/default/serviceaccounts/runner/token',
    { spec: { audiences, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: pod.json['metadata'].uid } } }
  )
  for (const audience of ['of-pod', 'of-driver', 'of-volume']) t.equal((await ask(audience)).code, 201, audience)
  t.equal((await ask()).code, 201, 'the token that every pod has')
  t.match(await ask('other'), { code: 403, json: { message: /audience "other" not found in pod spec volume/ } })
  t.match(await ask('of-pod', 'of-driver'), { code: 403, json: { message: /may only request 0 or 1 audiences/ } })
  const rbac = '/apis/rbac.authorization.orch.io/v1'
  await as('root', 'POST', `${rbac}/clusterroles`, {
    metadata: { name: 'audience' },
    rules: [{ apiGroups: [''], verbs: ['request-serviceaccounts-token-audience'], resources: ['other'] }]
  })
  await as('root', 'POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: 'audience' },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'audience' },
    subjects: [{ kind: 'Group', name: 'system:nodes', apiGroup: 'rbac.authorization.orch.io' }]
  })
  t.equal((await ask('other')).code, 201, 'it is granted')
})

t.test('a node agent changes no owners of its node, and says nothing of claims to devices', async t => {
  const status = { status: { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'stolen' }] } }
  for (const [emulatedVersion, code] of [['1.24', 200], ['1.36', 403]] as const) {
    const { as } = await restricted(emulatedVersion)
    const owners = { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '1' }] } }
    t.equal((await as('n1', 'PATCH', '/api/v1/nodes/n1', owners, MERGE)).code, code)
    await as('root', 'POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
    t.equal(
      (await as('root', 'POST', PODS, {
        metadata: { name: 'p' }, spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] }
      })).code,
      201
    )
    t.equal((await as('n1', 'PATCH', `${PODS}/p/status`, status, MERGE)).code, code)
  }
})

t.test('a node agent asks for certificates of its own node', async t => {
  const request = (name: string): Json => ({
    metadata: { name },
    spec: {
      request: Buffer.from(CSR).toString('base64'),
      signerName: 'orch.io/orch-apiserver-client-node-agent',
      usages: ['client auth']
    }
  })
  const path = '/apis/certificates.orch.io/v1/certificatesigningrequests'
  const roles = '/apis/rbac.authorization.orch.io/v1/clusterrolebindings'
  for (const [emulatedVersion, code] of [['1.24', 201], ['1.36', 403]] as const) {
    const { as } = await restricted(emulatedVersion)
    await as('root', 'POST', roles, {
      metadata: { name: 'csr' },
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'Group', name: 'system:nodes', apiGroup: 'rbac.authorization.orch.io' }]
    })
    t.equal((await as('n2', 'POST', path, request('mine'))).code, 201, 'the request is of n2')
    t.equal((await as('n1', 'POST', path, request('theirs'))).code, code)
  }
})

t.test('a pod has the zone and the region of its node', async t => {
  const topology = { 'topology.orch.io/zone': 'z', 'topology.orch.io/region': 'r' }
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  for (const emulatedVersion of ['1.24', '1.36'] as const) {
    const server = await build(t, { emulatedVersion })
    await server.post('/api/v1/nodes', { metadata: { name: 'n1', labels: { ...topology, other: 'x' } } })
    await server.post(PODS, {
      metadata: { name: 'made', labels: { a: 'b', 'topology.orch.io/zone': 'wrong' } },
      spec: { ...spec, nodeName: 'n1' }
    })
    await server.post(PODS, { metadata: { name: 'bound', labels: { a: 'b' } }, spec })
    t.equal(
      (await server.post(`${PODS}/bound/binding`, {
        metadata: { name: 'bound' }, target: { kind: 'Node', name: 'n1' }
      })).code,
      201
    )
    const labels = async (name: string) => (await server.get(`${PODS}/${name}`)).json['metadata'].labels as Json
    const isLater = emulatedVersion === '1.36'
    t.same(await labels('made'), isLater ? { a: 'b', ...topology } : { a: 'b', 'topology.orch.io/zone': 'wrong' })
    t.same(await labels('bound'), { a: 'b', ...isLater ? topology : {} })
    t.equal((await server.post(PODS, { metadata: { name: 'static' }, spec: { ...spec, nodeName: 'none' } })).code, 201)
    await server.post(PODS, { metadata: { name: 'late' }, spec })
    t.equal(
      (await server.post(`${PODS}/late/binding`, {
        metadata: { name: 'late' }, target: { kind: 'Node', name: 'none' }
      })).code,
      201,
      'nor has the plugin anything to say of a node that is not there'
    )
  }
})

t.test('a binding ends the nomination of a node', async t => {
  for (const emulatedVersion of ['1.24', '1.36'] as const) {
    const server = await build(t, { emulatedVersion })
    await server.post(PODS, { metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i' }] } })
    t.equal((await server.patch(`${PODS}/a/status`, { status: { nominatedNodeName: 'n2' } })).code, 200)
    t.equal(
      (await server.post(`${PODS}/a/binding`, { metadata: { name: 'a' }, target: { kind: 'Node', name: 'n1' } })).code,
      201
    )
    t.equal(
      (await server.get(`${PODS}/a`)).json['status'].nominatedNodeName, emulatedVersion === '1.36' ? undefined : 'n2'
    )
  }
})

t.test('nodes declare sorted features, have swap or none, and ranges that are told once', async t => {
  const [later, earlier] = [await build(t, { emulatedVersion: '1.36' }), await build(t)]
  const causes = (answer: { json: Json }): string[] =>
    ((answer.json['details'] as Json | undefined)?.['causes'] as Json[] | undefined ?? [])
      .map(({ reason, field }) => `${String(reason).replace('FieldValue', '')} ${String(field)}`).toSorted()
  const node = (more: Json): Json => ({ metadata: { name: 'n' }, ...more })
  t.same(causes(await later.post(
    '/api/v1/nodes', node({ status: { declaredFeatures: ['A', 'A', 'b', 'C/d', 'B/1'] } })
  )),
  [
    'Duplicate status.declaredFeatures[1]', 'Invalid status.declaredFeatures[2]',
    'Invalid status.declaredFeatures[3]', 'Invalid status.declaredFeatures[4]', 'Invalid status.declaredFeatures[4]'
  ])
  const info = Object.fromEntries([
    'machineID', 'systemUUID', 'bootID', 'kernelVersion', 'osImage', 'containerRuntimeVersion', 'kubeletVersion',
    'kubeProxyVersion', 'operatingSystem', 'architecture'
  ].map(name => [name, '']))
  t.same(
    causes(await later.post('/api/v1/nodes', node({ status: { nodeInfo: { ...info, swap: { capacity: 0 } } } }))),
    ['Invalid metadata.nodeSwapStatus.capacity']
  )
  const ranges = node({ spec: { podCIDRs: ['10.0.0.0/16', '10.0.0.0/16'] } })
  t.same(
    [causes(await later.post('/api/v1/nodes', ranges)), causes(await earlier.post('/api/v1/nodes', ranges))],
    [['Invalid spec.podCIDRs'], ['Duplicate spec.podCIDRs[1]', 'Invalid spec.podCIDRs']]
  )
  t.equal((await later.post('/api/v1/nodes', node({ status: { declaredFeatures: ['A/b', 'B'] } }))).code, 201)
  t.same(
    causes(await later.patch('/api/v1/nodes/n/status', { status: { declaredFeatures: ['a'] } })),
    ['Invalid status.declaredFeatures[0]']
  )
})
