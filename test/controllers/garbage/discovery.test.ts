/** Which types are followed, and by which names owners are found. */
import t from 'tap'
import { Types, type RemoteVersion } from '../../../controllers/garbage/types.js'
import type { Requests } from '../../../controllers/garbage/requests.js'
import type { Test } from '../../build.js'
import { registry } from '../namespace-race.js'

const VERBS = ['delete', 'get', 'list', 'watch']
const requests = {} as Requests
const gadgets = (apiVersion: string, more: Partial<RemoteVersion> = {}, verbs = VERBS): RemoteVersion =>
  ({ apiVersion, isFresh: true, resources: [{ plural: 'gadgets', kind: 'Gadget', namespaced: true, verbs }], ...more })
const types = async (t: Test): Promise<Types> => new Types(await registry(t, {}), requests)
const labels = (found: Types): string[] => [...found.followed()].map(({ label }) => label)

t.test('all stored types that can be deleted, listed and watched are followed, but events', async t => {
  const found = await types(t)
  const followed = labels(found)
  for (const label of [
    'pods', 'namespaces', 'deployments.apps', 'ingresses.networking.orch.io',
    'customresourcedefinitions.apiextensions.orch.io'
  ]) {
    t.ok(followed.includes(label), label)
  }
  t.notOk(followed.some(label => /^events|review|componentstatus|binding$/.test(label)), followed.join())
  t.equal(new Set(followed).size, followed.length)
  t.equal(found.followed().size, followed.length)
  t.strictSame([...found.followed()], [...found.followed()], 'the same while nothing changes')
})

t.test('an owner is found by every version that is served, and by no other', async t => {
  const found = await types(t)
  const job = found.resolve('batch/v1', 'CronJob')
  t.ok(job)
  t.equal(found.resolve('batch/v1beta1', 'CronJob'), job)
  t.equal(
    job?.pathOf({ namespace: 'team', name: 'a b', storedVersion: '' }), '/apis/batch/v1/namespaces/team/cronjobs/a%20b',
    'in the preferred one'
  )
  t.equal(found.resolve('v1', 'Node')?.pathOf({ namespace: '', name: 'one', storedVersion: '' }), '/api/v1/nodes/one')
  for (const [version, kind] of [
    ['batch/v2', 'CronJob'], ['batch/v1', 'CronJobs'], ['v1', 'CronJob'], ['example.com/v1', 'Gadget']
  ] as const) {
    t.equal(found.resolve(version, kind), undefined, `${version} ${kind}`)
  }
  t.ok(found.resolve('v1', 'Event'), 'what is not followed can own all the same')
})

t.test('types of extension servers are followed in their preferred version, if they can be', async t => {
  const found = await types(t)
  found.setRemote([gadgets('example.com/v2'), gadgets('example.com/v1'), gadgets('other.com/v1', {}, ['get', 'list'])])
  t.ok(labels(found).includes('gadgets.example.com'))
  t.notOk(labels(found).includes('gadgets.other.com'))
  const type = found.resolve('example.com/v1', 'Gadget')
  t.equal(
    type?.pathOf({ namespace: 'team', name: 'a', storedVersion: '' }), '/apis/example.com/v2/namespaces/team/gadgets/a'
  )
  found.setRemote([gadgets('example.com/v2'), gadgets('example.com/v1')])
  t.equal(found.resolve('example.com/v1', 'Gadget'), type, 'the same while it is served in the same way')
})

t.test('a group that fails discovery keeps its types, one that is gone does not', async t => {
  const found = await types(t)
  found.setRemote([gadgets('example.com/v1')])
  const type = found.resolve('example.com/v1', 'Gadget')
  found.setRemote([gadgets('example.com/v1', { isFresh: false, resources: [] })])
  t.equal(found.resolve('example.com/v1', 'Gadget'), type)
  t.ok(labels(found).includes('gadgets.example.com'))
  found.setRemote([gadgets('example.com/v1', { resources: [] })])
  t.equal(found.resolve('example.com/v1', 'Gadget'), undefined, 'it says that it has none')
  found.setRemote([gadgets('example.com/v1')])
  found.setRemote([])
  t.equal(found.resolve('example.com/v1', 'Gadget'), undefined)
})
