/** The stages of a deletion, each alone, and what its order makes of them. */
import t from 'tap'
import { create } from '../../../registry/verbs/create.js'
import { removeCollection } from '../../../registry/verbs/delete-collection.js'
import {
  checkPreconditions, concludeRemoval, DELETE, DeleteWrite, mark, remove, removeMarked, type DeleteRequest
} from '../../../registry/verbs/delete.js'
import { FIND } from '../../../registry/stages/change.js'
import { Repeat, type Stage } from '../../../registry/stages/run.js'
import type { WriteContext } from '../../../registry/write-context.js'
import type { KeyValue, WriteResult } from '../../../storage/backend.js'
import { openMemory } from '../../../storage/embedded/memory.js'
import { config, configMapStore, context, everything, target } from '../../storage/store.js'
import type { Test } from '../../build.js'
import { failureOf } from './write.js'

/** A deletion of a stored object, as the stages before the tested one leave it. */
async function deletion (
  t: Test, request: DeleteRequest = {},
  { finalizers, marksFirst = false }: { readonly finalizers?: string[], readonly marksFirst?: boolean } = {}
) {
  const store = configMapStore(t, openMemory())
  if (marksFirst) Object.assign(store, { strategy: { ...store.strategy, beginDelete: () => {} } })
  const object = config('a', { k: 'v' })
  if (finalizers !== undefined) object.metadata.finalizers = finalizers
  const stored = await create(store, object, target(''), context)
  const write = new DeleteWrite({ store, target: target('a'), context }, request)
  write.current = stored
  write.isNewest = true
  write.oldObject = store.entries.read(stored)
  return Object.assign(write, { stored })
}

const stageOf = (name: string): Stage<DeleteWrite> => DELETE.find(stage => stage.name === name) as Stage<DeleteWrite>

t.test('check preconditions: another uid or version is a conflict', async t => {
  const refusalOf = async (preconditions: DeleteRequest['preconditions']): Promise<unknown> => {
    const write = await deletion(t, { preconditions })
    return await failureOf(() => checkPreconditions(write))
  }
  t.match(await refusalOf({ uid: 'other' }), {
    status: { reason: 'Conflict', message: /UID in the precondition \(other\)/ }
  })
  t.match(await refusalOf({ resourceVersion: '1' }), {
    status: { reason: 'Conflict', message: /ResourceVersion in the precondition \(1\)/ }
  })
  const { oldObject, stored } = await deletion(t)
  t.match(oldObject.metadata.uid, /./)
  t.equal(await refusalOf({ resourceVersion: String(stored.revision) }), undefined)
})

t.test('admit: admission sees the old object and none to write, also when the mark has been made', async t => {
  const write = await deletion(t, {}, { finalizers: ['a.b/c'] })
  mark(write)
  const seen = write.admitted
  t.match(seen, { operation: 'DELETE', name: 'a', object: undefined, oldObject: { data: { k: 'v' } } })
  t.equal(stageOf('admit').when?.(write), true)
  t.equal(stageOf('admit').when?.(await deletion(t, { admitted: true })), false)
})

t.test('admit: a strategy with a grace period tells admission the effective one', async t => {
  const write = await deletion(t, { gracePeriodSeconds: 7 })
  t.equal(write.admitted.options['gracePeriodSeconds'], undefined)
  Object.assign(write.store, {
    strategy: { ...write.store.strategy, gracePeriod: (_object: object, asked = 30) => asked }
  })
  t.equal(write.admitted.options['gracePeriodSeconds'], 7)
})

t.test('mark: an object that nothing holds is removed at once, another is marked', async t => {
  const free = await deletion(t)
  mark(free)
  t.match(free, { removed: true, removes: true, object: { metadata: { deletionTimestamp: undefined } } })
  const held = await deletion(t, {}, { finalizers: ['a.b/c'] })
  mark(held)
  t.match(held, {
    removed: false, removes: false, object: { metadata: { deletionTimestamp: /Z$/, deletionGracePeriodSeconds: 0 } }
  })
  const shown = await deletion(t, {}, { marksFirst: true })
  mark(shown)
  t.match(shown, { removed: true, removes: false, object: { metadata: { deletionTimestamp: /Z$/ } } })
})

t.test('mark: the finalizer for dependents is that of the request', async t => {
  for (const [propagationPolicy, finalizers] of [
    ['Orphan', ['orphan']], ['Foreground', ['foregroundDeletion']], ['Background', undefined]
  ] as const) {
    const write = await deletion(t, { propagationPolicy })
    mark(write)
    t.strictSame(write.object.metadata.finalizers, finalizers)
  }
})

t.test('remove marked: only a marked object that nothing holds goes on to its removal', async t => {
  const write = await deletion(t, {}, { marksFirst: true })
  mark(write)
  const marked = write.result = write.store.entries.of(write.key, write.object, 7)
  removeMarked(write)
  t.match(write, { removes: true, result: undefined, base: marked, marked })
  const held = await deletion(t, {}, { marksFirst: true, finalizers: ['a.b/c'] })
  mark(held)
  held.result = marked
  removeMarked(held)
  t.match(held, { removes: false, result: marked, marked: undefined })
})

t.test(
  'conclude removal: an object that another client has removed is deleted, a changed one is looked at again',
  async t => {
    const write = await deletion(t, {}, { marksFirst: true })
    mark(write)
    write.result = write.store.entries.of(write.key, write.object, 7)
    removeMarked(write)
    const { kv } = await write.store.backend.get(write.key)
    write.outcome = { succeeded: false, revision: 9, current: kv } as WriteResult
    t.match(await failureOf(() => concludeRemoval(write)), new Repeat(FIND))
    write.outcome = { succeeded: false, revision: 9, current: undefined }
    await concludeRemoval(write)
    t.equal(write.result, write.marked)
  }
)

t.test('an object is marked, then removed, each in a transaction of its own', async t => {
  const { store } = await deletion(t, {}, { marksFirst: true })
  const { entry, removed } = await remove(store, target('a'), {}, context)
  t.equal(removed, true)
  t.match(entry.object.metadata, { deletionTimestamp: /Z$/ })
  t.equal((await store.backend.get(entry.key)).kv, undefined)
})

t.test('a client that leaves between the mark and the removal is not told that nothing was changed', async t => {
  const { store } = await deletion(t, {}, { marksFirst: true })
  const caller = { isGone: false, signal: new AbortController().signal }
  let marks = 0
  const key = store.keys.of('default', 'a')
  store.onCommitted(async revision => {
    if (marks++ > 0) return
    caller.isGone = true
    const object = store.entries.decode((await store.backend.get(key)).kv as KeyValue, revision).copy()
    // as another server
    await store.backend.update(key, store.entries.encode(Object.assign(object, { data: { k: 'changed' } })), revision)
  })
  const failure = await failureOf(() => remove(store, target('a'), {}, { ...context, caller }))
  t.match(failure, { status: { reason: 'Timeout', message: /what was stored until then stays$/ } })
  const { kv } = await store.backend.get(key)
  t.match(kv && store.entries.decode(kv, kv.modRevision).object, {
    data: { k: 'changed' }, metadata: { deletionTimestamp: /Z$/ }
  })
})

t.test('a client that leaves while a collection is deleted is told that not all of it is', async t => {
  for (const workers of [1, 2]) {
    const store = configMapStore(t, openMemory())
    for (const name of ['a', 'b', 'c']) await create(store, config(name), target(''), context)
    const caller = { isGone: false, signal: new AbortController().signal }
    const seen: WriteContext = { ...context, caller }
    store.onCommitted(async () => { caller.isGone = true })
    const selection = { ...everything, namespace: 'default' }
    t.match(await failureOf(() => removeCollection(store, { selection, deletion: {}, workers }, seen)), {
      status: { reason: 'Timeout', message: 'the request ended before the whole collection was deleted' }
    })
  }
})
