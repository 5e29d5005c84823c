import t from 'tap'
import { ListBytes, sizeOf, type LeafJson } from '../../answers/list-bytes.js'
import { Entry } from '../../storage/cache/entry.js'
import { random } from '../random.js'

const entry = (json: string): Entry => new Entry(json, 1, Buffer.from(`${json}\n`), undefined, [])

async function joinedIn (pieces: number, head: string, items: readonly string[], tail: string): Promise<{ text: string, length: number }> {
  const entries = items.map(entry)
  const joined = new ListBytes({ head, tail }, entries, await sizeOf(entries))
  const parts: Buffer[] = []
  for (let left = joined.length; left > 0;) {
    const piece = Buffer.alloc(pieces, '?')
    const used = joined.fill(piece)
    if (used < pieces && used !== left) throw new Error('a piece that is not full before the end')
    parts.push(piece.subarray(0, used))
    left -= used
  }
  return { text: Buffer.concat(parts).toString(), length: joined.length }
}

t.test('items are joined by commas, whatever the size of the pieces', async t => {
  for (const items of [[], ['a'], ['{}', '{}'], ['one', 'of several', 'x'.repeat(50), 'y'], ['x'.repeat(99)]]) {
    const wanted = `{"items":[${items.join(',')}]}\n`
    for (let pieces = 1; pieces < 130; pieces++) {
      const { text, length } = await joinedIn(pieces, '{"items":[', items, ']}\n')
      if (text !== wanted || length !== wanted.length) t.fail(`${pieces}: ${text}`)
    }
  }
})

t.test('so are many of random sizes', async t => {
  const { next, seed } = random()
  for (let round = 0; round < 200; round++) {
    const items = Array.from({ length: Math.floor(next() * 40) }, (_, at) => String.fromCharCode(97 + at % 26).repeat(1 + Math.floor(next() * 300)))
    const pieces = 1 + Math.floor(next() * 500)
    const { text } = await joinedIn(pieces, '[', items, ']')
    if (text !== `[${items.join(',')}]`) t.fail(`seed ${seed}, round ${round}: pieces of ${pieces}`)
  }
})

t.test('what is joined already is taken as it is, wherever it lies', async t => {
  const { next, int, seed } = random()
  for (let round = 0; round < 500; round++) {
    const items = Array.from({ length: int(30) }, (_, at) => String.fromCharCode(97 + at % 26).repeat(1 + int(200)))
    const entries = items.map(entry)
    const ready: LeafJson[] = []
    for (let at = 0; at < entries.length;) {
      const count = 1 + int(6)
      if (next() < 0.5 && at + count <= entries.length) ready.push({ at, count, bytes: Buffer.from(items.slice(at, at + count).map(item => `${item},`).join('')) })
      at += count
    }
    const joined = new ListBytes({ head: '[', tail: ']' }, entries, await sizeOf(entries, ready), ready)
    const parts: Buffer[] = []
    let shared = 0
    for (let left = joined.length; left > 0;) {
      let bytes = joined.next()
      if (bytes !== undefined) shared++
      else {
        const piece = Buffer.alloc(1 + int(300), '?')
        const used = joined.fill(piece)
        if (used === 0) throw new Error('an empty piece')
        bytes = piece.subarray(0, used)
      }
      parts.push(bytes)
      left -= bytes.length
    }
    const text = Buffer.concat(parts).toString()
    if (text !== `[${items.join(',')}]` || shared !== ready.length) t.fail(`seed ${seed}, round ${round}: ${text}`)
  }
})

t.test('many entries are counted in several turns of the loop', async t => {
  const one = entry('{}')
  let turns = 0
  let counting = true
  const count = (): void => {
    turns++
    if (counting) setImmediate(count)
  }
  setImmediate(count)
  t.equal(await sizeOf(new Array<Entry>(100_000).fill(one)), 300_000)
  counting = false
  t.ok(turns >= 6, String(turns))
})
