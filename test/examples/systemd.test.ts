/**
 * The unit of examples/systemd/: checked by systemd-analyze, and its command run by a test that plays systemd, over a
 * real notify socket and with a stand-in for systemd-notify.
 */
import t from 'tap'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from '../build.js'
import { startEtcd } from '../etcd-process.js'
import { ask, launch, nodeFlags, until } from '../interop/server.js'
import { freePort } from '../ports.js'
import { systemdProgram } from '../tools.js'

const UNIT = fileURLToPath(new URL('../../../examples/systemd/orch-apiserver.service', import.meta.url))
const LAUNCHER = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))
const text = readFileSync(UNIT, 'utf8')
const settings = (name: string): string[] =>
  [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value)

/** Perl is part of every Debian. */
const RECEIVER = `
use Socket;
socket(my $received, AF_UNIX, SOCK_DGRAM, 0) or die $!;
bind($received, pack_sockaddr_un($ARGV[0])) or die $!;
$| = 1;
print "$_\\n" while defined recv($received, $_, 4096, 0);
`

function folder (t: Test): string {
  const made = mkdtempSync(join(tmpdir(), 'orch-systemd-'))
  t.teardown(() => { rmSync(made, { recursive: true, force: true }) })
  return made
}

function end (t: Test, child: ChildProcess): void {
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  })
}

/** What systemd would receive, and the environment that leads there. */
interface Manager { readonly env: NodeJS.ProcessEnv, readonly received: () => string[] }

async function socketManager (t: Test): Promise<Manager> {
  const socket = join(folder(t), 'notify')
  const child = spawn('perl', ['-e', RECEIVER, socket], { stdio: ['ignore', 'pipe', 'inherit'] })
  end(t, child)
  let out = ''
  child.stdout.on('data', (piece: Buffer) => { out += piece.toString() })
  await until('the notify socket', () => existsSync(socket))
  const { path, env } = systemdProgram('systemd-notify')
  return {
    env: { ...env, NOTIFY_SOCKET: socket, PATH: `${dirname(path)}:${process.env.PATH ?? ''}` },
    received: () => out.split('\n').filter(line => line !== '' && line !== 'BARRIER=1')
  }
}

async function standInManager (t: Test): Promise<Manager> {
  const made = folder(t)
  const [command, sent] = [join(made, 'systemd-notify'), join(made, 'sent')]
  writeFileSync(command, `#!/bin/sh\necho "$@" >> ${sent}\n`)
  chmodSync(command, 0o755)
  return {
    env: { NOTIFY_SOCKET: '@nobody', PATH: `${made}:${process.env.PATH ?? ''}` },
    received: () => existsSync(sent) ? readFileSync(sent, 'utf8').trim().split('\n') : []
  }
}

interface Service { readonly process: ChildProcess, readonly log: () => string, readonly readyz: () => Promise<number> }

/** ExecStart of the unit, with the state folder and FLAGS of a test. */
async function start (t: Test, env: NodeJS.ProcessEnv, ...flags: string[]): Promise<Service> {
  const state = folder(t)
  const port = await freePort()
  const [program, ...args] = (settings('ExecStart')[0] ?? '').split(' ')
  if (program !== '/usr/local/bin/orch-apiserver' || args.at(-1) !== '$FLAGS') {
    throw new Error(`another command: ${String(program)}`)
  }
  const cwd = (settings('WorkingDirectory')[0] ?? '').replace('%S', state)
  mkdirSync(cwd) // as StateDirectory= does
  const child = launch(
    'env',
    [
      ...Object.entries(env).map(([name, value]) => `${name}=${String(value)}`), process.execPath, ...nodeFlags(),
      LAUNCHER, ...args.slice(0, -1), `--secure-port=${port}`, ...flags
    ],
    { cwd, stdio: ['ignore', 'ignore', 'pipe'] }
  )
  end(t, child)
  let log = ''
  child.stderr.on('data', (piece: Buffer) => { log += piece.toString() })
  const ca = join(cwd, 'orch-data/certs/apiserver.crt')
  return {
    process: child,
    log: () => log,
    readyz: async () =>
      existsSync(ca) ? (await ask(`https://127.0.0.1:${port}/readyz`, { ca: readFileSync(ca, 'utf8') })).code : 0
  }
}

async function stop ({ process }: Service): Promise<number | null> {
  const gone = once(process, 'exit')
  process.kill('SIGTERM')
  await gone
  return process.exitCode
}

for (const [name, manager] of [
  ['a notify socket', socketManager], ['a stand-in for systemd-notify', standInManager]
] as const) {
  t.test(`systemd is notified over ${name} when /readyz is ok, and of the end`, async t => {
    const { env, received } = await manager(t)
    const etcd = await startEtcd(t)
    await etcd.kill()
    const service = await start(t, env, `--etcd-servers=${etcd.url}`)
    // anonymous, by roles that are in etcd
    await until('a server that is not ready', async () => await service.readyz() > 200)
    await new Promise(resolve => { setTimeout(resolve, 1500) }) // longer than the maximum pause between two checks
    t.not(await service.readyz(), 200)
    t.strictSame(received(), [], 'not while etcd is away')
    await etcd.start()
    await until('READY=1', () => received().length > 0)
    t.strictSame(received(), ['READY=1'])
    t.equal(await service.readyz(), 200)
    t.equal(await stop(service), 0)
    await until('STOPPING=1', () => received().length > 1)
    t.strictSame(received(), ['READY=1', 'STOPPING=1'], 'once each')
    t.notMatch(service.log(), 'systemd was not sent')
  })
}

t.test('a machine without systemd-notify has a server and a line in its log', async t => {
  const service = await start(t, {
    NOTIFY_SOCKET: '/nowhere', PATH: dirname(process.execPath) === '/usr/bin' ? '/nowhere' : dirname(process.execPath)
  })
  await until(
    'the line',
    () =>
      /WARN {2}systemd was not sent READY=1, and a unit of Type=notify waits for it: the command systemd-notify is not on the PATH\n/.test(service.log())
  )
  t.equal(await service.readyz(), 200)
  t.equal(await stop(service), 0)
})

t.test('without NOTIFY_SOCKET nothing is run', async t => {
  const { env: { PATH }, received } = await standInManager(t)
  const service = await start(t, { PATH, NOTIFY_SOCKET: '' })
  await until('a server that is ready', async () => await service.readyz() === 200)
  t.equal(await stop(service), 0)
  t.strictSame(received(), [])
})

t.test('the unit is hardened, and what it cannot have is said', async t => {
  for (const [name, value] of [
    ['Type', 'notify'], ['NotifyAccess', 'all'], ['DynamicUser', 'yes'], ['ProtectSystem', 'strict'],
    ['NoNewPrivileges', 'yes'], ['CapabilityBoundingSet', ''], ['Restart', 'on-failure']
  ] as const) t.strictSame(settings(name), [value], name)
  for (const name of ['MemoryDenyWriteExecute', 'WatchdogSec']) {
    t.strictSame(settings(name), [], name)
    t.match(text, `# No ${name}=: `)
  }
})

t.test('systemd-analyze finds nothing wrong, and little exposed', async t => {
  const unit = join(folder(t), 'orch-apiserver.service')
  // it checks that the program exists
  writeFileSync(unit, text.replace('/usr/local/bin/orch-apiserver', process.execPath))
  const analyze = (...args: string[]): { code: number | null, out: string } => {
    const { path, env } = systemdProgram('systemd-analyze')
    const { status, stdout, stderr } = spawnSync(path, args, {
      encoding: 'utf8', timeout: 60_000, env: { ...process.env, ...env }
    })
    return { code: status, out: `${stdout}${stderr}` }
  }
  const { code, out } = analyze('--man=no', 'verify', unit)
  t.equal(code, 0, out)
  t.notMatch(out, 'orch-apiserver.service', 'no warnings either')
  const version = Number(/^systemd (\d+)/.exec(analyze('--version').out)?.[1])
  if (version < 250) return
  // in tenths of ten; without hardening it is 96
  const security = analyze('--no-pager', 'security', '--offline=yes', '--threshold=20', unit)
  t.equal(security.code, 0, security.out.trim().replace(/^[^]*\n/, ''))
})
