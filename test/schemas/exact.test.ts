import t from 'tap'
import { toJson } from '../../schemas/codec/json/encode.js'
import { parseInSteps, parseJson } from '../../schemas/codec/json/parse.js'
import { decodeMessage, decodeProtobuf } from '../../schemas/codec/protobuf/decode.js'
import { encodeProtobuf } from '../../schemas/codec/protobuf/encode.js'
import { parseYamlBody } from '../../schemas/codec/text-thread.js'
import { toYaml } from '../../schemas/codec/yaml/yaml-write.js'
import { parseYaml } from '../../schemas/codec/yaml/yaml.js'
import { decode } from '../../schemas/language/decode.js'
import { applyDefaults } from '../../schemas/language/defaults.js'
import { validateMessage } from '../../schemas/language/validation.js'
import { clone, sameValue } from '../../schemas/language/values.js'
import { hasLongDigits, parseExactly, stringify } from '../../schemas/codec/json/exact.js'
import { apiPackage, double, int32, int64, list, map, one } from '../../schemas/language/declare.js'
import { RawExtension } from '../../schemas/meta/runtime.js'

const { kind } = apiPackage('example.com', 'v1', 'com.example.v1')
const Numbers = kind('Numbers', 'Numbers.', {
  value: int64(1, 'One.', { pointer: true }),
  values: list(2, 'Several.', 'int64'),
  byName: map(3, 'By name.', 'int64'),
  raw: one(4, 'Anything.', RawExtension, { pointer: true }),
  small: int32(5, 'Of 32 bits.'),
  ratio: double(6, 'A ratio.'),
  positive: int64(7, 'Not negative.', { minimum: 1 })
})
const TYPE = '"kind":"Numbers","apiVersion":"example.com/v1"'
const WHOLE = [
  '9223372036854775807', '-9223372036854775808', '9007199254740992', '9007199254740993', '-9007199254740993',
  '1000000000000000001'
]
const text = (value: string) =>
  `{${TYPE},"value":${value},"values":[${value},1],"byName":{"a":${value}},"raw":{"n":${value},"text":"${value}"},` +
  '"positive":7}'
const parsed = (json: string) => parseJson(Buffer.from(json)).value

t.test('integers of 64 bits come back exactly, in every form', async t => {
  for (const value of WHOLE) {
    const json = text(value)
    const { object } = decode(Numbers, parsed(json))
    t.equal(object.value, BigInt(value))
    t.equal(toJson(Numbers, object), json, value)
    t.equal(toJson(Numbers, decodeProtobuf(Numbers, encodeProtobuf(Numbers, object)).object), json, 'protobuf')
    t.equal(toJson(Numbers, parseExactly(Buffer.from(json)) as typeof object), json, 'the stored form')
    t.equal(toJson(Numbers, decode(Numbers, parseYaml(Buffer.from(toYaml(object))).value).object), json, 'YAML')
    t.equal(
      toJson(
        Numbers,
        decode(Numbers, (await parseYamlBody(Buffer.from(`${toYaml(object)}# ${'x'.repeat(8000)}\n`))).value).object
      ),
      json,
      'YAML of a thread'
    )
    t.ok(sameValue(clone(object), object))
    applyDefaults(Numbers, object)
    t.equal(stringify({ object }, 2)?.includes(`"value": ${value},`), true)
  }
})

t.test('an integer that a number holds is a number', async t => {
  const { object } = decode(
    Numbers,
    parsed('{"value":9007199254740991,"raw":[9007199254740991,-9007199254740991,0000],"small":1}'.replace('0000', '12'))
  )
  t.same(object, {
    kind: 'Numbers',
    apiVersion: 'example.com/v1',
    value: Number.MAX_SAFE_INTEGER,
    raw: [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 12],
    small: 1
  })
  t.equal(typeof (decodeProtobuf(Numbers, encodeProtobuf(Numbers, object)).object.value), 'number')
  t.equal(typeof (parseYaml(Buffer.from('a: 9007199254740991\n')).value as { a: unknown }).a, 'number')
})

t.test('an integer may be written as a fraction or with an exponent', async t => {
  t.same(decode(Numbers, parsed('{"values":[1.0,1e3,-2.50e1]}')).object.values, [1, 1000, -25])
})

t.test('an integer out of range is refused with its path', async t => {
  const refused = (json: string, message: string) =>
    t.throws(() => decode(Numbers, parsed(json)), { name: 'DecodeError', message }, json)
  refused(
    '{"value":9223372036854775808}',
    'Numbers.value: expected an integer of 64 bits, got a number ("9223372036854775808")'
  )
  refused(
    '{"values":[1,-9223372036854775809]}',
    'Numbers.values[1]: expected an integer of 64 bits, got a number ("-9223372036854775809")'
  )
  refused('{"value":1e19}', 'Numbers.value: expected an integer of 64 bits, got a number ("10000000000000000000")')
  refused(
    '{"small":9007199254740993}', 'Numbers.small: expected an integer of 32 bits, got a number ("9007199254740993")'
  )
  refused(`{"raw":${'9'.repeat(1001)}}`, 'the body holds an integer of more than 1000 digits')
  t.throws(
    () => decode(Numbers, parseYaml(Buffer.from('value: 9223372036854775808\n')).value),
    { message: /Numbers.value: expected an integer of 64 bits/ }
  )
  t.throws(() => parseYaml(Buffer.from(`value: ${'9'.repeat(1001)}\n`)), { name: 'DecodeError' })
  t.equal(
    decode(Numbers, parsed('{"ratio":9223372036854775808}')).object.ratio, 2 ** 63,
    'a field that allows fractions gets the nearest number'
  )
  t.match(
    validateMessage(Numbers, decode(Numbers, parsed('{"positive":-9223372036854775808}')).object),
    [{ field: 'positive', value: -(2n ** 63n) }]
  )
})

t.test('raw JSON keeps integers of any length, texts and keys of digits stay what they are', async t => {
  const raw =
    '{"a":123456789012345678901234567890,"-1234567890123456789":"\\"1234567890123456789","b":[1.2345678901234567e+30,' +
    '{"c":-98765432109876543210}],"s":"x\\\\"}'
  const { object } = decode(Numbers, parsed(`{"raw":${raw}}`))
  t.equal(toJson(Numbers, object), `{${TYPE},"raw":${raw}}`)
  t.equal(toJson(Numbers, decodeProtobuf(Numbers, encodeProtobuf(Numbers, object)).object), `{${TYPE},"raw":${raw}}`)
  t.same(parseJson(Buffer.from('{"a":1234567890123456789,"a":2}')), { value: { a: 2 }, duplicates: ['a'] })
  t.throws(() => parsed('{"a":12345678901234567890'), { name: 'DecodeError', message: /not valid JSON/ })
})

t.test('tens of thousands of long integers are read in steps', async t => {
  const text = `{"a":[${'12345678901234567890,'.repeat(40_000)}1],"b":{"c":-9007199254740993}}`
  const steps = parseInSteps(Buffer.from(text))
  let count = 0
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) count++
  t.ok(count > 30, `${count} steps`)
  t.equal(stringify(step.value.value), text)
})

t.test('long runs of digits are found at any offset', async t => {
  for (let before = 0; before < 40; before++) {
    for (const after of [0, 1, 15, 16, 40]) {
      const long = Buffer.from('x'.repeat(before) + '1'.repeat(16) + 'x'.repeat(after))
      t.ok(hasLongDigits(long), `${before} ${after}`)
      t.notOk(hasLongDigits(Buffer.from(
        `${'x'.repeat(before)}${'1'.repeat(15)}x${'1'.repeat(15)}${'x'.repeat(after)}`
      )))
      t.ok(hasLongDigits(Buffer.from(`${'x'.repeat(before)}${'1'.repeat(15)}x${'1'.repeat(16)}${'x'.repeat(after)}`)))
    }
  }
})

t.test('a varint of 64 bits is read as it was written', async t => {
  const bytes = Buffer.from('08ffffffffffffffffff01', 'hex')
  t.same(decodeMessage(Numbers, bytes), { value: -1 })
  t.same(decodeMessage(Numbers, Buffer.from('08ffffffffffffffff7f', 'hex')), { value: 2n ** 63n - 1n })
})
