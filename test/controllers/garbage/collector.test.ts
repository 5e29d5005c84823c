/** Dependents follow their owners: at once, before them, or not at all. */
import t, { type Test } from 'tap'
import { readFileSync } from 'node:fs'
import orch from '../../../app.js'
import { GarbageCollector } from '../../../controllers/garbage/collector.js'
import { current } from '../../../registry/current.js'
import { change } from '../../../registry/verbs/change.js'
import { remove } from '../../../registry/verbs/delete.js'
import { StatusError } from '../../../schemas/status.js'
import { openBackend } from '../../../storage/open.js'
import { build, client, type Json } from '../../build.js'
import { startEtcd } from '../../etcd-process.js'
import Fastify from '../../fastify.js'
import { context, makeConfig, makeNamespace, registry, storeOf } from '../namespace-race.js'
import { collecting, collectingServer, CONFIGS, owner, until, type Collecting } from './server.js'

t.test('dependents of an object that is deleted in the background are deleted after it, and theirs too', async t => {
  const server = await collectingServer(t)
  const top = await server.make('top')
  const middle = await server.make('middle', [owner(top)])
  await server.make('bottom', [owner(middle)])
  await server.make('other')
  await server.remove('top', 'Background')
  await server.gone('bottom')
  t.equal(await server.config('middle'), undefined)
  t.ok(await server.config('other'))
})

t.test('an object that is deleted in the foreground goes after the dependents that block it', async t => {
  const server = await collectingServer(t)
  const top = await server.make('top')
  await server.make(
    'held', [owner(top, { blockOwnerDeletion: true })], { metadata: { finalizers: ['example.com/hold'] } }
  )
  await server.make('free', [owner(top)])
  t.same((await server.remove('top', 'Foreground'))['metadata'].finalizers, ['foregroundDeletion'])
  await server.gone('free')
  for (;;) if ((await server.config('held'))?.['metadata'].deletionTimestamp !== undefined) break
  t.ok(await server.config('top'), 'it waits')
  await server.patch('/api/v1/namespaces/default/configmaps/held', { metadata: { finalizers: null } })
  await server.gone('top')
  t.equal(await server.config('held'), undefined)
})

t.test('dependents of an object that orphans them stay, without it', async t => {
  const server = await collectingServer(t)
  const [top, other] = [await server.make('top'), await server.make('other')]
  await server.make('one', [owner(top), owner(other)])
  await server.make('two', [owner(top)])
  t.same((await server.remove('top', 'Orphan'))['metadata'].finalizers, ['orphan'])
  await server.gone('top')
  t.same((await server.config('one'))?.['metadata'].ownerReferences, [owner(other)])
  t.equal((await server.config('two'))?.['metadata'].ownerReferences, undefined)
})

t.test('an object that names itself waits for no one', async t => {
  const server = await collectingServer(t)
  const own = await server.make('own')
  await server.patch('/api/v1/namespaces/default/configmaps/own', {
    metadata: { ownerReferences: [owner(own, { blockOwnerDeletion: true })] }
  })
  await server.make('dependent', [owner(own, { blockOwnerDeletion: true })])
  await server.remove('own', 'Foreground')
  await server.gone('own')
  t.equal(await server.config('dependent'), undefined)
})

t.test('objects that wait for each other are deleted in the end', async t => {
  const server = await collectingServer(t)
  const one = await server.make('one')
  const two = await server.make('two', [owner(one, { blockOwnerDeletion: true })])
  await server.patch('/api/v1/namespaces/default/configmaps/one', {
    metadata: { ownerReferences: [owner(two, { blockOwnerDeletion: true })] }
  })
  await server.remove('one', 'Foreground')
  await server.gone('one')
  await server.gone('two')
})

t.test('with one owner left an object stays, without the references to those that are gone', async t => {
  const server = await collectingServer(t)
  const [left, gone] = [await server.make('left'), await server.make('gone')]
  await server.make('child', [owner(gone), owner(left, { controller: true })])
  await server.remove('gone', 'Background')
  await until(async () => (await server.config('child'))?.['metadata'].ownerReferences.length === 1)
  t.same((await server.config('child'))?.['metadata'].ownerReferences, [owner(left, { controller: true })])
})

t.test('an owner is that object alone: another of its name, kind or namespace is none', async t => {
  const server = await collectingServer(t)
  const top = await server.make('top')
  await server.make('kept', [owner(top)])
  for (const [name, wrong] of Object.entries({
    uid: { uid: 'another' }, name: { name: 'kept' }, kind: { kind: 'Secret' }
  })) {
    await server.make(name, [{ ...owner(top), ...wrong }])
    await server.gone(name)
  }
  t.ok(await server.config('kept'))
})

t.test('an owner in another namespace is absent, and an event says so', async t => {
  const server = await collectingServer(t)
  const top = await server.make('top')
  const { json } = await server.post('/api/v1/namespaces', { metadata: { name: 'team' } })
  const far = collecting(server, '/api/v1/namespaces/team/configmaps')
  const child = await far.make('child', [owner(top)])
  await far.make('owned', [owner({ ...json, apiVersion: 'v1', kind: 'Namespace' })])
  await far.gone('child')
  const { json: { items } } = await server.get('/api/v1/namespaces/team/events')
  t.match(items, [{
    type: 'Warning', reason: 'OwnerRefInvalidNamespace',
    involvedObject: {
      kind: 'ConfigMap', apiVersion: 'v1', namespace: 'team', name: 'child', uid: child['metadata'].uid
    },
    message:
      `ownerRef [v1/ConfigMap, namespace: team, name: top, uid: ${top['metadata'].uid as string}] does not exist in ` +
      'namespace "team"',
    source: { component: 'garbage-collector-controller' }
  }])
  t.ok(await far.config('owned'), 'a cluster-scoped owner is one everywhere')
})

t.test('a cluster-scoped object that names an owner in a namespace stays, and an event says so', async t => {
  const server = await collectingServer(t)
  const top = await server.make('top')
  await server.post('/apis/storage.orch.io/v1/storageclasses', {
    metadata: { name: 'fast', ownerReferences: [owner(top)] }, provisioner: 'example.com/disk'
  })
  await until(async () => (await server.get('/api/v1/namespaces/default/events')).json['items'].length > 0)
  await server.remove('top', 'Background')
  await server.make('proof', [owner(top)])
  await server.gone('proof')
  t.equal((await server.get('/apis/storage.orch.io/v1/storageclasses/fast')).code, 200)
  t.match((await server.get('/api/v1/namespaces/default/events')).json['items'], [
    { reason: 'OwnerRefInvalidNamespace', involvedObject: { kind: 'StorageClass', name: 'fast' } }
  ])
})

t.test(
  'it asks as the service account of the public collector, through authorization, admission and audit', async t => {
    const log = `${t.testdir({})}/audit.log`
    let isDenied = true
    const users: Array<string | undefined> = []
    const server = await collectingServer(t, {
      audit: { path: log },
      authorization: { modes: ['RBAC'] },
      authentication: {
        authenticators: [
          {
            name: 'root',
            authenticate: ({ headers }) => headers.authorization === undefined
              ? { username: 'root', uid: '', groups: ['system:masters'], extra: {} }
              : undefined
          }
        ]
      },
      admission: {
        plugins: [{
          name: 'Keeps', handles: ({ operation, resource }) => operation === 'DELETE' && resource === 'configmaps',
          validate: async ({ name, user }) => {
            if (name !== 'child') return
            users.push(user?.username)
            if (isDenied) throw new StatusError('Forbidden', 'not yet')
          }
        }]
      }
    })
    const top = await server.make('top')
    await server.make('child', [owner(top)])
    await server.remove('top', 'Background')
    await until(async () => users.length > 1)
    t.ok(await server.config('child'), 'admission keeps it')
    isDenied = false
    await server.gone('child')
    t.same([...new Set(users)], ['system:serviceaccount:orch-system:generic-garbage-collector'])
    await server.app.close()
    const events = readFileSync(log, 'utf8').trim().split('\n').map(line => JSON.parse(line) as Json)
    const deleted = events.find(({ verb, objectRef, stage, responseStatus }) =>
      verb === 'delete' && objectRef?.name === 'child' && stage === 'ResponseComplete' && responseStatus.code === 200)
    t.match(deleted, {
      user: {
        username: users[0],
        groups: ['system:serviceaccounts', 'system:serviceaccounts:orch-system', 'system:authenticated']
      },
      userAgent: 'orch-apiserver/generic-garbage-collector'
    })
    t.notOk(
      events.some(({ verb, user }) => verb === 'list' && user.username === users[0]), 'what it follows are no requests'
    )
  }
)

t.test('a first run says how many objects dangle before it deletes one', async t => {
  const backend = await openBackend({})
  t.teardown(() => backend.close())
  const without = collecting(await build(t, { storage: backend }))
  const top = await without.make('top')
  for (const name of ['one', 'two']) await without.make(name, [owner(top)])
  await without.remove('top', 'Background')
  t.ok(await without.config('one'), 'a server that is not asked to collects nothing')
  await without.app.close()
  const lines: string[] = []
  let deletedAt = -1
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => { lines.push(line) } } } })
  t.teardown(() => app.close())
  await app.register(orch, {
    storage: backend, collectGarbage: true,
    admission: {
      plugins: [
        {
          name: 'Sees',
          handles: ({ operation }) => operation === 'DELETE',
          validate: async () => {
            if (deletedAt < 0) {
              deletedAt = lines.findIndex(line =>
                /garbage collection: 2 of \d+ objects have owners that were not found/.test(line))
            }
          }
        }
      ]
    }
  })
  await app.ready()
  const server = collecting(client(app))
  await server.gone('one')
  await server.gone('two')
  t.ok(deletedAt >= 0, lines.join(''))
})

t.test('two collectors on one store do no harm to each other', async t => {
  const backend = await openBackend({})
  t.teardown(() => backend.close())
  const servers = [
    await collectingServer(t, { storage: backend }), await collectingServer(t, { storage: backend })
  ] as const
  await family(t, servers)
})

/** Some of each, over both servers. */
async function family (t: Test, [one, two]: readonly [Collecting, Collecting]): Promise<void> {
  const tops = await Promise.all(['Background', 'Foreground', 'Orphan'].map(policy =>
    one.make(`top-${policy.toLowerCase()}`)))
  const other = await two.make('other')
  for (const top of tops) {
    const { name } = top['metadata'] as { name: string }
    for (let at = 0; at < 20; at++) {
      await two.make(`${name}-${at}`, [owner(top, { blockOwnerDeletion: true }), ...at === 0 ? [owner(other)] : []])
    }
  }
  await Promise.all([
    one.remove('top-background', 'Background'), two.remove('top-foreground', 'Foreground'),
    one.remove('top-orphan', 'Orphan')
  ])
  for (const top of tops) await one.gone(top['metadata'].name as string)
  for (let at = 1; at < 20; at++) {
    for (const policy of ['background', 'foreground']) await two.gone(`top-${policy}-${at}`)
  }
  const { json: { items } } = await one.get(CONFIGS)
  const left = (items as Json[]).filter(({ metadata }) => metadata.name.startsWith('top-'))
  t.same(
    left.map(({ metadata }) => metadata.name as string).sort(),
    ['top-background-0', 'top-foreground-0', ...Array.from({ length: 20 }, (_, at) => `top-orphan-${at}`)].sort()
  )
  await until(async () => (await one.config('top-background-0'))?.['metadata'].ownerReferences.length === 1)
  for (const { metadata } of left) {
    if (metadata.name !== 'top-background-0') {
      t.same(metadata.ownerReferences ?? [], metadata.name.endsWith('-0') ? [owner(other)] : [], metadata.name)
    }
  }
}

t.test('over etcd dependents follow their owners as well, without a watch cache too', async t => {
  const { url } = await startEtcd(t)
  const storage = { kind: 'etcd' as const, servers: [url] }
  await family(t, [
    await collectingServer(t, { storage }), await collectingServer(t, { storage, watchCache: { size: 0 } })
  ])
})

/** A hundred config maps of which the owner is gone, and a collector in whose queues five have room. */
async function crowd (t: Test, answer: (name: string, collect: () => Promise<unknown>) => Promise<number>) {
  const resources = await registry(t, {})
  const configs = storeOf(resources, 'configmaps')
  const names = Array.from({ length: 100 }, (_, at) => `child-${at}`)
  await makeNamespace(resources, 'team')
  for (const name of names) {
    await makeConfig(resources, 'team', name)
    await change(configs, { namespace: 'team', name }, context, found => {
      const made = found.copy()
      made.metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'none' }]
      return made
    })
  }
  const logged: string[] = []
  const collector = new GarbageCollector({
    resources, maxWaiting: 5, discover: async () => [], note: () => {}, log: message => { logged.push(message) },
    requests: {
      ask: async ({ path }) => {
        const name = path.split('/').at(-1) ?? ''
        return { code: await answer(name, () => remove(configs, { namespace: 'team', name }, {}, context)), body: {} }
      },
      watch: () => { throw new Error('there are no extension servers') }
    }
  })
  t.teardown(() => collector.close())
  await collector.start()
  return {
    names, logged, isThere: async (name: string) => await current(configs, configs.keys.of('team', name)) !== undefined
  }
}

t.test('more objects than may wait are collected by and by', async t => {
  const { names, logged, isThere } = await crowd(t, async (_name, collect) => {
    await collect()
    return 200
  })
  for (const name of names) await until(async () => !await isThere(name))
  t.same(logged, [])
})

t.test('objects that cannot be collected hold up no others, and are not tried again and again', async t => {
  const tries = new Map<string, number>()
  const { names, logged, isThere } = await crowd(t, async (name, collect) => {
    tries.set(name, (tries.get(name) ?? 0) + 1)
    if (name === 'child-99') await collect()
    return name === 'child-99' ? 200 : 403
  })
  await until(async () => !await isThere('child-99'))
  t.ok(names.slice(0, 99).every(name => tries.has(name)), 'all are tried')
  // With delays that double from a second, these take more than a minute.
  t.ok([...tries.values()].every(times => times < 7), 'none is tried at once again')
  t.same(logged, ['garbage collection of an object failed, retrying'], 'one line for all')
})

t.test('dependents of an owner that can no longer be read stay', async t => {
  const backend = await openBackend({})
  t.teardown(() => backend.close())
  const server = await collectingServer(t, { storage: backend })
  const top = await server.make('top')
  await server.make('child', [owner(top)])
  const key = '/registry/configmaps/default/top'
  const { kv } = await backend.get(key)
  await backend.update(key, Buffer.from('damaged'), kv?.modRevision ?? 0)
  await until(async () => (await server.get(`${CONFIGS}/top`)).code === 500)
  const fresh = await collectingServer(t, { storage: backend })
  await fresh.make('proof', [owner({ kind: 'ConfigMap', metadata: { name: 'none', uid: 'none' } })])
  await fresh.gone('proof')
  t.ok(await fresh.config('child'))
  t.ok(await server.config('child'))
})

t.test('below a prefix too, through the hooks of its host', async t => {
  const app = Fastify({ logger: false })
  t.teardown(() => app.close())
  const asked: string[] = []
  let authorization = ''
  app.addHook('onRequest', async ({ method, url, headers }) => {
    if (headers['user-agent']?.startsWith('orch-apiserver/') !== true) return
    asked.push(`${method} ${url}`)
    authorization = headers.authorization ?? ''
  })
  await app.register(orch, { prefix: '/cluster', collectGarbage: true })
  await app.ready()
  const server = collecting(client(app), `/cluster${CONFIGS}`)
  const top = await server.make('top')
  await server.make('child', [owner(top)])
  await server.remove('top', 'Background')
  await server.gone('child')
  t.same(asked, [`DELETE /cluster${CONFIGS}/child`])
  t.equal((await server.get(`/cluster${CONFIGS}`, { authorization })).code, 200)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  t.equal(
    (await fetch(`${url}/cluster${CONFIGS}`, { headers: { authorization } })).status, 401,
    'its token is worth nothing from outside'
  )
})
