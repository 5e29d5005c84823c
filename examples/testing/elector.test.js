/** An election whose minutes take milliseconds: the server and the candidates share a clock that the test moves. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { CustomObjectsApi, KubeConfig } from '@kubernetes/client-node'
import { testServer } from 'orch-apiserver/testing'
import { Elector } from './elector.js'

let server, ann, bob, config
beforeEach(async () => {
  server = await testServer({ now: new Date('2030-01-01T00:00:00Z') })
  config = new KubeConfig()
  config.loadFromOptions(server.clientConfig())
  const now = () => server.clock.now().getTime()
  ann = new Elector(config, 'ann', now)
  bob = new Elector(config, 'bob', now)
})
afterEach(() => server.dispose())

const leaders = () => [ann, bob].filter(({ leads }) => leads).map(({ identity }) => identity)

async function pass (seconds, ...candidates) {
  for (let passed = 0; passed < seconds; passed += 5) {
    await Promise.all(candidates.map(candidate => candidate.tick()))
    await server.clock.move('5s')
  }
}

test('one of several leads, and goes on leading while it renews', async () => {
  await pass(300, ann, bob)
  assert.equal(leaders().length, 1)
  const [leader] = leaders()
  assert.equal(server.exchanges.find({ verb: 'update', status: 200 }).every(({ body }) =>
    body.spec.holderIdentity === leader), true)
})

test('when the leader is gone another one takes over after the duration of the Lease, never two at once', async () => {
  await ann.tick()
  await bob.tick()
  assert.deepEqual(leaders(), ['ann'])
  await pass(10, bob)
  assert.deepEqual(leaders(), ['ann'])
  await pass(10, bob)
  assert.deepEqual(leaders(), ['bob'])
  const { spec } = await config.makeApiClient(CustomObjectsApi).getNamespacedCustomObject({
    group: 'coordination.orch.io', version: 'v1', plural: 'leases', namespace: 'default', name: 'leader'
  })
  assert.equal(spec.leaseTransitions, 1)
  await ann.tick()
  assert.deepEqual(leaders(), ['bob'])
})

test('a leader that cannot renew stops leading before another begins', async () => {
  await ann.tick()
  await bob.tick()
  server.faults.add({ on: { verb: 'update', resource: 'leases', user: 'test-admin' }, status: 503, times: 3 })
  for (let seconds = 0; seconds < 60; seconds++) {
    if (seconds % 5 === 0) await Promise.all([ann.tick(), bob.tick()])
    assert.ok(leaders().length <= 1, `at ${seconds} s: ${leaders().join(' and ')}`)
    await server.clock.move('1s')
  }
  assert.equal(leaders().length, 1)
})
