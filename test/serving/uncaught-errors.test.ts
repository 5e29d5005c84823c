/** Errors that nobody catches end a started server, after its requests, with exit code 1. */
import t from 'tap'
import { once } from 'node:events'
import { launchApart } from '../benchmarks/process.js'
import { blame, blamedFor } from '../../event-loop/blamed.js'
import { Span, Trace } from '../../registry/trace.js'
import { ask, CONFIGS, eventually, Follower, processesIn, several, versionOf } from './processes/server.js'

/** Makes the process throw, or reject, at a signal. */
const throwing = (what: string): string[] => [`--import=data:text/javascript,process.on('SIGWINCH',()=>{${what}})`]
const THROWS = "throw new Error('planned')"
const REJECTS = "void Promise.reject(new Error('planned'))"

for (const [what, does] of [['uncaught exception', THROWS], ['unhandled promise rejection', REJECTS]] as const) {
  t.test(`an ${what} is logged, and ends the server when its requests have ended`, async t => {
    const server = await launchApart([], undefined, throwing(does))
    t.teardown(server.stop)
    let log = ''
    server.process.stderr?.on('data', (text: Buffer) => { log += text.toString() })
    const watch = new Follower(server.port, versionOf((await ask(server.port, 'GET', CONFIGS))?.text ?? ''))
    t.teardown(() => { watch.stop() })
    const exited = once(server.process, 'exit')
    process.kill(server.process.pid ?? 0, 'SIGWINCH')
    process.kill(server.process.pid ?? 0, 'SIGWINCH')
    t.same(await exited, [1, null])
    t.match(log, `${what}: this process shuts down, with exit code 1`)
    t.match(log, /planned/)
  })
}

t.test(
  'of several processes the one with the error is replaced, and the others serve', { timeout: 120_000 }, async t => {
    const server = await several(t, 2, [], undefined, throwing(THROWS))
    const pid = server.pidOf('2')
    process.kill(pid, 'SIGWINCH')
    await eventually('it is replaced', async () => server.pidOf('2') !== pid && await processesIn(server.port) === 2)
    t.match(server.log(), /uncaught exception: this process shuts down, with exit code 1/)
    t.match(server.log(), /serving process 2 \(pid \d+\) ended with exit code 1 and is replaced/)
    t.equal((await ask(server.port, 'GET', CONFIGS))?.code, 200)
  }
)

t.test('an error that has ended a step of a request belongs to it', async t => {
  const error = new Error('no')
  t.equal(blamedFor(error), undefined)
  new Span('a step', undefined, new Trace('first')).end(error)
  new Trace('second').end(error)
  t.equal(blamedFor(error), 'first', 'the step nearest to the cause')
  blame('text', 'first')
  t.equal(blamedFor('text'), undefined)
})
