import t from 'tap'
import { RE2JS } from 're2js'
import { search, type Found } from '../../../../schemas/api/apiextensions/pattern-search.js'
import { ObjectPatterns } from '../../../../schemas/api/apiextensions/patterns.js'
import { ValueValidator } from '../../../../schemas/api/apiextensions/schema-values.js'
import { finish } from '../../../../schemas/steps.js'
import { random } from '../../../random.js'

function validated (pattern: string, values: readonly string[]): { details: string[], steps: number } {
  const details: string[] = []
  const validating = new ValueValidator(new ObjectPatterns(), true).validating(
    { items: { type: 'string', pattern } }, values, '', ({ detail = '' }) => { details.push(detail) }
  )
  let steps = 0
  while (validating.next().done !== true) steps++
  return { details, steps }
}

t.test('many strings are matched in steps, and not all of those that take seconds', async t => {
  const { details, steps } = validated('^(x{1,100}){1,10}$', Array.from({ length: 80 }, () => 'x'.repeat(1900)))
  t.ok(steps > 1000, `${steps} steps`)
  t.equal(details.length, 80)
  t.match(details[0], /should match/)
  t.match(details[79], /is too long to be matched with/)
})

t.test('one long string is matched in steps, however heavy its pattern, and by what it takes', async t => {
  const heavy = validated('^(x{1,100}){1,10}$', ['x'.repeat(2000)])
  t.match(heavy.details, [/should match/])
  t.ok(heavy.steps > 30, `${heavy.steps} steps`)
  t.same(validated('^[a-z]+$', ['a'.repeat(1_000_000)]).details, [])
})

t.test('compiling patterns is work that ends, and few are kept', async t => {
  let spent = 0
  const patterns = new ObjectPatterns()
  const spend = (count: number): void => { spent += count }
  const first = patterns.of('a{1000}', spend)
  t.ok(spent >= 50_000)
  for (let index = 0; index < 300; index++) patterns.of(`${index}a{1000}`, () => {})
  t.not(patterns.of('a{1000}', spend), first, 'the first one was dropped')
  t.ok(validated('a{1000}', ['b']).steps > 0, 'other work need not wait')
})

const ATOMS = [
  'a', 'b', '.', '[ab]', '[^a]', '\\b', '^', '$', '\\B', '(a|b)', '(?:ab|a)', '\\n', '(?i:A)', '\u{1f600}', '(?m:^)',
  '(?m:$)', '\\w', '()', '(?s:.)'
]
const TIMES = ['', '', '', '*', '+', '?', '{2}', '{1,3}', '*?', '+?', '??']
const LETTERS = ['a', 'b', 'A', '\n', '\u{1f600}', ' ', '\ud83d']

t.test('the search in steps finds what re2js finds', async t => {
  const { seed, int } = random()
  t.comment(`seed ${seed}`)
  const one = (of: readonly string[]): string => of[int(of.length)] ?? ''
  const some = (of: readonly string[], most: number, more = ['']): string =>
    Array.from({ length: int(most) }, () => one(of) + one(more)).join('')
  for (let round = 0; round < 3000; round++) {
    const [source, text] = [`${some(ATOMS, 5, TIMES)}${one(['', '|'])}${some(ATOMS, 4, TIMES)}`, some(LETTERS, 12)]
    const compiled = RE2JS.compile(source)
    const from = int(text.length + 1)
    const matcher = compiled.matcher(text)
    const wanted: Found | undefined = matcher.find(from) ? [matcher.start(), matcher.end()] : undefined
    const what = `${JSON.stringify(source)} in ${JSON.stringify(text)} from ${from}`
    const found = finish(search(compiled, text, { from }, () => false))
    if (String(found) !== String(wanted)) t.same(found, wanted, what)
    const any = finish(search(compiled, text, { some: true }, () => false)) !== undefined
    if (any !== compiled.matcher(text).find()) t.fail(what)
  }
})
