// Second step of `npm run build`: checks types and emits modules into `dist/`, those of the tests too where their
// packages are installed.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './bundling.js'
import { installed } from './test-packages.js'

const tests = installed()
// It keeps almost all of its memory until it ends: collecting garbage would double its CPU and save a tenth of the
// memory. Each checker checks common types again.
const { status } = spawnSync(process.execPath, ['node_modules/typescript-native/bin/tsc', '-p', tests
  ? 'test'
  : '.', '--checkers', '2'], { cwd: root, stdio: 'inherit', env: { ...process.env, GOGC: 'off' } })
if (tests) {
  // Only for the tests; the product resolves its own dependencies.
  const link = join(root, 'dist/test/node_modules')
  mkdirSync(join(root, 'dist/test'), { recursive: true })
  rmSync(link, { force: true })
  symlinkSync('../../test/node_modules', link)
} else console.log('built without the tests, whose packages npm test installs')
process.exitCode = status ?? 1
