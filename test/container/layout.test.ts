/**
 * Tests the image without a container engine: builds its layout as the Containerfile says, makes it read-only, and runs
 * its entry point and health check from there as its user, with nothing but a volume to write to.
 */
import t from 'tap'
import { once } from 'node:events'
import {
  chmodSync, chownSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BINDINGS, binding } from '../build.js'
import { ask, launch, nodeFlags, until } from '../interop/server.js'
import { freePort } from '../ports.js'
import { losesFields } from '../../serving/runtime.js'
import { below, buildImage, setWritable, type Image } from './image.js'

/** Development packages that other packages need too. */
const COME_ANYWAY = new Set(['@types/node'])

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url))
const LAUNCHER = '/opt/orch-apiserver/dist/bundle/cli.js'
const END_TIME = 10_000
const asRoot = process.getuid?.() === 0

/** Starts the image's program, from its file system, as its user. */
function start (image: Image, state: string, port: number, flags: readonly string[]) {
  const [uid = 0, gid = 0] = image.user.split(':').map(Number)
  const identity = asRoot ? { uid, gid } : {}
  const [program, ...args] = image.entrypoint.map(word => word.startsWith('/') ? join(image.root, word) : word)
  const env = { PATH: process.env.PATH, ...image.env }
  const node = program === 'node' ? process.execPath : ''
  const child = launch(node, [...args, `--secure-port=${port}`, '--bind-address=127.0.0.1', ...flags], {
    cwd: state, env, stdio: ['ignore', 'ignore', 'pipe'], ...identity
  })
  let log = ''
  child.stderr.on('data', (piece: Buffer) => { log += piece.toString() })
  const closed = once(child, 'close')
  return {
    log: () => log,
    /** The exit code of the health check. */
    probe: async (): Promise<number> => {
      const [, ...check] = image.healthcheck
      const checking = launch(process.execPath, check, {
        cwd: state, env: { ...env, ORCH_SECURE_PORT: String(port) }, stdio: ['ignore', 'ignore', 'pipe'], ...identity
      })
      checking.stderr.resume()
      const [code] = await once(checking, 'close') as [number] // nobody kills it
      return code
    },
    running: () => child.exitCode === null && child.signalCode === null,
    end: async (signal: NodeJS.Signals): Promise<number | null> => {
      const timer = setTimeout(() => child.kill('SIGKILL'), END_TIME)
      child.kill(signal)
      await closed
      clearTimeout(timer)
      return child.exitCode
    }
  }
}

t.test('its Node loses no header fields', async t => {
  const [, version = ''] = /^ARG NODE=\S+:([\d.]+)-/m.exec(readFileSync(join(PROJECT, 'Containerfile'), 'utf8')) ?? []
  t.match(version, /^\d+\.\d+/, 'a version, not a line of them that may be an early one where it was fetched long ago')
  t.notOk(losesFields(version))
})

t.test('the image', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-image-'))
  chmodSync(folder, 0o755)
  t.teardown(() => {
    setWritable(folder, true)
    rmSync(folder, { recursive: true, force: true })
  })
  const image = buildImage(PROJECT, folder, join(PROJECT, 'node_modules'))
  const volume = (name: string): string => {
    const path = join(folder, name)
    mkdirSync(path, { mode: 0o700 })
    if (asRoot) chownSync(path, ...(image.user.split(':').map(Number) as [number, number])) // checked below
    return path
  }

  await t.test('says who runs what', async t => {
    t.match(image.user, /^[1-9]\d+:[1-9]\d+$/, 'an ordinary user, as a number')
    t.strictSame(image.ports, ['6443'])
    t.strictSame(image.volumes, [image.workdir])
    t.strictSame(image.entrypoint, ['node', ...nodeFlags(), LAUNCHER], 'as npm start runs it')
    t.equal(image.healthcheck[0], 'node')
    const state = lstatSync(join(image.root, image.workdir))
    t.equal(state.mode & 0o777, 0o700, 'the state is readable by its owner alone')
    if (asRoot) t.equal(`${state.uid}:${state.gid}`, image.user)
  })

  await t.test('has what serves and nothing else', async t => {
    const program = join(image.root, 'opt/orch-apiserver')
    const { dependencies, devDependencies } = JSON.parse(readFileSync(
      join(PROJECT, 'package.json'), 'utf8'
    )) as Record<'dependencies' | 'devDependencies', Record<string, string>>
    for (const name of Object.keys(dependencies)) {
      t.ok(existsSync(join(program, 'node_modules', name)), `${name} is there`)
    }
    for (const name of Object.keys(devDependencies).filter(name => !COME_ANYWAY.has(name))) {
      t.notOk(existsSync(join(program, 'node_modules', name)), `${name} is not`)
    }
    const built = below(join(program, 'dist'))
    // the hash contains paths of the machine
    const unhashed = (files: string[]): string[] => files.map(file => file.replace(/chunk-\w+/, 'chunk'))
    t.strictSame(unhashed(built), [
      'bundle',
      ...unhashed(below(join(PROJECT, 'dist/bundle'))
        .filter(file => !file.endsWith('.map'))
        .map(file => `bundle/${file}`))
    ])
  })

  setWritable(image.root, false)
  const files = below(image.root)

  await t.test('keeps its state in its volume, is probed, and ends in order on a signal', async t => {
    const state = volume('state')
    const port = await freePort()
    const url = `https://127.0.0.1:${port}${BINDINGS}`
    const first = start(image, state, port, [])
    t.teardown(() => first.end('SIGKILL'))
    await until(() => `the health check to pass: ${first.log()}`, async () => {
      if (!first.running()) throw new Error(first.log())
      return await first.probe() === 0
    })
    t.strictSame(below(state).filter(path => !path.includes('/')), ['orch-data'])
    if (asRoot) t.equal(lstatSync(join(state, 'orch-data')).uid, Number(image.user.split(':')[0]))
    const ca = readFileSync(join(state, 'orch-data/certs/apiserver.crt'), 'utf8')
    t.equal((await ask(url, { method: 'POST', ca, body: binding('kept') })).code, 201)
    t.equal(await first.end('SIGTERM'), 0, first.log())
    t.equal(await first.probe(), 1, 'a stopped server is unhealthy')

    const second = start(image, state, port, [])
    t.teardown(() => second.end('SIGKILL'))
    await until(() => `the health check to pass again: ${second.log()}`, async () => await second.probe() === 0)
    t.equal((await ask(`${url}/kept`, { ca })).code, 200, 'with the certificate and the state of before')
    t.equal(await second.end('SIGINT'), 0, second.log())
  })

  await t.test(
    'takes folders of its own for state and certificates, and is healthy to a probe that it does not know', async t => {
      const state = volume('working')
      const [data, certs] = [volume('data'), volume('certs')]
      const tokens = join(certs, 'tokens.csv')
      writeFileSync(tokens, 'secret,ann,1\n', { mode: 0o644 })
      const port = await freePort()
      const server = start(image, state, port, [
        `--data-dir=${data}`, `--cert-dir=${certs}`, '--anonymous-auth=false', `--token-auth-file=${tokens}`
      ])
      t.teardown(() => server.end('SIGKILL'))
      await until(() => `the health check to pass: ${server.log()}`, async () => await server.probe() === 0)
      const ca = readFileSync(join(certs, 'apiserver.crt'), 'utf8')
      t.equal(
        (await ask(`https://127.0.0.1:${port}${BINDINGS}`, {
          ca, token: 'secret', method: 'POST', body: binding('mine')
        })).code,
        201
      )
      t.equal((await ask(`https://127.0.0.1:${port}${BINDINGS}`, { ca })).code, 401)
      t.equal(await server.end('SIGTERM'), 0, server.log())
      t.strictSame(below(state), [], 'nothing was written to the working directory')
      t.not(below(data).length, 0)
    }
  )

  t.strictSame(below(image.root), files, 'nothing was written to the image')
})
