/** The same votes over a flaky network, which a seed makes repeatable: one of two programs counts wrongly. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { testServer } from 'orch-apiserver/testing'
import { countOnce, countTwice } from './tally.js'

const VOTES = 15
const on = { resource: 'configmaps' }

/** @returns the votes that were counted */
async function votes (count, faults, seed) {
  const server = await testServer({
    seed, faults, fixtures: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'tally' }, data: { votes: '0' } }
  })
  try {
    const config = new KubeConfig()
    config.loadFromOptions(server.clientConfig())
    for (let vote = 0; vote < VOTES; vote++) await count(config)
    server.faults.clear()
    const { data } = await config.makeApiClient(CoreV1Api)
      .readNamespacedConfigMap({ namespace: 'default', name: 'tally' })
    return Number(data.votes)
  } finally {
    await server.dispose()
  }
}

const FLAKY = [
  { on: { ...on, verb: 'update' }, probability: 0.2, disconnect: 'after' },
  { on: { ...on, verb: 'update' }, probability: 0.1, disconnect: 'before' },
  { on, probability: 0.1, status: 503 },
  { on: { ...on, verb: 'update' }, probability: 0.1, status: 409 }
]

test('on a sound network both count right', async () => {
  assert.equal(await votes(countTwice, [], 1), VOTES)
  assert.equal(await votes(countOnce, [], 1), VOTES)
})

test('a flaky network finds the bug, with the same seed each time', async () => {
  const found = await votes(countTwice, FLAKY, 1)
  assert.ok(found > VOTES, `${found} votes of ${VOTES}`)
  assert.equal(await votes(countTwice, FLAKY, 1), found)
})

for (const seed of [1, 2, 3]) {
  test(`the other one counts right, seed ${seed}`, async () => {
    assert.equal(await votes(countOnce, FLAKY, seed), VOTES)
  })
}
