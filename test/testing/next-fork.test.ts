/** Forks that are started ahead. */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { MovableClock } from '../../testing/clock.js'
import { testServer, type TestServer } from '../../testing/index.js'
import { NextFork, type Unused } from '../../testing/next-fork.js'
import type { Json, Test } from '../build.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'

interface Started { readonly server: TestServer, alive: boolean, disposed: boolean }

function forks (t: Test, held: boolean): {
  readonly clock: MovableClock
  readonly next: NextFork
  readonly started: Started[]
} {
  const clock = new MovableClock(0, held)
  t.teardown(() => { clock.close() })
  const started: Started[] = []
  const next = new NextFork(clock, async (): Promise<Unused> => {
    const one: Started = {
      server: { dispose: async () => { one.disposed = true } } as TestServer, alive: true, disposed: false
    }
    started.push(one)
    return { server: one.server, keepAlive: alive => { one.alive = alive } }
  })
  return { clock, next, started }
}

t.test(
  'from the second fork of a state on the next one is started, and keeps no process alive until it is used',
  async t => {
    const { next, started } = forks(t, true)
    t.equal(await next.take('5'), undefined)
    next.prepare('5')
    t.equal(started.length, 0, 'a state that is forked once may not be forked again')
    t.equal(await next.take('5'), undefined)
    next.prepare('5')
    t.equal(started.length, 1)
    await new Promise(resolve => { setImmediate(resolve) })
    t.match(started, [{ alive: false }])
    t.equal(await next.take('5'), started[0]?.server)
    t.match(started, [{ alive: true, disposed: false }])
    t.equal(await next.take('5'), undefined, 'each is used once')
  }
)

for (const held of [true, false]) {
  t.test(`a fork of another state or time is not used, with a clock that ${held ? 'is held' : 'runs'}`, async t => {
    for (const [what, change, version] of [
      ['the state has changed', () => {}, '6'],
      ['the clock was moved', async clock => { await clock.move('1s') }, '5'],
      ['the clock was held, or runs', clock => { held ? clock.run() : clock.hold() }, '5']
    ] as Array<[string, (clock: MovableClock) => void | Promise<void>, string]>) {
      const { clock, next, started } = forks(t, held)
      next.prepare('5')
      next.prepare('5')
      await change(clock)
      t.equal(await next.take(version), undefined, what)
      await next.close()
      t.match(started, [{ disposed: true }])
    }
  })
}

t.test('a prepared fork is disposed of with the original, and a failed start is left to the fork itself', async t => {
  const { next, started, clock } = forks(t, true)
  next.prepare('5')
  next.prepare('5')
  await next.close()
  t.match(started, [{ disposed: true }])
  next.prepare('5')
  t.equal(started.length, 1)
  const failing = new NextFork(clock, async () => { throw new Error('no port is free') })
  failing.prepare('5')
  failing.prepare('5')
  t.equal(await failing.take('5'), undefined)
})

t.test('forks have the current state and time, whether or not they were started ahead', async t => {
  for (const forkAhead of [true, false]) {
    const original = await testServer({ now: new Date('2030-01-01T00:00:00Z'), forkAhead })
    t.teardown(() => original.dispose())
    const send = async (server: TestServer, method: string, path: string, body?: object): Promise<Json> =>
      await (await fetch(server.url + path, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })).json() as Json
    const names = async (server: TestServer): Promise<string[]> =>
      ((await send(server, 'GET', CONFIGS))['items'] as Json[]).map(({ metadata }) => metadata.name as string)
    const ports = new Set<string>()
    for (let at = 0; at < 6; at++) {
      const fork = await original.fork()
      t.teardown(() => fork.dispose())
      ports.add(fork.url)
      t.strictSame(await names(fork), at < 4 ? [] : ['a'])
      t.equal(fork.clock.now().toISOString(), at < 5 ? '2030-01-01T00:00:00.000Z' : '2030-01-01T01:00:00.000Z')
      t.equal(fork.exchanges.size, 1)
      await send(fork, 'POST', CONFIGS, { metadata: { name: `of-fork-${at}` } })
      if (at === 3) await send(original, 'POST', CONFIGS, { metadata: { name: 'a' } })
      if (at === 4) await original.clock.move('1h')
    }
    t.equal(ports.size, 6)
  }
})

t.test('a process ends by itself when a server is disposed of whose next fork was started', t => {
  const entry = new URL('../../testing/index.js', import.meta.url).href
  const script = `const { testServer } = await import(${JSON.stringify(entry)})
    const server = await testServer()
    for (let at = 0; at < 4; at++) await (await server.fork()).dispose()
    await server.dispose()
    console.log('disposed')`
  const { status, stdout } = spawnSync(
    process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', timeout: 120_000 }
  )
  t.strictSame([status, stdout], [0, 'disposed\n'])
  t.end()
})
