/** Parameters of lists and watches, where either release is emulated. */
import t from 'tap'
import { build, listen, Watch, type Json } from '../build.js'

const MAPS = '/api/v1/namespaces/default/configmaps'
const causes = ({ json }: { json: Json }): string[] =>
  json['details'].causes.map(({ field, reason }: Json) => `${field} ${reason}`)
const FORBIDDEN = 'resourceVersionMatch FieldValueForbidden'

t.test('combinations that make no sense are 422 with their causes under 1.36, and 400 under 1.24', async t => {
  const [later, earlier] = [await build(t, { emulatedVersion: '1.36' }), await build(t)]
  for (const [query, expected] of [
    ['resourceVersionMatch=Exact', [FORBIDDEN]],
    ['resourceVersionMatch=NotOlderThan', [FORBIDDEN]],
    ['resourceVersionMatch=Exact&resourceVersion=0', [FORBIDDEN]],
    ['resourceVersionMatch=Exact&resourceVersion=1&continue=x', [FORBIDDEN]],
    ['resourceVersionMatch=Newest&resourceVersion=1', ['resourceVersionMatch FieldValueNotSupported']]
  ] as const) {
    const answer = await later.get(`${MAPS}?${query}`)
    t.match(
      answer, { code: 422, json: { reason: 'Invalid', details: { group: 'meta.orch.io', kind: 'ListOptions' } } }, query
    )
    t.strictSame(causes(answer), expected, query)
    t.match(await earlier.get(`${MAPS}?${query}`), { code: 400, json: { reason: 'BadRequest' } }, query)
    t.strictSame(causes(await later.delete(`${MAPS}?${query}`)), expected, `${query}, of what is deleted`)
    t.equal((await earlier.delete(`${MAPS}?${query}`)).code, 400, query)
  }
})

t.test('limits under 1.36: negative ones are none, and lists at any version come whole', async t => {
  for (const [emulatedVersion, negative, atAny] of [['1.24', 400, 2], ['1.36', 200, 3]] as const) {
    const server = await build(t, { emulatedVersion })
    for (const name of ['a', 'b', 'c']) {
      await server.post('/api/v1/namespaces/orch-public/configmaps', { metadata: { name } })
    }
    const inPublic = '/api/v1/namespaces/orch-public/configmaps?fieldSelector=metadata.name!=orch-root-ca.crt'
    t.equal((await server.get(`${inPublic}&limit=-1`)).code, negative)
    t.equal((await server.get(`${inPublic}&resourceVersion=0&limit=2`)).json['items'].length, atAny)
    t.equal((await server.get(`${inPublic}&limit=2`)).json['items'].length, 2)
    t.equal((await server.get(`${inPublic}&resourceVersion=0&limit=x`)).code, 400)
  }
})

t.test('watches under 1.36 ignore continue', async t => {
  t.equal((await (await build(t)).get(`${MAPS}?watch=1&continue=x`)).code, 400)
  const server = await listen(t, { emulatedVersion: '1.36' })
  const watch = await Watch.open(t, `${server.url}${MAPS}?watch=1&continue=x&fieldSelector=metadata.name=a`)
  await server.post(MAPS, { metadata: { name: 'a' } })
  t.match(await watch.take(1), [{ type: 'ADDED' }])
})

t.test('a version no longer kept is an error in the stream under 1.36', async t => {
  const server = await listen(t, { emulatedVersion: '1.36', storage: { compactionInterval: 30 } })
  const { resourceVersion: first } = (await server.post(MAPS, { metadata: { name: 'a' } })).json['metadata']
  for (let at = 0; ; at++) {
    await server.patch(`${MAPS}/a`, { data: { at: String(at) } })
    if ((await server.get(`${MAPS}?resourceVersion=${first}&resourceVersionMatch=Exact`)).code === 410) break
  }
  const watch = await Watch.open(t, `${server.url}${MAPS}?watch=1&resourceVersion=${first}`)
  await watch.end()
  t.equal(watch.code, 200)
  t.match(watch.events, [{ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }])
})
