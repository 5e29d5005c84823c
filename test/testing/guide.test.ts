/** Runs the blocks of docs/testing.md in JavaScript and Python. */
import t from 'tap'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { pythonProgram } from '../tools.js'

const root = resolve(import.meta.dirname, '../../..')
const guide = readFileSync(join(root, 'docs/testing.md'), 'utf8')
const blocks =
  new Map([...guide.matchAll(/```(?:js|py) (\w+)\n([^]*?)```/g)].map(([, name = '', text = '']) => [name, text]))

/** Where the package is found. */
const folder = mkdtempSync(join(import.meta.dirname, 'guide-'))
t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })

async function run (
  program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}
): Promise<{ code: number | null, out: string, err: string }> {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => { out += text })
  child.stderr.setEncoding('utf8').on('data', (text: string) => { err += text })
  const [code] = await once(child, 'close') as [number | null]
  return { code, out, err }
}

const PRINTS: Record<string, string> = {
  simulate: 'Running\nFailed\n',
  webhooks: 'admission webhook "vconfigmap.shop.example" denied the request: closed today\n'
}

t.test('each block is run', async t => {
  t.strictSame([...blocks.keys()].sort(), [...Object.keys(PRINTS), 'python'].sort())
})

for (const [name, prints] of Object.entries(PRINTS)) {
  t.test(name, async t => {
    const file = join(folder, `${name}.mjs`)
    // without `await using`, which later versions of Node know
    writeFileSync(
      file, `${(blocks.get(name) ?? '').replace('await using server', 'const server')}\nawait server.dispose()\n`
    )
    const { code, out, err } = await run(process.execPath, [file])
    t.equal(out, prints, err)
    t.equal(code, 0)
  })
}

t.test('python', async t => {
  const file = join(folder, 'recipe.py')
  writeFileSync(file, blocks.get('python') ?? '')
  const program = join(folder, 'orch-apiserver')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'dist/bundle/cli.js')}' "$@"\n`)
  chmodSync(program, 0o755)
  const python = pythonProgram()
  const { code, out, err } = await run(
    python.path, [file], { ...python.env, PATH: `${folder}${delimiter}${process.env.PATH ?? ''}` }
  )
  t.equal(out, 'the pod runs on node-0\n', err)
  t.equal(code, 0)
})
