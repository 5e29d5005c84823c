/** The client of a host: what it asks is what a client of the API asks, without connection and bytes. */
import t from 'tap'
import { getEventListeners } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import plainFastify from 'fastify'
import swagger from '@fastify/swagger'
import Fastify from '../fastify.js'
import orch, { OptionError, type OwnClient, type ServerOptions } from '../../app.js'
import { appsV1, authorizationV1, autoscalingV1, coreV1, policyV1, rbacV1 } from '../../schemas/public.js'
import { freezeShared } from '../../storage/cache/shared.js'
import type { Test } from '../build.js'
import { definition, until } from './shared.js'

freezeShared('everything')

async function hosted (t: Test, options: ServerOptions = {}): Promise<OwnClient> {
  const fastify = Fastify()
  t.teardown(() => fastify.close())
  await fastify.register(orch, { prefix: '/cluster', ...options })
  await fastify.ready()
  await fastify.orch.ready()
  return fastify.orch.client
}

const map = (name: string, data: Record<string, string> = {}) => ({ metadata: { name, namespace: 'default' }, data })
const refused = (code: number, reason: string) => ({ name: 'StatusError', status: { code, reason } })

t.test('every verb, as the server itself', async t => {
  const client = await hosted(t)
  const maps = client.of(coreV1.ConfigMap)
  const created = await maps.create(map('a', { key: 'value' }))
  t.match(created, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', uid: String, resourceVersion: /^\d+$/ },
    data: { key: 'value' }
  })
  t.match(created.metadata.managedFields, [{ manager: 'orch-client', operation: 'Update' }])
  await t.rejects(maps.create(map('a')), refused(409, 'AlreadyExists'))
  created.data = { key: 'other' }
  const updated = await maps.update(created)
  t.same(updated.data, { key: 'other' })
  await t.rejects(maps.update(created), refused(409, 'Conflict'), 'with the version that it was read in')
  t.same((await maps.patch('a', { data: { more: 'yes', key: null } }, { namespace: 'default' })).data, { more: 'yes' })
  t.same(
    (await maps.patch(
      'a', [{ op: 'add', path: '/data/json', value: 'too' }], { namespace: 'default', type: 'json' }
    )).data,
    { more: 'yes', json: 'too' }
  )
  const applied = await maps.apply({ metadata: { name: 'b', namespace: 'default' }, data: { own: '1' } })
  t.same(applied.data, { own: '1' })
  await t.rejects(
    maps.apply({ metadata: { name: 'b', namespace: 'default' }, data: { own: '2' } }, { fieldManager: 'rival' }),
    refused(409, 'Conflict')
  )
  t.same(
    (await maps.apply(
      { metadata: { name: 'b', namespace: 'default' }, data: { own: '2' } }, { fieldManager: 'rival', force: true }
    )).data,
    { own: '2' }
  )
  t.same((await maps.get('b', { namespace: 'default' })).data, { own: '2' })
  t.equal((await maps.create(map('dry'), { dryRun: true })).metadata.name, 'dry')
  await t.rejects(maps.get('dry', { namespace: 'default' }), refused(404, 'NotFound'))
  t.equal(await maps.delete('b', { namespace: 'default' }), undefined)
  await t.rejects(maps.delete('b', { namespace: 'default' }), refused(404, 'NotFound'))
  await t.rejects(
    maps.delete('a', { namespace: 'default', preconditions: { uid: 'of another' } }), refused(409, 'Conflict')
  )
  await maps.patch('a', { metadata: { finalizers: ['example.com/hold'] } }, { namespace: 'default' })
  t.match(
    await maps.delete('a', { namespace: 'default' }), { metadata: { deletionTimestamp: String } },
    'while a finalizer holds it'
  )
  await maps.deleteCollection({ namespace: 'default', labelSelector: 'none=such' })
})

t.test('an unknown option is refused before anything is done', async t => {
  const client = await hosted(t)
  const maps = client.of(coreV1.ConfigMap)
  await maps.create(map('kept'))
  const unknown = (name: string) => ({
    ...refused(400, 'BadRequest'), message: new RegExp(`^${name}: there is no such option; there are `)
  })
  await t.rejects(
    maps.deleteCollection({ namespace: 'default', labelselector: 'none=such' } as object), unknown('labelselector')
  )
  await t.rejects(maps.delete('kept', { namespace: 'default', dryrun: true } as object), unknown('dryrun'))
  await t.rejects(maps.create(map('a'), { dryrun: true } as object), unknown('dryrun'))
  await t.rejects(maps.update(map('kept'), { dryrun: true } as object), unknown('dryrun'))
  await t.rejects(maps.apply(map('a'), { forced: true } as object), unknown('forced'))
  await t.rejects(maps.patch('kept', {}, { namespace: 'default', kind: 'json' } as object), unknown('kind'))
  await t.rejects(maps.get('kept', { namespce: 'default' } as object), unknown('namespce'))
  t.throws(() => maps.list({ namespce: 'default' } as object), unknown('namespce'))
  t.throws(() => maps.watch({ namespce: 'default' } as object), unknown('namespce'))
  t.throws(() => client.informer(coreV1.ConfigMap, { selector: 'a=b' } as object), unknown('selector'))
  t.throws(() => client.with({ fieldmanager: 'a' } as object), unknown('fieldmanager'))
  t.equal((await maps.get('kept', { namespace: 'default' })).metadata.name, 'kept')
  await t.rejects(maps.get('a', { namespace: 'default' }), refused(404, 'NotFound'))
})

t.test('a public name of a group is answered with its own', async t => {
  const ingresses = (await hosted(t, { compatNames: true })).of({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress' })
  await t.rejects(
    ingresses.get('a', { namespace: 'default' }),
    {
      ...refused(404, 'NotFound'),
      message: /in its own process the API group networking\.k8s\.io is named networking\.orch\.io$/
    }
  )
})

t.test('what a delete could not remove yet is returned, whatever the release answers with', async t => {
  for (const emulatedVersion of ['1.24', '1.36'] as const) {
    const maps = (await hosted(t, { emulatedVersion })).of(coreV1.ConfigMap)
    await maps.create({ ...map('a'), metadata: { ...map('a').metadata, finalizers: ['example.com/hold'] } })
    t.match(
      await maps.delete('a', { namespace: 'default' }), { metadata: { deletionTimestamp: String } }, emulatedVersion
    )
    await maps.patch('a', { metadata: { finalizers: null } }, { namespace: 'default' })
    await t.rejects(maps.delete('a', { namespace: 'default' }), refused(404, 'NotFound'))
  }
})

t.test('subresources: a part, a view, an operation', async t => {
  const client = await hosted(t)
  const container = { name: 'c', image: 'i' }
  const deployments = client.of(appsV1.Deployment)
  const deployment = await deployments.create({
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } }
    }
  })
  t.equal(deployment.spec?.strategy?.type, 'RollingUpdate', 'with its defaults')
  const scale = deployments.subresource('scale', autoscalingV1.Scale)
  t.equal((await scale.get('web', { namespace: 'default' })).spec?.replicas, 1)
  const wider = await scale.update({ metadata: { name: 'web', namespace: 'default' }, spec: { replicas: 3 } })
  t.equal(wider.spec?.replicas, 3)
  const status = await deployments.subresource('status').patch(
    'web', { status: { replicas: 3 }, spec: { replicas: 9 } }, { namespace: 'default' }
  )
  t.match([status.spec?.replicas, status.status?.replicas], [3, 3])
  const accounts = client.of(coreV1.ServiceAccount)
  await accounts.create({ metadata: { name: 'robot', namespace: 'default' } })
  const pods = client.of(coreV1.Pod)
  await pods.create({
    metadata: { name: 'p', namespace: 'default' }, spec: { containers: [container], serviceAccountName: 'robot' }
  })
  await pods.subresource('eviction', policyV1.Eviction).create('p', { metadata: { name: 'p', namespace: 'default' } })
  await t.rejects(pods.get('p', { namespace: 'default' }), refused(404, 'NotFound'))
  await t.rejects(
    pods.subresource('exec').get('p', { namespace: 'default' }), refused(405, 'MethodNotAllowed'),
    'what needs a connection is not offered'
  )
  await t.rejects(pods.subresource('nothing').get('p', { namespace: 'default' }), refused(404, 'NotFound'))
  const review = await client.as({ username: 'ann' })
    .of(authorizationV1.SelfSubjectAccessReview)
    .create({ spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } })
  t.equal(review.status?.allowed, true)
  t.throws(() => client.as({ username: '' }), TypeError)
})

t.test('a user is authorized, admitted and recorded; the server itself is admitted', async t => {
  const file = join(t.testdir(), 'audit.log')
  const admitted: Array<string | undefined> = []
  const client = await hosted(t, {
    authorization: { modes: ['RBAC'] },
    admission: {
      plugins: [
        {
          name: 'spy',
          handles: ({ resource }) => resource === 'configmaps',
          validate: ({ user }) => { admitted.push(user?.username) }
        }
      ]
    },
    audit: {
      path: file,
      policy: {
        kind: 'Policy',
        apiVersion: 'audit.orch.io/v1',
        metadata: {},
        rules: [{ level: 'RequestResponse', userGroups: ['team'] }, { level: 'None' }]
      }
    }
  })
  const ann = client.as({ username: 'ann', groups: ['team'] })
  const maps = ann.of(coreV1.ConfigMap)
  await t.rejects(maps.create(map('a')), {
    ...refused(403, 'Forbidden'),
    message: /User "ann" cannot create resource "configmaps" in API group "" in the namespace "default"/
  })
  await client.of(rbacV1.ClusterRoleBinding).create({
    metadata: { name: 'team' },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ kind: 'Group', name: 'team', apiGroup: 'rbac.authorization.orch.io' }]
  })
  await maps.create(map('a', { key: 'value' }))
  await client.of(coreV1.ConfigMap).patch('a', { data: { more: 'yes' } }, { namespace: 'default' })
  t.same(admitted, ['ann', undefined])
  t.equal((await maps.list({ namespace: 'default', fieldSelector: 'metadata.name=a' }).all()).length, 1)
  const watch = maps.watch({ namespace: 'default', fieldSelector: 'metadata.name=a' })
  t.match((await watch.next()).value, { type: 'ADDED', object: { metadata: { name: 'a' } } })
  await until(async () => /"stage":"ResponseStarted",[^\n]*"verb":"watch"/.test(await readFile(file, 'utf8')))
  await watch.return?.()
  await t.rejects(maps.get('none', { namespace: 'default' }), refused(404, 'NotFound'))
  await t.rejects(ann.of(rbacV1.ClusterRoleBinding).list().all(), refused(403, 'Forbidden'))
  await t.rejects(maps.watch({ namespace: 'orch-system', labelSelector: '!' }).next(), refused(400, 'BadRequest'))
  const lines = async () => (await readFile(file, 'utf8')).trim()
    .split('\n')
    .map(line => JSON.parse(line) as {
      stage: string
      verb: string
      responseStatus: { code: number }
      requestURI: string
      user: { groups: string[] }
      requestObject?: { data: object }
      responseObject?: { kind: string }
      annotations?: Record<string, string>
    })
  await until(async () => (await lines()).filter(({ stage }) => stage === 'ResponseComplete').length === 7)
  const events = await lines()
  const complete = events.filter(({ stage }) => stage === 'ResponseComplete')
  t.same(complete.map(({ verb, responseStatus: { code } }) => `${verb} ${code}`), [
    'create 403', 'create 201', 'list 200', 'watch 200', 'get 404', 'list 403', 'watch 400'
  ])
  t.match(complete[1], {
    requestURI: '/cluster/api/v1/namespaces/default/configmaps',
    user: { username: 'ann', groups: ['team', 'system:authenticated'] },
    requestObject: { data: { key: 'value' } },
    responseObject: { kind: 'ConfigMap' },
    annotations: { 'authorization.orch.io/decision': 'allow' }
  })
  t.match(complete[2]?.responseObject, { kind: 'ConfigMapList' })
  t.equal(events.filter(({ stage, verb }) => stage === 'ResponseStarted' && verb === 'watch').length, 2)
})

t.test('a list has pages of one state', async t => {
  const client = await hosted(t)
  const maps = client.of(coreV1.ConfigMap)
  for (let at = 0; at < 5; at++) {
    await maps.create({
      ...map(`m${at}`), metadata: { name: `m${at}`, namespace: 'default', labels: { odd: String(at % 2 === 1) } }
    })
  }
  const pages: string[][] = []
  const versions = new Set<string | undefined>()
  for await (const { items, metadata } of maps.list({ namespace: 'default', limit: 2 })) {
    pages.push(items.map(({ metadata: { name = '' } }) => name))
    versions.add(metadata.resourceVersion)
    if (pages.length === 1) await maps.delete('m4', { namespace: 'default' })
  }
  t.same(pages.flat().filter(name => name.startsWith('m')), ['m0', 'm1', 'm2', 'm3', 'm4'])
  t.equal(versions.size, 1)
  for await (const { metadata } of maps.list({ labelSelector: 'odd', limit: 1 })) {
    const rest = await maps.list({
      labelSelector: 'odd', ...metadata.continue === undefined ? {} : { continue: metadata.continue }
    }).all()
    t.same(
      rest.map(({ metadata: { name } }) => name),
      metadata.continue === undefined ? ['m0', 'm1', 'm2', 'm3'] : ['m1', 'm2', 'm3'],
      'from the token of a page, what follows it'
    )
    if (metadata.continue !== undefined) break
  }
  await t.rejects(maps.list({ continue: 'none' }).all(), refused(400, 'BadRequest'))
  t.ok(pages.every(({ length }) => length <= 2))
  t.same((await maps.list({ labelSelector: 'odd=true' }).all()).map(({ metadata }) => metadata.name), ['m1', 'm3'])
  t.ok((await client.of(coreV1.Namespace).list().all()).some(({ metadata }) => metadata.name === 'default'))
  await t.rejects(maps.list({ fieldSelector: 'data=x' }).all(), refused(400, 'BadRequest'))
})

t.test('types of the host\'s own, and by name', async t => {
  const client = await hosted(t)
  const Widget = Type.Object({
    apiVersion: Type.Literal('example.com/v1'), kind: Type.Literal('Widget'),
    metadata: Type.Object({ name: Type.String(), namespace: Type.Optional(Type.String()) }),
    spec: Type.Object({ size: Type.Integer() })
  })
  await t.rejects(
    client.of(Widget).get('w', { namespace: 'default' }),
    { ...refused(404, 'NotFound'), message: 'this server has no kind Widget in example.com/v1' }
  )
  await client.of({ apiVersion: 'apiextensions.orch.io/v1', kind: 'CustomResourceDefinition' }).create(definition())
  const widgets = client.of(Widget)
  await until(async () => await widgets.list().all().then(() => true, () => false))
  const made = await widgets.create({ metadata: { name: 'w', namespace: 'default' }, spec: { size: 3 } })
  const size: number = made.spec.size
  t.equal(size, 3)
  await t.rejects(
    widgets.create({ metadata: { name: 'x', namespace: 'default' }, spec: { size: 'much' as unknown as number } }),
    refused(422, 'Invalid')
  )
  t.match(
    await client.of({ apiVersion: 'example.com/v1', kind: 'Widget' }).get('w', { namespace: 'default' }),
    { spec: { size: 3 } }
  )
  t.throws(() => client.of(Type.Object({ spec: Type.Any() })), TypeError, 'a schema that does not say its type')
  t.equal(
    (await client.of(Type.Object({ spec: Type.Object({ size: Type.Number() }) }), {
      apiVersion: 'example.com/v1', kind: 'Widget'
    }).get('w', { namespace: 'default' })).spec.size,
    3
  )
})

t.test('what is given and what is got are the caller\'s own', async t => {
  const client = await hosted(t)
  const maps = client.of(coreV1.ConfigMap)
  const given = Object.freeze({
    metadata: Object.freeze({ name: 'a', namespace: 'default', labels: undefined }),
    data: Object.freeze({ key: 'value' })
  })
  const made = await maps.create(given)
  if (made.data !== undefined) made.data['key'] = 'changed by its holder'
  const read = await maps.get('a', { namespace: 'default' })
  t.same(read.data, { key: 'value' })
  const { spec } = await client.of(appsV1.Deployment).create({
    metadata: { name: 'd', namespace: 'default' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    }
  })
  t.notOk('creationTimestamp' in (spec?.template.metadata ?? {}), 'unset fields are absent, not null')
})

t.test('what is no object of the type is refused', async t => {
  const client = await hosted(t)
  const maps = client.of(coreV1.ConfigMap)
  const create = async (more: object, options = {}) => await maps.create({ ...map('a'), ...more }, options)
  const cyclic: Record<string, unknown> = {}
  cyclic['itself'] = cyclic
  for (const [what, more, code] of [
    ['a cycle', { data: cyclic }, 400], ['a function', { data: { a: () => 1 } }, 400],
    ['a Map', { data: new Map() }, 400], ['no number', { data: { a: NaN } }, 400],
    ['another type of a field', { data: { a: {} } }, 400], ['another kind', { kind: 'Secret' }, 400],
    ['too much', { data: { a: 'x'.repeat(4 * 1024 * 1024) } }, 413],
    ['too many values', { data: new Array(1e6).fill('x') }, 400]
  ] as const) await t.rejects(create(more), { name: 'StatusError', status: { code } }, what)
  await t.rejects(
    create({ date: '1' }, { fieldValidation: 'Strict' }),
    { ...refused(400, 'BadRequest'), message: /unknown field "date"/ }
  )
  const warnings: string[] = []
  await client.with({ warn: text => { warnings.push(text) }, fieldManager: 'host' })
    .of(coreV1.ConfigMap)
    .create({ ...map('b', { key: 'value' }), date: '1' } as object)
  t.same(warnings, ['unknown field "date"'])
  t.equal((await maps.get('b', { namespace: 'default' })).metadata.managedFields?.[0]?.manager, 'host')
  await t.rejects(maps.get('a'), {
    ...refused(400, 'BadRequest'), message: 'configmaps are in namespaces: say { namespace }'
  })
  await t.rejects(client.of(coreV1.Namespace).get('default', { namespace: 'default' }), refused(400, 'BadRequest'))
  await t.rejects(maps.get('', { namespace: 'default' }), refused(400, 'BadRequest'))
  await t.rejects(maps.get('../secrets/a', { namespace: 'default' }), refused(400, 'BadRequest'))
  t.same(
    (await create({ data: { at: new Date(0), half: '\ud800' } })).data,
    { at: '1970-01-01T00:00:00.000Z', half: '\ufffd' }, 'what has a JSON form has that'
  )
})

t.test('what a program without types gives is refused before anything is written', async t => {
  const client = await hosted(t)
  const maps = client.of(coreV1.ConfigMap)
  const within = { namespace: 'default' }
  for (const dryRun of ['All', ['All'], 'false', 1, null]) {
    const options = { ...within, dryRun: dryRun as unknown as boolean }
    for (const asked of [
      maps.create(map('dry'), options), maps.apply(map('dry'), options), maps.delete('orch-root-ca.crt', options),
      maps.patch('orch-root-ca.crt', {}, options)
    ]) {
      await t.rejects(asked, { ...refused(400, 'BadRequest'), message: 'dryRun: it is true or false' })
    }
  }
  await t.rejects(maps.get('dry', within), refused(404, 'NotFound'))
  for (const type of ['apply', '__proto__', 'constructor']) {
    await t.rejects(
      maps.patch('a', {}, { ...within, type: type as 'merge' }),
      { ...refused(400, 'BadRequest'), message: 'the type of a patch is merge, json or strategic' }
    )
  }
  for (const nothing of [undefined, null, 'text', []]) {
    const given = nothing as unknown as ReturnType<typeof map>
    for (const asked of [maps.create(given, within), maps.update(given, within), maps.apply(given, within)]) {
      await t.rejects(asked, { ...refused(400, 'BadRequest'), message: 'an object is needed' })
    }
  }
  await t.rejects(maps.get('\ud800', within), refused(400, 'BadRequest'))
  await t.rejects(maps.list({ namespace: '\udc00' }).all(), refused(400, 'BadRequest'))
  const strange: object = Object.create(Object.create({ constructor: undefined }) as object) as object
  await t.rejects(maps.create({ ...map('a'), data: strange as Record<string, string> }), {
    ...refused(400, 'BadRequest'), message: 'data: an object with a prototype is no plain data'
  })
  const sparse = Object.assign(new Array<string>(2), { 1: 'example.com/hold' })
  await t.rejects(
    maps.create({ metadata: { ...map('a').metadata, finalizers: sparse } }), refused(422, 'Invalid'),
    'a hole is what null is'
  )
  for (const user of [
    { groups: 'system:masters' }, { groups: [1] }, { groups: null }, { extra: { a: 'b' } }, { uid: 7 }
  ]) {
    t.throws(() => client.as({ username: 'u', ...user as object }), { name: 'TypeError', message: /of a user/ })
  }
})

t.test('who asks stays who they were', async t => {
  const client = await hosted(t, { authorization: { modes: ['RBAC'] } })
  const groups = ['nobody']
  const maps = client.as({ username: 'u', groups }).of(coreV1.ConfigMap)
  groups[0] = 'system:masters'
  await t.rejects(maps.get('a', { namespace: 'default' }), refused(403, 'Forbidden'))
})

t.test('a receiver of warnings that fails, at once or later, fails no request', async t => {
  const lines: string[] = []
  const fastify = Fastify({ logger: { level: 'error', stream: { write: (line: string) => { lines.push(line) } } } })
  t.teardown(() => fastify.close())
  await fastify.register(orch)
  await fastify.ready()
  const { client } = fastify.orch
  const warn = [() => { throw new Error('at once') }, async () => { throw new Error('later') }]
  for (const [at, receiver] of warn.entries()) {
    const made = await client.with({ warn: receiver as () => void })
      .of(coreV1.ConfigMap)
      .create({ ...map(`m${at}`), strange: 1 } as object)
    t.equal(made.metadata.name, `m${at}`)
  }
  await until(() => lines.length === 2)
  t.match(lines, [/at once.*the receiver of warnings/, /later.*the receiver of warnings/])
})

t.test('the manager of a client is that of all its writes', async t => {
  const maps = (await hosted(t)).with({ fieldManager: 'team/a' }).of(coreV1.ConfigMap)
  await maps.create(map('a', { one: '1' }))
  await maps.patch('a', { data: { two: '2' } }, { namespace: 'default' })
  await maps.apply(map('a', { three: '3' }))
  t.same(
    (await maps.get(
      'a', { namespace: 'default' }
    )).metadata.managedFields?.map(({ manager, operation }) => [manager, operation]),
    [['team/a', 'Apply'], ['team/a', 'Update']]
  )
})

t.test('many requests with one signal', async t => {
  const maps = (await hosted(t)).of(coreV1.ConfigMap)
  const warnings: Error[] = []
  const warned = (warning: Error): void => { warnings.push(warning) }
  process.on('warning', warned)
  t.teardown(() => process.off('warning', warned))
  const controller = new AbortController()
  const waiting = Array.from(
    { length: 20 }, async () => await maps.watch({ namespace: 'none', signal: controller.signal }).next()
  )
  await Promise.all(Array.from({ length: 20 }, async () => await maps.list({ signal: controller.signal }).all()))
  await until(() => getEventListeners(controller.signal, 'abort').length >= 20)
  await new Promise(resolve => { setImmediate(resolve) })
  controller.abort(new Error('enough'))
  t.match(await Promise.allSettled(waiting), waiting.map(() => ({ status: 'rejected', reason: { message: 'enough' } })))
  t.same(warnings, [])
  t.same(getEventListeners(controller.signal, 'abort'), [])
})

t.test('an aborted request rejects with the reason', async t => {
  const client = await hosted(t)
  const maps = client.of(coreV1.ConfigMap)
  const reason = new Error('enough')
  await t.rejects(maps.create(map('a'), { signal: AbortSignal.abort(reason) }), reason)
  await t.rejects(maps.get('a', { namespace: 'default' }), refused(404, 'NotFound'), 'nothing was written')
  const controller = new AbortController()
  const watching = maps.watch({ namespace: 'default', signal: controller.signal })
  const waiting = (async () => {
    for await (const { object } of watching) if (object.metadata.name === 'a') controller.abort(reason)
  })()
  await maps.create(map('a'))
  await t.rejects(waiting, reason)
})

t.test('a write that is given up is no failure of the server', async t => {
  const lines: string[] = []
  const fastify = Fastify({ logger: { level: 'error', stream: { write: (line: string) => { lines.push(line) } } } })
  await fastify.register(orch)
  await fastify.ready()
  const maps = fastify.orch.client.of(coreV1.ConfigMap)
  const controller = new AbortController()
  const writing = maps.create(map('a'), { signal: controller.signal })
  controller.abort(new Error('enough'))
  await t.rejects(writing, { message: 'enough' })
  await maps.create(map('b'))
  await fastify.close()
  t.same(lines, [])
})

t.test('several servers in one scope', async t => {
  const fastify = Fastify()
  t.teardown(() => fastify.close())
  await fastify.register(orch, { prefix: '/one' })
  t.equal(fastify.orch.client, fastify.orch.at('/one').client)
  await fastify.register(orch, { prefix: '/two' })
  await fastify.register(async inner => {
    await inner.register(orch, { prefix: '/three' })
    t.equal(inner.orch.client, inner.orch.at('/three').client, 'each scope has its own')
  })
  t.throws(
    () => fastify.orch.client, { message: 'several servers are registered here, choose one: at("/one"), at("/two")' }
  )
  t.throws(() => fastify.orch.at('/three'), TypeError)
  await fastify.ready()
  const [one, two] = [fastify.orch.at('/one'), fastify.orch.at('/two')]
  await Promise.all([one.ready(), two.ready()])
  await one.client.of(coreV1.ConfigMap).create(map('a'))
  await t.rejects(two.client.of(coreV1.ConfigMap).get('a', { namespace: 'default' }), refused(404, 'NotFound'))
  t.equal((await fastify.inject('/one/api/v1/namespaces/default/configmaps/a')).statusCode, 200)
})

t.test('after the server has closed', async t => {
  const fastify = Fastify()
  await fastify.register(orch, { prefix: '/cluster' })
  await fastify.ready()
  await fastify.orch.ready()
  const maps = fastify.orch.client.of(coreV1.ConfigMap)
  const watching = maps.watch()[Symbol.asyncIterator]()
  const rest = (async () => { for (;;) if ((await watching.next()).done === true) return 'ended' })()
  await fastify.close()
  t.equal(await rest, 'ended', 'a watch ends')
  await t.rejects(maps.get('a', { namespace: 'default' }), refused(503, 'ServiceUnavailable'))
  await t.rejects(fastify.orch.ready(), /closed/)
  const informer = fastify.orch.client.informer(coreV1.ConfigMap)
  await t.rejects(informer.start(), refused(503, 'ServiceUnavailable'))
  t.notOk(informer.synced)
})

t.test('a host in which everybody may do everything is warned', async t => {
  for (const [options, isWarned] of [
    [{}, true], [{ authorization: { modes: ['RBAC', 'AlwaysAllow'] } }, true],
    [{ authentication: { anonymous: false } }, false], [{ authentication: { anonymous: 'health' } }, false],
    [{ authorization: { modes: ['RBAC'] } }, false]
  ] as ReadonlyArray<[ServerOptions, boolean]>) {
    const lines: string[] = []
    const fastify = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => { lines.push(line) } } } })
    await fastify.register(orch, { prefix: '/cluster', ...options })
    await fastify.close()
    t.equal(
      lines.some(line => line.includes('everybody who reaches /cluster/ may do everything')), isWarned,
      JSON.stringify(options)
    )
  }
})

t.test('an invalid option is an error that a host can tell', async t => {
  const fastify = Fastify()
  t.teardown(() => fastify.close())
  const invalid = { storage: { kind: 'memry' } } as unknown as ServerOptions
  await t.rejects(
    async () => await fastify.register(orch, invalid),
    { name: 'OptionError', code: 'ORCH_ERR_INVALID_OPTION', option: 'storage.kind' }
  )
  t.ok(OptionError.prototype instanceof TypeError)
})

t.test('a StatusError in a route of the host is answered with its code', async t => {
  const fastify = Fastify()
  t.teardown(() => fastify.close())
  await fastify.register(orch, { prefix: '/cluster' })
  fastify.get('/', async () => await fastify.orch.client.of(coreV1.Namespace).get('none'))
  const { statusCode, json } = await fastify.inject('/')
  t.equal(statusCode, 404)
  t.match(json(), { message: 'namespaces "none" not found' })
})

t.test('the documents of a host have the routes only if it asks for that', async t => {
  for (const inDocuments of [undefined, true]) {
    const fastify = plainFastify()
    t.teardown(() => fastify.close())
    await fastify.register(swagger, { openapi: {} })
    await fastify.register(orch, { prefix: '/cluster', ...inDocuments === undefined ? {} : { api: { inDocuments } } })
    fastify.get('/own', async () => 'own')
    await fastify.ready()
    const paths = Object.keys(fastify.swagger().paths ?? {})
    t.ok(paths.includes('/own'))
    t.equal(paths.some(path => path.startsWith('/cluster')), inDocuments === true)
  }
})
