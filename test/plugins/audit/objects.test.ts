/** Objects of requests in audit events, through the whole server. */
import { EventEmitter, once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Authorizer } from '../../../auth/authorizer.js'
import type { AuditPolicy } from '../../../schemas/api/audit/policy.js'
import type { ServerOptions } from '../../../app.js'
import { build, listen, Watch, type Client, type Json, type Test } from '../../build.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
type Rules = NonNullable<AuditPolicy['rules']>

async function start (
  t: Test & { testdir: () => string }, rules: Rules, more: Partial<AuditPolicy> = {}, options: ServerOptions = {}
): Promise<{ server: Client, events: () => Promise<Json[]> }> {
  const path = join(t.testdir(), 'audit.log')
  const server = await build(
    t,
    {
      audit: { path, policy: { apiVersion: 'audit.orch.io/v1', kind: 'Policy', metadata: {}, rules, ...more } },
      ...options
    }
  )
  return {
    server,
    events: async () => {
      await server.app.close()
      return readFileSync(path, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line) as Json)
        .filter(({ requestURI }) => requestURI !== '/readyz')
    }
  }
}

t.test('at level RequestResponse an event has what was sent, with its defaults, and what was answered', async t => {
  const { server, events } = await start(
    t, [{ level: 'RequestResponse', resources: [{ resources: ['configmaps', 'secrets'] }] }],
    { omitStages: ['RequestReceived'] }
  )
  const made = await server.post(CONFIGS, { metadata: { generateName: 'made-' }, data: { a: 'b' } })
  t.equal(made.code, 201)
  const { name } = made.json['metadata']
  await server.patch(`${CONFIGS}/${name}`, { data: { a: null } })
  await server.call(
    'PATCH', `${CONFIGS}/${name}?fieldManager=me`, 'apiVersion: v1\nkind: ConfigMap\ndata: {c: d}\n',
    { 'content-type': 'application/apply-patch+yaml' }
  )
  await server.get(`${CONFIGS}/${name}`)
  await server.get(`${CONFIGS}/${name}`, { accept: 'application/vnd.orch.protobuf' })
  await server.get(CONFIGS)
  await server.get(CONFIGS, { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' })
  await server.get(`${CONFIGS}/none`)
  await server.post('/api/v1/namespaces/default/secrets', { metadata: { name: 's' } })
  await server.delete(`${CONFIGS}/${name}`, { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 })
  const [created, patched, applied, got, gotProtobuf, listed, tabled, missing, secret, deleted] = await events()
  t.match(created, {
    level: 'RequestResponse',
    stage: 'ResponseComplete',
    objectRef: { resource: 'configmaps', namespace: 'default' },
    requestObject: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { generateName: 'made-' }, data: { a: 'b' } },
    responseStatus: { metadata: {}, code: 201 }
  })
  t.strictSame(created?.['responseObject'], made.json)
  t.strictSame(patched?.['requestObject'], { data: { a: null } }, 'a patch as it was sent')
  t.strictSame(applied?.['requestObject'], { apiVersion: 'v1', kind: 'ConfigMap', data: { c: 'd' } }, 'YAML as JSON')
  t.equal(got?.['requestObject'], undefined)
  t.match(got?.['responseObject'], { kind: 'ConfigMap', metadata: { name } })
  t.strictSame(gotProtobuf?.['responseObject'], got?.['responseObject'], 'in whatever form it went out')
  t.match(listed?.['responseObject'], { kind: 'ConfigMapList', items: [{ metadata: { name } }] })
  t.match(tabled?.['responseObject'], { kind: 'Table', rows: [{ cells: [name, 1] }] })
  t.match(missing, {
    responseStatus: { status: 'Failure', reason: 'NotFound', code: 404 },
    responseObject: { kind: 'Status', reason: 'NotFound' }
  })
  t.match(secret?.['requestObject'], { type: 'Opaque', metadata: { creationTimestamp: null } }, 'with its defaults')
  t.match(deleted, {
    requestObject: { kind: 'DeleteOptions', gracePeriodSeconds: 0 },
    responseStatus: { status: 'Success', details: { name, kind: 'configmaps' }, code: 200 },
    responseObject: { status: 'Success' }
  })
})

t.test('1.36 records no creation time that is not set', async t => {
  for (const [emulatedVersion, metadata] of [
    ['1.24', { name: 'c', creationTimestamp: null }], ['1.36', { name: 'c' }]
  ] as const) {
    const { server, events } = await start(
      t, [{ level: 'Request', verbs: ['create'] }], { omitStages: ['RequestReceived'] }, { emulatedVersion }
    )
    await server.post(CONFIGS, { metadata: { name: 'c' } })
    t.strictSame((await events()).map(({ requestObject }) => requestObject.metadata), [metadata], emulatedVersion)
  }
})

t.test('at level Metadata there is no object, but the names that it alone has', async t => {
  const { server, events } = await start(
    t, [{ level: 'Metadata', verbs: ['create'] }, { level: 'None' }], { omitStages: ['RequestReceived'] }
  )
  await server.post('/api/v1/namespaces/default/secrets', {
    metadata: { name: 'hidden' }, stringData: { password: 'sesame' }
  })
  await server.get('/api/v1/namespaces/default/secrets/hidden')
  const written = await events()
  t.match(written, [
    {
      level: 'Metadata',
      verb: 'create',
      objectRef: { resource: 'secrets', namespace: 'default', name: 'hidden', apiVersion: 'v1' }
    }
  ])
  t.notMatch(JSON.stringify(written), /sesame|requestObject|responseObject/)
})

t.test(
  'at level Request there is no response object, and managedFields are omitted if the policy omits them', async t => {
    const { server, events } = await start(
      t, [{ level: 'Request', namespaces: ['default'] }, { level: 'RequestResponse' }],
      { omitStages: ['RequestReceived'], omitManagedFields: true }
    )
    await server.post(CONFIGS, { metadata: { name: 'one' }, data: { a: 'b' } })
    const { json } = await server.get(`${CONFIGS}/one`)
    await server.put(`${CONFIGS}/one`, json)
    await server.get('/api/v1/configmaps')
    await server.get('/api/v1/configmaps?includeObject=Object', {
      accept: 'application/json;as=Table;g=meta.orch.io;v=v1'
    })
    const [created, , updated, listed, tabled] = await events()
    t.equal(created?.['responseObject'], undefined)
    t.ok(json['metadata'].managedFields.length > 0)
    t.match(updated, {
      requestObject: { metadata: { name: 'one' } },
      objectRef: { name: 'one', uid: json['metadata'].uid, resourceVersion: json['metadata'].resourceVersion }
    })
    t.notMatch(JSON.stringify([created, updated, listed, tabled]), /managedFields/)
    t.match(
      tabled?.['responseObject'], { kind: 'Table', rows: [{ object: { kind: 'ConfigMap', data: { a: 'b' } } }] },
      'in the rows of a table either'
    )
  }
)

t.test('a watch has an event when it begins to be answered, and its objects never', async t => {
  const path = join(t.testdir(), 'audit.log')
  const server = await listen(t, {
    audit: {
      path,
      policy: {
        apiVersion: 'audit.orch.io/v1',
        kind: 'Policy',
        metadata: {},
        rules: [{ level: 'RequestResponse', verbs: ['watch'] }]
      }
    }
  })
  const watch = await Watch.open(t, `${server.url}${CONFIGS}?watch=1`)
  await server.post(CONFIGS, { metadata: { name: 'seen' } })
  await watch.until(() => watch.events.some(({ object }) => object['metadata'].name === 'seen'))
  watch.close()
  await server.app.close()
  const events = readFileSync(path, 'utf8').split('\n').filter(Boolean).map(line => JSON.parse(line) as Json)
  t.strictSame(events.map(({ stage }) => stage), ['RequestReceived', 'ResponseStarted', 'ResponseComplete'])
  t.notMatch(JSON.stringify(events), /seen/)
})

t.test('a watch that is refused begins and ends with why', async t => {
  const { server, events } = await start(
    t, [{ level: 'RequestResponse', verbs: ['watch'] }], { omitStages: ['RequestReceived'] }
  )
  await server.get(`${CONFIGS}?watch=1&resourceVersion=nonsense`)
  const refused = {
    responseStatus: { status: 'Failure', reason: 'BadRequest', code: 400 },
    responseObject: { kind: 'Status', code: 400 }
  }
  t.match(await events(), [{ stage: 'ResponseStarted', ...refused }, { stage: 'ResponseComplete', ...refused }])
})

t.test('at level Metadata an event has the reason of a refused body, and nothing of the body', async t => {
  const { server, events } = await start(t, [{ level: 'Metadata' }], { omitStages: ['RequestReceived'] })
  const SECRET = 'S3same'
  const pods = '/api/v1/namespaces/default/pods'
  const json = { 'content-type': 'application/json' }
  await server.post(CONFIGS, { metadata: { name: 'there' } })
  const refused = [
    await server.call('POST', CONFIGS, `{"metadata":{"name":"a"},"data":{"k":${SECRET}`, json),
    await server.post(`${CONFIGS}?fieldValidation=Strict`, { metadata: { name: 'a' }, [SECRET]: 1 }),
    await server.post(CONFIGS, { metadata: { name: `${SECRET}!` }, data: { [`${SECRET}/`]: 'x' } }),
    await server.post(pods, {
      metadata: { name: 'p', labels: { a: `${SECRET}!` } },
      spec: { containers: [{ name: 'c', image: 'i', imagePullPolicy: SECRET }] }
    }),
    await server.patch(
      `${CONFIGS}/there`, [{ op: 'test', path: '/metadata/name', value: SECRET }], 'application/json-patch+json'
    ),
    await server.put(`${CONFIGS}/there`, { metadata: { name: SECRET } })
  ]
  for (const { code, body } of refused) t.ok([400, 422].includes(code), `${code} ${body}`)
  t.equal(refused.filter(({ body }) => body.includes(SECRET)).length >= 4, true, 'clients are told more')
  await server.get(`${CONFIGS}/none`)
  await server.post(CONFIGS, { metadata: { name: 'there' } })
  await server.get(`${CONFIGS}?limit=x`)
  const [, ...all] = await events()
  const [missing, exists, query] = all.splice(-3)
  t.notMatch(JSON.stringify(all), SECRET)
  for (const { responseStatus: { reason, message, code, details } } of all) {
    t.match(
      { reason, message, details },
      { reason: code === 400 ? 'BadRequest' : 'Invalid', message: reason, details: undefined }
    )
  }
  t.match(missing, { responseStatus: { message: 'configmaps "none" not found', details: { name: 'none' } } })
  t.match(exists, { responseStatus: { message: 'configmaps "there" already exists' }, objectRef: { name: 'there' } })
  t.match(query, { responseStatus: { code: 400, message: /limit/ } }, 'a read has no body')
})

t.test('a list of one name names it, and a refusal has its causes', async t => {
  const { server, events } = await start(
    t, [{ level: 'Request', resources: [{ resources: ['configmaps'] }] }], { omitStages: ['RequestReceived'] }
  )
  await server.get(`${CONFIGS}?fieldSelector=metadata.name%3Done`)
  const { json } = await server.post(CONFIGS, { metadata: { name: 'No Name' } })
  const [listed, refused] = await events()
  t.match(listed, { verb: 'list', objectRef: { name: 'one' } })
  t.match(refused, {
    responseStatus: {
      reason: 'Invalid', details: { causes: [{ reason: 'FieldValueInvalid', field: 'metadata.name' }] }
    }
  })
  t.strictSame(refused?.['responseStatus'].details, json['details'])
})

t.test('a client that disconnects before the response leaves an event that says so', async t => {
  const path = join(t.testdir(), 'audit.log')
  const told = new EventEmitter()
  const asked = once(told, 'asked')
  const plugin = {
    name: 'Holds',
    handles: [{ operations: ['CREATE' as const], groups: [''], resources: ['configmaps'] }],
    mutate: async () => { told.emit('asked'); await once(told, 'gone') }
  }
  const server = await listen(t, {
    audit: {
      path,
      policy: {
        apiVersion: 'audit.orch.io/v1',
        kind: 'Policy',
        metadata: {},
        rules: [{ level: 'Metadata', verbs: ['create'] }],
        omitStages: ['RequestReceived']
      }
    },
    admission: { plugins: [plugin] }
  })
  const leaving = new AbortController()
  const gone = fetch(`${server.url}${CONFIGS}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"metadata":{"name":"x"}}',
    signal: leaving.signal
  }).catch(() => 'gone')
  await asked
  leaving.abort()
  t.equal(await gone, 'gone')
  while (!existsSync(path) || readFileSync(path, 'utf8') === '') await new Promise(resolve => { setImmediate(resolve) })
  told.emit('gone')
  await server.app.close()
  const [event] = readFileSync(path, 'utf8').split('\n').filter(Boolean).map(line => JSON.parse(line) as Json)
  t.match(event, {
    stage: 'ResponseComplete',
    responseStatus: { metadata: {}, status: 'Success', message: 'Connection closed early', code: 200 }
  })
})

t.test('a defect of ours leaves an event of its own stage', async t => {
  const path = join(t.testdir(), 'audit.log')
  const plugin = {
    name: 'Breaks',
    handles: [{ operations: ['CREATE' as const], groups: [''], resources: ['configmaps'] }],
    mutate: () => { throw new TypeError('broken') }
  }
  const server = await build(t, { audit: { path }, admission: { plugins: [plugin] } })
  t.equal((await server.post(CONFIGS, { metadata: { name: 'x' } })).code, 500)
  await server.app.close()
  const events = readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as Json)
    .filter(({ verb }) => verb === 'create')
  t.match(events, [
    { stage: 'RequestReceived' }, { stage: 'Panic', responseStatus: { code: 500, reason: 'InternalError' } }
  ])
  t.notMatch(JSON.stringify(events), /broken/)
})

t.test('the event of a failed authorization has no details of the failure', async t => {
  const path = join(t.testdir(), 'audit.log')
  const unsure = new Error('secret detail')
  const authorizer: Authorizer = {
    name: 'unsure',
    authorize: ({ info }) => info.isResourceRequest
      ? { decision: info.name === 'denied' ? 'Deny' : 'NoOpinion', reason: 'unsure', evaluationError: unsure }
      : { decision: 'Allow' }
  }
  const server = await build(t, {
    audit: { path }, authorization: { authorizers: [authorizer], modes: ['AlwaysDeny'] }
  })
  for (const name of ['one', 'denied']) t.equal((await server.get(`${CONFIGS}/${name}`)).code, 500)
  await server.app.close()
  const written = readFileSync(path, 'utf8')
  t.notMatch(written, /secret detail/)
  const done = written.split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as Json)
    .filter(({ stage, objectRef }) => stage !== 'RequestReceived' && objectRef?.resource === 'configmaps')
  t.strictSame(done.map(({ annotations }) => annotations as unknown), [
    { 'authorization.orch.io/reason': 'internal error' }, { 'authorization.orch.io/reason': 'internal error' }
  ])
})

t.test('events of the public version have the names that clients with public names see', async t => {
  const path = join(t.testdir(), 'audit.log')
  const server = await build(t, {
    compatNames: true,
    authorization: { modes: ['RBAC'] },
    authentication: {
      tokens:
        'root,root,1,system:masters\nnode,system:serviceaccount:kube-system:a,2,system:serviceaccounts:kube-system\n'
    },
    audit: {
      path,
      version: 'audit.k8s.io/v1',
      policy: {
        apiVersion: 'audit.orch.io/v1',
        kind: 'Policy',
        metadata: {},
        rules: [{ level: 'RequestResponse' }],
        omitStages: ['RequestReceived']
      }
    }
  })
  const as = (user: string, more: Record<string, string> = {}): Record<string, string> => ({
    authorization: `Bearer ${user}`, ...more
  })
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
  const rule = { apiGroups: ['storage.k8s.io'], resources: ['csinodes'], verbs: ['get'] }
  await server.post(
    roles,
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: {
        name: 'system:kube-scheduler-x',
        labels: { 'kubernetes.io/bootstrapping': 'x' },
        annotations: { note: 'about kubernetes.io\u009b' }
      },
      rules: [rule]
    },
    as('root')
  )
  await server.call(
    'PATCH', `${roles}/system:kube-scheduler-x`,
    { metadata: { labels: { 'kubernetes.io/bootstrapping': 'y' } }, rules: [rule, rule] },
    as('root', { 'content-type': 'application/merge-patch+json' })
  )
  await server.get(`${roles}?fieldSelector=metadata.name%3Dsystem:kube-scheduler`, as('root'))
  await server.get(`${roles}/system:kube-scheduler`, as('root', { 'impersonate-user': 'system:kube-scheduler' }))
  await server.get('/api/v1/namespaces/kube-system/secrets/a', as('node'))
  await server.get(
    '/api/v1/namespaces/kube-system', as('root', { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' })
  )
  await server.post(
    '/api/v1/namespaces/default/configmaps', { metadata: { name: 'large' }, data: { a: 'x'.repeat(600_000) } },
    as('root')
  )
  await server.app.close()
  const lines = readFileSync(path, 'utf8').split('\n').filter(line => line.includes('"requestURI":"/api'))
  t.notMatch(lines.join('\n').replace(/"manager":"orch-apiserver"|"orch-scheduler"/g, ''), /orch/)
  t.notMatch(lines.join(''), /\u009b/)
  const [created, patched, listed, impersonated, refused, tabled, large] = lines.map(line => JSON.parse(line) as Json)
  t.match(created, {
    kind: 'Event', apiVersion: 'audit.k8s.io/v1', verb: 'create', user: { username: 'root' },
    objectRef: { resource: 'clusterroles', name: 'system:kube-scheduler-x', apiGroup: 'rbac.authorization.k8s.io' },
    requestObject: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: { labels: { 'kubernetes.io/bootstrapping': 'x' } },
      rules: [rule]
    },
    responseObject: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: { annotations: { note: 'about kubernetes.io\u009b' } },
      rules: [rule]
    },
    annotations: { 'authorization.k8s.io/decision': 'allow' }
  })
  t.strictSame(
    patched?.['requestObject'], { metadata: { labels: { 'kubernetes.io/bootstrapping': 'y' } }, rules: [rule, rule] },
    'as it was sent'
  )
  t.match(patched?.['responseObject'], { rules: [rule, rule] })
  t.match(listed?.['responseObject'], {
    kind: 'ClusterRoleList',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    items: [{ metadata: { name: 'system:kube-scheduler' } }]
  })
  t.match(impersonated, {
    impersonatedUser: { username: 'system:kube-scheduler' },
    responseStatus: { code: 403, details: { name: 'system:kube-scheduler', group: 'rbac.authorization.k8s.io' } }
  })
  t.match(refused, {
    user: { username: 'system:serviceaccount:kube-system:a' },
    objectRef: { namespace: 'kube-system' },
    responseStatus: { message: /in the namespace "kube-system"/ },
    annotations: { 'authorization.k8s.io/decision': 'forbid' }
  })
  t.match(tabled, {
    responseObject: {
      kind: 'Table', apiVersion: 'meta.k8s.io/v1', rows: [{ object: { metadata: { name: 'kube-system' } } }]
    }
  })
  t.match(
    large,
    { objectRef: { name: 'large' }, requestObject: undefined, annotations: { 'audit.k8s.io/truncated': 'true' } },
    'objects are parsed in one turn, so they are bounded'
  )
})
