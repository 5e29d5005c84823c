// Installs the packages of `test/package.json` if they are missing: a first step of `npm test`, `npm run lint` and `npm
// pack`.
import { spawnSync } from 'node:child_process'
import { installed, testFolder } from './test-packages.js'

if (!installed()) {
  console.log('installing what the tests need in test/node_modules')
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: testFolder, stdio: 'inherit' })
  process.exitCode = status ?? 1
}
