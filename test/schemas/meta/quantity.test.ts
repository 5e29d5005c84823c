/** Quantities, durations and IntOrString values. */
import t from 'tap'
import { toJson } from '../../../schemas/codec/json/encode.js'
import { decodeProtobuf } from '../../../schemas/codec/protobuf/decode.js'
import { encodeProtobuf } from '../../../schemas/codec/protobuf/encode.js'
import { decode } from '../../../schemas/language/decode.js'
import { one, apiPackage, map } from '../../../schemas/language/declare.js'
import { formatDuration, parseDuration } from '../../../schemas/meta/duration.js'
import { IntOrString } from '../../../schemas/meta/int-or-string.js'
import { canonicalQuantity, compareQuantities, Quantity, roundToMilli } from '../../../schemas/meta/quantity.js'
import { metadata } from '../../../schemas/meta/object.js'

t.test('a quantity is written with the largest unit that needs no fraction', async t => {
  for (const [sent, kept] of [
    ['0', '0'], ['00', '0'], ['-0', '0'], ['0Gi', '0'], ['1', '1'], ['+5', '5'], ['012', '12'], ['1000', '1k'],
    ['1500', '1500'], ['100000', '100k'], ['1.5', '1500m'], ['.5', '500m'], ['5.', '5'], ['0.5', '500m'],
    ['-1.5', '-1500m'],
    ['1000m', '1'], ['1500m', '1500m'], ['0.1m', '100u'], ['1u', '1u'], ['1000n', '1u'], ['1n', '1n'], ['0.1n', '1n'],
    ['-0.1n', '-1n'], ['1.2345678901', '1234567891n'],
    ['1Ki', '1Ki'], ['1024Ki', '1Mi'], ['1024Mi', '1Gi'], ['1.5Gi', '1536Mi'], ['0.5Ki', '512'], ['0.5Mi', '512Ki'],
    ['1.1Mi', '1153433600m'], ['1000Ki', '1000Ki'], ['1023Ei', '9223372036854775807'],
    ['12e6', '12e6'], ['1e3', '1e3'], ['1.5e3', '1500'], ['1E3', '1e3'], ['1e-3', '1e-3'], ['12e7', '120e6'],
    ['1E', '1E'], ['1000E', '1e21'], ['1000P', '1E'],
    ['123456789012345678901234567890', '123456789012345678901234567890']
  ] as const) t.equal(canonicalQuantity(sent), kept, sent)
})

t.test('invalid quantities have no canonical form', async t => {
  for (const text of [
    '', ' ', '.', '-', 'x', '1x', '1 Gi', '1KI', '1ki', '1mi', '1e', '1e+', '1.2.3', '--1', '0x10', '1e9999999',
    '1'.repeat(2000), 'Infinity', 'NaN', '1Gi1', '1_000'
  ]) {
    t.equal(canonicalQuantity(text), undefined, text.slice(0, 20))
  }
})

t.test('quantities compare by their value, and those of resources are in thousandths', async t => {
  t.ok(compareQuantities('1Gi', '1G') > 0)
  t.equal(compareQuantities('1000m', '1'), 0)
  t.ok(compareQuantities('-1', undefined) < 0)
  const amounts = { cpu: '1n', memory: '1Gi', other: '1500u', exact: '2m' }
  roundToMilli(amounts)
  t.strictSame(amounts, { cpu: '1m', memory: '1Gi', other: '2m', exact: '2m' })
})

const { kind } = apiPackage('test', 'v1', 'io.orch.test.v1')
const Sample = kind('Sample', 'A sample.', {
  metadata,
  amount: one(2, 'An amount.', Quantity),
  most: one(3, 'A bound.', Quantity, { pointer: true }),
  port: one(4, 'A port.', IntOrString),
  share: one(5, 'A share.', IntOrString, { pointer: true }),
  amounts: map(6, 'By name.', Quantity)
})
const sample = (more: object): object => decode(Sample, { kind: 'Sample', apiVersion: 'test/v1', ...more }).object

t.test(
  'numbers are quantities too, unset ones are zero where they are no pointers, and protobuf keeps them all',
  async t => {
    for (const [sent, shown] of [
      [{}, { amount: '0', port: 0 }],
      [
        { amount: 7, most: 0.25, port: 'http', share: '25%', amounts: { a: ' 1.5 ', b: null } },
        { amount: '7', most: '250m', port: 'http', share: '25%', amounts: { a: '1500m', b: '0' } }
      ],
      [{ amount: null, most: '0', port: -1, share: 0 }, { amount: '0', most: '0', port: -1, share: 0 }]
    ] as const) {
      const object = sample(sent) as never
      t.match(JSON.parse(toJson(Sample, object)), shown)
      t.equal(toJson(Sample, decodeProtobuf(Sample, encodeProtobuf(Sample, object)).object), toJson(Sample, object))
    }
    for (const bad of [
      { amount: '1x' }, { amount: {} }, { amount: true }, { port: 1.5 }, { port: 2 ** 31 }, { port: [] },
      { share: true }
    ]) {
      t.throws(() => sample(bad), { name: 'DecodeError' }, JSON.stringify(bad))
    }
  }
)

t.test('durations are read in all units and written in the largest', async t => {
  for (const [text, nanoseconds, shown = text] of [
    ['0s', 0n], ['0', 0n, '0s'], ['1h15m30.918273645s', 4530918273645n], ['90s', 90_000_000_000n, '1m30s'],
    ['1.5h', 5_400_000_000_000n, '1h30m0s'], ['-3ms', -3_000_000n], ['1us', 1000n, '1µs'], ['1500ns', 1500n, '1.5µs'],
    ['24h', 86_400_000_000_000n, '24h0m0s']
  ] as ReadonlyArray<readonly [string, bigint, string?]>) {
    t.equal(parseDuration(text), nanoseconds, text)
    t.equal(formatDuration(nanoseconds), shown, text)
  }
  for (const text of ['', '1', 's', '1d', '1h-1m', '1 h', '9999999999h', '1h'.repeat(100)]) {
    t.equal(parseDuration(text), undefined, text.slice(0, 20))
  }
})
