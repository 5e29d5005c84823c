/**
 * The test command: checks the style, fetches programs from outside the registry, runs every test file (some together,
 * see batches.ts), prints failures, and ends with one line of totals. Arguments select files by part of their path.
 *
 *     npm test                 everything
 *     npm test -- routes/list  some of it
 *     npm test -- --changed    what imports a changed file, nearest first, until something fails
 *     npm test -- --coverage   everything, then the coverage of lines by room
 *     npm test -- --quick      a part of every room, without other programs
 *
 * Everything takes some 1,900 s of CPU on two cores with nothing beside it, and a quarter more on busy ones: 40 for a
 * cold lint, 60 for small benchmarks, 80 for the package in another project, 45 each for the control plane of examples/
 * and for the soak test, 140 for kubectl; the first hundred files take two thirds of it. tap's own command took 1.6
 * times as much, with conformance/ once, because it starts a process for each file: `batches.ts` lets files share one.
 * So a test file is a program that uses only tap's library. A run on two cores ends sooner by less CPU, or by less
 * waiting while nothing else is left.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { batchesOf, COST, FILES, QUICK, silentOf, type Batch } from './batches.js'
import { reportCoverage } from './coverage.js'
import { changedFiles, importGraph, testsOf } from './changed.js'
import { watchIdle } from './idle-cores.js'
import { explain, failedFiles } from './failures.js'
import { FREEZE } from '../../storage/cache/shared.js'
import { count as countRunning, runNode, type Cost } from './process-groups.js'
import { scratchFolder } from './scratch.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const cache = join(root, '.cache')
const log = join(cache, 'results.tap')
const JOBS = 2
/**
 * Further jobs while that much of the machine is idle: many files wait for processes and clocks, a third of the time if
 * there are two jobs.
 */
const MAX_JOBS = 4
const IDLE = 0.4
/** Batches with failures that run once more, alone; if more of them fail, it is not by chance. */
const MAX_AGAIN = 3
/** Number of files that are named at the end of a whole run. */
const MOST = 20
/**
 * Seconds for one file, and for each further file of a batch, on the slowest machines; the slowest files kill and
 * restart real servers. Tests have no limits of their own.
 */
const TIMEOUT = 600
const TIMEOUT_MORE = 60
/**
 * Further seconds before a file that does not end by itself is killed with its children: if its event loop spins, it
 * does not see its own timeout.
 */
const GRACE = 30

/**
 * Most code of a test runs a few times: compiling it quickly, and seldom optimizing it, takes a third less CPU. A young
 * generation as large as that of the launcher saves another tenth.
 */
const FLAGS =
  ['--always-sparkplug', '--interrupt-budget=600000', '--min-semi-space-size=16', '--max-semi-space-size=32']

const option = { type: 'boolean', default: false } as const
const { values: { quick, changed, coverage }, positionals: chosen } = parseArgs({
  options: { quick: option, changed: option, coverage: option }, allowPositionals: true
})
const sourceOf = (file: string): string => relative('dist', file).replace(/js$/, 'ts')
const all = !quick && !changed && chosen.length === 0
/** Tests by their distance from the changed files. */
const waves = changed ? testsOf(changedFiles(root), importGraph(root)) : undefined
const affected = waves === undefined ? undefined : new Set(waves.flat())
const files = readdirSync(join(root, 'dist/test'), { recursive: true, withFileTypes: true }) // so it follows no link
  .map(({ parentPath, name }) => relative(join(root, 'dist/test'), join(parentPath, name)))
  // Build output of a deleted file is not a test.
  .filter(file => file.endsWith('.test.js') && existsSync(join(root, 'test', file.replace(/js$/, 'ts'))))
  .filter(file => chosen.length === 0 || chosen.some(part => file.includes(part)))
  .filter(file => !quick || QUICK.some(part => file.startsWith(part)))
  .map(file => join('dist/test', file))
  .filter(file => affected === undefined || affected.has(sourceOf(file)))
  .sort()
if (files.length === 0) {
  console.error(changed ? 'no test imports a changed file' : `no test file matches ${chosen.join(', ')}`)
  process.exit(changed ? 0 : 1)
}

mkdirSync(cache, { recursive: true })
const scratch = scratchFolder() ?? tmpdir()
const covered = join(cache, 'coverage')
if (coverage) rmSync(covered, { recursive: true, force: true })

interface Outcome extends Cost {
  readonly title: string
  readonly files: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly ok: boolean
  readonly output: string
}

/** Beside the lint, which needs no other programs. The run ends with one line if one is not available. */
const tools = quick
  ? Promise.resolve()
  : runNode(['dist/test/runner/fetch-tools.js'], root, {}, TIMEOUT).then(({ code, output }) => {
      if (code === 0) return
      console.error(output.trim())
      process.exit(1)
    })

/** As `npm run lint`, with its cache. With an empty cache it takes one core for a minute, so tests run beside it. */
async function runLint (): Promise<Outcome> {
  const { code, output, ...cost } = await runNode(['build/lint.js'], root, {}, TIMEOUT)
  return {
    title: 'lint',
    files: [],
    env: {},
    passed: 0,
    failed: code === 0 ? 0 : 1,
    skipped: 0,
    ok: code === 0,
    output,
    ...cost
  }
}

/** A file is a program that writes TAP. Node itself runs it, so that its children inherit nothing from a runner. */
async function runBatch ({ title, files, env }: Batch): Promise<Outcome> {
  await tools
  const timeout = TIMEOUT + TIMEOUT_MORE * (files.length - 1)
  const { code, output: printed, ...cost } = await runNode([...FLAGS, 'dist/test/runner/together.js'], root, {
    ...env, [FREEZE]: '1', ...(coverage ? { NODE_V8_COVERAGE: covered } : {}), [FILES]: files.join(' '),
    TMPDIR: scratch, TAP_TIMEOUT: String(timeout)
  }, timeout + GRACE)
  let output = printed
  const totals = output.split('\n').findLast(line => line.startsWith('# { total:')) ?? ''
  const count = (name: string): number => Number(new RegExp(`\\b${name}: (\\d+)`).exec(totals)?.[1] ?? 0)
  const silent = code === 0 ? silentOf(files, output) : [] // a file that asserts nothing has not tested anything
  for (const file of silent) output += `\nnot ok - ${file} asserted nothing\n`
  const failed = count('fail') + (code !== 0 && count('fail') === 0 ? 1 : 0) + silent.length
  return {
    title,
    files,
    env,
    passed: count('pass'),
    failed,
    skipped: count('skip') + count('todo'),
    ok: failed === 0,
    output,
    ...cost
  }
}

/** What each file of an outcome took, in seconds of CPU. */
function costs ({ title, files, cpu, output }: Outcome): Array<readonly [name: string, cpu: number]> {
  if (files.length < 2) return [[title, cpu]]
  return [
    ...output.matchAll(new RegExp(`^# ${COST}(\\S+) (.*)`, 'gm'))
  ].map(([, seconds, file = '']) => [file, Number(seconds)])
}

console.log(`running ${files.length} test files`)
const started = Date.now()
const outcomes: Outcome[] = []
const isIn = (wave: readonly string[]) => (file: string): boolean => wave.includes(sourceOf(file))
const batches = waves === undefined ? batchesOf(files) : waves.flatMap(wave => batchesOf(files.filter(isIn(wave))))
const queue = [...(all ? [runLint] : []), ...batches.map(batch => async () => await runBatch(batch))].values()

async function runNext (): Promise<boolean> {
  if (changed && outcomes.some(({ ok }) => !ok)) return false
  const { value: next } = queue.next()
  if (next === undefined) return false
  const outcome = await next()
  outcomes.push(outcome)
  report(outcome)
  return true
}

function report (outcome: Outcome): void {
  const took = `${outcome.seconds.toFixed(1)} s, ${outcome.cpu.toFixed(1)} s of CPU`
  const counts = `${outcome.passed} passed${outcome.failed > 0 ? `, ${outcome.failed} failed` : ''}`
  console.log(`${outcome.ok ? 'ok    ' : 'FAILED'} ${outcome.title} (${took}, ${counts})`)
  if (!outcome.ok) {
    console.log(outcome.files.length === 0 ? outcome.output : explain(root, outcome.output, outcome.files, outcome.env))
  }
}

/**
 * Other programs, sockets and clocks are not always in time while four processes share two cores: in a whole run, files
 * that failed run once more with nothing beside them, and what they do then counts. Both outcomes are shown, because a
 * failure that comes and goes may be a fault of the product.
 */
async function runAgain (): Promise<string[]> {
  const ill = [...outcomes.entries()].filter(([, { ok, files }]) => !ok && files.length > 0)
  if (!all || ill.length > MAX_AGAIN) return []
  const healed: string[] = []
  for (const [index, outcome] of ill) {
    const files = failedFiles(outcome.output, outcome.files)
    console.log(`\nonce more, with nothing beside them: ${files.join(' ')}`)
    const alone = await runBatch({ ...outcome, files })
    report(alone)
    if (!alone.ok) continue
    healed.push(...files)
    outcomes[index] = {
      ...outcome, failed: 0, ok: true, cpu: outcome.cpu + alone.cpu, output: `${outcome.output}\n${alone.output}`
    }
  }
  return healed
}

const besides = new Set<Promise<unknown>>()
const stop = watchIdle(share => {
  if (share < IDLE || countRunning() >= MAX_JOBS) return
  const beside = runNext().finally(() => besides.delete(beside))
  besides.add(beside)
})
await Promise.all(Array.from({ length: JOBS }, async () => { while (await runNext()); }))
stop()
await Promise.all(besides)
const healed = await runAgain()

writeFileSync(log, outcomes.map(({ title, output }) => `# ${title}\n${output}`).join('\n'))
const sum = (of: (outcome: Outcome) => number): number => outcomes.reduce((total, outcome) => total + of(outcome), 0)
if (all) {
  console.log('\nmost CPU went to')
  for (const [name, cpu] of outcomes.flatMap(costs).sort(([, one], [, other]) => other - one).slice(0, MOST)) {
    console.log(`${cpu.toFixed(1).padStart(7)} s  ${name}`)
  }
}
console.log(
  `\n${((Date.now() - started) / 1000).toFixed(0)} s, ${sum(outcome => outcome.cpu).toFixed(0)} s of CPU; the whole ` +
  `output is in ${log}`
)
const skipped = sum(outcome => outcome.skipped)
const failed = sum(outcome => outcome.failed)
const low = coverage ? reportCoverage(root, covered, line => { console.log(line) }) : []
if (low.length > 0 && chosen.length === 0) console.log(`too few lines are covered in ${low.join(', ')}`)
if (healed.length > 0) console.log(`failed beside others and passed alone: ${healed.join(' ')}`)
console.log(`${sum(outcome => outcome.passed)} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 || (low.length > 0 && chosen.length === 0) ? 1 : 0
