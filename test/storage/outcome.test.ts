import t from 'tap'
import { openMemory } from '../../storage/embedded/memory.js'
import { outcomeOf } from '../../storage/outcome.js'
import { done } from '../contracts/backend.js'

const bytes = (text: string) => Buffer.from(text)
const lost = new Error('connection reset')
const unknown = { name: 'StorageError', code: 'UnknownOutcome', key: '/a', message: /connection reset/ }

t.test('a create whose response was lost', async t => {
  const attempt = { kind: 'create' as const, key: '/a', value: bytes('ours'), expected: 0 }

  await t.test('succeeded if the key was created later with our bytes', async t => {
    const store = openMemory()
    const before = await store.revision()
    const revision = done(await store.create('/a', bytes('ours')))
    t.same(await outcomeOf(store, attempt, before, lost), { succeeded: true, revision })
  })
  await t.test('succeeded, too, when another client has changed the key since', async t => {
    const store = openMemory()
    const before = await store.revision()
    const revision = done(await store.create('/a', bytes('ours')))
    done(await store.update('/a', bytes('theirs'), revision))
    t.same(await outcomeOf(store, attempt, before, lost), { succeeded: true, revision })
  })
  await t.test('is unknown if the key is missing, older or has the bytes of another client', async t => {
    const store = openMemory()
    await t.rejects(outcomeOf(store, attempt, 1, lost), unknown)
    const theirs = done(await store.create('/a', bytes('theirs')))
    await t.rejects(outcomeOf(store, attempt, 1, lost), unknown)
    const removed = done(await store.delete('/a', theirs))
    done(await store.create('/a', bytes('ours')))
    await t.rejects(
      outcomeOf(store, attempt, removed + 1, lost), unknown, 'the same bytes, but there before the attempt'
    )
    await t.rejects(outcomeOf(store, attempt, 0, lost), unknown, 'nothing is known of the time before')
  })
})

t.test('an update whose response was lost', async t => {
  const store = openMemory()
  const first = done(await store.create('/a', bytes('1')))
  const attempt = { kind: 'update' as const, key: '/a', value: bytes('ours'), expected: first }
  await t.rejects(outcomeOf(store, attempt, first, lost), unknown, 'it could still arrive')

  const revision = done(await store.update('/a', bytes('ours'), first))
  t.match(await outcomeOf(store, attempt, first, lost), { succeeded: true, revision })
  const later = done(await store.update('/a', bytes('theirs'), revision))
  t.match(await outcomeOf(store, attempt, first, lost), { succeeded: true, revision }, 'although it was overwritten')
  done(await store.delete('/a', later))
  t.match(await outcomeOf(store, attempt, first, lost), { succeeded: true, revision }, 'although it was removed')

  const other = { ...attempt, value: bytes('never written') }
  t.match(
    await outcomeOf(store, other, first, lost), { succeeded: false, current: undefined }, 'another client was first'
  )
  t.match(
    await outcomeOf(store, { ...other, expected: later }, later, lost), { succeeded: false }, 'a delete was first'
  )
})

t.test('a delete whose response was lost', async t => {
  const store = openMemory()
  const first = done(await store.create('/a', bytes('1')))
  const attempt = { kind: 'delete' as const, key: '/a', value: undefined, expected: first }
  await t.rejects(outcomeOf(store, attempt, first, lost), unknown)
  const removed = done(await store.delete('/a', first))
  t.match(await outcomeOf(store, attempt, first, lost), { succeeded: true, revision: removed })
  const second = done(await store.create('/a', bytes('2')))
  const third = done(await store.update('/a', bytes('3'), second))
  t.match(await outcomeOf(store, { ...attempt, expected: second }, second, lost), {
    succeeded: false, current: { modRevision: third }
  })
})

t.test('after a compaction or the end of the store the outcome is unknown', async t => {
  const store = openMemory()
  const first = done(await store.create('/a', bytes('1')))
  const second = done(await store.update('/a', bytes('ours'), first))
  const third = done(await store.update('/a', bytes('3'), second))
  const attempt = { kind: 'update' as const, key: '/a', value: bytes('ours'), expected: first }
  await store.compact(third)
  await t.rejects(outcomeOf(store, attempt, first, lost), unknown)
  await store.close()
  await t.rejects(outcomeOf(store, attempt, first, lost), unknown)
})
