/**
 * The control plane of this folder on one machine without containers: three etcd members, three servers and a balancer,
 * each machine an address of Linux' loopback network. It runs what the pods run, with the flags of their manifests.
 *
 *     node dist/examples/control-plane/run.js FOLDER [NETWORK] [--controller-manager=COMMAND] [--scheduler=COMMAND]
 *
 *     FOLDER    a new one, for keys, data and logs
 *     NETWORK   default 127.0.77: the balancer is 127.0.77.1:6443, the machines are 127.0.77.10 to 12
 *     COMMAND   run on each machine when the servers are ready; see components.ts for its placeholders
 *
 * SIGHUP restarts every program, server and member, one after the other. SIGINT or SIGTERM ends all in order; a second
 * one kills them.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Balancer } from './balancer.js'
import { COMMAND_OPTIONS, commandsOf, type Commands } from './components.js'
import { PodProcess } from './pod-process.js'
import { argumentsOf, podOf, readinessOf } from './pods.js'
import { prepare, type Machine } from './prepare.js'

const SERVER = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))
const PORT = 6443

let members: PodProcess[] = []
let servers: PodProcess[] = []
let components: PodProcess[] = []
let balancer: Balancer | undefined
let ending = false

async function end (signal?: NodeJS.Signals): Promise<void> {
  ending = true
  for (const kind of [components, servers, members]) await Promise.all(kind.map(process => process.remove(signal)))
  balancer?.close()
}

function fail (error: unknown): void {
  if (ending) return
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
  void end()
}

/**
 * What a pod of the machine runs: the program, or that of its command. Paths are below the machine's folder, and each
 * etcd serves its health at its own address.
 */
function processOf (folder: string, { name, address }: Machine, file: string, program?: string): PodProcess {
  const own = join(folder, name)
  const text = readFileSync(join(own, 'manifests', file), 'utf8')
    .replaceAll('/etc/orch/pki', join(own, 'pki'))
    .replaceAll('/var/lib/etcd', join(own, 'etcd'))
    .replaceAll(/127\.0\.0\.1(?=:2381|, port: 2381)/g, address)
    // This balancer checks ten times a second.
    .replace('--shutdown-delay-duration=10s', '--shutdown-delay-duration=1s')
  const { metadata, spec: { containers: [container] } } = podOf(text)
  return new PodProcess(`${name} ${metadata.name}`, {
    command: [program ?? container.command?.[0] ?? '', ...argumentsOf(container)],
    probe: readinessOf(container),
    log: join(own, `${metadata.name}.log`)
  }, fail)
}

async function run (folder: string, network: string, commands: Commands): Promise<void> {
  if (!/^127(?:\.\d{1,3}){2}$/.test(network)) {
    throw new Error(`"${network}" is no part of the loopback network, such as 127.0.77`)
  }
  const machines = [0, 1, 2].map(at => ({ name: `node-${at}`, address: `${network}.${10 + at}` }))
  const host = `${network}.1`
  prepare(folder, machines, host, commands)
  for (const { name } of machines) mkdirSync(join(folder, name, 'etcd'), { mode: 0o700 })
  members = machines.map(machine => processOf(folder, machine, 'etcd.yaml', 'etcd'))
  servers = machines.map(machine => processOf(folder, machine, 'orch-apiserver.yaml', SERVER))
  components = Object.keys(commands).flatMap(name =>
    machines.map(machine => processOf(folder, machine, `${name}.yaml`)))
  balancer = await Balancer.listening(host, PORT)
  for (const { name, address } of machines) {
    balancer.add({ host: address, port: PORT, ca: readFileSync(join(folder, name, 'pki/ca.crt'), 'utf8') })
  }
  for (const kind of [members, servers, components]) await Promise.all(kind.map(process => process.start()))
  if (!ending) console.log(`ready: kubectl --kubeconfig=${join(folder, 'admin.kubeconfig')} get namespaces`)
}

async function restartAll (): Promise<void> {
  for (const process of [...components, ...servers, ...members]) await process.restart()
  if (!ending) console.log('every server and every member was restarted')
}

// Without its readers, such as a closed terminal, it goes on: its processes would outlive it.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => { void end(ending ? 'SIGKILL' : undefined) })
}
/** @throws Error for unknown options */
async function main (): Promise<void> {
  const { values, positionals: [folder, network = '127.0.77'] } = parseArgs({
    options: COMMAND_OPTIONS, allowPositionals: true
  })
  if (folder === undefined) {
    throw new Error('usage: run.js FOLDER [NETWORK] [--controller-manager=COMMAND] [--scheduler=COMMAND]')
  }
  await run(resolve(folder), network, commandsOf(values, 'none'))
}

let last = main().catch(fail)
process.on('SIGHUP', () => { last = last.then(restartAll).catch(fail) })
