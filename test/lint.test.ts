import t, { type Test } from 'tap'
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const { violation } = await import(`${root}build/layers.js`) as {
  violation: (from: string, specifier: string) => string | undefined
}
const { KNOW_NAMES, USE_CONSTANTS } = await import(`${root}build/names.js`) as {
  KNOW_NAMES: readonly string[]
  USE_CONSTANTS: readonly string[]
}
type Graph = ReadonlyMap<string, readonly string[]>
const { cycle, imports } = await import(`${root}build/cycles.js`) as {
  cycle: (graph: Graph) => string[]
  imports: () => Graph
}

/** Why the file may not import the specifier, as a list of at most one. */
const complaints = (file: string, specifier: string): string[] => [
  violation(file.replace(/\.ts$/, ''), specifier) ?? []
].flat()

/** The rules that files break, by path, in a checkout that has the lint and nothing else. */
async function lint (t: Test, files: Readonly<Record<string, string>>): Promise<Record<string, string[]>> {
  const folder = t.testdir({ test: {} })
  cpSync(join(root, 'build'), join(folder, 'build'), { recursive: true })
  symlinkSync(join(root, 'test/node_modules'), join(folder, 'test/node_modules'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const command = [
    join(root, 'test/node_modules/oxlint/bin/oxlint'), '--config=build/style.json', '--format=json',
    ...Object.keys(files)
  ]
  const printed = await new Promise<string>(resolve => execFile(
    process.execPath, command, { cwd: folder, env: { ...process.env, TEST: '1' } }, (_, stdout) => { resolve(stdout) }
  ))
  const broken: Record<string, string[]> = Object.fromEntries(Object.keys(files).map(file => [file, []]))
  for (const { filename, code } of (JSON.parse(printed) as {
    diagnostics: Array<{ filename: string, code: string }>
  }).diagnostics) {
    broken[filename]?.push(code)
  }
  return broken
}

t.test('layers, cycles, getters in literals and layout are part of the lint', async t => {
  const of = (text: string): string => `${text}\n`
  t.strictSame(await lint(t, {
    'plugins/anything.ts': of("import '../config/flag.js'"),
    'schemas/one.ts': of("import './other.js'"),
    'schemas/other.ts': of("import './one.js'"),
    'routes/getter.ts': of('export const it = { get one () { return 1 } }'),
    'schemas/getter.ts': of('export const it = { get one () { return 1 } }'),
    'schemas/layout.ts': of('export const it = 1;'),
    'schemas/wide.ts': of(`export const it = '${'x'.repeat(120)}'`),
    'schemas/well.ts': of('export const it = 1')
  }), {
    'plugins/anything.ts': ['orch(layers)'],
    'schemas/one.ts': ['orch(cycles)'],
    'schemas/other.ts': ['orch(cycles)'],
    'routes/getter.ts': ['orch(no-getters-in-literals)'],
    'schemas/getter.ts': [],
    'schemas/layout.ts': ['@stylistic(semi)'],
    'schemas/wide.ts': ['@stylistic(max-len)'],
    'schemas/well.ts': []
  })
})

t.test('each layer is kept from those above and beside it', async t => {
  for (const [file, specifier] of [
    ['schemas/status.ts', '../storage/backend.js'],
    ['testing/server.ts', '../plugins/health.js'],
    ['host/client.ts', '../plugins/health.js'],
    ['host/client.ts', '../routes/index.js'],
    ['plugins/health.ts', '../host/client.js'],
    ['testing/server.ts', '../config/options.js'],
    ['testing/server.ts', '../storage/embedded/memory.js'],
    ['config/options.ts', '../testing/server.js'],
    ['app.ts', './testing/index.js'],
    ['cli.ts', './testing/server.js'],
    ['schemas/status.ts', '../plugins/health.js'],
    ['schemas/status.ts', '../routes/index.js'],
    ['schemas/api/rbac/roles.ts', '../../../app.js'],
    ['schemas/status.ts', 'fastify'],
    ['schemas/status.ts', '../clients/errors.js'],
    ['schemas/status.ts', '../files/folders.js'],
    ['files/folders.ts', '../schemas/status.js'],
    ['registry/resource-registry.ts', '../files/folders.js'],
    ['registry/apply/update.ts', '../resource-store.js'],
    ['registry/apply/update.ts', '../stages/own.js'],
    ['registry/patch/json-patch.ts', '../apply/shape.js'],
    ['clients/errors.ts', '../storage/errors.js'],
    ['clients/errors.ts', '../config/files.js'],
    ['clients/errors.ts', '../plugins/health.js'],
    ['clients/errors.ts', 'fastify'],
    ['registry/resource-registry.ts', '../clients/http-client.js'],
    ['routes/verbs/get.ts', '../../clients/http-client.js'],
    ['registry/resource-registry.ts', '../plugins/storage/index.js'],
    ['registry/resource-registry.ts', '../routes/index.js'],
    ['registry/resource-registry.ts', '../config/flag.js'],
    ['registry/resource-registry.ts', '../cli.js'],
    ['registry/resource-registry.ts', 'fastify'],
    ['storage/cache/entry.ts', '../../app.js'],
    ['routes/index.ts', '../plugins/health.js'],
    ['routes/index.ts', '../plugins/shared/server.js'],
    ['routes/verbs/get.ts', '../../plugins/errors.js'],
    ['routes/index.ts', '../config/flag.js'],
    ['plugins/health.ts', '../routes/index.js'],
    ['plugins/health.ts', '../config/flag.js'],
    ['plugins/health.ts', '../serving/listener.js'],
    ['schemas/status.ts', '../serving/tls.js'],
    ['config/options.ts', '../serving/tls.js'],
    ['config/options.ts', '../plugins/request-info.js'],
    ['serving/listener.ts', '../plugins/health.js'],
    ['serving/listener.ts', '../schemas/status.js'],
    ['serving/listener.ts', 'fastify'],
    ['plugins/health.ts', './audit/index.js'],
    ['plugins/authentication/index.ts', '../audit/index.js'],
    // New files and folders.
    ['plugins/new-concern.ts', './audit/index.js'],
    ['plugins/audit/index.ts', '../new-concern.js'],
    ['plugins/shared/accept.ts', '../audit/index.js'],
    ['answers/send.ts', '../schemas/compat/text.js'],
    ['answers/send.ts', '../plugins/shared/server.js'],
    ['answers/send.ts', '../plugins/shared/plugin.js'],
    ['plugins/audit/index.ts', '../authentication/token-file.js'],
    ['plugins/new/index.ts', '../audit/sink.js'],
    ['routes/index.ts', '../new-folder/it.js'],
    ['new-folder/it.ts', '../plugins/health.js'],
    ['registry/resource-registry.ts', '../new-file.js'],
    ['app.ts', './serving/listener.js'],
    ['storage/backend.ts', '../serving/wire/pipelines.js'],
    ['serving/wire/pipelines.ts', '../../plugins/health.js'],
    ['serving/wire/pipelines.ts', '../listener.js'],
    ['app.ts', './config/command-line.js'],
    ['cli.ts', './plugins/health.js'],
    // The back ends.
    ['registry/resource-registry.ts', '../storage/etcd/backend.js'],
    ['registry/verbs/patch.ts', '../../storage/embedded/lmdb.js'],
    ['storage/encryption/envelope.ts', '@grpc/grpc-js'],
    ['storage/encryption/forms.ts', '@noble/ciphers/salsa.js'],
    ['storage/embedded/lmdb.ts', '../etcd/backend.js'],
    ['routes/index.ts', '../storage/etcd/backend.js'],
    ['plugins/storage/index.ts', '../../storage/embedded/memory.js'],
    ['config/options.ts', '../storage/etcd/backend.js'],
    ['registry/resource-registry.ts', 'etcd3'],
    ['storage/etcd/backend.ts', 'lmdb'],
    ['schemas/meta/quantity.ts', 'protobufjs/minimal.js'],
    ['expressions/program.ts', '../schemas/resource.js'],
    ['expressions/program.ts', '../registry/entries.js'],
    ['storage/embedded/record.ts', 'protobufjs'],
    ['schemas/meta/quantity.ts', '@sinclair/typebox'],
    ['app.ts', 'lmdb'],
    ['app.ts', 'commander']
  ] as const) t.not(complaints(file, specifier).length, 0, `${file} may not import ${specifier}`)
})

/** Below plugins and routes, from the lowest on. */
const FOLDERS = [
  'schemas', 'event-loop', 'storage', 'auth', 'flow-control', 'registry', 'admission', 'controllers', 'answers'
] as const

t.test('no folder imports one above it', async t => {
  for (const [at, folder] of FOLDERS.entries()) {
    for (const above of [
      ...FOLDERS.slice(at + 1), 'plugins', 'routes', 'config', 'clients'
    ]) t.not(complaints(`${folder}/it.ts`, `../${above}/it.js`).length, 0, `${folder} may not import ${above}`)
  }
})

t.test('permitted imports pass', async t => {
  for (const [file, specifier] of [
    ['routes/index.ts', '../answers/request-context.js'],
    ['routes/index.ts', '../registry/resource-registry.js'],
    ['registry/stages/own.ts', '../apply/update.js'],
    ['registry/resource-registry.ts', '../schemas/resource.js'],
    ['admission/chain.ts', '../expressions/program.js'],
    ['schemas/custom/rule.ts', '../../expressions/program.js'],
    ['expressions/program.ts', '../schemas/steps.js'],
    ['plugins/health.ts', '../storage/errors.js'],
    ['plugins/health.ts', '../clients/http-client.js'],
    ['storage/embedded/lmdb.ts', '../../files/folders.js'],
    ['serving/tls.ts', '../files/atomic-files.js'],
    ['testing/server.ts', '../app.js'],
    ['testing/server.ts', '../host/client.js'],
    ['app.ts', './host/index.js'],
    ['host/requests.ts', '../routes/verb-tables.js'],
    ['host/informer.ts', '../controllers/informer.js'],
    ['testing/dev/run.ts', '../../config/command-line.js'],
    ['cli.ts', './testing/dev/run.js'],
    ['clients/errors.ts', '../schemas/on-demand.js'],
    ['serving/tls.ts', '../config/certificates.js'],
    ['config/server-options.ts', '../plugins/health.js'],
    ['serving/listener.ts', '../serving/wire/pipelines.js'],
    ['serving/listener.ts', '../schemas/limits.js'],
    ['plugins/health.ts', '../serving/wire/pipelines.js'],
    ['plugins/health.ts', './shared/server.js'],
    ['routes/index.ts', '../plugins/shared/plugin.js'],
    ['app.ts', './plugins/health.js'],
    ['storage/open.ts', './etcd/backend.js'],
    ['storage/etcd/backend.ts', 'etcd3/lib/connection-pool.js'],
    ['storage/etcd/messages.ts', 'protobufjs/minimal.js'],
    ['clients/socket-calls.ts', '@grpc/grpc-js'],
    ['storage/encryption/key-service-calls.ts', '../../clients/socket-calls.js'],
    ['storage/encryption/cipher.ts', '@noble/ciphers/salsa.js'],
    ['plugins/audit/index.ts', './sink.js'],
    ['plugins/new/index.ts', './part.js'],
    ['plugins/new/index.ts', '../shared/server.js'],
    ['test/routes/any.test.ts', '../../storage/etcd/backend.js']
  ] as const) t.same(complaints(file, specifier), [], `${file} may import ${specifier}`)
})

t.test('an import in another form is one as well', async t => {
  const forms = [
    "await import('../plugins/health.js')",
    "export { it } from '../plugins/health.js'",
    "export * from '../plugins/health.js'",
    "import type { It } from '../plugins/health.js'\n\nexport type That = It",
    "export type That = import('../plugins/health.js').It",
    "onDemand('etcd3/lib/connection-pool.js')"
  ]
  const broken = await lint(
    t, Object.fromEntries(forms.map((text, index) => [`registry/form-${index}.ts`, `${text}\n`]))
  )
  t.strictSame(Object.values(broken), forms.map(() => ['orch(layers)']))
})

t.test('there are no import cycles', async t => {
  const graph = imports()
  t.ok(graph.size > 100)
  for (const [file, loaded] of graph) {
    for (const next of loaded) t.ok(existsSync(`${root}${next}`), `${file} loads ${next}`)
  }
  t.strictSame(cycle(graph), [])
  t.strictSame(
    cycle(new Map([['a', ['b', 'c']], ['b', []], ['c', ['d']], ['d', ['a']]])), ['a', 'c', 'd', 'a'],
    'a cycle would be found'
  )
})

t.test('few files know of names, and the lint finds every other', async t => {
  t.ok(KNOW_NAMES.length <= 9, 'no more than before')
  const known = KNOW_NAMES.map(file => [`${file}.ts`, readFileSync(`${root}${file}.ts`, 'utf8')] as const)
  for (const [file, text] of known) t.match(text, /^\/\*\*/, `${file} begins by saying what it is for`)
  // beside themselves, under a name that is not listed
  const unlisted = Object.fromEntries(known.map(([file, text]) => [file.replace(/\.ts$/, '-copy.ts'), text]))
  for (const [file, rules] of Object.entries(await lint(t, unlisted))) {
    t.ok(rules.includes('orch(names)'), `${file} would be found; else it need not be listed`)
  }
})

t.test('who uses a public name that counts on every server is listed, and needs to be', async t => {
  t.ok(USE_CONSTANTS.length <= 23, 'no more than before')
  for (const file of USE_CONSTANTS) t.match(readFileSync(`${root}${file}.ts`, 'utf8'), /public-names\.js'/, file)
})

t.test('to import names, to ask a Naming and to contain a public name is to know of names', async t => {
  const forms = [
    "import type { Naming } from '../schemas/naming.js'\n\nexport type It = Naming",
    "export * from '../schemas/naming.js'",
    "await import('../schemas/naming.js')",
    "export const it = (naming: { user: (name: string) => string }) => naming.user('x')",
    "export const it = (of: { naming: { user: (name: string) => string } }) => of.naming.user('x')",
    "const naming = { user: 'x' }\nconst { user } = naming\nexport const it = user",
    'export const it = ({ naming: names }: { naming: string }) => names',
    'export function it (of: { naming: string }) {\n  const names = of.naming\n  return names\n}',
    "export { PUBLIC_DOMAINS } from '../schemas/public-names.js'",
    "export const it = 'authentication.k8s.io'",
    'export const it = /\\.kubernetes\\.io$/',
    'export const it = `\\n.k8s.io`'
  ]
  const broken = await lint(
    t, Object.fromEntries(forms.map((text, index) => [`registry/form-${index}.ts`, `${text}\n`]))
  )
  t.ok(Object.values(broken).every(rules => rules.includes('orch(names)')), JSON.stringify(broken))
  t.strictSame(await lint(t, { 'test/it.ts': "export const it = 'authentication.k8s.io'\n" }), { 'test/it.ts': [] })
})
