/** What the runner shows of a failure. */
import t from 'tap'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { MARK } from './batches.js'
import { explain, failedFiles } from './failures.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const OWN = 'dist/test/runner/failures.test.js'
/** A line of this file, compiled and as it is written. */
const lineOf = (file: string): number =>
  readFileSync(`${root}${file}`, 'utf8').split('\n').findIndex(line => line.startsWith('const OWN')) + 1
const assertion = (line: number): string =>
  `    not ok 1 - a duck\n      ---\n      at:\n        fileName: ${OWN}\n        lineNumber: ${line}\n        ` +
  `columnNumber: 7\n      stack: |\n        Test.<anonymous> (${OWN}:${line}:7)\n      ...\n`

t.test('a failure is shown with its line of TypeScript and the command that repeats it', async t => {
  const shown = explain(root, `ok 1 - well\n${assertion(lineOf(OWN))}ok 2 - well, too\n`, [OWN])
  const place = `test/runner/failures.test.ts:${lineOf('test/runner/failures.test.ts')}:7`
  t.match(shown, `source: ${place}`)
  t.match(shown, `(${place})`)
  t.match(shown, /\nagain: npm test -- runner\/failures\.test$/)
  t.notMatch(shown, 'well')
})

t.test('of several files in one process, those that failed are named', async t => {
  const output = `# ${MARK}dist/test/a.test.js\nok 1 - well\n# ${MARK}dist/test/b.test.js\nnot ok 1 - ill\n`
  const shown = explain(root, output, ['dist/test/a.test.js', 'dist/test/b.test.js'], { ORCH_TEST_ADMISSION: 'none' })
  t.match(shown, /not ok 1 - ill\n+again: ORCH_TEST_ADMISSION=none npm test -- b\.test$/)
})

t.test('a program that ends without an assertion shows its last lines, and all files are named', async t => {
  t.match(
    explain(root, 'Error: no\n', ['dist/test/a.test.js', 'dist/test/b.test.js']),
    /^Error: no\n+again: npm test -- a\.test b\.test$/
  )
})

t.test('what is to run once more: the files with failures, or all if none has one', async t => {
  const [one, other] = ['dist/test/a.test.js', 'dist/test/b.test.js']
  const output = `# ${MARK}${one}\nok 1 - well\n# ${MARK}${other}\n    not ok 1 - ill\nnot ok 2 - all of it\n`
  t.strictSame(failedFiles(output, [one, other]), [other])
  t.strictSame(failedFiles('not ok 1 - ill\n', [one]), [one])
  t.strictSame(failedFiles('Error: no\n', [one, other]), [one, other])
  t.strictSame(failedFiles(`not ok - before any file\n# ${MARK}${one}\nok 1\n`, [one, other]), [one, other])
})
