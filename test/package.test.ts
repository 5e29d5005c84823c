import t from 'tap'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8')
const manifest = JSON.parse(read('package.json')) as { version: string, scripts: { start: string }, bin: Record<string, string>, dependencies: Record<string, string> }

/** What the system makes of the first line of a script: a program and at most one argument. */
const [, program = '', argument = ''] = /^#!(\S+) (.*)\n/.exec(read('cli.ts')) ?? []

t.test('npm start, the command and the image give Node the same flags', async t => {
  const flags = manifest.scripts.start.split(' ').slice(2, -1) // exec node FLAGS program
  t.not(flags.length, 0)
  t.strictSame(argument.split(' '), ['-S', 'node', ...flags])
  const [, entry = ''] = /^ENTRYPOINT (.*)$/m.exec(read('Containerfile')) ?? []
  t.strictSame((JSON.parse(entry) as string[]).slice(1, -1), flags)
})

t.test('the command starts the way its first line says', async t => {
  const out = execFileSync(program, [argument, `${root}${manifest.bin['orch-apiserver']}`, '--version'], { encoding: 'utf8' })
  t.match(out, `orch-apiserver ${manifest.version}`)
})

t.test('the package holds what serves and nothing else', async t => {
  const out = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const [{ files }] = JSON.parse(out) as [{ files: Array<{ path: string }> }]
  const paths = files.map(({ path }) => path)
  for (const needed of ['dist/app.js', 'dist/app.d.ts', 'dist/cli.js', 'dist/storage/embedded/lmdb.js', 'dist/schemas/yaml-worker.js', 'README.md', 'CHANGELOG.md', 'package.json']) t.ok(paths.includes(needed), needed)
  t.strictSame(paths.filter(path => /^dist\/(?:test|examples|\.)|\.map$|(?<!\.d)\.ts$/.test(path)), [])
})

t.test('docs/architecture.md gives a reason for each dependency and for no other package', async t => {
  const [, table = ''] = /^## Dependencies\n([^]*?)(?:\n## |$(?![^]))/m.exec(read('docs/architecture.md')) ?? []
  const named = [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, names = '']) => names.split(', ')).filter(name => name !== 'Package' && !name.startsWith('-'))
  t.strictSame(named.sort(), Object.keys(manifest.dependencies).sort())
})
