/**
 * The contract of back ends, as tests that every back end runs. A subject provides one store for all tests, which may
 * have been used before; each test uses keys of its own.
 */
import type { Test } from 'tap'
import type { Backend, BackendEvent, Revision, WriteResult } from '../../storage/backend.js'
import { StorageError, type StorageErrorCode } from '../../storage/errors.js'
import { random } from '../random.js'
import { guardContract } from './guards.js'
import { Model, textOf } from './model.js'
import { Observed, shortly } from './observed.js'

export interface Subject {
  /** Opens another handle: on a store of its own, or on the shared one if several handles are possible. */
  open: () => Promise<Backend>
  /** The path above all keys of its store, if it has one. */
  readonly prefix?: string
  /** Number of random operations; fewer for a variant of a store whose own subject runs all. */
  readonly operations?: number
}

/** For variants. */
export const SOME_OPERATIONS = 1_000

const bytes = (text: string) => Buffer.from(text)
const text = (value: Uint8Array | undefined) => value === undefined ? undefined : Buffer.from(value).toString()

let spaces = 0
/** A range of keys for one test. */
function spaceBelow (prefix: string): { at: (name: string) => string, start: string, end: string } {
  const start = `${prefix}/contract/${process.pid}-${Date.now()}-${++spaces}/`
  return { at: name => start + name, start, end: start.slice(0, -1) + '0' }
}

/** The revision of a write that must have succeeded. */
export function done (result: WriteResult): Revision {
  if (!result.succeeded) throw new Error(`refused: ${JSON.stringify(result)}`)
  return result.revision
}

async function refusal (promise: Promise<unknown>): Promise<StorageErrorCode | undefined> {
  try {
    await promise
    return undefined
  } catch (error) {
    if (error instanceof StorageError) return error.code
    throw error
  }
}

export async function backendContract (t: Test, subject: Subject): Promise<void> {
  const backend = await subject.open()
  t.teardown(() => backend.close())
  const { prefix = '', operations = 10_000 } = subject
  const space = () => spaceBelow(prefix)

  await t.test('the newest revision is never 0, even of an empty store', async t => {
    t.ok(await backend.revision() >= 1)
    t.ok((await backend.status()).revision >= 1)
    t.ok((await backend.status()).size >= 0)
  })

  await t.test('a created key can be read, with its revisions', async t => {
    const { at } = space()
    const before = await backend.revision()
    const result = await backend.create(at('a'), bytes('one'))
    const revision = done(result)
    t.ok(revision > before)
    t.same(result, { succeeded: true, revision })
    const read = await backend.get(at('a'))
    t.ok(read.revision >= revision)
    t.match(read.kv, { key: at('a'), createRevision: revision, modRevision: revision })
    t.equal(text(read.kv?.value), 'one')
    t.equal((await backend.get(at('b'))).kv, undefined)
    t.ok(await backend.revision() >= revision)
    t.ok((backend.revisionNow() ?? Infinity) >= revision)
  })

  await t.test('values of any bytes are returned unchanged, empty and large ones too', async t => {
    const { at } = space()
    const all = Uint8Array.from({ length: 256 }, (_, i) => i)
    const large = Buffer.alloc(1024 * 1024, 'large')
    for (const [name, value] of [['all', all], ['empty', new Uint8Array(0)], ['large', large]] as const) {
      const revision = done(await backend.create(at(name), value))
      t.ok(Buffer.from(value).equals((await backend.get(at(name))).kv?.value ?? bytes('none')), name)
      t.ok(
        Buffer.from(value).equals((await backend.get(at(name), revision)).kv?.value ?? bytes('none')),
        `${name}, at its revision`
      )
    }
  })

  await t.test(
    'keys that not every store could hold are refused by name, names of object members are keys like others',
    async t => {
      const { at } = space()
      for (const key of ['', 'a b', 'a\0', '\u00e4', 'x'.repeat(1901)]) {
        await t.rejects(backend.create(key, bytes('x')), TypeError)
      }
      for (const key of [at('__proto__'), at('constructor'), (at('') + 'x'.repeat(1900)).slice(0, 1900)]) {
        t.equal((await backend.get(key)).kv, undefined)
        const revision = done(await backend.create(key, bytes('x')))
        t.equal((await backend.get(key)).kv?.modRevision, revision)
      }
    }
  )

  await t.test('invalid leases are refused', async t => {
    const { at } = space()
    for (const seconds of [0, -1, NaN, Infinity]) await t.rejects(backend.lease(seconds), TypeError)
    for (const lease of ['nonsense', '12345678901234567890123', '1234567']) {
      t.equal(await refusal(backend.create(at('a'), bytes('x'), { lease })), 'NotFound')
    }
    t.equal((await backend.get(at('a'))).kv, undefined)
  })

  await t.test('creating an existing key is refused and returns the current value', async t => {
    const { at } = space()
    const first = done(await backend.create(at('a'), bytes('one')))
    const second = await backend.create(at('a'), bytes('two'))
    if (second.succeeded) throw new Error('created twice')
    t.equal(text(second.current?.value), 'one')
    t.equal(second.current?.modRevision, first)
    t.ok(second.revision >= first)
    t.equal(text((await backend.get(at('a'))).kv?.value), 'one')
  })

  await guardContract(t, backend, space, done)

  await t.test('an update needs the current revision', async t => {
    const { at } = space()
    const created = done(await backend.create(at('a'), bytes('one')))
    const result = await backend.update(at('a'), bytes('two'), created)
    const updated = done(result)
    t.match((await backend.get(at('a'))).kv, { createRevision: created, modRevision: updated })
    for (const expected of [created, updated + 1, 0]) {
      const refused = await backend.update(at('a'), bytes('three'), expected)
      if (refused.succeeded) throw new Error(`updated although ${expected} is not its revision`)
      t.equal(text(refused.current?.value), 'two')
      t.equal(refused.current?.modRevision, updated)
    }
    for (const expected of [0, created]) {
      t.match(await backend.update(at('none'), bytes('x'), expected), { succeeded: false, current: undefined })
    }
    t.equal((await backend.get(at('none'))).kv, undefined)
  })

  await t.test('a delete needs the current revision', async t => {
    const { at } = space()
    const created = done(await backend.create(at('a'), bytes('one')))
    for (const expected of [0, created + 1]) {
      t.match(await backend.delete(at('a'), expected), { succeeded: false, current: { modRevision: created } })
    }
    const result = await backend.delete(at('a'), created)
    t.ok(done(result) > created)
    t.equal((await backend.get(at('a'))).kv, undefined)
    for (const expected of [0, created]) {
      t.match(await backend.delete(at('a'), expected), { succeeded: false, current: undefined })
    }
  })

  await t.test('a key created again begins a new life', async t => {
    const { at } = space()
    const first = done(await backend.create(at('a'), bytes('one')))
    const gone = done(await backend.delete(at('a'), first))
    const second = done(await backend.create(at('a'), bytes('two')))
    t.ok(first < gone && gone < second)
    t.match((await backend.get(at('a'))).kv, { createRevision: second, modRevision: second })
    t.match(await backend.update(at('a'), bytes('x'), first), { succeeded: false })
    t.equal(text((await backend.get(at('a'), first)).kv?.value), 'one')
    t.equal((await backend.get(at('a'), gone)).kv, undefined)
  })

  await t.test('a range is ordered, bounded, limited and counted', async t => {
    const { at, start, end } = space()
    for (const name of ['c', 'a', 'b', 'b/x', 'd']) await backend.create(at(name), bytes(name))
    const names = async (request: { start: string, end: string, limit?: number }) => {
      const { kvs, more, count } = await backend.list(request)
      return { names: kvs.map(kv => kv.key.slice(start.length)), more, count }
    }
    t.same(await names({ start, end }), { names: ['a', 'b', 'b/x', 'c', 'd'], more: false, count: 5 })
    t.same(await names({ start, end, limit: 2 }), { names: ['a', 'b'], more: true, count: 5 })
    t.same(await names({ start, end, limit: 5 }), { names: ['a', 'b', 'b/x', 'c', 'd'], more: false, count: 5 })
    t.same(await names({ start: at('b'), end: at('d') }), { names: ['b', 'b/x', 'c'], more: false, count: 3 })
    t.same(await names({ start: at('b') + '\0', end, limit: 1 }), { names: ['b/x'], more: true, count: 3 })
    t.same(await names({ start: at('x'), end }), { names: [], more: false, count: 0 })
    t.same(await names({ start: end, end: start }), { names: [], more: false, count: 0 })
    t.equal(await backend.count(start, end), 5)
    t.equal(await backend.count(at('b'), at('c')), 2)
    t.equal(await backend.count(at('x'), end), 0)
  })

  await t.test('pages read at one revision show one state, whatever is written between them', async t => {
    const { at, start, end } = space()
    for (let i = 0; i < 10; i++) await backend.create(at(`k${i}`), bytes(`v${i}`))
    const first = await backend.list({ start, end, limit: 4 })
    const victim = first.kvs[1]
    done(await backend.delete(at('k1'), victim?.modRevision ?? 0))
    done(await backend.create(at('k55'), bytes('new')))
    done(await backend.update(at('k7'), bytes('changed'), (await backend.get(at('k7'))).kv?.modRevision ?? 0))
    const rest = await backend.list({ start: at('k3') + '\0', end, limit: 4, revision: first.revision })
    t.same(rest.kvs.map(kv => text(kv.value)), ['v4', 'v5', 'v6', 'v7'])
    t.match(rest, { more: true, count: 6, revision: first.revision })
    const last = await backend.list({ start: at('k7') + '\0', end, revision: first.revision })
    t.same(last.kvs.map(kv => text(kv.value)), ['v8', 'v9'])
    const whole = await backend.list({ start, end, revision: first.revision })
    t.equal(whole.count, 10)
    t.same(whole.kvs.map(kv => text(kv.value)), Array.from({ length: 10 }, (_, i) => `v${i}`))
  })

  await t.test('two writers racing on one key: one wins each round', async t => {
    const { at } = space()
    let revision = done(await backend.create(at('a'), bytes('0')))
    for (let round = 0; round < 50; round++) {
      const results = await Promise.all(['x', 'y', 'z'].map(name =>
        backend.update(at('a'), bytes(name + round), revision)))
      const winners = results.filter(result => result.succeeded)
      t.equal(winners.length, 1)
      revision = winners[0]?.revision ?? 0
      for (const result of results) if (!result.succeeded) t.equal(result.current?.modRevision, revision)
    }
    const creates = await Promise.all(['x', 'y', 'z'].map(name => backend.create(at('b'), bytes(name))))
    t.equal(creates.filter(result => result.succeeded).length, 1)
  })

  await t.test('a watch from the past gets later events in order, with previous values', async t => {
    const { at, start, end } = space()
    const before = await backend.revision()
    const created = done(await backend.create(at('a'), bytes('one')))
    const updated = done(await backend.update(at('a'), bytes('two'), created))
    const deleted = done(await backend.delete(at('a'), updated))
    const again = done(await backend.create(at('a'), bytes('three')))
    const all = [
      `${created} put ${at('a')} one < -`, `${updated} put ${at('a')} two < one`,
      `${deleted} delete ${at('a')}  < two`, `${again} put ${at('a')} three < -`
    ]
    for (const [after, expected] of [
      [before, all], [created, all.slice(1)], [updated, all.slice(2)], [deleted, all.slice(3)], [again, []]
    ] as const) {
      const watch = new Observed(backend, start, end, after)
      await watch.upTo(again)
      t.same(watch.events.map(shortly), expected)
      t.same(watch.faults, [])
      watch.watch.cancel()
      t.equal(watch.end, undefined, 'a cancelled watch gets no end')
    }
  })

  await t.test('a watch from the newest revision gets later events of its range only', async t => {
    const { at, end } = space()
    const watch = new Observed(backend, at('m'), end, await backend.revision())
    await backend.create(at('a'), bytes('outside'))
    const inside = done(await backend.create(at('m'), bytes('first')))
    await backend.create(at('l'), bytes('outside'))
    const last = done(await backend.update(at('m'), bytes('second'), inside))
    await watch.upTo(last)
    t.same(watch.events.map(shortly), [`${inside} put ${at('m')} first < -`, `${last} put ${at('m')} second < first`])
    t.same(watch.faults, [])
    watch.watch.cancel()
    watch.watch.cancel()
    watch.watch.requestProgress()
  })

  await t.test('a watch from a future revision gets no earlier events', async t => {
    const { at, start, end } = space()
    const now = await backend.revision()
    const watch = new Observed(backend, start, end, now + 3)
    const revisions = []
    for (let i = 0; i < 6; i++) revisions.push(done(await backend.create(at(`k${i}`), bytes('v'))))
    await watch.upTo(revisions[5] ?? 0)
    t.same(watch.events.map(event => event.kv.modRevision), revisions.filter(revision => revision > now + 3))
    t.same(watch.faults, [])
    watch.watch.cancel()
  })

  await t.test('an idle watch reports its progress on request', async t => {
    const { at, start, end } = space()
    const watch = new Observed(backend, start, end, await backend.revision())
    const elsewhere = space()
    const revision = done(await backend.create(elsewhere.at('a'), bytes('x')))
    await watch.upTo(revision)
    t.same(watch.events, [])
    t.ok(watch.progress.length > 0)
    done(await backend.create(at('a'), bytes('x')))
    await watch.until(() => watch.events.length === 1, 'the event after a progress')
    t.same(watch.faults, [])
    watch.watch.cancel()
  })

  await t.test('reads and compactions at future revisions are refused', async t => {
    const { at, start, end } = space()
    const future = await backend.revision() + 1000
    t.equal(await refusal(backend.get(at('a'), future)), 'FutureRevision')
    t.equal(await refusal(backend.list({ start, end, revision: future })), 'FutureRevision')
    t.equal(await refusal(backend.compact(future)), 'FutureRevision')
  })

  await t.test('after a compaction newer revisions are readable and older ones refused', async t => {
    const { at, start, end } = space()
    const first = done(await backend.create(at('a'), bytes('1')))
    const second = done(await backend.update(at('a'), bytes('2'), first))
    const keep = done(await backend.create(at('keep'), bytes('kept')))
    const gone = done(await backend.create(at('gone'), bytes('x')))
    const removed = done(await backend.delete(at('gone'), gone))
    const third = done(await backend.update(at('a'), bytes('3'), second))
    const live = new Observed(backend, start, end, third)
    await backend.compact(removed)
    t.equal(backend.compactedRevision(), removed)
    await backend.compact(removed)
    await backend.compact(second)
    t.equal(backend.compactedRevision(), removed)
    t.equal(await refusal(backend.get(at('a'), removed - 1)), 'Compacted')
    t.equal(await refusal(backend.list({ start, end, revision: first })), 'Compacted')
    t.equal(text((await backend.get(at('a'), removed)).kv?.value), '2')
    t.equal(text((await backend.get(at('a'))).kv?.value), '3')
    t.match((await backend.get(at('keep'))).kv, { createRevision: keep, modRevision: keep })
    t.equal((await backend.get(at('gone'), removed)).kv, undefined)
    t.equal((await backend.list({ start, end, revision: removed })).count, 2)
    t.equal((await new Observed(backend, start, end, removed - 1).ended()).code, 'Compacted')
    t.equal((await new Observed(backend, start, end, first).ended()).code, 'Compacted')
    const fromThere = new Observed(backend, start, end, removed)
    await fromThere.upTo(third)
    t.same(fromThere.events.map(shortly), [`${third} put ${at('a')} 3 < 2`])
    const fourth = done(await backend.create(at('gone'), bytes('back')))
    await live.upTo(fourth)
    t.same(live.events.map(shortly), [`${fourth} put ${at('gone')} back < -`], 'an open watch continues')
    t.same([...live.faults, ...fromThere.faults], [])
    live.watch.cancel()
    fromThere.watch.cancel()
  })

  await t.test('watches miss, repeat and reorder nothing while many write', async t => {
    const { at, start, end } = space()
    const begin = await backend.revision()
    const watches: Array<{ after: Revision, watch: Observed }> = [
      { after: begin, watch: new Observed(backend, start, end, begin) }
    ]
    const revisions: Revision[] = []
    await Promise.all(Array.from({ length: 16 }, async (_, writer) => {
      let revision = 0
      for (let i = 0; i < 40; i++) {
        if (i % 8 === writer % 8) {
          const after = writer % 2 === 0 ? begin : await backend.revision()
          watches.push({ after, watch: new Observed(backend, start, end, after) })
        }
        const key = at(`w${writer}`)
        revision = done(revision === 0
          ? await backend.create(key, bytes(String(i)))
          : i % 10 === 9 ? await backend.delete(key, revision) : await backend.update(key, bytes(String(i)), revision))
        revisions.push(revision)
        const now = backend.revisionNow()
        if (now !== undefined) t.ok((watches[0]?.watch.reached ?? 0) >= now, 'a watch is never behind revisionNow')
        if (i % 10 === 9) revision = 0
      }
    }))
    revisions.sort((a, b) => a - b)
    t.equal(new Set(revisions).size, revisions.length, 'every write has a revision of its own')
    for (const { after, watch } of watches) {
      await watch.upTo(revisions.at(-1) ?? 0)
      t.same(watch.events.map(event => event.kv.modRevision), revisions.filter(revision => revision > after))
      t.same(watch.faults, [])
      watch.watch.cancel()
    }
  })

  await t.test('a key with a lease expires with an event, others stay', async t => {
    const { at, start, end } = space()
    const lease = await backend.lease(1)
    const created = done(await backend.create(at('short'), bytes('x'), { lease }))
    const freed = done(await backend.create(at('freed'), bytes('x'), { lease }))
    done(await backend.update(at('freed'), bytes('y'), freed))
    done(await backend.create(at('long'), bytes('x')))
    const watch = new Observed(backend, start, end, await backend.revision())
    await watch.until(() => watch.events.length > 0, 'the end of the lease')
    t.match(watch.events[0], { type: 'delete', kv: { key: at('short') }, previous: { modRevision: created } })
    await watch.upTo(await backend.revision())
    t.equal(watch.events.length, 1)
    t.same((await backend.list({ start, end })).kvs.map(kv => kv.key), [at('freed'), at('long')])
    t.equal(await refusal(backend.create(at('late'), bytes('x'), { lease })), 'NotFound')
    t.same(watch.faults, [])
    watch.watch.cancel()
  })

  await t.test('a closed back end ends its watches and refuses the rest by name', async t => {
    const { at, start, end } = space()
    const other = await subject.open()
    const watch = new Observed(other, start, end, await other.revision())
    done(await other.create(at('a'), bytes('x')))
    await other.close()
    await other.close()
    t.equal((await watch.ended()).code, 'Closed')
    t.equal(await refusal(other.get(at('a'))), 'Closed')
    t.equal(await refusal(other.list({ start, end })), 'Closed')
    t.equal(await refusal(other.create(at('b'), bytes('x'))), 'Closed')
    t.equal(await refusal(other.revision()), 'Closed')
    t.equal(await refusal(other.compact(1)), 'Closed')
    t.equal((await new Observed(other, start, end, 1).ended()).code, 'Closed')
  })

  await t.test('a watch with previous values gets the same events, from now and from the past', async t => {
    const { at, start, end } = space()
    const after = await backend.revision()
    const live: string[] = []
    const callbacks = (into: string[]) => ({
      onEvents: (events: BackendEvent[]) => {
        for (const { type, kv } of events) into.push(`${kv.modRevision} ${type} ${kv.key} ${text(kv.value)}`)
      },
      onProgress: () => {},
      onEnd: (error: Error) => { into.push(error.message) }
    })
    const request = { start, end, after, previous: false }
    const watches = [backend.watch({ ...request, ...callbacks(live) })]
    const full = new Observed(backend, start, end, after)
    let revision = 0
    for (let step = 0; step < 50; step++) {
      const key = at(`k${step % 5}`)
      const { kv } = await backend.get(key)
      revision = done(
        kv === undefined
          ? await backend.create(key, bytes(`${step}`))
          : step % 7 === 0
            ? await backend.delete(key, kv.modRevision)
            : await backend.update(key, bytes(`${step}`), kv.modRevision)
      )
    }
    await full.upTo(revision)
    const past: string[] = []
    watches.push(backend.watch({ ...request, ...callbacks(past) }))
    for (const found of [live, past]) while (found.length < 50) await new Promise(resolve => { setTimeout(resolve, 5) })
    const expected = full.events.map(({ type, kv }) => `${kv.modRevision} ${type} ${kv.key} ${text(kv.value)}`)
    t.same(live, expected)
    t.same(past, expected)
    for (const watch of watches) watch.cancel()
  })

  await t.test('thousands of random operations agree with a map and a log', async t => {
    await randomOperations(t, backend, operations, prefix)
  })
}

/**
 * Random operations on few keys, in concurrent groups, with reads, past reads, watches and compactions between them.
 */
export async function randomOperations (t: Test, backend: Backend, operations: number, prefix = ''): Promise<void> {
  const { seed, int: below } = random()
  t.comment(`SEED=${seed}`)
  const { at, start, end } = spaceBelow(prefix)
  const model = new Model()
  const begin = await backend.revision()
  const live = new Observed(backend, start, end, begin)
  const keys = Array.from({ length: 60 }, (_, i) => at(`${i % 7}/k${i}`))
  const wrong: string[] = []
  const same = (found: unknown, wanted: unknown, what: string) => {
    if (JSON.stringify(found) !== JSON.stringify(wanted)) {
      wrong.push(`${what}: found ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`)
    }
  }

  const write = async (key: string, n: number) => {
    const known = model.state.get(key)
    const kind = below(10)
    const stale = below(8) === 0
    const expected = stale ? (known?.modified ?? 1) - 1 : known?.modified ?? 1
    const value = bytes(`${n}`)
    const result = kind < 3
      ? await backend.create(key, value)
      : kind < 8 ? await backend.update(key, value, expected) : await backend.delete(key, expected)
    const shouldSucceed = kind < 3 ? known === undefined : known !== undefined && !stale
    same(result.succeeded, shouldSucceed, `operation ${n} on ${key}`)
    if (result.succeeded) {
      if (kind < 8) model.put(key, `${n}`, result.revision)
      else model.remove(key, result.revision)
    } else {
      same(
        result.current && textOf(result.current), known && `${key} ${known.value} ${known.created} ${known.modified}`,
        `what refused operation ${n}`
      )
    }
  }

  const check = async () => {
    const from = keys[below(keys.length)] ?? start
    const newest = model.log.at(-1)?.revision ?? begin
    const oldest = Math.max(begin, backend.compactedRevision())
    const revision = oldest + below(newest - oldest + 1)
    const wanted = model.range(from, end, revision)
    const limit = below(20)
    const past = await backend.list({ start: from, end, revision, limit })
    same(past.kvs.map(textOf), limit === 0 ? wanted : wanted.slice(0, limit), `range at ${revision}`)
    same([past.count, past.more], [wanted.length, limit !== 0 && wanted.length > limit], `count at ${revision}`)
    const one = await backend.get(from, revision)
    same(one.kv && textOf(one.kv), wanted.find(line => line.startsWith(`${from} `)), `${from} at ${revision}`)
    const now = await backend.list({ start, end })
    same(now.kvs.map(textOf), model.range(start, end, newest), 'the newest state')
    same(await backend.count(from, end), model.range(from, end, newest).length, 'the newest count')
    const replayed = new Observed(backend, from, end, revision)
    await replayed.upTo(newest)
    same(replayed.events.map(shortly), model.changes(from, end, revision), `the changes after ${revision}`)
    wrong.push(...replayed.faults)
    replayed.watch.cancel()
  }

  for (let n = 0; n < operations;) {
    const group = new Set<string>()
    for (let i = below(24) + 1; i > 0; i--) group.add(keys[below(keys.length)] ?? start)
    await Promise.all([...group].map(key => write(key, n++)))
    model.settle()
    if (below(20) === 0) await check()
    if (below(150) === 0) {
      const newest = model.log.at(-1)?.revision ?? begin
      const revision = Math.max(backend.compactedRevision(), newest - below(300))
      await live.upTo(Math.min(revision, newest)) // a watch that has not seen what goes ends, after an outage too
      await backend.compact(revision)
    }
    if (wrong.length > 0) break
  }
  await check()
  await live.upTo(model.log.at(-1)?.revision ?? begin)
  same(live.events.map(shortly), model.changes(start, end, begin), 'everything that happened')
  live.watch.cancel()
  t.same([...wrong, ...live.faults].slice(0, 5), [])
}
