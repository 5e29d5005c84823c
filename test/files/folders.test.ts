import t from 'tap'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../files/folders.js'

t.test('a folder and those above it are made, and one that is there is left alone', async t => {
  const root = t.testdir({ there: {} })
  const deep = join(root, 'there', 'a', 'b')
  makeFolder(deep, 0o700)
  t.equal(statSync(deep).mode & 0o777, 0o700)
  makeFolder(deep)
  t.equal(statSync(deep).mode & 0o777, 0o700)
})

t.test('a folder that cannot be made is an error with a code', async t => {
  const root = t.testdir({ file: '' })
  t.throws(() => makeFolder(join(root, 'file')), { code: 'EEXIST' })
  t.throws(() => makeFolder(join(root, 'file', 'below')), { code: 'ENOTDIR' })
})

t.test('a file system that has no place for folders does not hold up the start', async t => {
  t.throws(() => makeFolder('/proc/nothing/here'), { code: /^(ENOENT|EACCES|EPERM)$/ })
})
