/** Log lines about slow requests. */
import { LogController } from 'fastify'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import orch, { type ServerOptions } from '../../../app.js'
import { createLog } from '../../../config/logging.js'
import { isSlow, slowLine } from '../../../plugins/tracing/slow-line.js'
import { Span, Trace } from '../../../registry/trace.js'
import { client, type Test, type Client } from '../../build.js'
import Fastify from '../../fastify.js'
import { configure, CONFIGS, hookServer, MUTATING, webhook } from '../../admission/webhooks/hook-server.js'
import { polled } from '../../polled.js'

/** Longer than the threshold of slow requests; nothing here needs to be faster. */
const LONG = 600

/** A server with a log, and its lines about slow requests. */
async function logged (
  t: Test, verbosity = 0, options: ServerOptions = {}
): Promise<{ server: Client, lines: () => string[] }> {
  const log: string[] = []
  const logger = createLog({ verbosity, write: line => { log.push(line) } })
  const app = Fastify({
    childLoggerFactory: () => logger, logController: new LogController({ disableRequestLogging: true })
  })
  app.log = logger
  t.teardown(() => app.close())
  await app.register(orch, options)
  await app.ready()
  const server = client(app)
  await polled(async () => (await server.get('/readyz')).code === 200)
  return { server, lines: () => log.filter(line => line.includes('Trace[')) }
}

/** The line is written after the response has been sent. */
async function lineOf (lines: () => string[], name: string): Promise<string> {
  for (;;) {
    const line = lines().find(one => one.includes(`"${name}" url:`))
    if (line !== undefined) return line
    await new Promise(resolve => { setImmediate(resolve) })
  }
}

async function slowHook (t: Test, server: Client): Promise<void> {
  const hook = await hookServer(t, async () => {
    await sleep(LONG)
    return { allowed: true }
  })
  await configure(server, MUTATING, 'a', webhook('a', hook))
}

t.test('a slow request leaves one line with the steps that took long', async t => {
  const { server, lines } = await logged(t)
  await slowHook(t, server)
  const { headers } = await server.post(
    `${CONFIGS}?fieldManager=me`, { metadata: { name: 'c' } }, { 'user-agent': 'tool/1', accept: 'application/json' }
  )
  const line = await lineOf(lines, 'Create')
  t.equal(lines().filter(one => one.includes('"Create" url:')).length, 1)
  t.match(
    line,
    new RegExp(
      `^\\S+ INFO {2}Trace\\[\\d+\\]: "Create" url:${CONFIGS},user-agent:tool/1,` +
      `audit-id:${String(headers['audit-id'])},client:127\\.0\\.0\\.1,accept:application/json,protocol:HTTP/1\\.1 ` +
      '\\(\\d\\d-[A-Z][a-z]{2}-\\d{4} \\d\\d:\\d\\d:\\d\\d\\.\\d{3}\\) \\(total time: \\d{3,}ms\\): '
    )
  )
  t.match(
    line,
    /---\["Mutating admission" \d{3,}ms \(\d\d:\d\d:\d\d\.\d{3}\) ---\["Call mutating webhook" configuration:a,webhook:a\.example\.com,resource:configmaps,subresource:"",operation:CREATE,uid:[0-9a-f-]{36} \d{3,}ms \(\S+\)\]\].* \[\d{3,}ms\] END module=tracing\n$/
  )
})

t.test('a request that its client abandons is logged with the steps it waited for', async t => {
  const { server, lines } = await logged(t)
  const given = new AbortController()
  const hook = await hookServer(t, async () => {
    await sleep(LONG)
    given.abort()
    return undefined
  })
  await configure(server, MUTATING, 'a', webhook('a', hook))
  const url = await server.app.listen({ port: 0, host: '127.0.0.1' })
  await t.rejects(fetch(`${url}${CONFIGS}`, {
    method: 'POST',
    signal: given.signal,
    headers: { 'content-type': 'application/json' },
    body: '{"metadata":{"name":"c"}}'
  }))
  t.match(
    await lineOf(lines, 'Create'), /---\["Mutating admission" \d{3,}ms .*---\["Call mutating webhook" .* \d{3,}ms/
  )
})

t.test('from -v=4 on it has all steps', async t => {
  const { server, lines } = await logged(t, 4)
  await slowHook(t, server)
  await server.post(CONFIGS, { metadata: { name: 'c' } })
  const line = await lineOf(lines, 'Create')
  for (const step of [
    'Reading, authentication and authorization of the request done', 'Decode', 'Mutating admission',
    'Validating admission', 'Store transaction', 'Writing http response done'
  ]) {
    t.match(line, `"${step}"`)
  }
})

t.test('untrusted text stays within its field and its line', async t => {
  const { server, lines } = await logged(t)
  await slowHook(t, server)
  const agent = 'x (total time: 1ms): ---"Fake" 9ms\u001b[31m\u2028,url:/fake'
  await server.app.inject({
    method: 'PUT',
    url: `${CONFIGS}/a%0A%22b,client:9.9.9.9`,
    payload: {},
    headers: { 'user-agent': agent, 'content-type': 'application/json' }
  })
  await server.post(
    CONFIGS, { metadata: { name: 'c' } }, { 'user-agent': agent, accept: `*/*${', text/html'.repeat(2000)}` }
  )
  const line = await lineOf(lines, 'Create')
  t.match(line, /,user-agent:"x \(total time: 1ms\): ---\\"Fake\\" 9ms\\u001b\[31m\S*,url:\/fake",audit-id:/)
  // eslint-disable-next-line no-control-regex -- what must not be there
  t.match(line, /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]+\n$/)
  t.match(line, '...TRUNCATED"')
  t.ok(line.length < 5000)

  const trace = new Trace()
  trace.end()
  t.match(
    slowLine(trace, 'Update', { url: '/api/a\n"b",client:9.9.9.9' }, false), ' url:"/api/a\\n\\"b\\",client:9.9.9.9" ('
  )
})

t.test('a watch is never slow, however long it lasts', async t => {
  const { server, lines } = await logged(t)
  await slowHook(t, server)
  t.equal((await server.get(`${CONFIGS}?watch=1&timeoutSeconds=1`)).code, 200)
  await server.post(CONFIGS, { metadata: { name: 'c' } })
  await lineOf(lines, 'Create')
  t.notMatch(lines().join(''), /"(?:Watch|List)"/)
})

/** Gives the span that duration, plus a microsecond, because sums are rounded. */
function lasted <T extends Span> (span: T, milliseconds: number): T {
  span.endedAt = span.startedAt + milliseconds + 0.001
  return span
}

t.test(
  'half a second is slow; the time in a queue does not count, and lists may take longer by their items', async t => {
    t.notOk(isSlow(lasted(new Trace(), 499)))
    const trace = lasted(new Trace(), 500)
    t.ok(isSlow(trace))
    trace.waited = 1
    t.notOk(isSlow(trace))
    trace.waited = 0
    trace.allowance = 1
    t.notOk(isSlow(trace))
    t.ok(isSlow(lasted(trace, 501)))
  }
)

t.test('a step is logged if it took its share of half a second, with its parts', async t => {
  const trace = lasted(new Trace(), 1000)
  const { startedAt } = trace
  const part = lasted(trace.start('part'), 600)
  part.items = [
    { name: 'short', at: part.startedAt + 10, fields: undefined },
    { name: 'long', at: part.startedAt + 590, fields: { count: 3 } }
  ]
  trace.items?.push({ name: 'last', at: startedAt + 990, fields: undefined })
  const line = slowLine(trace, 'List', {}, false)
  t.match(line, /: ---\["part" 600ms \(\S+\) ---"long" count:3 580ms \(\S+\)\] ---"last" \d+ms \(\S+\) \[1000ms\] END$/)
  t.match(slowLine(trace, 'List', {}, true), /---"short" 10ms/)
})

t.test('steps beyond the limit are counted', async t => {
  const trace = new Trace()
  for (let count = 0; count < 1000; count++) trace.start('part').step('step')
  lasted(trace, 1000)
  t.equal(trace.items?.length, 200)
  t.match(slowLine(trace, 'Delete', {}, false), / and 1600 more steps \[1000ms\] END$/)
})
