import t from 'tap'
import { ListBytes, measure, type Leaf } from '../../answers/list-bytes.js'
import { Entry } from '../../storage/cache/entry.js'
import { Forms } from '../../storage/cache/forms.js'
import { limitForms, sweep } from '../../storage/cache/forms-budget.js'
import { jsonItems, leafBytes, STORED } from '../../storage/cache/leaf-bytes.js'
import { random } from '../random.js'

const entry = (json: string): Entry => new Entry(json, 1, Buffer.from(`${json}\n`), undefined, [])
const endsOf = (head: string, tail: string) => () => ({ head: Buffer.from(head), tail: Buffer.from(tail) })

async function joinedIn (
  size: number, head: string, items: readonly string[], tail: string, ready: readonly Leaf[] = []
): Promise<{ text: string, length: number, pieces: Buffer[], list: ListBytes }> {
  const entries = items.map(entry)
  const list = new ListBytes(
    { items: STORED, ends: endsOf(head, tail) }, entries, await measure(entries, STORED, ready), ready
  )
  const pieces = [...list.pieces(() => Buffer.alloc(size, '?'))]
  return { text: Buffer.concat(pieces).toString(), length: list.length, pieces, list }
}

t.test('items are joined by commas, whatever the size of the pieces', async t => {
  for (const items of [[], ['a'], ['{}', '{}'], ['one', 'of several', 'x'.repeat(50), 'y'], ['x'.repeat(99)]]) {
    const wanted = `{"items":[${items.join(',')}]}\n`
    for (let size = 12; size < 150; size++) {
      const { text, length, list } = await joinedIn(size, '{"items":[', items, ']}\n')
      if (text !== wanted || length !== wanted.length) t.fail(`${size}: ${text}`)
      if (list.whole().toString() !== wanted) t.fail(`whole: ${list.whole().toString()}`)
    }
  }
})

t.test('what is joined already is taken as it is, wherever it lies, if it is large', async t => {
  const { next, int, seed } = random()
  for (let round = 0; round < 500; round++) {
    const items = Array.from(
      { length: int(30) }, (_, at) => String.fromCharCode(97 + at % 26).repeat(next() < 0.2 ? 40_000 : 1 + int(200))
    )
    const ready: Leaf[] = []
    for (let at = 0; at < items.length;) {
      const count = 1 + int(6)
      if (next() < 0.5 && at + count <= items.length) {
        ready.push({ at, count, bytes: Buffer.from(items.slice(at, at + count).map(item => `${item},`).join('')) })
      }
      at += count
    }
    const { text, pieces, list } = await joinedIn(1 + int(100_000), '[', items, ']', ready)
    const wanted = `[${items.join(',')}]`
    if (text !== wanted || list.whole().toString() !== wanted) t.fail(`seed ${seed}, round ${round}: ${text}`)
    for (const { bytes } of ready) {
      if (bytes.length >= 32 * 1024 && !pieces.some(({ buffer }) => buffer === bytes.buffer)) {
        t.fail(`seed ${seed}, round ${round}: copied`)
      }
    }
  }
})

t.test('an item larger than a piece comes in several', async t => {
  const { text, pieces } = await joinedIn(100, '[', ['a', 'x'.repeat(300_000), 'b'], ']')
  t.equal(text, `[a,${'x'.repeat(300_000)},b]`)
  t.ok(pieces.every(({ length }) => length <= 128 * 1024))
})

t.test('what is made to be measured is written, of the first megabytes', async t => {
  let made = 0
  const items = jsonItems('made', ({ key }) => {
    made++
    return Buffer.from(`${key.repeat(3 * 1024 * 1024)}\n`)
  })
  const entries = ['a', 'b', 'c', 'd'].map(entry)
  const list = new ListBytes({ items, ends: endsOf('[', ']') }, entries, await measure(entries, items))
  t.equal(made, entries.length)
  t.equal(Buffer.concat([...list.pieces()]).length, list.length)
  t.equal(made, entries.length + 2, 'those that did not fit are made again')
})

t.test('an item that has become longer than the head said is not sent', async t => {
  const fills = entry('x'.repeat(8 * 1024 * 1024))
  for (const changed of ['longer', '']) {
    let now = 'text'
    const items = jsonItems('changing', stored => Buffer.from(stored === fills ? stored.json : `${now}\n`))
    const entries = [fills, entry('one')]
    const list = new ListBytes({ items, ends: endsOf('[', ']') }, entries, await measure(entries, items))
    now = changed
    t.throws(() => [...list.pieces()], /another length/)
  }
})

t.test('items that are made while they are counted leave turns to others', async t => {
  const slow = jsonItems('slow', ({ json }) => {
    for (const until = performance.now() + 10; performance.now() < until;);
    return json
  })
  const entries = Array.from({ length: 5 }, () => entry('x'.repeat(100_000)))
  let turns = 0
  let counting = true
  const count = (): void => {
    turns++
    if (counting) setImmediate(count)
  }
  setImmediate(count)
  t.equal((await measure(entries, slow)).bytes, 500_005)
  counting = false
  t.ok(turns >= 4, String(turns))
  t.equal(leafBytes(entries, slow), undefined)
})

t.test('a list whose forms are dropped while it is sent is complete', async t => {
  limitForms({ bytes: 1_000_000 })
  const entries = Array.from({ length: 50 }, (_, at) => entry(`item ${at}`))
  const forms = new Forms('pods', () => [entries])
  for (const one of entries) one.enter(forms)
  let made = 0
  const items = jsonItems('loud', stored => stored.derive('loud', () => {
    made++
    return Buffer.from(stored.json.toString().toUpperCase())
  }))
  const list = new ListBytes({ items, ends: endsOf('[', ']') }, entries, await measure(entries, items))
  t.equal(made, 50)
  const sent: Buffer[] = []
  for (const piece of list.pieces(() => Buffer.alloc(100))) {
    sent.push(piece)
    if (sent.length === 2) limitForms({ bytes: 0 })
  }
  t.equal(Buffer.concat(sent).toString(), `[${entries.map(({ key }) => key.toUpperCase()).join(',')}]`)
  t.equal(made, 50, 'those that were measured')
  limitForms({ bytes: 1_000_000 })
  for (let span = 0; span < 7; span++) sweep()
})
