/**
 * The test command: checks the style, gets what the tests need from outside the registry, runs every test
 * file by tap, shows what failed, and ends with one line of totals. Arguments choose files by part of their path.
 *
 *     npm test                 everything
 *     npm test -- routes/list  some of it
 */
import { spawn, spawnSync } from 'node:child_process'
import { createWriteStream, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const cache = join(root, '.cache')
const output = join(cache, 'results.tap')
const JOBS = 2
/** Seconds for one file; the slowest are those that kill and restart real servers. */
const TIMEOUT = 300

const chosen = process.argv.slice(2)
const files = readdirSync(join(root, 'dist/test'), { recursive: true, encoding: 'utf8' })
  // What was built from a file that is gone is no test.
  .filter(file => file.endsWith('.test.js') && existsSync(join(root, 'test', file.replace(/js$/, 'ts'))))
  .filter(file => chosen.length === 0 || chosen.some(part => file.includes(part)))
  .map(file => join('dist/test', file))
  .sort()
if (files.length === 0) {
  console.error(`no test file matches ${chosen.join(', ')}`)
  process.exit(1)
}

mkdirSync(cache, { recursive: true })
const { ensureTools } = await import('./tools.js')
ensureTools()

if (chosen.length === 0) {
  const lint = spawnSync(process.execPath, ['node_modules/eslint/bin/eslint.js', '.'], { cwd: root, stdio: 'inherit' })
  if (lint.status !== 0) process.exit(1)
}

console.log(`running ${files.length} test files`)
const started = Date.now()
const tap = spawn(process.execPath, [
  'node_modules/tap/dist/esm/run.mjs', 'run', '--reporter=tap', '--disable-coverage', '--allow-incomplete-coverage', `--jobs=${JOBS}`, `--timeout=${TIMEOUT}`, ...files
], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
tap.stdout.pipe(createWriteStream(output))
const code = await new Promise<number>(resolve => { tap.on('close', status => { resolve(status ?? 1) }) })

const lines = readFileSync(output, 'utf8').split('\n')
const count = (name: string): number => {
  const totals = lines.findLast(line => line.startsWith('# { total:')) ?? ''
  return Number(new RegExp(`${name}: (\\d+)`).exec(totals)?.[1] ?? 0)
}

/** Each failed assertion with its explanation, and the file it stands in. */
function showFailures (): void {
  let file = ''
  let showing = false
  for (const line of lines) {
    const subtest = /^# Subtest: (.*)/.exec(line)
    if (subtest !== null) file = subtest[1] ?? ''
    if (/^\s*not ok/.test(line)) {
      console.log(`\n${file}`)
      showing = true
    } else if (/^\s*(ok \d|# Subtest|1\.\.)/.test(line)) {
      showing = false
    }
    if (showing) console.log(line)
  }
}

if (code !== 0) showFailures()
console.log(`\n${((Date.now() - started) / 1000).toFixed(0)} s; the whole output is in ${output}`)
const failed = count('fail') + (code !== 0 && count('fail') === 0 ? 1 : 0)
console.log(`${count('pass')} passed, ${failed} failed${count('skip') > 0 ? `, ${count('skip')} skipped` : ''}`)
process.exitCode = code
