/**
 * The package as its users get it: packed by `npm pack` and installed as a global command, which serves; installed in a
 * project, compiled with the strictest options, and run by node:test, whose process ends only when nothing of the
 * servers is left.
 */
import t from 'tap'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { ask, until } from './interop/server.js'
import { ways } from './embedding-ways.js'
import { freePort } from './ports.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

/** What a host may use, each with a misuse that the compiler must reject. */
const HOST = `
import Fastify, { type FastifyInstance } from 'fastify'
import orch, {
  pluginFor, StatusError, StorageError, type AdmissionPlugin, type Authenticator, type Authorizer, type Backend,
  type ServerOptions
} from 'orch-apiserver'
import { coordinationV1, coreV1, toJson, type Static } from 'orch-apiserver/schemas'
import { Type } from '@sinclair/typebox'
import { testServer, type Exchange, type Fault, type TestServer } from 'orch-apiserver/testing'

export type Lease = coordinationV1.Lease
type ConfigMap = Static<typeof coreV1.ConfigMap>

const clerks: Authenticator = {
  name: 'clerks',
  authenticate: ({ headers }) => typeof headers['x-clerk'] === 'string'
    ? { username: headers['x-clerk'], uid: '', groups: ['clerks'], extra: {} }
    : undefined
}
const nights: Authorizer = {
  name: 'nights',
  authorize: ({ user, info }) => info.verb === 'delete' && user.username === 'night'
    ? { decision: 'Deny', reason: 'not at night' }
    : { decision: 'NoOpinion' }
}
const labels: AdmissionPlugin = pluginFor<ConfigMap>({ group: '', plural: 'configmaps' }, {
  name: 'labels',
  operations: ['CREATE'],
  mutate: ({ object, user }) => {
    if (object === undefined) return
    object.metadata.labels = { owner: user?.groups.at(-1)?.replace('system:', '') ?? '' }
  },
  validate: ({ object }) => {
    if (object?.data?.['forbidden'] !== undefined) throw new StatusError('Forbidden', 'not here')
  }
})

export async function host (storage: NonNullable<ServerOptions['storage']>): Promise<FastifyInstance> {
  const options: ServerOptions = {
    storage,
    authentication: { authenticators: [clerks] },
    authorization: { authorizers: [nights] },
    admission: { plugins: [labels] },
    limits: { requestTimeout: 30_000 }
  }
  const fastify = Fastify()
  await fastify.register(orch, { prefix: '/cluster', ...options })
  return fastify
}

/** A host's own store, whose reads fail while it is away. */
export const away = (backend: Backend): Backend => ({
  ...backend, get: async () => { throw new StorageError('Unavailable', 'it is away') }
})

export const text = (map: ConfigMap): string => toJson(coreV1.ConfigMap, map)

const conflict: Fault = { on: { verb: 'update', resource: 'configmaps' }, status: 409, times: 1 }

export async function tested (): Promise<TestServer> {
  return await testServer({
    fixtures: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }],
    faults: [conflict],
    now: new Date('2030-01-01'),
    server: { authentication: { authenticators: [clerks] } }
  })
}

export const named = ({ exchanges }: TestServer): string[] =>
  exchanges.find({ verb: 'get' }).map(({ name }: Exchange) => name)

// @ts-expect-error -- a status that cannot be injected
export const wrongFault: Fault = { status: 418 }
// @ts-expect-error -- a test server has a store of its own
export const stored = async (): Promise<TestServer> => await testServer({ server: { storage: { kind: 'memory' } } })
// @ts-expect-error -- an unknown option
export const unknownMember: ServerOptions = { storge: { kind: 'memory' } }
// @ts-expect-error -- an unknown kind
export const unknownKind: ServerOptions = { storage: { kind: 'memry' } }
// @ts-expect-error -- an optional member may not be undefined
export const undefinedMember: ServerOptions = { storage: undefined }
const Widget = Type.Object({
  apiVersion: Type.Literal('example.com/v1'),
  kind: Type.Literal('Widget'),
  spec: Type.Object({ size: Type.Integer() })
})

export async function inside (fastify: FastifyInstance): Promise<number> {
  await fastify.orch.ready()
  const { client } = fastify.orch
  const maps = client.as({ username: 'ann', groups: ['team'] }).of(coreV1.ConfigMap)
  const made: ConfigMap = await maps.create({
    metadata: { name: 'of-the-host', namespace: 'default' }, data: { a: 'b' }
  })
  const isMade = ({ metadata }: ConfigMap): boolean => metadata.uid === made.metadata.uid
  let seen = 0
  for await (const { items } of maps.list({ namespace: 'default' })) seen += items.filter(isMade).length
  const informer = client.informer(coreV1.ConfigMap, {
    indexes: { label: ({ metadata }) => Object.keys(metadata.labels ?? {}) }
  })
  await informer.start()
  const found: ConfigMap[] = informer.by('label', 'owner').filter(isMade)
  informer.stop()
  return seen + found.length
}
export const size = async (fastify: FastifyInstance): Promise<number> =>
  (await fastify.orch.client.of(Widget).get('w')).spec.size
export const unknownField = async (fastify: FastifyInstance): Promise<unknown> =>
  // @ts-expect-error -- no field of the type
  await fastify.orch.client.of(coreV1.ConfigMap).create({ metadata: { name: 'a' }, date: {} })
export const informs = (fastify: FastifyInstance): unknown =>
  // @ts-expect-error -- an informer is the server's own
  fastify.orch.client.as({ username: 'ann' }).informer(coreV1.ConfigMap)
// @ts-expect-error -- the decorators of the server are not public
export const decorators = (fastify: FastifyInstance): unknown => fastify.orchMetrics
// @ts-expect-error -- metadata is not a number
export const wrong: Lease = { kind: 'Lease', apiVersion: 'coordination.orch.io/v1', metadata: 1 }
`

const TEST = `
import { CoreV1Api, CustomObjectsApi, KubeConfig, makeInformer, type V1ConfigMap } from '@kubernetes/client-node'
import type { FastifyInstance } from 'fastify'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { performance } from 'node:perf_hooks'
import { after, test } from 'node:test'
import { host, inside, type Lease } from './host.js'

async function configOf (fastify: FastifyInstance): Promise<KubeConfig> {
  await fastify.listen({ port: 0, host: '127.0.0.1' })
  const { port } = fastify.server.address() as AddressInfo
  const config = new KubeConfig()
  const server = \`http://127.0.0.1:\${port}/cluster\`
  config.loadFromClusterAndUser({ name: 'cluster', server, skipTLSVerify: true }, { name: 'user' })
  return config
}

async function until (what: string, holds: () => boolean): Promise<void> {
  for (const started = Date.now(); !holds();) {
    assert.ok(Date.now() - started < 60_000, \`waited in vain for \${what}\`)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

const LEASE = { group: 'coordination.orch.io', version: 'v1', plural: 'leases', namespace: 'default', name: 'leader' }
const TERM = 1000

/** Holds a Lease by renewing it; takes it over when the holder has not renewed it for a term. */
class Candidate {
  leads = false
  #timer: NodeJS.Timeout | undefined
  #asking = Promise.resolve()
  #seen = { version: '', at: 0 }

  constructor (readonly name: string, readonly api: CustomObjectsApi) {}

  start (): void {
    this.#asking = this.#ask().then(leads => { this.leads = leads }, error => {
      if (![404, 409].includes((error as { code: number }).code)) throw error
      this.leads = false // another was faster
    }).then(() => { this.#timer = setTimeout(() => { this.start() }, TERM / 10) })
  }

  async #ask (): Promise<boolean> {
    const renewTime = new Date().toISOString().replace('Z', '000Z')
    const spec = { holderIdentity: this.name, leaseDurationSeconds: TERM / 1000, renewTime }
    const lease = await this.api.getNamespacedCustomObject(LEASE).catch(error => {
      if ((error as { code: number }).code !== 404) throw error
    }) as Lease | undefined
    if (lease === undefined) {
      await this.api.createNamespacedCustomObject({
        ...LEASE,
        body: { kind: 'Lease', apiVersion: 'coordination.orch.io/v1', metadata: { name: LEASE.name }, spec }
      })
      return true
    }
    const version = lease.metadata.resourceVersion ?? ''
    if (version !== this.#seen.version) this.#seen = { version, at: Date.now() }
    if (lease.spec?.holderIdentity !== this.name && Date.now() - this.#seen.at < TERM) return false
    await this.api.replaceNamespacedCustomObject({ ...LEASE, body: { ...lease, spec } })
    return true
  }

  async stop (): Promise<void> {
    await this.#asking
    clearTimeout(this.#timer)
    this.leads = false
  }
}

let ended = 0
/** Milliseconds of waiting; those of work depend on the machine. */
const waited = () => performance.eventLoopUtilization().idle
after(() => { ended = waited() })
process.once('beforeExit', () => {
  console.log(\`nothing was left after waiting \${Math.round(waited() - ended)} ms\`)
})

test('two servers in one process, an informer on each, and an election', { timeout: 300_000 }, async t => {
  const servers = [await host({ kind: 'memory' }), await host({ kind: 'embedded', directory: 'data' })] as const
  const configs = [await configOf(servers[0]), await configOf(servers[1])] as const
  const informers = configs.map(config => {
    const api = config.makeApiClient(CoreV1Api)
    const list = async () => await api.listNamespacedConfigMap({ namespace: 'default' })
    return makeInformer<V1ConfigMap>(config, '/api/v1/namespaces/default/configmaps', list)
  })
  const seen = informers.map(informer => {
    const names = new Set<string>()
    informer.on('add', ({ metadata }) => { names.add(metadata?.name ?? '') })
    return names
  })
  for (const informer of informers) await informer.start()

  await t.test('each informer sees what is in its server', async () => {
    for (const [index, config] of configs.entries()) {
      const map = await config.makeApiClient(CoreV1Api).createNamespacedConfigMap({
        namespace: 'default', body: { metadata: { name: \`of-\${index}\` }, data: { a: 'b' } }
      })
      assert.equal(map.metadata?.labels?.['owner'], 'unauthenticated')
    }
    await until('the events', () => seen.every((names, index) => names.has(\`of-\${index}\`)))
    assert.ok(!seen[0]?.has('of-1') && !seen[1]?.has('of-0'))
  })

  await t.test('the host asks its own server', async () => {
    assert.equal(await inside(servers[0]), 2)
  })

  await t.test('one of two candidates leads, and the other when it is gone', async () => {
    const candidates = ['ann', 'bob'].map(name => new Candidate(name, configs[0].makeApiClient(CustomObjectsApi)))
    for (const candidate of candidates) candidate.start()
    const leaders = () => candidates.filter(({ leads }) => leads)
    await until('a leader', () => leaders().length > 0)
    assert.equal(leaders().length, 1)
    const [first] = leaders()
    await first?.stop()
    await until('the other', () => leaders().length > 0)
    assert.notEqual(leaders()[0], first)
    await Promise.all(candidates.map(candidate => candidate.stop()))
  })

  for (const informer of informers) await informer.stop()
  for (const server of servers) {
    const closed = once(server.server, 'close')
    await server.close()
    await closed
  }
})
`

t.test('the packed package compiles and runs in another strict project', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-consumer-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const env = { ...process.env, npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' }

  // npm test has built all but the declarations, which the tests that run beside must not find in their dist/;
  // test/readme.test.ts builds a clone.
  const { version, scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string
    scripts: Record<'build' | 'prepack' | 'prepare', string>
  }
  const steps = scripts.prepack.split(' && ')
  const [, ...declarations] = steps.pop()?.split(' ') ?? []
  const [generate, compile, bundle] = scripts.build.split(' && ')
  t.strictSame(
    [steps, scripts.prepare.split(' && ')], [['node build/install.js', generate, compile], [generate, bundle]],
    'npm pack builds before its last step, and the bundle after it'
  )
  const copy = join(folder, 'product')
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n')
  for (const file of files.filter(file => !/^test\/.*\.(?:ts|yaml)$/.test(file))) {
    cpSync(join(root, file), join(copy, file), { recursive: true })
  }
  for (const packages of ['node_modules', 'test/node_modules']) symlinkSync(join(root, packages), join(copy, packages))
  for (const built of readdirSync(join(root, 'dist')).filter(name => !['test', 'types'].includes(name))) {
    cpSync(join(root, 'dist', built), join(copy, 'dist', built), { recursive: true })
  }
  await run(process.execPath, declarations, { cwd: copy })
  const { stdout } = await run(
    'npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], { cwd: copy, env }
  )
  const [{ filename, files: packed }] = JSON.parse(stdout) as [{ filename: string, files: Array<{ path: string }> }]

  await t.test('each entry has one file of declarations, which says what it exports and nothing else', async t => {
    t.strictSame(
      packed.map(({ path }) => path).filter(path => /^dist.*\.[cm]?ts$/.test(path)).sort(),
      ['app', 'schemas', 'testing'].flatMap(name => [`dist/types/${name}.d.cts`, `dist/types/${name}.d.ts`])
    )
    for (const file of ['app.d.ts', 'schemas.d.ts', 'testing.d.ts']) {
      const text = readFileSync(join(copy, 'dist/types', file), 'utf8')
      t.notOk(/from ['"]\.|import\(['"]\./.test(text), `${file} needs no other file of ours`)
      t.equal(text.match(/declare module/g)?.length ?? 0, file === 'app.d.ts' ? 1 : 0, 'the host finds one decorator')
      t.equal(readFileSync(join(copy, 'dist/types', file.replace(/ts$/, 'cts')), 'utf8'), text, 'scripts have the same')
      t.ok(/^\/\/\/ <reference types="node" \/>\n\n\/\*\*\n \* \S/.test(text), `${file} begins with what it is for`)
    }
    const plugin = readFileSync(join(copy, 'dist/types/app.d.ts'), 'utf8')
    t.notOk(
      /OrchDecorators|RequestContext|interface (?:Message|Field|ResourceType|Representation)\b|typebox/.test(plugin),
      'neither decorators nor the language of declarations'
    )
    t.ok(plugin.length < 90_000, `${plugin.length} characters, however they are wrapped`)
  })

  const project = join(folder, 'project')
  mkdirSync(project)
  const write = (name: string, text: string): void => { writeFileSync(join(project, name), text) }
  const versionOf = (name: string): string => (JSON.parse(readFileSync(
    fileURLToPath(import.meta.resolve(`${name}/package.json`)), 'utf8'
  )) as { version: string }).version
  const others = ['fastify', '@kubernetes/client-node', '@types/node'].map(name => [name, versionOf(name)])
  // The client library needs types of ws, which it does not install.
  write(
    'package.json',
    JSON.stringify({
      type: 'module',
      dependencies: {
        'orch-apiserver': `file:../${filename}`, '@types/ws': '^8', '@sinclair/typebox': '^0.34',
        ...Object.fromEntries(others)
      }
    })
  )
  write(
    'tsconfig.json',
    JSON.stringify({
      compilerOptions: {
        strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, skipDefaultLibCheck: true,
        module: 'nodenext', target: 'es2022'
      },
      include: ['*.ts']
    })
  )
  write('host.ts', HOST)
  write('host.test.ts', TEST)
  await run('npm', ['install', '--no-package-lock'], { cwd: project, env })
  t.notOk(
    readdirSync(join(project, 'node_modules/orch-apiserver')).includes('node_modules'),
    'it shares the packages of the project'
  )

  await t.test('installed as a global command it has a version and help, serves, and ends in order', async t => {
    const prefix = join(folder, 'global')
    // Linked, so its dependencies are those of the project: a second installation of them would show the same.
    await run(
      'npm',
      ['install', '--global', '--ignore-scripts', '--prefix', prefix, join(project, 'node_modules/orch-apiserver')],
      { env }
    )
    const installed = {
      cwd: mkdtempSync(join(folder, 'working-')),
      env: { ...process.env, NODE_OPTIONS: '', PATH: `${join(prefix, 'bin')}:${process.env.PATH ?? ''}` }
    }
    t.match((await run('orch-apiserver', ['--version'], installed)).stdout, `orch-apiserver ${version}`)
    t.match((await run('orch-apiserver', ['--help'], installed)).stdout, /^Usage: orch-apiserver [^]*--etcd-servers/)
    await t.rejects(
      run('orch-apiserver', ['--secure-port=0'], installed),
      { code: 1, stderr: /^orch-apiserver: --secure-port=0: [^\n]+\n$/ }
    )

    const port = await freePort()
    const server = spawn('orch-apiserver', ['--local', `--secure-port=${port}`], { ...installed, stdio: 'ignore' })
    const ended = once(server, 'exit') as Promise<[number | null]>
    t.teardown(() => { server.kill('SIGKILL') })
    const caFile = join(installed.cwd, 'orch-data/certs/apiserver.crt')
    await until('the server to be ready', async () => existsSync(caFile) &&
      (await ask(`https://127.0.0.1:${port}/readyz`, { ca: readFileSync(caFile, 'utf8') })).code === 200)
    const config = new KubeConfig()
    config.loadFromFile(join(installed.cwd, 'orch-data/kubeconfig'))
    const { items } = await config.makeApiClient(CoreV1Api).listNamespace()
    t.ok(items.some(({ metadata }) => metadata?.name === 'default'), 'the administrator of its kubeconfig is served')
    server.kill('SIGTERM')
    t.equal((await ended)[0], 0)
  })

  const [compiler, config] = ['typescript-native', 'tsconfig.json']
  const tsc = join(dirname(fileURLToPath(import.meta.resolve(`${compiler}/package.json`))), 'bin/tsc')
  const compiled = await run(
    process.execPath, [tsc, '--project', join(project, config)], { env: { ...process.env, GOGC: 'off' } }
  )
    .catch((error: unknown) => error as { stdout: string })
  t.equal(compiled.stdout, '', `it compiles with ${compiler} ${versionOf(compiler)}`)

  // Where the older compiler runs, which takes five times the CPU.
  await ways(t, project, HOST)

  const child = spawn(
    process.execPath, ['host.test.js'], { cwd: project, stdio: ['ignore', 'pipe', 'pipe'], timeout: 400_000 }
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => { output += text.toString() })
  const [code] = await once(child, 'close') as [number | null]
  t.equal(code, 0, code === 0 ? 'its tests pass' : output)
  t.match(output, /^# pass 4$|^ℹ pass 4$/m)
  const [, left = ''] = /nothing was left after waiting (\d+) ms/.exec(output) ?? []
  t.ok(left !== '' && Number(left) < 5000, `it ends by itself: ${left} ms`)
})
