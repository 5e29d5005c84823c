/** Informers of a host. */
import t from 'tap'
import Fastify from '../fastify.js'
import orch from '../../app.js'
import { coreV1 } from '../../schemas/public.js'
import { freezeShared } from '../../storage/cache/shared.js'
import { testServer } from '../../testing/index.js'
import { definition, until } from './shared.js'

freezeShared('everything')

const NAMESPACE = { namespace: 'default' }
const map = (name: string, labels: Record<string, string> = {}) => ({ metadata: { name, ...NAMESPACE, labels } })
const nameOf = ({ metadata }: { metadata: { name?: string | undefined } }): string => metadata.name ?? ''

t.test('it keeps what is selected, finds it by index, and tells what changes', async t => {
  await using server = await testServer()
  const maps = server.client.of(coreV1.ConfigMap)
  await maps.create(map('a', { tier: 'web', team: 'x' }))
  await maps.create(map('b', { team: 'x' }))
  const told: string[] = []
  using informer = server.client.informer(coreV1.ConfigMap, {
    ...NAMESPACE,
    labelSelector: 'tier',
    indexes: { team: ({ metadata }) => metadata.labels?.['team'] === undefined ? [] : [metadata.labels['team']] },
    handlers: {
      added: object => { told.push(`+${nameOf(object)}`) },
      updated: (object, old) => {
        told.push(`${nameOf(object)} ${old.metadata.labels?.['tier']}>${object.metadata.labels?.['tier']}`)
      },
      deleted: object => { told.push(`-${nameOf(object)}`) }
    }
  })
  t.notOk(informer.synced)
  await informer.start()
  t.ok(informer.synced)
  t.same(told.splice(0), ['+a'])
  t.same(informer.list().map(nameOf), ['a'])
  await maps.patch('a', { metadata: { labels: { tier: 'db' } } }, NAMESPACE)
  await maps.patch('b', { metadata: { labels: { tier: 'web' } } }, NAMESPACE)
  await maps.create({ metadata: { name: 'elsewhere', namespace: 'orch-system', labels: { tier: 'web' } } })
  await until(() => told.length === 2)
  t.same(told.splice(0), ['a web>db', '+b'])
  t.same(informer.by('team', 'x').map(nameOf), ['a', 'b'])
  await maps.patch('a', { metadata: { labels: { team: 'y', tier: null } } }, NAMESPACE)
  await maps.delete('b', NAMESPACE)
  await until(() => told.length === 2)
  t.same(told.splice(0), ['-a', '-b'], 'what is selected no longer, and what is gone')
  t.same([informer.list(), informer.by('team', 'x'), informer.get('a', 'default')], [[], [], undefined])
  t.throws(() => informer.by('none', ''), TypeError)
  await maps.create(map('c', { tier: 'web', team: 'x' }))
  await until(() => informer.get('c', 'default') !== undefined)
  const held = informer.get('c', 'default')
  t.throws(
    () => { if (held?.metadata.labels !== undefined) held.metadata.labels['tier'] = 'db' }, TypeError,
    'what it keeps is frozen'
  )
  informer.stop()
  await maps.create(map('d', { tier: 'web' }))
  await server.client.of(coreV1.ConfigMap).get('d', NAMESPACE)
  t.notOk(informer.get('d', 'default'))
})

t.test('a resync tells all objects as updated', async t => {
  await using server = await testServer({ now: new Date('2030-01-01') })
  await server.client.of(coreV1.ConfigMap).create(map('a'))
  let updated = 0
  using informer = server.client.informer(coreV1.ConfigMap, {
    ...NAMESPACE, resync: 60_000, handlers: { updated: (object, old) => { if (object === old) updated++ } }
  })
  await informer.start()
  await server.clock.move('1m')
  await until(() => updated === 1)
  t.pass()
})

t.test('a handler and an index that fail stop nothing', async t => {
  await using server = await testServer()
  const maps = server.client.of(coreV1.ConfigMap)
  using informer = server.client.informer(coreV1.ConfigMap, {
    ...NAMESPACE,
    indexes: { bad: () => { throw new Error('an index') } },
    handlers: { added: () => { throw new Error('added') }, deleted: () => { throw new Error('deleted') } }
  })
  await informer.start()
  await maps.create(map('a'))
  await until(() => informer.list().length === 1)
  t.same(informer.by('bad', 'x'), [])
  await maps.delete('a', NAMESPACE)
  await until(() => informer.list().length === 0)
  await maps.create(map('b'))
  await until(() => informer.list().length === 1)
})

t.test('a handler that fails later is logged, and does not end the process', async t => {
  const lines: string[] = []
  const fastify = Fastify({ logger: { level: 'error', stream: { write: (line: string) => { lines.push(line) } } } })
  t.teardown(() => fastify.close())
  await fastify.register(orch)
  await fastify.ready()
  const { client } = fastify.orch
  const handlers = {
    added: async () => { throw new Error('added late') },
    updated: async () => { throw new Error('updated late') },
    deleted: async () => { throw new Error('deleted late') }
  }
  using informer = client.informer(coreV1.ConfigMap, { fieldSelector: 'metadata.name=a', handlers: handlers as object })
  await informer.start()
  const maps = client.of(coreV1.ConfigMap)
  await maps.create(map('a'))
  await until(() => informer.get('a', 'default') !== undefined)
  await maps.patch('a', { data: { a: 'b' } }, NAMESPACE)
  await until(() => informer.get('a', 'default')?.data !== undefined)
  await maps.delete('a', NAMESPACE)
  await until(() => lines.length === 3)
  t.match(lines, [/added late.*a handler of an informer of ConfigMap failed/, /updated late/, /deleted late/])
})

t.test('one that is stopped before it has all objects has none', async t => {
  await using server = await testServer()
  const informer = server.client.informer(coreV1.Namespace)
  const starting = informer.start()
  informer.stop()
  await starting
  t.notOk(informer.synced)
  await t.rejects(informer.start(), { name: 'TypeError', message: 'an informer that was stopped cannot start' })
})

t.test('a type that is defined, replaced, removed and defined again', async t => {
  await using server = await testServer()
  const { client } = server
  const name = { apiVersion: 'example.com/v1', kind: 'Widget' }
  const definitions = client.of({ apiVersion: 'apiextensions.orch.io/v1', kind: 'CustomResourceDefinition' })
  const widgets = client.of(name)
  const told: string[] = []
  const nameIn = (object: unknown): string => (object as { metadata: { name: string } }).metadata.name
  using informer = client.informer(name, {
    handlers: {
      added: object => { told.push(`+${nameIn(object)}`) }, deleted: object => { told.push(`-${nameIn(object)}`) }
    }
  })
  await t.rejects(informer.start(), { name: 'StatusError', status: { code: 404 } }, 'it is not there yet')
  const define = async () => {
    await definitions.create(definition())
    await until(async () => await widgets.list().all().then(() => true, () => false))
  }
  await define()
  await informer.start()
  await widgets.create({ metadata: { name: 'w', ...NAMESPACE } })
  await until(() => told.length === 1)
  await definitions.patch(
    'widgets.example.com',
    [{ op: 'add', path: '/spec/versions/0/schema/openAPIV3Schema/properties/more', value: { type: 'string' } }],
    { type: 'json' }
  )
  await until(async () =>
    (await widgets.create({ metadata: { name: 'x', ...NAMESPACE }, more: 'yes' }, { dryRun: true }))['more'] === 'yes')
  await widgets.create({ metadata: { name: 'x', ...NAMESPACE }, more: 'yes' })
  await until(() => told.length === 2)
  t.same(told.splice(0), ['+w', '+x'], 'nothing twice')
  t.match(informer.get('x', 'default'), { more: 'yes' })
  await definitions.delete('widgets.example.com')
  await until(() => told.length === 2)
  t.same(told.splice(0).sort(), ['-w', '-x'])
  await until(async () => await definitions.get('widgets.example.com').then(() => false, () => true))
  await define()
  await widgets.create({ metadata: { name: 'y', ...NAMESPACE } })
  await until(() => told.length === 1)
  t.same(told, ['+y'])
})

t.test('objects are made in turns of the event loop, in order', async t => {
  await using server = await testServer()
  const maps = server.client.of(coreV1.ConfigMap)
  for (let at = 0; at < 1500; at++) {
    await maps.create({
      metadata: { name: `m${String(at).padStart(4, '0')}`, ...NAMESPACE }, data: { x: 'x'.repeat(4000) }
    })
  }
  const told: string[] = []
  let turns = 0
  using informer = server.client.informer(coreV1.ConfigMap, {
    ...NAMESPACE, handlers: { added: object => { told.push(nameOf(object)) } }
  })
  let counting = true
  const count = (): void => { if (counting) { turns++; setImmediate(count) } }
  count()
  await informer.start()
  counting = false
  t.equal(told.length, 1500)
  t.same(told, [...told].sort())
  t.ok(turns > 2, `${turns} turns`)
})
