/**
 * Ways in which hosts load the installed package, each played: `docs/embedding.md`, 'CommonJS, Jest, bundlers and
 * fastify start'.
 */
import type { Test } from 'tap'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './ports.js'

const run = promisify(execFile)
const require = createRequire(import.meta.url)
const packageFolder = (name: string): string => dirname(require.resolve(`${name}/package.json`))

/** A host as a module or a script: it asks its own server, reads YAML in a thread, and starts a test server. */
const host = (imports: string, more = ''): string => `${imports}
async function main () {
  const fastify = Fastify()
  await fastify.register(orch, { prefix: '/cluster', authentication: { anonymous: false, tokens: 't,ann,1' } })
  await fastify.ready()
  await fastify.orch.ready()
  const data = { a: 'x'.repeat(300_000) }
  // Not by inject, whose packages need require(esm), which Jest lacks on Node 20.
  const origin = await fastify.listen({ port: 0, host: '127.0.0.1' })
  const answer = await fetch(origin + '/cluster/api/v1/namespaces/default/configmaps', {
    method: 'POST',
    body: JSON.stringify({ metadata: { name: 'a' }, data }),
    headers: {
      connection: 'close', 'content-type': 'application/json', authorization: 'Bearer t', accept: 'application/yaml'
    }
  })
  const body = await answer.text()
  const maps = fastify.orch.client.of(coreV1.ConfigMap)
  const failure = await maps.get('none', { namespace: 'default' }).catch(error => error)
  await fastify.close()
  ${more}
  return [answer.status, body.slice(0, 15), failure instanceof StatusError].join(' ')
}
`
const PRINTS = '201 kind: ConfigMap true'
const PRINT = 'main().then(text => { console.log(text) }, error => { console.error(error); process.exit(1) })\n'
const TEST_SERVER = 'const server = await testServer()\n  await server.dispose()'
const MODULES = `import Fastify from 'fastify'
import orch, { StatusError } from 'orch-apiserver'
import { coreV1 } from 'orch-apiserver/schemas'
`
const SCRIPTS = `const Fastify = require('fastify')
const orch = require('orch-apiserver')
const { StatusError } = orch
const { coreV1 } = require('orch-apiserver/schemas')
`
const WITH_TESTS = "const { testServer } = require('orch-apiserver/testing')\n"
const BOTH = `import { createRequire } from 'node:module'
import { StatusError } from 'orch-apiserver'
import { testServer } from 'orch-apiserver/testing'
const required = createRequire(import.meta.url)
console.log(
  required('orch-apiserver').StatusError === StatusError, required('orch-apiserver/testing').testServer === testServer
)
`
const PLUGIN = `import orch from 'orch-apiserver'
export default async function (fastify, options) {
  await fastify.register(orch, { prefix: '/cluster', authentication: { anonymous: 'health' } })
}
`
const TYPED = `import Fastify from 'fastify'
import orch, { OptionError, StatusError, type OwnClient, type ServerOptions } from 'orch-apiserver'
import { coreV1 } from 'orch-apiserver/schemas'
import { testServer } from 'orch-apiserver/testing'

const nameOf = async (client: OwnClient): Promise<string> =>
  (await client.of(coreV1.Namespace).get('default')).metadata.name ?? ''

async function main (): Promise<string> {
  const options: ServerOptions = { authentication: { anonymous: false } }
  const fastify = Fastify()
  await fastify.register(orch, { prefix: '/cluster', ...options })
  await fastify.ready()
  await fastify.orch.ready()
  const name = await nameOf(fastify.orch.client)
  await fastify.close()
  const server = await testServer()
  await server.dispose()
  return [name, typeof StatusError, new OptionError('a', undefined, 'b').code].join(' ')
}
main().then(name => { console.log(name) }, error => { console.error(error); process.exit(1) })
`

/**
 * @param project where the package is installed
 * @param misuses a source that the older compiler accepts if it rejects what is marked there
 */
export async function ways (t: Test, project: string, misuses: string): Promise<void> {
  const folder = join(project, 'ways')
  const write = (name: string, text: string): string => {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  }
  const env = { ...process.env, NODE_OPTIONS: '' }
  const node = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await run(process.execPath, args, { cwd: project, env }).catch(
      (error: unknown) => error as { stdout: string, stderr: string }
    )
    return stdout.trim() === '' ? stderr : stdout.trim()
  }

  await t.test('CommonJS', async t => {
    t.equal(await node(write('script.cjs', host(SCRIPTS + WITH_TESTS, TEST_SERVER) + PRINT)), PRINTS)
    t.equal(await node(write('both.mjs', BOTH)), 'true true', 'one copy for modules and scripts')
  })

  await t.test('esbuild', async t => {
    const esbuild = join(packageFolder('esbuild'), 'bin/esbuild')
    const source = write('host.js', host(MODULES) + PRINT)
    const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"
    for (const [name, ...args] of [
      ['outside.mjs', '--format=esm', '--packages=external'],
      ['script.cjs', '--format=cjs', '--external:lmdb'],
      ['module.mjs', '--format=esm', '--external:lmdb', '--external:fastify'],
      ['banner.mjs', '--format=esm', '--external:lmdb', `--banner:js=${banner}`]
    ] as const) {
      const out = join(folder, 'out', name)
      await run(
        esbuild, [source, '--bundle', '--platform=node', '--log-level=error', `--outfile=${out}`, ...args],
        { cwd: project, env }
      )
      t.equal(await node(out), PRINTS, `${name} ${args.join(' ')}`)
    }
  })

  await t.test('Jest', async t => {
    const jest = join(packageFolder('jest'), 'bin/jest.js')
    const asked = `test('a host', async () => { expect(await main()).toBe('${PRINTS}') }, 60_000)\n`
    write('jest/script.test.cjs', host(SCRIPTS + WITH_TESTS, TEST_SERVER) + asked)
    write(
      'jest/module.test.mjs',
      host(`${MODULES}import { testServer } from 'orch-apiserver/testing'\n`, TEST_SERVER) + asked
    )
    for (const [flags, pattern] of [[[], '**/*.test.cjs'], [['--experimental-vm-modules'], '**/*.test.mjs']] as const) {
      const { stderr } = await run(
        process.execPath, [...flags, jest, '--rootDir', join(folder, 'jest'), '--testMatch', pattern],
        { cwd: project, env }
      ).catch((error: unknown) => error as { stderr: string })
      t.match(stderr, /^Tests: +1 passed, 1 total$/m, pattern)
    }
  })

  await t.test('TypeScript', async t => {
    // Only the older compiler has node10; it takes four times the CPU.
    for (const [compiler, kind, ...args] of [
      ['typescript', 'node10', '--module', 'commonjs', '--moduleResolution', 'node10'],
      ['typescript-native', 'node16', '--module', 'node16', '--ignoreConfig']
    ] as const) {
      write(`${kind}/package.json`, JSON.stringify({ type: 'commonjs' }))
      const source = write(`${kind}/host.ts`, TYPED)
      const sources = kind === 'node10' ? [source, write(`${kind}/misuses.ts`, misuses)] : [source]
      t.equal(await node(
        join(packageFolder(compiler), 'bin/tsc'), '--strict', '--exactOptionalPropertyTypes', '--skipDefaultLibCheck',
        '--target', 'es2022', '--lib', 'es2022', '--esModuleInterop', ...args, ...sources
      ), '', args.join(' '))
      t.equal(await node(source.replace(/ts$/, 'js')), 'default function ORCH_ERR_INVALID_OPTION')
    }
  })

  await t.test('fastify start', async t => {
    const cli = join(packageFolder('fastify-cli'), 'cli.js')
    for (const args of [
      [write('plugin.mjs', PLUGIN)],
      ['--prefix', '/cluster', join(project, 'node_modules/orch-apiserver/dist/bundle/app.js')]
    ]) {
      const port = await freePort()
      const child = spawn(
        process.execPath, [cli, 'start', '--port', String(port), '--address', '127.0.0.1', ...args],
        { cwd: project, env, stdio: ['ignore', 'ignore', 'pipe'] }
      )
      const ended = once(child, 'exit')
      let failed = ''
      child.stderr.on('data', (chunk: Buffer) => { failed += chunk.toString() })
      const readyz = `http://127.0.0.1:${port}/cluster/readyz`
      const ready = async (): Promise<boolean> =>
        await fetch(readyz, { headers: { connection: 'close' } }).then(({ ok }) => ok, () => false)
      while (child.exitCode === null && !await ready()) await new Promise(resolve => { setTimeout(resolve, 50) })
      t.equal(child.exitCode, null, failed)
      child.kill('SIGTERM')
      await ended
    }
  })
}
