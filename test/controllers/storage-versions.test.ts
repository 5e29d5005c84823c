/** The feature gate StorageVersionAPI: what each server publishes, and how writes wait for it. */
import t from 'tap'
import Fastify from '../fastify.js'
import orch, { StorageError, type ServerOptions } from '../../app.js'
import { StorageVersions } from '../../controllers/storage-versions.js'
import { withServer } from '../../controllers/storage-version-status.js'
import { passes } from '../../plugins/storage-version-barrier.js'
import { list } from '../../registry/verbs/list.js'
import { remove } from '../../registry/verbs/delete.js'
import { types } from '../../schemas/resources.js'
import type { Backend } from '../../storage/backend.js'
import { kept } from './aggregation/kept-store.js'
import { build, client, type Client, type Json } from '../build.js'
import { definition, DEFINITIONS, install } from './custom/definitions.js'
import { context, registry } from './namespace-race.js'
import { FakeClock, turns } from '../storage/fake-clock.js'
import { everything } from '../storage/store.js'

const VERSIONS = '/apis/internal.apiserver.orch.io/v1alpha1/storageversions'
const HOOK = '/readyz/poststarthook/built-in-resources-storage-version-updater'
const SERVED: ServerOptions = { api: { disabled: [] } }
const ON: ServerOptions = { ...SERVED, featureGates: { StorageVersionAPI: true, APIServerIdentity: true } }
const over = (backend: Backend, options = ON): ServerOptions => ({ ...options, storage: backend })

const all = async (server: Client): Promise<Json[]> => (await server.get(VERSIONS)).json['items'] as Json[]
const identities = async (server: Client): Promise<string[]> =>
  ((await server.get(
    '/apis/coordination.orch.io/v1/namespaces/orch-system/leases'
  )).json['items'] as Json[]).map(({ metadata }) => metadata.name as string)
const STORED = types.filter(({ virtual, stored: { gate } }) => !virtual && gate === undefined)
  .map(({ group, plural }) => `${group === '' ? 'core' : group}.${plural}`)
  .sort()

t.test('each built-in type has a StorageVersion with the entry of the server, custom resources have none', async t => {
  const server = await build(t, ON)
  await install(server, definition())
  const [identity] = await identities(server)
  const items = await all(server)
  t.same(items.map(({ metadata }) => metadata.name as string), STORED)
  for (const [name, apiVersion] of [
    ['core.pods', 'v1'],
    ['batch.cronjobs', 'batch/v1'],
    ['autoscaling.horizontalpodautoscalers', 'autoscaling/v1'],
    ['core.events', 'v1'],
    ['internal.apiserver.orch.io.storageversions', 'internal.apiserver.orch.io/v1alpha1']
  ] as const) {
    t.match(items.find(({ metadata }) => metadata.name === name)?.['status'], {
      storageVersions: [{ apiServerID: identity, encodingVersion: apiVersion, decodableVersions: [apiVersion] }],
      commonEncodingVersion: apiVersion,
      conditions: [
        {
          type: 'AllEncodingVersionsEqual',
          status: 'True',
          reason: 'CommonEncodingVersionSet',
          message: 'Common encoding version set'
        }
      ]
    }, name)
  }
  t.equal((await server.get(HOOK)).code, 200)
})

t.test('types that are not served have none, and without both gates and the group nothing is written', async t => {
  const disabled = 'policy/v1beta1/podsecuritypolicies'
  const names = (await all(await build(t, { ...ON, api: { disabled: [disabled] } })))
    .map(({ metadata }) => metadata.name as string)
  t.same(STORED.filter(name => !names.includes(name)), ['policy.podsecuritypolicies'])
  for (const options of [
    { ...SERVED, featureGates: { StorageVersionAPI: true } },
    { ...SERVED, featureGates: { APIServerIdentity: true } },
    { featureGates: ON.featureGates }
  ] as ServerOptions[]) {
    const backend = kept(t)
    const server = await build(t, over(backend, options))
    t.equal((await server.get(HOOK)).code, 404)
    await server.app.close()
    t.same(await all(await build(t, over(backend, SERVED))), [])
  }
})

t.test('servers that start at once have an entry each, and a restart adds one', async t => {
  const backend = kept(t)
  const [one, other] = await Promise.all([build(t, over(backend)), build(t, over(backend))])
  const both = await identities(one)
  t.equal(both.length, 2)
  const entries = (item: Json | undefined): string[] =>
    (item?.['status'].storageVersions as Json[]).map(({ apiServerID }) => apiServerID as string).sort()
  for (const item of await all(one)) t.same(entries(item), both.toSorted(), item['metadata'].name)
  await other.app.close()
  const again = await build(t, over(backend))
  for (const item of await all(again)) {
    t.match(entries(item).filter(name => !both.includes(name)), { length: 1 })
    t.equal(item['status'].conditions[0].status, 'True')
  }
})

t.test('a server that stores another version unsets the common one', async t => {
  const backend = kept(t)
  const before = await build(t, over(backend, SERVED))
  await before.post(VERSIONS, { metadata: { name: 'batch.cronjobs', labels: { kept: 'yes' } }, spec: {}, status: {} })
  const others = { apiServerID: 'old', encodingVersion: 'batch/v1beta1', decodableVersions: ['batch/v1beta1'] }
  t.equal(
    (await before.patch(`${VERSIONS}/batch.cronjobs/status`, {
      status: { storageVersions: [others], commonEncodingVersion: 'batch/v1beta1' }
    })).code,
    200
  )
  await before.app.close()
  const { json } = await (await build(t, over(backend))).get(`${VERSIONS}/batch.cronjobs`)
  t.match(json, {
    metadata: { labels: { kept: 'yes' } },
    status: {
      storageVersions: [others, { encodingVersion: 'batch/v1' }],
      conditions: [{ status: 'False', reason: 'CommonEncodingVersionUnset', message: 'Common encoding version unset' }]
    }
  })
  t.equal(json['status'].commonEncodingVersion, undefined)
})

t.test('the time of the condition changes with its status, or with the common version', async t => {
  const entry = (apiServerID: string, version: string) => ({
    apiServerID, encodingVersion: version, decodableVersions: [version]
  })
  const first = withServer({ metadata: {}, status: {} }, entry('a', 'v1'), '1')
  const time = (status: typeof first): unknown => status.conditions?.[0]?.lastTransitionTime
  t.equal(time(first), '1')
  t.strictSame(withServer({ metadata: {}, status: first }, entry('a', 'v1'), '2'), first)
  const replaced = withServer({ metadata: { generation: 7 }, status: first }, entry('a', 'v2'), '3')
  t.match(replaced, { commonEncodingVersion: 'v2', conditions: [{ lastTransitionTime: '3', observedGeneration: 7 }] })
  const apart = withServer({ metadata: {}, status: replaced }, entry('b', 'v1'), '4')
  t.equal(time(apart), '4')
  t.equal(time(withServer({ metadata: {}, status: apart }, entry('c', 'v3'), '5')), '4')
})

t.test('writes of a type wait for its StorageVersion, and the start for all', async t => {
  const inner = kept(t)
  let broken = true
  const refuse = (key: string): void => {
    if (broken && key.endsWith('/storageversions/apps.deployments')) {
      throw new StorageError('Unavailable', 'the store is away')
    }
  }
  const backend = new Proxy(inner, {
    get: (target, name) => name === 'create'
      ? async (...args: Parameters<Backend['create']>) => { refuse(args[0]); return await target.create(...args) }
      : target[name as keyof Backend]
  })
  const app = Fastify({ logger: false })
  t.teardown(() => app.close())
  await app.register(orch, over(backend))
  await app.ready()
  const server = client(app)
  const deployments = '/apis/apps/v1/namespaces/default/deployments'
  const waits = async (): Promise<boolean> =>
    /last seen error: the store is away/.test((await server.post(deployments, {})).json['message'] as string)
  while (!await waits()) await turns()
  t.match(await server.post(deployments, {}), {
    code: 503,
    json: {
      reason: 'ServiceUnavailable',
      message:
        'wait for storage version registration to complete for resource: ' +
        'deployments.apps, last seen error: the store is away'
    }
  })
  t.equal((await server.get(deployments)).code, 200)
  t.equal((await server.call('DELETE', `${deployments}/a`)).code, 503)
  t.equal(
    (await server.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' } })).code, 201,
    'others are published'
  )
  t.equal(
    (await server.post('/apis/authorization.orch.io/v1/selfsubjectaccessreviews', {
      spec: { nonResourceAttributes: { path: '/', verb: 'get' } }
    })).code,
    201
  )
  t.equal((await server.get(HOOK)).code, 500)
  for (const url of [
    '/apis/scheduling.orch.io/v1/priorityclasses', '/apis/apiregistration.orch.io/v1/apiservices',
    '/api/v1/namespaces/orch-system/configmaps'
  ]) {
    t.same((await server.get(url)).json['items'], [], 'the server itself writes no others')
  }
  broken = false
  while ((await server.get('/readyz')).code !== 200) await turns()
  t.equal((await server.post(deployments, {})).code, 422)
  t.equal((await server.get(DEFINITIONS)).code, 200)
})

t.test('writes that a start depends on pass', async t => {
  const info = {
    path: '',
    isResourceRequest: true,
    verb: 'create',
    group: '',
    version: 'v1',
    resource: 'namespaces',
    subresource: '',
    namespace: '',
    name: ''
  }
  const user = { username: 'system:apiserver', uid: '', groups: ['system:masters'], extra: {} }
  t.equal(passes(info, user), true)
  t.equal(passes({ ...info, verb: 'update' }, user), false)
  t.equal(passes(info, { ...user, username: 'ann' }), false)
  t.equal(passes(info, { ...user, groups: [] }), false)
  const lease = { ...info, group: 'coordination.orch.io', resource: 'leases', namespace: 'orch-system' }
  t.equal(passes(lease, undefined), true)
  t.equal(passes({ ...lease, namespace: 'default' }, undefined), false)
  t.equal(passes({ ...info, group: 'internal.apiserver.orch.io', resource: 'storageversions' }, undefined), true)
  for (const verb of ['get', 'list', 'watch']) t.equal(passes({ ...info, verb }, undefined), true)
  t.equal(passes({ ...info, isResourceRequest: false }, undefined), true)
})

t.test('deleted storage versions are restored within ten minutes, and nothing else is written', async t => {
  const resources = await registry(t, SERVED)
  const store = resources.find('internal.apiserver.orch.io', 'storageversions')
  if (store === undefined) throw new Error('there are no storage versions')
  const clock = new FakeClock(Date.now())
  const publisher = new StorageVersions({ resources, clock, log: () => {}, identity: 'one' })
  await publisher.start()
  const revisions = async (): Promise<Map<string, number>> =>
    new Map((await list(store, everything)).entries.map(({ name, revision }) => [name, revision]))
  const before = await revisions()
  t.equal(before.size, STORED.length)
  await remove(store, { namespace: '', name: 'core.pods' }, {}, context)
  clock.advance(600_000)
  while (clock.waits.length === 0) await turns()
  const { 'core.pods': old, ...same } = Object.fromEntries(before)
  t.match(await revisions().then(Object.fromEntries), same)
  t.ok((await revisions()).get('core.pods') as number > (old as number))
  await publisher.close()
  t.same(clock.waits, [])
})
