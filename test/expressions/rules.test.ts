import t, { type Test } from 'tap'
import { CostExceeded, Problem } from '../../expressions/program.js'
import { Fault, type Value } from '../../expressions/values.js'
import { readRule } from '../../schemas/custom/rule.js'
import { SchemaTypes } from '../../schemas/custom/schema-types.js'
import type { JSONSchemaProps } from '../../schemas/api/apiextensions/schemas.js'
import { finish } from '../../schemas/steps.js'

const string = { type: 'string' } as const
const integer = { type: 'integer' } as const
const list = (items: JSONSchemaProps, more: JSONSchemaProps = {}): JSONSchemaProps => ({
  type: 'array', items, ...more
})

/** A field of each kind. */
const SCHEMA: JSONSchemaProps = {
  type: 'object',
  properties: {
    n: integer, d: { type: 'number' }, s: string, b: { type: 'boolean' }, either: { 'x-orch-int-or-string': true },
    none: { ...string, nullable: true }, unset: string,
    list: list(integer), texts: list(string), set: list(string, { 'x-orch-list-type': 'set' }),
    keyed: list(
      { type: 'object', properties: { k: string, v: integer } },
      { 'x-orch-list-type': 'map', 'x-orch-list-map-keys': ['k'] }
    ),
    map: { type: 'object', additionalProperties: integer },
    bytes: { ...string, format: 'byte' }, date: { ...string, format: 'date' }, time: { ...string, format: 'date-time' },
    span: { ...string, format: 'duration' },
    'a.b-c/d__e': integer, namespace: string, 'not a name': string, free: { 'x-orch-preserve-unknown-fields': true },
    open: { type: 'object', 'x-orch-preserve-unknown-fields': true, properties: { a: integer } },
    inner: {
      type: 'object',
      'x-orch-embedded-resource': true,
      properties: { spec: { type: 'object', properties: { x: integer } } }
    }
  }
}
const OBJECT = {
  apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', generateName: 'g-', labels: { a: 'b' } },
  n: 3, d: 1.5, s: 'h\u00e9llo\u{1f600}', b: true, either: '50%', none: null, list: [3, 1, 2], texts: ['a', 'b'],
  set: ['a', 'b'], keyed: [{ k: 'x', v: 1 }, { k: 'y', v: 2 }], map: { one: 1, __proto__: null, two: 2 },
  bytes: 'aGk=', date: '2022-05-03', time: '2022-05-03T10:20:30.5Z', span: '1h30m', 'a.b-c/d__e': 7, namespace: 'ns',
  open: { a: 1, b: 2 }, inner: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { x: 1 } }
}
const type = new SchemaTypes().of(SCHEMA, true)
if (type === undefined) throw new Error('the schema has a type')

/** The result of a rule, `error: …` for one that fails, `refused: …` for one that does not compile. */
function run (rule: string, self: unknown = OBJECT, old: unknown = undefined): Value {
  try {
    const { value } = finish(readRule(rule, type as NonNullable<typeof type>).program.evaluate({ self, oldSelf: old }))
    return value instanceof Fault ? `error: ${value.message}` : value
  } catch (error) {
    if (error instanceof Problem) return `refused: ${error.message.split('\n')[0] ?? ''}`
    if (error instanceof CostExceeded) return 'too expensive'
    throw error
  }
}

const hold = (t: Test, rules: readonly string[]): void => { for (const rule of rules) t.equal(run(rule), true, rule) }
const fail = (t: Test, rules: ReadonlyArray<readonly [rule: string, problem: RegExp]>): void => {
  for (const [rule, problem] of rules) t.match(run(rule), problem, rule)
}

t.test('numbers have 64 bits, and overflow is an error', async t => {
  hold(t, [
    '1 + 2 * 3 == 7', '9007199254740993 != 9007199254740992', '18446744073709551615u > 1u',
    '7 / 2 == 3 && -7 / 2 == -3 && -7 % 2 == -1', '0x10 == 16', '1e2 == 100.0', '-9223372036854775808 < 0',
    'dyn(1) == dyn(1.0)', 'dyn(1) in [1.0, 2.0].map(x, dyn(x))', 'int("42") == 42 && int(2.9) == 2 && int(7u) == 7',
    'double("1.5") == 1.5 && double(2) == 2.0', 'uint(3) == 3u',
    'string(1.5) == "1.5" && string(12) == "12" && string(true) == "true"', 'bool("true")', '2.0 / 0.0 > 1e308'
  ])
  fail(t, [
    ['9223372036854775807 + 1 > 0', /^error: integer overflow/], ['-9223372036854775808 - 1 < 0', /overflow/],
    ['-(-9223372036854775807 - 1) > 0', /overflow/], ['1u - 2u == 0u', /overflow/],
    ['9223372036854775808 > 1', /^refused: .*invalid int literal/],
    ['1 / 0 == 1', /division by zero/], ['1 % 0 == 1', /modulus by zero/],
    ['int("9223372036854775808") == 1', /overflow/], ['int("x") == 1', /invalid syntax/],
    ['int(1e300) == 1', /overflow/], ['uint(-1) == 0u', /overflow/],
    ['1 == 1.0', /^refused: .*no matching overload for '_==_' applied to '\(int, double\)'/]
  ])
})

t.test('|| and && decide with one operand, whatever the other is', async t => {
  hold(t, [
    '(1/0 == 1) || true', 'true || (1/0 == 1)', '!((1/0 == 1) && false)', 'self.n < 2 ? 1/0 == 1 : true',
    '[1,0,2].exists(x, 2/x == 1)', '![0,1].all(x, 1/x > 2)'
  ])
  fail(t, [
    ['(1/0 == 1) && true', /division by zero/],
    ['(1/0 == 1) || false', /division by zero/],
    ['[0, 1].all(x, 1/x == 1)', /division by zero/],
    ['[0, 1].exists_one(x, 1/x == 1)', /division by zero/],
    ['[0].map(x, 1/x).size() == 1', /division by zero/]
  ])
})

t.test('macros visit lists, and the keys of maps', async t => {
  hold(t, [
    '[1,2,3].all(x, x > 0)', '![1,2,2].exists_one(x, x == 2)', '[1,2].exists_one(x, x == 2)',
    '[1,2].map(x, x*2) == [2,4]', '[1,2,3].filter(x, x > 1).size() == 2', '[1,2,3].map(x, x > 1, x * 10) == [20, 30]',
    '{"a":1,"b":2}.all(k, k in ["a","b"])', '{1: "a", 2: "b"}[1] == "a"', '{1:"a"}.exists(k, k == 1)',
    '[[1]].exists(x, x == [1])', '[1,2].all(x, [3,4].all(y, x < y))', 'self.map.all(k, self.map[k] > 0)',
    'has(self.n) && !has(self.unset)', '!has({"a":1}.b)', 'has({"a":{"b":1}}.a.b)', '"__proto__" in {"__proto__": 1}',
    '{"constructor": 1}.constructor == 1', '!("toString" in {"a": 1})'
  ])
  fail(t, [
    ['{"a":1}.b == 1', /^error: no such key: b/],
    ['has({"a":{"c":1}}.b.c)', /no such key: b/],
    ['self.list[3] == 1', /index out of bounds: 3/],
    ['self.unset == "a"', /no such key: unset/],
    ['has(self)', /^refused: .*invalid argument to has\(\) macro/],
    ['[1].all(self.n, true)', /^refused/],
    ['self.s.all(x, true)', /cannot be range of a comprehension/]
  ])
})

t.test('strings are counted in code points, bytes in bytes', async t => {
  hold(t, [
    'self.s.size() == 6', 'size(bytes(self.s)) == 10', 'b"abc" == bytes("abc")', 'string(b"abc") == "abc"',
    '"\\u00e9" == "\u00e9"', 'r"\\n".size() == 2', '"a" + "b" == "ab"', '"b" > "a"',
    '"abc".startsWith("ab") && "abc".endsWith("bc") && "abc".contains("b")',
    'self.s.charAt(5) == "\u{1f600}"', 'self.s.indexOf("\u{1f600}") == 5',
    '"hello hello".lastIndexOf("l") == 9 && "hello hello".lastIndexOf("l", 7) == 3 && "hello".indexOf("l", 3) == 3',
    '"AbC".lowerAscii() == "abc" && "AbC".upperAscii() == "ABC"', '" a ".trim() == "a"',
    '"a,b,c".split(",") == ["a", "b", "c"] && "a,b,c".split(",", 2) == ["a", "b,c"] && "ab".split("") == ["a", "b"]',
    '["a", "b"].join() == "ab" && self.texts.join(", ") == "a, b"',
    '"hello".substring(1, 3) == "el" && self.s.substring(5) == "\u{1f600}"',
    '"aaa".replace("a", "b") == "bbb" && "aaa".replace("a", "b", 2) == "bba" && "ab".replace("", "-") == "-a-b-"',
    '"abc".matches("^(a|b)+c$") && matches("abc", "b") && self.s.matches("^h.llo.$")',
    '!"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!".matches("^(a+)+$")',
    '"abc 123 de".find("[0-9]+") == "123" && "abc".find("x") == ""',
    '"a1b22".findAll("[0-9]+") == ["1", "22"] && "a1b22".findAll("[0-9]+", 1) == ["1"]'
  ])
  fail(t, [
    ['"abc".charAt(4) == ""', /index out of range: 4/],
    ['"a".matches("(?=a)")', /^refused: .*invalid matches argument/],
    ['"a".matches("(?=a)" + "b")', /error parsing regexp/],
    ['"a".find("(") == ""', /^refused: program instantiation failed/],
    ['self.s.matches("(a{1,1000}){1,1000}")', /^refused: .*invalid matches argument/],
    ['"a".find("(a{1,1000}){1,1000}") == ""', /^refused: program instantiation failed: the pattern is too large/],
    ['string(b"\\xff") == ""', /invalid UTF-8/],
    ['"a" in "abc"', /^refused: .*no matching overload for '@in'/]
  ])
})

t.test('timestamps and durations have nanoseconds', async t => {
  hold(t, [
    'timestamp("2022-01-01T00:00:00.123456789Z") > timestamp("2022-01-01T00:00:00.123456788Z")',
    'timestamp("2022-01-01T00:00:00Z") + duration("24h") == timestamp("2022-01-02T00:00:00Z")',
    'timestamp("2022-01-02T00:00:00Z") - timestamp("2022-01-01T00:00:00Z") == duration("24h")',
    'timestamp("2022-03-04T05:06:07Z").getMonth() == 2 && timestamp("2022-03-04T05:06:07Z").getDayOfYear() == 62 && ' +
    'timestamp("2022-03-04T05:06:07Z").getDate() == 4 && timestamp("2022-03-04T05:06:07Z").getDayOfMonth() == 3 && ' +
    'timestamp("2022-03-04T05:06:07Z").getDayOfWeek() == 5',
    'timestamp("2022-03-04T05:06:07Z").getHours("+02:00") == 7 && ' +
    'timestamp("2022-07-04T05:06:07Z").getHours("America/New_York") == 1',
    'duration("1h30m").getMinutes() == 90 && duration("1.5s").getMilliseconds() == 1500',
    'duration("-1.5s") < duration("0s")', 'duration("1s") + duration("1ns") > duration("1s")',
    'string(duration("90s")) == "90s" && string(duration("-1500ms")) == "-1.5s" && ' +
    'string(timestamp("2022-01-01T00:00:00.5Z")) == "2022-01-01T00:00:00.5Z"',
    'int(timestamp("1970-01-01T00:01:00Z")) == 60', 'type(self.time) == google.protobuf.Timestamp'
  ])
  fail(t, [
    ['timestamp("2022-13-01T00:00:00Z") > timestamp(0)', /^refused: .*invalid timestamp argument/],
    ['duration("1x") > duration("1s")', /^refused: .*invalid duration argument/],
    ['timestamp("2022-13-01" + "T00:00:00Z") > timestamp(0)', /^error: parsing time/],
    ['duration("1" + "x") > duration("1s")', /^error: time: invalid duration/],
    ['timestamp("2022-01-01T00:00:00Z").getHours("Nowhere/Else") == 1', /unknown time zone/],
    ['timestamp("9999-12-31T23:59:59Z") + duration("1h") > timestamp(0)', /overflow/]
  ])
})

t.test('lists can be sorted, summed and searched', async t => {
  hold(t, [
    '[1, 2, 2].isSorted() && !self.list.isSorted()',
    'self.list.sum() == 6 && [1.5, 2.5].sum() == 4.0 && [duration("1s"), duration("2s")].sum() == duration("3s")',
    'self.list.min() == 1 && self.list.max() == 3 && ["b", "a"].min() == "a"',
    'self.list.indexOf(1) == 1 && [1, 2, 1].lastIndexOf(1) == 2 && self.list.indexOf(9) == -1',
    '[1, 2] + [3] == [1, 2, 3]', '1 in self.list && !(9 in self.list) && "one" in self.map'
  ])
  fail(t, [
    ['self.list.filter(x, x > 9).min() == 1', /min called on empty list/],
    ['["a"].sum() == "a"', /^refused: .*no matching overload for 'sum'/]
  ])
})

t.test('URLs have parts', async t => {
  hold(t, [
    'isURL("https://example.com:80/a?b=c") && isURL("/a") && !isURL("../a") && !isURL("https://a:b")',
    'url("https://example.com:8080/a%20b?k=v&k=w").getPort() == "8080"',
    'url("https://[::1]:80/").getHostname() == "::1" && url("http://example.com/").getScheme() == "http" && ' +
    'url("http://example.com:81/").getHost() == "example.com:81"',
    'url("https://example.com/a%20b").getEscapedPath() == "/a%20b"',
    'url("https://e.com/?k=v&k=w+x").getQuery() == {"k": ["v", "w x"]}'
  ])
  fail(t, [['url("../a").getHost() == ""', /URL parse error/]])
})

t.test('fields are visible as their schema says', async t => {
  hold(t, [
    'self.n == 3 && self.d == 1.5 && self.b', 'self.__namespace__ == "ns"',
    'self.a__dot__b__dash__c__slash__d__underscores__e == 7',
    'self.kind == "Widget" && self.apiVersion == "example.com/v1" && self.metadata.name == "w" && ' +
    'self.metadata.generateName == "g-"',
    'self.inner.metadata.name == "p" && self.inner.kind == "Pod" && self.inner.spec.x == 1',
    'type(self.either) == string && self.either.endsWith("%")', '!has(self.none) && !self.?none.hasValue()',
    'self.bytes == b"hi" && size(self.bytes) == 2',
    'self.date < self.time && self.date == timestamp("2022-05-03T00:00:00Z")', 'self.span == duration("90m")',
    'self.map.one == 1 && self.map["two"] == 2 && size(self.map) == 2', 'has(self.open.a)', 'self.open == self.open'
  ])
  fail(t, [
    ['self.metadata.labels["a"] == "b"', /^refused: .*undefined field 'labels'/],
    ['self.free == 1', /undefined field 'free'/], ['self.open.b == 2', /undefined field 'b'/],
    ['self["n"] == 3', /no matching overload for '_\[_\]'/], ['self.nothing', /undefined field 'nothing'/],
    ['nothing == 1', /undeclared reference to 'nothing' \(in container ''\)/],
    ['self.n', /must evaluate to a bool/], [
      'self.n + "a" == "a"', /no matching overload for '_\+_' applied to '\(int, string\)'/
    ], [
      '[1, "a"].size() == 2', /expected type 'int' but found 'string'/
    ], [
      'self.s.nothing()', /undeclared reference to 'nothing'/
    ], [
      'self.n.a == 1', /type 'int' does not support field selection/
    ], [
      'self.either < true', /^error: no such overload/
    ], ['self.none == "a" || self.none.size() > 3', /no such key: none/]
  ])
  t.match(run('self.n == 1', { ...OBJECT, n: 'x' }), /invalid data, expected an integer/)
  for (const [span, same] of [
    ['1d', '24h'], ['2 weeks 3 Days', '408h'], ['90 min', '1h30m'], ['5 micros', '5us'], ['-1.5h', '-90m']
  ] as const) {
    t.equal(run(`self.span == duration('${same}')`, { span }), true, span)
  }
  t.match(run('self.span > duration("1s")', { span: `${'9'.repeat(20)} weeks` }), /Invalid duration/)
  t.match(run('self.s == ""', { ...OBJECT, s: null }), /no such key: s/)
})

t.test('sets and lists with keys are equal and joined by their items', async t => {
  const self = { set: ['b', 'a'], keyed: [{ k: 'y', v: 2 }, { k: 'x', v: 1 }] }
  t.equal(run('self.set == oldSelf.set && self.keyed == oldSelf.keyed', self, OBJECT), true)
  t.equal(run('self.set == oldSelf.set', { set: ['a', 'c'] }, OBJECT), false)
  t.equal(run('self.list == oldSelf.list', { list: [1, 2, 3] }, OBJECT), false)
  hold(t, ['self.set + ["b", "c"] == ["c", "a", "b"]', '(self.keyed + self.keyed).size() == 2'])
})

t.test('a rule is a transition rule if it reads the old value', async t => {
  const isTransition = (rule: string): boolean => readRule(rule, type).isTransition
  t.equal(isTransition('self.n >= oldSelf.n'), true)
  t.equal(isTransition('self.n >= 1'), false)
  t.equal(isTransition('[1].all(oldSelf, oldSelf > self.n) || oldSelf.n > 1'), true)
})

t.test('problems name their place', async t => {
  t.throws(
    () => readRule('self.n >\n  self.missing', type),
    { message: "ERROR: <input>:2:7: undefined field 'missing'\n |   self.missing\n | ......^" }
  )
  fail(t, [
    ['self.n >', /^refused: ERROR: <input>:1:9: Syntax error/],
    ['self.n == 1)', /Syntax error/],
    ['"a', /Syntax error/],
    ['', /Syntax error/],
    ['Foo{a: 1} == 1', /undeclared reference to 'Foo'/],
    ['self.?n == 1', /'_==_' applied to '\(optional_type\(int\), int\)'/],
    ['self.namespace == namespace', /reserved identifier: namespace/],
    ['int{}', /'int' is not a message type/],
    ['1e999 > 1.0', /invalid double literal/],
    ['[].map(x, [].map(y, x in y && y in x)) == []', /'@in' applied to '\(list\(dyn\), dyn\)'/],
    ['int(-9223372036854775808.0) == 0', /integer overflow/],
    ['self..n', /Syntax error: mismatched input '\.' expecting IDENTIFIER/],
    ['cel.bind(x, 1, x == 1)', /undeclared reference to 'cel'/]
  ])
})

t.test('the cost of a rule is estimated from the bounds of its schema', async t => {
  const cost = (rule: string, schema: JSONSchemaProps): number =>
    readRule(rule, new SchemaTypes().of(schema) ?? type).program.most
  const strings = (maxItems?: number, maxLength?: number): JSONSchemaProps =>
    list({ ...string, ...(maxLength === undefined ? {} : { maxLength }) }, maxItems === undefined ? {} : { maxItems })
  t.ok(cost('self.all(x, x.contains("a"))', strings(10, 10)) < 200)
  t.ok(cost('self.all(x, x.contains("a"))', strings()) > 10_000_000)
  t.ok(cost('self.all(x, self.all(y, x == y))', list(integer)) > 1e9)
  t.ok(cost('self.all(x, self.all(y, x == y))', list(integer, { maxItems: 100 })) < 100_000)
})

t.test('no rule holds the event loop or grows without bound', async t => {
  const long = (length: number): unknown => ({
    ...OBJECT,
    list: Array.from({ length }, (_, index) => index),
    s: 'a'.repeat(1_000_000),
    texts: Array.from({ length: 1000 }, () => 'a'.repeat(1000))
  })
  for (const rule of [
    'self.list.all(x, self.list.all(y, x + y >= 0))',
    'self.list.exists(x, self.list.exists(y, self.list.exists(z, x + y + z < 0)))',
    'self.list.map(x, self.list).all(l, l.all(x, x >= 0))', 'self.s.replace("a", self.s).size() > 1',
    'self.texts.map(x, self.s).join().size() > 1',
    `[self.s]${'.map(x, x + x)'.repeat(20)}.size() == 1`, 'self.list.all(x, !self.s.contains("aaaaaaaaab"))',
    '"a".matches(self.texts.join())', 'self.s.matches("(a{1,30}){1,30}b$")',
    'self.list.all(x, self.list == self.list.map(y, y))', 'self.list.sort().size() > 1',
    'self.list.distinct().size() > 1', 'self.list.sortBy(x, -x).size() > 1'
  ]) {
    let steps = 0
    try {
      for (const evaluation =
        readRule(rule, type).program.evaluate({ self: long(20_000) }); evaluation.next().done !== true;) {
        steps++
      }
      t.fail(`${rule} ended`)
    } catch (error) {
      t.ok(error instanceof CostExceeded, rule)
      t.ok(steps < 10_000, `${rule}: ${steps}`)
    }
  }
  for (const rule of [
    '('.repeat(5000), `${'('.repeat(5000)}1${')'.repeat(5000)} == 1`, '['.repeat(5000), `${'1 + '.repeat(4000)}1 == 1`,
    'self' + '.all(x, self'.repeat(500), 'a'.repeat(200_000),
    `${'self.either.optMap(x, '.repeat(400)}1${')'.repeat(400)} == 1`, '{1:'.repeat(2000),
    `self.list${'.map(x, x)'.repeat(600)}.size() == 1`, 'true ? '.repeat(1000) + 'true'
  ]) {
    t.match(run(rule), /^refused/, rule.slice(0, 20))
  }
})
