/**
 * Last step of `npm run build`: bundles the launcher and the plugin with their packages into a few files, because start
 * time depends on the number of files. Modules for hosts share chunks, so that each module exists once per process; the
 * launcher is one script, which V8 can cache (`bin.ts`). Hosts that cannot require modules, Jest's among them, get one
 * CommonJS file for all entries. The compiler's output stays beside the bundle for tests.
 */
import { build } from 'esbuild'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { common, generated, MODULE_BANNER, MODULE_GLOBALS, root } from './bundling.js'
import { commitOf } from './commit.js'

// As in `compile.js`: collecting garbage is a quarter of the CPU. Without that it takes 1.1 GB, the compiler 1.3.
process.env.GOGC = 'off'
const out = join(root, 'dist/bundle')
rmSync(out, { recursive: true, force: true })
const modules = await build({
  ...common,
  entryPoints: {
    cli: 'build/bin.ts',
    app: 'app.ts',
    schemas: 'schemas/public.ts',
    testing: 'testing/index.ts',
    'text-worker': 'schemas/codec/text-worker.ts',
    'stall-worker': 'serving/processes/stall-worker.ts'
  },
  outdir: out,
  splitting: true,
  format: 'esm',
  banner: { js: MODULE_BANNER },
  define: MODULE_GLOBALS,
  chunkNames: 'chunk-[hash]'
})
/** Separate, because few servers load it. */
const apart = await build({
  ...common,
  entryPoints: ['plugins/tracing/open-telemetry.ts'],
  outfile: join(out, 'open-telemetry.cjs'),
  format: 'cjs'
})
const loadedApart = {
  name: 'loaded-apart',
  setup: ({ onResolve }) => {
    onResolve({ filter: /\/open-telemetry\.js$/ }, () => ({ path: './open-telemetry.cjs', external: true }))
  }
}
/** Where a host uses CommonJS: `orch` with all other exports, as fastify-plugin has it; the others are namespaces. */
const ENTRIES = { app: 'app.ts', schemas: 'schemas/public.ts', testing: 'testing/index.ts' }
const commonjs = await build({
  ...common,
  plugins: [generated, loadedApart],
  stdin: {
    contents: Object.entries(ENTRIES).map(([name, file]) => `export * as ${name} from './${file}'`).join('\n'),
    resolveDir: root
  },
  outfile: join(out, 'host.cjs'),
  format: 'cjs',
  supported: { 'dynamic-import': false }, // Jest's scripts lack import()
  define: { 'import.meta.url': 'orchUrl' },
  banner: { js: "const orchUrl = require('node:url').pathToFileURL(__filename).href;" }
})
for (const name of Object.keys(ENTRIES)) {
  const exported = name === 'app' ? 'Object.assign(app.default, app)' : name
  const text = `'use strict'\nconst { ${name} } = require('./host.cjs')\nmodule.exports = ${exported}\n`
  writeFileSync(join(out, `${name}.cjs`), text)
}
const script = await build({
  ...common,
  plugins: [generated, loadedApart],
  entryPoints: ['cli.ts'],
  outfile: join(out, 'cli.cjs'),
  format: 'cjs',
  // Scripts lack import() and import.meta.
  supported: { 'dynamic-import': false },
  define: { 'import.meta.url': '__url' },
  banner: {
    js: '(function (require, __url, __filename, __dirname) { "use strict"; const module = { exports: {} }, { exports ' +
      '} = module;'
  },
  footer: { js: '})' }
})

const other = /^.*[^\0-\x7f].*$/m.exec(readFileSync(join(out, 'cli.cjs'), 'utf8'))
if (other !== null) {
  throw new Error(`the launcher is read as ASCII: write other characters of this line as \\u…: ${other[0].trim()}`)
}

/** The licences of bundled packages require these notices. */
const inputs = [modules, commonjs, script, apart].flatMap(({ metafile }) => Object.keys(metafile.inputs))
const packages = new Set(inputs.flatMap(
  path => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []
))
const notices = [...packages].sort().map(folder => {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license', 'LICENCE']
    .find(each => existsSync(join(root, folder, each)))
  return `${name} ${version} (${license}` +
    `)\n\n${file === undefined ? '' : readFileSync(join(root, folder, file), 'utf8').trim()}\n`
})
writeFileSync(
  join(out, 'NOTICES.txt'),
  `Packages that are part of these files, and their licences.\n\n${notices.join(`\n${'-'.repeat(80)}\n\n`)}`
)

writeFileSync(join(out, 'build.json'), JSON.stringify(commitOf(root, readFileSync(join(out, 'cli.cjs')))))

// One cache for the command's flags, one for Node without flags.
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
await Promise.all([scripts.start.split('; ').at(-1).split(' ').slice(2, -2), []].map(flags =>
  promisify(execFile)(process.execPath, [...flags, join(root, 'build/code-cache.js')])))
