/**
 * The script examples/control-plane/run.ts: three servers, three etcd members and a balancer, restarted in turn under
 * load, killed, and ended.
 */
import t from 'tap'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CoreV1Api, CustomObjectsApi, KubeConfig, makeInformer, type V1ConfigMap } from '@kubernetes/client-node'
import type { Test } from '../build.js'
import { until } from '../interop/server.js'
import { random } from '../random.js'
import { startLoad } from '../soak/load.js'
import { etcdProgram } from '../tools.js'

const SCRIPT = fileURLToPath(new URL('../../examples/control-plane/run.js', import.meta.url))
const CONFIGS = '/api/v1/namespaces/rolling/configmaps'
const SERVERS = ['node-0', 'node-1', 'node-2'].map(name => `${name} orch-apiserver`)
const MEMBERS = ['node-0', 'node-1', 'node-2'].map(name => `${name} etcd`)
const COMPONENTS = ['controller-manager', 'scheduler'].map(name => ({
  name, lease: `orch-${name}`, pods: ['node-0', 'node-1', 'node-2'].map(node => `${node} ${name}`)
}))
const COMPONENT = fileURLToPath(new URL('component.js', import.meta.url))
const PATIENCE = 120_000

function run (t: Test, ...args: string[]) {
  const child = spawn(
    process.execPath,
    [SCRIPT, ...args],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_OPTIONS: '', PATH: `${dirname(etcdProgram())}${delimiter}${process.env.PATH ?? ''}` }
    }
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => { output += text.toString() })
  const closed = once(child, 'close') as Promise<[number | null]>
  t.teardown(async () => {
    child.kill('SIGTERM')
    await closed
  })
  return {
    process: child,
    output: () => output,
    closed,
    /** Processes that became ready, by pod, the newest last. */
    started: (pod: string): number[] =>
      [...output.matchAll(new RegExp(`^${pod}: ready, process (\\d+)$`, 'gm'))].map(([, pid]) => Number(pid)),
    /** Waits for a line. */
    says: (line: RegExp) => until(() => `${String(line)}: ${output}`, () => {
      if (child.exitCode !== null) throw new Error(output)
      return line.test(output)
    }, PATIENCE)
  }
}

/**
 * The names in an informer of the client library, which lists and watches again after an error, as its documentation
 * says.
 */
async function informed (t: Test, config: KubeConfig): Promise<() => string[]> {
  const api = config.makeApiClient(CoreV1Api)
  const informer = makeInformer<V1ConfigMap>(config, CONFIGS, async () =>
    await api.listNamespacedConfigMap({ namespace: 'rolling' }))
  let wanted = true
  informer.on('error', () => { setTimeout(() => { if (wanted) informer.start().catch(() => {}) }, 100) })
  t.teardown(async () => {
    wanted = false
    await informer.stop()
  })
  await informer.start()
  return () => informer.list().map(({ metadata }) => metadata?.name ?? '')
}

t.test('while every server and member is restarted in turn no write is lost, no watch misses, repeats or reorders, ' +
  'and no answer fails that a client does not try again', async t => {
  const parent = mkdtempSync(join(tmpdir(), 'orch-control-plane-'))
  const folder = join(parent, 'cluster')
  const { int } = random()
  const network = `127.${1 + int(250)}.${int(250)}`
  t.teardown(() => { rmSync(parent, { recursive: true, force: true }) })
  const commands = COMPONENTS.map(({ name, lease }) =>
    `--${name}=${process.execPath} ${COMPONENT} --kubeconfig={kubeconfig} --address={address} --port={port} ` +
    `--lease=${lease} --identity={machine}`)
  const script = run(t, folder, network, ...commands)
  await script.says(/^ready: kubectl --kubeconfig=\S+\/admin\.kubeconfig get namespaces$/m)
  t.match(script.output(), `--kubeconfig=${folder}/admin.kubeconfig `, 'it says how to use it')

  const config = new KubeConfig()
  config.loadFromFile(join(folder, 'admin.kubeconfig'))
  const { server = '', caData = '' } = config.getCurrentCluster() ?? {}
  const { certData = '', keyData = '' } = config.getCurrentUser() ?? {}
  t.equal(server, `https://${network}.1:6443`, 'the current context is the balancer')
  // as many
  const [ca, cert, key] = [caData, certData, keyData].map(data =>
    Buffer.from(data, 'base64').toString()) as [string, string, string]
  const { more, written, finish } = await startLoad(
    t, { host: `${network}.1`, port: 6443, headers: {}, tls: { ca, cert, key } },
    { watches: 12, clients: 4, pause: 200, requests: 40, storeRestarts: true }
  )
  const names = await informed(t, config)
  const api = config.makeApiClient(CustomObjectsApi)
  /** The machine whose program leads. */
  const leader = async (lease: string): Promise<string> => {
    const { spec } = await api.getNamespacedCustomObject({
      group: 'coordination.orch.io', version: 'v1', namespace: 'orch-system', plural: 'leases', name: lease
    }) as { spec: { holderIdentity: string } }
    return spec.holderIdentity
  }
  for (const { lease } of COMPONENTS) t.match(await leader(lease), /^node-[012]$/, lease)

  script.process.kill('SIGHUP')
  await script.says(/^every server and every member was restarted$/m)
  await more()
  const { faults, ...done } = await finish()
  t.comment(JSON.stringify(done))
  t.strictSame(faults, [])
  for (const pod of [...SERVERS, ...MEMBERS, ...COMPONENTS.flatMap(({ pods }) => pods)]) {
    t.equal(script.started(pod).length, 2, pod)
  }
  t.equal(
    script.output().match(/orch-apiserver: ended with 0$/gm)?.length, SERVERS.length, 'each server ended in order'
  )
  await until('the informer to have every write', () => {
    const had = new Set(names())
    return [...written].every(name => had.has(name))
  })

  const killed = ['node-1 orch-apiserver', 'node-2 etcd']
  for (const pod of killed) process.kill(script.started(pod).at(-1) ?? 0, 'SIGKILL')
  await until('both to be started again', () => killed.every(pod => script.started(pod).length === 3))
  for (const { name, lease } of COMPONENTS) {
    const led = await leader(lease)
    // Stopped rather than killed, or it would be back before its Lease has expired.
    const pid = script.started(`${led} ${name}`).at(-1) ?? 0
    process.kill(pid, 'SIGSTOP')
    await until(() => `another ${name} to lead`, async () => await leader(lease).catch(() => led) !== led)
    process.kill(pid, 'SIGCONT')
  }
  // As after closing a terminal: nobody reads its output, and it still has to end.
  for (const stream of [script.process.stdout, script.process.stderr]) stream.destroy()
  script.process.kill('SIGINT')
  const [code] = await script.closed
  t.equal(code, 0, script.output())
  for (const pod of [...SERVERS, ...MEMBERS, ...COMPONENTS.flatMap(({ pods }) => pods)]) {
    for (const pid of script.started(pod)) t.throws(() => process.kill(pid, 0), { code: 'ESRCH' }, `${pod} has ended`)
  }
})

t.test('an error that prevents the start is one line', async t => {
  const parent = mkdtempSync(join(tmpdir(), 'orch-control-plane-'))
  t.teardown(() => { rmSync(parent, { recursive: true, force: true }) })
  for (const [args, mistake] of [
    [[], /^usage: run\.js FOLDER \[NETWORK\] [^\n]+\n$/],
    [[parent], /^\S+ is there already; [^\n]+\n$/],
    [[join(parent, 'a'), '10.0.0'], /^"10\.0\.0" is no part of the loopback network, such as 127\.0\.77\n$/]
  ] as const) {
    const script = run(t, ...args)
    t.strictSame(await script.closed, [1, null])
    t.match(script.output(), mistake)
  }
  const { int } = random()
  const network = `127.${1 + int(250)}.${int(250)}`
  const other = createServer((_request, response) => { response.end() }).listen(2381, `${network}.11`)
  await once(other, 'listening')
  t.teardown(() => { other.close() })
  const script = run(t, join(parent, 'b'), network)
  t.strictSame(await script.closed, [1, null])
  t.match(script.output(), /^node-1 etcd: another process answers at its address; end that one first$/m)
})
