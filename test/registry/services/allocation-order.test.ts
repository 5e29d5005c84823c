/**
 * Values that a service can't have are reported before all other errors, and alone. After any refusal nothing stays
 * allocated.
 */
import t from 'tap'
import { causes } from '../../routes/verbs/updates/cases.js'
import type { Json } from '../../build.js'
import { SERVICES, serviceServer } from './server.js'

const PORTS = { clusterIPRanges: ['10.0.0.0/28'], nodePorts: { from: 30000, to: 30003 } }
const DUAL = { clusterIPRanges: ['10.0.0.0/28', 'fd00::/120'] }
/** Invalid by itself. */
const AFFINITY = { sessionAffinity: 'Cookie' }

t.test('of two errors in a new service the one of allocation is reported', async t => {
  const server = await serviceServer(t, PORTS)
  t.equal(
    (await server.make('a', { type: 'NodePort', clusterIP: '10.0.0.5', ports: [{ port: 80, nodePort: 30001 }] })).code,
    201
  )
  const taken = async (): Promise<unknown> => [await server.taken('serviceips'), await server.taken('servicenodeports')]
  const before = await taken()
  const refused = async (title: string, spec: Json, ...wanted: string[]): Promise<void> => {
    const answer = await server.make('b', { ...AFFINITY, ...spec })
    t.same(causes(answer), wanted, title)
    t.equal(answer.code, 422, title)
    t.same(await taken(), before, `${title}: nothing is taken`)
  }
  await refused('an address that is taken', { clusterIP: '10.0.0.5' }, 'Invalid spec.clusterIPs')
  await refused('one of another range', { clusterIP: '192.0.2.1' }, 'Invalid spec.clusterIPs')
  await refused('one that is none', { clusterIP: 'x' }, 'Invalid spec.clusterIPs[0]')
  await refused('a family nobody knows', { ipFamilies: ['IPv5'] }, 'NotSupported spec.ipFamilies[0]')
  await refused('a family the cluster has not', { ipFamilies: ['IPv6'] }, 'Invalid spec.ipFamilies[0]')
  await refused('a policy nobody knows', { ipFamilyPolicy: 'Dual' }, 'NotSupported spec.ipFamilyPolicy')
  await refused(
    'a node port that is taken', { type: 'NodePort', ports: [{ port: 80, nodePort: 30001 }] },
    'Invalid spec.ports[0].nodePort'
  )
  await refused(
    'one of another range', { type: 'NodePort', ports: [{ port: 80, nodePort: -1 }] }, 'Invalid spec.ports[0].nodePort'
  )
  await refused(
    'one twice',
    { type: 'NodePort', ports: [{ name: 'a', port: 80, nodePort: 30002 }, { name: 'b', port: 81, nodePort: 30002 }] },
    'Invalid spec.ports[1].nodePort'
  )
  await refused('only wrong in itself', { type: 'NodePort' }, 'NotSupported spec.sessionAffinity')
  await refused('of a type nobody knows', { type: 'Other', sessionAffinity: 'None' }, 'NotSupported spec.type')
  t.equal((await server.make('b', { type: 'NodePort' })).code, 201)
})

t.test('a refused update neither allocates nor releases', async t => {
  const server = await serviceServer(t, PORTS)
  const { json: { spec: { healthCheckNodePort } } } = await server.make('a', {
    type: 'LoadBalancer', externalTrafficPolicy: 'Local', clusterIP: '10.0.0.5'
  })
  await server.make('b', { clusterIP: '10.0.0.6' })
  await server.make('name', { type: 'ExternalName', externalName: 'a.example.com' })
  const taken = async (): Promise<unknown> => [await server.taken('serviceips'), await server.taken('servicenodeports')]
  const before = await taken()
  const refused = async (name: string, spec: Json, ...wanted: string[]): Promise<void> => {
    t.same(causes(await server.patch(`${SERVICES}/${name}`, { spec })), wanted, JSON.stringify(spec))
    t.same(await taken(), before, 'nothing is taken')
  }
  await refused('a', { ...AFFINITY, type: 'ClusterIP' }, 'NotSupported spec.sessionAffinity')
  await refused('b', { ...AFFINITY, type: 'NodePort' }, 'NotSupported spec.sessionAffinity')
  await refused('b', { ...AFFINITY, type: 'ExternalName', externalName: 'a' }, 'NotSupported spec.sessionAffinity')
  await refused('name', { ...AFFINITY, type: 'ClusterIP', clusterIP: '10.0.0.5' }, 'Invalid spec.clusterIPs')
  await refused('name', { ...AFFINITY, type: 'ClusterIP' }, 'NotSupported spec.sessionAffinity')
  await refused('b', { clusterIP: '10.0.0.5' }, 'Invalid spec.clusterIPs[0]')
  await refused('b', { clusterIP: '192.0.2.1' }, 'Invalid spec.clusterIPs[0]')
  await refused(
    'a', { healthCheckNodePort: healthCheckNodePort === 30003 ? 30002 : 30003 }, 'Forbidden spec.healthCheckNodePort'
  )
  await refused('a', { healthCheckNodePort: 40000 }, 'Forbidden spec.healthCheckNodePort')
})

t.test('a second address is only lost by who wants one', async t => {
  const server = await serviceServer(t, DUAL)
  const { json: { spec } } = await server.make('a', { ipFamilyPolicy: 'RequireDualStack' })
  const answer = await server.patch(`${SERVICES}/a`, {
    spec: { ...AFFINITY, clusterIPs: spec.clusterIPs.slice(0, 1), ipFamilies: ['IPv4'] }
  })
  t.same(causes(answer), ['Invalid spec.ipFamilyPolicy'])
  t.match(answer.json.details.causes, [
    { message: /must be 'SingleStack' to release the secondary cluster IP$/ },
    { message: /must be 'SingleStack' to release the secondary IP family$/ }
  ])
  t.same(await server.taken('serviceips'), [...spec.clusterIPs].sort())
})

t.test('addresses and ports that an update allocates have no owner', async t => {
  const server = await serviceServer(t, PORTS)
  await server.make('a', { type: 'ExternalName', externalName: 'a.example.com' })
  const { json } = await server.patch(`${SERVICES}/a`, { spec: { type: 'NodePort' } })
  t.ok(json.spec.clusterIP)
  t.ok(json.spec.ports[0].nodePort)
  t.notMatch(JSON.stringify(json.metadata.managedFields), /f:clusterIP|f:nodePort/)
})
