/** Interface, `--service-cluster-ip-range` and `--service-node-port-range`: what services get, keep and release. */
import t from 'tap'
import { checkedFlags, configuration } from '../../../config/options.js'
import { openBackend } from '../../../storage/open.js'
import type { Backend } from '../../../storage/backend.js'
import { Pool } from '../../../registry/services/pool.js'
import { addressValues, portValues, rangeProblem } from '../../../registry/services/value-range.js'
import type { Json } from '../../build.js'
import { SERVICES, serviceServer } from './server.js'

const RANGE = ['10.0.0.0/28']
const DUAL = { clusterIPRanges: ['10.0.0.0/28', 'fd00::/120'] }
const PORTS = { clusterIPRanges: RANGE, nodePorts: { from: 30000, to: 30003 } }

t.test('a service gets an address of the range, which its deletion releases', async t => {
  const server = await serviceServer(t, { clusterIPRanges: RANGE })
  const { code, json: { spec } } = await server.make('a')
  t.equal(code, 201)
  t.match(spec, {
    clusterIP: /^10\.0\.0\./, clusterIPs: [spec.clusterIP], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack'
  })
  t.same(await server.taken('serviceips'), [spec.clusterIP])
  t.equal((await server.delete(`${SERVICES}/a`)).code, 200)
  t.same(await server.taken('serviceips'), [])
})

t.test(
  'every address of the range is allocated once, the first ones on request only, and then the range is full',
  async t => {
    const server = await serviceServer(t, { clusterIPRanges: RANGE })
    const made = await Promise.all(Array.from({ length: 13 }, (_, index) => server.make(`s${index}`)))
    t.same(
      new Set(made.map(({ json }) => json.spec.clusterIP)),
      new Set(Array.from({ length: 13 }, (_, index) => `10.0.0.${index + 2}`))
    )
    t.match(await server.make('more'), { code: 500, json: { message: /range is full/ } })
    t.equal((await server.make('first', { clusterIP: '10.0.0.1' })).code, 201)
    await server.delete(`${SERVICES}/s3`)
    t.equal(
      (await server.make('more')).json.spec.clusterIP, made[3]?.json.spec.clusterIP,
      'a released address can be allocated again'
    )
  }
)

t.test('a requested address is allocated, or refused with its cause', async t => {
  const server = await serviceServer(t, { clusterIPRanges: RANGE })
  t.equal((await server.make('a', { clusterIP: '10.0.0.5' })).json.spec.clusterIP, '10.0.0.5')
  const refused = async (clusterIP: string, message: RegExp): Promise<void> => {
    t.match(
      await server.make('b', { clusterIP }),
      {
        code: 422, json: { details: { causes: [{ reason: 'FieldValueInvalid', field: 'spec.clusterIPs', message }] } }
      },
      clusterIP
    )
  }
  await refused('10.0.0.5', /failed to allocate IP 10.0.0.5: provided IP is already allocated/)
  await refused('010.0.0.5', /already allocated/)
  await refused(
    '10.0.1.5',
    /failed to allocate IP 10.0.1.5: the provided IP \(10.0.1.5\) is not in the valid range. The range of valid IPs is 10.0.0.0\/28/
  )
  await refused('10.0.0.0', /not in the valid range/)
  await refused('10.0.0.15', /not in the valid range/)
  t.same(await server.taken('serviceips'), ['10.0.0.5'])
})

t.test(
  'headless and external services have no address; becoming external releases it, and returning allocates one',
  async t => {
    const server = await serviceServer(t, { clusterIPRanges: RANGE })
    t.match((await server.make('headless', { clusterIP: 'None' })).json.spec, {
      clusterIPs: ['None'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack'
    })
    t.match((await server.make('open', { clusterIP: 'None', selector: null })).json.spec, {
      ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack'
    })
    t.match(
      (await server.make('outside', { type: 'ExternalName', externalName: 'example.com' })).json.spec,
      { clusterIP: undefined, ipFamilies: undefined }
    )
    t.same(await server.taken('serviceips'), [])
    await server.make('a')
    t.equal(
      (await server.patch(`${SERVICES}/a`, { spec: { type: 'ExternalName', externalName: 'example.com' } })).code, 200
    )
    t.same(await server.taken('serviceips'), [])
    const back = await server.patch(`${SERVICES}/a`, { spec: { type: 'ClusterIP', externalName: null } })
    t.same(await server.taken('serviceips'), back.json.spec.clusterIPs)
  }
)

t.test('an update that omits allocated addresses and ports keeps them', async t => {
  const server = await serviceServer(t, PORTS)
  const { json } = await server.make('a', { type: 'NodePort' })
  const again = await server.put(`${SERVICES}/a`, {
    metadata: { name: 'a', resourceVersion: json.metadata.resourceVersion, labels: { a: 'b' } },
    spec: { type: 'NodePort', selector: { app: 'web' }, ports: [{ port: 80 }] }
  })
  t.equal(again.code, 200)
  t.same(again.json.spec, json.spec)
  t.same(await server.taken('serviceips'), json.spec.clusterIPs)
  t.same(await server.taken('servicenodeports'), [String(json.spec.ports[0].nodePort)])
})

t.test('dual-stack: families by policy, by order and by the addresses that are named', async t => {
  const server = await serviceServer(t, DUAL)
  const families = async (name: string, spec: Json): Promise<unknown> => {
    const { code, json } = await server.make(name, spec)
    if (code !== 201) return json.details.causes.map(({ field }: Json) => field)
    t.same(json.spec.clusterIPs.map((ip: string) => ip.includes(':') ? 'IPv6' : 'IPv4'), json.spec.ipFamilies, name)
    t.equal(json.spec.clusterIP, json.spec.clusterIPs[0], name)
    return [json.spec.ipFamilyPolicy, ...json.spec.ipFamilies]
  }
  // Named addresses first: others are random, and might be the same.
  t.same(await families('named', { clusterIP: 'fd00::7' }), ['SingleStack', 'IPv6'])
  t.same(
    await families('both', {
      clusterIP: 'fd00::8', clusterIPs: ['fd00::8', '10.0.0.8'], ipFamilyPolicy: 'RequireDualStack'
    }),
    ['RequireDualStack', 'IPv6', 'IPv4']
  )
  t.same(await families('plain', {}), ['SingleStack', 'IPv4'])
  t.same(await families('six', { ipFamilies: ['IPv6'] }), ['SingleStack', 'IPv6'])
  t.same(await families('prefer', { ipFamilyPolicy: 'PreferDualStack' }), ['PreferDualStack', 'IPv4', 'IPv6'])
  t.same(await families('require', { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] }), [
    'RequireDualStack', 'IPv6', 'IPv4'
  ])
  t.same(
    await families('wrong', { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4', 'IPv6'] }), ['spec.ipFamilyPolicy']
  )
})

t.test('a cluster of one family prefers what it has, and refuses what it has not', async t => {
  const server = await serviceServer(t, { clusterIPRanges: RANGE })
  const { json: { spec } } = await server.make('a', { ipFamilyPolicy: 'PreferDualStack' })
  t.same([spec.ipFamilies, spec.clusterIPs.length], [['IPv4'], 1])
  const refused = async (spec: Json, field: string): Promise<void> => {
    t.match(await server.make('b', spec), { code: 422, json: { details: { causes: [{ field }] } } }, field)
  }
  await refused({ ipFamilyPolicy: 'RequireDualStack' }, 'spec.ipFamilyPolicy')
  await refused({ ipFamilies: ['IPv6'] }, 'spec.ipFamilies[0]')
  await refused({ clusterIP: 'fd00::1' }, 'spec.clusterIPs[0]')
})

t.test('a service gains a second address and loses it again', async t => {
  const server = await serviceServer(t, DUAL)
  const [first] = (await server.make('a')).json.spec.clusterIPs
  const { json: { spec } } = await server.patch(`${SERVICES}/a`, { spec: { ipFamilyPolicy: 'RequireDualStack' } })
  t.same(spec.ipFamilies, ['IPv4', 'IPv6'])
  t.equal(spec.clusterIPs[0], first)
  t.same(await server.taken('serviceips'), [...spec.clusterIPs].sort())
  const back = await server.patch(`${SERVICES}/a`, { spec: { ipFamilyPolicy: 'SingleStack' } })
  t.same(back.json.spec.clusterIPs, [first])
  t.same(back.json.spec.ipFamilies, ['IPv4'])
  t.same(await server.taken('serviceips'), [first])
})

t.test('an external name has no policy for traffic within the cluster', async t => {
  const server = await serviceServer(t)
  const named = { type: 'ExternalName', externalName: 'a.example.com' }
  for (const [index, internalTrafficPolicy] of ['Cluster', 'Local', undefined].entries()) {
    const made = await server.make(`n${index}`, { ...named, internalTrafficPolicy })
    t.same([made.code, made.json.spec.internalTrafficPolicy], [201, undefined])
    await server.make(`s${index}`, { internalTrafficPolicy })
    const changed = await server.patch(`${SERVICES}/s${index}`, { spec: named })
    t.same([changed.code, changed.json.spec.internalTrafficPolicy], [200, undefined])
    const again = await server.patch(`${SERVICES}/s${index}`, { spec: { type: 'ClusterIP', externalName: null } })
    t.equal(again.json.spec.internalTrafficPolicy, 'Cluster', 'and a service again')
  }
})

t.test('a removed policy keeps its value', async t => {
  for (const ranges of [{ clusterIPRanges: RANGE }, DUAL]) {
    const server = await serviceServer(t, ranges)
    for (const [name, spec] of [
      ['open', { clusterIP: 'None', selector: null }], ['headless', { clusterIP: 'None' }], ['plain', {}]
    ] as const) {
      const made = (await server.make(name, { ...spec, ipFamilyPolicy: 'PreferDualStack' })).json.spec
      const changed = await server.patch(
        `${SERVICES}/${name}`, { spec: { ipFamilyPolicy: null } }, 'application/merge-patch+json'
      )
      t.same([changed.code, changed.json.spec], [200, made], name)
      t.equal(made.ipFamilyPolicy, 'PreferDualStack')
    }
  }
})

t.test(
  'node ports are allocated, requested, shared by the protocols of a port, and released with the type', async t => {
    const server = await serviceServer(t, PORTS)
    const { json: { spec } } = await server.make('dns', {
      type: 'NodePort',
      ports: [
        { name: 'w', port: 80, nodePort: 30002 }, { name: 'u', port: 53, protocol: 'UDP' }, { name: 't', port: 53 }
      ]
    })
    const [web, udp, tcp] = spec.ports.map(({ nodePort }: Json) => nodePort)
    t.equal(udp, tcp)
    t.equal(web, 30002)
    t.same(await server.taken('servicenodeports'), [String(udp), '30002'].sort())
    const refused = async (nodePort: number, message: RegExp): Promise<void> => {
      t.match(
        await server.make('b', { type: 'NodePort', ports: [{ port: 1, nodePort }] }),
        { code: 422, json: { details: { causes: [{ field: 'spec.ports[0].nodePort', message }] } } }, String(nodePort)
      )
    }
    await refused(30002, /provided port is already allocated/)
    await refused(40000, /: provided port is not in the valid range. The range of valid ports is 30000-30003/)
    t.same((await server.taken('serviceips')).length, 1, 'a refused service keeps no address')
    const plain = await server.patch(`${SERVICES}/dns`, { spec: { type: 'ClusterIP' } })
    t.same(plain.json.spec.ports.map(({ nodePort }: Json) => nodePort), [undefined, undefined, undefined])
    t.same(await server.taken('servicenodeports'), [])
  }
)

t.test('load balancers have node ports unless disabled, and one for health checks of local traffic', async t => {
  const server = await serviceServer(t, PORTS)
  const { json: { spec } } = await server.make('a', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' })
  t.same(
    (await server.taken('servicenodeports')), [spec.ports[0].nodePort, spec.healthCheckNodePort].sort().map(String)
  )
  t.equal(
    (await server.make('b', {
      type: 'LoadBalancer', allocateLoadBalancerNodePorts: false
    })).json.spec.ports[0].nodePort,
    undefined
  )
  t.match(
    await server.make('c', {
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      allocateLoadBalancerNodePorts: false,
      healthCheckNodePort: spec.healthCheckNodePort
    }),
    { code: 422, json: { details: { causes: [{ field: 'spec.healthCheckNodePort' }] } } }
  )
  await server.patch(`${SERVICES}/a`, { spec: { externalTrafficPolicy: 'Cluster' } })
  t.same(await server.taken('servicenodeports'), [String(spec.ports[0].nodePort)])
})

t.test('a dry run returns what would be allocated, and allocates nothing', async t => {
  const server = await serviceServer(t, PORTS)
  const { code, json: { spec } } = await server.post(`${SERVICES}?dryRun=All`, {
    metadata: { name: 'a' }, spec: { type: 'NodePort', ports: [{ name: 'a', port: 1 }, { name: 'b', port: 2 }] }
  })
  t.equal(code, 201)
  t.match(spec.clusterIP, /^10\.0\.0\./)
  t.not(spec.ports[0].nodePort, spec.ports[1].nodePort)
  await server.make('a', { clusterIP: '10.0.0.9' })
  t.equal(
    (await server.post(`${SERVICES}?dryRun=All`, {
      metadata: { name: 'b' }, spec: { ports: [{ port: 1 }], clusterIP: '10.0.0.9' }
    })).code,
    422
  )
  await server.patch(`${SERVICES}/a?dryRun=All`, { spec: { type: 'NodePort' } })
  await server.delete(`${SERVICES}/a?dryRun=All`)
  t.same([await server.taken('serviceips'), await server.taken('servicenodeports')], [['10.0.0.9'], []])
})

t.test('refused and duplicate creates release their allocations; a generated name takes one address', async t => {
  const server = await serviceServer(t, PORTS, {
    admission: {
      plugins: [{ name: 'No', handles: ({ name }) => name === 'no', validate: () => { throw new Error('no') } }]
    }
  })
  await server.make('a', { type: 'NodePort' })
  const before = await server.taken('serviceips')
  t.equal((await server.make('a', { type: 'NodePort' })).code, 409)
  t.equal((await server.make('no', { type: 'NodePort' })).code, 500)
  t.equal((await server.make('b', { type: 'NodePort', ports: [{ port: 0 }] })).code, 422)
  t.same(await server.taken('serviceips'), before)
  t.equal((await server.taken('servicenodeports')).length, 1)
  t.equal(
    (await server.post(SERVICES, { metadata: { generateName: 'g-' }, spec: { ports: [{ port: 80 }] } })).code, 201
  )
  t.equal((await server.taken('serviceips')).length, 2)
})

t.test('the flags set the ranges; the default is 10.0.0.0/24', async t => {
  const services = async (...flags: string[]) =>
    (await configuration(checkedFlags([`--data-dir=${t.testdir()}`, ...flags]))).options.services
  t.same(await services(), { clusterIPRanges: ['10.0.0.0/24'], nodePorts: { from: 30000, to: 32767 } })
  const server = await serviceServer(
    t, await services('--service-cluster-ip-range=fd00::/120, 10.9.0.0/24', '--service-node-port-range=40000-40000')
  )
  t.match((await server.make('a', { type: 'NodePort', ipFamilyPolicy: 'PreferDualStack' })).json.spec, {
    clusterIPs: [/^fd00::/, /^10\.9\.0\./], ports: [{ nodePort: 40000 }]
  })
  t.throws(() => checkedFlags(['--service-cluster-ip-range=10.0.0.0/8']), /--service-cluster-ip-range.*too large/)
  t.throws(() => checkedFlags(['--service-cluster-ip-range=10.0.0.0/30']), /at least 8 addresses/)
})

t.test('a host without ranges allocates no addresses', async t => {
  const { build } = await import('../../build.js')
  const server = await build(t)
  t.equal(
    (await server.post(SERVICES, { metadata: { name: 'a' }, spec: { ports: [{ port: 80 }] } })).json.spec.clusterIP,
    undefined
  )
})

t.test('ranges: which addresses they have, how large they may be', async t => {
  const four = addressValues('10.1.0.0/16')
  t.same(
    [four.size, four.nameOf(0), four.nameOf(255), four.slotOf('10.1.1.0'), four.slotOf('10.1.255.255')],
    [65534, '10.1.0.1', '10.1.1.0', 255, undefined]
  )
  const six = addressValues('fd00:0:0:1::/108')
  t.same(
    [six.size, six.nameOf(0), six.slotOf('fd00:0:0:1::ffff'), six.slotOf('fd00:0:0:1:0:0:1:0')],
    [65535, 'fd00:0:0:1::1', 65534, undefined]
  )
  for (const good of ['10.0.0.0/12', 'fd00::/108', '10.0.0.0/29']) t.equal(rangeProblem(good), undefined, good)
  for (const bad of ['10.0.0.0/11', 'fd00::/107', '10.0.0.0/30', 'x']) t.type(rangeProblem(bad), 'string', bad)
})

t.test('pools without knowledge of each other never allocate the same address', async t => {
  const backend: Backend = await openBackend({})
  t.teardown(() => backend.close())
  const pools = Array.from(
    { length: 3 }, () => new Pool({ backend, scope: '/r/', slots: portValues(1, 300), refresh: 0 })
  )
  const taken: string[] = []
  await Promise.all(pools.map(async pool => {
    for (;;) {
      const one = await pool.takeAny({ namespace: 'n', name: 'x', uid: 'u' })
      if (one === undefined) return
      taken.push(one.name)
    }
  }))
  t.equal(taken.length, 300)
  t.equal(new Set(taken).size, 300)
})

t.test('the first addresses are kept for those who ask for them, until no other is free', async t => {
  const backend = await openBackend({ kind: 'memory' })
  t.teardown(() => backend.close())
  const pool = new Pool({ backend, scope: '/registry/ranges/kept/', slots: addressValues('10.0.0.0/27'), last: 16 })
  const taken = async (count: number): Promise<number[]> => {
    const names: number[] = []
    for (let index = 0; index < count; index++) {
      names.push(Number((await pool.takeAny({ namespace: 'a', name: 'b', uid: 'c' }))?.name.split('.')[3]))
    }
    return names
  }
  const free = pool.slots.size - 16
  t.ok((await taken(free)).every(last => last > 16))
  t.ok((await taken(16)).every(last => last <= 16))
  t.same(await taken(1), [NaN], 'the range is full')
})

t.test('a dry run allocates as many values as a real one could, and none of the others', async t => {
  const server = await serviceServer(t, { clusterIPRanges: RANGE, nodePorts: { from: 30000, to: 30299 } })
  const ports = (count: number): Json => ({
    type: 'NodePort', ports: Array.from({ length: count }, (_, index) => ({ name: `p${index}`, port: index + 1 }))
  })
  const make = (query: string, count: number): ReturnType<typeof server.post> =>
    server.post(`${SERVICES}${query}`, { metadata: { name: 'all' }, spec: ports(count) })
  t.equal((await server.make('one', ports(1))).code, 201)
  const dry = await make('?dryRun=All', 299)
  t.equal(dry.code, 201)
  t.equal(new Set(dry.json['spec'].ports.map(({ nodePort }: Json) => nodePort as number)).size, 299)
  for (const query of ['?dryRun=All', '']) {
    t.match(await make(query, 300), { code: 500, json: { message: /range is full/ } }, query)
  }
  t.equal((await server.taken('servicenodeports')).length, 1)
  t.equal((await make('', 299)).code, 201, 'a dry run took nothing')
  const taken = { type: 'NodePort', ports: [{ port: 1, nodePort: 30007 }] }
  t.match(await server.post(`${SERVICES}?dryRun=All`, { metadata: { name: 'more' }, spec: taken }), {
    code: 422, json: { message: /already allocated/ }
  })
})
