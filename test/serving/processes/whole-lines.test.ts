import t from 'tap'
import { PassThrough } from 'node:stream'
import { Deaths } from '../../../serving/processes/deaths.js'
import { wholeLines } from '../../../serving/processes/whole-lines.js'

t.test('output is passed on in whole lines, the last one with an end', async t => {
  const stream = new PassThrough()
  const written: string[] = []
  wholeLines(stream, lines => { written.push(lines) })
  for (const piece of ['one\ntw', 'o', '\nthree\nfo', 'ur']) stream.write(piece)
  stream.end()
  await new Promise(resolve => stream.once('end', resolve))
  t.same(written, ['one\n', 'two\nthree\n', 'four\n'])
})

t.test('a line without an end is cut before it takes all memory', async t => {
  const stream = new PassThrough()
  const written: string[] = []
  wholeLines(stream, lines => { written.push(lines) })
  for (let number = 0; number < 40; number++) stream.write('x'.repeat(64 * 1024))
  stream.end()
  await new Promise(resolve => stream.once('end', resolve))
  t.ok(written.length >= 2)
  t.ok(written.every(lines => lines.length < 1.2 * 1024 * 1024))
})

t.test('five deaths within a minute are too many, over a longer time they are not', async t => {
  const often = new Deaths()
  t.same([0, 1000, 2000, 3000, 59_000].map(now => often.add(now)), [false, false, false, false, true])
  const seldom = new Deaths()
  for (let now = 0; now < 1_000_000; now += 16_000) t.notOk(seldom.add(now))
})
