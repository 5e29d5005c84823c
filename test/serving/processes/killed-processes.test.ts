/**
 * Processes killed under load: nothing acknowledged is lost, watches continue elsewhere without a gap or a repeat, and
 * too many deaths end the server.
 */
import t from 'tap'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { Agent } from 'node:https'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openBackend } from '../../../storage/open.js'
import { freePort } from '../../ports.js'
import { ask, CONFIGS, eventually, Follower, several, versionOf } from './server.js'

const object = (name: string): string => JSON.stringify({ metadata: { name }, data: { text: 'x'.repeat(100) } })
const WATCHES = 9
const WRITERS = 6
/** Milliseconds between two writes of one writer. */
const PAUSE = 5

t.test('processes that are killed are replaced, and their connections end and nothing else', {
  timeout:
    400_000
}, async t => {
  const server = await several(t, 3)
  const { port, pidOf } = server
  const from = versionOf((await ask(port, 'GET', CONFIGS))?.text ?? '')
  const followers = Array.from({ length: WATCHES }, () => new Follower(port, from))
  t.teardown(() => { for (const follower of followers) follower.stop() })
  const acknowledged = new Map<string, number>()
  let answers = 0
  let failures = 0
  const over = new AbortController()
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let at = 0; !over.signal.aborted; at++) {
      const name = `w-${writer}-${at}`
      const answer = await ask(port, 'POST', CONFIGS, object(name), agent)
      if (answer === undefined) failures++
      else if (answer.code === 201) acknowledged.set(name, versionOf(answer.text))
      else if (answer.code === 503 || answer.code === 500 || answer.code === 504) failures++
      else t.fail(`${answer.code} ${answer.text}`)
      answers++
      await sleep(PAUSE)
    }
    agent.destroy()
  })
  const more = async (): Promise<void> => {
    const before = acknowledged.size
    await eventually('writes go on', () => acknowledged.size > before + 50)
  }
  await more()
  for (const name of ['2', 'store', '1', 'store']) {
    const pid = pidOf(name)
    process.kill(pid, 'SIGKILL')
    await eventually(`${name} is replaced`, () => pidOf(name) !== 0 && pidOf(name) !== pid)
    await more()
  }
  over.abort()
  await Promise.all(writers)
  t.comment(`${acknowledged.size} of ${answers} writes acknowledged, ${failures} failed`)

  const { text = '' } = await ask(port, 'GET', CONFIGS) ?? {}
  const list = JSON.parse(text) as {
    metadata: { resourceVersion: string }
    items: Array<{ metadata: { name: string, resourceVersion: string } }>
  }
  const stored = new Map(list.items.map(({ metadata: { name, resourceVersion } }) => [name, Number(resourceVersion)]))
  t.same(
    [...acknowledged].filter(([name, version]) => stored.get(name) !== version), [], 'acknowledged objects are stored'
  )
  const newest = Math.max(...stored.values())
  await eventually('all watches have seen all', () => followers.every(({ last }) => last >= newest))
  const expected = [...stored.values()].filter(version => version > from).sort((a, b) => a - b)
  for (const { seen, faults } of followers) {
    t.same(faults, [])
    t.same([...seen.keys()].filter(version => version <= newest), expected, 'no event is lost and none comes twice')
  }
  t.ok(followers.some(({ losses }) => losses > 0), 'some watches were at a process that was killed')
  t.match(server.log(), /serving process 2 \(pid \d+\) ended by SIGKILL and is replaced/)
  t.match(server.log(), /the process of the store \(pid \d+\) ended by SIGKILL and is replaced/)

  // The fifth death within a minute, unless the machine is so slow that earlier ones are older.
  for (let died = 0; died < 5 && server.process.exitCode === null; died++) {
    const pid = pidOf('3')
    if (pid !== 0) process.kill(pid, 'SIGKILL')
    await Promise.race([
      server.exit, eventually('3 is replaced', () => pidOf('3') !== pid && pidOf('3') !== 0).catch(() => {})
    ])
  }
  t.equal(await server.exit, 1)
  t.match(
    server.log(),
    /ERROR serving process 3 \(pid \d+\) ended by SIGKILL: 5 processes ended within a minute, the server ends\n$/
  )
})

t.test('a start that fails is reported once, with the exit code of one process', async t => {
  const folder = t.testdir({ 'audit.yaml': 'nonsense' })
  for (const [flags, message] of [
    [[`--audit-policy-file=${folder}/audit.yaml`], /^orch-apiserver: --audit-policy-file=.*\n$/],
    [['--serving-processes=2', '--max-requests-inflight=1'], /^orch-apiserver: --serving-processes=2: .*\n$/]
  ] as const) {
    const { code, err } = await failed([
      '--serving-processes=3', `--data-dir=${folder}/data`, `--cert-dir=${folder}/certs`, ...flags
    ])
    t.equal(code, 1)
    t.match(err, message)
    t.equal(existsSync(`${folder}/data`), false)
  }
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => { taken.close() })
  const { port } = taken.address() as AddressInfo
  const used = await failed([
    '--serving-processes=2', '--bind-address=127.0.0.1', `--secure-port=${port}`, `--data-dir=${folder}/data`,
    `--cert-dir=${folder}/certs`
  ])
  t.same(used, {
    code: 1,
    err:
      `orch-apiserver: --secure-port=${port}: the port is in use on 127.0.0.1; ` +
      'choose another one or end what listens there\n'
  })
})

t.test('a store that another server has ends the start with one line', { timeout: 120_000 }, async t => {
  const server = await several(t, 2)
  const second = await failed([
    '--serving-processes=2', '--bind-address=127.0.0.1', `--secure-port=${await freePort()}`,
    `--cert-dir=${server.folder}`, `--data-dir=${server.folder}/data`
  ])
  t.equal(second.code, 1)
  t.match(second.err, /(^|\n)orch-apiserver: --data-dir=\S+: the directory .* is in use[^\n]*\n$/)
  t.equal(second.err.match(/orch-apiserver:/g)?.length, 1)
  t.equal((await ask(server.port, 'GET', CONFIGS))?.code, 200, 'the first server still answers')
})

t.test('no other server takes the folder while the process of the store is replaced', { timeout: 200_000 }, async t => {
  const server = await several(t, 2)
  const folder = `${server.folder}/data`
  for (let round = 0; round < 3; round++) {
    const pid = server.pidOf('store')
    process.kill(pid, 'SIGKILL')
    for (let refused = 0; server.pidOf('store') === pid || server.pidOf('store') === 0 || refused === 0; refused++) {
      await t.rejects(openBackend({ kind: 'embedded', directory: folder }), {
        code: 'Unavailable', message: /is in use by another server/
      })
    }
    await eventually('it answers again', async () => (await ask(server.port, 'GET', CONFIGS))?.code === 200)
  }
  server.process.kill('SIGKILL')
  await server.exit
  await eventually('the folder is free', async () => {
    try {
      await (await openBackend({ kind: 'embedded', directory: folder })).close()
      return true
    } catch {
      return false
    }
  })
})

async function failed (args: readonly string[]): Promise<{ code: number | null, err: string }> {
  const child = spawn(
    process.execPath, [fileURLToPath(new URL('../../../bundle/cli.js', import.meta.url)), ...args],
    { stdio: ['ignore', 'ignore', 'pipe'] }
  )
  let err = ''
  child.stderr.on('data', (text: Buffer) => { err += text.toString() })
  const [code] = await once(child, 'close') as [number | null]
  return { code, err }
}
