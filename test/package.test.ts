import t from 'tap'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8')
const manifest = JSON.parse(read('package.json')) as {
  version: string
  license: string
  scripts: Record<string, string> & { start: string }
  bin: Record<string, string>
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  peerDependencies: Record<string, string>
}

const forTests = JSON.parse(read('test/package.json')) as { dependencies: Record<string, string> }
interface Lock {
  packages: Record<string, {
    dev?: boolean
    version: string
    integrity?: string
    optional?: boolean
    dependencies?: Record<string, string>
  }>
}

/** How the kernel splits the first line of a script: a program and at most one argument. */
const [, program = '', argument = ''] = /^#!(\S+) (.*)\n/.exec(read('build/bin.ts')) ?? []

t.test('npm start, the command and the image give Node the same flags', async t => {
  // exec node FLAGS program --local
  const flags = (manifest.scripts.start.split('; ').at(-1) ?? '').split(' ').slice(2, -2)
  t.not(flags.length, 0)
  t.strictSame(argument.split(' '), ['-S', 'node', ...flags])
  const [, entry = ''] = /^ENTRYPOINT (.*)$/m.exec(read('Containerfile')) ?? []
  t.strictSame((JSON.parse(entry) as string[]).slice(1, -1), flags)
})

t.test('the command starts the way its first line says', async t => {
  const out = execFileSync(
    program, [argument, `${root}${manifest.bin['orch-apiserver']}`, '--version'], { encoding: 'utf8' }
  )
  t.match(out, `orch-apiserver ${manifest.version}`)
})

t.test('a checkout without packages says what to run, in one line', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-checkout-')) // outside the checkout, whose packages it would find
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  cpSync(join(root, 'build'), join(folder, 'build'), { recursive: true })
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  // dev and build begin with the same step
  for (const script of ['build', 'dev']) t.match(manifest.scripts[script], /^node build\/protobuf\.js &&/, script)
  const { status, stderr } = spawnSync(process.execPath, ['build/protobuf.js'], { cwd: folder, encoding: 'utf8' })
  t.strictSame([status, stderr], [1, 'the packages are not installed yet: run npm ci first\n'])
})

t.test('the package holds what serves and nothing else; test/consumer.test.ts has its declarations', async t => {
  const out = execFileSync(
    'npm', ['pack', '--dry-run', '--json', '--ignore-scripts'],
    { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }
  )
  const [{ files }] = JSON.parse(out) as [{ files: Array<{ path: string }> }]
  const paths = files.map(({ path }) => path)
  const links = [...read('README.md').matchAll(/\]\((?!https?:|#)([^)]+)\)/g)].map(([, path = '']) => path)
  t.same(links.filter(path => !paths.includes(path)), [], 'no link of the README is dead in the package')
  const named = [...read('README.md').matchAll(/`((?:docs|examples)\/[\w./-]+)`/g)].map(([, path = '']) => path)
  t.ok(named.length > 5)
  t.same(
    named.filter(path => !paths.some(file => file === path || file.startsWith(`${path}/`))), [],
    'its documents and examples are in the package'
  )
  for (const needed of [
    'dist/bundle/app.js', 'dist/bundle/app.cjs', 'dist/bundle/host.cjs', 'dist/bundle/schemas.cjs',
    'dist/bundle/testing.cjs', 'dist/bundle/cli.js', 'dist/bundle/cli.cjs', 'dist/bundle/open-telemetry.cjs',
    'dist/bundle/schemas.js', 'dist/bundle/testing.js', 'dist/bundle/text-worker.js', 'dist/bundle/stall-worker.js',
    'dist/bundle/NOTICES.txt', 'README.md', 'CHANGELOG.md', 'LICENSE', 'package.json'
  ]) {
    t.ok(paths.includes(needed), needed)
  }
  t.strictSame(paths.filter(path => /^dist\/(?!bundle\/|types\/)|\.map$/.test(path)), [])
})

/** The packages that are part of the bundle. */
const bundled = (): string[] =>
  [...read('dist/bundle/NOTICES.txt').matchAll(/^(\S+) \d+\.\d+\.\S+ \(.*\)$/gm)].map(([, name = '']) => name)

t.test('the licence is the one the manifest names, and is in the package and the image', async t => {
  t.equal(manifest.license, 'Apache-2.0')
  t.match(read('LICENSE'), /^ +Apache License\n +Version 2\.0, January 2004\n/)
  t.match(read('README.md'), '[Apache-2.0](LICENSE)')
  t.match(read('Containerfile'), /^COPY LICENSE /m)
})

t.test('the bundle has the licences of its dependencies', async t => {
  const names = bundled()
  for (const name of ['fastify', '@fastify/helmet', 'commander', 'helmet', 'pino']) t.ok(names.includes(name), name)
  t.equal(read('dist/bundle/NOTICES.txt').match(/without warranty|"AS IS"|AS IS/gi)?.length !== undefined, true)
})

t.test('classes that the plugin and the schemas share are in the bundle once, and in the launcher too', async t => {
  const count = (texts: string[], name: string): number =>
    texts.flatMap(text => text.match(new RegExp(`class ${name}\\d* extends|${name}\\d* = class`, 'g')) ?? []).length
  const modules = readdirSync(`${root}dist/bundle`)
    .filter(file => file.endsWith('.js'))
    .map(file => read(`dist/bundle/${file}`))
  for (const name of ['StatusError', 'StorageError']) t.equal(count(modules, name), 1, name)
  for (const name of ['StatusError', 'StorageError', 'FlagError']) {
    t.equal(count([read('dist/bundle/cli.cjs')], name), 1, `${name} of the launcher`)
  }
})

t.test(
  'the build leaves the launcher compiled for the Node it ran on, with the flags of the command and with none',
  async t => {
    const ask =
      "process.argv.push('cli.js', '--version'); const { script } = await import('./dist/bundle/cli.js'); " +
    'console.log(script.cachedDataRejected)'
    for (const flags of [argument.split(' ').slice(2), []]) {
      const out = execFileSync(
        process.execPath, [...flags, '--input-type=module', '-e', ask], { cwd: root, encoding: 'utf8', timeout: 20_000 }
      )
      t.match(out, /^orch-apiserver .*\nfalse\n$/)
    }
    const caches = readdirSync(`${root}dist/bundle`).filter(file => file.endsWith('.cache'))
    t.equal(caches.length, 2)
    for (const file of caches) {
      t.match(
        file, `cli.${process.version}-`, 'no other release of Node loads it: V8 would crash where its tag is the same'
      )
    }
  }
)

t.test('a host that embeds the plugin loads nothing of the launcher', async t => {
  const seen = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    for (const [, next = ''] of read(`dist/bundle/${file}`).matchAll(
      /^(?:import|export) [^;]*?"\.\/(\S+\.js)";$|^import "\.\/(\S+\.js)";$/gm
    )) {
      visit(next)
    }
  }
  visit('app.js')
  const texts = [...seen].map(file => read(`dist/bundle/${file}`)).join('')
  t.ok(seen.size > 3)
  for (const name of ['fastify-plugin', 'helmet']) t.match(texts, `// node_modules/${name}/`, name)
  for (const name of ['commander', 'pino', 'fastify', '@fastify/cors']) {
    t.notOk(texts.includes(`// node_modules/${name}/`), name)
  }
})

t.test('an audit of the dependencies sees every package that runs', async t => {
  const lock = JSON.parse(read('package-lock.json')) as Lock
  for (const name of bundled()) {
    t.notOk(Object.hasOwn(manifest.devDependencies, name), name)
    const copies = Object.entries(lock.packages).filter(([path]) => path.endsWith(`node_modules/${name}`))
    t.ok(copies.some(([, { dev }]) => dev !== true), `${name} is installed in production`)
  }
  t.match(manifest.peerDependencies['fastify'], manifest.dependencies['fastify'], 'the Fastify of a host is the same')
})

t.test('docs/architecture.md gives a reason for each dependency and for no other package', async t => {
  const [, table = ''] = /^## Dependencies\n([^]*?)(?:\n## |$(?![^]))/m.exec(read('docs/architecture.md')) ?? []
  const named = [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, names = '']) => names.split(', ')).filter(name =>
    name !== 'Package' && !name.startsWith('-'))
  t.strictSame(
    named.sort(), [manifest.dependencies, manifest.devDependencies, forTests.dependencies].flatMap(Object.keys).sort()
  )
})

t.test('the image is built from everything that the package is', async t => {
  const { include } = JSON.parse(read('tsconfig.json')) as { include: string[] }
  const copied = [
    ...read('Containerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)
  ].flatMap(([, sources = '']) => sources.split(' '))
  t.strictSame(include.filter(name => name !== 'examples' && !copied.includes(name)), [])
})

t.test('the tests use the packages of the product in the versions that it runs with', async t => {
  // one for each
  const [product, tests] = [read('package-lock.json'), read('test/package-lock.json')].map(text =>
    (JSON.parse(text) as Lock).packages) as [Lock['packages'], Lock['packages']]
  const shared = [manifest.dependencies, manifest.devDependencies].flatMap(Object.keys)
    .map(name => `node_modules/${name}`)
    .filter(path => path in tests)
  t.ok(shared.includes('node_modules/@types/node'))
  for (const path of shared) t.equal(tests[path]?.version, product[path]?.version, path)
})

t.test('the packages of the tests are installed again when their lock has changed, and only then', async t => {
  const folder = t.testdir({ test: { node_modules: {} } })
  for (const file of ['bundling.js', 'test-packages.js']) cpSync(`${root}build/${file}`, join(folder, 'build', file))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const text = read('test/package-lock.json')
  const there = read('test/node_modules/.package-lock.json')
  const { installed } = await import(`${folder}/build/test-packages.js`) as { installed: () => boolean }
  const lock = (text: string): void => { writeFileSync(join(folder, 'test/package-lock.json'), text) }
  lock(text)
  t.notOk(installed(), 'nothing is there')
  writeFileSync(join(folder, 'test/node_modules/.package-lock.json'), there)
  t.ok(installed(), 'all is there')
  const changed = (change: (packages: Lock['packages']) => void): string => {
    const copy = JSON.parse(text) as Lock
    change(copy.packages)
    return JSON.stringify(copy)
  }
  const { 'node_modules/tap': tap = { version: '' } } = (JSON.parse(text) as Lock).packages
  lock(changed(packages => { packages['node_modules/tap'] = { ...tap, version: '0.0.1' } }))
  t.notOk(installed(), 'another version')
  lock(changed(packages => { packages['node_modules/new'] = tap }))
  t.notOk(installed(), 'one more')
  lock(changed(packages => { packages['node_modules/elsewhere'] = { ...tap, optional: true } }))
  t.ok(installed(), 'one for another system')
  lock(changed(packages => { delete packages['node_modules/tap'] }))
  t.notOk(installed(), 'one less')
})

t.test('the tests install their packages in a clone, once', async t => {
  const folder = t.testdir({
    'package.json': '{ "type": "module" }',
    test: {
      'package.json': '{ "dependencies": { "one": "file:one" } }',
      one: { 'package.json': '{ "name": "one", "version": "1.0.0" }' }
    }
  })
  for (const file of ['bundling.js', 'install.js', 'test-packages.js']) {
    cpSync(`${root}build/${file}`, join(folder, 'build', file))
  }
  execFileSync('npm', ['install', '--package-lock-only', '--offline'], { cwd: join(folder, 'test'), stdio: 'ignore' })
  const install = (): string => execFileSync(process.execPath, ['build/install.js'], { cwd: folder, encoding: 'utf8' })
  t.match(install(), /^installing what the tests need in test\/node_modules$/m)
  t.ok(existsSync(join(folder, 'test/node_modules/one/package.json')))
  t.equal(install(), '')
  for (const command of ['build:tests', 'lint', 'prepack']) {
    t.match(manifest.scripts[command], /^node build\/install\.js && /, command)
  }
  for (const command of ['test', 'test:quick']) t.match(manifest.scripts[command], /^npm run build:tests && /, command)
  t.strictSame(
    (JSON.parse(read('test/package-lock.json')) as Lock).packages['']?.dependencies, forTests.dependencies,
    'the lock is of the manifest'
  )
})
