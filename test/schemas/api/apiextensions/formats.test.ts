import t from 'tap'
import { hasFormat } from '../../../../schemas/api/apiextensions/rules/formats.js'
import { equal } from '../../../../schemas/api/apiextensions/plain-values.js'
import { numberWords } from '../../../../schemas/api/apiextensions/rules/scalars.js'

const CASES: ReadonlyArray<readonly [format: string, valid: readonly string[], invalid: readonly string[]]> = [
  [
    'uri',
    ['https://a.example.com:80/x?y#z', '/path', 'mailto:a@b', 'urn:x:y', 'http://[::1]:8080/', 'http://user:pw@host/'],
    ['host', '', 'a b', 'http://a b/', 'http://a/%zz', '1:x', 'http://a:port/']
  ],
  ['email', ['a@b.c', 'a.b+c@example.com', 'Some One <a@b>', '"x, y" <a@b>'], ['a', 'a@', '@b', 'a@b@c', 'a b@c']],
  [
    'hostname', ['a', 'a.example.com', 'A-1.b', '9.b'],
    ['', '-a', 'a-', 'a..b', 'a_b', 'a'.repeat(64), 'a.'.repeat(128)]
  ],
  [
    'duration', ['1s', '1h30m', '1.5h', '-2ms', '0', '3 days', '1w', '5 hours', '1 Day, 2 hrs', '1wk 5 parsecs'],
    ['', 'soon', '5', 's', '5 parsecs', '3 months', '1 dog', '1s'.repeat(1000)]
  ],
  ['date', ['2020-02-29'], ['2021-02-29', '2020-2-9', 'x']],
  ['date-time', ['2020-01-01T00:00:00Z', '2020-01-01t00:00:00.5+01:00'], ['2020-01-01', '2020-01-01T25:00:00Z']],
  ['bsonobjectid', ['507f1f77bcf86cd799439011'], ['507f']],
  ['hexcolor', ['#fff', 'a0b1c2'], ['#ffff', 'red']],
  ['rgbcolor', ['rgb(1, 2,255)'], ['rgb(1,2)', 'rgb(256,0,0)']],
  ['ssn', ['123-45-6789', '123456789'], ['12-345-6789']],
  ['isbn', ['0-306-40615-2', '978-0-306-40615-7'], ['0-306-40615-3', '9780306406158']],
  ['creditcard', ['4111 1111 1111 1111', '378282246310005'], ['4111111111111112', '1234']],
  ['byte', ['YQ==', 'YWJj', 'YWI='], ['', 'YQ', 'a', '====', 'Y===', 'YQ=a', 'YW J', 'YW_-', 'YWJj\n', '!!!!']],
  ['ipv4', ['1.2.3.4'], ['1.2.3', '::1']],
  ['password', ['anything'], []],
  ['int32', ['anything'], []]
]

for (const [format, valid, invalid] of CASES) {
  t.test(format, async t => {
    for (const text of valid) t.ok(hasFormat(format, text), text)
    for (const text of invalid) t.notOk(hasFormat(format, text), JSON.stringify(text))
  })
}

t.test('a long string costs one look at each character', async t => {
  for (const [format] of CASES) {
    for (const piece of ['1', ' ', 'a', 'a@', '/', '1s', '%41']) {
      const started = process.cpuUsage()
      hasFormat(format, piece.repeat(1_000_000 / piece.length))
      t.ok(process.cpuUsage(started).user < 500_000, `${format} of ${JSON.stringify(piece)}`)
    }
  }
})

t.test('large integers are compared exactly', async t => {
  t.same(numberWords({ exclusiveMaximum: true, maximum: 2 ** 53 }, 2n ** 53n - 1n), [])
  t.same(numberWords({ exclusiveMaximum: true, maximum: 2 ** 53 }, 2n ** 53n), [`should be less than ${2 ** 53}`])
  t.equal(equal(9007199254740993n, 9007199254740992), false)
  t.equal(equal(9007199254740992n, 9007199254740992), true)
})

t.test('a multiple is exact for whole numbers, and for fractions as exact as their binary forms', async t => {
  for (const [multipleOf, valid, invalid] of [
    [2, [0, 4, -6, 2n ** 60n, -(2n ** 62n), 2], [1, 2n ** 60n + 1n, 9007199254740993n, 2.5]],
    [3, [9007199254740993n], [9007199254740992n, 2n ** 60n]],
    [0.1, [0.3, 0.7, 1.1, 123456.7, 0, -0.3, 2], [0.05, 0.35, 1.00001]],
    [0.01, [0.07, 19.99, 4.35, 1.15], [0.005, 4.355]],
    [2.5, [5, 7.5, 10], [1, 3]],
    [1e20, [10n ** 20n, 3n * 10n ** 20n], [10n ** 20n + 1n]]
  ] as ReadonlyArray<readonly [number, ReadonlyArray<number | bigint>, ReadonlyArray<number | bigint>]>) {
    for (const value of valid) t.same(numberWords({ multipleOf }, value), [], `${value} of ${multipleOf}`)
    for (const value of invalid) {
      t.same(numberWords({ multipleOf }, value), [`should be a multiple of ${multipleOf}`], `${value} of ${multipleOf}`)
    }
  }
})
