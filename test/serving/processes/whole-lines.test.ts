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

t.test(
  'the longest event of the audit log is one line, and a line without an end is cut before it takes all memory',
  async t => {
    const stream = new PassThrough()
    const written: string[] = []
    wholeLines(stream, lines => { written.push(lines) })
    const piece = 'x'.repeat(1024 * 1024)
    for (let number = 0; number < 33; number++) stream.write(piece)
    stream.write('\n')
    for (let number = 0; number < 100; number++) stream.write(piece)
    stream.end()
    await new Promise(resolve => stream.once('end', resolve))
    t.equal(written[0]?.length, 33 * piece.length + 1)
    t.ok(written.length >= 3)
    t.ok(written.every(lines => lines.length < 42 * piece.length))
  }
)
