/** Interface, 'ClusterRoleBinding operations': every operation, parameter and success code of the table. */
import t from 'tap'
import { BINDINGS, Watch, types, listen, build, binding, type Client, type Json, type Answer } from '../build.js'

const JSON_TYPE = 'application/json'
const MERGE = { 'content-type': 'application/merge-patch+json' }
const one = (name: string, query = ''): string => `${BINDINGS}/${name}${query}`
const names = ({ json }: Answer): string[] => json.items.map(({ metadata }: Json) => metadata.name)

async function withThree (t: Parameters<typeof build>[0]): Promise<Client> {
  const server = await build(t)
  for (const name of ['a', 'b', 'c']) {
    await server.post(BINDINGS, binding(name, { metadata: { labels: { letter: name, vowel: String(name === 'a') } } }))
  }
  return server
}

t.test('get: 200 with the object, pretty indents it', async t => {
  const server = await withThree(t)
  const compact = await server.get(one('a'))
  t.match(compact, {
    code: 200,
    json: { kind: 'ClusterRoleBinding', apiVersion: 'rbac.authorization.orch.io/v1', metadata: { name: 'a' } }
  })
  t.equal(compact.body.trimEnd().includes('\n'), false)
  for (const value of ['true', '1', 'yes', 'x']) {
    const pretty = await server.get(one('a', `?pretty=${value}`))
    t.ok(pretty.body.includes('\n  "metadata"'))
    t.same(pretty.json, compact.json, 'the same object')
  }
  for (const value of ['false', 'FALSE', '0', '']) {
    t.equal((await server.get(one('a', `?pretty=${value}`))).body, compact.body)
  }
})

t.test('list: 200 with the collection, and each of its parameters', async t => {
  const server = await withThree(t)
  const all = await server.get(BINDINGS)
  t.match(all, { code: 200, json: { kind: 'ClusterRoleBindingList', apiVersion: 'rbac.authorization.orch.io/v1' } })
  t.same(names(all), ['a', 'b', 'c'])
  t.same(names(await server.get(`${BINDINGS}?fieldSelector=metadata.name%3Db`)), ['b'])
  t.same(names(await server.get(`${BINDINGS}?fieldSelector=metadata.name!%3Db`)), ['a', 'c'])
  t.same(names(await server.get(`${BINDINGS}?labelSelector=vowel%3Dtrue`)), ['a'])
  t.same(names(await server.get(`${BINDINGS}?labelSelector=letter+in+(a,c),vowel!%3Dtrue`)), ['c'])
  t.same(names(await server.get(`${BINDINGS}?labelSelector=!letter`)), [])
  const first = await server.get(`${BINDINGS}?limit=2`)
  t.same(names(first), ['a', 'b'])
  t.same(names(await server.get(`${BINDINGS}?limit=2&continue=${first.json.metadata.continue}`)), ['c'])
  const { resourceVersion } = all.json.metadata
  t.same(
    names(await server.get(`${BINDINGS}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`)),
    ['a', 'b', 'c']
  )
  t.equal(
    (await server.get(`${BINDINGS}?timeoutSeconds=5&allowWatchBookmarks=true&watch=false`)).json.kind,
    'ClusterRoleBindingList'
  )
  t.ok((await server.get(`${BINDINGS}?pretty=true`)).body.includes('\n  "items": [\n'))
})

t.test('watch: an event stream when watch is set, and each of its parameters', async t => {
  const server = await listen(t)
  for (const name of ['a', 'b']) await server.post(BINDINGS, binding(name, { metadata: { labels: { letter: name } } }))
  const open = (query: string): Promise<Watch> => Watch.open(t, `${server.url}${BINDINGS}?${query}`)
  for (const value of ['watch', 'watch=', 'watch=1', 'watch=true']) {
    const watch = await open(value)
    t.equal(watch.code, 200)
    t.same(types(await watch.take(2)), ['ADDED a', 'ADDED b'], value)
    watch.close()
  }
  t.same(types(await (await open('watch=1&labelSelector=letter%3Db')).take(1)), ['ADDED b'])
  t.same(types(await (await open('watch=1&fieldSelector=metadata.name%3Db')).take(1)), ['ADDED b'])
  const timed = await open('watch=1&timeoutSeconds=1&allowWatchBookmarks=true')
  await timed.end()
  t.same(types(timed.events.slice(0, 2)), ['ADDED a', 'ADDED b'])
  const { metadata } = (await server.get(BINDINGS)).json
  const from = await open(`watch=1&resourceVersion=${metadata.resourceVersion}`)
  await server.delete(one('a'))
  t.same(types(await from.take(1)), ['DELETED a'])
  t.equal((await open('watch=1&limit=1&pretty=true')).code, 200, 'limit and pretty change nothing')
})

t.test('create: 201 with the object as it is stored, and each of its parameters', async t => {
  const server = await build(t)
  const made = await server.post(BINDINGS, binding('a'))
  t.equal(made.code, 201)
  t.same((await server.get(one('a'))).json, made.json)
  t.equal((await server.post(BINDINGS, binding('a'))).code, 409)
  t.equal((await server.post(`${BINDINGS}?dryRun=All`, binding('dry'))).code, 201)
  t.equal((await server.get(one('dry'))).code, 404)
  t.equal((await server.post(`${BINDINGS}?fieldManager=me`, binding('managed'))).code, 201)
  t.equal((await server.post(`${BINDINGS}?fieldValidation=Strict`, { ...binding('strict'), extra: 1 })).code, 400)
  t.equal(
    (await server.post(`${BINDINGS}?fieldValidation=Ignore`, { ...binding('ignore'), extra: 1 })).headers.warning,
    undefined
  )
  t.match(
    (await server.post(`${BINDINGS}?fieldValidation=Warn`, { ...binding('warn'), extra: 1 })).headers.warning,
    /299 - "unknown field \\"extra\\""/
  )
  t.ok((await server.post(`${BINDINGS}?pretty=true`, binding('pretty'))).body.includes('\n  "metadata"'))
  t.equal((await server.post(BINDINGS, '')).code, 400, 'the body is required')
})

t.test('update: 200 for what exists, 201 for what does not, and each of its parameters', async t => {
  const server = await build(t)
  t.equal((await server.put(one('a'), binding('a'))).code, 201)
  const { json } = await server.put(one('a'), binding('a', { subjects: [{ kind: 'Group', name: 'g' }] }))
  t.match(json.subjects, [{ kind: 'Group', name: 'g' }])
  t.equal((await server.put(one('a'), json)).code, 200)
  t.equal((await server.put(one('b', '?dryRun=All'), binding('b'))).code, 201)
  t.equal((await server.get(one('b'))).code, 404)
  t.equal((await server.put(one('a', '?dryRun=All'), { ...json, subjects: [] })).code, 200)
  t.equal((await server.get(one('a'))).json.subjects.length, 1)
  t.equal((await server.put(one('a', '?fieldManager=me&fieldValidation=Strict'), { ...json, extra: 1 })).code, 400)
  t.ok((await server.put(one('a', '?pretty=true'), json)).body.includes('\n  "metadata"'))
  t.equal((await server.put(one('a'), '')).code, 400, 'the body is required')
  t.equal((await server.put(one('a'), binding('other'))).code, 400, 'its name is that of the path')
})

t.test('patch: 200 with the result, and each of its parameters', async t => {
  const server = await withThree(t)
  const label = { metadata: { labels: { patched: 'yes' } } }
  t.match(await server.patch(one('a'), label), {
    code: 200, json: { metadata: { name: 'a', labels: { patched: 'yes', letter: 'a' } } }
  })
  t.match(await server.call('PATCH', one('b', '?dryRun=All'), label, MERGE), {
    code: 200, json: { metadata: { labels: { patched: 'yes' } } }
  })
  t.equal((await server.get(one('b'))).json.metadata.labels.patched, undefined)
  t.equal(
    (await server.call('PATCH', one('b', '?fieldManager=me&fieldValidation=Strict'), { extra: 1 }, MERGE)).code, 422
  )
  for (const query of ['force=true', 'force=false', 'force=']) {
    t.match(
      await server.call('PATCH', one('b', `?${query}`), {}, MERGE),
      { code: 422, json: { details: { causes: [{ reason: 'FieldValueForbidden', field: 'force' }] } } },
      `${query}: force is of apply alone`
    )
  }
  t.ok((await server.call('PATCH', one('b', '?pretty=true'), {}, MERGE)).body.includes('\n  "metadata"'))
  t.equal((await server.patch(one('none'), label)).code, 404)
  t.equal((await server.call('PATCH', one('a'), '', MERGE)).code, 400, 'the body is required')
  t.equal((await server.call('PATCH', BINDINGS, label, MERGE)).code, 405, 'and so is the name')
})

t.test('delete: 200 with a Status, 202 while something holds the object, and each of its parameters', async t => {
  const server = await withThree(t)
  t.match(await server.call('DELETE', one('a', '?dryRun=All')), { code: 200 })
  t.equal((await server.get(one('a'))).code, 200)
  t.match(
    await server.call('DELETE', one('a', '?gracePeriodSeconds=0&propagationPolicy=Background&pretty=true')),
    {
      code: 200,
      json: {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Success',
        details: { name: 'a', group: 'rbac.authorization.orch.io', kind: 'clusterrolebindings' }
      }
    }
  )
  t.equal((await server.get(one('a'))).code, 404)
  t.equal((await server.call('DELETE', one('b', '?propagationPolicy=Foreground'))).code, 202)
  t.match((await server.get(one('b'))).json.metadata, { deletionTimestamp: String, finalizers: ['foregroundDeletion'] })
  const { uid } = (await server.get(one('c'))).json.metadata
  t.equal(
    (await server.delete(one('c'), { preconditions: { uid: 'other' } })).code, 409, 'DeleteOptions may come as the body'
  )
  t.match(
    await server.delete(one('c'), {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid },
      propagationPolicy: 'Background',
      gracePeriodSeconds: 0
    }),
    { code: 200, json: { status: 'Success' } }
  )
  t.equal((await server.delete(one('c'))).code, 404)
})

t.test('deletecollection: 200 with a Status, and each of its parameters', async t => {
  const server = await withThree(t)
  const left = async (): Promise<string[]> => names(await server.get(BINDINGS))
  t.equal((await server.call('DELETE', `${BINDINGS}?dryRun=All`)).code, 200)
  t.same(await left(), ['a', 'b', 'c'])
  const parameters =
    'labelSelector=letter%3Da&pretty=true&timeoutSeconds=30&gracePeriodSeconds=0&propagationPolicy=Background'
  t.match(await server.call('DELETE', `${BINDINGS}?${parameters}`), {
    code: 200, json: { kind: 'Status', status: 'Success' }
  })
  t.same(await left(), ['b', 'c'])
  t.equal((await server.call('DELETE', `${BINDINGS}?fieldSelector=metadata.name%3Dc`)).code, 200)
  t.same(await left(), ['b'])
  await server.post(BINDINGS, binding('d'))
  const { resourceVersion } = (await server.get(BINDINGS)).json.metadata
  await server.post(BINDINGS, binding('e'))
  t.equal(
    (await server.call('DELETE', `${BINDINGS}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`)).code, 200
  )
  t.same(await left(), ['e'], 'the state chosen did not have it yet')
  for (const name of ['f', 'g']) await server.post(BINDINGS, binding(name))
  const page = await server.call('DELETE', `${BINDINGS}?limit=2`)
  t.equal(page.code, 200)
  t.same(await left(), ['g'], 'a page at a time')
  t.equal((await server.call('DELETE', `${BINDINGS}?limit=2&continue=${page.json.metadata.continue}`)).code, 200)
  t.same(await left(), [])
  t.equal((await server.delete(BINDINGS, { propagationPolicy: 'Orphan' })).code, 200, 'of nothing, with a body')
})

t.test('every operation can answer 401', async t => {
  const server = await build(t, { authentication: { tokens: 'known,ann,1\n' } })
  for (const [method, url, body] of [
    ['GET', one('a')], ['GET', BINDINGS], ['GET', `${BINDINGS}?watch=1`], ['POST', BINDINGS, binding('a')],
    ['PUT', one('a'), binding('a')], ['PATCH', one('a'), {}], ['DELETE', one('a')], ['DELETE', BINDINGS]
  ] as const) {
    t.match(
      await server.call(method, url, body, {
        'content-type': method === 'PATCH' ? MERGE['content-type'] : JSON_TYPE, authorization: 'Bearer unknown'
      }),
      { code: 401, json: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Unauthorized', code: 401 } },
      `${method} ${url}`
    )
  }
})

t.test('no other method is one of them', async t => {
  const server = await withThree(t)
  for (const [method, url] of [
    ['POST', one('a')], ['PUT', BINDINGS], ['PATCH', BINDINGS], ['HEAD', one('a')], ['OPTIONS', BINDINGS]
  ] as const) {
    const { code, json } = await server.call(
      method, url, method === 'HEAD' || method === 'OPTIONS' ? undefined : binding('a')
    )
    t.equal(code, 405, `${method} ${url}`)
    if (method !== 'HEAD') t.equal(json.reason, 'MethodNotAllowed')
  }
})
