/** Portions of the state that a watch begins with. */
import t from 'tap'
import { InitialState } from '../../../answers/watch/initial.js'
import { nextTurn } from '../../../event-loop/turns.js'
import { Entry } from '../../../storage/cache/entry.js'
import { OrderedMap } from '../../../storage/cache/ordered-map.js'
import { random } from '../../random.js'

const key = (at: number): string => String(at).padStart(4, '0')
const sizeOf = ({ json }: Entry): number => json.length
const named = (name: string, bytes: number): Entry =>
  new Entry(name, 1, Buffer.from(`${name}${'x'.repeat(bytes)}\n`), undefined, [name])

t.test('portions have all that matches, in order, whatever the limits and whichever leaves are joined', t => {
  const { seed, next, int } = random()
  for (let round = 0; round < 300; round++) {
    const pairs = Array.from({ length: int(400) }, (_, at) => [key(at), named(key(at), int(300))] as const)
    const map = OrderedMap.fromSorted(pairs)
    const [start, end] = next() < 0.5 ? ['', '\uffff'] : [key(int(200)), key(200 + int(200))]
    const everything = next() < 0.5
    const share = next()
    const matches = ({ name }: Entry): boolean => everything || Number(name) % 3 === 0
    const state = new InitialState({ revision: 1, map }, { range: { start, end }, matches, everything })
    const joined = new Map<readonly Entry[], boolean>()
    const leaf = (entries: readonly Entry[]): Buffer | undefined => {
      if (!joined.has(entries)) joined.set(entries, next() < share)
      return joined.get(entries) === true ? Buffer.from(entries.map(({ name }) => name).join()) : undefined
    }
    const [bytes, most] = [1 + int(5000), next() < 0.5 ? Infinity : 1 + int(10)]
    const isSlow = next() < 0.5 ? undefined : ({ name }: Entry) => Number(name) % 2 === 0
    const names: string[] = []
    let portion
    do {
      portion = state.next({ bytes, most, isSlow, sizeOf, leaf })
      const part = portion.parts.flatMap(one =>
        Buffer.isBuffer(one) ? one.toString().split(',') : one.map(({ name }) => name))
      if (part.length !== portion.count) {
        t.fail(`SEED=${seed}, round ${round}: ${part.length} counted as ${portion.count}`)
      }
      const made = portion.parts.flatMap(one => Buffer.isBuffer(one) ? [] : one)
      const size = portion.parts.flat().reduce((sum, one) => sum + (one instanceof Entry ? one.json.length : 0), 0) +
        portion.parts.reduce((sum, one) => sum + (Buffer.isBuffer(one) ? one.length : 0), 0)
      if (made.filter(isSlow ?? (() => true)).length > most ||
        (size > bytes && portion.count > 1 && !(portion.parts.length === 1 && Buffer.isBuffer(portion.parts[0]))) ||
        size !== portion.bytes) {
        t.fail(`SEED=${seed}, round ${round}: a portion of ${made.length} and ${size}`)
      }
      if (made.join() !== portion.entries.join()) t.fail(`SEED=${seed}, round ${round}: other entries`)
      names.push(...part)
    } while (!portion.isLast)
    const expected = pairs.filter(([name, entry]) => name >= start && name < end && matches(entry))
      .map(([name]) => name)
    if (names.join() !== expected.join()) t.fail(`SEED=${seed}, round ${round}: ${names.join()}`)
  }
  t.end()
})

t.test('joined leaves are asked for only where all of a leaf is sent', t => {
  const pairs = Array.from({ length: 96 }, (_, at) => [key(at), named(key(at), 10)] as const)
  const map = OrderedMap.fromSorted(pairs) // three leaves
  const asked: string[] = []
  const leaf = (entries: readonly Entry[]): undefined => { asked.push(entries[0]?.name ?? '') }
  const read = (start: string, everything: boolean): void => {
    const state = new InitialState(
      { revision: 1, map }, { range: { start, end: '\uffff' }, matches: () => true, everything }
    )
    while (!state.next({ bytes: 100, most: Infinity, sizeOf, leaf }).isLast);
  }
  read(key(10), true)
  t.same(asked, [key(32), key(64)])
  read('', false)
  t.equal(asked.length, 2)
  t.end()
})

t.test('a large leaf is a portion of its own', async t => {
  await nextTurn() // where a turn ends, small ones are sent alone too
  // five leaves
  const map = OrderedMap.fromSorted(Array.from({ length: 160 }, (_, at) => [key(at), named(key(at), 10)] as const))
  const sizes = [20_000, 20_000, 40_000, 20_000, 20_000]
  const leaf = (entries: readonly Entry[]): Buffer => Buffer.alloc(sizes[Number(entries[0]?.name) / 32] ?? 0)
  const state = new InitialState(
    { revision: 1, map }, { range: { start: '', end: '\uffff' }, matches: () => true, everything: true }
  )
  const portions: number[][] = []
  for (let isLast = false; !isLast;) {
    const portion = state.next({ bytes: 100_000, most: Infinity, sizeOf, leaf })
    portions.push(portion.parts.map(({ length }) => length))
    isLast = portion.isLast
  }
  t.same(portions.flat(), sizes)
  t.ok(portions.every(parts => parts.length === 1 || !parts.includes(40_000)), JSON.stringify(portions))
})
