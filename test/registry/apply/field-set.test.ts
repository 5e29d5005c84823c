import t from 'tap'
import {
  paths, has, without, parseFieldSet, union, isEmpty, equals, intersection, difference, unionAll, type FieldSet
} from '../../../registry/apply/field-set.js'
import { pathText, sortElements } from '../../../registry/apply/elements.js'
import { finish } from '../../../schemas/steps.js'
import { random } from '../../random.js'

const parsed = (value: unknown): FieldSet => finish(parseFieldSet(value))
const shown = (set: FieldSet): string[] => [...paths(set)].map(pathText)

t.test('a set has the form of the wire and the order of the convention', async t => {
  const set = parsed({
    'f:b': {
      'k:{"protocol":"TCP", "port":443}': { '.': {}, 'f:port': {} }, 'k:{"port":80,"protocol":"TCP"}': { 'f:name': {} }
    },
    'f:a': { 'v:"y"': {}, 'v:"x"': {}, 'v:3': {}, 'i:10': {}, 'i:9': {} },
    'f:é': {}, 'f:😀': {}, 'f:￿': {}
  })
  t.equal(JSON.stringify(set), JSON.stringify({
    'f:a': { 'v:3': {}, 'v:"x"': {}, 'v:"y"': {}, 'i:9': {}, 'i:10': {} },
    'f:b': {
      'k:{"port":80,"protocol":"TCP"}': { 'f:name': {} }, 'k:{"port":443,"protocol":"TCP"}': { '.': {}, 'f:port': {} }
    },
    'f:é': {}, 'f:￿': {}, 'f:😀': {}
  }))
  t.same(shown(set).slice(5, 8), [
    '.b[port=80,protocol="TCP"].name', '.b[port=443,protocol="TCP"]', '.b[port=443,protocol="TCP"].port'
  ])
  t.same(
    sortElements(['v:12345678901234567891', 'v:12345678901234567890', 'k:{"b":2}', 'k:{"b":10}', 'v:9']),
    ['k:{"b":2}', 'k:{"b":10}', 'v:9', 'v:12345678901234567890', 'v:12345678901234567891'], 'numbers by value'
  )
  t.same(sortElements(['v:true', 'v:null', 'v:"a"', 'v:2', 'k:{"a":1,"b":1}', 'k:{"a":1}', 'f:z']), [
    'f:z', 'k:{"a":1}', 'k:{"a":1,"b":1}', 'v:2', 'v:"a"', 'v:true', 'v:null'
  ])
})

t.test('an invalid field set is refused, and elements of unknown kinds are skipped', async t => {
  for (const [value, says] of [
    ['x', /object/], [[], /object/], [{ 'f:a': 1 }, /object/], [{ 'f:a': { b: {} } }, /colon/],
    [JSON.parse('{"__proto__":{}}'), /colon/],
    [{ 'k:[]': {} }, /keys/], [{ 'k:{': {} }, /JSON/], [{ 'v:x': {} }, /JSON/], [{ 'i:x': {} }, /index/]
  ] as const) t.throws(() => parsed(value), { name: 'TypeError', message: says }, JSON.stringify(value))
  t.same(parsed({ 'z:later': { 'f:a': {} }, 'f:b': {} }), { 'f:b': {} })
})

t.test('a field may be called anything', async t => {
  const set = parsed(JSON.parse('{"f:__proto__":{"f:constructor":{}},"f:":{}}'))
  t.same(shown(set), ['.', '.__proto__.constructor'])
  t.ok(has(set, ['f:__proto__', 'f:constructor']))
  t.notOk(has(set, ['f:__proto__']))
  t.notOk(has(set, ['f:toString']))
})

t.test('the operations are those of sets, of any sets', async t => {
  const { seed, int } = random()
  t.comment(`seed ${seed}`)
  const elements = ['f:a', 'f:b', 'k:{"n":1}', 'k:{"n":2}', 'v:"x"']
  const someSet = (): FieldSet => {
    let made: FieldSet = {}
    for (let count = int(8); count > 0; count--) {
      let one: FieldSet = {}
      for (let depth = 1 + int(3); depth > 0; depth--) one = { [elements[int(elements.length)] ?? '']: one }
      made = union(made, one)
    }
    return made
  }
  for (let round = 0; round < 3000; round++) {
    const [a, b] = [someSet(), someSet()]
    const before = JSON.stringify([a, b])
    const [left, right] = [new Set(shown(a)), new Set(shown(b))]
    const check = (set: FieldSet, wanted: Iterable<string>, title: string): void => {
      if (JSON.stringify(shown(set).sort()) !== JSON.stringify([...wanted].sort())) {
        t.same(shown(set).sort(), [...wanted].sort(), `${title} of ${before}`)
      }
      if (JSON.stringify(parsed(set)) !== JSON.stringify(set)) {
        t.fail(`${title} of ${before} is not canonical: ${JSON.stringify(set)}`)
      }
      if (isEmpty(set) !== ([...wanted].length === 0)) t.fail(`${title} of ${before} is empty or not`)
    }
    check(union(a, b), new Set([...left, ...right]), 'union')
    check(unionAll([a, b, a, {}]), new Set([...left, ...right]), 'union of all')
    check(difference(a, b), [...left].filter(path => !right.has(path)), 'difference')
    check(intersection(a, b), [...left].filter(path => right.has(path)), 'intersection')
    check(
      without(a, b),
      [...left].filter(path =>
        ![...right].some(other => path === other || path.startsWith(`${other}.`) || path.startsWith(`${other}[`))),
      'without'
    )
    if (equals(a, b) !== (shown(a).join() === shown(b).join())) t.fail(`equality of ${before}`)
    if (union(a, a) !== a || (!isEmpty(a) && difference(a, {}) !== a)) {
      t.fail(`what stays the same is a new set: ${before}`)
    }
    if (JSON.stringify([a, b]) !== before) t.fail('a set was changed')
  }
  t.pass('3000 pairs')
})
