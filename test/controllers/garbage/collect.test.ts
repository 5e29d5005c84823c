/** One step for one object: what is read, and what is written then. */
import t from 'tap'
import { collect, type CollectTools } from '../../../controllers/garbage/collect.js'
import type { CollectedType } from '../../../controllers/garbage/collected-type.js'
import { Graph } from '../../../controllers/garbage/graph.js'
import { stateOf, type ObjectState } from '../../../controllers/garbage/object-state.js'
import { orphan } from '../../../controllers/garbage/orphan.js'
import { OwnerCheck } from '../../../controllers/garbage/owners.js'
import type { Answer, Request } from '../../../controllers/garbage/requests.js'
import type { Json } from '../../build.js'

const PLACE = { namespace: 'team', name: 'a' }
const ref = (name: string, more: Json = {}): Json => ({
  apiVersion: 'v1', kind: 'Pod', name, uid: `uid of ${name}`, ...more
})
const object = (name: string, metadata: Json = {}): ObjectState =>
  stateOf({ metadata: { namespace: 'team', name, uid: `uid of ${name}`, resourceVersion: '1', ...metadata } })
const gone = { ownerReferences: [ref('gone')] }
const waiting = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['other', 'foregroundDeletion'] }

interface Fake extends CollectTools {
  readonly type: CollectedType
  readonly stored: Map<string, ObjectState>
  readonly sent: Request[]
  readonly queued: string[]
  readonly reported: string[]
  reads: number
}

/** @param answer to each request, before which it may change what is stored */
function fake (objects: readonly ObjectState[], answer: (request: Request, fake: Fake) => number = () => 200): Fake {
  const stored = new Map(objects.map(object => [object.name, object]))
  const graph = new Graph()
  const made: Fake = {
    stored, graph, sent: [], queued: [], reported: [], reads: 0,
    type: {
      label: 'pods', namespaced: true, isOwn: true, kinds: [{ apiVersion: 'v1', kind: 'Pod' }],
      pathOf: ({ name }: { readonly name: string }) => `/pods/${name}`,
      read: async ({ name }: { readonly name: string }) => {
        made.reads++
        return made.stored.get(name)
      }
    } as unknown as CollectedType,
    owners: new OwnerCheck({ resolve: (_version, kind) => kind === 'Pod' ? made.type : undefined }),
    requests: {
      ask: async (request): Promise<Answer> => {
        made.sent.push(request)
        return { code: answer(request, made), body: { message: 'no' } }
      },
      watch: () => { throw new Error('nothing is watched') }
    },
    catchUp: async () => {},
    enqueue: uid => made.queued.push(uid) > 0,
    reportNamespace: async (_type, _object, { name }) => { made.reported.push(name) }
  }
  for (const object of objects) graph.put(made.type, object.name, object)
  return made
}

const step = (made: Fake) => collect(made, made.type, 'uid of a', PLACE)
const deletion = (resourceVersion: string, propagationPolicy: string): Json =>
  ({
    method: 'DELETE',
    path: '/pods/a',
    body: {
      kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'uid of a', resourceVersion }, propagationPolicy
    }
  })

t.test('an object without owners is deleted, by the policy of its own finalizers', async t => {
  for (const [finalizers, policy] of [
    [[], 'Background'], [['orphan'], 'Orphan'], [['foregroundDeletion'], 'Foreground'], [['x'], 'Background']
  ] as const) {
    const made = fake([object('a', { ...gone, finalizers })])
    t.equal(await step(made), 'done')
    t.same(made.sent, [deletion('1', policy)])
  }
})

t.test('nothing happens to one that is another by now, is being deleted, or has no owners', async t => {
  for (const [result, now] of [
    ['gone', undefined],
    ['gone', object('a', { ...gone, uid: 'new' })],
    ['done', object('a', { ...gone, deletionTimestamp: '2026-01-01T00:00:00Z' })],
    ['done', object('a')]
  ] as const) {
    const made = fake([object('a', gone)])
    if (now === undefined) made.stored.delete('a')
    else made.stored.set('a', now)
    t.equal(await step(made), result)
    t.same(made.sent, [])
  }
})

t.test('a delete that another write has overtaken is repeated if the owners are still the same', async t => {
  const made = fake([object('a', gone)], (_request, { sent, stored }) => {
    stored.set('a', object('a', { ...gone, resourceVersion: String(sent.length + 1) }))
    return sent.length < 3 ? 409 : 200
  })
  t.equal(await step(made), 'done')
  t.same(made.sent, [deletion('1', 'Background'), deletion('2', 'Background'), deletion('3', 'Background')])
  for (const [result, now] of [
    ['again', object('a', { ownerReferences: [ref('adopter')], resourceVersion: '2' })],
    ['again', object('a', { ...gone, finalizers: ['orphan'] })],
    ['gone', object('a', { uid: 'new' })]
  ] as const) {
    const other = fake([object('a', gone)], (_request, { stored }) => {
      stored.set('a', now)
      return 409
    })
    t.equal(await step(other), result)
    t.equal(other.sent.length, 1)
  }
  const busy = fake([object('a', gone)], () => 409)
  t.equal(await step(busy), 'again')
  t.equal(busy.sent.length, 5, 'and left for later in the end')
})

t.test('a refusal is an error that says why', async t => {
  await t.rejects(step(fake([object('a', gone)], () => 403)), { message: 'DELETE /pods/a was answered with 403: no' })
  t.equal(await step(fake([object('a', gone)], () => 404)), 'gone')
})

t.test('with an owner left, references to those that are gone or wait are removed', async t => {
  const owners = [ref('gone'), ref('top', { controller: true }), ref('waits')]
  const made = fake([object('a', { ownerReferences: owners }), object('top'), object('waits', waiting)])
  t.equal(await step(made), 'done')
  t.same(made.sent, [
    {
      method: 'PATCH',
      path: '/pods/a',
      body: { metadata: { uid: 'uid of a', resourceVersion: '1', ownerReferences: [owners[1]] } }
    }
  ])
  const whole = fake([object('a', { ownerReferences: [ref('top')] }), object('top')])
  t.equal(await step(whole), 'done')
  t.same(whole.sent, [])
})

t.test('where an owner waits, an object goes in the foreground if it has dependents', async t => {
  const all = [object('a', { ownerReferences: [ref('waits')] }), object('waits', waiting)]
  const alone = fake(all)
  await step(alone)
  t.same(alone.sent, [deletion('1', 'Background')])
  const parent = fake([...all, object('child', { ownerReferences: [ref('a')] })])
  await step(parent)
  t.same(parent.sent, [deletion('1', 'Foreground')])
})

t.test('a circle is broken, then its object is deleted', async t => {
  const blocking = { blockOwnerDeletion: true }
  const made = fake([
    object('a', { ownerReferences: [ref('waits', blocking)] }),
    object('waits', { ...waiting, ownerReferences: [ref('a', blocking)] })
  ], ({ method }, { stored }) => {
    if (method === 'PATCH') {
      stored.set(
        'a', object('a', { ownerReferences: [ref('waits', { blockOwnerDeletion: false })], resourceVersion: '2' })
      )
    }
    return 200
  })
  t.equal(await step(made), 'again')
  t.same(made.sent, [
    {
      method: 'PATCH',
      path: '/pods/a',
      body: {
        metadata: {
          uid: 'uid of a', resourceVersion: '1', ownerReferences: [ref('waits', { blockOwnerDeletion: false })]
        }
      }
    }
  ])
  t.equal(await step(made), 'done')
  t.same(made.sent[1], deletion('2', 'Foreground'))
})

t.test('an object that waits stops doing so when nothing blocks it, and not before everything is known', async t => {
  const made = fake([
    object('a', waiting), object('free', { ownerReferences: [ref('a')] }),
    object('held', { ownerReferences: [ref('a', { blockOwnerDeletion: true })] })
  ])
  t.equal(await step(made), 'done')
  t.same([made.sent, made.queued], [[], ['uid of held']])
  made.graph.delete(made.type, 'held')
  await t.rejects(
    collect({ ...made, catchUp: () => Promise.reject(new Error('not yet')) }, made.type, 'uid of a', PLACE),
    { message: 'not yet' }
  )
  const late = {
    ...made,
    catchUp: async () => {
      made.graph.put(made.type, 'late', object('late', { ownerReferences: [ref('a', { blockOwnerDeletion: true })] }))
    }
  }
  t.equal(await collect(late, made.type, 'uid of a', PLACE), 'done')
  t.same(made.sent, [])
  made.graph.delete(made.type, 'late')
  t.equal(await step(made), 'done')
  t.same(made.sent, [
    {
      method: 'PATCH',
      path: '/pods/a',
      body: { metadata: { uid: 'uid of a', resourceVersion: '1', finalizers: ['other'] } }
    }
  ])
})

t.test('owners of unknown kinds are never absent', async t => {
  for (const kind of ['Unknown', 'Pods']) {
    const made = fake([object('a', { ownerReferences: [ref('gone'), ref('x', { kind })] })])
    await t.rejects(step(made), { message: `owners of kind ${kind} in v1 are unknown, their dependents stay` })
    t.same(made.sent, [])
  }
})

t.test('an owner that cannot be read is not absent', async t => {
  const made = fake([object('a', gone)])
  const read: CollectedType['read'] = async ({ name }) => {
    if (name === 'a') return made.stored.get(name)
    throw new Error('the store is away')
  }
  const type = { ...made.type, read } as CollectedType
  await t.rejects(
    collect({ ...made, owners: new OwnerCheck({ resolve: () => type }) }, type, 'uid of a', PLACE),
    { message: 'the store is away' }
  )
  t.same(made.sent, [])
})

t.test('what is absent is not read again, under exactly that name', async t => {
  const made = fake([object('a', gone)])
  await step(made)
  await step(made)
  t.equal(made.reads, 3, 'the object twice, its owner once')
  made.stored.set('a', object('a', { ownerReferences: [ref('gone', { uid: 'another' })] }))
  await step(made)
  t.equal(made.reads, 5)
})

t.test('an owner in another namespace is absent, which is reported', async t => {
  const made = fake([object('a', { ownerReferences: [ref('far')] })])
  made.graph.put(made.type, 'far', object('far', { namespace: 'other' }))
  t.equal(await step(made), 'done')
  t.same([made.reported, made.sent], [['far'], [deletion('1', 'Background')]])
})

t.test('a cluster-scoped object that names an owner in a namespace is never collected', async t => {
  const made = fake([object('a', { ...gone, namespace: '' })])
  made.graph.put(made.type, 'gone', object('gone'))
  t.equal(await step(made), 'done')
  t.same([made.reported, made.sent], [['gone'], []])
})

t.test('orphaning removes every reference before the finalizer', async t => {
  const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['orphan'] }
  let fails = true
  const made = fake(
    [
      object('a', leaving), object('one', { ownerReferences: [ref('a'), ref('b')] }),
      object('two', { ownerReferences: [ref('a')] })
    ],
    ({ path }) => fails && path === '/pods/two' ? 500 : 200
  )
  await t.rejects(orphan(made, made.type, 'uid of a', PLACE), { message: /answered with 500/ })
  t.same(made.sent.map(({ path }) => path), ['/pods/one', '/pods/two'])
  fails = false
  made.sent.length = 0
  t.equal(await orphan(made, made.type, 'uid of a', PLACE), 'again')
  t.same(made.sent.map(({ body }) => (body as Json)['metadata'].ownerReferences), [[ref('b')], []])
  for (const name of ['one', 'two']) {
    made.stored.set(name, object(name))
    made.graph.put(made.type, name, object(name))
  }
  made.sent.length = 0
  t.equal(await orphan(made, made.type, 'uid of a', PLACE), 'done')
  t.same(made.sent, [
    { method: 'PATCH', path: '/pods/a', body: { metadata: { uid: 'uid of a', resourceVersion: '1', finalizers: [] } } }
  ])
  made.stored.set('a', object('a'))
  t.equal(await orphan(made, made.type, 'uid of a', PLACE), 'done', 'it is no longer being deleted')
})
