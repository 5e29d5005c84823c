/** Ranges and addresses of services as objects, where release 1.36 is emulated. */
import t from 'tap'
import { build, TABLE, type Json } from '../build.js'

const RANGES = '/apis/networking.orch.io/v1/servicecidrs'
const ADDRESSES = '/apis/networking.orch.io/v1/ipaddresses'
const causes = (answer: { json: Json }): string[] =>
  ((answer.json['details'] as Json | undefined)?.['causes'] as Json[] | undefined ?? []).map(({ field, reason }) => `${String(field)}: ${String(reason)}`)
const range = (name: string, ...cidrs: string[]): Json => ({ metadata: { name }, spec: { cidrs } })
const address = (name: string, parentRef?: Json): Json => ({ metadata: { name }, spec: { parentRef } })
const WEB = { resource: 'services', namespace: 'default', name: 'web' }

t.test('an address is named by its usual form and keeps its parent', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  t.equal((await server.post(ADDRESSES, address('10.1.0.5', WEB))).code, 201)
  t.equal((await server.post(ADDRESSES, address('2001:db8::5', WEB))).code, 201)
  for (const name of ['10.1.0.05', '2001:DB8::6', '2001:db8:0::6', 'web']) {
    t.same(causes(await server.post(ADDRESSES, address(name, WEB))), ['metadata.name: FieldValueInvalid'], name)
  }
  t.same(causes(await server.post(ADDRESSES, address('10.1.0.6'))), ['spec.parentRef: FieldValueRequired'])
  t.same(causes(await server.post(ADDRESSES, address('10.1.0.6', { group: 'A', namespace: 'a/b' }))), [
    'spec.parentRef.group: FieldValueInvalid', 'spec.parentRef.resource: FieldValueRequired', 'spec.parentRef.name: FieldValueRequired',
    'spec.parentRef.namespace: FieldValueInvalid'
  ])
  t.same(causes(await server.patch(`${ADDRESSES}/10.1.0.5`, { spec: { parentRef: { name: 'b' } } })), ['spec.parentRef: FieldValueInvalid'])
  t.equal((await server.patch(`${ADDRESSES}/10.1.0.5`, { metadata: { labels: { a: 'b' } } })).code, 200)
  t.match((await server.get(`${ADDRESSES}/10.1.0.5`, { accept: TABLE })).json['rows'], [{ cells: ['10.1.0.5', 'services/default/web'] }])
  t.match((await server.delete(`${ADDRESSES}/10.1.0.5`)).json, { kind: 'Status' })
})

t.test('a range is one of each family at most, and only a second one may be added', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  t.equal((await server.post(RANGES, range('four', '10.1.0.0/24'))).code, 201)
  t.same(causes(await server.post(RANGES, range('none'))), ['spec.cidrs: FieldValueRequired'])
  for (const cidrs of [['10.1.0.0/24', '10.2.0.0/24'], ['10.1.0.0/24', 'fd00::/112', 'fd01::/112'], ['10.1.0.0/24', 'x']]) {
    t.same(causes(await server.post(RANGES, range('many', ...cidrs))), ['spec.cidrs: FieldValueInvalid'], cidrs.join())
  }
  for (const cidr of ['10.1.0.1/24', 'FD00::/112', '10.1.0.0']) {
    t.same([...new Set(causes(await server.post(RANGES, range('form', cidr))))], ['spec.cidrs[0]: FieldValueInvalid'], cidr)
  }
  const change = async (...cidrs: string[]) => await server.patch(`${RANGES}/four`, { spec: { cidrs } })
  t.same(causes(await change('10.2.0.0/24')), ['spec.cidrs[0]: FieldValueInvalid'])
  t.same(causes(await change()), ['spec.cidrs: FieldValueInvalid'])
  t.same(causes(await change('10.1.0.0/24', '10.2.0.0/24')), ['spec.cidrs: FieldValueInvalid'])
  t.equal((await change('10.1.0.0/24', 'fd00::/112')).code, 200)
  t.same(causes(await change('10.1.0.0/24')), ['spec.cidrs: FieldValueInvalid'])
  t.match((await server.get(`${RANGES}/four`, { accept: TABLE })).json['rows'], [{ cells: ['four', '10.1.0.0/24,fd00::/112'] }])
})

t.test('the release of the interface has neither', async t => {
  const server = await build(t)
  t.same([(await server.get(RANGES)).code, (await server.get(ADDRESSES)).code], [404, 404])
})
