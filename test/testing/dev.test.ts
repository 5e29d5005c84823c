/** `orch-apiserver dev`, as the bundled launcher runs it. */
import t from 'tap'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import type { Json, Test } from '../build.js'
import { kubectlPrograms } from '../tools.js'

const CLI = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))

const SERVES =
  /^orch-apiserver dev: serving on https:\/\/127\.0\.0\.1:\d+, admin API on (http:\/\/127\.0\.0\.1:\d+), seed \d+\n/m

interface Dev { readonly admin: string, readonly out: () => string, readonly end: () => Promise<number | null> }

async function dev (t: Test, ...args: string[]): Promise<Dev> {
  const child = spawn(process.execPath, [CLI, 'dev', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close') as Promise<[number | null]>
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (text: Buffer) => { out += text.toString() })
  const admin = await new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (text: Buffer) => {
      err += text.toString()
      const [, url] = SERVES.exec(err) ?? []
      if (url !== undefined) resolve(url)
    })
    child.once('exit', () => { reject(new Error(err)) })
  })
  return {
    admin,
    out: () => out,
    end: async () => {
      child.kill('SIGTERM')
      return (await ended)[0]
    }
  }
}

async function ask (
  admin: string, method: string, path: string, body?: object | string
): Promise<{ code: number, json: Json }> {
  const response = await fetch(admin +
    path, { method, ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }) })
  return { code: response.status, json: await response.json() as Json }
}

t.test('programs of any language get a server, its kubeconfig, a clock and faults', async t => {
  const folder = t.testdir({
    'fixtures.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: team}\n'
  })
  const file = `${folder}/kubeconfig`
  const server = await dev(
    t, `--fixtures=${folder}/fixtures.yaml`, `--kubeconfig=${file}`, '--now=2030-01-01T00:00:00Z', '--seed=5'
  )
  const config = new KubeConfig()
  config.loadFromFile(file)
  const api = config.makeApiClient(CoreV1Api)
  const made = await api.createNamespacedConfigMap({ namespace: 'team', body: { metadata: { name: 'b' } } })
  t.equal(made.metadata?.creationTimestamp?.toISOString(), '2030-01-01T00:00:00.000Z')
  const [kubectl] = kubectlPrograms()
  t.match(
    (await promisify(execFile)(kubectl, [
      '--kubeconfig', file, '--cache-dir', folder, '-n', 'team', 'get', 'configmaps', '-o', 'name'
    ])).stdout,
    'configmap/a\nconfigmap/b\n'
  )

  t.strictSame((await ask(server.admin, 'POST', '/clock', { move: '90m' })).json, {
    now: '2030-01-01T01:30:00.000Z', held: true
  })
  t.strictSame((await ask(server.admin, 'GET', '/clock')).json, { now: '2030-01-01T01:30:00.000Z', held: true })
  t.match((await ask(server.admin, 'POST', '/clock', { run: true })).json, { held: false })
  t.match((await ask(server.admin, 'POST', '/clock', { hold: true })).json, { held: true })

  const fault = { on: { verb: 'create', resource: 'configmaps' }, status: 429, retryAfter: 1, times: 1 }
  t.strictSame((await ask(server.admin, 'POST', '/faults', fault)).json, { id: 1 })
  await t.rejects(
    api.createNamespacedConfigMap({ namespace: 'team', body: { metadata: { name: 'c' } } }), { code: 429 }
  )
  t.strictSame((await ask(server.admin, 'GET', '/faults')).json, [{ id: 1, count: 1, fault }])
  t.match((await ask(server.admin, 'GET', '/exchanges?verb=create&status=429')).json, [
    { user: 'test-admin', namespace: 'team', faults: ['status 429'], body: { metadata: { name: 'c' } } }
  ])
  t.strictSame((await ask(server.admin, 'DELETE', '/faults/1')).json, { removed: 1 })
  t.strictSame((await ask(server.admin, 'DELETE', '/faults')).json, { removed: 0 })
  t.strictSame((await ask(server.admin, 'DELETE', '/exchanges')).json, {})
  t.strictSame((await ask(server.admin, 'GET', '/exchanges')).json, [])
  t.strictSame(
    (await ask(server.admin, 'POST', '/fixtures', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: later}\n')).json,
    {}
  )
  t.equal((await api.readNamespacedConfigMap({ namespace: 'default', name: 'later' })).metadata?.name, 'later')
  t.strictSame((await ask(server.admin, 'POST', '/drop-watches', {})).json, { dropped: 0 })
  t.ok(Object.keys((await ask(server.admin, 'GET', '/')).json).includes('POST /faults'))

  for (const [method, path, body, code, says] of [
    ['POST', '/faults', { statsu: 500 }, 400, /statsu: there is no such member/],
    ['POST', '/faults', { status: '500' }, 400, /status: must be a number/],
    ['POST', '/faults', { on: { verb: 1 }, status: 500 }, 400, /verb: must be a string/],
    ['POST', '/faults', '{', 400, /JSON/], ['POST', '/faults', [], 400, /must be an object/],
    ['POST', '/faults', { on: {} }, 400, /no effect/], ['POST', '/faults', { constructor: 1 }, 400, /no such member/],
    ['POST', '/clock', { move: 'soon' }, 400, /no duration/],
    ['POST', '/clock', { move: 1e300 }, 400, /beyond the year 9999/],
    ['POST', '/clock', { move: `${'9'.repeat(400)}h` }, 400, /is no duration/],
    ['POST', '/clock', { stop: true }, 400, /stop: there is no such member/],
    ['DELETE', '/faults/9', undefined, 404, /no fault 9/], ['GET', '/nothing', undefined, 404, /GET \//],
    ['POST', '/fixtures', 'kind: X', 400, /needs apiVersion and kind/]
  ] as Array<[string, string, object | string | undefined, number, RegExp]>) {
    t.match(
      await ask(server.admin, method, path, body), { code, json: { error: says } },
      `${method} ${path} ${JSON.stringify(body)}`
    )
  }
  for (const headers of [{ host: 'evil.example' }, { origin: 'https://evil.example' }]) {
    const sent = request(`${server.admin}/exchanges`, { headers, agent: false }).end()
    const [response] = await once(sent, 'response') as [{ statusCode: number, resume: () => void }]
    t.equal(response.statusCode, 403, JSON.stringify(headers))
    response.resume()
  }
  t.equal(server.out(), '')
  t.equal(await server.end(), 0)
})

t.test('the kubeconfig is printed, and other clients have no rights', async t => {
  const server = await dev(t)
  const file = `${t.testdir()}/kubeconfig`
  writeFileSync(file, server.out())
  const config = new KubeConfig()
  config.loadFromFile(file)
  t.ok((await config.makeApiClient(CoreV1Api).listNamespace()).items.length > 0)
  config.loadFromString(readFileSync(file, 'utf8').replace(/"token": "[^"]*"/, '"x": ""'))
  await t.rejects(config.makeApiClient(CoreV1Api).listNamespace(), { code: 403 })
  t.equal(await server.end(), 0)
})

t.test('mistakes are one line', async t => {
  const run = (...args: string[]): object =>
    spawnSync(process.execPath, [CLI, 'dev', ...args], { encoding: 'utf8', timeout: 60_000 })
  t.match(run('--help'), { status: 0, stdout: /^Usage: orch-apiserver dev [^]*--admin-port/, stderr: '' })
  t.match(run('--now=soon'), {
    status: 1, stdout: '', stderr: /^orch-apiserver dev: --now=soon: must be a time[^\n]*\n$/
  })
  t.match(run('--prot=1'), { status: 1, stdout: '', stderr: /^orch-apiserver dev: [^\n]*--prot[^\n]*\n$/ })
  t.match(run('--fixtures=/no/such'), {
    status: 1, stdout: '', stderr: /^orch-apiserver dev: [^\n]*\/no\/such[^\n]*\n$/
  })
})

t.test('--compat-names serves the names of Kubernetes, as release 1.36 unless another is asked for', async t => {
  const folder = t.testdir({
    'ingress.yaml':
      'apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a}\n' +
      'spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}\n'
  })
  const kubectl = kubectlPrograms().at(-1) ?? ''
  for (const [flags, minor] of [[[], '36'], [['--release=1.24'], '24']] as const) {
    const file = `${folder}/kubeconfig-${minor}`
    await dev(t, '--compat-names', `--fixtures=${folder}/ingress.yaml`, `--kubeconfig=${file}`, ...flags)
    const run = async (...args: string[]): Promise<string> =>
      (await promisify(execFile)(kubectl, ['--kubeconfig', file, '--cache-dir', `${folder}/${minor}`, ...args])).stdout
    t.equal(await run('get', 'ingresses', '-o', 'name'), 'ingress.networking.k8s.io/a\n')
    t.equal(JSON.parse(await run('get', '--raw', '/version')).minor, minor)
  }
})

t.test('nodes and pods are simulated, with stages from files', async t => {
  const folder = t.testdir({
    'stages.yaml':
      'apiVersion: simulator.orch.io/v1\nkind: Stage\nmetadata: {name: config-seen}\nspec:\n' +
      '  resource: {apiVersion: v1, kind: ConfigMap}\n  selector: {matchLabels: {see: "yes"}}\n' +
      '  delay: 1h\n  next: {patch: {data: {seen: "yes"}}}\n',
    'wrong.yaml':
      'apiVersion: simulator.orch.io/v1\nkind: Stage\nmetadata: {name: a}\nspec:\n' +
      '  resource: {apiVersion: v1, kind: Pod}\n  dely: 1h\n  next: {delete: true}\n',
    'pod.yaml':
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: a}]}\n' +
      '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, labels: {see: "yes"}}\n'
  })
  const server = await dev(
    t, '--simulate=2', `--stages=${folder}/stages.yaml`, `--fixtures=${folder}/pod.yaml`, '--now=2030-01-01T00:00:00Z'
  )
  const file = `${folder}/kubeconfig`
  writeFileSync(file, server.out())
  const config = new KubeConfig()
  config.loadFromFile(file)
  const api = config.makeApiClient(CoreV1Api)
  t.strictSame((await api.listNode()).items.map(({ metadata }) => metadata?.name), ['node-0', 'node-1'])
  t.equal((await api.readNamespacedPod({ namespace: 'default', name: 'a' })).status?.phase, 'Running')
  t.equal((await api.readNamespacedConfigMap({ namespace: 'default', name: 'c' })).data, undefined)
  await ask(server.admin, 'POST', '/clock', { move: '1h' })
  t.strictSame((await api.readNamespacedConfigMap({ namespace: 'default', name: 'c' })).data, { seen: 'yes' })
  t.equal(await server.end(), 0)
  const run = (...args: string[]): object =>
    spawnSync(process.execPath, [CLI, 'dev', ...args], { encoding: 'utf8', timeout: 60_000 })
  t.match(run(`--stages=${folder}/wrong.yaml`), {
    status: 1,
    stderr: /^orch-apiserver dev: simulate\.stages\[0\]\.dely: there is no such member; .*did you mean delay\?\n$/
  })
  t.match(run(`--stages=${folder}/nowhere`), { status: 1, stderr: /nowhere: there is no such file or folder\n$/ })
  t.match(run(`--stages=${folder}/pod.yaml`), {
    status: 1, stderr: /pod\.yaml, document 1: Pod in v1 is no Stage in simulator\.orch\.io\/v1\n$/
  })
})
