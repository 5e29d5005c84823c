/**
 * The control plane of examples/control-plane/ as processes on one machine: its own script fills in the manifests, its
 * pods' programs run with exactly the flags in them, and are killed one by one. Each machine is a loopback address;
 * only paths and port numbers differ.
 */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CustomObjectsApi, KubeConfig } from '@kubernetes/client-node'
import { checkedFlags } from '../../config/options.js'
import { commandsOf } from '../../examples/control-plane/components.js'
import {
  argumentsOf, podOf as manifestOf, probe, readinessOf, type Container, type Pod
} from '../../examples/control-plane/pods.js'
import { fill, prepare, type Machine } from '../../examples/control-plane/prepare.js'
import { binding, type Json } from '../build.js'
import { EtcdProcess } from '../etcd-process.js'
import { launch, nodeFlags, until } from '../interop/server.js'
import { freePort } from '../ports.js'
import { etcdProgram } from '../tools.js'

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url))
const LAUNCHER = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))
const MACHINES: Machine[] = [10, 11, 12].map((last, index) => ({ name: `node-${index}`, address: `127.0.77.${last}` }))
const resource = { group: 'rbac.authorization.orch.io', version: 'v1', plural: 'clusterrolebindings' }
/** After the loss of a member the others elect a leader, which takes seconds. */
const PATIENCE = 30_000

const COMMANDS = commandsOf({
  'controller-manager':
    'manager --kubeconfig={kubeconfig} --bind-address={address} --secure-port={port} --root-ca-file={pki}/ca.crt',
  'controller-manager-image': 'manager:1.0',
  scheduler: 'scheduler  --config {kubeconfig} --id={machine}', 'scheduler-image': 'scheduler:v1.36'
})

function podOf (text: string): { readonly manifest: Pod, readonly container: Container, readonly args: string[] } {
  const manifest = manifestOf(text)
  const [container] = manifest.spec.containers
  return { manifest, container, args: argumentsOf(container) }
}

function prepared (t: { teardown: (fn: () => unknown) => void }): string {
  const parent = mkdtempSync(join(tmpdir(), 'orch-control-plane-'))
  t.teardown(() => { rmSync(parent, { recursive: true, force: true }) })
  const folder = join(parent, 'out')
  prepare(folder, MACHINES, undefined, COMMANDS)
  return folder
}

const manifest = (folder: string, { name }: Machine, file: string): string =>
  readFileSync(join(folder, name, 'manifests', file), 'utf8')

t.test('the servers are who they are called within the cluster', t => {
  const folder = prepared(t)
  for (const { name, address } of MACHINES) {
    const certificate = new X509Certificate(readFileSync(join(folder, name, 'pki/apiserver.crt')))
    for (const ip of [address, '10.0.0.1']) t.equal(certificate.checkIP(ip), ip)
    for (const service of ['orch', 'kubernetes']) {
      for (const rest of ['', '.default', '.default.svc', '.default.svc.cluster.local']) {
        t.ok(certificate.checkHost(`${service}${rest}`), `${service}${rest}`)
      }
    }
  }
  t.end()
})

t.test('the manifests are pods that run as an ordinary user, and every path that they use is mounted', async t => {
  const folder = prepared(t)
  for (const machine of MACHINES) {
    for (const file of ['orch-apiserver.yaml', 'etcd.yaml', 'controller-manager.yaml', 'scheduler.yaml']) {
      const text = manifest(folder, machine, file)
      t.notMatch(text, /\$\{/)
      const { manifest: pod, container, args } = podOf(text)
      const { spec } = pod
      t.match(pod, { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'orch-system' } })
      t.match(spec, { hostNetwork: true, securityContext: { runAsNonRoot: true, runAsUser: 65532 } })
      t.strictSame(container.securityContext, {
        allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] }
      })
      t.match(container.image, /:v?\d+\.\d+/, 'the image has a version')
      const mounts = container.volumeMounts
      t.strictSame(mounts.map(({ name }) => name).sort(), spec.volumes.map(({ name }) => name).sort())
      for (const path of args.map(arg => arg.split('=')[1] ?? '').filter(value => value.startsWith('/'))) {
        t.ok(
          mounts.some(({ mountPath }) => path === mountPath || path.startsWith(`${mountPath}/`)), `${path} is mounted`
        )
        if (path.startsWith('/etc/orch/pki/')) {
          const { mode } = statSync(join(folder, machine.name, 'pki', path.slice('/etc/orch/pki/'.length)))
          t.equal(mode & 0o777, path.endsWith('.crt') ? 0o644 : 0o600, path)
        }
      }
    }
  }
  t.equal(statSync(join(folder, 'admin.kubeconfig')).mode & 0o777, 0o600)
})

t.test('programs beside the servers have the command that was given, health checks and credentials', t => {
  const folder = prepared(t)
  for (const { name, address } of MACHINES) {
    for (const [component, port, args] of [
      [
        'controller-manager',
        10257,
        [
          '--kubeconfig=/etc/orch/pki/controller-manager.kubeconfig', `--bind-address=${address}`,
          '--secure-port=10257', '--root-ca-file=/etc/orch/pki/ca.crt'
        ]
      ],
      ['scheduler', 10259, ['--config', '/etc/orch/pki/scheduler.kubeconfig', `--id=${name}`]]
    ] as const) {
      const { container, args: own } = podOf(readFileSync(join(folder, name, 'manifests', `${component}.yaml`), 'utf8'))
      t.strictSame(own, args)
      t.match(container.livenessProbe, { httpGet: { scheme: 'HTTPS', host: address, port, path: '/healthz' } })
      const config = new KubeConfig()
      config.loadFromFile(join(folder, name, 'pki', `${component}.kubeconfig`))
      t.equal(config.getCurrentCluster()?.server, `https://${address}:6443`, 'the server of its machine')
      t.match(
        new X509Certificate(Buffer.from(config.getCurrentUser()?.certData ?? '', 'base64')).subject,
        `CN=system:orch-${component}`
      )
    }
  }
  t.end()
})

t.test('the server\'s flags are flags of this server', async t => {
  const folder = prepared(t)
  for (const machine of MACHINES) {
    const { args, manifest: { spec } } = podOf(manifest(folder, machine, 'orch-apiserver.yaml'))
    const { values, given } = checkedFlags(args)
    t.equal(given.size, args.length, 'each is given once')
    t.match(values, {
      'bind-address': machine.address,
      'authorization-mode': ['Node', 'RBAC'],
      'etcd-servers': MACHINES.map(({ address }) => `https://${address}:2379`)
    })
    t.ok(
      (spec.terminationGracePeriodSeconds ?? 0) * 1000 > values['shutdown-delay-duration'] + values['request-timeout'],
      'it has the time to end in order'
    )
  }
})

t.test('the script is called as the README says', t => {
  const parent = mkdtempSync(join(tmpdir(), 'orch-control-plane-'))
  t.teardown(() => { rmSync(parent, { recursive: true, force: true }) })
  const readme = readFileSync(join(PROJECT, 'examples/control-plane/README.md'), 'utf8')
  const [, script = '', folder = '', machines = ''] = /^ *node (\S+prepare\.js) (\S+) (.*)$/m.exec(readme) ?? []
  const call = (...args: string[]) =>
    spawnSync(process.execPath, [join(PROJECT, script), ...args], { cwd: parent, encoding: 'utf8' })
  t.match(call(folder, ...machines.split(' ')), { status: 0, stderr: '' })
  t.match(
    readFileSync(join(parent, folder, 'node-2/manifests/etcd.yaml'), 'utf8'),
    /--initial-cluster=node-0=https:\/\/10\.0\.0\.10:2380,node-1=/
  )
  t.match(call(folder, ...machines.split(' ')), { status: 1, stderr: /^\S+ is there already; [^\n]+\n$/ })
  t.match(call(), { status: 1, stderr: /^usage: / })
  t.end()
})

t.test('an impossible control plane is refused before anything is written', async t => {
  const folder = prepared(t)
  t.throws(() => prepare(folder, MACHINES), /is there already/)
  const refused = (machines: Machine[], why: RegExp): void => {
    const other = join(folder, 'other')
    t.throws(() => prepare(other, machines), why)
    t.throws(() => statSync(other), { code: 'ENOENT' })
  }
  refused(MACHINES.slice(1), /odd number/)
  refused([...MACHINES.slice(1), { name: 'Node', address: '127.0.0.1' }], /"Node" is no name/)
  refused([...MACHINES.slice(1), { name: '../up', address: '127.0.0.1' }], /is no name/)
  refused([...MACHINES.slice(1), { name: 'node-0', address: 'localhost' }], /no IPv4 address/)
  refused([...MACHINES.slice(1), { name: 'node-0', address: '127.0.77.12' }], /same address/)
  const withCommands = (commands: Parameters<typeof commandsOf>[0]): void => {
    prepare(join(folder, 'other'), MACHINES, undefined, commandsOf(commands))
  }
  t.throws(() => { withCommands({ scheduler: 'a' }) }, /--scheduler and --scheduler-image belong together/)
  t.throws(() => { withCommands({ 'scheduler-image': 'a:1' }) }, /belong together/)
  t.throws(
    () => { withCommands({ scheduler: 'a {b}', 'scheduler-image': 'a:1' }) }, /the command of the scheduler has \{b\}/
  )
  t.throws(() => { withCommands({ scheduler: ' ', 'scheduler-image': 'a:1' }) }, /is empty/)
  t.throws(() => statSync(join(folder, 'other')), { code: 'ENOENT' })
  for (const balancer of ['', 'a b', '-a', '10.0.0.256:6443', 'Balancer']) {
    t.throws(() => prepare(join(folder, 'other'), MACHINES, balancer), /no name or IPv4 address of a balancer/)
  }
  // eslint-disable-next-line no-template-curly-in-string -- it is a template of the example
  t.throws(() => fill('a ${b}', {}), /asks for b/)
})

t.test('members and servers are lost one by one, and what was written is served', async t => {
  const folder = prepared(t)
  const program = etcdProgram()
  const ports = new Map(await Promise.all([2379, 2380, 6443].map(async port => [
    String(port), String(await freePort())
  ] as const)))
  /** The text of a manifest with paths and ports of this machine. */
  const moved = async (text: string, { name }: Machine): Promise<string> => {
    const here = new Map(ports).set('2381', String(await freePort()))
    return text.replaceAll(/\b(?:2379|2380|2381|6443)\b/g, port => here.get(port) ?? port)
      .replaceAll('/etc/orch/pki', join(folder, name, 'pki')).replaceAll('/var/lib/etcd', join(folder, name, 'etcd'))
  }

  const members = await Promise.all(MACHINES.map(async machine => {
    const { args, container } = podOf(await moved(manifest(folder, machine, 'etcd.yaml'), machine))
    const process = new EtcdProcess(program, args, `https://${machine.address}`, 0)
    t.teardown(() => process.kill())
    return { process, container }
  }))
  await Promise.all(members.map(({ process }) => process.start()))
  for (const { container } of members) t.equal(await probe(container.livenessProbe), 200, 'a member is alive')

  const servers = await Promise.all(MACHINES.slice(0, 2).map(async machine => {
    const { args, container } = podOf(await moved(manifest(folder, machine, 'orch-apiserver.yaml'), machine))
    const child = launch(
      process.execPath, [...nodeFlags(), LAUNCHER, ...args], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] }
    )
    let log = ''
    child.stderr.on('data', (piece: Buffer) => { log += piece.toString() })
    const gone = once(child, 'exit')
    t.teardown(async () => {
      child.kill('SIGKILL')
      await gone
    })
    await until(() => `${machine.name} to be ready: ${log}`, async () => {
      if (child.exitCode !== null) throw new Error(log)
      return await probe(readinessOf(container)) === 200
    }, PATIENCE)
    for (const name of ['startupProbe', 'livenessProbe'] as const) t.equal(await probe(container[name]), 200, name)
    t.equal(
      await probe({ httpGet: { ...readinessOf(container).httpGet, path: '/api' } }), 403,
      'other paths are refused without credentials'
    )

    const config = new KubeConfig()
    config.loadFromString(readFileSync(join(folder, 'admin.kubeconfig'), 'utf8').replaceAll(
      '6443', ports.get('6443') ?? ''
    ))
    config.setCurrentContext(machine.name)
    return { api: config.makeApiClient(CustomObjectsApi), container, child, gone, log: () => log }
  }))

  const written: string[] = []
  let count = 0
  const write = async ({ api }: { api: CustomObjectsApi }): Promise<void> => {
    const name = `b-${String(count++).padStart(4, '0')}`
    await api.createClusterCustomObject({ ...resource, body: binding(name) })
    written.push(name)
  }
  /** A client that retries under another name while the members elect a leader. */
  const writeOn = async (server: { api: CustomObjectsApi, log: () => string }): Promise<void> => {
    await until(
      () => `a write to be taken: ${server.log()}`, () => write(server).then(() => true, () => false), PATIENCE
    )
    for (let i = 0; i < 5; i++) await write(server)
  }
  /** Objects that either acknowledged and that are not served. */
  const missing = async ({ api }: { api: CustomObjectsApi }): Promise<string[]> => {
    const { items } = await api.listClusterCustomObject(resource) as { items: Json[] }
    const served = new Set(items.map(({ metadata }) => metadata.name as string))
    return written.filter(name => !served.has(name))
  }

  for (const server of servers) for (let i = 0; i < 5; i++) await write(server)
  for (const [index, { process, container }] of members.entries()) {
    await process.kill()
    for (const server of servers) await writeOn(server)
    for (const server of servers) {
      t.strictSame(await missing(server), [], `nothing is missing with member ${index} lost`)
    }
    await process.start()
    await until(`member ${index} to be alive again`, async () => await probe(container.livenessProbe) === 200)
  }
  const [first, second] = servers
  if (first === undefined || second === undefined) throw new Error('there are two servers')
  first.child.kill('SIGKILL')
  await first.gone
  t.strictSame(await missing(second), [], 'the other serves all acknowledged objects')
  await writeOn(second)
  t.equal(await probe(readinessOf(second.container)), 200)
})
