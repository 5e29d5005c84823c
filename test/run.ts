/**
 * The test command: checks the style, gets what the tests need from outside the registry, runs every test
 * file, shows what failed, and ends with one line of totals. Arguments choose files by part of their path.
 *
 *     npm test                 everything
 *     npm test -- routes/list  some of it
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const cache = join(root, '.cache')
const log = join(cache, 'results.tap')
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

interface Outcome { readonly file: string, readonly passed: number, readonly failed: number, readonly skipped: number, readonly ok: boolean, readonly output: string }

/** A file is a program that speaks TAP: run by Node itself, so that what it starts inherits nothing of a runner. */
async function runFile (file: string): Promise<Outcome> {
  const child = spawn(process.execPath, ['--enable-source-maps', file], {
    cwd: root, env: { ...process.env, TAP_TIMEOUT: String(TIMEOUT) }, stdio: ['ignore', 'pipe', 'pipe']
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => { output += text.toString() })
  const code = await new Promise<number>(resolve => { child.on('close', status => { resolve(status ?? 1) }) })
  const totals = output.split('\n').findLast(line => line.startsWith('# { total:')) ?? ''
  const count = (name: string): number => Number(new RegExp(`\\b${name}: (\\d+)`).exec(totals)?.[1] ?? 0)
  const none = count('total') === 0 // a file that asserts nothing has not tested anything
  const failed = count('fail') + (code !== 0 && count('fail') === 0 ? 1 : 0) + (code === 0 && none ? 1 : 0)
  return { file, passed: count('pass'), failed, skipped: count('skip') + count('todo'), ok: failed === 0, output }
}

/** Each failed assertion with its explanation. */
function explain (output: string): string {
  const shown: string[] = []
  let showing = false
  for (const line of output.split('\n')) {
    if (/^\s*not ok/.test(line)) showing = true
    else if (/^\s*(ok \d|# Subtest|1\.\.|# \{ total)/.test(line)) showing = false
    if (showing) shown.push(line)
  }
  return shown.length > 0 ? shown.join('\n') : output.split('\n').slice(-40).join('\n')
}

console.log(`running ${files.length} test files`)
const started = Date.now()
const outcomes: Outcome[] = []
const queue = files.values()
await Promise.all(Array.from({ length: JOBS }, async () => {
  for (const file of queue) {
    const since = Date.now()
    const outcome = await runFile(file)
    outcomes.push(outcome)
    console.log(`${outcome.ok ? 'ok    ' : 'FAILED'} ${file} (${((Date.now() - since) / 1000).toFixed(1)} s, ${outcome.passed} passed${outcome.failed > 0 ? `, ${outcome.failed} failed` : ''})`)
    if (!outcome.ok) console.log(explain(outcome.output))
  }
}))

writeFileSync(log, outcomes.map(({ file, output }) => `# ${file}\n${output}`).join('\n'))
const sum = (of: (outcome: Outcome) => number): number => outcomes.reduce((total, outcome) => total + of(outcome), 0)
console.log(`\n${((Date.now() - started) / 1000).toFixed(0)} s; the whole output is in ${log}`)
const skipped = sum(outcome => outcome.skipped)
const failed = sum(outcome => outcome.failed)
console.log(`${sum(outcome => outcome.passed)} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 ? 1 : 0
