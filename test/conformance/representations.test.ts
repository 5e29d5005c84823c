/** One type in several versions and groups: what is written through one is visible through all, without loss. */
import t from 'tap'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, listen, PROTOBUF, TABLE, Watch, type Json } from '../build.js'

const CORE = '/api/v1/namespaces/default/events'
const V1 = '/apis/events.orch.io/v1/namespaces/default/events'
const BETA = '/apis/events.orch.io/v1beta1/namespaces/default/events'

const regarding = { kind: 'Pod', namespace: 'default', name: 'web-1', apiVersion: 'v1' }
const fresh = (name: string, more: Json = {}): Json => ({
  metadata: { name }, eventTime: '2026-01-02T03:04:05.678901Z', reportingController: 'example.com/scaler',
  reportingInstance: 'scaler-0', action: 'Scaling', reason: 'Scaled', type: 'Normal', note: 'It was scaled.', regarding,
  ...more
})
const old = (name: string): Json => ({
  metadata: { name }, involvedObject: regarding, reason: 'Pulled', message: 'The image was pulled.',
  source: { component: 'agent', host: 'node-1' }, firstTimestamp: '2026-01-02T03:04:05Z',
  lastTimestamp: '2026-01-02T03:05:05Z', count: 3, type: 'Normal'
})

t.test('an event written in one version is read in all, under the names each has', async t => {
  const server = await build(t)
  t.match(
    await server.post(V1, fresh('a', { series: { count: 2, lastObservedTime: '2026-01-02T03:04:06.000001Z' } })),
    { code: 201, json: { kind: 'Event', apiVersion: 'events.orch.io/v1', regarding } }
  )
  t.match((await server.get(`${CORE}/a`)).json, {
    apiVersion: 'v1', involvedObject: regarding, message: 'It was scaled.', reportingComponent: 'example.com/scaler',
    eventTime: '2026-01-02T03:04:05.678901Z', series: { count: 2 }, regarding: undefined, note: undefined
  })
  t.match((await server.get(`${BETA}/a`)).json, {
    apiVersion: 'events.orch.io/v1beta1', regarding, note: 'It was scaled.'
  })
  t.match(await server.post(CORE, old('b')), { code: 201, json: { apiVersion: 'v1', involvedObject: regarding } })
  t.match((await server.get(`${V1}/b`)).json, {
    apiVersion: 'events.orch.io/v1', deprecatedCount: 3, deprecatedSource: { component: 'agent', host: 'node-1' },
    deprecatedFirstTimestamp: '2026-01-02T03:04:05Z', deprecatedLastTimestamp: '2026-01-02T03:05:05Z',
    note: 'The image was pulled.'
  })
})

t.test('a round through another version loses nothing and is no change', async t => {
  const server = await build(t)
  await server.post(CORE, old('b'))
  await server.post(V1, fresh('a'))
  for (const name of ['a', 'b']) {
    const { json: before } = await server.get(`${CORE}/${name}`)
    for (const url of [V1, BETA]) {
      const { json } = await server.get(`${url}/${name}`)
      t.equal((await server.put(`${url}/${name}`, json)).code, 200, `${url}/${name}`)
      t.same((await server.get(`${CORE}/${name}`)).json, before, 'the stored object and its version are unchanged')
    }
  }
})

t.test('every form of every version: lists, tables, protobuf, selectors, patches, deletion', async t => {
  const server = await build(t)
  for (const name of ['a', 'b', 'c']) await server.post(CORE, old(name))
  const list = (await server.get(V1)).json
  t.match(list, { kind: 'EventList', apiVersion: 'events.orch.io/v1' })
  t.same(
    list.items.map((item: Json) => [item.metadata.name, item.apiVersion, item.note]),
    ['a', 'b', 'c'].map(name => [name, 'events.orch.io/v1', 'The image was pulled.'])
  )
  t.equal((await server.get(`${V1}?limit=2`)).json.items.length, 2)
  t.equal((await server.get(V1, { accept: PROTOBUF })).raw.subarray(0, 4).toString('hex'), '6b387300')
  t.match((await server.get(`${V1}/a`, { accept: 'application/yaml' })).body, /^note: The image was pulled\.$/m)
  const table = (await server.get(V1, { accept: TABLE })).json
  t.same(table.columnDefinitions.map(({ name }: Json) => name), [
    'Last Seen', 'Type', 'Reason', 'Object', 'Subobject', 'Source', 'Message', 'First Seen', 'Count', 'Name'
  ])
  t.match(table.rows[0].cells.slice(1, 5), ['Normal', 'Pulled', 'pod/web-1', ''])
  t.equal((await server.get(`${V1}?fieldSelector=regarding.name=web-1`)).json.items.length, 3)
  t.equal((await server.get(`${V1}?fieldSelector=regarding.name=other`)).json.items.length, 0)
  t.equal((await server.get(`${CORE}?fieldSelector=involvedObject.name=web-1,reason=Pulled`)).json.items.length, 3)
  t.equal(
    (await server.get(`${V1}?fieldSelector=involvedObject.name=web-1`)).code, 400, 'the labels are those of the version'
  )
  const patched = await server.patch(`${BETA}/a`, { note: 'It was pulled again.' })
  t.match(patched, { code: 200, json: { apiVersion: 'events.orch.io/v1beta1', note: 'It was pulled again.' } })
  t.equal((await server.get(`${CORE}/a`)).json.message, 'It was pulled again.')
  t.match(await server.get(`${V1}/none`), {
    code: 404,
    json: { message: 'events.events.orch.io "none" not found', details: { group: 'events.orch.io', kind: 'events' } }
  })
  t.equal((await server.delete(`${V1}/a`)).code, 200)
  t.equal((await server.get(`${CORE}/a`)).code, 404)
})

t.test('a watch of any version sees the changes of all', async t => {
  const server = await listen(t)
  const { resourceVersion } = (await server.get(CORE)).json.metadata
  const watches = await Promise.all([CORE, V1, BETA].map(url =>
    Watch.open(t, `${server.url}${url}?watch=1&resourceVersion=${resourceVersion}`)))
  await server.post(V1, fresh('a'))
  await server.post(CORE, old('b'))
  await server.delete(`${BETA}/a`)
  for (const [at, version] of ['v1', 'events.orch.io/v1', 'events.orch.io/v1beta1'].entries()) {
    const events = await watches[at]?.take(3) ?? []
    t.same(events.map(({ type, object }) => [type, object.metadata.name, object.apiVersion]), [
      ['ADDED', 'a', version], ['ADDED', 'b', version], ['DELETED', 'a', version]
    ])
  }
  const initial = await Watch.open(t, `${server.url}${V1}?watch=1`)
  t.match((await initial.take(1))[0], {
    type: 'ADDED', object: { apiVersion: 'events.orch.io/v1', metadata: { name: 'b' }, note: 'The image was pulled.' }
  })
})

t.test('new events of events.orch.io/v1 say all there is to say, and only there', async t => {
  const server = await build(t)
  const causes = async (url: string, body: Json): Promise<string[]> => {
    const { details } = (await server.post(url, body)).json
    return (details?.causes ?? []).map(
      ({ reason, field }: Json) => `${String(reason).replace('FieldValue', '')} ${String(field)}`
    )
  }
  t.same(await causes(V1, { metadata: { name: 'x' }, regarding }), ['Required eventTime', 'Invalid type'])
  t.same(await causes(
    V1,
    fresh('x', { reportingController: undefined, reportingInstance: undefined, action: undefined, reason: undefined })
  ), [
    'Required reportingController', 'Invalid reportingController', 'Invalid reportingController',
    'Required reportingInstance', 'Required action', 'Required reason'
  ])
  t.same(
    await causes(V1, fresh('x', {
      type: 'Other',
      deprecatedCount: 2,
      deprecatedSource: { host: 'h' },
      deprecatedFirstTimestamp: '2026-01-02T03:04:05Z'
    })),
    ['Invalid type', 'Invalid firstTimestamp', 'Invalid count', 'Invalid source']
  )
  t.same(await causes(V1, fresh('x', { series: { count: 1 } })), [
    'Invalid series.count', 'Required series.lastObservedTime'
  ])
  t.same(
    await causes(V1, fresh('Any_Name', { metadata: { name: 'Any_Name', finalizers: ['plain'] } })),
    ['Invalid metadata.name', 'Invalid metadata.finalizers[0]']
  )
  t.same(
    await causes(BETA, { metadata: { name: 'Any_Name', finalizers: ['plain'] }, regarding }), [],
    'the earlier version requires less'
  )
  t.same(await causes(CORE, old('Other_Name')), [], 'and so does core v1')
  t.same(
    await causes(CORE, {
      ...old('x'), eventTime: '2026-01-02T03:04:05.678901Z', reportingInstance: 'a', action: 'b', reason: 'c'
    }),
    ['Required reportingComponent', 'Invalid reportingComponent', 'Invalid reportingComponent'],
    'where the reporting controller has another field name'
  )
  await server.post(V1, fresh('kept'))
  t.same(
    ((await server.patch(`${V1}/kept`, { note: 'Another.' })).json.details.causes as Json[]).map(({ field }) => field),
    ['message']
  )
  t.equal(
    (await server.patch(`${V1}/kept`, { series: { count: 2, lastObservedTime: '2026-01-02T03:04:06.000001Z' } })).code,
    200
  )
})

t.test('discovery has each version with its resource, stored as one', async t => {
  const server = await build(t)
  const group = (await server.get('/apis/events.orch.io')).json
  t.match(group, { preferredVersion: { version: 'v1' }, versions: [{ version: 'v1' }, { version: 'v1beta1' }] })
  const hashes = await Promise.all([
    '/api/v1', '/apis/events.orch.io/v1', '/apis/events.orch.io/v1beta1'
  ].map(async url =>
    ((await server.get(url)).json.resources as Json[]).find(({ name }) => name === 'events')?.storageVersionHash))
  t.same(new Set(hashes), new Set(['r2yiGXH7wu8=']))
})

t.test('versions are switched off one by one, and what is stored stays', async t => {
  const server = await build(t, { api: { disabled: ['events.orch.io/v1beta1'] } })
  await server.post(V1, fresh('a'))
  t.equal((await server.get(`${BETA}/a`)).code, 404)
  t.equal((await server.get(`${CORE}/a`)).code, 200)
})

t.test('a deprecated version says so in each answer, in the audit log and in the metrics', async t => {
  const path = join(mkdtempSync(join(tmpdir(), 'orch-deprecated-')), 'audit.log')
  const server = await listen(t, { audit: { path } })
  const sentence =
    '299 - "events.orch.io/v1beta1 Event is deprecated in v1.22+, unavailable in v1.25+; use events.orch.io/v1 Event"'
  await server.post(V1, fresh('a'))
  for (const url of [BETA, `${BETA}/a`, `${BETA}?limit=1`]) {
    t.equal(String((await server.get(url)).headers.warning), sentence, url)
  }
  t.equal(String((await server.post(BETA, fresh('b'))).headers.warning), sentence)
  const watch = await Watch.open(t, `${server.url}${BETA}?watch=1`)
  t.equal(watch.response.headers.warning, sentence)
  t.equal((await server.get(`${V1}/a`)).headers.warning, undefined)
  const events = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Json)
    .filter(({ stage }) => stage === 'ResponseComplete')
  t.equal(
    events.filter(({ annotations }) =>
      annotations?.['orch.io/deprecated'] === 'true' && annotations['orch.io/removed-release'] === '1.25').length,
    4
  )
  t.match(
    (await server.get('/metrics')).body,
    /^apiserver_requested_deprecated_apis\{group="events\.orch\.io",version="v1beta1",resource="events",subresource="",removed_release="1\.25"\} 1$/m
  )
})
