import t from 'tap'
import { parseJson, UNBOUNDED } from '../../../../schemas/codec/json/parse.js'
import { MAX_MEMBERS, MAX_VALUES } from '../../../../schemas/limits.js'
import { inOrderOfText } from '../../../../schemas/codec/json/repeated-keys.js'

const parse = (text: string | Uint8Array) => parseJson(typeof text === 'string' ? Buffer.from(text) : text)
const refused = (t: { throws: typeof import('tap')['throws'] }, input: string | Uint8Array, expected: RegExp) =>
  t.throws(() => parse(input), { name: 'DecodeError', message: expected })

t.test('values are those of JSON.parse', async t => {
  for (const text of [
    '{}', '[]', 'null', '1.5e3', '"x"', '{"a":[{"b":"c\\"}{,:[]"},1,true,null]}', ' {"a" : {"b" : [ ] } } '
  ]) {
    t.same(parse(text), { value: JSON.parse(text), duplicates: [] }, text)
  }
})

t.test('invalid JSON is refused, and the text is not repeated', async t => {
  for (const [text, expected] of [
    ['', /not valid JSON: it is empty/],
    ['{"a":', /it ends in the middle of a value/],
    ['{"secret":hunter2}', /not valid JSON: it holds an unexpected character/],
    ['{"a":1}}', /not valid JSON: something unexpected at character 7/],
    ['{"a":1,}', /not valid JSON/],
    ["{'a':1}", /not valid JSON/],
    ['{"a":"\u0000"}', /not valid JSON/],
    ['{"a":1}\u0000', /not valid JSON/],
    ['\ufeff{}', /byte order mark/]
  ] as const) refused(t, text, expected)
  try {
    parse('{"secret":hunter2}')
    t.fail('was taken')
  } catch (error) {
    t.notMatch((error as Error).message, 'hunter')
  }
})

t.test('bytes that are not UTF-8 are refused', async t => {
  refused(t, Buffer.from([0x22, 0xff, 0x22]), /not valid UTF-8/)
  refused(t, Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), /not valid UTF-8/)
  refused(t, Buffer.from('"ab', 'utf16le'), /JSON|UTF-8/)
})

t.test('deep nesting is refused at once, a thousand levels are not', async t => {
  refused(t, '['.repeat(100_000), /nests more than 1000 levels deep/)
  refused(t, '{"a":'.repeat(100_000), /nests more than 1000 levels deep/)
  refused(t, '['.repeat(1001) + ']'.repeat(1001), /nests more than 1000 levels deep/)
  t.ok(parse('['.repeat(1000) + ']'.repeat(1000)))
  t.ok(parse(`"${'['.repeat(100_000)}"`), 'brackets in text nest nothing')
})

t.test('repeated keys are reported by path; the last one counts', async t => {
  t.same(parse('{"a":1,"a":2}'), { value: { a: 2 }, duplicates: ['a'] })
  t.same(
    parse('{"x":{"y":[{"k":1},{"k":1,"\\u006b" : {"z":1,"z":[]}, "k":"}{"}]},"m":{"k":1}}').duplicates,
    ['x.y[1].k', 'x.y[1].k.z', 'x.y[1].k']
  )
  t.same(parse('{"__proto__":1,"__proto__":2}').duplicates, ['__proto__'])
  t.same(parse('{"1":1,"2":2,"1":3}').duplicates, ['1'])
  t.same(parse('{"a":{"b":1},"c":{"b":1}}').duplicates, [], 'the same key in another object is no duplicate')
  t.equal(parse(`{${'"a":1,'.repeat(1000)}"a":1}`).duplicates.length, 100, 'at most a hundred')
})

t.test('unknown and repeated keys are reported in the order of the text', async t => {
  const told = (text: string, unknown: string[]) =>
    inOrderOfText(text, unknown).map(([finding, path]) => `${finding} ${path}`)
  t.same(
    told('{"z":1,"a":[{"k":1,"x":2,"k":3}],"x":{"k":1,"k":2},"x":3,"a":[]}', ['a[0].x', 'x']),
    ['unknown a[0].x', 'duplicate a[0].k', 'unknown x', 'duplicate a']
  )
  const long = 'x'.repeat(2000)
  t.same(told(`{"${long}":1,"a":1,"a":2}`, [long]), ['duplicate a', `unknown ${long}`], 'long ones come last')
})

t.test('the search for keys in deeply nested text takes little time', async t => {
  const deep = `${'{"d":'.repeat(900)}[${'{"kk":1},'.repeat(40_000)}{}]${'}'.repeat(900)}`
  const started = process.cpuUsage()
  t.equal(inOrderOfText(`{"data":${deep},"a":1,"a":2,"${'u'.repeat(999)}":1}`, ['u'.repeat(999), 'kk']).length, 3)
  t.ok(process.cpuUsage(started).user < 2_000_000)
})

t.test('__proto__ is a key like any other', async t => {
  const { value } = parse('{"__proto__":{"x":1}}')
  t.same(Object.keys(value as object), ['__proto__'])
  t.equal((value as Record<string, unknown>).x, undefined)
})

t.test('a body of more values than any object has is refused, unless it is our own', async t => {
  const many = `[${'0,'.repeat(MAX_VALUES)}0]`
  refused(t, many, /more than 50000 values/)
  refused(t, `[${'[],'.repeat(MAX_VALUES)}`, /more than 50000 values/)
  t.equal((parseJson(Buffer.from(many), UNBOUNDED).value as unknown[]).length, MAX_VALUES + 1)
  t.ok(parse(`["${','.repeat(MAX_VALUES + 1)}"]`), 'commas in text are none')
})

t.test('an object of more members than any object has is refused, lists of as many are not', async t => {
  refused(
    t, `{${Array.from({ length: MAX_MEMBERS + 1 }, (_, at) => `"k${at}":0`).join()}}`, /more than 16100 values by name/
  )
  t.equal((parse(`[${'{"a":0},'.repeat(MAX_MEMBERS)}0]`).value as unknown[]).length, MAX_MEMBERS + 1)
})
