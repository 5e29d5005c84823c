import t from 'tap'
import { ESLint, type Linter } from 'eslint'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** The layers by themselves, without the types that other rules need. */
const { default: layers } = await import(`${root}eslint.layers.js`) as { default: Linter.Config }
const { default: config } = await import(`${root}eslint.config.js`) as { default: Linter.Config[] }
const parser = config.find(({ files, languageOptions }) => files?.includes('**/*.ts') === true && languageOptions?.['parser'] !== undefined)?.languageOptions?.['parser'] as Linter.Parser
const eslint = new ESLint({ cwd: root, overrideConfigFile: true, overrideConfig: [{ files: ['**/*.ts'], languageOptions: { parser } }, layers] })

/** What the layers say of a file of that place with that text in it. */
async function complaintsOf (file: string, text: string): Promise<string[]> {
  const [result] = await eslint.lintText(text, { filePath: `${root}${file}` })
  return (result?.messages ?? []).map(({ ruleId, message }) => `${ruleId}: ${message}`)
}

const complaints = (file: string, specifier: string): Promise<string[]> => complaintsOf(file, `import * as it from '${specifier}'\n\nexport default it\n`)

t.test('the layers are part of the lint, as an error', async t => {
  const { rules } = await new ESLint({ cwd: root }).calculateConfigForFile(`${root}plugins/anything.ts`) as { rules: Record<string, unknown> }
  t.strictSame(rules['orch/layers'], [2])
})

t.test('each layer is kept from those above and beside it', async t => {
  for (const [file, specifier] of [
    ['schemas/status.ts', '../storage/backend.js'],
    ['schemas/status.ts', '../plugins/health.js'],
    ['schemas/status.ts', '../routes/index.js'],
    ['schemas/api/rbac/roles.ts', '../../../app.js'],
    ['schemas/status.ts', 'fastify'],
    ['schemas/status.ts', '../clients/errors.js'],
    ['clients/errors.ts', '../storage/errors.js'],
    ['clients/errors.ts', '../config/files.js'],
    ['clients/errors.ts', '../plugins/health.js'],
    ['clients/errors.ts', 'fastify'],
    ['storage/registry.ts', '../clients/http-client.js'],
    ['routes/verbs/get.ts', '../../clients/http-client.js'],
    ['storage/registry.ts', '../plugins/storage.js'],
    ['storage/registry.ts', '../routes/index.js'],
    ['storage/registry.ts', '../config/flag.js'],
    ['storage/registry.ts', '../cli.js'],
    ['storage/registry.ts', 'fastify'],
    ['storage/cache/entry.ts', '../../app.js'],
    ['routes/index.ts', '../plugins/health.js'],
    ['routes/index.ts', '../plugins/server.js'],
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
    ['plugins/health.ts', './audit.js'],
    ['plugins/authentication/index.ts', '../audit.js'],
    // Files and rooms that nobody has heard of yet.
    ['plugins/new-concern.ts', './audit.js'],
    ['plugins/audit.ts', './new-concern.js'],
    ['plugins/audit.ts', './authentication/token-file.js'],
    ['plugins/new/index.ts', '../audit/sink.js'],
    ['routes/index.ts', '../new-room/it.js'],
    ['new-room/it.ts', '../plugins/health.js'],
    ['storage/registry.ts', '../new-file.js'],
    ['app.ts', './serving/listener.js'],
    ['routes/index.ts', '../pipelines.js'],
    ['pipelines.ts', './plugins/health.js'],
    ['pipelines.ts', './serving/listener.js'],
    ['app.ts', './config/command-line.js'],
    ['cli.ts', './plugins/health.js'],
    // The waist.
    ['storage/registry.ts', './etcd/backend.js'],
    ['storage/operations/patch.ts', '../embedded/lmdb.js'],
    ['storage/embedded/lmdb.ts', '../etcd/backend.js'],
    ['routes/index.ts', '../storage/etcd/backend.js'],
    ['plugins/storage.ts', '../storage/embedded/memory.js'],
    ['config/options.ts', '../storage/etcd/backend.js'],
    ['storage/registry.ts', 'etcd3'],
    ['storage/etcd/backend.ts', 'lmdb'],
    ['app.ts', 'lmdb'],
    ['app.ts', 'commander']
  ] as const) t.not((await complaints(file, specifier)).length, 0, `${file} may not import ${specifier}`)
})

t.test('what a layer may import it may', async t => {
  for (const [file, specifier] of [
    ['routes/index.ts', '../plugins/context.js'],
    ['routes/index.ts', '../storage/registry.js'],
    ['storage/registry.ts', '../schemas/index.js'],
    ['plugins/health.ts', '../storage/errors.js'],
    ['plugins/health.ts', '../clients/http-client.js'],
    ['clients/errors.ts', '../schemas/on-demand.js'],
    ['serving/tls.ts', '../config/certificates.js'],
    ['config/server-options.ts', '../plugins/health.js'],
    ['serving/listener.ts', '../pipelines.js'],
    ['serving/listener.ts', '../schemas/limits.js'],
    ['plugins/health.ts', '../pipelines.js'],
    ['plugins/health.ts', './context.js'],
    ['app.ts', './plugins/health.js'],
    ['storage/open.ts', './etcd/backend.js'],
    ['storage/etcd/backend.ts', 'etcd3/lib/connection-pool.js'],
    ['plugins/audit.ts', './audit/sink.js'],
    ['plugins/new/index.ts', './part.js'],
    ['plugins/new/index.ts', '../context.js'],
    ['test/routes/any.test.ts', '../../storage/etcd/backend.js']
  ] as const) t.same(await complaints(file, specifier), [], `${file} may import ${specifier}`)
})

t.test('an import in another form is one as well', async t => {
  for (const text of [
    "await import('../plugins/health.js')",
    "export { it } from '../plugins/health.js'",
    "export * from '../plugins/health.js'",
    "import type { It } from '../plugins/health.js'\n\nexport type That = It",
    "export type That = import('../plugins/health.js').It"
  ]) t.match(await complaintsOf('storage/registry.ts', `${text}\n`), [/^orch\/layers: /], text)
  t.match(await complaintsOf('routes/index.ts', "onDemand('etcd3/lib/connection-pool.js')\n"), [/^orch\/layers: /])
})

/** Every module of the server, by path, and the modules it loads: imports of types are gone when it runs. */
function imports (): Map<string, string[]> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts') && !/^(?:node_modules|dist|test|examples|\.)/.test(file))
  return new Map(files.map(file => {
    const text = readFileSync(`${root}${file}`, 'utf8')
    const found = [...text.matchAll(/^(?:import|export)(?! type\b)[^'"]*?'(\.[^']+)\.js'|\bimport\('(\.[^']+)\.js'\)/gm)]
    return [file, found.map(([, loaded = '', later = '']) => `${posix.join(posix.dirname(file), loaded === '' ? later : loaded)}.ts`)]
  }))
}

/** The first import cycle, if there is one. */
function cycle (graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): string[] => {
    const at = path.indexOf(file)
    if (at >= 0) return [...path.slice(at), file]
    if (done.has(file)) return []
    for (const next of graph.get(file) ?? []) {
      const found = visit(next, [...path, file])
      if (found.length > 0) return found
    }
    done.add(file)
    return []
  }
  for (const file of graph.keys()) {
    const found = visit(file, [])
    if (found.length > 0) return found
  }
  return []
}

t.test('there are no import cycles', async t => {
  const graph = imports()
  t.ok(graph.size > 100)
  for (const [file, loaded] of graph) for (const next of loaded) t.ok(existsSync(`${root}${next}`), `${file} loads ${next}`)
  t.strictSame(cycle(graph), [])
  t.strictSame(cycle(new Map([['a', ['b', 'c']], ['b', []], ['c', ['d']], ['d', ['a']]])), ['a', 'c', 'd', 'a'], 'a cycle would be found')
})
