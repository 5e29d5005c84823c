/**
 * The last step of `npm run build`: the launcher and the plugin with the packages they need in a few files, as what
 * makes a start slow is the number of files that are found, read and linked. What hosts import is in modules, with chunks for
 * what several need, so that each exists once in a process; the launcher is one script, which V8 can keep compiled (`bin.ts`).
 * What the compiler made stays beside them: tests import single modules of it, and its types are those of the package.
 */
import { build } from 'esbuild'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../', import.meta.url))
const out = join(root, 'dist/bundle')

/** Not part of the bundle, each for its reason: the package manager installs them beside it. Every other package is bundled. */
const OUTSIDE = [
  'lmdb', // native code
  'etcd3', '@grpc/grpc-js', '@grpc/proto-loader', // loaded with the first lease or compaction over etcd; they read .proto files of their own at run time
  'prom-client', // loaded with the first scrape
  're2js', // loaded with the first regular expression of a user
  'undici', // loaded with the first call to another server
  'yaml', // loaded with the first YAML
  // Fastify loads these for routes with a schema and for injected requests: hosts and tests do that, with a Fastify of their own.
  '@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request'
]

/** Modules that `protobuf.js` made stand in `dist/`. */
const made = {
  name: 'made-of-proto',
  setup: ({ onResolve }) => { onResolve({ filter: /\.proto\.js$/ }, ({ path, resolveDir }) => ({ path: join(root, 'dist', relative(root, resolveDir), path) })) }
}
rmSync(out, { recursive: true, force: true })
const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  external: OUTSIDE,
  plugins: [made],
  keepNames: false,
  sourcemap: 'linked',
  sourcesContent: false,
  metafile: true,
  logLevel: 'warning'
}
const modules = await build({
  ...common,
  entryPoints: { cli: 'build/bin.ts', app: 'app.ts', schemas: 'schemas/public.ts', 'text-worker': 'schemas/codec/text-worker.ts' },
  outdir: out,
  splitting: true,
  format: 'esm',
  // Packages in the older form of modules ask for these.
  banner: { js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url), { filename: __filename, dirname: __dirname } = import.meta;" },
  chunkNames: 'chunk-[hash]'
})
/** A file of its own beside the launcher, which would else hold what few servers load. */
const apart = await build({
  ...common,
  entryPoints: ['plugins/tracing/open-telemetry.ts'],
  outfile: join(out, 'open-telemetry.cjs'),
  format: 'cjs'
})
const loadedApart = {
  name: 'loaded-apart',
  setup: ({ onResolve }) => { onResolve({ filter: /\/open-telemetry\.js$/ }, () => ({ path: './open-telemetry.cjs', external: true })) }
}
const script = await build({
  ...common,
  plugins: [made, loadedApart],
  entryPoints: ['cli.ts'],
  outfile: join(out, 'cli.cjs'),
  format: 'cjs',
  // A script has no import(), which would be looked up by its own name, and nothing that says where it is.
  supported: { 'dynamic-import': false },
  define: { 'import.meta.url': '__url' },
  banner: { js: '(function (require, __url, __filename, __dirname) { const module = { exports: {} }, { exports } = module;' },
  footer: { js: '})' }
})

const other = /^.*[^\0-\x7f].*$/m.exec(readFileSync(join(out, 'cli.cjs'), 'utf8'))
if (other !== null) throw new Error(`the launcher is read as ASCII, write what else is in a regular expression as \\u…: ${other[0].trim()}`)

/** Their licences ask for this. */
const packages = new Set([modules, script, apart].flatMap(({ metafile }) => Object.keys(metafile.inputs)).flatMap(path => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []))
const notices = [...packages].sort().map(folder => {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license', 'LICENCE'].find(each => existsSync(join(root, folder, each)))
  return `${name} ${version} (${license})\n\n${file === undefined ? '' : readFileSync(join(root, folder, file), 'utf8').trim()}\n`
})
writeFileSync(join(out, 'NOTICES.txt'), `Packages that are part of these files, and their licences.\n\n${notices.join(`\n${'-'.repeat(80)}\n\n`)}`)

// With the flags that the command has, and with none.
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
await Promise.all([scripts.start.split(' ').slice(2, -1), []].map(flags => promisify(execFile)(process.execPath, [...flags, join(root, 'build/code-cache.js')])))
