/** `--local`: one machine and one user, the only one with access, who needs no set-up. */
import t, { type Test } from 'tap'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { certify } from '../serving/certify.js'
import { kubectlPrograms } from './tools.js'
import { freePort } from './ports.js'

const CLI = fileURLToPath(new URL('../bundle/cli.js', import.meta.url))

interface Local {
  readonly port: number
  readonly folder: string
  readonly log: () => string
  readonly end: () => Promise<void>
}

/** Starts the server in `folder`; resolves when it reports that it is ready. */
async function start (t: Test, folder: string, ...flags: string[]): Promise<Local> {
  const port = await freePort()
  const child = spawn(
    process.execPath, [CLI, '--local', `--secure-port=${port}`, ...flags],
    { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] }
  )
  let log = ''
  child.stderr.on('data', (text: Buffer) => { log += text.toString() })
  const ended = once(child, 'close')
  const end = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  t.teardown(end)
  while (!log.includes('KUBECONFIG')) {
    await Promise.race([once(child.stderr, 'data'), ended.then(() => { throw new Error(log) })])
  }
  return { port, folder, log: () => log, end }
}

const kubectl = (
  program: string, folder: string, ...args: string[]
): { status: number | null, stdout: string, stderr: string } => spawnSync(program, args, {
  encoding: 'utf8',
  cwd: folder,
  env: { PATH: process.env.PATH, HOME: folder, KUBECONFIG: join(folder, 'orch-data/kubeconfig') }
})

const curl = (folder: string, ...args: string[]): string => {
  const { stdout, stderr, status } = spawnSync(
    'curl', ['-sS', '-w', ' %{http_code}', ...args], { encoding: 'utf8', cwd: folder }
  )
  return status === 0 ? stdout : stderr
}

t.test('the first start makes an administrator, whom kubectl and curl are at once', async t => {
  const folder = t.testdir({})
  const { port, log } = await start(t, folder)
  t.match(
    log(), new RegExp(`serving on https://127\\.0\\.0\\.1:${port}, store: embedded in orch-data, authorization: RBAC`)
  )
  t.match(log(), `export KUBECONFIG=${folder}/orch-data/kubeconfig`)
  t.match(log(), 'nothing runs here: objects are stored, but no controller manager, scheduler or node acts on them')
  t.notMatch(log(), 'the service orch', 'a cluster without nodes is not warned about them')
  t.equal(statSync(join(folder, 'orch-data/kubeconfig')).mode & 0o777, 0o600)
  for (const program of kubectlPrograms()) {
    t.match(kubectl(program, folder, 'get', 'namespaces'), { status: 0, stdout: /default +Active/ })
  }
  const url = `https://localhost:${port}`
  const me = [
    '--cacert', 'orch-data/certs/apiserver.crt', '--cert', 'orch-data/certs/admin.crt', '--key',
    'orch-data/certs/admin.key'
  ]
  t.match(curl(folder, ...me, `${url}/api/v1/namespaces`), / 200$/)
  const anyone = ['--cacert', 'orch-data/certs/apiserver.crt']
  for (const path of ['/readyz', '/livez', '/healthz']) t.equal(curl(folder, ...anyone, url + path), 'ok 200', path)
  for (const path of ['/version', '/api', '/metrics', '/openapi/v2', '/readyzx', '/']) {
    t.match(curl(folder, ...anyone, url + path), / 401$/, path)
  }
  t.match(curl(folder, ...anyone, '-H', 'Authorization: Bearer x', `${url}/readyz`), / 401$/, 'with an unknown token')
  t.match(
    curl(folder, ...me, '-H', 'Accept: text/html,*/*;q=0.8', `${url}/apis`), /^\{\n {2}"kind": "APIGroupList",\n/,
    'a browser shows it in lines'
  )
  t.match(
    curl(folder, ...me, '-H', 'Accept: text/html,*/*;q=0.8', `${url}/`), /^<!doctype html>\n/, 'and the root as a page'
  )
  t.match(curl(folder, ...me, `${url}/`), /^\{"paths":\[/, 'which a program gets as before')
})

t.test('later starts keep the administrator, one that is about to expire is replaced, and other flags win', async t => {
  const folder = t.testdir({})
  const read = (name: string): string => readFileSync(join(folder, 'orch-data', name), 'utf8')
  const first = await start(t, folder)
  const [certificate, kubeconfig] = [read('certs/admin.crt'), read('kubeconfig')]
  await first.end()
  const second = await start(
    t, folder, '--bind-address=0.0.0.0', '--authorization-mode=AlwaysAllow', '--anonymous-auth=true'
  )
  t.equal(read('certs/admin.crt'), certificate)
  t.equal(read('kubeconfig'), kubeconfig.replace(`:${first.port}`, `:${second.port}`))
  t.match(second.log(), 'serving on https://0.0.0.0')
  t.notMatch(second.log(), 'nothing runs here')
  t.match(curl(folder, '-k', `https://localhost:${second.port}/version`), / 200$/)
  await second.end()

  const month = 30 * 86_400_000
  const old = certify({
    commonName: 'local-admin',
    organizations: ['system:masters'],
    uses: ['client'],
    authority: true,
    from: new Date(Date.now() - month),
    until: new Date(Date.now() + month / 2)
  })
  writeFileSync(join(folder, 'orch-data/certs/admin.crt'), old.certificate)
  writeFileSync(join(folder, 'orch-data/certs/admin.key'), old.key)
  const third = await start(t, folder)
  t.not(read('certs/admin.crt'), old.certificate)
  t.match(kubectl(kubectlPrograms()[2], folder, 'get', 'namespaces'), { status: 0 })
  await third.end()

  const known = read('certs/admin.key')
  chmodSync(join(folder, 'orch-data/certs/admin.key'), 0o644)
  await start(t, folder)
  t.not(read('certs/admin.key'), known, 'a key that others could read is replaced')
  t.equal(statSync(join(folder, 'orch-data/certs/admin.key')).mode & 0o777, 0o600)
})

t.test('a port in use leaves no data folder behind', async t => {
  const folder = t.testdir({})
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo // it listens on TCP
  const { status, stderr } = spawnSync(
    process.execPath, [CLI, '--local', `--secure-port=${port}`], { cwd: folder, encoding: 'utf8' }
  )
  t.match([status, stderr], [1, /^orch-apiserver: --secure-port=\d+: the port is in use on 127\.0\.0\.1; .*\n$/])
  t.notOk(existsSync(join(folder, 'orch-data')))
})

t.test('an administrator that cannot be kept ends the start with its flag', async t => {
  const folder = t.testdir({ file: '' })
  const { status, stderr } = spawnSync(
    process.execPath, [CLI, '--local', `--secure-port=${await freePort()}`, `--data-dir=${folder}/file/data`],
    { cwd: folder, encoding: 'utf8' }
  )
  t.match([status, stderr], [1, /^orch-apiserver: --data-dir=.*\n$/])
})

t.test('what belongs to a deployment goes with it, before it or not at all, as kubectl asks', async t => {
  const folder = t.testdir({})
  await start(t, folder)
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web' }] } }
  const spec = { selector: { matchLabels: { app: 'web' } }, template }
  const [program = ''] = kubectlPrograms().slice(-1)
  const run = (...args: string[]): string => {
    const { status, stdout, stderr } = kubectl(program, folder, ...args)
    if (status !== 0) throw new Error(stderr)
    return stdout
  }
  /** As the controllers of a cluster make them. */
  const make = (
    kind: string, apiVersion: string, name: string, more: object,
    owner?: { kind: string, apiVersion: string, name: string }
  ): void => {
    const uid = owner === undefined ? '' : run('get', owner.kind, owner.name, '-o=jsonpath={.metadata.uid}')
    const ownerReferences = owner === undefined ? [] : [{ ...owner, uid, controller: true, blockOwnerDeletion: true }]
    writeFileSync(
      join(folder, 'object.json'),
      JSON.stringify({ kind, apiVersion, metadata: { name, labels: { app: 'web' }, ownerReferences }, ...more })
    )
    run('create', '-f', 'object.json')
  }
  const told = kubectl(program, folder, 'create', 'deployment', 'told', '--image=web')
  t.match(told, {
    status: 0,
    stderr:
      /^Warning: nothing runs here: the Deployment is stored, but no controller manager has been seen that would act on it\n$/
  })
  t.equal(kubectl(program, folder, 'create', 'deployment', 'again', '--image=web').stderr, '')
  run('delete', 'deployment', 'told', 'again')
  const deployment = { kind: 'Deployment', apiVersion: 'apps/v1', name: 'web' }
  const replicas = { kind: 'ReplicaSet', apiVersion: 'apps/v1', name: 'web-1' }
  const make3 = (): void => {
    make('Deployment', 'apps/v1', 'web', { spec })
    make('ReplicaSet', 'apps/v1', 'web-1', { spec }, deployment)
    make('Pod', 'v1', 'web-1-a', { spec: template.spec }, replicas)
  }
  const left = (): string[] => run('get', 'deployments,replicasets,pods', '-o=name').split('\n').filter(Boolean)
  const emptied = async (): Promise<void> => {
    while (left().length > 0) await new Promise(resolve => { setTimeout(resolve, 50) })
  }

  run('create', 'namespace', 'team')
  run('config', 'set-context', '--current', '--namespace=team')
  make3()
  run('delete', 'deployment', 'web', '--cascade=foreground', '--timeout=60s')
  t.same(left(), [], 'when kubectl ends, everything is gone')
  make3()
  run('delete', 'deployment', 'web', '--cascade=background')
  await emptied()
  make3()
  run('delete', 'deployment', 'web', '--cascade=orphan', '--timeout=60s')
  t.same(left(), ['replicaset.apps/web-1', 'pod/web-1-a'])
  t.equal(run('get', 'replicaset', 'web-1', '-o=jsonpath={.metadata.ownerReferences}'), '')
  run('delete', 'namespace', 'team', '--timeout=60s')
})
