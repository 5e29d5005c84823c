/** The stages around the transaction, and those of objects that cannot be read, each alone. */
import t from 'tap'
import { matchTarget, requireUid } from '../../../registry/stages/identity.js'
import { settle } from '../../../registry/stages/prepare-change.js'
import { acknowledge, LEASE } from '../../../registry/stages/store.js'
import { OtherWrite, present } from '../../../registry/stages/write.js'
import { removeDamaged } from '../../../registry/verbs/delete-damaged.js'
import { StorageError } from '../../../storage/errors.js'
import { openMemory } from '../../../storage/embedded/memory.js'
import { config, configMapStore, context, target } from '../../storage/store.js'
import { changing, creation, failureOf } from './write.js'

t.test('lease: only objects that expire and are written get one', async t => {
  const write = creation(t)
  t.equal(LEASE.when?.(write), false)
  Object.assign(write.store, { leases: { current: async () => 7n } })
  t.equal(LEASE.when?.(write), false, 'an object that is not encoded is not written')
  await LEASE.run(write)
  t.strictSame(write.lease, { lease: 7n })
})

t.test('store: what succeeded is noted for good, and waits for those who must know', async t => {
  const write = creation(t)
  const told: number[] = []
  write.store.onCommitted(async revision => { told.push(revision) })
  await acknowledge(write)
  write.outcome = { succeeded: false, revision: 3, current: undefined }
  await acknowledge(write)
  t.equal(write.isStored, false)
  write.outcome = { succeeded: true, revision: 4 }
  await acknowledge(write)
  write.outcome = { succeeded: false, revision: 5, current: undefined }
  await acknowledge(write)
  t.equal(write.isStored, true)
  t.strictSame(told, [4])
})

t.test('settle: the strategy sees the new object with its old one', async t => {
  const write = await changing(t)
  const seen: object[] = []
  Object.assign(write.store, {
    strategy: { ...write.store.strategy, settle: (...objects: object[]) => { seen.push(...objects) } }
  })
  settle(write)
  t.equal(seen[0], write.object)
  t.equal(seen[1], write.oldObject)
})

t.test('identify: the name is that of the URL, the uid that of the stored object', async t => {
  const { store } = creation(t)
  t.throws(() => { matchTarget(store, { metadata: {} }, target('a')) }, /name must be provided/)
  t.throws(() => { matchTarget(store, config('b'), target('a')) }, /does not match the name on the URL/)
  matchTarget(store, config('a'), target('a'))
  requireUid({ metadata: {} }, { metadata: { uid: 'u' } }, target('a'), store.resource)
  t.throws(
    () => { requireUid({ metadata: { uid: 'v' } }, { metadata: { uid: 'u' } }, target('a'), store.resource) },
    /UID in precondition: v/
  )
})

t.test('what no stage has made yet is an error by name', async t => {
  t.throws(() => present(undefined, 'object'), { name: 'TypeError', message: /the object of a write/ })
  t.throws(() => creation(t).answer, TypeError)
  const { store, target, context } = creation(t)
  t.equal(new OtherWrite({ store, target, context }, 'CONNECT', config('x')).oldObject, undefined)
  const { admitted: seen } = new OtherWrite(
    { store, target, context: { ...context, dryRun: true } }, 'CREATE', config('x'), 'Other'
  )
  t.match(seen, { kind: 'Other', dryRun: true, object: { metadata: { name: 'x' } } })
})

t.test('a write is a dry run if its caller asked for one, unless it says otherwise', async t => {
  const caller = { signal: context.caller.signal, dryRun: true }
  t.equal(creation(t, config('a'), { caller, dryRun: false }).dryRun, false)
  const { store, target } = creation(t)
  t.equal(new OtherWrite({ store, target, context: { caller } }, 'CREATE', config('a')).dryRun, true)
  t.equal(new OtherWrite({ store, target, context: { caller: context.caller } }, 'CREATE', config('a')).dryRun, false)
})

t.test('an object that cannot be read is removed, if its version is not another one', async t => {
  const damage = new StorageError('Corrupt', 'damaged')
  const store = configMapStore(t, openMemory())
  const write = { store, target: target('a'), context }
  t.match(await failureOf(() => removeDamaged(write, undefined, damage)), { status: { reason: 'NotFound' } })
  const key = store.keys.of('default', 'a')
  const { revision } = await store.backend.create(key, Buffer.from('not an object'))
  t.match(await failureOf(() => removeDamaged(write, { uid: 'u' }, damage)), { status: { reason: 'Conflict' } })
  t.match(
    await failureOf(() => removeDamaged(write, { resourceVersion: String(revision + 1) }, damage)),
    { status: { reason: 'Conflict' } }
  )
  t.match((await removeDamaged(write, { resourceVersion: String(revision) }, damage)).object, {
    metadata: { name: 'a', namespace: 'default' }
  })
  t.equal((await store.backend.get(key)).kv, undefined)
})
