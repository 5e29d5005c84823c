/**
 * `npm run bench [-- PART …]` measures every figure together with its limit, in the same run; `npm run bench -- check`
 * finds what has become slower (check.ts), and `npm run bench -- readme` prints the tables of README; `quick [PART …]`
 * does less work for each. Each part runs in a process of its own. A missed goal is reported; an error such as a lost
 * event fails the run.
 */
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { PARTIAL, parts } from './parts.js'
import { makeCodeCache, nodeFlags, nodes } from './process.js'
import { keeperTable, lines, type Line } from './report.js'
import { CHECKED, keepRatios, keptRatios, ratiosOf, smaller, worse } from './check.js'
import { about, readerTable, readmeTables, SOURCES, type Run } from './readme.js'
import { CHECK, FULL, QUICK, README, type Scale } from './scale.js'

const SCALES = { full: FULL, quick: QUICK, check: CHECK, readme: README } as const
async function runHere (name: string, scale: Scale): Promise<void> {
  const part = parts[name]
  if (part === undefined) throw new Error(`no such part: ${name}; there are ${Object.keys(parts).join(', ')}`)
  await (await part())(scale)
  process.send?.(lines)
}

/** @returns the lines of each part @param node runs the servers; by default those of BENCH_NODE do, or this one */
async function runAll (
  chosen: readonly string[], scale: keyof typeof SCALES, node?: string
): Promise<ReadonlyArray<readonly [string, Line[]]>> {
  const found: Array<readonly [string, Line[]]> = []
  const failed: string[] = []
  const began = performance.now()
  console.log(
    `${new Date().toISOString().slice(0, 10)}: ${cpus().length} cores, ${(totalmem() / 2 ** 30).toFixed(0)} GB, Node ` +
    `${process.version}, Linux ${release()}, load ${loadavg()[0]?.toFixed(1)} before`
  )
  for (const name of chosen) {
    console.log(`\n${name}`)
    const env = node === undefined ? process.env : { ...process.env, BENCH_NODE: node }
    const child = fork(import.meta.filename, [`--${scale}`, name], { execArgv: nodeFlags(), env })
    child.on('message', message => { found.push([name, message as Line[]]) }) // its last message, see above
    const [code] = await once(child, 'exit') as [number | null]
    if (code !== 0) failed.push(name)
  }
  console.log(`\n${keeperTable(found)}`)
  const missed = found.flatMap(([, shown]) => shown).filter(({ kept }) => kept.startsWith('missed')).length
  console.log(`\n${((performance.now() - began) / 1000).toFixed(0)} s, ${missed} goals missed`)
  if (failed.length > 0) {
    console.error(`FAILED: ${failed.join(', ')}`)
    process.exitCode = 1
  }
  return found
}

async function check (keep: boolean): Promise<void> {
  const found = await runAll(CHECKED, 'check')
  const ratios = ratiosOf(found.flatMap(([, shown]) => shown))
  if (keep) {
    keepRatios(ratios)
    return
  }
  let slower = worse(ratios, keptRatios())
  if (slower.length > 0) { // a single slow result may be bad luck
    const again = found.filter(([, shown]) =>
      shown.some(({ work }) => slower.some(line => line.startsWith(work)))).map(([name]) => name)
    slower = worse(
      smaller(ratios, ratiosOf((await runAll(again, 'check')).flatMap(([, shown]) => shown))), keptRatios()
    )
  }
  console.log(
    slower.length === 0
      ? '\nnothing is more than a tenth slower'
      : `\nslower by more than a tenth:\n${slower.join('\n')}`
  )
  if (slower.length > 0) process.exitCode = 1
}

const [first = '', ...rest] = process.argv.slice(2)
const here = Object.entries(SCALES).find(([name]) => first === `--${name}`)
if (here !== undefined) {
  for (const name of rest) await runHere(name, here[1])
  process.exit()
} else if (first === 'check') {
  await check(rest.includes('keep'))
} else if (first === 'readme') {
  const runs: Run[] = []
  for (const node of nodes.length === 0 ? [process.execPath] : nodes) {
    makeCodeCache(node)
    const lines = (await runAll(SOURCES, 'readme', node)).flatMap(([, shown]) => shown)
    runs.push({ node: execFileSync(node, ['--version'], { encoding: 'utf8' }).trim(), lines })
  }
  const all = runs as [Run, ...Run[]]
  console.log(`\n${readmeTables(all)}\n\n${readerTable(all)}\n\n${about(all)}`)
} else {
  const scale = first === 'quick' ? 'quick' : 'full'
  const chosen = [first, ...rest].filter(name => name !== '' && name !== 'quick')
  for (const node of nodes) makeCodeCache(node)
  await runAll(chosen.length > 0 ? chosen : Object.keys(parts).filter(name => !PARTIAL.has(name)), scale)
}
