/** Interface, 'Dry-run': rules 1 to 5. */
import t from 'tap'
import { BINDINGS, Watch, listen, build, binding, type Client, type Json, type Answer } from '../build.js'

const MERGE = 'application/merge-patch+json'
const without = ({ metadata, ...rest }: Json): Json => {
  const { uid, creationTimestamp, resourceVersion, deletionTimestamp, managedFields, ...kept } = metadata
  return {
    ...rest, metadata: { ...kept, managedFields: managedFields?.map((entry: Json) => ({ ...entry, time: '' })) }
  }
}

/** The writes rule 1 names, each as a function of its query. */
const WRITES: Record<string, (server: Client, query: string) => Promise<Answer>> = {
  POST: (server, query) => server.post(`${BINDINGS}${query}`, binding('made')),
  'PUT of a new one': (server, query) => server.put(`${BINDINGS}/put${query}`, binding('put')),
  PUT: (server, query) =>
    server.put(`${BINDINGS}/there${query}`, binding('there', { metadata: { labels: { changed: 'yes' } } })),
  PATCH: (server, query) => server.call(
    'PATCH', `${BINDINGS}/there${query}`, { metadata: { labels: { patched: 'yes' } } }, { 'content-type': MERGE }
  ),
  DELETE: (server, query) => server.call('DELETE', `${BINDINGS}/there${query}`),
  'DELETE of a held one': (server, query) => server.call('DELETE', `${BINDINGS}/held${query}`),
  'DELETE of all': (server, query) => server.call('DELETE', `${BINDINGS}${query}`)
}

async function world (t: Parameters<typeof build>[0]): Promise<Client> {
  const server = await build(t)
  await server.post(BINDINGS, binding('there'))
  await server.post(BINDINGS, binding('held', { metadata: { finalizers: ['example.com/hold'] } }))
  return server
}

t.test('only All is a dry run: absent and empty are real, anything else is 400', async t => {
  for (const [title, write] of Object.entries(WRITES)) {
    for (const query of ['', '?dryRun', '?dryRun=', '?dryRun&pretty=true', '?pretty=true&dryRun']) {
      const server = await world(t)
      const before = (await server.get(BINDINGS)).json
      t.ok((await write(server, query)).code < 300, `${title} ${query}`)
      t.not(
        JSON.stringify((await server.get(BINDINGS)).json.items), JSON.stringify(before.items),
        `${title} ${query} is real`
      )
    }
    const server = await world(t)
    for (const query of ['?dryRun=all', '?dryRun=true', '?dryRun=All&dryRun=other']) {
      t.match(await write(server, query), { code: 400, json: { reason: 'BadRequest' } }, `${title} ${query}`)
    }
  }
})

t.test('a dry run answers as the real request would and persists nothing', async t => {
  for (const [title, write] of Object.entries(WRITES)) {
    const server = await world(t)
    const before = await server.get(BINDINGS)
    const dry = await write(server, '?dryRun=All')
    const after = await server.get(BINDINGS)
    t.same(after.json.items, before.json.items, `${title} changes nothing`)
    const real = await write(server, '')
    t.equal(dry.code, real.code, `${title}: the normal status code`)
    t.equal(dry.json.kind, real.json.kind)
    if (dry.json.kind === 'ClusterRoleBinding') {
      t.same(without(dry.json), without(real.json), `${title}: the object that would be persisted`)
    }
  }
})

t.test('every stage runs: defaults, validation, conflicts, admission', async t => {
  const seen: string[] = []
  const server = await build(t, {
    admission: {
      plugins: [
        {
          name: 'labels',
          handles: ({ resource }) => resource === 'clusterrolebindings',
          mutate: request => {
            seen.push(`${request.operation} ${request.dryRun}`)
            if (request.object) (request.object as Json).metadata.labels = { admitted: 'yes' }
          }
        }
      ]
    }
  })
  const made = await server.post(`${BINDINGS}?dryRun=All`, {
    metadata: { name: 'a' }, roleRef: binding('a').roleRef, subjects: [{ kind: 'User', name: 'ann' }]
  })
  t.match(made.json, {
    metadata: { labels: { admitted: 'yes' } }, subjects: [{ apiGroup: 'rbac.authorization.orch.io' }]
  })
  t.same(seen, ['CREATE true'])
  t.equal((await server.post(`${BINDINGS}?dryRun=All`, { metadata: { name: 'a' } })).code, 422, 'validation')
  t.equal(
    (await server.post(`${BINDINGS}?dryRun=All&fieldValidation=Strict`, { ...binding('a'), extra: 1 })).code, 400,
    'the schema'
  )
  await server.post(BINDINGS, binding('there'))
  t.equal((await server.post(`${BINDINGS}?dryRun=All`, binding('there'))).json.reason, 'AlreadyExists')
  t.equal(
    (await server.put(
      `${BINDINGS}/there?dryRun=All`, binding('there', { metadata: { resourceVersion: '1' } })
    )).json.reason,
    'Conflict'
  )
  t.equal(
    (await server.call(
      'PATCH', `${BINDINGS}/there?dryRun=All`, [{ op: 'test', path: '/kind', value: 'x' }],
      { 'content-type': 'application/json-patch+json' }
    )).code,
    422,
    'the merge of a patch'
  )
  t.equal((await server.call('PATCH', `${BINDINGS}/none?dryRun=All`, {}, { 'content-type': MERGE })).code, 404)
  t.equal((await server.call('DELETE', `${BINDINGS}/none?dryRun=All`)).code, 404)
  t.equal((await server.call('DELETE', `${BINDINGS}/there?dryRun=All`, { preconditions: { uid: 'other' } })).code, 409)
})

t.test('an update of a definition that is dry or refused does not change the stored one', async t => {
  const server = await build(t)
  const url = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
  const version = (name: string, storage: boolean): Json => ({
    name, served: true, storage, schema: { openAPIV3Schema: { type: 'object' } }
  })
  let stored = (await server.post(url, {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [version('v1', true)]
    }
  })).json
  while (stored['status'].conditions?.some(({ type }: Json) => type === 'Established') !== true) {
    await new Promise(resolve => { setImmediate(resolve) })
    stored = (await server.get(`${url}/things.example.com`)).json
  }
  const both: Json = { ...stored, spec: { ...stored['spec'], versions: [version('v1', false), version('v2', true)] } }
  t.match(await server.put(`${url}/things.example.com?dryRun=All`, both), {
    code: 200, json: { status: { storedVersions: ['v1', 'v2'] } }
  })
  t.match(
    await server.put(`${url}/things.example.com`, { ...both, metadata: { ...both['metadata'], labels: { '!': '' } } }),
    { code: 422 }
  )
  t.same((await server.get(`${url}/things.example.com`)).json, stored)
  t.match(
    await server.put(`${url}/things.example.com`, {
      ...stored, metadata: { ...stored['metadata'], labels: { a: 'b' } }
    }),
    { code: 200, json: { status: { storedVersions: ['v1'] } } }
  )
})

t.test('generated values may differ, and are there', async t => {
  const server = await build(t)
  const body = { ...binding(''), metadata: { generateName: 'made-' } }
  const [one, two] = [
    await server.post(`${BINDINGS}?dryRun=All`, body), await server.post(`${BINDINGS}?dryRun=All`, body)
  ]
  t.match(one.json.metadata, { name: /^made-/, uid: String, creationTimestamp: String })
  t.not(one.json.metadata.name, two.json.metadata.name)
  t.equal((await server.get(`${BINDINGS}/${one.json.metadata.name}`)).code, 404)
})

t.test('admission with side effects fails a dry run that would trigger it, and that one only', async t => {
  let effects = 0
  const server = await build(t, {
    admission: {
      plugins: [
        {
          name: 'effects',
          sideEffects: true,
          handles: ({ operation }) => operation === 'UPDATE',
          mutate: () => { effects++ }
        }
      ]
    }
  })
  t.equal((await server.post(`${BINDINGS}?dryRun=All`, binding('a'))).code, 201)
  await server.post(BINDINGS, binding('a'))
  t.match(
    await server.put(`${BINDINGS}/a?dryRun=All`, binding('a', { metadata: { labels: { a: 'b' } } })),
    { code: 400, json: { kind: 'Status', status: 'Failure', message: /effects/ } }
  )
  t.equal(effects, 0)
  t.equal((await server.put(`${BINDINGS}/a`, binding('a', { metadata: { labels: { a: 'b' } } }))).code, 200)
  t.equal(effects, 1)
})

t.test('authorization is the same', async t => {
  const asked: string[] = []
  const server = await build(t, {
    authorization: {
      authorizers: [
        {
          name: 'no-bindings',
          authorize: ({ info }) => {
            asked.push(info.verb)
            return { decision: info.resource === 'clusterrolebindings' && info.verb !== 'list' ? 'Deny' : 'Allow' }
          }
        }
      ]
    }
  })
  for (const [title, write] of Object.entries(WRITES)) {
    asked.length = 0
    const dry = await write(server, '?dryRun=All')
    const verbs = asked.splice(0)
    const real = await write(server, '')
    t.equal(dry.code, 403, title)
    t.equal(real.code, 403)
    t.same(verbs, asked, `${title}: the same question`)
    t.equal(dry.json.message, real.json.message)
  }
})

t.test('DeleteOptions in the body can request a dry run too', async t => {
  const server = await world(t)
  t.equal((await server.delete(`${BINDINGS}/there`, { dryRun: ['All'] })).code, 200)
  t.equal((await server.delete(BINDINGS, { dryRun: ['All'] })).code, 200)
  t.equal((await server.get(BINDINGS)).json.items.length, 2)
  t.equal((await server.delete(`${BINDINGS}/there`, { dryRun: ['Some'] })).code, 400)
})

t.test('watches do not see a dry run', async t => {
  const server = await listen(t)
  await server.post(BINDINGS, binding('there'))
  const { resourceVersion } = (await server.get(BINDINGS)).json.metadata
  const watch = await Watch.open(t, `${server.url}${BINDINGS}?watch=1&resourceVersion=${resourceVersion}`)
  for (const [title, write] of Object.entries(WRITES)) if (!title.includes('held')) await write(server, '?dryRun=All')
  await server.post(BINDINGS, binding('real'))
  t.equal((await watch.take(1))[0]?.object.metadata.name, 'real')
})
