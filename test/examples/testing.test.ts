/** The examples of orch-apiserver/testing, run by their own test runners, with the package as the build bundles it. */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const EXAMPLES = fileURLToPath(new URL('../../../examples/testing/', import.meta.url))
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const PACKAGES = `${ROOT}test/node_modules/`
/** Below dist/test/, where imports find the packages of the tests, and the package by its own name. */
const HERE = fileURLToPath(new URL('.', import.meta.url))

function copied (t: { teardown: (fn: () => unknown) => void }): string {
  const folder = mkdtempSync(`${HERE}testing-`)
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  cpSync(EXAMPLES, folder, { recursive: true })
  return folder
}

function run (folder: string, ...args: string[]): { status: number | null, output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder, encoding: 'utf8', timeout: 240_000, env: { PATH: process.env['PATH'] ?? '' }
  })
  return { status, output: stdout + stderr }
}

t.test(
  'a controller, an election under a moved clock, and a flaky network that finds a planted bug, under node:test',
  async t => {
    const { status, output } = run(
      copied(t), '--test', '--test-reporter=tap',
      ...['site-controller', 'elector', 'tally'].map(name => `${name}.test.js`)
    )
    t.equal(status, 0, output)
    t.match(output, new RegExp(`^# pass ${2 + 3 + 5}$`, 'm'))
  }
)

t.test('a controller under tap, with faults', async t => {
  const { status, output } = run(copied(t), 'site-controller.tap.js')
  t.equal(status, 0, output)
  t.match(output, /^# \{ total: 2, pass: 2 \}$/m)
})

t.test('a controller under vitest', async t => {
  // Vitest transforms what is not in a folder node_modules, which takes seconds for the whole package. Below this
  // project it would find that by its own name first.
  const parent = mkdtempSync(join(tmpdir(), 'orch-vitest-'))
  t.teardown(() => { rmSync(parent, { recursive: true, force: true }) })
  const folder = join(parent, 'project')
  cpSync(EXAMPLES, folder, { recursive: true })
  for (const part of ['package.json', 'dist/bundle']) {
    cpSync(`${ROOT}${part}`, `${folder}/node_modules/orch-apiserver/${part}`, {
      recursive: true, filter: path => !path.endsWith('.map')
    })
  }
  for (const name of ['@kubernetes', 'vitest']) symlinkSync(`${PACKAGES}${name}`, `${folder}/node_modules/${name}`)
  symlinkSync(`${ROOT}node_modules`, `${parent}/node_modules`)
  const { status, output } = run(folder, `${PACKAGES}vitest/vitest.mjs`, 'run', '--reporter=tap-flat')
  t.equal(status, 0, output)
  t.match(output, /^1\.\.2$/m)
  t.notMatch(output, /^not ok/m)
})
