/** Large JSON parsed in pieces: as JSON.parse does, in short steps. */
import t from 'tap'
import { parseInPieces } from '../../../../schemas/codec/json/parse-pieces.js'
import { finish } from '../../../../schemas/steps.js'
import { random } from '../../../random.js'

const parse = (text: string, most = Infinity): unknown => finish(parseInPieces(Buffer.from(text), most))

t.test('any value is what JSON.parse makes of it, and broken ones are refused as there', async t => {
  const { seed, int: below } = random()
  t.comment(`seed ${seed}`)
  const blank = (): string => ['', '', '', ' ', '\n\t '][below(5)] ?? ''
  const text = (): string => JSON.stringify(
    ['', '1', '__proto__', 'é"\\', '[{,}]', 'a', 'b', String(below(50)), 'x'.repeat(below(9000))][below(9)]
  )
  const value = (depth: number): string => {
    const kind = below(depth > 5 ? 3 : 6)
    if (kind < 2) return text()
    if (kind === 2) return ['null', 'true', '-1.5e3', '0', '[]', '{}'][below(6)] ?? ''
    const members = Array.from(
      { length: below(12) },
      () => blank() + (kind === 3 ? '' : `${text()}${blank()}:${blank()}`) + value(depth + 1) + blank()
    )
    return kind === 3 ? `[${members.join(',')}]` : `{${members.join(',')}}`
  }
  const outcome = (read: () => unknown): string | undefined => {
    try {
      return JSON.stringify(read())
    } catch {
      return undefined
    }
  }
  let large = 0
  for (let round = 0; round < 200; round++) {
    let json = value(0)
    if (below(2) === 0) {
      const at = below(json.length)
      json = json.slice(0, at) + ([
        '', ',', ']', '}', '[', '{', ':', '"', '1', 'null,'
      ][below(10)] ?? '') + json.slice(at + below(2))
    }
    if (json.length > 16_384) large++
    const expected = outcome(() => JSON.parse(json))
    if (outcome(() => parse(json)) !== expected) throw new Error(`it differs for ${json}`)
  }
  t.ok(large > 20, `${large} were large`)
})

t.test('names cannot reach a prototype, and what is too much is refused', async t => {
  const padded =
    `{"a":[${'0,'.repeat(20_000)}0],"__proto__":{"b":[${'1,'.repeat(20_000)}1]},"2":{"c":[${'2,'.repeat(9000)}2]}}`
  const made = parse(padded) as Record<string, unknown>
  t.strictSame(Object.keys(made), ['2', 'a', '__proto__'])
  t.equal(Object.getPrototypeOf(made), Object.prototype)
  t.throws(() => parse(padded, 40_000), /more than 40000 values/)
  t.throws(
    () => parse(`{${Array.from({ length: 16_101 }, (_, at) => `"${at}":0`).join()}}`), /more than 16100 values by name/
  )
  t.throws(() => parse('['.repeat(1001) + ']'.repeat(1001)), /levels deep/)
  t.throws(() => parse('['.repeat(100_000)), /levels deep/)
  t.throws(() => parse(`["${'x'.repeat(20_000)}`), /not valid JSON/)
  t.throws(
    () => finish(parseInPieces(Buffer.concat([Buffer.from('["'), Buffer.alloc(20_000, 0xff), Buffer.from('"]')]))),
    /UTF-8/
  )
})

t.test('no step parses much', async t => {
  for (const json of [
    `[${'{},'.repeat(300_000)}{}]`,
    `{"a":[${Array.from({ length: 190 }, () => `"${'x'.repeat(15_000)}",[`).join('')}${']'.repeat(190)}]}`,
    `{"a":{"b":[${Array.from({ length: 9000 }, (_, at) => `{"name":"n${at}","rules":[{"a":1}]}`).join()}]}}`
  ]) {
    let steps = 0
    for (const steps_ = parseInPieces(Buffer.from(json), Infinity); steps_.next().done !== true;) steps++
    t.ok(steps >= json.length / 40_000, `${steps} steps for ${json.length} bytes`)
  }
})
