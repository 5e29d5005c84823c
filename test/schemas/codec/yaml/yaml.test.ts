import t from 'tap'
import { toYaml } from '../../../../schemas/codec/yaml/yaml-write.js'
import { parseYaml } from '../../../../schemas/codec/yaml/yaml.js'

const parse = (text: string) => parseYaml(Buffer.from(text))
const refused = (
  t: { throws: typeof import('tap')['throws'] }, text: string, message: RegExp, what = text.slice(0, 40)
) => t.throws(() => parse(text), { name: 'DecodeError', message }, what)

t.test('YAML that JSON can express gives the same values', async t => {
  t.same(parse('a: 1\nb: [x, 2.5, true, null, ~]\nc: {d: "e", f: }\ng: |\n  two\n  lines\n').value, {
    a: 1, b: ['x', 2.5, true, null, null], c: { d: 'e', f: null }, g: 'two\nlines\n'
  })
  t.same(parse('{"a": {"b": [1]}}').value, { a: { b: [1] } })
  t.same(parse('{a: b, c: [d]}').value, { a: 'b', c: ['d'] }, 'flow style that is no JSON')
  t.same(parse('---\na: 1\n...\n').value, { a: 1 })
  t.same(parse('').value, null)
})

t.test('keys become text', async t => {
  t.same(parse('1: a\non: b\n017: c\n"y": d').value, { 1: 'a', true: 'b', 15: 'c', y: 'd' })
  t.same(parse('yes: 1\non: 2').lines, ['line 2: key true already set in map'])
  t.same(parse('99999999999999999999: 1\n99999999999999999999: 2').lines, [
    'line 2: key 99999999999999999999 already set in map'
  ])
  for (const key of ['null', '~', '? ']) refused(t, `${key}: c`, /key that is null, at the top$/)
  refused(t, '? [a, b]\n: c', /key that is a list or map/)
})

t.test('repeated keys are reported by path; the last one counts', async t => {
  t.same(parse('a:\n  - b: 1\n    b: 2\nc: 1\nc: 3'), {
    value: { a: [{ b: 2 }], c: 3 },
    duplicates: ['a[0].b', 'c'],
    lines: ['line 3: key "b" already set in map', 'line 5: key "c" already set in map']
  })
  t.same(parse('{"a": 1, "a": 2}').duplicates, ['a'])
})

t.test('aliases are followed, but blow nothing up', async t => {
  t.same(parse('a: &x {b: 1}\nc: *x').value, { a: { b: 1 }, c: { b: 1 } })
  const bomb = [
    'a0: &a0 [x,x,x,x,x,x,x,x,x]',
    ...Array.from(
      { length: 12 }, (_, index) => `a${index + 1}: &a${index + 1} [${new Array(9).fill(`*a${index}`).join(',')}]`
    )
  ].join('\n')
  refused(t, bomb, /too large a YAML document once its aliases are followed/)
  refused(t, '- x\n'.repeat(100_001), /more than 50000 values/)
  refused(t, 'a: &a [*a]', /YAML|nests/)
  refused(t, 'a: *nothing', /YAML/)
})

t.test('maps are merged into others, which say what counts', async t => {
  t.same(
    parse('a: &a {x: 1, z: 2}\nb: {<<: *a, z: 3}\nc:\n  z: 4\n  <<: *a\nd: {<<: [{x: 5}, *a]}').value,
    { a: { x: 1, z: 2 }, b: { x: 1, z: 3 }, c: { x: 1, z: 4 }, d: { x: 5, z: 2 } }
  )
  t.same(parse('a: {"<<": 1}').value, { a: { '<<': 1 } }, 'in quotes it is a key')
  t.same(Object.keys((parse('a: &a {__proto__: {x: 1}}\nb: {<<: *a}').value as { b: object }).b), ['__proto__'])
  refused(t, 'a: {<<: 1}', /merges what is no map, at a$/)
  refused(t, 'a: &a {x: 1}\nb: {<<: [[*a]]}', /merges what is no map/)
  const bomb = [
    'a0: &a0 {x: 1}',
    ...Array.from(
      { length: 20 }, (_, index) => `a${index + 1}: &a${index + 1} {<<: [${new Array(9).fill(`*a${index}`).join(',')}]}`
    )
  ].join('\n')
  refused(t, bomb, /too large a YAML document once its aliases are followed/)
})

t.test('YAML that JSON cannot express is refused', async t => {
  refused(t, 'a: .inf', /infinity/)
  refused(t, 'a: .nan', /not-a-number/)
  refused(t, 'a: 1\n---\nb: 2', /more than one YAML document/)
  refused(t, 'a: [1', /not valid YAML/)
  refused(t, 'a: b: c', /not valid YAML/)
  refused(t, '\ta: 1', /not valid YAML/)
  refused(t, '\ufeffa: 1', /byte order mark/)
  t.throws(() => parseYaml(Buffer.from([0x61, 0x3a, 0x20, 0xff])), { name: 'DecodeError', message: /UTF-8/ })
})

t.test('deep nesting is refused at once', async t => {
  const started = process.cpuUsage()
  for (const text of ['['.repeat(100_000), '{a: '.repeat(100_000), '- '.repeat(100_000), '? '.repeat(100_000)]) {
    t.throws(() => parse(text), { name: 'DecodeError' }, text.slice(0, 4))
  }
  const stairs = Array.from({ length: 3000 }, (_, index) => `${' '.repeat(index)}a:`).join('\n')
  t.throws(() => parse(stairs), { name: 'DecodeError' }, 'indentation')
  t.ok(process.cpuUsage(started).user < 5_000_000)
})

t.test('__proto__ is a key like any other', async t => {
  const { value } = parse('__proto__: {x: 1}\nconstructor: y')
  t.same(Object.keys(value as object), ['__proto__', 'constructor'])
  t.equal((value as Record<string, unknown>).x, undefined)
})

t.test('values are written so that older YAML reads the same', async t => {
  const value = {
    a: 'yes', b: '2021-01-01', c: '1_000', d: 'x: y', e: ['', '-'], f: null, g: 1.5, h: 'two\nlines', i: {}, 10: 'first'
  }
  const text = toYaml(value)
  t.same(parse(text).value, value)
  t.match(text, /a: "yes"/)
  t.match(text, /c: "1_000"/)
})

t.test('what a document may cost follows its size, and ends at a number of tokens', async t => {
  for (const [what, text] of [
    ['comments', `a: 1\n${'#\n'.repeat(700_000)}`], ['blank lines', `a: 1\n${'\n'.repeat(700_000)}`],
    ['tags', `a: ${'!x '.repeat(400_000)}`], ['anchors', `a: ${'&x '.repeat(400_000)}`],
    ['commas', `a: [${','.repeat(700_000)}]`], ['faults', `a: 1\n${'\t}\n'.repeat(300_000)}`],
    ['comments in a list', `a: [\n${' #\n'.repeat(400_000)} 1]\n`]
  ] as const) {
    refused(
      t, text, /^the body is a YAML document of more than 600000 tokens, comments and blank lines included; use JSON$/,
      what
    )
  }
  for (const text of [
    `a: |\n${' x # y\n'.repeat(400_000)}`, `a: "${'x\n '.repeat(900_000)}"\n`, `a: 1 #${' x'.repeat(1_400_000)}\n`
  ]) {
    t.ok(parse(text).value)
  }
  t.match(
    parse(`a:\n${'  # about it\n  - x\n'.repeat(40_000)}`).value, { a: { length: 40_000 } }, 'a comment for each value'
  )
  t.throws(
    () => parseYaml(Buffer.from(`a:\n${'- x\n'.repeat(100)}`), { values: 10, members: 10, entries: 10 }),
    { message: /more than 120 tokens/ }, 'within the bounds of its caller'
  )
  const { stackTraceLimit } = Error
  refused(t, 'a: [,]', /not valid YAML/)
  t.equal(Error.stackTraceLimit, stackTraceLimit)
})

t.test('many block collections in one line are refused, others not', async t => {
  refused(t, '- '.repeat(200), /too many YAML collections in one line/)
  refused(t, '-\t \t'.repeat(200), /too many YAML collections in one line/)
  t.ok(parse(`${'- '.repeat(90)}x`).value)
  t.ok(parse(`a: "${': - ? '.repeat(60)}"\nb: "${'x - '.repeat(400)}"`).value)
})
