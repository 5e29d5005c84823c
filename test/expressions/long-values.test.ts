import t from 'tap'
import { CostExceeded, Meter } from '../../expressions/meter.js'
import { Pending } from '../../expressions/pending.js'
import { Environment } from '../../expressions/program.js'
import { Search } from '../../expressions/search.js'
import { matches } from '../../expressions/strings.js'
import { DYN } from '../../expressions/types.js'
import { Fault } from '../../expressions/values.js'
import { finish } from '../../schemas/steps.js'

const SIZE = 200_000
const list = Array.from({ length: SIZE }, (_, index) => index)
const VALUES = {
  list, other: [...list], texts: list.map(index => `k${index}`), nested: [list], sets: list.map(index => [index]),
  map: Object.fromEntries(list.slice(0, 20_000).map(index => [`k${index}`, index])),
  text: 'ab'.repeat(SIZE), quotes: '"'.repeat(SIZE), pairs: '\u{1F600}'.repeat(SIZE), clauses: '%s'.repeat(SIZE)
}
const environment = new Environment({ self: DYN })

function evaluated (text: string): { value: unknown, steps: number } {
  const evaluation = environment.compile(text).evaluate({ self: VALUES })
  for (let steps = 0; ; steps++) {
    const { done, value } = evaluation.next()
    if (done === true) return { value: value.value instanceof Fault ? value.value.message : value.value, steps }
  }
}

t.test('functions of long values run in steps', async t => {
  const cases: Array<[text: string, value: unknown]> = [
    ['self.list == self.other', true], ['self.list != self.other', false], ['self.sets == self.sets + []', true],
    ['self.map == self.map.transformMap(k, v, v)', true], ['-1 in self.list', false],
    ['self.list.sum() == 19999900000', true], ['self.list.min() == 0 && self.list.max() == 199999', true],
    ['self.list.isSorted()', true], ['self.list.indexOf(-1) == -1 && self.list.lastIndexOf(0) == 0', true],
    ['self.list.reverse().slice(1, 199999).sum() == 19999700001', true],
    ['lists.range(400000).sum() == 79999800000', true], ['(self.list + self.list).isSorted()', false],
    ['self.nested.flatten().size() == 200000', true], ['self.texts.join() != ""', true],
    ['sets.contains(self.list, [199999])', true], ['sets.intersects(self.texts, ["no"])', false],
    ['sets.equivalent(self.list, [1])', false],
    ['"%s".format([self.list]).endsWith(", 199999]")', true],
    ['"%s".format([self.map]).startsWith("{\\"k0\\":0, \\"k1\\":1, \\"k10\\":10, ")', true],
    ['self.clauses.format(self.list).size() == 1088890', true], ['strings.quote(self.quotes).size() == 400002', true],
    ['self.text.upperAscii().lowerAscii() == self.text', true], ['self.text.split("b").size() == 200001', true],
    ['self.text.replace("b", "ba").size() == 600000', true], ['self.pairs.split("").size() == 200000', true],
    ['self.pairs.substring(199999).size() == 1 && self.pairs.indexOf("x") == -1', true],
    ['self.text.findAll("b$").size() == 1 && self.text.matches("^a")', true]
  ]
  for (const [text, value] of cases) {
    const result = evaluated(text)
    t.equal(result.value, value, text)
    t.ok(result.steps > 0, text)
  }
  t.ok(evaluated('self.list.sum() == 0').steps > SIZE / 4000, 'a step is a few thousand items')
})

t.test('functions of short values take no step', async t => {
  for (const text of [
    '[1, 2].sum() == 3', '[1, 2] == [1, 2]', '"a,b".split(",").all(x, x != "")', '"%s".format([[1, 2]]) == "[1, 2]"',
    '[1, 2].map(x, x + 1).max() == 3'
  ]) {
    t.same(evaluated(text), { value: true, steps: 0 }, text)
  }
})

t.test('a search looks at each character of long texts once, and finds what a plain one finds', async t => {
  const meter = new Meter()
  const text = 'a'.repeat(3_000_000)
  const hard = `${'a'.repeat(5000)}b${'a'.repeat(5000)}`
  t.equal(finish(new Search(text, hard, meter).from(0)), -1)
  t.equal(finish(new Search(text, hard, meter).upTo(text.length)), -1)
  t.equal(finish(new Search(text + hard, hard, meter).from(1)), 2_995_000 + 5000)
  t.equal(finish(new Search(hard + text, hard, meter).upTo(text.length)), 0)
  const random = Array.from({ length: 300_000 }, (_, index) => 'abc'[(index * index + (index >> 3)) % 3]).join('')
  for (const [start, length] of [[0, 20], [100_000, 60], [299_900, 100], [150_000, 3000]] as const) {
    const wanted = random.slice(start, start + length)
    const search = new Search(random, wanted, meter)
    for (const from of [0, start, start + 1, 250_000]) {
      t.equal(finish(search.from(from)), random.indexOf(wanted, from), `${length} from ${from}`)
      t.equal(finish(search.upTo(from)), random.lastIndexOf(wanted, from), `${length} up to ${from}`)
    }
  }
})

t.test('matching texts is work that ends, and that others need not wait for', async t => {
  const meter = new Meter()
  const stepsOf = (text: string, pattern: string): number => {
    const value = matches(text, pattern, meter)
    if (!(value instanceof Pending)) return 0
    for (let steps = 1; ; steps++) if (value.steps.next().done === true) return steps
  }
  t.ok(stepsOf('x'.repeat(100), '^(x{1,100}){1,10}$') > 1, 'also one short text')
  t.ok(stepsOf('x'.repeat(10_000), '^(x{1,100}){1,10}$') > 100)
  let count = 1
  try {
    for (; count < 1000; count++) stepsOf('x'.repeat(20_000), '(x{1,100}){1,10}y')
  } catch (error) {
    t.ok(error instanceof CostExceeded)
  }
  t.ok(count < 20, `${count} times`)
})

t.test('an empty part is none where another one ends, as in Go', async t => {
  for (const [text, value] of [
    ['"baaab".findAll("a*") == ["", "aaa", ""]', true],
    ['"ab".findAll("a|") == ["a", ""]', true],
    ['"ab".findAll("", 2) == ["", ""]', true]
  ] as const) {
    t.equal(evaluated(text).value, value, text)
  }
})
