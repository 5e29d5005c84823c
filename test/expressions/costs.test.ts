import t, { type Test } from 'tap'
import { Environment } from '../../expressions/program.js'
import { finish } from '../../schemas/steps.js'
import { SchemaTypes } from '../../schemas/custom/schema-types.js'
import type { JSONSchemaProps } from '../../schemas/api/apiextensions/schemas.js'

const string = (more: JSONSchemaProps = {}): JSONSchemaProps => ({ type: 'string', ...more })
const integer: JSONSchemaProps = { type: 'integer' }
const list = (items: JSONSchemaProps, maxItems?: number): JSONSchemaProps => ({
  type: 'array', items, ...(maxItems === undefined ? {} : { maxItems })
})
const object = (properties: Record<string, JSONSchemaProps>, more: JSONSchemaProps = {}): JSONSchemaProps => ({
  type: 'object', properties, ...more
})
const MAX = 2 ** 64

function environmentOf (schema: JSONSchemaProps): Environment {
  const type = new SchemaTypes().of(schema)
  if (type === undefined) throw new Error('no type')
  return new Environment({ self: type, oldSelf: type }, { root: type })
}

const SCHEMA = object({
  n: integer, m: integer, s: string({ maxLength: 10 }), long: string(), texts: list(string({ maxLength: 10 }), 5),
  numbers: list(integer, 5), map: { type: 'object', additionalProperties: string({ maxLength: 3 }), maxProperties: 4 },
  span: string({ format: 'duration' }), time: string({ format: 'date-time' }), day: string({ format: 'date' }),
  bytes: string({ format: 'byte', maxLength: 20 }), choice: string({ enum: ['a', 'abc'] }),
  either: { 'x-orch-int-or-string': true, maxLength: 5 },
  objects: list(
    object({
      f: string({ maxLength: 10 }), g: integer, list: list(string({ maxLength: 2 }), 3), other: list(integer, 100)
    }),
    4
  ),
  inner: object({ a: object({ b: list(string({ maxLength: 2 }), 3), c: integer }) })
})
const VALUE = {
  n: 1, m: 2, s: 'abcdefghijkl', texts: ['a', 'bcdefghijklm'], numbers: [1, 2, 3], map: { k: 'v', l: 'w' }
}
const environment = environmentOf(SCHEMA)

const estimates = (t: Test, expected: Record<string, number>): void => {
  for (const [text, cost] of Object.entries(expected)) t.equal(environment.compile(text).most, cost, text)
}
const costs = (t: Test, expected: Record<string, number>): void => {
  for (const [text, cost] of Object.entries(expected)) {
    t.equal(finish(environment.compile(text).evaluate({ self: VALUE, oldSelf: VALUE })).cost, cost, text)
  }
}

t.test('evaluations cost what upstream charges', async t => {
  costs(t, {
    true: 0, 'self.n == 1': 3, 'self.n == self.m': 5, '1 + 1 == 2': 2, 'has(self.n)': 1,
    'has(self.inner) || has(self.n)': 2, 'self.n == 1 || self.m == 2': 3, 'self.n == 2 || self.m == 2': 6,
    // a literal of constants is built once, and so is what a conversion makes of one
    '[1, 2].size() == 2': 2, '[self.n, 2].size() == 2': 14, '{"a": self.n}.size() == 1': 34,
    'duration("1s") == duration("1s")': 1, 'int("1") == 1': 1, 'self.n in []': 0, 'self.n in [1, 2]': 2,
    'self.n in self.numbers': 7,
    // so is a bare variable as an index
    'self.map.all(k, self.map[k] != "")': 2 + 2 * (3 + 1 + 2) + 1, 'self.numbers[self.n] == 2': 5,
    'self.numbers[self.n + 1] == 3': 7, 'self.map.all(k, self.map[?k].hasValue())': 2 + 2 * (3 + 1 + 3) + 1,
    // an access costs one more where it begins at anything but a variable or a choice
    '[self.n][0] == 1': 15, '[[self.n]][0][0] == 1': 26, '{"a": self.n}.a == 1': 35, 'has({"a": self.n}.a)': 33,
    '(self.n == 1 ? [self.n] : [2])[0] == 1': 17, '(self.n == 2 ? 1 : [self.n][0]) == 1': 17,
    'self.numbers[[self.n][0]] == 2': 17,
    // a bare variable in a choice is free
    'self.n == 1 ? self.n > 0 : self.m > 0': 6, '(self.n == 1 ? self.n : self.m) == 1': 5,
    'true ? self.texts.size() > 0 : false': 4,
    'self.s == "abc"': 3, 'self.s == "abcdefghijklm"': 4, 'self.s < ""': 2, 'self.s.startsWith("a")': 4,
    'self.s.contains("bc")': 4, 'self.s.matches("^[a-z]+$")': 6, 'self.s + "a" == "b"': 5,
    'self.s.replace("a", "b") == ""': 5, 'self.s.split("a").size() == 2': 7, 'string(self.n) == "1"': 4,
    'self.texts.join(",").size() == 14': 7, 'self.s.indexOf("b") == 1': 4, 'self.texts.indexOf("a") == 0': 6,
    'self.s.size() == 12': 4,
    // for each item: the condition and the step, then the result
    'self.numbers.all(x, x > 0)': 2 + 3 * (2 + 1 + 2) + 1, 'self.numbers.all(x, x > 1)': 2 + 5 + 2 + 1,
    'self.numbers.exists(x, x == 1)': 2 + 6 + 3 + 1, 'self.numbers.exists_one(x, x == 1)': 2 + (2 + 2) + 2 + 2 + 2,
    'self.numbers.map(x, x).size() == 3': 2 + 3 * 13 + 1 + 2,
    'self.numbers.filter(x, x > 1).size() == 2': 2 + 3 * 2 + 2 * 13 + 1 + 2,
    'self.map.all(k, k != "")': 2 + 2 * (2 + 1 + 1) + 1,
    'self.map.transformMap(k, v, v).size() == 2': 2 + 2 * (3 + 1) + 1 + 2,
    'self.?n.orValue(0) == 1': 3, 'self.?n.hasValue()': 3, 'optional.of(1).value() == 1': 3,
    'self.?n.optMap(x, x + 1).orValue(0) == 2': 3 + 3 + 2 + 1 + 1,
    'sets.contains(self.texts, ["a"])': 2 + 3, 'sets.equivalent(self.texts, self.texts)': 4 + 9,
    'self.numbers.slice(0, 2).size() == 2': 2 + 13 + 2, 'self.numbers.sort().size() == 3': 2 + 11 + 18 + 2,
    'self.texts.distinct().size() == 2': 2 + 11 + 8 + 2, 'self.numbers.sum() == 6': 2 + 3 + 1,
    'quantity("1k").isLessThan(quantity("2k"))': 3, 'ip("10.0.0.1").family() == 4': 3,
    'cidr("10.0.0.0/8").containsIP("10.0.0.1")': 1 + 1 + 1,
    'format.dns1123Label().validate("abc").hasValue()': 1 + 1 * 8 + 1
  })
})

t.test('the cost of an evaluation is estimated from the sizes that a schema allows', async t => {
  estimates(t, {
    true: 0, 'self.n == 1': 2, 'self.n == self.m': 4, 'self.n + 1 == 2': 4, 'has(self.n)': 1, 'self.s == "abc"': 3,
    'self.s == self.s': 8, 'self.long == self.long': 4 + 314573, 'self.s.size() <= 10': 4, '[1, 2].size() == 2': 12,
    '{"a": self.n}.size() == 1': 34, 'self.n == 1 ? self.n > 0 : self.m > 0': 5,
    'self.s.contains("abc")': 2 + 4, 'self.s.startsWith("abcdefghijkl")': 4, 'self.s.matches("^a+$")': 2 + 5,
    'self.s + self.s == ""': 4 + 8 + 0, 'self.choice == self.choice': 5, 'self.bytes == self.bytes': 6,
    'self.span == self.span': 8, 'self.day < self.day': 5, 'self.time == self.time': 8,
    'self.numbers.all(x, x > 0)': 2 + 5 * (2 + 1 + 2) + 1,
    'self.texts.all(x, x == self.s)': 2 + 5 * (2 + 1 + 1 + 2 + 4) + 1,
    'self.texts.exists(x, x == "a")': 2 + 5 * (3 + 1 + 2) + 1,
    'self.numbers.exists_one(x, x == 1)': 2 + 5 * (1 + 0 + 2) + 2,
    'self.numbers.map(x, x).size() == 5': 2 + 10 + 5 * 13 + 1 + 2,
    'self.numbers.filter(x, x > 1).size() == 2': 2 + 10 + 5 * (2 + 13) + 1 + 2,
    'self.map.all(k, self.map[k] == "a")': 2 + 4 * (2 + 1 + 2 + 1 + 1 + 1) + 1, 'self.n in self.numbers': 2 + 2 + 5,
    'self.s in ["a", "b"]': 2 + 12,
    'self.texts.join(",") == ""': 2 + 21 + 0, 'self.texts.isSorted()': 2 + 25, 'self.numbers.sum() == 1': 2 + 5 + 1,
    'sets.contains(self.texts, ["a", "b"])': 2 + 10 + 11, 'self.numbers.sort().size() == 1': 2 + 61 + 2,
    'self.numbers.slice(1, 3).size() == 2': 2 + 13 + 2, 'self.texts.distinct().size() == 1': 2 + 61 + 2,
    'self.s.split("a").all(x, x == "b")': 2 + 8 + 40 * (2 + 1 + 1 + 0) + 1,
    'self.s.replace("a", "bc").size() > 1': 2 + 8 + 2,
    'self.?n.optMap(x, x + 1).orValue(0) == 2': 3 + (10 + 3 + 2) + 1 + 1 + 1,
    'quantity(self.s).isLessThan(quantity("1"))': 2 + 4 + 1 + 1, 'self.either == "abc"': 2 + 1
  })
  for (const text of [
    '"a" + string(self.n) == "b"', "['a', 'b'].join(',') == ''", 'quantity("1") != quantity("2")', "['a'].isSorted()"
  ]) {
    t.ok(environment.compile(text).most > MAX / 100, text)
  }
  t.ok(environment.compile('"n is %d".format([self.n]) != ""').most < 100)
})

t.test('sizes are looked up where upstream looks them up', async t => {
  // The inner range and a field share a place, because the path of the variable does.
  const own = environmentOf(object({
    items: list(object({ f: list(string({ maxLength: 2 }), 3), g: integer }), 4),
    spec: object({ items: list(object({ f: list(string({ maxLength: 2 }), 3), g: string() }), 4) })
  }))
  t.equal(
    own.compile('self.items.all(x, x.f.all(y, y != "a"))').most, 2 + 4 * (2 + 1 + (2 + 3 * (2 + 1 + 1 + 1) + 1)) + 1
  )
  t.equal(
    own.compile('self.items.all(x, x.f.all(y, x.g > 1))').most, 2 + 4 * (2 + 1 + (2 + 0 + 1)) + 1,
    'counts as the size of g'
  )
  t.equal(
    own.compile('self.spec.items.all(x, x.f.all(y, x.g != ""))').most,
    3 + 4 * (2 + 1 + (2 + 3 * (2 + 1 + 2 + 0) + 1)) + 1, 'counts as that of f'
  )
})
