/** What an update may do to metadata. */
import t from 'tap'
import { build, type Json } from '../../../build.js'
import { ALL, creation, stored as kinds, title, urlOf } from '../../../conformance/collections.js'
import { causes, given, stored } from './cases.js'

/** Resources that accept any finalizer. */
const ANY_FINALIZER = [
  'events', 'poddisruptionbudgets', 'runtimeclasses', 'leases', 'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations', 'customresourcedefinitions', 'apiservices', 'storageversions'
]

t.test('every kind refuses what is wrong with metadata', async t => {
  const server = await build(t, ALL)
  for (const one of kinds.filter(one => one === one.type.stored)) {
    const { url, body } = creation(one)
    const { code, json } = await server.post(url, body)
    t.equal(code, 201, `${title(one)}: ${String(json['message'] ?? '')}`)
    const own = `${urlOf(one)}/${String(body['metadata'].name)}`
    t.same(
      causes(await server.patch(own, { metadata: { labels: { 'a b': 'c' } } })), ['Invalid metadata.labels'], title(one)
    )
    const finalized = await server.patch(`${own}?dryRun=All`, { metadata: { finalizers: ['plain'] } })
    t.same(
      causes(finalized), ANY_FINALIZER.includes(one.plural) ? [] : ['Invalid metadata.finalizers[0]'],
      `${title(one)}: a finalizer without a domain`
    )
    const renamed = await server.patch(own, { metadata: { uid: 'another' } })
    t.equal(renamed.code, 422, `${title(one)}: another uid`)
    t.ok(causes(renamed).includes('Invalid metadata.uid'), `${title(one)}: another uid`)
    const { json: current } = await server.get(own)
    const put = (metadata: Json) => server.put(own, { ...current, metadata: { ...current['metadata'], ...metadata } })
    t.match(
      await put({ uid: 'another' }), { code: 409, json: { reason: 'Conflict' } },
      `${title(one)}: who replaces another object`
    )
    const unconditional = await put({ resourceVersion: undefined })
    if (one.unconditionalUpdate) t.equal(unconditional.code, 200, title(one))
    else {
      t.same(causes(unconditional), ['Invalid metadata.resourceVersion'], title(one))
      t.match(
        unconditional.json, { details: { kind: one.plural, name: body['metadata'].name } }, 'the resource by its name'
      )
    }
    t.match(
      await put({ creationTimestamp: '2001-01-01T00:00:00Z', generation: 99, selfLink: '/here' }),
      {
        code: 200,
        json: {
          metadata: {
            creationTimestamp: json['metadata'].creationTimestamp,
            generation: json['metadata'].generation,
            selfLink: undefined
          }
        }
      },
      `${title(one)}: what the server says`
    )
  }
})

t.test('a finalizer without a domain, where it is new and where it comes later', async t => {
  const server = await build(t, ALL)
  const one = (place: string) => kinds.find(one => title(one) === place) ??
    kinds.flatMap(({ type }) => type.representations).find(one => title(one) === place)
  const finalizers = ['plain']
  for (const [place, create, update] of [
    ['apps/v1 deployments', 422, 422], ['v1 podtemplates', 422, 422], ['batch/v1 cronjobs', 422, 422],
    ['autoscaling/v2 horizontalpodautoscalers', 422, 422], ['v1 resourcequotas', 422, 422],
    ['events.orch.io/v1 events', 422, 422], ['v1 events', 201, 200], ['policy/v1beta1 podsecuritypolicies', 422, 422],
    ['scheduling.orch.io/v1 priorityclasses', 422, 422], ['storage.orch.io/v1 csidrivers', 422, 422],
    ['node.orch.io/v1 runtimeclasses', 201, 200], ['coordination.orch.io/v1 leases', 201, 200],
    ['policy/v1 poddisruptionbudgets', 201, 200]
  ] as const) {
    const found = one(place)
    if (found === undefined) throw new Error(place)
    const { url, body } = creation(found)
    const metadata = { ...body['metadata'], name: `finalized-${found.group === '' ? 'core' : 'named'}` }
    t.match(
      await server.post(`${url}?dryRun=All`, { ...body, metadata: { ...metadata, finalizers } }), { code: create },
      `new ${place}`
    )
    t.equal((await server.post(url, { ...body, metadata })).code, 201, place)
    const changed = await server.patch(`${url}/${metadata.name}?dryRun=All`, { metadata: { finalizers } })
    t.equal(changed.code, update, place)
    if (update === 422) t.same(causes(changed), ['Invalid metadata.finalizers[0]'], place)
  }
  t.match(
    await server.patch(
      '/apis/apps/v1/namespaces/default/deployments/finalized-named/status', { metadata: { finalizers } }
    ),
    { code: 422 },
    'by the status, too'
  )
})

const SENT = { metadata: { labels: { more: 'yes' }, annotations: { more: 'yes' }, finalizers: ['example.com/more'] } }
const KEPT = { metadata: { labels: undefined, annotations: undefined, finalizers: undefined } }

t.test('a status that says nothing of metadata leaves it alone, others change it', async t => {
  const server = await build(t, ALL)
  const kept = [
    'apiextensions.orch.io/v1 customresourcedefinitions', 'apiregistration.orch.io/v1 apiservices',
    'storage.orch.io/v1 volumeattachments', 'flowcontrol.apiserver.orch.io/v1beta2 flowschemas',
    'flowcontrol.apiserver.orch.io/v1beta2 prioritylevelconfigurations'
  ]
  const names: Readonly<Record<string, string>> = {
    customresourcedefinitions: 'widgets.example.com', apiservices: 'v1.metrics.example.com'
  }
  for (const place of kept) {
    const name = names[place.split(' ')[1] ?? '']
    await stored(t, server, `${place}/status`, [
      ['labels, annotations and finalizers', name === undefined ? {} : { metadata: { name } }, SENT, KEPT]
    ])
  }
  for (const place of [
    'v1 nodes', 'v1 services', 'v1 pods', 'apps/v1 replicasets', 'batch/v1 jobs', 'networking.orch.io/v1 ingresses',
    'policy/v1 poddisruptionbudgets', 'v1 persistentvolumes'
  ]) {
    await stored(t, server, `${place}/status`, [['labels, annotations and finalizers', {}, SENT, SENT]])
  }
  await stored(t, server, 'apps/v1 deployments/status', [
    [
      'labels alone stay', {}, SENT,
      { metadata: { labels: undefined, annotations: { more: 'yes' }, finalizers: ['example.com/more'] } }
    ]
  ])
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }
  await stored(t, server, 'v1 pods/status', [
    [
      'owners stay, and nobody begins a deletion', {},
      { metadata: { ownerReferences: [owner], deletionTimestamp: '2030-01-01T00:00:00Z' } },
      { metadata: { ownerReferences: undefined, deletionTimestamp: undefined } }
    ]
  ])
})

t.test('finalizers cannot be added to a terminating object', async t => {
  const server = await build(t)
  const { url } = await given(server, 'v1 configmaps', { metadata: { finalizers: ['example.com/hold'] } })
  await server.delete(url)
  t.same(
    causes(await server.patch(url, { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } })),
    ['Forbidden metadata.finalizers']
  )
  t.match(
    await server.patch(url, { metadata: { deletionTimestamp: null, deletionGracePeriodSeconds: null } }),
    { code: 200, json: { metadata: { deletionTimestamp: String } } }
  )
  t.equal((await server.patch(url, { metadata: { finalizers: null } })).code, 200)
  t.equal((await server.get(url)).code, 404)
})

t.test('generateName of updates is held to the rule of the kind where upstream does so', async t => {
  const server = await build(t)
  for (const [kind, code] of [
    ['v1 configmaps', 422], ['apps/v1 deployments', 200], ['coordination.orch.io/v1 leases', 200], ['v1 services', 422]
  ] as const) {
    const { url } = await given(server, kind, {})
    t.equal((await server.patch(`${url}?dryRun=All`, { metadata: { generateName: 'No_Name-' } })).code, code, kind)
  }
})
