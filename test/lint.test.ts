import t from 'tap'
import { ESLint } from 'eslint'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const eslint = new ESLint({ cwd: root })

/** The layering messages for a file of that place with that import in it. */
async function complaints (file: string, specifier: string): Promise<string[]> {
  const [result] = await eslint.lintText(`import * as it from '${specifier}'\n\nexport default it\n`, { filePath: `${root}${file}` })
  return (result?.messages ?? []).filter(({ ruleId }) => ruleId === 'no-restricted-imports').map(({ message }) => message)
}

t.test('each layer is kept from those above and beside it', async t => {
  for (const [file, specifier] of [
    ['schemas/status.ts', '../storage/backend.js'],
    ['schemas/status.ts', '../plugins/health.js'],
    ['schemas/status.ts', '../routes/index.js'],
    ['schemas/rbac/v1.ts', '../../app.js'],
    ['schemas/status.ts', 'fastify'],
    ['storage/registry.ts', '../plugins/storage.js'],
    ['storage/registry.ts', '../routes/index.js'],
    ['storage/registry.ts', '../config/flag.js'],
    ['storage/registry.ts', '../cli.js'],
    ['storage/registry.ts', 'fastify'],
    ['storage/cache/entry.ts', '../../app.js'],
    ['routes/index.ts', '../plugins/health.js'],
    ['routes/verbs/get.ts', '../../plugins/errors.js'],
    ['routes/index.ts', '../config/flag.js'],
    ['plugins/health.ts', '../routes/index.js'],
    ['plugins/health.ts', '../config/flag.js'],
    ['plugins/health.ts', './audit.js'],
    ['plugins/authentication/index.ts', '../audit.js']
  ] as const) t.not((await complaints(file, specifier)).length, 0, `${file} may not import ${specifier}`)
})

t.test('what a layer may import it may', async t => {
  for (const [file, specifier] of [
    ['routes/index.ts', '../plugins/context.js'],
    ['routes/index.ts', '../plugins/server.js'],
    ['routes/index.ts', '../storage/registry.js'],
    ['storage/registry.ts', '../schemas/index.js'],
    ['plugins/health.ts', '../storage/errors.js'],
    ['plugins/health.ts', './context.js'],
    ['app.ts', './plugins/health.js']
  ] as const) t.same(await complaints(file, specifier), [], `${file} may import ${specifier}`)
})

t.test('the word etcd stays where it belongs', async t => {
  const { readdirSync, readFileSync, statSync } = await import('node:fs')
  const outside = ['app.ts', ...['plugins', 'routes', 'schemas', 'storage'].flatMap(folder =>
    readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' }).map(file => `${folder}/${file}`))]
    .filter(file => file.endsWith('.ts') && statSync(`${root}${file}`).isFile())
    .filter(file => !file.startsWith('storage/etcd/') && file !== 'storage/open.ts')
  const imports = outside.filter(file => /from '[^']*etcd[^']*'/.test(readFileSync(`${root}${file}`, 'utf8')))
  t.same(imports, [])
})
