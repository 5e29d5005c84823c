/** Compared to upstream's parser: its table of words and its readers of numbers. */
import t from 'tap'
import { parseYaml } from '../../../../schemas/codec/yaml/yaml.js'

const valueOf = (text: string): unknown => (parseYaml(Buffer.from(`a: ${text}`)).value as { a: unknown }).a

const TABLE: ReadonlyArray<readonly [value: unknown, ...texts: string[]]> = [
  [true, 'y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON', '!!bool yes', '!!bool "on"'],
  [false, 'n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'],
  [null, '', '~', 'null', 'Null', 'NULL', '!!null ""'],
  [
    256, '0400', '0o400', '0O400', '0b100000000', '0B100000000', '0x100', '0X100', '256', '+256', '2_56', '0_400',
    '256.', '2.56e2', '+0400', '!!int "0400"'
  ],
  [-31, '-31', '-037', '-0x1F', '-0b11111', '-3_1', '-31.0'],
  [0, '0', '00', '-0', '0.0', '.0', '0x0'],
  [8, '08', '8', '!!float 8'],
  [9.5, '09.5', '9.5', '95e-1'],
  [0.5, '.5', '+.5', '5e-1'],
  [9223372036854775807n, '9223372036854775807', '0x7fffffffffffffff', '0777777777777777777777'],
  [99999999999999999999n, '99999999999999999999']
]
const TEXTS = [
  'yEs', 'nULL', 'yess', '_1', '12:30', '1:30:00', '0b12', '0o8', '0x', '0b', '0xg', '1e400', '0xfffffffffffffffff',
  '1.2.3', '1.5Gi', '100m', '10%', '2021-01-01', '2021-01-01T00:00:00Z', '2001-12-14 21:59:43', '.', '+', '=', '<<',
  'inf', 'nan', '._5', '.1_0'
]

t.test('scalars without quotes are those of YAML 1.1, less numbers to the base of 60', async t => {
  for (const [value, ...texts] of TABLE) for (const text of texts) t.same(valueOf(text), value, text)
  for (const text of TEXTS) t.equal(valueOf(text), text, text)
})

t.test('in quotes, in blocks, and as text by their tag, they are text', async t => {
  for (const text of ['yes', '0400', 'null', '1e3', '.inf']) {
    for (const [form, read] of [
      [`"${text}"`, text], [`'${text}'`, text], [`!!str ${text}`, text], [`! ${text}`, text], [`!mine ${text}`, text],
      [`|-\n  ${text}`, text], [`>\n  ${text}\n`, `${text}\n`]
    ] as const) {
      t.equal(valueOf(form), read, form)
    }
  }
  t.equal(valueOf('!!binary aGk='), 'hi')
  t.equal(valueOf('!!timestamp 2021-01-01'), '2021-01-01')
})

t.test('values that JSON cannot hold or that contradict their tag are refused by position', async t => {
  for (const [text, why] of [
    ['.inf', 'infinity'], ['-.INF', 'infinity'], ['.NaN', 'infinity'], ['!!int x', 'is no int'],
    ['!!bool 1', 'is no bool'], ['9'.repeat(400), '300 digits']
  ] as const) {
    t.throws(() => valueOf(text), { name: 'DecodeError', message: new RegExp(`^a: .*${why}`) }, text)
  }
})

t.test('a directive changes none of it', async t => {
  for (const version of ['1.1', '1.2']) {
    t.same(parseYaml(Buffer.from(`%YAML ${version}\n---\na: yes\nb: 0400`)).value, { a: true, b: 256 })
  }
})
