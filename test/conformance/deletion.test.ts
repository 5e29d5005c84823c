/** Interface, 'Deletion of an object': finalization, removal, and every transition between them. */
import t from 'tap'
import { BINDINGS, Watch, types, listen, build, binding, type Client, type Json } from '../build.js'

const ONE = 'example.com/one'
const TWO = 'example.com/two'
const url = `${BINDINGS}/a`

async function held (t: Parameters<typeof build>[0], finalizers: readonly string[] = [ONE, TWO]): Promise<Client> {
  const server = await build(t)
  await server.post(BINDINGS, binding('a', { metadata: { finalizers } }))
  return server
}

/** Ways to write the remaining finalizers. */
const FINALIZER_CHANGES: Record<string, (
  server: Client, finalizers: readonly string[]
) => Promise<{ code: number, json: Json }>> = {
  PUT: async (server, finalizers) => {
    const { json } = await server.get(url)
    return await server.put(url, { ...json, metadata: { ...json.metadata, finalizers } })
  },
  'merge patch': (server, finalizers) => server.patch(url, { metadata: { finalizers } }),
  'JSON patch': (server, finalizers) => server.patch(
    url, [{ op: 'replace', path: '/metadata/finalizers', value: finalizers }], 'application/json-patch+json'
  )
}

t.test(
  'live → terminating: the first delete sets deletionTimestamp to now and answers 202 with the object', async t => {
    const server = await held(t)
    const since = Math.floor(Date.now() / 1000) * 1000
    const { code, json } = await server.delete(url)
    t.equal(code, 202)
    const deleted = Date.parse(json.metadata.deletionTimestamp)
    t.ok(deleted >= since && deleted <= Date.now(), json.metadata.deletionTimestamp)
    t.same(json.metadata.finalizers, [ONE, TWO])
    t.same((await server.get(url)).json, json, 'it is still there')
    t.equal((await server.post(BINDINGS, binding('a'))).code, 409, 'and so its name is taken')
  }
)

t.test('under 1.36 a delete of what something holds is 200, unless the client says that dependents go too', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  const pods = '/api/v1/namespaces/default/pods'
  for (const [index, [options, code]] of ([
    [undefined, 200], [{ propagationPolicy: 'Foreground' }, 200], [{ propagationPolicy: 'Orphan' }, 200],
    [{ orphanDependents: false }, 202]
  ] as const).entries()) {
    await server.post(BINDINGS, binding(`b${index}`, { metadata: { finalizers: [ONE] } }))
    t.match(
      await server.delete(`${BINDINGS}/b${index}`, options),
      { code, json: { kind: 'ClusterRoleBinding', metadata: { deletionTimestamp: /Z$/ } } }, JSON.stringify(options)
    )
    await server.post(
      pods, { metadata: { name: `p${index}` }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } }
    )
    t.match(
      await server.delete(`${pods}/p${index}`, options),
      { code, json: { kind: 'Pod', metadata: { deletionGracePeriodSeconds: 30 } } }, JSON.stringify(options)
    )
  }
})

t.test('terminating: a further delete changes nothing', async t => {
  const server = await held(t)
  const first = await server.delete(url)
  const again = await server.delete(url)
  t.equal(again.code, 202)
  t.equal(again.json.metadata.deletionTimestamp, first.json.metadata.deletionTimestamp)
  t.equal(again.json.metadata.resourceVersion, first.json.metadata.resourceVersion)
})

for (const [way, set] of Object.entries(FINALIZER_CHANGES)) {
  t.test(`terminating → terminating → removed, by ${way}, in any order`, async t => {
    for (const left of [ONE, TWO]) {
      const server = await held(t)
      await server.delete(url)
      const partly = await set(server, [left])
      t.equal(partly.code, 200)
      t.same(partly.json.metadata.finalizers, [left])
      t.ok(partly.json.metadata.deletionTimestamp)
      t.equal((await server.get(url)).code, 200, 'as long as one is left it stays')
      t.equal((await set(server, [])).code, 200)
      t.equal((await server.get(url)).code, 404, 'with the last it is removed')
      const again = await server.post(BINDINGS, binding('a'))
      t.equal(again.code, 201, 'and its name can be used again')
      t.not(again.json.metadata.uid, partly.json.metadata.uid)
    }
  })

  t.test(`live: taking all finalizers away by ${way} removes nothing`, async t => {
    const server = await held(t)
    t.equal((await set(server, [])).code, 200)
    const { code, json } = await server.get(url)
    t.equal(code, 200)
    t.equal(json.metadata.deletionTimestamp, undefined)
    t.match(
      await server.delete(url), { code: 200, json: { kind: 'Status', status: 'Success' } },
      'and then a delete removes at once'
    )
    t.equal((await server.get(url)).code, 404)
  })
}

t.test('terminating: no finalizer is added, none of the deletion is undone, all else may change', async t => {
  const server = await held(t)
  const { json } = await server.delete(url)
  t.equal((await server.patch(url, { metadata: { finalizers: [ONE, TWO, 'example.com/three'] } })).code, 422)
  t.same(
    (await server.patch(url, { metadata: { finalizers: [TWO, ONE] } })).json.metadata.finalizers, [TWO, ONE],
    'another order is no addition'
  )
  t.equal(
    (await server.patch(url, { metadata: { deletionTimestamp: null } })).json.metadata.deletionTimestamp,
    json.metadata.deletionTimestamp
  )
  t.equal(
    (await server.put(url, binding('a', { metadata: { finalizers: [ONE] } }))).json.metadata.deletionTimestamp,
    json.metadata.deletionTimestamp
  )
  t.equal((await server.patch(url, { metadata: { labels: { still: 'alive' } } })).json.metadata.labels.still, 'alive')
})

t.test('an update cannot make a live object terminating', async t => {
  const server = await held(t)
  await server.patch(url, { metadata: { deletionTimestamp: '2001-01-01T00:00:00Z' } })
  t.equal((await server.get(url)).json.metadata.deletionTimestamp, undefined)
})

t.test('without finalizers a delete removes at once', async t => {
  const server = await held(t, [])
  t.match(await server.delete(url), { code: 200, json: { kind: 'Status', status: 'Success', details: { name: 'a' } } })
  t.equal((await server.get(url)).code, 404)
  t.match(await server.delete(url), { code: 404, json: { reason: 'NotFound' } })
})

t.test('the propagation policy is recorded as a finalizer', async t => {
  for (const [policy, finalizers] of [
    ['Orphan', ['orphan']], ['Foreground', ['foregroundDeletion']], ['Background', undefined]
  ] as const) {
    const server = await held(t, [])
    const { code } = await server.call('DELETE', `${url}?propagationPolicy=${policy}`)
    t.equal(code, finalizers === undefined ? 200 : 202, policy)
    const left = await server.get(url)
    if (finalizers === undefined) t.equal(left.code, 404)
    else t.same(left.json.metadata.finalizers, finalizers)
  }
})

t.test('events have no dependents, so finalizers for those do not delay their deletion', async t => {
  const server = await build(t)
  const events = '/api/v1/namespaces/default/events'
  for (const [finalizers, code] of [
    [['orphan'], 200], [['foregroundDeletion'], 200], [['orphan', ONE], 202]
  ] as const) {
    t.equal(
      (await server.post(events, {
        metadata: { name: 'a', finalizers }, involvedObject: { namespace: 'default' }
      })).code,
      201
    )
    t.equal((await server.delete(`${events}/a`, { propagationPolicy: 'Orphan' })).code, code, finalizers.join())
  }
  t.same((await server.get(`${events}/a`)).json.metadata.finalizers, [ONE])
})

t.test('a type that orphans says so with each deletion that says nothing else', async t => {
  const server = await build(t)
  const controllers = '/api/v1/namespaces/default/replicationcontrollers'
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  await server.post(controllers, {
    metadata: { name: 'one', finalizers: [ONE] }, spec: { selector: { a: 'b' }, template }
  })
  const steps: ReadonlyArray<readonly [object | undefined, string[]]> = [
    [{ propagationPolicy: 'Background' }, [ONE]],
    [undefined, [ONE, 'orphan']],
    [{ propagationPolicy: 'Foreground' }, [ONE, 'foregroundDeletion']],
    [undefined, [ONE, 'foregroundDeletion']]
  ]
  for (const [options, finalizers] of steps) {
    t.match(
      await server.delete(`${controllers}/one`, options), { code: 202, json: { metadata: { finalizers } } },
      JSON.stringify(options)
    )
  }
})

t.test('without a garbage collector no deletion waits for one', async t => {
  const server = await build(t, { storage: { garbageCollection: false } })
  const controllers = '/api/v1/namespaces/default/replicationcontrollers'
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  for (const propagationPolicy of [undefined, 'Orphan', 'Foreground', 'Background']) {
    t.equal(
      (await server.post(controllers, { metadata: { name: 'one' }, spec: { selector: { a: 'b' }, template } })).code,
      201
    )
    t.equal(
      (await server.delete(
        `${controllers}/one`, propagationPolicy === undefined ? undefined : { propagationPolicy }
      )).code,
      200
    )
    t.equal((await server.get(`${controllers}/one`)).code, 404, `${propagationPolicy ?? 'by default'}: it is deleted`)
  }
})

t.test('a watch sees the marking, each step, and the removal', async t => {
  const server = await listen(t)
  const watch = await Watch.open(t, `${server.url}${BINDINGS}?watch=1`)
  await server.post(BINDINGS, binding('a', { metadata: { finalizers: [ONE, TWO] } }))
  await server.delete(url)
  await server.patch(url, { metadata: { finalizers: [TWO] } })
  await server.patch(url, { metadata: { finalizers: [] } })
  const events = await watch.take(4)
  t.same(types(events), ['ADDED a', 'MODIFIED a', 'MODIFIED a', 'DELETED a'])
  t.same(events.map(({ object }) => object.metadata.deletionTimestamp !== undefined), [false, true, true, true])
})

t.test('creating an object that is being deleted is refused and the message says so', async t => {
  const server = await held(t)
  const taken = 'clusterrolebindings.rbac.authorization.orch.io "a" already exists'
  t.match((await server.post(BINDINGS, binding('a'))).json, { code: 409, reason: 'AlreadyExists', message: taken })
  await server.delete(url)
  for (const create of [BINDINGS, `${BINDINGS}?dryRun=All`]) {
    t.match((await server.post(create, binding('a'))).json, {
      code: 409, reason: 'AlreadyExists', message: `object is being deleted: ${taken}`, details: { name: 'a' }
    })
  }
})

t.test('a collection is deleted object by object: those with finalizers stay, marked', async t => {
  const server = await held(t)
  for (const name of ['b', 'c']) await server.post(BINDINGS, binding(name))
  t.equal((await server.call('DELETE', BINDINGS)).code, 200)
  const { items } = (await server.get(BINDINGS)).json
  t.same(items.map(({ metadata }: Json) => metadata.name), ['a'])
  t.ok(items[0].metadata.deletionTimestamp)
})

t.test('many that take their finalizers away at once remove the object once', async t => {
  const finalizers = Array.from({ length: 12 }, (_, index) => `example.com/f-${index}`)
  const server = await held(t, finalizers)
  await server.delete(url)
  const results = await Promise.all(finalizers.map(async finalizer => {
    for (;;) {
      const { code, json } = await server.get(url)
      if (code === 404) return 'gone'
      const left = (json.metadata.finalizers as string[]).filter(one => one !== finalizer)
      const put = await server.put(url, { ...json, metadata: { ...json.metadata, finalizers: left } })
      if (put.code === 200) return 'done'
      if (put.code !== 409 && put.code !== 404) return `${put.code} ${put.json.message}`
    }
  }))
  t.same(results, finalizers.map(() => 'done'))
  t.equal((await server.get(url)).code, 404)
})
