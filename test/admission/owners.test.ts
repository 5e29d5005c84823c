/** Which manager owns what admission changes in a new object. Interface: Field ownership. */
import t from 'tap'
import type { AdmissionPlugin } from '../../app.js'
import { build, type Json, type Client, type Answer } from '../build.js'
import { apply, CONFIGS, ownersOf } from '../routes/owners.js'
import { allow, configure, hookServer, MUTATING, patching, webhook } from './webhooks/hook-server.js'

const PODS = '/api/v1/namespaces/default/pods'
const AUTOSCALERS = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers'
const rule = {
  operations: ['CREATE'], apiGroups: ['*'], apiVersions: ['*'], resources: ['configmaps', 'leases', 'pods']
}
const everything = { rules: [rule] }
const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const config = (more: Json = {}): Json => ({
  metadata: { name: 'c', labels: { mine: '1', other: '1' }, ...more }, data: { a: '1' }
})

/** The fields of the only managedFields entry, which must be the manager's. */
function owned ({ code, json, body }: Answer, manager = 'Update me'): Json {
  if (code !== 201) throw new Error(body)
  const owners = ownersOf(json)
  if (Object.keys(owners).join() !== manager) throw new Error(JSON.stringify(owners))
  return JSON.parse(owners[manager] ?? '') as Json
}

const create = (server: Client, url: string, object: unknown, query = ''): Promise<Answer> =>
  server.post(`${url}?fieldManager=me${query}`, object)
const plugin = (mutate: AdmissionPlugin['mutate'], more: Partial<AdmissionPlugin> = {}): AdmissionPlugin =>
  ({
    name: 'own',
    handles: ({ operation, resource }) => operation === 'CREATE' && ['configmaps', 'pods'].includes(resource),
    mutate,
    ...more
  } as AdmissionPlugin)
const labelsOf = (object: Record<string, unknown> | undefined): Record<string, string> =>
  ((object?.['metadata'] as Json).labels ??= {}) as Record<string, string>

t.test(
  'the creator of a pod owns what webhooks add and its defaults; nobody owns what built-in plugins fill in',
  async t => {
    const server = await build(t)
    await server.post('/api/v1/namespaces/default/limitranges', {
      metadata: { name: 'l' }, spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] }
    })
    const plain = owned(await create(server, `${PODS}`, { ...pod, metadata: { name: 'plain' } }))
    const hook = await hookServer(
      t,
      patching(
        { op: 'add', path: '/metadata/labels', value: { injected: 'yes' } },
        { op: 'add', path: '/spec/containers/-', value: { name: 'sidecar', image: 's' } }
      )
    )
    await configure(server, MUTATING, 'a', webhook('a', hook, everything))
    const made = await create(server, PODS, pod)
    t.match(made.json.spec, {
      serviceAccountName: 'default',
      priority: 0,
      containers: [{}, { name: 'sidecar', resources: { limits: { cpu: '1' } }, volumeMounts: [{}] }]
    })
    const fields = owned(made)
    const { 'k:{"name":"sidecar"}': sidecar, ...containers } = fields['f:spec']['f:containers']
    t.same(
      { ...fields['f:spec'], 'f:containers': containers }, plain['f:spec'],
      'sent fields are owned as without the webhook'
    )
    t.same(fields['f:metadata'], { 'f:labels': { '.': {}, 'f:injected': {} } })
    t.same(sidecar, { ...plain['f:spec']['f:containers']['k:{"name":"c"}'] }, 'with the fields of one that was sent')
  }
)

t.test('a manager still owns values that a webhook replaces; removed fields lose their owner', async t => {
  const hook = await hookServer(
    t,
    patching(
      { op: 'replace', path: '/data/a', value: '2' }, { op: 'remove', path: '/metadata/labels/other' },
      { op: 'add', path: '/metadata/managedFields', value: [] }
    )
  )
  const server = await build(t)
  await configure(server, MUTATING, 'a', webhook('a', hook, everything))
  t.same(owned(await create(server, CONFIGS, config())), {
    'f:data': { '.': {}, 'f:a': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:mine': {} } }
  })
  hook.answer = patching({ op: 'remove', path: '/data' }, { op: 'remove', path: '/metadata/labels' })
  const { code, json } = await create(server, CONFIGS, config({ name: 'd' }))
  t.match(
    { code, managedFields: json.metadata.managedFields }, { code: 201, managedFields: undefined },
    'nothing is left to own'
  )
})

t.test('entries that a webhook makes unreadable are those of before, with a warning', async t => {
  const server = await build(t)
  const made = await create(server, CONFIGS, config())
  const broken = ['apiVersion', 'fieldsV1', 'fieldsType'].map(member => ({
    op: 'remove', path: `/metadata/managedFields/0/${member}`
  }))
  const hook = await hookServer(t, patching(...broken))
  await configure(server, MUTATING, 'a', webhook('a', hook, { rules: [{ ...rule, operations: ['CREATE', 'UPDATE'] }] }))
  const warnings = ({ headers: { warning } }: Answer): number => [warning].flat().filter(text =>
    /metadata\.managedFields was in an invalid state after admission/.test(String(text))).length
  const patched = await server.patch(`${CONFIGS}/c`, [], 'application/json-patch+json')
  t.match(patched, { code: 200, json: { metadata: { managedFields: made.json.metadata.managedFields } } })
  t.equal(warnings(patched), 1)
  const put = await server.put(`${CONFIGS}/c`, patched.json)
  t.match(put, { code: 200, json: { metadata: { managedFields: made.json.metadata.managedFields } } })
  t.equal(warnings(put), 1)
  const created = await create(server, CONFIGS, config({ name: 'd' }))
  t.same(owned(created), owned(made))
  t.equal(warnings(created), 1)
  for (const operation of [
    { op: 'replace', path: '/metadata/managedFields/0/fieldsV1', value: { 'k:{': {} } },
    { op: 'replace', path: '/metadata/managedFields/0/operation', value: 'Patch' }
  ]) {
    hook.answer = patching(operation)
    const again = await server.put(`${CONFIGS}/c`, patched.json)
    t.match(again, { code: 200, json: { metadata: { managedFields: made.json.metadata.managedFields } } }, again.body)
    t.equal(warnings(again), 1)
  }
  hook.answer = allow
  t.equal(warnings(await server.put(`${CONFIGS}/c`, patched.json)), 0)
})

t.test('with several webhooks and a reinvocation the creator owns every remaining field', async t => {
  const server = await build(t)
  const first = await hookServer(t, review => patching({
    op: 'add', path: `/data/${'second' in review.request.object.data ? 'again' : 'first'}`, value: '1'
  })(review, undefined as never, undefined as never))
  await configure(server, MUTATING, 'a', webhook('a', first, { ...everything, reinvocationPolicy: 'IfNeeded' }))
  await configure(
    server,
    MUTATING,
    'b',
    webhook(
      'b',
      await hookServer(
        t, patching({ op: 'add', path: '/data/second', value: '1' }, { op: 'remove', path: '/data/first' })
      ),
      everything
    )
  )
  t.same(owned(await create(server, CONFIGS, config()))['f:data'], {
    '.': {}, 'f:a': {}, 'f:again': {}, 'f:second': {}
  })
})

t.test('the creator owns what a host\'s plugin adds, empty values and reinvocations included', async t => {
  const server = await build(t, {
    admission: {
      plugins: [plugin(({ object }, { round }) => {
        labelsOf(object)[`round${round}`] = 'yes'
        Reflect.deleteProperty(labelsOf(object), 'other')
        const { spec } = object as { spec?: Json }
        if (spec !== undefined) spec['affinity'] = {}
      })]
    }
  })
  t.same(owned(await create(server, CONFIGS, config())), {
    'f:data': { '.': {}, 'f:a': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:mine': {}, 'f:round0': {} } }
  })
  t.match(owned(await create(server, PODS, pod)), { 'f:spec': { 'f:affinity': {} } })
  await configure(
    server, MUTATING, 'a',
    webhook('a', await hookServer(t, patching({ op: 'add', path: '/data/hook', value: '1' })), everything)
  )
  t.same(owned(await create(server, CONFIGS, config({ name: 'd' }))), {
    'f:data': { '.': {}, 'f:a': {}, 'f:hook': {} },
    'f:metadata': { 'f:labels': { '.': {}, 'f:mine': {}, 'f:round0': {}, 'f:round1': {} } }
  })
})

t.test('a host\'s plugin that changes nothing gives no owner to fields filled in before it', async t => {
  const bare = owned(await create(await build(t), PODS, pod))
  t.same(owned(await create(await build(t, { admission: { plugins: [plugin(() => {})] } }), PODS, pod)), bare)
  const touching = await build(t, { admission: { plugins: [plugin(({ object }) => { labelsOf(object)['a'] = 'b' })] } })
  t.same(
    owned(await create(touching, PODS, pod)), { ...bare, 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } },
    'nor do defaults of that belong to it'
  )
})

t.test('a plugin that is a class instance is called with itself as this', async t => {
  class Counting implements AdmissionPlugin {
    readonly name = 'counting'
    readonly handles = [{ operations: ['CREATE'], groups: [''], resources: ['configmaps'] }] as const
    #count = 0
    mutate ({ object }: { object: Record<string, unknown> | undefined }): void {
      labelsOf(object)[`n${++this.#count}`] = 'yes'
    }

    validate (): void { this.#count++ }
  }
  const server = await build(t, { admission: { plugins: [new Counting()] } })
  t.match(owned(await create(server, CONFIGS, config())), { 'f:metadata': { 'f:labels': { 'f:n1': {} } } })
})

t.test('the same holds in a dry run, by PUT, with a generated name and in the version that was sent', async t => {
  const hook = await hookServer(t, patching({ op: 'add', path: '/data/hook', value: '1' }))
  const server = await build(t)
  await configure(server, MUTATING, 'a', webhook('a', hook, everything))
  const data = { '.': {}, 'f:a': {}, 'f:hook': {} }
  t.same(owned(await create(server, CONFIGS, config(), '&dryRun=All'))['f:data'], data)
  t.same(owned(await create(server, CONFIGS, { metadata: { generateName: 'g-' }, data: { a: '1' } }))['f:data'], data)
  hook.answer = patching({ op: 'add', path: '/metadata/labels', value: { hook: '1' } })
  const lease = await server.call(
    'PUT', '/apis/coordination.orch.io/v1/namespaces/default/leases/l?fieldManager=me',
    { metadata: { name: 'l' }, spec: {} }
  )
  t.match(owned(lease), { 'f:metadata': { 'f:labels': { 'f:hook': {} } } })
  await server.delete(`${MUTATING}/a`)
  await configure(server, MUTATING, 'b', webhook('b', hook, {
    rules: [{ operations: ['CREATE'], apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['*'] }]
  }))
  hook.answer = patching({ op: 'add', path: '/spec/targetCPUUtilizationPercentage', value: 42 })
  const scaler = await create(server, AUTOSCALERS, {
    metadata: { name: 'a' },
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' } }
  })
  t.match(scaler.json.metadata.managedFields, [{ apiVersion: 'autoscaling/v2' }])
  t.same(Object.keys(owned(scaler)['f:spec']), ['f:maxReplicas', 'f:metrics', 'f:minReplicas', 'f:scaleTargetRef'])
})

t.test('an applier owns what it applied, and nothing that webhooks add, in new and existing objects', async t => {
  const hook = await hookServer(t, patching({ op: 'add', path: '/data/hook', value: '1' }))
  const server = await build(t, {
    admission: { plugins: [plugin(({ object }) => { labelsOf(object)['own'] = 'yes' })] }
  })
  await configure(server, MUTATING, 'a', webhook('a', hook, { rules: [{ ...rule, operations: ['CREATE', 'UPDATE'] }] }))
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: '1' } }
  const made = await apply(server, `${CONFIGS}/c`, 'me', applied)
  t.match(made.json, { data: { hook: '1' }, metadata: { labels: { own: 'yes' } } })
  t.same(owned(made, 'Apply me'), { 'f:data': { 'f:a': {} } })
  hook.answer = patching({ op: 'add', path: '/data/later', value: '1' })
  const { json } = await apply(server, `${CONFIGS}/c`, 'me', { ...applied, data: { a: '2' } })
  t.same(json.data, { a: '2', hook: '1', later: '1' }, 'nor is it taken out by the next apply')
  t.same(ownersOf(json), { 'Apply me': '{"f:data":{"f:a":{}}}' })
})

t.test('a webhook that changes nothing leaves the owners of built-in defaults unchanged', async t => {
  const server = await build(t)
  const bare = owned(await create(server, PODS, pod))
  await configure(server, MUTATING, 'a', webhook('a', await hookServer(t, allow), everything))
  t.same(owned(await create(server, PODS, { ...pod, metadata: { name: 'q' } })), bare)
})
