/**
 * The image built by buildah and run by podman, on machines that have both. `NODE_IMAGE` names a base image with Node
 * and npm for machines that can't pull the Containerfile's. layout.test.ts needs neither.
 */
import t, { type Test } from 'tap'
import { execFile } from 'node:child_process'
import { chownSync, mkdtempSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { BINDINGS, binding } from '../build.js'
import { ask, until } from '../interop/server.js'
import { freePort } from '../ports.js'
import { onPath } from '../tools.js'

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url))
const CA = 'orch-data/certs/apiserver.crt'
const IMAGE = `localhost/orch-test-${process.pid}`
/** Lower than the engine's own limits, which machines that are containers themselves can't set. */
const LIMITS = ['--ulimit=nofile=4096:4096', '--ulimit=nproc=4096:4096']

const run = promisify(execFile)
const out = async (program: string, ...args: string[]): Promise<string> =>
  (await run(program, args, { cwd: PROJECT, maxBuffer: 2 ** 26 })).stdout.trim()

/** Why the image can't be built here, in one line. */
async function obstacle (): Promise<string | undefined> {
  const missing = ['buildah', 'podman'].filter(program => onPath(program) === undefined)
  if (missing.length > 0) return `not on the PATH: ${missing.join(', ')}`
  const [, base = ''] = /^ARG NODE=(\S+)$/m.exec(readFileSync(join(PROJECT, 'Containerfile'), 'utf8')) ?? []
  if (process.env.NODE_IMAGE !== undefined) return undefined
  return await out('buildah', 'pull', '--quiet', base).then(
    () => undefined,
    (error: { stderr?: string }) =>
      `${base} can't be pulled, and NODE_IMAGE names no other: ` +
      `${error.stderr?.trim().split('\n').at(-1) ?? String(error)}`
  )
}

async function wholeLife (t: Test): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-engine-'))
  t.teardown(async () => {
    await out('podman', 'rmi', '--force', '--ignore', IMAGE)
    rmSync(folder, { recursive: true, force: true })
  })
  const { NODE_IMAGE } = process.env
  await out(
    'buildah', 'build', '--format=docker', '--network=host',
    ...(NODE_IMAGE === undefined ? [] : [`--build-arg=NODE=${NODE_IMAGE}`]), '-t', IMAGE, '.'
  )

  const state = join(folder, 'state')
  mkdirSync(state, { mode: 0o700 })
  if (process.getuid?.() === 0) chownSync(state, 65532, 65532)
  const port = await freePort()
  const start = async (): Promise<string> => {
    const id = await out(
      'podman', 'run', '--detach', '--read-only', '--network=host', ...LIMITS, `--volume=${state}:/var/lib/orch:U`,
      `--env=ORCH_SECURE_PORT=${port}`, IMAGE, `--secure-port=${port}`, '--bind-address=127.0.0.1'
    )
    t.teardown(() => out('podman', 'rm', '--force', '--ignore', id))
    await until('the server to be ready', async () =>
      await out('podman', 'healthcheck', 'run', id).then(() => true, () => false))
    return id
  }
  const stop = async (id: string): Promise<void> => {
    await out('podman', 'stop', id)
    t.equal(await out('podman', 'inspect', '--format={{.State.ExitCode}}', id), '0', 'it ended in order')
  }
  const url = `https://127.0.0.1:${port}${BINDINGS}`
  const first = await start()
  t.equal(await out('podman', 'exec', first, 'id', '-u'), '65532')
  await t.rejects(
    out('podman', 'exec', first, 'touch', '/opt/orch-apiserver/new'), { message: /Read-only file system/ }
  )
  const ca = await out('podman', 'exec', first, 'cat', CA)
  t.equal((await ask(url, { method: 'POST', ca, body: binding('kept') })).code, 201)
  await stop(first)
  const second = await start()
  t.equal((await ask(`${url}/kept`, { ca })).code, 200, 'with the certificate and the state of before')
  await stop(second)
}

const why = await obstacle()
if (why === undefined) {
  const title =
    'buildah builds the image; podman runs it read-only as its user, finds it healthy, keeps its state, ' +
    'and ends it in order'
  t.test(title, wholeLife)
} else t.pass(`the image was not built by an engine: ${why}`)
