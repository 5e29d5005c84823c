import { hostname } from 'node:os'
import t from 'tap'
import { checkedFlags } from '../../config/options.js'
import { IdentityLease } from '../../controllers/identity-lease.js'
import { build, type Json, type Client } from '../build.js'
import { FakeClock, turns } from '../storage/fake-clock.js'
import { registry } from './namespace-race.js'
import { list } from '../../registry/verbs/list.js'
import { everything } from '../storage/store.js'

const LEASES = '/apis/coordination.orch.io/v1/namespaces/orch-system/leases'
const leasesOf = async (server: Client): Promise<Json[]> =>
  (await server.get(`${LEASES}?labelSelector=orch.io/component%3Dorch-apiserver`)).json['items'] as Json[]

t.test('with the gate a server has a lease of its own, without it none', async t => {
  const server = await build(t, { featureGates: { APIServerIdentity: true }, identityLease: { durationSeconds: 60 } })
  const [lease, ...others] = await leasesOf(server)
  t.same(others, [])
  t.match(lease, {
    metadata: { name: /^orch-apiserver-/ },
    spec: { holderIdentity: lease?.['metadata'].name, leaseDurationSeconds: 60, renewTime: /\.\d{6}Z$/ }
  })
  t.same(await leasesOf(await build(t)), [])
  t.doesNotThrow(() => checkedFlags(['--feature-gates=APIServerIdentity=true']))
})

t.test('where release 1.36 is emulated every server has one, whose name stays that of its host', async t => {
  const leases = async () => (await (await build(t, { emulatedVersion: '1.36' })).get(
    `${LEASES}?labelSelector=apiserver.orch.io/identity%3Dorch-apiserver`
  )).json['items'] as Json[]
  const [first, second] = [await leases(), await leases()]
  t.equal(first.length, 1)
  t.match(first[0], {
    metadata: { name: /^apiserver-[a-z2-7]{26}$/, labels: { 'orch.io/hostname': hostname() } },
    spec: { holderIdentity: /^apiserver-[a-z2-7]{26}_/, leaseDurationSeconds: 3600 }
  })
  t.equal(second[0]?.['metadata'].name, first[0]?.['metadata'].name)
  t.not(second[0]?.['spec'].holderIdentity, first[0]?.['spec'].holderIdentity)
})

t.test('the lease is renewed, and leases of former servers are removed', async t => {
  const resources = await registry(t, {})
  const leases = resources.find('coordination.orch.io', 'leases')
  if (leases === undefined) throw new Error('there are no leases')
  const clock = new FakeClock(Date.now())
  const options = { resources, clock, log: () => {}, durationSeconds: 30, renewIntervalSeconds: 10 }
  const gone = new IdentityLease(options)
  await gone.start()
  await gone.close()
  const there = new IdentityLease(options)
  await there.start()
  const names = async (): Promise<string[]> =>
    (await list(leases, { ...everything, namespace: 'orch-system' })).entries.map(({ name }) => name)
  t.same((await names()).sort(), [gone.identity, there.identity].sort())
  const renewed: unknown[] = []
  for (let at = 0; at < 7; at++) {
    clock.advance(10_000)
    while (clock.waits.length === 0) await turns()
    const { entries } = await list(leases, { ...everything, namespace: 'orch-system' })
    renewed.push((entries.find(({ name }) => name === there.identity)?.object as Json | undefined)?.['spec'].renewTime)
  }
  t.equal(new Set(renewed).size, 7)
  t.same(await names(), [there.identity])
  await there.close()
  t.same(clock.waits, [])
})
