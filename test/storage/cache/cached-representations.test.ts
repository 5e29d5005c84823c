import t from 'tap'
import { ownBytes } from '../../../storage/bytes.js'
import { Entry } from '../../../storage/cache/entry.js'
import { cachedRepresentations, sweep } from '../../../storage/cache/cached-representations.js'

const entry = (size = 10): Entry => new Entry('k', 1, ownBytes(JSON.stringify({ metadata: {}, text: 'x'.repeat(size) })), undefined, [])

t.afterEach(() => {
  sweep()
  sweep()
  t.match(cachedRepresentations(), { holders: 0, bytes: 0 }, 'unused representations are dropped')
})

t.test('a form is made once while it is used', async t => {
  const one = entry()
  let made = 0
  const make = () => Buffer.from(`${++made}`)
  for (let span = 0; span < 5; span++) {
    t.equal(one.derive('form', make).toString(), '1')
    sweep()
  }
  t.equal(one.object, one.object, 'and so is the parsed object')
})

t.test('a representation unused for two periods is dropped and made again on demand', async t => {
  const one = entry()
  const before = one.object
  sweep()
  sweep()
  t.equal(cachedRepresentations().holders, 0)
  t.not(one.object, before)
  t.same(one.object, before)
})

t.test('a copy keeps nothing, and is no other\'s', async t => {
  const one = entry()
  t.same(one.copy().metadata, {})
  t.equal(cachedRepresentations().holders, 0)
  t.equal(one.object, one.object)
  t.not(one.copy(), one.object)
})

t.test('all forms together stay within their bound', async t => {
  const entries = Array.from({ length: 300 }, () => entry(500_000))
  for (const one of entries) {
    one.derive('form', () => Buffer.alloc(500_000))
    if (cachedRepresentations().bytes > 64 * 1024 * 1024) t.fail(`${cachedRepresentations().bytes} bytes`)
  }
  t.ok(cachedRepresentations().bytes > 60 * 1024 * 1024, 'the room is used')
  const kept = (one: Entry | undefined): boolean => one?.derived !== undefined
  t.ok(kept(entries[0]), 'cached representations stay')
  t.notOk(kept(entries.at(-1)), 'over the limit a representation is made and not cached')
  sweep()
  sweep()
  entries.at(-1)?.derive('form', () => Buffer.alloc(500_000))
  t.ok(kept(entries.at(-1)), 'until there is room again')
})
