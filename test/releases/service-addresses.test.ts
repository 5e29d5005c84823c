/** Ranges and addresses of services as objects, where release 1.36 is emulated. */
import t from 'tap'
import { AddressObjects } from '../../controllers/services/address-objects.js'
import { makeAddress } from '../../registry/services/address-keys.js'
import { build, TABLE, type Json } from '../build.js'
import { serviceServer, SERVICES, type ServiceServer } from '../registry/services/server.js'
import { FakeClock } from '../storage/fake-clock.js'
import { polled } from '../polled.js'

const RANGES = '/apis/networking.orch.io/v1/servicecidrs'
const ADDRESSES = '/apis/networking.orch.io/v1/ipaddresses'
const causes = (answer: { json: Json }): string[] =>
  ((answer.json['details'] as Json | undefined)?.['causes'] as Json[] | undefined ?? []).map(
    ({ field, reason }) => `${String(field)}: ${String(reason)}`
  )
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
    'spec.parentRef.group: FieldValueInvalid', 'spec.parentRef.resource: FieldValueRequired',
    'spec.parentRef.name: FieldValueRequired',
    'spec.parentRef.namespace: FieldValueInvalid'
  ])
  t.same(causes(await server.patch(`${ADDRESSES}/10.1.0.5`, { spec: { parentRef: { name: 'b' } } })), [
    'spec.parentRef: FieldValueInvalid'
  ])
  t.equal((await server.patch(`${ADDRESSES}/10.1.0.5`, { metadata: { labels: { a: 'b' } } })).code, 200)
  t.match((await server.get(`${ADDRESSES}/10.1.0.5`, { accept: TABLE })).json['rows'], [
    { cells: ['10.1.0.5', 'services/default/web'] }
  ])
  t.match((await server.delete(`${ADDRESSES}/10.1.0.5`)).json, { kind: 'Status' })
})

t.test('a range is one of each family at most, and only a second one may be added', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  t.equal((await server.post(RANGES, range('four', '10.1.0.0/24'))).code, 201)
  t.same(causes(await server.post(RANGES, range('none'))), ['spec.cidrs: FieldValueRequired'])
  for (const cidrs of [
    ['10.1.0.0/24', '10.2.0.0/24'], ['10.1.0.0/24', 'fd00::/112', 'fd01::/112'], ['10.1.0.0/24', 'x']
  ]) {
    t.same(causes(await server.post(RANGES, range('many', ...cidrs))), ['spec.cidrs: FieldValueInvalid'], cidrs.join())
  }
  for (const cidr of ['10.1.0.1/24', 'FD00::/112', '10.1.0.0']) {
    t.same(
      [...new Set(causes(await server.post(RANGES, range('form', cidr))))], ['spec.cidrs[0]: FieldValueInvalid'], cidr
    )
  }
  const change = async (...cidrs: string[]) => await server.patch(`${RANGES}/four`, { spec: { cidrs } })
  t.same(causes(await change('10.2.0.0/24')), ['spec.cidrs[0]: FieldValueInvalid'])
  t.same(causes(await change()), ['spec.cidrs: FieldValueRequired', 'spec.cidrs: FieldValueInvalid'])
  t.same(causes(await change('10.1.0.0/24', '10.2.0.0/24')), ['spec.cidrs: FieldValueInvalid'])
  t.equal((await change('10.1.0.0/24', 'fd00::/112')).code, 200)
  t.same(causes(await change('10.1.0.0/24')), ['spec.cidrs: FieldValueInvalid'])
  t.match((await server.get(`${RANGES}/four`, { accept: TABLE })).json['rows'], [
    { cells: ['four', '10.1.0.0/24,fd00::/112'] }
  ])
})

t.test('the release of the interface has neither', async t => {
  const server = await build(t)
  t.same([(await server.get(RANGES)).code, (await server.get(ADDRESSES)).code], [404, 404])
})

const SERVED = { clusterIPRanges: ['10.0.0.0/24'] }
const names = async (server: ServiceServer, url: string): Promise<string[]> =>
  ((await server.get(url)).json['items'] as Json[]).map(({ metadata }) => String(metadata.name))
/** Until it is as expected; the test's own limit ends a wait in vain. */
async function until<T> (read: () => Promise<T>, is: (value: T) => boolean): Promise<T> {
  let value = await read()
  await polled(async () => is(value = await read()))
  return value
}
const ready = ({ json }: { json: Json }): unknown =>
  (json['status']?.conditions as Json[] | undefined)?.find(({ type }) => type === 'Ready')?.['status']

t.test('the default range exists, and each address of a service is an object while it has the address', async t => {
  const server = await serviceServer(t, SERVED, { emulatedVersion: '1.36' })
  const made = await until(async () => await server.get(`${RANGES}/orch`), answer => ready(answer) === 'True')
  t.same(made.json['spec'], { cidrs: ['10.0.0.0/24'] })
  const ip = String((await server.make('a')).json['spec'].clusterIP)
  t.match((await server.get(`${ADDRESSES}/${ip}`)).json, {
    metadata: {
      labels: { 'ipaddress.orch.io/ip-family': 'IPv4', 'ipaddress.orch.io/managed-by': 'ipallocator.orch.io' }
    },
    spec: { parentRef: { resource: 'services', namespace: 'default', name: 'a' } }
  })
  t.same(await server.taken('serviceips'), [ip], 'the key that locks it for earlier releases too')
  t.equal(
    (await server.post(`${SERVICES}?dryRun=All`, { metadata: { name: 'dry' }, spec: { ports: [{ port: 80 }] } })).code,
    201
  )
  t.match(await server.make('b', { clusterIP: ip }), {
    code: 422, json: { message: /spec.clusterIPs.*already allocated/ }
  })
  t.same(await names(server, ADDRESSES), [ip])
  await server.delete(`${SERVICES}/a`)
  t.same([await names(server, ADDRESSES), await server.taken('serviceips')], [[], []])
})

t.test('an address that a client reserves is given to nobody', async t => {
  const server = await serviceServer(t, { clusterIPRanges: ['10.0.0.0/29'] }, { emulatedVersion: '1.36' })
  for (const last of [2, 3, 4, 5]) await server.post(ADDRESSES, address(`10.0.0.${last}`, WEB))
  t.match(await server.make('a', { clusterIP: '10.0.0.3' }), {
    code: 422, json: { details: { causes: [{ field: 'spec.clusterIPs' }] } }
  })
  t.match((await server.make('web')).json, { spec: { clusterIP: '10.0.0.6' } })
  t.equal((await server.make('b')).code, 500, 'all others are taken')
  t.same(await server.taken('serviceips'), ['10.0.0.6'], 'nothing is left of attempts')
  await server.delete(`${SERVICES}/web`)
  t.equal((await names(server, ADDRESSES)).length, 4, 'what clients made stays')
})

t.test('addresses come from every range that is ready, and a range that is in use stays', async t => {
  const clock = new FakeClock(Date.parse('2026-01-01T00:00:00Z'))
  const server = await serviceServer(t, { clusterIPRanges: ['10.0.0.0/29'] }, { emulatedVersion: '1.36', clock })
  await until(async () => await server.get(`${RANGES}/orch`), answer => ready(answer) === 'True')
  t.match(await server.make('far', { clusterIP: '10.9.0.4' }), { code: 422, json: { message: /does not match/ } })
  t.equal((await server.post(RANGES, range('more', '10.9.0.0/28'))).code, 201)
  await until(
    async () => await server.get(`${RANGES}/more`),
    ({ json }) => ready({ json }) === 'True' && json['metadata'].finalizers !== undefined
  )
  t.equal((await server.make('far', { clusterIP: '10.9.0.4' })).code, 201)
  for (const edge of ['10.9.0.0', '10.9.0.15']) {
    t.equal((await server.make('edge', { clusterIP: edge })).code, 422, edge)
  }
  for (let made = 0; made < 5; made++) t.equal((await server.make(`s${made}`)).code, 201)
  t.match((await server.make('next')).json, { spec: { clusterIP: /^10\.9\.0\./ } })
  t.equal((await server.delete(`${RANGES}/more`)).code, 200)
  const left = await until(async () => await server.get(`${RANGES}/more`), answer => ready(answer) === 'False')
  t.match(left.json, {
    metadata: { deletionTimestamp: /.+/, finalizers: ['networking.orch.io/service-cidr-finalizer'] }
  })
  t.equal((await server.make('late')).code, 500, 'nothing more of it is given')
  await server.delete(`${SERVICES}/far`)
  await server.delete(`${SERVICES}/next`)
  await until(async () => {
    clock.advance(1000)
    return await server.get(`${RANGES}/more`)
  }, ({ code }) => code === 404)
})

t.test('the default range is made anew, and gets the second family that a server has', async t => {
  const clock = new FakeClock(Date.parse('2026-01-01T00:00:00Z'))
  const server = await serviceServer(
    t, { clusterIPRanges: ['10.0.0.0/24', 'fd00::/112'] }, { emulatedVersion: '1.36', clock }
  )
  const cidrs = async (): Promise<unknown> => (await server.get(`${RANGES}/orch`)).json['spec']?.cidrs
  t.same(await until(cidrs, found => found !== undefined), ['10.0.0.0/24', 'fd00::/112'])
  t.equal((await server.make('both', { ipFamilyPolicy: 'RequireDualStack' })).json['spec'].clusterIPs.length, 2)
  t.equal((await names(server, ADDRESSES)).length, 2)
  await server.delete(`${SERVICES}/both`)
  await until(async () => await server.get(`${RANGES}/orch`), ({ json }) => json['metadata'].finalizers !== undefined)
  await server.delete(`${RANGES}/orch`)
  const { uid } = (await server.get(`${RANGES}/orch`)).json['metadata'] as Json
  await until(async () => {
    clock.advance(10_000)
    return await server.get(`${RANGES}/orch`)
  }, ({ code, json }) => code === 200 && json['metadata'].uid !== uid)
})

t.test('an event says that other ranges than those of the server are in use', async t => {
  const storage = { kind: 'embedded', directory: t.testdir() } as const
  const clock = new FakeClock(Date.parse('2026-01-01T00:00:00Z'))
  const options = { emulatedVersion: '1.36', storage, clock } as const
  const told = async (server: ServiceServer): Promise<Json[]> =>
    ((await server.get('/api/v1/namespaces/default/events')).json['items'] as Json[])
      .filter(({ reason }) => reason === 'OrchDefaultServiceCIDRInconsistent')
  const first = await serviceServer(t, { clusterIPRanges: ['10.0.0.0/24'] }, options)
  t.same(await told(first), [])
  const { uid } = (await first.get(`${RANGES}/orch`)).json['metadata'] as Json
  await first.app.close()
  const other = await serviceServer(t, { clusterIPRanges: ['10.9.0.0/24'] }, options)
  const [event, ...more] = await until(async () => {
    clock.advance(60_000)
    return await told(other)
  }, ({ length }) => length > 0)
  t.match(
    event,
    {
      type: 'Warning', involvedObject: { kind: 'ServiceCIDR', name: 'orch', uid },
      message: /10\.0\.0\.0\/24.*10\.9\.0\.0\/24/
    }
  )
  t.same(more, [])
  clock.advance(60_000)
  t.equal((await other.make('a')).code, 201)
  t.equal((await told(other)).length, 1)
})

t.test('services of an earlier release get their objects, and servers of both releases share addresses', async t => {
  const server = await serviceServer(t, SERVED, { emulatedVersion: '1.36' })
  const { ServiceAllocation } = await import('../../registry/services/allocation.js')
  const earlier = new ServiceAllocation({ ...SERVED, backend: server.backend, prefix: '/registry', log: () => {} })
  const pool = earlier.addresses.get('IPv4')
  await pool?.take('10.0.0.9', { namespace: 'default', name: 'old', uid: 'x' })
  t.equal((await server.make('a', { clusterIP: '10.0.0.9' })).code, 422, 'an earlier release has it')
  t.equal((await server.make('b', { clusterIP: '10.0.0.8' })).code, 201)
  t.equal(
    await pool?.take('10.0.0.8', { namespace: 'default', name: 'old', uid: 'x' }), undefined, 'the later one has it'
  )

  const objects = (): Promise<string[]> => names(server, ADDRESSES)
  await server.delete(`${ADDRESSES}/10.0.0.8`)
  await server.post(ADDRESSES, address('10.0.0.7', WEB))
  const clock = new FakeClock(Date.now())
  const notes: string[] = []
  const repair = new AddressObjects({
    resources: server.resources, clock, log: () => {}, note: text => { notes.push(text) }
  })
  await repair.run()
  t.same([(await objects()).toSorted(), notes], [['10.0.0.7', '10.0.0.8'], []])
  // A write that ended between the object and its service.
  const store = server.resources.find('networking.orch.io', 'ipaddresses')
  if (store !== undefined) await makeAddress(store, '10.0.0.6', { namespace: 'default', name: 'ghost' })
  await repair.run()
  t.ok((await objects()).includes('10.0.0.6'), 'its service may be stored any moment')
  clock.advance(120_000)
  await repair.run()
  t.same((await objects()).toSorted(), ['10.0.0.7', '10.0.0.8'])
})
