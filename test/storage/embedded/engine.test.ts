import t from 'tap'
import { Leases } from '../../../storage/embedded/leases.js'
import { openMemory } from '../../../storage/embedded/memory.js'
import { Observed } from '../../contracts/observed.js'
import { done } from '../../contracts/backend.js'
import { FakeClock } from '../fake-clock.js'

const bytes = (text: string) => Buffer.from(text)

t.test('memory is ready at once and two stores share nothing', async t => {
  const [a, b] = [openMemory(), openMemory()]
  done(await a.create('/k', bytes('x')))
  t.equal((await b.get('/k')).kv, undefined)
  t.equal(await b.revision(), 1)
  await a.close()
  t.ok(await b.create('/k', bytes('y')))
  await b.close()
})

t.test('memory keeps values in memory of their own, whatever they came in', async t => {
  const backend = openMemory()
  const slab = Buffer.alloc(64 * 1024, 'x')
  done(await backend.create('/k', slab.subarray(10, 20)))
  slab.fill('y')
  const { kv } = await backend.get('/k')
  t.equal(Buffer.from(kv?.value ?? []).toString(), 'x'.repeat(10))
  t.equal(kv?.value.buffer.byteLength, 10)
  await backend.close()
})

t.test('names of object members that were never written are not there', async t => {
  const backend = openMemory()
  for (const key of ['toString', '__proto__', 'constructor']) t.equal((await backend.get(key)).kv, undefined)
  await backend.close()
})

t.test('a list of 100,000 keys lets others in, and is of one state whatever they write', async t => {
  const backend = openMemory()
  const value = bytes('x')
  for (let group = 0; group < 100; group++) {
    await Promise.all(Array.from(
      { length: 1000 }, (_, i) => backend.create(`/k/${String(i * 100 + group).padStart(6, '0')}`, value)
    ))
  }
  t.equal(await backend.count('/k/', '/k0'), 100_000)
  const before = await backend.revision()
  let turns = 0
  const over = new AbortController()
  const others = async () => {
    for (let i = 0; !over.signal.aborted; i++) {
      turns++
      await backend.create(`/k/${String(i % 100_000).padStart(6, '0')}-new-${i}`, value)
      const { kv } = await backend.get(`/k/${String(99_999 - i).padStart(6, '0')}`)
      if (kv !== undefined) await backend.delete(kv.key, kv.modRevision)
      await new Promise(resolve => setImmediate(resolve))
    }
  }
  const running = others()
  const result = await backend.list({ start: '/k/', end: '/k0', revision: before })
  const newest = await backend.list({ start: '/k/', end: '/k0' })
  const counted = await backend.count('/k/', '/k0')
  over.abort()
  await running
  t.equal(result.kvs.length, 100_000)
  t.equal(result.count, 100_000)
  t.ok(
    result.kvs.every((kv, i) => kv.key === `/k/${String(i).padStart(6, '0')}`), 'the keys of that revision, in order'
  )
  t.equal(newest.kvs.length, newest.count)
  t.ok(newest.kvs.every(kv => kv.modRevision <= newest.revision))
  t.ok(counted >= 1)
  t.ok(turns > 4, `others had ${turns} turns`)
  await backend.close()
})

t.test('counts of past revisions agree with the keys of that revision, few or many changes ago', async t => {
  const backend = openMemory()
  const revisions: Array<{ revision: number, keys: string[] }> = []
  const keys = new Map<string, number>()
  for (let i = 0; i < 1500; i++) {
    const key = `/c/${(i * 7919) % 300}`
    const known = keys.get(key)
    if (known === undefined) keys.set(key, done(await backend.create(key, bytes('x'))))
    else {
      done(await backend.delete(key, known))
      keys.delete(key)
    }
    if (i % 50 === 0) revisions.push({ revision: await backend.revision(), keys: [...keys.keys()].sort() })
  }
  for (const { revision, keys } of revisions) {
    const { kvs, count } = await backend.list({ start: '/c/', end: '/c0', revision })
    t.same(kvs.map(kv => kv.key), keys)
    t.equal(count, keys.length)
    t.equal((await backend.list({ start: '/c/', end: '/c0', revision, limit: 1 })).count, keys.length)
  }
  await backend.close()
})

t.test('a receiver that throws ends its own watch and no other', async t => {
  const backend = openMemory()
  const healthy = new Observed(backend, '/', '0', 1)
  let ended: unknown
  backend.watch({
    start: '/',
    end: '0',
    after: 1,
    onEvents: () => { throw new Error('receiver') },
    onProgress: () => {},
    onEnd: error => { ended = error }
  })
  const late = new Observed(backend, '/', '0', 1)
  const revision = done(await backend.create('/a', bytes('x')))
  t.match(ended, { code: 'Closed', cause: { message: 'receiver' } })
  await healthy.upTo(revision)
  await late.upTo(revision)
  t.equal(healthy.events.length + late.events.length, 2)
  await backend.close()
})

t.test('events come before the answer, and a watch opened or cancelled while they are given out is right', async t => {
  const backend = openMemory()
  const order: string[] = []
  const inner: Observed[] = []
  const doomed = { watch: undefined as ReturnType<typeof backend.watch> | undefined }
  backend.watch({
    start: '/',
    end: '0',
    after: 1,
    onEvents: (_, revision) => {
      order.push(`event ${revision}`)
      inner.push(new Observed(backend, '/', '0', revision - 1))
      doomed.watch?.cancel()
    },
    onProgress: () => {},
    onEnd: () => {}
  })
  doomed.watch = backend.watch({
    start: '/',
    end: '0',
    after: 1,
    onEvents: () => order.push('cancelled watch was called'),
    onProgress: () => {},
    onEnd: () => {}
  })
  const answers = await Promise.all(['/a', '/b', '/c'].map(async key => {
    const revision = done(await backend.create(key, bytes('x')))
    order.push(`answer ${revision}`)
    return revision
  }))
  const last = Math.max(...answers)
  for (const watch of inner) {
    await watch.upTo(last)
    t.same(watch.faults, [])
    t.equal(watch.last(), last)
  }
  t.notOk(order.includes('cancelled watch was called'))
  t.ok(order.indexOf(`event ${last}`) < order.indexOf(`answer ${answers[0]}`))
  await backend.close()
})

t.test('a lease lets go of keys that are deleted or get another, and of no others', async t => {
  const letGo = t.capture(Leases.prototype, 'detach', Leases.prototype.detach)
  const clock = new FakeClock()
  const backend = openMemory({ clock })
  const watch = new Observed(backend, '/', '0', 1)
  const [first, second] = [await backend.lease(10), await backend.lease(100)]
  const revisions: number[] = []
  for (const key of ['/deleted', '/moved', '/kept']) {
    revisions.push(done(await backend.create(key, bytes('x'), { lease: first })))
  }
  const [deleted = 0, moved = 0, kept = 0] = revisions
  done(await backend.delete('/deleted', deleted))
  done(await backend.update('/moved', bytes('y'), moved, { lease: second }))
  // Two writes of one commit: when the first is published, the second already has the lease again.
  const without = backend.update('/kept', bytes('y'), kept)
  const again = backend.update('/kept', bytes('z'), kept + 3, { lease: first })
  done(await without)
  done(await again)
  t.same(letGo().map(({ args: [, key] }) => key), ['/deleted', '/moved'])
  clock.advance(10_000)
  await watch.until(() => watch.events.some(({ kv: { key }, type }) => type === 'delete' && key === '/kept'), 'its end')
  t.equal(await backend.count('/', '0'), 1)
  await backend.close()
})

t.test('leases end when their time has come, not before, and one after the other', async t => {
  const clock = new FakeClock()
  const backend = openMemory({ clock })
  const watch = new Observed(backend, '/', '0', 1)
  const [short, long] = [await backend.lease(10), await backend.lease(100)]
  await Promise.all([
    backend.create('/s1', bytes('x'), { lease: short }), backend.create('/s2', bytes('x'), { lease: short }),
    backend.create('/l', bytes('x'), { lease: long })
  ])
  clock.advance(9_999)
  t.equal(await backend.count('/', '0'), 3)
  clock.advance(1)
  await watch.until(() => watch.events.length === 5, 'two deletes')
  t.same(watch.events.slice(3).map(event => [event.type, event.kv.key]), [['delete', '/s1'], ['delete', '/s2']])
  await t.rejects(backend.create('/s3', bytes('x'), { lease: short }), { code: 'NotFound' })
  clock.advance(1_000_000)
  await watch.until(() => watch.events.length === 6, 'the third delete')
  for (const seconds of [0, -1, NaN, Infinity]) await t.rejects(backend.lease(seconds), TypeError)
  await t.rejects(backend.create('/x', bytes('x'), { lease: 'nonsense' }), { code: 'NotFound' })
  await backend.close()
})

t.test('a wall clock that jumps while leases run ends none early and keeps none longer', async t => {
  const clock = new FakeClock()
  let jump = 0
  const jumping = {
    wall: () => clock.wall() + jump,
    elapsed: () => clock.elapsed(),
    after: (milliseconds: number, callback: () => void) => clock.after(milliseconds, callback)
  }
  const backend = openMemory({ clock: jumping })
  const day = 24 * 3600 * 1000
  const leases: string[] = []
  for (const [index, days] of [0, 400, -400, 7].entries()) {
    jump = days * day
    leases.push(await backend.lease(10 * (index + 1)))
    await backend.create(`/k${index}`, bytes('x'), { lease: leases.at(-1) as string }) // written just before
  }
  t.equal(new Set(leases).size, 4, 'each is another one')
  for (let left = 4; left > 0; left--) {
    jump = left % 2 === 0 ? 1000 * day : -1000 * day
    clock.advance(9_999)
    t.equal(await backend.count('/', '0'), left)
    clock.advance(1)
    const watch = new Observed(backend, '/', '0', 1)
    await watch.until(
      () => watch.events.filter(({ type }) => type === 'delete').length === 5 - left, 'the next one to end'
    )
  }
  await backend.close()
})

t.test('compaction gives back what nothing can see any more', async t => {
  const backend = openMemory()
  let revision = done(await backend.create('/a', Buffer.alloc(1000)))
  for (let i = 0; i < 100; i++) revision = done(await backend.update('/a', Buffer.alloc(1000), revision))
  const gone = done(await backend.create('/b', Buffer.alloc(1000)))
  const last = done(await backend.delete('/b', gone))
  t.ok((await backend.status()).size > 100_000)
  await Promise.all([backend.compact(revision), backend.compact(last), backend.compact(last - 1)])
  t.ok((await backend.status()).size < 2_000)
  t.equal(await backend.count('/', '0'), 1)
  await backend.close()
})
