/**
 * The image without a container engine: its layout is built into a folder as the Containerfile says, made
 * read-only, and its entry point and health check are run from there as an ordinary user.
 */
import t from 'tap'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))
const USER = 65532
const instructions = readFileSync(join(PROJECT, 'Containerfile'), 'utf8').split('\n').filter(line => line !== '' && !line.startsWith('#'))

function instruction (name: string): string {
  const line = instructions.findLast(one => one.startsWith(`${name} `))
  if (line === undefined) throw new Error(`the Containerfile has no ${name}`)
  return line.slice(name.length + 1)
}
const command = (text: string): string[] => JSON.parse(text.slice(text.indexOf('["'))) as string[]

/** What the last stage copies, below `root`. The packages stay where they are: a link is enough to run. */
function layOut (root: string): void {
  for (const line of instructions.filter(one => one.startsWith('COPY --from=build '))) {
    const [, , from = '', to = ''] = line.split(' ')
    const target = join(root, to)
    mkdirSync(join(target, '..'), { recursive: true })
    const source = join(PROJECT, from.replace('/src/', ''))
    if (to.endsWith('node_modules')) symlinkSync(source, target)
    else cpSync(source, target, { recursive: true, filter: file => !/dist\/(?:test|examples)(?:\/|$)/.test(file) })
  }
}

function makeReadOnly (path: string): void {
  if (lstatSync(path).isSymbolicLink()) return
  const folder = lstatSync(path).isDirectory()
  if (folder) for (const name of readdirSync(path)) makeReadOnly(join(path, name))
  chmodSync(path, folder ? 0o555 : 0o444)
}

function makeRemovable (path: string): void {
  if (!lstatSync(path).isDirectory()) return
  chmodSync(path, 0o755)
  for (const name of readdirSync(path)) makeRemovable(join(path, name))
}

t.test('the image runs as an ordinary user on a read-only file system, is probed, and ends in order', async t => {
  const root = mkdtempSync(join(tmpdir(), 'orch-image-'))
  chmodSync(root, 0o755)
  t.teardown(() => {
    makeRemovable(root)
    rmSync(root, { recursive: true, force: true })
  })
  layOut(root)
  t.notOk(existsSync(join(root, 'opt/orch-apiserver/dist/test')), 'the tests are not in the image')
  const state = join(root, instruction('WORKDIR'))
  mkdirSync(state, { recursive: true })
  makeReadOnly(join(root, 'opt'))
  const asRoot = process.getuid?.() === 0
  if (asRoot) chownSync(state, USER, USER)
  const identity = asRoot ? { uid: USER, gid: USER } : {}

  const reserved = createServer().listen(0, '127.0.0.1')
  await once(reserved, 'listening')
  const { port } = reserved.address() as AddressInfo
  reserved.close()
  await once(reserved, 'close')

  const [, script = ''] = command(instruction('ENTRYPOINT'))
  const server = spawn(process.execPath, [join(root, script), `--secure-port=${port}`, '--bind-address=127.0.0.1'], { cwd: state, stdio: ['ignore', 'ignore', 'pipe'], ...identity })
  let err = ''
  server.stderr.on('data', (piece: Buffer) => { err += piece.toString() })
  t.teardown(() => server.kill('SIGKILL'))
  const closed = once(server, 'close') as Promise<[number | null, string | null]>

  const probe = (): Promise<number> => new Promise(resolve => {
    const [, ...args] = command(instruction('HEALTHCHECK'))
    execFile(process.execPath, args, { env: { ORCH_SECURE_PORT: String(port) } }, error => { resolve(error === null ? 0 : Number(error.code)) })
  })
  while (await probe() !== 0) if (server.exitCode !== null) throw new Error(err)
  t.ok(existsSync(join(state, 'orch-data')), 'the state is in the working directory')
  if (asRoot) t.equal(lstatSync(join(state, 'orch-data')).uid, USER)
  server.kill('SIGTERM')
  t.strictSame(await closed, [0, null], err)
  t.equal(await probe(), 1, 'a server that is gone is unhealthy')
})

t.test('the image names a user without a name, a port and an entry point in exec form', async t => {
  t.match(instruction('USER'), /^[1-9]\d+:[1-9]\d+$/)
  t.equal(instruction('EXPOSE'), '6443')
  t.equal(command(instruction('ENTRYPOINT'))[0], 'node')
  t.ok(instructions.every(line => !/:latest\b/.test(line)))
})
