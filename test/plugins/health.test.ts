import t from 'tap'
import health, { excludedNames, report, type HealthOptions } from '../../plugins/health.js'
import type { Shutdown } from '../../plugins/shutdown.js'
import metrics from '../../plugins/metrics/index.js'
import fp from 'fastify-plugin'
import { bareServer, type Test } from './bare-server.js'

async function build (test: Test, options: HealthOptions = {}, lines: string[] = []) {
  const fastify = await bareServer({
    log: ({ level, msg, check, reason = '' }) => {
      if (check !== undefined) {
        lines.push(`${Number(level) > 30 ? 'warn' : 'info'} ${String(msg)}: ${String(check)} ${String(reason)}`.trim())
      }
    }
  })
  const shutdown = { state: 'serving' as Shutdown['state'] }
  await fastify.register(fp(async instance => {
    instance.orchShutdown = shutdown as Shutdown // health reads nothing but the state
  }, { name: 'orch/shutdown' }))
  await fastify.register(metrics, {})
  await fastify.register(health, options)
  test.teardown(() => fastify.close())
  return { fastify, shutdown, health: fastify.orchHealth }
}

t.test('a healthy server says ok, and verbosely each check', async t => {
  const { fastify, health } = await build(t)
  health.add('etcd', async () => {})
  for (const path of ['/healthz', '/livez', '/readyz']) {
    const plain = await fastify.inject(path)
    t.equal(plain.statusCode, 200)
    t.equal(plain.body, 'ok')
    t.equal(plain.headers['content-type'], 'text/plain; charset=utf-8')
    t.equal(plain.headers['x-content-type-options'], 'nosniff')
  }
  t.equal((await fastify.inject('/healthz?verbose')).body, '[+]ping ok\n[+]log ok\n[+]etcd ok\nhealthz check passed\n')
  t.equal(
    (await fastify.inject('/readyz?verbose')).body,
    '[+]ping ok\n[+]log ok\n[+]etcd ok\n[+]shutdown ok\nhealthz check passed\n'
  )
})

t.test('a failing check fails its endpoints, withholds its reason and logs it', async t => {
  const { fastify, health } = await build(t)
  health.add('etcd', () => { throw new Error('secret address refused') })
  const answer = await fastify.inject('/livez')
  t.equal(answer.statusCode, 500)
  t.equal(
    answer.body,
    '[+]ping ok\n[-]etcd failed: reason withheld\n'.replace('[-]', '[+]log ok\n[-]') + 'livez check failed\n'
  )
  t.notMatch(answer.body, /secret/)
  const alone = await fastify.inject('/readyz/etcd')
  t.equal(alone.statusCode, 500)
  t.notMatch(alone.body, /secret/)
  t.equal((await fastify.inject('/readyz/ping')).body, 'ok')
})

t.test('a check is left out by name, and an unknown name is pointed out', async t => {
  const { fastify, health } = await build(t)
  health.add('etcd', async () => { throw new Error('down') })
  const answer = await fastify.inject('/livez?verbose&exclude=nope&exclude=etcd&exclude=idle')
  t.equal(answer.statusCode, 200)
  t.equal(
    answer.body,
    '[+]ping ok\n[+]log ok\n[+]etcd excluded: ok\n' +
    'warn: some health checks cannot be excluded: no matches for "idle","nope"\nhealthz check passed\n'
  )
})

t.test('a check answers at its own address, an unknown one and one of another endpoint do not', async t => {
  const { fastify, health } = await build(t)
  health.add('informer-sync', () => {}, { healthz: false, livez: false })
  health.postStart('bootstrap', Promise.resolve())
  t.equal((await fastify.inject('/readyz/informer-sync')).statusCode, 200)
  t.equal((await fastify.inject('/livez/informer-sync')).statusCode, 404)
  t.equal((await fastify.inject('/livez/nope')).statusCode, 404)
  t.equal((await fastify.inject('/livez/__proto__')).statusCode, 404)
  t.equal((await fastify.inject('/livez/poststarthook/bootstrap')).statusCode, 200)
})

t.test('livez takes unfinished post-start work for done until the grace period is over', async t => {
  let clock = 1000
  const { fastify, health } = await build(t, { livezGracePeriod: 500, now: () => clock })
  let finish = (): void => {}
  health.postStart('bootstrap', new Promise<void>(resolve => { finish = resolve }))
  t.equal((await fastify.inject('/livez')).statusCode, 200)
  t.equal((await fastify.inject('/readyz')).statusCode, 500, 'readyz knows no grace')
  clock += 500
  t.equal((await fastify.inject('/livez')).statusCode, 500)
  finish()
  t.equal((await fastify.inject('/livez')).statusCode, 200)
  t.equal((await fastify.inject('/readyz')).statusCode, 200)
})

t.test('post-start work that failed fails livez within the grace period too', async t => {
  const { fastify, health } = await build(t, { livezGracePeriod: 3_600_000 })
  health.postStart('bootstrap', Promise.reject(new Error('no')))
  const answer = await fastify.inject('/livez?verbose')
  t.equal(answer.statusCode, 500)
  t.match(answer.body, '[-]poststarthook/bootstrap failed: reason withheld')
})

t.test('a check is logged when it begins to fail and when it is well again, not with each probe', async t => {
  const lines: string[] = []
  const { fastify, health } = await build(t, {}, lines)
  let down = false
  health.add('etcd', async () => { if (down) throw new Error('connection refused') })
  let finish = (): void => {}
  health.postStart('bootstrap', new Promise<void>(resolve => { finish = resolve }))
  const probe = async (): Promise<void> => {
    for (const path of ['/healthz', '/livez', '/readyz', '/readyz/etcd']) await fastify.inject(path)
  }
  await probe()
  t.strictSame(lines, ['warn a health check fails: poststarthook/bootstrap not finished'])
  finish()
  await probe()
  t.strictSame(lines.splice(0).slice(1), ['info a health check passes again: poststarthook/bootstrap'])
  down = true
  await probe()
  await probe()
  t.strictSame(lines.splice(0), ['warn a health check fails: etcd connection refused'])
  down = false
  await probe()
  await probe()
  t.strictSame(lines, ['info a health check passes again: etcd'])
})

t.test('a shutdown fails readyz alone', async t => {
  const { fastify, shutdown } = await build(t)
  shutdown.state = 'delaying'
  const ready = await fastify.inject('/readyz')
  t.equal(ready.statusCode, 500)
  t.match(ready.body, '[-]shutdown failed: reason withheld')
  t.equal((await fastify.inject('/healthz')).statusCode, 200)
  t.equal((await fastify.inject('/livez')).statusCode, 200)
})

t.test('a check that hangs is a failed check, and a flood of probes shares one run', async t => {
  const { fastify, health } = await build(t, { timeout: 20 })
  let runs = 0
  health.add('etcd', async () => { runs++; await new Promise(() => {}) })
  const answers = await Promise.all(Array.from({ length: 50 }, () => fastify.inject('/readyz')))
  t.ok(answers.every(({ statusCode }) => statusCode === 500))
  t.equal(runs, 1)
})

t.test('a name is given once', async t => {
  const { health } = await build(t)
  t.throws(() => health.add('ping', () => {}), /ping/)
})

t.test('names from outside are bounded and escaped', async t => {
  t.equal(excludedNames(Array.from({ length: 500 }, (_, index) => `n${index}`)).size, 100)
  t.equal([...excludedNames(['x'.repeat(1000)])][0]?.length, 200)
  t.match(report('livez', [], ['a\nb']), /no matches for "a\\nb"\n/)
})
