import t from 'tap'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import fp from 'fastify-plugin'
import { served } from '../../../answers/request-context.js'
import audit, { type AuditOptions } from '../../../plugins/audit/index.js'
import { attempted } from '../../../plugins/audit/attempted-credentials.js'
import { eventOf, jsonLine, legacyLine } from '../../../plugins/audit/event.js'
import { sourceIPs, Subject } from '../../../plugins/audit/subject.js'
import { openSink } from '../../../plugins/audit/sink.js'
import { RotatedFiles } from '../../../plugins/audit/rotated-files.js'
import metrics from '../../../plugins/metrics/index.js'
import { forbidden, unauthorized } from '../../../schemas/status.js'
import { ALICE, bareServer, clusterRoles, type BareOptions, type Test } from '../bare-server.js'

const ROLES = { group: 'rbac.authorization.orch.io', resource: 'clusterroles' }

async function build (
  test: Test & { testdir: () => string }, options: Partial<AuditOptions> = {}, bare: BareOptions = {}
) {
  const path = join(test.testdir(), 'audit.log')
  const fastify = await bareServer(bare)
  await fastify.register(metrics)
  await fastify.register(fp(async instance => {
    instance.addHook('onRequest', (request, _reply, done) => {
      if (request.headers.authorization === 'Bearer wrong') {
        served(request).orch.user = undefined
        done(unauthorized())
      } else done()
    })
  }, { name: 'orch/authentication' }))
  await fastify.register(audit, { path, ...options })
  fastify.get('/apis/x', async () => 'a list')
  fastify.post('/apis/x', async () => { throw forbidden(ROLES, 'admin', 'no') })
  test.teardown(() => fastify.close())
  return {
    fastify,
    /** Closes the server, which writes pending events, and reads the log. */
    lines: async () => {
      await fastify.close()
      return readFileSync(path, 'utf8').split('\n').filter(Boolean)
    },
    events: async () => {
      await fastify.close()
      return readFileSync(path, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line) as Record<string, unknown>)
    }
  }
}

t.test('a request leaves an event when it is received and one when it is answered', async t => {
  const { fastify, events } = await build(
    t, {}, { info: () => clusterRoles({ verb: 'list' }), context: { annotations: { 'orch.io/deprecated': 'true' } } }
  )
  await fastify.inject({
    url: '/apis/x?limit=1',
    headers: { 'user-agent': 'test/1', 'x-forwarded-for': '10.0.0.1, junk', authorization: 'Bearer sesame' }
  })
  const written = await events()
  t.match(written, [{ stage: 'RequestReceived' }, { stage: 'ResponseComplete' }])
  t.match(written[1], {
    kind: 'Event',
    apiVersion: 'audit.orch.io/v1',
    level: 'Metadata',
    auditID: 'audit-1',
    requestURI: '/apis/x?limit=1',
    verb: 'list',
    user: { username: 'alice', uid: '42', groups: ['system:authenticated'] },
    sourceIPs: ['10.0.0.1', '127.0.0.1'],
    userAgent: 'test/1',
    objectRef: { apiGroup: 'rbac.authorization.orch.io', apiVersion: 'v1', resource: 'clusterroles' },
    responseStatus: { metadata: {}, code: 200 },
    requestReceivedTimestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/,
    stageTimestamp: /\.\d{6}Z$/,
    annotations: { 'orch.io/deprecated': 'true' }
  })
  t.notOk(written[0]?.['responseStatus'])
  t.notMatch(JSON.stringify(written), /sesame/)
})

t.test('refusals are audited: forbidden, unknown, and without valid credentials', async t => {
  const { fastify, events } = await build(t)
  await fastify.inject({ method: 'POST', url: '/apis/x' })
  await fastify.inject('/nowhere')
  await fastify.inject({ url: '/apis/x', headers: { authorization: 'Bearer wrong' } })
  await fastify.inject({ url: '/apis/x', headers: { authorization: 'Bearer wrong', 'user-agent': '' } })
  const answered = (await events()).filter(({ stage }) => stage !== 'RequestReceived')
  t.notOk('userAgent' in (answered.pop() ?? {}), 'an empty user agent is omitted')
  t.match(answered, [
    {
      stage: 'ResponseComplete',
      responseStatus: { code: 403, reason: 'Forbidden', status: 'Failure', message: /forbidden/ }
    },
    { stage: 'ResponseComplete', requestURI: '/nowhere', responseStatus: { code: 404 } },
    { stage: 'ResponseStarted', user: {} }
  ])
  t.same(answered[2]?.['responseStatus'], {
    metadata: {},
    status: 'Failure',
    message: 'Authentication failed, attempted: bearer',
    reason: 'Unauthorized',
    code: 401
  })
  t.equal(answered.length, 3)
})

t.test('the event of a request without valid credentials names the kinds of credentials that were tried', async t => {
  const said = (authorization: string | undefined, query = '', certificate?: object) =>
    attempted(
      authorization === undefined ? {} : { authorization },
      { getPeerX509Certificate: () => certificate } as unknown as TLSSocket, new URLSearchParams(query)
    )
  t.equal(said(undefined), 'Authentication failed, no credentials provided')
  t.equal(said('secret'), 'Authentication failed, no credentials provided')
  t.equal(said('Bearer'), 'Authentication failed, no credentials provided')
  t.equal(said('bearer secret'), 'Authentication failed, attempted: bearer')
  t.equal(
    said(`Basic ${Buffer.from('me:secret').toString('base64')}`, 'access_token=secret', {}),
    'Authentication failed, attempted: basic, access_token, x509'
  )
})

t.test('a long-running request leaves an event when its answer begins', async t => {
  for (const url of ['/watch', '/upgraded']) {
    const { fastify, events } = await build(t, {}, { info: () => clusterRoles({ verb: 'watch' }) })
    fastify.get('/watch', async () => '{}')
    fastify.get('/upgraded', (request, reply) => {
      reply.hijack()
      reply.raw.writeHead(200)
      request.orch?.begun?.()
      reply.raw.end('{}')
    })
    await fastify.inject(url)
    const began = { stage: 'ResponseStarted', responseStatus: { code: 200 } }
    t.match(await events(), [{ stage: 'RequestReceived' }, began, { stage: 'ResponseComplete' }], url)
  }
})

t.test('in mode blocking a request continues after its event is in the file', async t => {
  const path = join(t.testdir(), 'audit.log')
  const { fastify } = await build(t, { path })
  fastify.get('/look', async () => readFileSync(path, 'utf8'))
  const { body } = await fastify.inject('/look')
  t.match(body, /"stage":"RequestReceived".*"requestURI":"\/look"/)
})

t.test('nothing a client sends can make a second line or a second field', async t => {
  const subject = new Subject({
    auditId: 'id',
    url: '/a"b\n\u009b31m?access_token=sesame',
    info: {
      path: '', isResourceRequest: true, verb: 'get', group: '', version: 'v1', resource: 'pods', subresource: '',
      namespace: 'n', name: '\u2028\u202e'
    },
    user: { ...ALICE, username: 'x" user="root' },
    receivedAt: new Date(0),
    sourceIPs: [],
    userAgent: `${'u'.repeat(9000)}`
  })
  for (const line of [
    jsonLine(eventOf(subject, { stage: 'RequestReceived', level: 'Metadata', at: new Date(0) })),
    `${legacyLine('ResponseComplete', subject, { code: 200, status: undefined })}\n`
  ]) {
    // eslint-disable-next-line no-control-regex -- what must not be there
    t.match(line, /^[^\u0000-\u001f\u007f-\u009f\u2028-\u202e]+\n$/)
    t.match(line, /access_token=…/)
    t.ok(line.length < 4000, 'a long header is cut')
  }
  t.match(legacyLine('ResponseComplete', subject, undefined), ' user="x\\" user=\\"root" ')
})

t.test('the legacy format is a line of text', async t => {
  const { fastify, lines } = await build(t, { format: 'legacy' })
  await fastify.inject('/apis/x')
  t.match(await lines(), [
    /^\S+Z AUDIT: id="audit-1" stage="RequestReceived" ip="127.0.0.1" method="get" user="alice" groups="\\"system:authenticated\\"" as="<self>" asgroups="<lookup>" user-agent="[^"]*" namespace="<none>" uri="\/apis\/x" response="<deferred>"$/,
    /stage="ResponseComplete".* response="200"$/
  ])
})

t.test('in the legacy format a group cannot look like two, and the address is the first', async t => {
  const asked = {
    auditId: 'id',
    url: '/x',
    info: {
      path: '/x',
      isResourceRequest: false,
      verb: 'get',
      group: '',
      version: '',
      resource: '',
      subresource: '',
      namespace: '',
      name: ''
    },
    receivedAt: new Date(0),
    sourceIPs: ['1.2.3.4', '9.9.9.9'],
    userAgent: undefined
  }
  const of = (groups: string[]): string =>
    legacyLine('ResponseComplete', new Subject({ ...asked, user: { ...ALICE, groups } }), undefined)
  t.match(of(['a', 'b']), ' groups="\\"a\\",\\"b\\"" ')
  t.not(of(['a,b']), of(['a', 'b']))
  t.match(of([]), /^1970-01-01T00:00:00\.000Z AUDIT: id="id" .* ip="1\.2\.3\.4" .* groups="<none>" /)
  const impersonating = new Subject({ ...asked, user: ALICE })
  impersonating.impersonatedUser = { ...ALICE, username: 'jane', groups: ['q'] }
  t.match(legacyLine('ResponseComplete', impersonating, undefined), ' as="jane" asgroups="\\"q\\"" ')
})

t.test('the last address is the one a request came from, whatever it says of others', async t => {
  t.strictSame(sourceIPs({ 'x-forwarded-for': '9.9.9.9, 6.6.6.6' }, '9.9.9.9'), ['9.9.9.9', '6.6.6.6', '9.9.9.9'])
  t.strictSame(sourceIPs({ 'x-forwarded-for': '6.6.6.6, 9.9.9.9' }, '9.9.9.9'), ['6.6.6.6', '9.9.9.9'])
  t.strictSame(sourceIPs({ 'x-forwarded-for': '6.6.6.6', 'x-real-ip': '6.6.6.6' }, '9.9.9.9'), ['6.6.6.6', '9.9.9.9'])
})

t.test('addresses are what a request says, as far as they are addresses', async t => {
  t.strictSame(
    sourceIPs({ 'x-forwarded-for': '1.2.3.4, ::1,evil', 'x-real-ip': '5.6.7.8' }, '::ffff:9.9.9.9'),
    ['1.2.3.4', '::1', '5.6.7.8', '9.9.9.9']
  )
  t.strictSame(sourceIPs({}, undefined), [])
  t.equal(
    sourceIPs(
      { 'x-forwarded-for': Array.from({ length: 500 }, (_, index) => `10.0.0.${index}`).join() }, '1.1.1.1'
    ).length,
    11
  )
})

t.test('a log that cannot be written to stops no request and is counted', async t => {
  const { fastify } = await build(t, { path: join(t.testdirName, 'file', 'audit.log') })
  writeFileSync(join(t.testdirName, 'file'), 'where a folder should be')
  t.equal((await fastify.inject('/apis/x')).statusCode, 200)
  t.match((await fastify.orchMetrics.exposition()).toString(), /apiserver_audit_error_total\{plugin="log"\} [12]\n/)
})

t.test('in mode blocking-strict a request whose event cannot be written is refused', async t => {
  const { fastify } = await build(t, { path: join(t.testdirName, 'file', 'audit.log'), mode: 'blocking-strict' })
  writeFileSync(join(t.testdirName, 'file'), 'where a folder should be')
  t.equal((await fastify.inject('/apis/x')).statusCode, 500)
  const good = await build(t, { mode: 'blocking-strict' })
  t.equal((await good.fastify.inject('/apis/x')).statusCode, 200)
})

t.test('a file is rotated by its size and the rotated ones are named after it', async t => {
  const folder = t.testdir()
  const errors: Error[] = []
  const sink = openSink(
    { path: join(folder, 'audit.log'), maxSizeMegabytes: 1, compress: true }, error => errors.push(error)
  )
  const line = `${'x'.repeat(1023)}\n`
  for (let index = 0; index < 2600; index++) await sink.write(line)
  await sink.close()
  const names = readdirSync(folder).sort()
  t.strictSame(errors, [])
  t.ok(names.includes('audit.log'))
  const rotated = names.filter(name => name !== 'audit.log')
  t.ok(rotated.length >= 1, names.join())
  for (const name of rotated) t.match(name, /^audit-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}-\d+\.log\.gz$/)
  await t.rejects(sink.write('late'), /not open/)
})

t.test('rotated files are removed by number and by age, nothing else is', async t => {
  const day = 86_400_000
  const at = Date.parse('2026-11-20T12:00:00Z')
  const names = [1, 2, 3, 4].map(days =>
    `audit-${new Date(at - days * day).toISOString().slice(0, -1).replaceAll(':', '-')}-1.log`)
  const others = ['audit.log', 'audit-policy.yaml', 'audit-2026.log', 'other-2026-11-01T00-00-00.000-1.log']
  const folder = t.testdir(Object.fromEntries([...names, ...others].map(name => [name, ''])))
  names.forEach((name, index) =>
    utimesSync(join(folder, name), (at - (index + 1) * day) / 1000, (at - (index + 1) * day) / 1000))
  await new RotatedFiles({ path: join(folder, 'audit.log') }, () => at).tidy()
  t.equal(readdirSync(folder).length, 8, 'no bound, nothing removed')
  await new RotatedFiles({ path: join(folder, 'audit.log'), maxBackups: 3 }, () => at).tidy()
  t.strictSame(readdirSync(folder).sort(), [...names.slice(0, 3), ...others].sort())
  await new RotatedFiles({ path: join(folder, 'audit.log'), maxAgeDays: 2 }, () => at).tidy()
  t.strictSame(readdirSync(folder).sort(), [...names.slice(0, 2), ...others].sort())
})

t.test('without a path there is no audit', async t => {
  const fastify = await bareServer()
  await fastify.register(metrics)
  await fastify.register(fp(async () => {}, { name: 'orch/authentication' }))
  await fastify.register(audit)
  t.equal((await fastify.inject('/nowhere')).statusCode, 404)
  t.match((await fastify.orchMetrics.exposition()).toString(), /^apiserver_audit_event_total 0$/m)
  await fastify.close()
})

t.test('a log is appended to in the order of its events', async t => {
  const folder = t.testdir()
  const sink = openSink({ path: join(folder, 'a'), maxSizeMegabytes: 1 }, () => {})
  await sink.write('one\n')
  await sink.write('two\n')
  await sink.close()
  t.equal(readFileSync(join(folder, 'a'), 'utf8'), 'one\ntwo\n')
})

t.test('standard output whose reader has closed it fails writes and does not end the process', async t => {
  const module = new URL('../../../plugins/audit/sink.js', import.meta.url).href
  const program = `
    import { openSink } from ${JSON.stringify(module)}
    const failures = []
    const sink = openSink({ path: '-' }, error => failures.push(error.code))
    await new Promise(resolve => process.stdin.once('end', resolve).resume())
    const codes = []
    for (let n = 0; n < 2; n++) await sink.write('a line\\n').catch(error => codes.push(error.code))
    await new Promise(resolve => setImmediate(resolve))
    await sink.close()
    console.error(JSON.stringify({ codes, failures, listeners: process.stdout.listenerCount('error') }))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'pipe' })
  child.stdout.destroy()
  child.stdin.end()
  let output = ''
  child.stderr.on('data', (text: Buffer) => { output += text.toString() })
  const [code] = await once(child, 'close') as [number]
  t.equal(code, 0, output)
  t.match(JSON.parse(output), { codes: ['EPIPE', 'EPIPE'], failures: ['EPIPE'], listeners: 0 })
})
