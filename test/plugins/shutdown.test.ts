import t from 'tap'
import { once } from 'node:events'
import { request as httpRequest, Agent, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import shutdown, { handlingDuringShutdown, type ShutdownOptions } from '../../plugins/shutdown.js'
import { bareServer, type Test } from './bare-server.js'

async function build (test: Test, options: ShutdownOptions) {
  const fastify = await bareServer()
  await fastify.register(shutdown, options)
  let release = (): void => {}
  let arrived = (): void => {}
  const held = new Promise<void>(resolve => { release = resolve })
  const arrival = new Promise<void>(resolve => { arrived = resolve })
  fastify.get('/slow', async () => { arrived(); await held; return 'done' })
  fastify.get('/quick', async () => 'quick')
  fastify.get('/readyz', async () => 'probe')
  test.teardown(() => fastify.close())
  return { fastify, release: () => release(), arrival }
}

t.test('each state decides what a new request meets', async t => {
  t.equal(handlingDuringShutdown('serving', true, '/api'), 'serve')
  t.equal(handlingDuringShutdown('delaying', true, '/api'), 'serve')
  t.equal(handlingDuringShutdown('draining', false, '/api'), 'serve-and-close')
  t.equal(handlingDuringShutdown('draining', true, '/api'), 'refuse')
  t.equal(handlingDuringShutdown('draining', true, '/readyz/ping'), 'serve-and-close', 'probes are answered to the end')
  t.equal(handlingDuringShutdown('draining', true, '/readyzzz'), 'refuse')
})

t.test('a drain waits for the request under way and reports that none was left', async t => {
  const { fastify, release, arrival } = await build(t, {})
  const answer = fastify.inject('/slow')
  await arrival
  t.equal(fastify.orchShutdown.inFlight, 1)
  const drained = fastify.orchShutdown.begin()
  t.equal(fastify.orchShutdown.begin(), drained, 'a second begin is the first')
  await once(fastify.orchShutdown.signal, 'abort')
  t.equal(fastify.orchShutdown.state, 'draining')
  release()
  t.equal(await drained, 0)
  t.equal((await answer).body, 'done')
})

t.test('a drain gives up on a request that does not finish in time', async t => {
  const { fastify, release, arrival } = await build(t, { drainTimeout: 20 })
  const answer = fastify.inject('/slow')
  await arrival
  t.equal(await fastify.orchShutdown.begin(), 1)
  release()
  await answer
})

t.test('the delay serves as before, then the signal ends what is long', async t => {
  const { fastify } = await build(t, { delay: 50 })
  const drained = fastify.orchShutdown.begin()
  t.equal(fastify.orchShutdown.state, 'delaying')
  t.equal(fastify.orchShutdown.signal.aborted, false)
  const answer = await fastify.inject('/quick')
  t.equal(answer.statusCode, 200)
  t.equal(answer.headers.connection, 'keep-alive', 'nothing is closed early')
  t.equal(await drained, 0)
  t.equal(fastify.orchShutdown.signal.aborted, true)
})

t.test('draining with sendRetryAfter answers 429, Retry-After and Connection: close', async t => {
  const { fastify, release, arrival } = await build(t, { sendRetryAfter: true })
  const slow = fastify.inject('/slow')
  await arrival
  const drained = fastify.orchShutdown.begin()
  await once(fastify.orchShutdown.signal, 'abort')
  const refused = await fastify.inject('/quick')
  t.equal(refused.statusCode, 429)
  t.equal(refused.json().reason, 'TooManyRequests')
  t.match(refused.headers['retry-after'], /^[1-9]\d*$/)
  t.equal(refused.headers.connection, 'close')
  t.equal((await fastify.inject('/readyz')).statusCode, 200)
  release()
  t.equal((await slow).statusCode, 200)
  t.equal(await drained, 0)
})

t.test('a host that closes skips the delay and ends what is long', async t => {
  const { fastify } = await build(t, { delay: 3_600_000 })
  await fastify.ready()
  const { orchShutdown: shutdown } = fastify
  const drained = shutdown.begin()
  t.equal(shutdown.state, 'delaying')
  await fastify.close()
  t.equal(await drained, 0)
  t.equal(shutdown.signal.aborted, true)
  t.equal(shutdown.state, 'closed')
})

t.test('a client that disconnects is no longer counted', async t => {
  const { fastify, release, arrival } = await build(t, {})
  await fastify.listen({ port: 0, host: '127.0.0.1' })
  const { port } = fastify.server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true })
  const call = httpRequest({ port, host: '127.0.0.1', path: '/slow', agent })
  call.on('error', () => {})
  call.end()
  await arrival
  t.equal(fastify.orchShutdown.inFlight, 1)
  call.destroy()
  t.equal(await fastify.orchShutdown.begin(), 0)
  release()
  const next = httpRequest({ port, host: '127.0.0.1', path: '/quick', agent })
  next.end()
  const [answer] = await once(next, 'response') as [IncomingMessage]
  t.equal(answer.headers.connection, 'close', 'a kept-alive connection is asked to close')
  answer.resume()
  agent.destroy()
})
