import t, { type Test } from 'tap'
import { Authorizer, Check, type Asked } from '../../expressions/authorizer.js'
import { DeferredFields, toJson } from '../../expressions/from-json.js'
import { Environment, CostExceeded, Problem, type Options } from '../../expressions/program.js'
import { BOOL, DYN, INT, listOf, mapOf, objectOf, STRING, type Type } from '../../expressions/types.js'
import { Deferred, Fault, type Value } from '../../expressions/values.js'
import { finish, type WaitingSteps } from '../../schemas/steps.js'

const VARIABLES: Record<string, Type> = {
  texts: listOf(STRING), numbers: listOf(INT), dict: mapOf(STRING, INT), text: STRING, either: DYN, any: DYN,
  object: objectOf({ a: INT, b: STRING, flag: BOOL })
}
const VALUES = {
  texts: ['b', 'a', 'b'],
  numbers: [3, 1, 2],
  dict: { one: 1, two: 2 },
  text: 'h\u00e9llo',
  either: 3,
  any: { list: [1, { x: 1.5 }], none: null },
  object: { a: 1 }
}
const environment = new Environment(VARIABLES)

/** The JSON of a result, `error: …` for one that fails, `refused: …` for one that does not compile. */
function run (text: string, own: Environment = environment, values: Record<string, unknown> = VALUES): unknown {
  try {
    const { value } = finish(own.compile(text).evaluate(values))
    return value instanceof Fault ? `error: ${value.message}` : toJson(value)
  } catch (error) {
    if (error instanceof Problem) return `refused: ${error.message.split('\n')[0] ?? ''}`
    if (error instanceof CostExceeded) return 'too expensive'
    throw error
  }
}
const hold = (t: Test, texts: readonly string[]): void => { for (const text of texts) t.equal(run(text), true, text) }
const fail = (t: Test, texts: ReadonlyArray<readonly [string, RegExp]>): void => {
  for (const [text, problem] of texts) t.match(run(text), problem, text)
}

t.test('optional values are there or not', async t => {
  hold(t, [
    'object.?a.hasValue() && !object.?b.hasValue()', 'object.?a.orValue(5) == 1 && object.?b.orValue("x") == "x"',
    'object.?a == optional.of(1) && object.?b == optional.none()',
    'dict[?"one"].value() == 1 && !dict[?"three"].hasValue() && !numbers[?3].hasValue() && numbers[?0].value() == 3',
    'optional.of(1).optMap(x, x + 1).value() == 2 && !object.?b.optMap(x, x + "y").hasValue()',
    'optional.of(1).optFlatMap(x, optional.of(x + 1)) == optional.of(2)',
    '!optional.ofNonZeroValue(0).hasValue() && !optional.ofNonZeroValue("").hasValue() && ' +
    'optional.ofNonZeroValue([1]).hasValue()',
    'object.?b.or(optional.of("z")).value() == "z"', 'object.?b.or(object.?b).orValue("q") == "q"',
    '[?object.?a, ?optional.none(), 2] == [1, 2]', '{?"a": object.?a, ?"b": optional.none()} == {"a": 1}',
    'numbers.first().value() == 3 && numbers.last().value() == 2 && ![].first().hasValue()',
    'optional.unwrap([optional.of(1), optional.none()]) == [1] && [optional.none(), optional.of(2)].unwrapOpt() == [2]',
    'any.?list[?1].?x.orValue(0) == 1.5 && !any.?missing.?deeper.hasValue()', 'any.?none.hasValue()',
    'has(object.a) && has(optional.of(object).a)', 'optional.of(dict).one.value() == 1'
  ])
  fail(t, [
    ['object.?b.value() == ""', /^error: optional.none\(\) dereference/],
    ['object.?c.hasValue()', /^refused: .*undefined field 'c'/],
    ['object.?a + 1 == 2', /^refused/],
    ['optional.of(1).orValue("x") == 1', /^refused: .*no matching overload for 'orValue'/]
  ])
})

t.test('comprehensions have an index or key, and a value', async t => {
  hold(t, [
    'texts.all(i, v, i < 3 && v != "")', 'texts.exists(i, v, i == 1 && v == "a")',
    'texts.existsOne(i, v, v == "a") && !texts.exists_one(i, v, v == "b")', 'dict.all(k, v, k.size() == 3 && v > 0)',
    'texts.transformList(i, v, string(i) + v) == ["0b", "1a", "2b"] && ' +
    'texts.transformList(i, v, i > 0, v) == ["a", "b"]',
    'dict.transformMap(k, v, v + 1) == {"one": 2, "two": 3} && dict.transformMap(k, v, v > 1, k) == {"two": "two"}',
    'texts.transformMap(i, v, v) == {0: "b", 1: "a", 2: "b"}',
    'dict.transformMapEntry(k, v, {v: k}) == {1: "one", 2: "two"} && ' +
    'dict.transformMapEntry(k, v, v == 1, {v: k}) == {1: "one"}'
  ])
  fail(t, [
    ['texts.transformMapEntry(i, v, {v: i}).size() == 2', /^error: insert failed: key b already exists/],
    ['texts.existsOne(v, v == "a")', /^refused: .*undeclared reference/],
    ['texts.all(i, i, true)', /^refused: .*duplicate variable/],
    ['texts.all(1, v, true)', /^refused: .*argument is not an identifier/]
  ])
})

t.test('numbers of different types have an order, but no equality', async t => {
  hold(t, [
    'double("-Infinity") < 0.0 && double("NaN") != double("NaN")',
    '"%.0f %.0f %.1f".format([2.5, 3.5, 0.25]) == "2 4 0.2"', '1 < 1.5 && 2u > 1 && 2.5 >= 2u && 1.0 <= 1',
    '9007199254740993 > 9007199254740992.0'
  ])
  fail(t, [['1 == 1.0', /^refused/], ['1 < "a"', /^refused/], ['1 + 1.0 == 2.0', /^refused/]])
})

t.test('lists are cut, joined, ordered and made', async t => {
  hold(t, [
    '[].sort() == [].sortBy(x, x) && [].sort() != [1]', 'numbers.slice(1, 3) == [1, 2] && numbers.slice(0, 0) == []',
    '[[1, 2], [3]].flatten() == [1, 2, 3]', 'lists.range(3) == [0, 1, 2] && lists.range(0) == []',
    'numbers.sort() == [1, 2, 3] && texts.sort() == ["a", "b", "b"]', 'numbers.reverse() == [2, 1, 3]',
    'texts.distinct() == ["b", "a"]',
    'texts.sortBy(x, x) == ["a", "b", "b"] && numbers.sortBy(x, -x) == [3, 2, 1]',
    '[dyn([1]), dyn([2, 3])].flatten(1).size() == 3', '[1, 2, 2].distinct().size() == 2',
    '[{"a": 1}, {"a": 1}].distinct().size() == 1',
    'numbers.sum() == 6 && [1, 2].isSorted() && numbers.max() == 3 && texts.indexOf("a") == 1 && ' +
    'texts.lastIndexOf("b") == 2'
  ])
  fail(t, [
    ['numbers.slice(2, 1).size() == 0', /^error: cannot slice\(2, 1\), start index/],
    ['numbers.slice(-1, 1).size() == 0', /negative indexes/],
    ['numbers.slice(0, 9).size() == 0', /list is length 3/],
    ['lists.range(2000000).size() > 1', /too expensive/],
    ['[[1]].flatten(-1).size() == 1', /level must be non-negative/],
    ['[object].sort() == [object]', /^refused/],
    ['[].sort() == [true]', /^refused: .*applied to '\(list\(int\), list\(bool\)\)'/],
    ['[].min() == "a"', /^refused/]
  ])
})

t.test('sets are lists without order', async t => {
  hold(t, [
    'sets.contains([1, 2, 3], [3, 1]) && !sets.contains([1], [2]) && sets.contains([], [])',
    'sets.equivalent([1, 1, 2], [2, 1]) && !sets.equivalent([1], [1, 2])',
    'sets.intersects([1, 2], [2, 3]) && !sets.intersects([1], []) '
  ])
})

t.test('texts are formatted and quoted', async t => {
  hold(t, [
    '"%s is %d".format(["n", 3]) == "n is 3"',
    '"%s %s %s %s".format([true, null, 1.5, [1, "a", 2.5]]) == "true null 1.5 [1, \\"a\\", 2.500000]"',
    '"%.2f|%f|%e".format([1.005, 1234.5, 1052.633]) == "1.00|1,234.500000|1.052633\u202f\u00d7\u202f10\u2070\u00b3"',
    '"%x %X %o %b %%".format([255, "az", 8, 5]) == "ff 617A 10 101 %"',
    '"%s".format([{"b": 1, "a": duration("1s")}]) == "{\\"a\\":duration(\\"1s\\"), \\"b\\":1}"',
    '"%s %s".format([duration("90s"), type(1)]) == "90s int"',
    'strings.quote("a\\n\\"b\\"") == "\\"a\\\\n\\\\\\"b\\\\\\"\\""', '"a".charAt(1) == "" && "ab".substring(1) == "b"'
  ])
  fail(t, [
    ['"%d".format(["x"]) == ""', /^error: could not parse formatting clause: error during formatting: decimal clause/],
    ['"%d %d".format([1]) == ""', /out of range/],
    ['"%q".format([1]) == ""', /unrecognized formatting clause "q"/]
  ])
})

t.test('addresses and networks are values', async t => {
  hold(t, [
    'ip("127.0.0.1").family() == 4 && ip("::1").family() == 6',
    'isIP("10.0.0.1") && !isIP("10.0.0.01") && !isIP("::ffff:1.2.3.4") && !isIP("fe80::1%eth0") && !isIP("")',
    'ip.isCanonical("2001:db8::abcd") && !ip.isCanonical("2001:DB8::ABCD") && !ip.isCanonical("2001:db8:0:0::abcd")',
    'string(ip("2001:DB8:0:0:1:0:0:0")) == "2001:db8:0:0:1::" && string(ip("::")) == "::"',
    'ip("0.0.0.0").isUnspecified() && ip("::1").isLoopback() && ip("127.9.9.9").isLoopback()',
    'ip("224.0.0.1").isLinkLocalMulticast() && ip("ff02::1").isLinkLocalMulticast() && ' +
    'ip("169.254.1.1").isLinkLocalUnicast() && ip("fe80::1").isLinkLocalUnicast()',
    'ip("10.0.0.1").isGlobalUnicast() && !ip("255.255.255.255").isGlobalUnicast() && ' +
    '!ip("ff05::1").isGlobalUnicast() && ip("2001:db8::1").isGlobalUnicast()',
    'ip("::1") == ip("0:0:0:0:0:0:0:1") && ip("10.0.0.1") != ip("10.0.0.2")',
    'cidr("192.168.1.7/24").containsIP("192.168.1.200") && cidr("192.168.0.0/16").containsIP(ip("192.168.9.9")) && ' +
    '!cidr("10.0.0.0/8").containsIP("11.0.0.1")',
    'cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16") && !cidr("10.1.0.0/16").containsCIDR(cidr("10.0.0.0/8")) && ' +
    'cidr("::/0").containsCIDR("2001:db8::/32")',
    'cidr("192.168.1.7/24").masked() == cidr("192.168.1.0/24") && cidr("192.168.1.7/24").ip() == ip("192.168.1.7") ' +
    '&& cidr("::/64").prefixLength() == 64 && string(cidr("10.0.0.0/8")) == "10.0.0.0/8"',
    'isCIDR("10.0.0.0/8") && !isCIDR("10.0.0.0/33") && !isCIDR("10.0.0.0/08") && !isCIDR("10.0.0.0")',
    'type(ip("::1")) == net.IP && type(cidr("::/1")) == net.CIDR'
  ])
  fail(t, [
    ['ip("1.2.3").family() == 4', /^error: IP Address/], ['cidr("x").prefixLength() == 1', /^error: network address/]
  ])
})

t.test('quantities are compared and added', async t => {
  hold(t, [
    'quantity("50k") == quantity("50000") && quantity("1Gi").isGreaterThan(quantity("1G")) && ' +
    'quantity("1").isLessThan(quantity("2"))',
    'quantity("1").compareTo(quantity("1000m")) == 0 && quantity("5").compareTo(quantity("6")) == -1',
    'quantity("50k").add(20) == quantity("50020") && quantity("50k").add(quantity("20")).sub(quantity("20")) == ' +
    'quantity("50k") && quantity("50k").sub(50000) == quantity("0")',
    'isQuantity("1.3Gi") && !isQuantity("1.3 Gi") && !isQuantity("200K")',
    'sign(quantity("-1")) == -1 && quantity("1").sign() == 1',
    'quantity("50k").isInteger() && quantity("50k").asInteger() == 50000 && !quantity("50.7").isInteger() && ' +
    'quantity("50.703").asApproximateFloat() == 50.703',
    'type(quantity("1")) == orch.Quantity'
  ])
  fail(t, [
    ['quantity("x").isInteger()', /^error: quantities must match/],
    ['quantity("0.5").asInteger() == 0', /cannot convert value to integer/]
  ])
})

t.test('versions are compared', async t => {
  hold(t, [
    'semver("1.2.3").major() == 1 && semver("1.2.3").minor() == 2 && semver("1.2.3").patch() == 3',
    'semver("1.2.3").isGreaterThan(semver("1.2.3-rc.1")) && ' +
    'semver("1.0.0-alpha.2").isLessThan(semver("1.0.0-alpha.10")) && semver("1.0.0-1").isLessThan(semver("1.0.0-a"))',
    'semver("1.2.3").compareTo(semver("1.2.3+build")) == 0 && semver("1.2.3") == semver("1.2.3+b")',
    'isSemver("1.2.3-a.b+c") && !isSemver("1.2") && !isSemver("v1.2.3") && !isSemver("01.2.3")',
    'isSemver("v1.2", true) && semver("v01.2", true) == semver("1.2.0") && isSemver("1", true)'
  ])
  fail(t, [['semver("1").major() == 1', /^error: No Major.Minor.Patch/]])
})

t.test('formats have names', async t => {
  hold(t, [
    '!format.dns1123Label().validate("my-label").hasValue() && ' +
    'format.dns1123Label().validate("My").value()[0].contains("RFC 1123")',
    'format.named("uuid").hasValue() && !format.named("nothing").hasValue() && ' +
    'format.named("dns1123Label").value() == format.dns1123Label()',
    '!format.dns1123LabelPrefix().validate("a-").hasValue() && format.labelValue().validate("-").hasValue() && ' +
    '!format.qualifiedName().validate("a.b/c").hasValue()',
    '!format.uri().validate("https://a/b").hasValue() && format.uri().validate("a").value() == ["invalid URI"]',
    'format.uuid().validate("x").value() == ["does not match the UUID format"] && ' +
    'format.byte().validate("=").value() == ["invalid base64"] && format.date().validate("2021-13-01").value() == ' +
    '["invalid date"] && format.datetime().validate("x").value() == ["invalid datetime"]'
  ])
})

t.test('any JSON can be read', async t => {
  t.same(run('any'), VALUES.any)
  hold(t, [
    'any.list[1].x == 1.5 && any.list[0] == 1 && any.none == null', 'type(any) == map && type(any.list) == list',
    'either == 3 && either < 3.5', 'any.list.exists(x, x == 1)'
  ])
  fail(t, [['any.missing == 1', /^error: no such key: missing/], ['any.list.x == 1', /^error: no such overload/]])
})

t.test('what only some environments know is refused in others', async t => {
  const options: Options = {
    functions: ['cel.bind', 'includes', 'jsonpatch.escapeKey'],
    structs: {
      Object: objectOf({ spec: objectOf({ n: INT, __dash__x: STRING }, 'Object.spec') }, 'Object'), 'Object.spec': DYN
    }
  }
  const spec = options.structs?.['Object']?.fields?.get('spec')?.type ?? DYN
  const own = new Environment(VARIABLES, { ...options, structs: { ...options.structs, 'Object.spec': spec } })
  t.equal(run('cel.bind(x, numbers.size(), x * x)', own), 9)
  t.equal(run('dyn(numbers).includes(1) && !dyn(1).includes(2)', own), true)
  t.equal(run('jsonpatch.escapeKey("a/b~c")', own), 'a~1b~0c')
  t.same(run('Object{spec: Object.spec{n: 1, ?__dash__x: optional.none()}}', own), { spec: { n: 1 } })
  t.same(run('Object{spec: Object.spec{__dash__x: "y"}}', own), { spec: { '-x': 'y' } })
  t.match(
    run('Object{spec: Object.spec{n: "x"}}', own),
    /refused: .*expected type of field 'n' is 'int' but provided type is 'string'/
  )
  t.match(run('Object{status: 1}', own), /refused: .*undefined field 'status'/)
  for (const text of ['cel.bind(x, 1, x)', 'dyn(1).includes(1)', 'jsonpatch.escapeKey("a")', 'Object{}']) {
    t.match(run(text), /^refused: .*undeclared reference/, text)
  }
})

t.test('an authorizer is asked, and may be waited for', async t => {
  const asked: Array<[Asked, string]> = []
  const ask = (what: Asked, verb: string) => {
    asked.push([what, verb])
    return what.name === 'broken'
      ? Promise.reject(new Error('no answer'))
      : Promise.resolve({ allowed: verb === 'get', reason: 'because' })
  }
  const own = new Environment({
    authorizer: { kind: 'authorizer' }, 'authorizer.requestResource': { kind: 'resource_check' }
  })
  const decide = async (text: string): Promise<Value> => {
    const steps: WaitingSteps<{ value: Value }> = own.compile(text).waiting({
      authorizer: new Authorizer(ask),
      'authorizer.requestResource': new Check('resource_check', ask, { resource: 'pods', namespace: 'ns' })
    })
    for (;;) {
      const { done, value } = steps.next()
      if (done === true) return value.value
      await value
    }
  }
  t.equal(await decide('authorizer.path("/healthz").check("get").allowed()'), true)
  t.equal(
    await decide(
      'authorizer.group("apps").resource("deployments").subresource("scale").namespace("ns").name("n")' +
      '.fieldSelector("a=b").labelSelector("c").check("update").allowed()'
    ),
    false
  )
  t.equal(
    await decide('authorizer.serviceAccount("ns", "sa").group("").resource("pods").check("get").reason()'), 'because'
  )
  t.equal(
    await decide(
      'authorizer.requestResource.check("get").allowed() && !authorizer.requestResource.check("get").errored()'
    ),
    true
  )
  t.equal(
    await decide(
      'authorizer.requestResource.name("broken").check("get").errored() ? ' +
      'authorizer.requestResource.name("broken").check("get").error() : ""'
    ),
    'no answer'
  )
  t.same(asked.slice(0, 3), [
    [{ path: '/healthz' }, 'get'],
    [
      {
        group: 'apps',
        resource: 'deployments',
        subresource: 'scale',
        namespace: 'ns',
        name: 'n',
        fieldSelector: 'a=b',
        labelSelector: 'c'
      },
      'update'
    ],
    [{ serviceAccount: { namespace: 'ns', name: 'sa' }, group: '', resource: 'pods' }, 'get']
  ])
  await t.rejects(decide(
    'authorizer.path("/a").check("get").allowed() && authorizer.path("/b").check("get").allowed() && ' +
    'authorizer.path("/c").check("get").allowed()'
  ))
  t.throws(() => own.compile('authorizer.path("/a").resource("x")'), /no matching overload for 'resource'/)
})

t.test('members that are deferred are evaluated once, when they are read', async t => {
  const evaluated: string[] = []
  const variables: Type = { ...objectOf({ one: INT, two: INT }), deferred: true }
  const own = new Environment({ variables })
  const later = (name: string, value: bigint): [string, Deferred] => [name, new Deferred(function * () {
    evaluated.push(name)
    yield
    return value
  })]
  const fields = new DeferredFields(new Map([later('one', 1n), later('two', 2n)]))
  t.equal(
    run(
      'variables.one == 1 && variables.one + variables.one == 2 && (true || variables.two == 2)', own,
      { variables: fields }
    ),
    true
  )
  t.same(evaluated, ['one'])
})

t.test('texts and lists that upstream charges little for are bounded together', async t => {
  const own = new Environment({ list: listOf(INT), text: STRING })
  const values = { list: Array.from({ length: 50_000 }, (_, index) => index), text: 'x'.repeat(100_000) }
  for (const text of ['list.map(x, "%s".format([list])).size() > 0', 'list.map(x, "%s".format([text])).size() > 0']) {
    t.equal(run(text, own, values), 'too expensive', text)
  }
  t.equal(run('list.map(x, list + list)[9][99999]', own, values), 49_999, 'lists are joined without a copy')
})

t.test('a query with very many values of one name is read once', async t => {
  const own = new Environment({ text: STRING })
  t.equal(run('url(text).getQuery()["a"].size()', own, { text: `http://h/?${'a=1&'.repeat(150_000)}` }), 150_000)
})

t.test('letters beyond ASCII keep their case, and quotes are escaped once', async t => {
  hold(t, [
    '"A\u00c4Z\u0141@[`{".lowerAscii() == "a\u00c4z\u0141@[`{"',
    '"a\u00e4z\u0161@[`{".upperAscii() == "A\u00e4Z\u0161@[`{"',
    String.raw`strings.quote("\"\n\\n") == "\"\\\"\\n\\\\n\""`
  ])
})
