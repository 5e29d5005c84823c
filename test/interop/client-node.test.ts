/** The public client library for Node, as it is, against the started server. */
import t from 'tap'
import {
  ApiException, CustomObjectsApi, Watch, KubernetesObjectApi, KubeConfig, makeInformer, PatchStrategy, setHeaderOptions,
  CoreV1Api, type KubernetesObject, type KubernetesListObject
} from '@kubernetes/client-node'
import { BINDINGS, binding, type Json } from '../build.js'
import { RunningServer, ServerHere, until } from './server.js'

const resource = { group: 'rbac.authorization.orch.io', version: 'v1', plural: 'clusterrolebindings' }
const patchType = (type: string) => setHeaderOptions('Content-Type', type)

interface Binding extends KubernetesObject { subjects?: Array<{ kind: string, name: string }> }

function configOf (path: string): KubeConfig {
  const config = new KubeConfig()
  config.loadFromFile(path)
  return config
}

/** The Status of a refused call. For some codes the library keeps only the code. */
async function statusOf (call: Promise<unknown>): Promise<Json> {
  try {
    await call
  } catch (error) {
    if (!(error instanceof ApiException)) throw error
    // its type is unknown: it is what the server sent
    const status = typeof error.body === 'string' ? JSON.parse(error.body) as Json : error.body as Json | undefined
    return { ...status, code: error.code }
  }
  throw new Error('the call was not refused')
}

t.test('custom objects are created, read, listed, patched and deleted', async t => {
  const server = await ServerHere.start(t)
  for (const [user, path] of [['token', server.tokenConfig()], ['certificate', server.certificateConfig()]] as const) {
    const api = configOf(path).makeApiClient(CustomObjectsApi)
    const name = `by-${user}`
    const created = await api.createClusterCustomObject({
      ...resource, body: binding(name, { metadata: { labels: { by: user } } })
    }) as Json
    t.match(created, { metadata: { name, uid: /-/ }, subjects: [{ apiGroup: resource.group }] })
    t.strictSame(await api.getClusterCustomObject({ ...resource, name }), created)

    const merged = await api.patchClusterCustomObject(
      { ...resource, name, body: { metadata: { labels: { more: 'yes', by: null } } } },
      patchType(PatchStrategy.MergePatch)
    ) as Json
    t.strictSame(merged.metadata.labels, { more: 'yes' })
    const patched = await api.patchClusterCustomObject(
      { ...resource, name, body: [{ op: 'replace', path: '/subjects/0/name', value: 'bob' }] },
      patchType(PatchStrategy.JsonPatch)
    ) as Json
    t.equal(patched.subjects[0].name, 'bob')

    t.match(await statusOf(api.replaceClusterCustomObject({ ...resource, name, body: created })), {
      reason: 'Conflict', code: 409
    })
    const replaced = await api.replaceClusterCustomObject({
      ...resource, name, body: { ...patched, subjects: [{ kind: 'Group', name: 'crew' }] }
    }) as Json
    t.equal(replaced.subjects[0].kind, 'Group')

    await api.createClusterCustomObject({ ...resource, body: binding(`${name}-2`) })
    const list = await api.listClusterCustomObject({ ...resource, labelSelector: 'more=yes' }) as Json
    t.strictSame(list.items, [replaced])
    const page = await api.listClusterCustomObject({ ...resource, limit: 1 }) as Json
    const rest = await api.listClusterCustomObject({ ...resource, limit: 1, _continue: page.metadata.continue }) as Json
    t.strictSame([...page.items, ...rest.items].map(({ metadata }: Json) => metadata.name), [name, `${name}-2`])

    t.match(await api.deleteClusterCustomObject({ ...resource, name }), { status: 'Success' })
    t.match(await statusOf(api.getClusterCustomObject({ ...resource, name })), {
      kind: 'Status', reason: 'NotFound', details: { name, group: resource.group, kind: resource.plural }
    })
    await api.deleteCollectionClusterCustomObject(resource)
    t.strictSame((await api.listClusterCustomObject(resource) as Json).items, [])
  }
  const stranger = configOf(server.kubeconfig('stranger', { token: 'wrong' })).makeApiClient(CustomObjectsApi)
  t.match(await statusOf(stranger.listClusterCustomObject(resource)), { code: 401 })
})

t.test('objects of any kind are handled by what discovery says', async t => {
  const server = await ServerHere.start(t)
  const api = KubernetesObjectApi.makeApiClient(configOf(server.tokenConfig()))
  const spec = binding('generic') as Binding & { apiVersion: string, kind: string, metadata: { name: string } }
  const created = await api.create<Binding>(spec)
  t.equal(created.metadata?.name, 'generic')
  t.equal((await api.read<Binding>(spec)).subjects?.[0]?.name, 'ann')
  const header = { apiVersion: spec.apiVersion, kind: spec.kind, metadata: { name: 'generic' } }
  const merged = await api.patch<Binding>(
    { ...header, subjects: [] } as KubernetesObject, undefined, undefined, undefined, undefined,
    PatchStrategy.MergePatch
  )
  t.notOk('subjects' in merged)
  const labelled = await api.patch<Binding>({ ...header, metadata: { name: 'generic', labels: { a: 'b' } } })
  t.equal(labelled.metadata?.labels?.['a'], 'b', 'a strategic merge patch is its default')
  t.equal(
    (await api.replace<Binding>({
      ...labelled, subjects: [{ kind: 'User', name: 'eve' }]
    } as Binding)).subjects?.[0]?.name,
    'eve'
  )
  t.strictSame(
    (await api.list<Binding>(spec.apiVersion, spec.kind)).items.map(({ metadata }) => metadata?.name), ['generic']
  )
  t.match(
    await statusOf(api.create({ ...spec, metadata: { name: 'dry' }, roleRef: {} } as KubernetesObject)),
    { reason: 'Invalid', code: 422 }
  )
  t.match(
    await api.create<Binding>({ ...spec, metadata: { name: 'dry' } }, undefined, 'All'), { metadata: { name: 'dry' } }
  )
  t.match(await statusOf(api.read({ ...header, metadata: { name: 'dry' } })), { code: 404 })
  await api.delete(spec)
  t.strictSame((await api.list<Binding>(spec.apiVersion, spec.kind)).items, [])
})

t.test('the typed client of the core group works as it is', async t => {
  const server = await ServerHere.start(t)
  const core = configOf(server.tokenConfig()).makeApiClient(CoreV1Api)
  const namespace = 'typed'
  await core.createNamespace({ body: { metadata: { name: namespace } } })
  t.equal((await core.readNamespace({ name: namespace })).status?.phase, 'Active')
  t.ok((await core.listNamespace()).items.some(({ metadata }) => metadata?.name === 'default'))

  const config = await core.createNamespacedConfigMap({
    namespace, body: { metadata: { name: 'settings' }, data: { colour: 'red' }, binaryData: { raw: 'AAEC' } }
  })
  t.ok(config.metadata?.creationTimestamp instanceof Date)
  const patched = await core.patchNamespacedConfigMap(
    { namespace, name: 'settings', body: { data: { colour: 'blue' } } }, patchType(PatchStrategy.MergePatch)
  )
  t.strictSame([patched.data, patched.binaryData], [{ colour: 'blue' }, { raw: 'AAEC' }])
  await core.createNamespacedSecret({ namespace, body: { metadata: { name: 'pass' }, stringData: { word: 'hush' } } })
  const secret = await core.readNamespacedSecret({ namespace, name: 'pass' })
  t.match(secret, { type: 'Opaque', data: { word: Buffer.from('hush').toString('base64') } })
  t.match(
    await statusOf(core.createNamespacedConfigMap({ namespace: 'nowhere', body: { metadata: { name: 'lost' } } })),
    { code: 404, details: { kind: 'namespaces', name: 'nowhere' } }
  )
  t.match(
    await statusOf(core.replaceNamespacedSecret({ namespace, name: 'pass', body: { ...secret, type: 'other' } })),
    { code: 422, reason: 'Invalid' }
  )

  await core.deleteNamespacedConfigMap({ namespace, name: 'settings' })
  t.strictSame(
    (await core.listNamespacedConfigMap({ namespace, fieldSelector: 'metadata.name!=orch-root-ca.crt' })).items, []
  )
  await core.deleteNamespace({ name: namespace })
  await until('the namespace to be removed with its secret', async () =>
    !(await core.listNamespace()).items.some(({ metadata }) => metadata?.name === namespace))
  t.strictSame((await core.listSecretForAllNamespaces()).items, [])
})

t.test('a watch reports each change and ends when the client ends it', async t => {
  const server = await ServerHere.start(t)
  const config = configOf(server.tokenConfig())
  const api = config.makeApiClient(CustomObjectsApi)
  const { metadata: { resourceVersion } } = await api.listClusterCustomObject(resource) as Json
  const seen: string[] = []
  let ended = false
  const controller = await new Watch(config).watch(BINDINGS, {
    resourceVersion, labelSelector: 'seen=yes'
  }, (type: string, object: Json) => {
    seen.push(`${type} ${object.metadata.name}`)
  }, () => { ended = true })
  t.teardown(() => controller.abort())
  const name = 'one'
  await api.createClusterCustomObject({ ...resource, body: binding('unseen') })
  await api.createClusterCustomObject({ ...resource, body: binding(name, { metadata: { labels: { seen: 'yes' } } }) })
  const patch = (labels: object) => api.patchClusterCustomObject(
    { ...resource, name, body: { metadata: { labels } } }, patchType(PatchStrategy.MergePatch)
  )
  await patch({ x: 'y' })
  await patch({ seen: 'no' })
  await patch({ seen: 'yes' })
  await api.deleteClusterCustomObject({ ...resource, name })
  await until(() => `five events, there are ${seen.join()}`, () => seen.length >= 5)
  t.strictSame(seen, ['ADDED one', 'MODIFIED one', 'DELETED one', 'ADDED one', 'DELETED one'])
  controller.abort()
  await until('the watch to end', () => ended)
})

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  t.test(`an informer ends up with the right set after the server was ended by ${signal} ` +
    'and started again', async t => {
    const server = await RunningServer.start(t)
    const config = configOf(server.tokenConfig())
    const api = config.makeApiClient(CustomObjectsApi)
    const informer = makeInformer<Binding>(config, BINDINGS, async () =>
      await api.listClusterCustomObject(resource) as KubernetesListObject<Binding>)
    t.teardown(() => informer.stop())
    const seen: string[] = []
    for (const kind of ['add', 'update', 'delete'] as const) {
      informer.on(kind as 'add', ({ metadata }) => { seen.push(`${kind} ${metadata?.name}`) })
    }
    let errors = 0
    informer.on('error', () => { errors++ })
    const set = (): string[] => informer.list().map(({ metadata }) => metadata?.name ?? '').sort()
    const create = (name: string) => api.createClusterCustomObject({ ...resource, body: binding(name) })
    const change = (name: string) =>
      api.patchClusterCustomObject({ ...resource, name, body: { subjects: [] } }, patchType(PatchStrategy.MergePatch))
    const remove = (name: string) => api.deleteClusterCustomObject({ ...resource, name })

    for (const name of ['gone-in-between', 'changed', 'untouched']) await create(name)
    await informer.start()
    t.strictSame(set(), ['changed', 'gone-in-between', 'untouched'])
    await create('live')
    await change('live')
    await remove('live')
    await until('the live changes to be seen', () => seen.includes('delete live'))
    t.strictSame(seen, [
      'add changed', 'add gone-in-between', 'add untouched', 'add live', 'update live', 'delete live'
    ])

    seen.length = 0
    const code = await server.stop(signal)
    t.equal(code, signal === 'SIGTERM' ? 0 : null)
    await until('the informer to notice', () => errors > 0)
    await server.start()
    await remove('gone-in-between')
    await change('changed')
    await create('new')
    // As its users must do: it does not continue by itself after an error.
    await informer.start()
    await until(() => `the changes made in between, there are ${seen.join()}`, () => seen.length >= 3)
    t.strictSame(
      seen, ['delete gone-in-between', 'update changed', 'add new'], 'each change once, in order, and nothing else'
    )
    await create('later')
    await until('a later change', () => seen.includes('add later'))
    t.strictSame(set(), ['changed', 'later', 'new', 'untouched'])
  })
}
