/**
 * Line coverage by room, from what V8 has written for each test process. Processes that run the bundle do not count.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** Minimum percentage of covered lines in each room. */
const GOAL = 90

interface Lines { readonly total: number, readonly covered: number }

/**
 * By room, in alphabetical order; files outside of the rooms count as one. @param files by path relative to the root
 */
export function byRoom (files: ReadonlyArray<readonly [file: string, lines: Lines]>): Map<string, Lines> {
  const rooms = new Map<string, Lines>()
  for (const [file, { total, covered }] of [...files].sort(([one], [other]) => one < other ? -1 : 1)) {
    const room = file.includes('/') ? file.slice(0, file.indexOf('/')) : 'top level'
    const before = rooms.get(room) ?? { total: 0, covered: 0 }
    rooms.set(room, { total: before.total + total, covered: before.covered + covered })
  }
  return rooms
}

const percent = ({ total, covered }: Lines): number => 100 * covered / total

/** Prints a line for each room. @param folder of V8's files @returns the rooms below the goal */
export function reportCoverage (root: string, folder: string, print: (line: string) => void): string[] {
  const report = join(folder, 'report')
  const excluded = [
    'test/**', 'dist/test/**', 'examples/**', 'dist/examples/**', 'build/**', 'node_modules/**', 'dist/bundle/**',
    'dist/dev/**'
  ].flatMap(pattern => ['--exclude', pattern])
  // Not --exclude-after-remap: it counts almost every line as covered.
  execFileSync(
    process.execPath,
    [
      '--max-old-space-size=4096', join(root, 'test/node_modules/c8/bin/c8.js'), 'report', `--temp-directory=${folder}`,
      `--reports-dir=${report}`, '--reporter=json-summary', '--merge-async', ...excluded
    ],
    { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] }
  )
  const { total: _all, ...files } = JSON.parse(readFileSync(
    join(report, 'coverage-summary.json'), 'utf8'
  )) as Record<string, { lines: Lines }>
  const rooms = byRoom(Object.entries(files)
    .map(([file, { lines }]) => [relative(root, file), lines] as const)
    .filter(([file]) => file.endsWith('.ts')))
  for (const [room, lines] of rooms) {
    print(`${room.padEnd(14)} ${percent(lines).toFixed(1).padStart(5)} % of ${lines.total} lines`)
  }
  return [...rooms].filter(([, lines]) => percent(lines) < GOAL).map(([room]) => room)
}
