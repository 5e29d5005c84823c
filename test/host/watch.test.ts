/** Watches that go on by themselves. */
import t from 'tap'
import Fastify from '../fastify.js'
import { server, type Authorizer, type OwnClient, type ServerOptions, type WatchEvent } from '../../app.js'
import { loadedServer, type Whole } from '../../plugins/shared/plugin.js'
import type { Backend, BackendWatch, WatchRequest } from '../../storage/backend.js'
import { StorageError } from '../../storage/errors.js'
import { openMemory } from '../../storage/embedded/memory.js'
import { clientOf } from '../../host/client.js'
import { coreV1 } from '../../schemas/public.js'
import { freezeShared } from '../../storage/cache/shared.js'
import { testServer } from '../../testing/index.js'
import type { Test } from '../build.js'
import { definition, until } from './shared.js'

freezeShared('everything')

async function hosted (t: Test, options: ServerOptions = {}): Promise<{ client: OwnClient }> {
  const fastify = Fastify()
  t.teardown(() => fastify.close())
  let found: Whole | undefined
  await fastify.register(async scope => {
    await server(scope, options)
    found = loadedServer(scope)
  })
  await fastify.ready()
  const scope = loadedServer(found)
  await until(() => scope.orchHealth.ready())
  return { client: clientOf(scope) }
}

const NAMESPACE = { namespace: 'default' }
const map = (name: string, labels: Record<string, string> = {}) => ({ metadata: { name, ...NAMESPACE, labels } })
const told = ({ type, object }: WatchEvent<coreV1.ConfigMap>): string =>
  `${type} ${object.metadata.name ?? ''} ${object.data?.['n'] ?? ''}`.trim()

/** The next events of a watch. */
async function next (watch: AsyncIterator<WatchEvent<coreV1.ConfigMap>>, count: number): Promise<string[]> {
  const events: string[] = []
  while (events.length < count) {
    const { value, done } = await watch.next()
    if (done === true) break
    events.push(told(value))
  }
  return events
}

t.test('the present objects, then each change, as its selector sees them', async t => {
  const { client } = await hosted(t)
  const maps = client.of(coreV1.ConfigMap)
  await maps.create(map('a', { tier: 'web' }))
  await maps.create(map('b'))
  const watch = maps.watch({ ...NAMESPACE, labelSelector: 'tier=web' })
  t.same(await next(watch, 1), ['ADDED a'])
  await maps.patch('b', { metadata: { labels: { tier: 'web' } } }, NAMESPACE)
  await maps.patch('b', { data: { n: '1' } }, NAMESPACE)
  const { metadata: { resourceVersion = '' } } = await maps.patch(
    'a', { metadata: { labels: { tier: 'db' } }, data: { n: 'not to be seen' } }, NAMESPACE
  )
  await maps.delete('b', NAMESPACE)
  t.same(await next(watch, 2), ['ADDED b', 'MODIFIED b 1'])
  const { value } = await watch.next()
  t.match(
    value, { type: 'DELETED', object: { metadata: { name: 'a', resourceVersion } } },
    'an object that is selected no longer, as it last was'
  )
  t.notOk((value as WatchEvent<coreV1.ConfigMap>).object.data)
  t.same(await next(watch, 1), ['DELETED b 1'])
  await watch.return?.()
})

t.test('a reader who returns while they wait ends it', async t => {
  const { client } = await hosted(t)
  const maps = client.of(coreV1.ConfigMap)
  const watch = maps.watch({ namespace: 'none' })
  const waiting = watch.next()
  await maps.create(map('a'))
  t.same(await watch.return?.(), { done: true, value: undefined })
  t.same(await waiting, { done: true, value: undefined })
  const failing = maps.watch({ namespace: 'none' })
  const failed = failing.next()
  await t.rejects(async () => await failing.throw?.(new Error('of the reader')), { message: 'of the reader' })
  t.same(await failed, { done: true, value: undefined })
  const unread = maps.watch()
  await unread.return?.()
  t.same(await unread.next(), { done: true, value: undefined })
})

t.test('from a version, the changes after it', async t => {
  const { client } = await hosted(t)
  const maps = client.of(coreV1.ConfigMap)
  const { metadata } = await maps.create(map('a'))
  await maps.create(map('b'))
  const watch = maps.watch({ ...NAMESPACE, resourceVersion: metadata.resourceVersion ?? '' })
  t.same(await next(watch, 1), ['ADDED b'])
  await watch.return?.()
})

/** The memory back end, whose watches a test can end. */
async function breakable (): Promise<{ backend: Backend, breakAll: () => void }> {
  const backend = openMemory()
  const open: Array<{ request: WatchRequest, watch: BackendWatch }> = []
  const begin = backend.watch.bind(backend)
  backend.watch = request => {
    const watch = begin(request)
    open.push({ request, watch })
    return watch
  }
  return {
    backend,
    breakAll: () => {
      for (const { request, watch } of open.splice(0)) {
        watch.cancel()
        request.onEnd(new StorageError('Compacted', 'broken by the test'))
      }
    }
  }
}

for (const cached of [true, false]) {
  t.test(
    `after the watch of the store broke, ${cached ? 'with' : 'without'} a cache, it goes on and tells nothing twice`,
    async t => {
      const { backend, breakAll } = await breakable()
      const { client } = await hosted(t, {
        storage: backend, watchCache: { sizes: { '/configmaps': cached ? 100 : 0 } }
      })
      const maps = client.of(coreV1.ConfigMap)
      for (const name of ['a', 'b']) await maps.create(map(name))
      const watch = maps.watch(NAMESPACE)
      t.same(await next(watch, 2), ['ADDED a', 'ADDED b'])
      await maps.patch('a', { data: { n: '1' } }, NAMESPACE)
      breakAll()
      t.same(await next(watch, 1), ['MODIFIED a 1'])
      await maps.patch('b', { data: { n: '2' } }, NAMESPACE)
      t.same(await next(watch, 1), ['MODIFIED b 2'])
      await watch.return?.()
    }
  )
}

t.test('a reader who comes too late is told the differences', async t => {
  const { client } = await hosted(t)
  const maps = client.of(coreV1.ConfigMap)
  for (const name of ['a', 'b', 'c']) await maps.create(map(name))
  const page = (await maps.list(NAMESPACE)[Symbol.asyncIterator]().next()).value
  const whole = maps.watch(NAMESPACE)
  const since = maps.watch({ ...NAMESPACE, resourceVersion: page?.metadata.resourceVersion ?? '' })
  t.same(await next(whole, 3), ['ADDED a', 'ADDED b', 'ADDED c'])
  await maps.create(map('later'))
  t.same(await next(whole, 1), ['ADDED later'])
  t.same(await next(since, 1), ['ADDED later'])
  await maps.delete('c', NAMESPACE)
  await maps.create(map('d'))
  // More than are kept.
  const large = 'x'.repeat(1_000_000)
  for (let at = 0; at < 70; at++) await maps.patch('a', { data: { large, n: String(at) } }, NAMESPACE)
  await maps.patch('a', { data: { large: null } }, NAMESPACE)
  const differences = ['MODIFIED a 69', 'ADDED d', 'DELETED c']
  t.same(await next(whole, 3), differences)
  t.same(await next(since, 3), differences, 'and so is one who began at a version')
  await maps.patch('b', { data: { n: '1' } }, NAMESPACE)
  t.same(await next(whole, 1), ['MODIFIED b 1'])
  t.same(await next(since, 1), ['MODIFIED b 1'])
  await whole.return?.()
  await since.return?.()
})

for (const emulatedVersion of ['1.24', '1.36'] as const) {
  t.test(`a watch of ${emulatedVersion} that cannot begin says why`, async t => {
    const { client } = await hosted(t, { emulatedVersion })
    const maps = client.of(coreV1.ConfigMap)
    await t.rejects(
      maps.watch({ ...NAMESPACE, resourceVersion: '999999999' }).next(), { name: 'StatusError', status: { code: 504 } },
      'a version that there is not yet'
    )
    await t.rejects(maps.watch({ ...NAMESPACE, resourceVersion: 'none' }).next(), {
      name: 'StatusError', status: { code: 400 }
    })
    await t.rejects(maps.watch({ ...NAMESPACE, fieldSelector: 'data.x=1' }).next(), {
      name: 'StatusError', status: { code: 400 }
    })
  })
}

t.test('a watch from a version that is no longer kept says so', async t => {
  const backend = openMemory()
  const { client } = await hosted(t, { storage: backend })
  const maps = client.of(coreV1.ConfigMap)
  const { metadata: { resourceVersion = '' } } = await maps.create(map('a'))
  const { metadata } = await maps.create(map('b'))
  await backend.compact(Number(metadata.resourceVersion))
  const watch = maps.watch({ ...NAMESPACE, resourceVersion })
  await t.rejects(watch.next(), { name: 'StatusError', status: { code: 410 } })
  t.same(await watch.next(), { done: true, value: undefined })
})

t.test('after its lifetime it goes on where it was', async t => {
  await using server = await testServer({ now: new Date('2030-01-01') })
  const maps = server.client.of(coreV1.ConfigMap)
  const ann = server.client.as({ username: 'ann' }).of(coreV1.ConfigMap)
  await maps.create(map('a'))
  const watch = ann.watch(NAMESPACE)
  t.same(await next(watch, 1), ['ADDED a'])
  const waiting = next(watch, 1)
  await server.clock.move('2h')
  await maps.create(map('b'))
  t.same(await waiting, ['ADDED b'])
  await watch.return?.()
})

t.test('whose user may no longer watch, it ends when its lifetime does', async t => {
  let allowed = true
  const authorizers: Authorizer[] = [
    { name: 'host', authorize: ({ user }) => ({ decision: allowed || user.username !== 'ann' ? 'Allow' : 'Deny' }) }
  ]
  await using server = await testServer({
    now: new Date('2030-01-01'), server: { authorization: { modes: [], authorizers } }
  })
  const watch = server.client.as({ username: 'ann' }).of(coreV1.ConfigMap).watch(NAMESPACE)
  await server.client.of(coreV1.ConfigMap).create(map('a'))
  t.same(await next(watch, 1), ['ADDED a'])
  allowed = false
  const ended = t.rejects(next(watch, 1), { name: 'StatusError', status: { code: 403 } })
  await server.clock.move('2h')
  await ended
})

t.test('a type that is replaced is watched on; one that is removed is missing', async t => {
  const { client } = await hosted(t)
  const name = { apiVersion: 'example.com/v1', kind: 'Widget' }
  const definitions = client.of({ apiVersion: 'apiextensions.orch.io/v1', kind: 'CustomResourceDefinition' })
  await definitions.create(definition())
  const widgets = client.of(name)
  await until(async () => await widgets.list().all().then(() => true, () => false))
  await widgets.create({ metadata: { name: 'w', ...NAMESPACE } })
  const watch = widgets.watch()
  t.match((await watch.next()).value, { type: 'ADDED', object: { metadata: { name: 'w' } } })
  await definitions.patch(
    'widgets.example.com',
    [
      {
        op: 'add',
        path: '/spec/versions/0/schema/openAPIV3Schema/properties/more',
        value: { type: 'string', default: 'yes' }
      }
    ],
    { type: 'json' }
  )
  const second = watch.next()
  await until(async () =>
    (await widgets.create({ metadata: { name: 'x', ...NAMESPACE } }, { dryRun: true }))['more'] === 'yes')
  await widgets.create({ metadata: { name: 'x', ...NAMESPACE } })
  t.match((await second).value, { type: 'ADDED', object: { metadata: { name: 'x' }, more: 'yes' } })
  const third = watch.next()
  await definitions.delete('widgets.example.com')
  t.match(
    [(await third).value, (await watch.next()).value].map(({ type, object }) =>
      `${type} ${object.metadata.name}`).sort(),
    ['DELETED w', 'DELETED x']
  )
  await t.rejects(watch.next(), { name: 'StatusError', status: { code: 404 } })
})
