import t from 'tap'
import { PassThrough } from 'node:stream'
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
