import t from 'tap'
import { holdFieldSelector, parseFieldSelector } from '../../../schemas/selectors/fields.js'
import { holdLabelSelector, parseLabelSelector } from '../../../schemas/selectors/labels.js'
import { configMaps, secrets } from '../../stored.js'
import { heapUsed } from '../../bad-input/refusal.js'

const LENGTH = 60_000
const COPIES = 20
const upTo = (length: number, make: (index: number) => string, separator = ','): string => {
  const parts: string[] = []
  for (let index = 0, total = 0; total < length; index++) {
    const part = make(index)
    parts.push(part)
    total += part.length + separator.length
  }
  return parts.join(separator)
}
const long = (copy: number, index: number): string => `${'x'.repeat(40)}-${copy}-${index}`

/** Selectors of different shapes; each differs from the others of its shape. */
const LABELS: Readonly<Record<string, (copy: number, length: number) => string>> = {
  'one key said over and over': copy => `k${copy},${upTo(LENGTH, () => 'a')}`,
  'one value said over and over': copy => `k${copy} in (${upTo(LENGTH, () => 'v')})`,
  'one thing excluded over and over': copy => upTo(LENGTH, () => `k!=v${copy}`),
  'many keys': (copy, length) => upTo(length, index => `k${copy}-${index}`),
  'long keys': (copy, length) =>
    upTo(length, index => `${'d'.repeat(60)}.${'e'.repeat(60)}.${'f'.repeat(60)}/${long(copy, index)}`),
  'many values': (copy, length) => `k in (${upTo(length, index => `${copy}-${index}`)})`,
  'long values': (copy, length) => `k in (${upTo(length, index => long(copy, index))})`,
  'many exclusions': (copy, length) => upTo(length, index => `k!=${copy}-${index}`),
  'many lists': (copy, length) => upTo(length, index => `k${index} in (${upTo(150, value => `${copy}-${value}`)})`),
  'many comparisons': (copy, length) => upTo(length, index => `k>${copy}${String(index).padStart(5, '0')}`)
}
const FIELDS: typeof LABELS = {
  'one field said over and over': copy => upTo(LENGTH, () => `metadata.name!=v${copy}`),
  'many exclusions': (copy, length) => upTo(length, index => `metadata.name!=${copy}-${index}`),
  contradictions: (copy, length) => upTo(length, index => `metadata.name=${copy}-${index}`)
}
const label = (text: string) => holdLabelSelector(parseLabelSelector(text))
const field = (text: string) => holdFieldSelector(parseFieldSelector(text, configMaps), configMaps)
const BOTH = [
  ...Object.entries(LABELS).map(([name, text]) => [`labels: ${name}`, label, text] as const),
  ...Object.entries(FIELDS).map(([name, text]) => [`fields: ${name}`, field, text] as const)
]

/** Maximum bytes that one watch holds for its selectors. */
const MAX_BYTES = 11 * 1024

t.test('every parsed selector stays within a bound of memory or is refused', async t => {
  // so that the end of one measurement is the beginning of the next: each takes two collections
  const all: unknown[] = []
  let before = await heapUsed(2)
  for (const [name, hold, text] of BOTH) {
    for (const length of [LENGTH, 6000, 800]) {
      // Other work in the process only adds to the measurement, so the minimum of some rounds counts.
      let each = Infinity
      for (let round = 0; round < 4 && each >= MAX_BYTES; round++) {
        const held: unknown[] = []
        let refused = 0
        for (let copy = 100; copy < 100 + COPIES; copy++) {
          try {
            held.push(hold(text(copy, length)))
          } catch (error) {
            t.match(error, { name: 'DecodeError', message: /too large for a watch/ })
            if (++refused > 3) break
          }
        }
        all.push(held)
        const after = await heapUsed(2)
        each = held.length === 0 ? 0 : (after - before) / held.length
        before = after
      }
      t.ok(each < MAX_BYTES, `${name}, ${length} characters: ${(each / 1024).toFixed(1)} KiB each`)
    }
  }
})

t.test('hundreds of names are within it, and matched as they should be', async t => {
  const names = Array.from({ length: 200 }, (_, index) => `some-object-with-a-longer-name-${index}`)
  const chosen = label(`name in (${names.join(', ')})`)
  const others = label(`name notin (${names.join(',')})`)
  const fields = field(names.map(name => `metadata.name!=${name}`).join(','))
  for (const name of [...names, 'some', 'some-object-with-a-longer-name-', 'some-object-with-a-longer-name-400', '']) {
    const is = names.includes(name)
    t.same(
      [chosen.matches({ name }), others.matches({ name }), fields.matches([name, 'default'])], [is, !is, !is], name
    )
  }
  t.same([chosen.matches({}), others.matches({})], [false, true])
})

t.test('watches that ask the same hold one selector, in whatever words', async t => {
  const names = Array.from({ length: 300 }, (_, index) => `name-${index}`)
  t.equal(label(`name in (${names.join(',')})`), label(` name  in (${[...names, ...names].reverse().join(', ')}) `))
  const text = names.map(name => `metadata.name!=${name}`)
  t.equal(field(text.join(',')), field([...text].reverse().join(',')))
  t.not(
    field(text.join(',')), holdFieldSelector(parseFieldSelector(text.join(','), secrets), secrets),
    'each type has its own'
  )
})

t.test('a selector says nothing twice', async t => {
  for (const [text, words] of [
    ['a,a,a', 'a'], ['a=b,a==b', 'a=b'], ['a in (y,x,y)', 'a in (x,y)'], ['a in (x,y),a in (y,x)', 'a in (x,y)'],
    ['a!=x,a!=y,a notin (z,x)', 'a notin (x,y,z)'], ['a notin (x)', 'a!=x'], ['!a,!a', '!a'],
    ['a>1,a>1,a<3', 'a<3,a>1'],
    ['a=b,a=c', 'a=b,a=c']
  ] as const) t.equal(parseLabelSelector(text).text, words, text)
  t.notOk(parseLabelSelector('a=b,a=c').matches({ a: 'b' }))
  t.equal(
    parseFieldSelector('metadata.name!=b,metadata.name!=a,metadata.name!=b', configMaps).text,
    'metadata.name!=a,metadata.name!=b'
  )
  const contradiction = parseFieldSelector('metadata.name=a,metadata.name=b', configMaps)
  t.equal(contradiction.text, 'metadata.name=a,metadata.name=b')
  for (const name of ['a', 'b', 'c']) t.notOk(contradiction.matches([name, '']))
  t.throws(() => parseFieldSelector('metadata.name!=a\0b', configMaps), { name: 'DecodeError', message: /NUL/ })
})
