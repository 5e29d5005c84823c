// Style, layers and cycles (eslint), and promises that nothing awaits and names that nothing uses (oxlint). Arguments:
// --fix, and files; default all.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { testFolder } from './test-packages.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const args = process.argv.slice(2)
const files = args.filter(arg => !arg.startsWith('-'))
const paths = files.length > 0 ? files : ['.']

const env = {
  ...process.env, PATH: `${testFolder}/node_modules/.bin:${process.env.PATH}`
} // oxlint finds its type-aware part on the PATH
// Syntax trees of a few files at once fit into this young generation, which saves a twelfth of the CPU.
const NODE_FLAGS = ['--min-semi-space-size=32', '--max-semi-space-size=64']
const run = (program, ...flags) =>
  spawnSync(process.execPath, [...NODE_FLAGS, `${testFolder}/node_modules/${program}`, ...flags, ...paths], {
    cwd: root, env, stdio: 'inherit'
  }).status === 0

const CACHE = '.cache/eslint'
if (paths[0] === '.' && !existsSync(`${root}/${CACHE}`)) {
  console.log('checking every file for the first time, which takes a minute or two; later only those that changed')
}
const styled = run('eslint/bin/eslint.js', ...args.includes('--fix')
  ? ['--fix']
  : ['--cache', '--cache-location', CACHE, '--cache-strategy', 'content'])
// The only rule that needs types, without tests, because runners await their tests themselves, and of those that both
// have the one that took eslint longest. For eslint, computing types took as long as all its other rules.
const checked = run('oxlint/bin/oxlint', '--type-aware', '--config', 'build/oxlint.json')
process.exitCode = styled && checked ? 0 : 1
