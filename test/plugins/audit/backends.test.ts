/** Batches, throttles and truncation; the webhook, with a receiver that takes events, a slow one and none. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { NO_CREDENTIALS } from '../../../clients/kubeconfig.js'
import { openBackend, type AuditBackendOptions } from '../../../plugins/audit/backend.js'
import { Batches } from '../../../plugins/audit/batches.js'
import { eventJson, eventOf, type AuditEvent } from '../../../plugins/audit/event.js'
import { Subject } from '../../../plugins/audit/subject.js'
import { build, type Json } from '../../build.js'
import { flagged, SERVER_FILES } from '../../flagged-server.js'
import { kubeconfig } from '../../reviewer.js'
import type { AuditPolicy } from '../../../schemas/api/audit/policy.js'
import { authority } from '../../serving/authority.js'

const event = (name: string, request?: string): AuditEvent => eventOf(new Subject({
  auditId: name,
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
  user: undefined,
  receivedAt: new Date(0),
  sourceIPs: [],
  userAgent: undefined
}), { stage: 'ResponseComplete', level: 'Request', at: new Date(0), request })

const idOf = (item: string): string => (JSON.parse(item) as Json)['auditID']

function opened (options: AuditBackendOptions, deliver: (items: readonly string[]) => Promise<void> = async () => {}) {
  const batches: string[][] = []
  let lost = 0
  const parts = new Set<string | undefined>()
  const backend = openBackend(options, {
    deliver: async items => {
      await deliver(items)
      batches.push(items.map(idOf))
    },
    lost: (count, _error, part) => {
      lost += count
      parts.add(part)
    },
    close: async () => {}
  })
  return { backend, batches, lost: () => lost, parts }
}

t.test('a batch is sent when it is full, and the rest when the server closes', async t => {
  const { backend, batches, lost } = opened({ mode: 'batch', batch: { maxSize: 3, maxWait: 0 } })
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) t.equal(backend.write(event(name)), true)
  while (batches.length < 2) await pause(1)
  t.strictSame(batches, [['a', 'b', 'c'], ['d', 'e', 'f']])
  await backend.close()
  t.strictSame(batches[2], ['g'])
  t.equal(lost(), 0)
})

t.test('a batch that is not full is sent after its maximum wait', async t => {
  const { backend, batches } = opened({ mode: 'batch', batch: { maxSize: 100, maxWait: 20 } })
  backend.write(event('a'))
  backend.write(event('b'))
  t.strictSame(batches, [])
  while (batches.length === 0) await pause(1)
  t.strictSame(batches, [['a', 'b']])
  await backend.close()
})

t.test('a slow receiver delays no request: events that find the buffer full are dropped and counted', async t => {
  let go = (): void => {}
  const held = new Promise<void>(resolve => { go = resolve })
  const { backend, batches, lost, parts } = opened(
    { mode: 'batch', batch: { maxSize: 1, maxWait: 0, bufferSize: 5 } }, async () => await held
  )
  for (let at = 0; at < 100; at++) backend.write(event(String(at)))
  t.equal(lost(), 94, 'one is on its way, five wait')
  go()
  await backend.close()
  t.strictSame(batches.flat(), ['0', '1', '2', '3', '4', '5'])
  backend.write(event('late'))
  t.equal(lost(), 95)
  t.strictSame([...parts], ['buffered'], 'it is the buffer that loses them')
})

t.test('a receiver that hangs holds no more than so many characters, however few events they are', async t => {
  let go = (): void => {}
  const held = new Promise<void>(resolve => { go = resolve })
  const large = JSON.stringify('x'.repeat(1000))
  const { backend, batches, lost, parts } = opened(
    { mode: 'batch', batch: { maxSize: 1, maxWait: 0, maxCharacters: 4000 } }, async () => await held
  )
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) backend.write(event(name, large))
  t.equal(lost(), 3, 'events being sent count too')
  t.strictSame([...parts], ['buffered'])
  go()
  await pause(20)
  for (const name of ['g', 'h']) backend.write(event(name, large))
  t.equal(lost(), 3, 'delivered events no longer count')
  await backend.close()
  t.strictSame(batches.flat(), ['a', 'b', 'c', 'g', 'h'])
  const { backend: narrow, batches: alone } = opened({
    mode: 'batch', batch: { maxSize: 1, maxWait: 0, maxCharacters: 100 }
  })
  narrow.write(event('a', large))
  await narrow.close()
  t.strictSame(alone, [['a']], 'an event over the limit is sent by itself')
})

t.test('a throttle bounds batches at once and a second', async t => {
  let now = 0
  const sent: number[] = []
  const batches = new Batches(
    { maxSize: 1, maxWait: 0, throttle: { qps: 100, burst: 2 } },
    { deliver: async () => { sent.push(now) }, maxInFlight: 10, lost: () => {}, now: () => now }
  )
  for (let at = 0; at < 5; at++) batches.add(String(at))
  t.strictSame(sent, [0, 0], 'the burst')
  now = 10
  while (sent.length < 3) await pause(1)
  now = 1000
  while (sent.length < 5) await pause(1)
  t.strictSame(sent, [0, 0, 10, 1000, 1000])
  await batches.close()
})

t.test('events of a failed delivery are lost, batch by batch', async t => {
  const { backend, lost, parts } = opened(
    { mode: 'batch', batch: { maxSize: 2, maxWait: 0 } }, async () => { throw new Error('down') }
  )
  for (const name of ['a', 'b', 'c', 'd']) backend.write(event(name))
  await backend.close()
  t.equal(lost(), 4)
  t.strictSame([...parts], [undefined], 'the back end loses them')
})

t.test('large events lose their objects, larger ones go, and large batches are split', async t => {
  const bare = Buffer.byteLength(eventJson(event('a'), false))
  const { backend, batches, lost, parts } = opened({
    mode: 'batch', batch: { maxSize: 4, maxWait: 0 }, truncate: { maxEventSize: bare + 100, maxBatchSize: bare * 2 }
  })
  const items: string[] = []
  const kept = openBackend(
    { mode: 'blocking', truncate: { maxEventSize: bare + 100 } },
    { deliver: async given => { items.push(...given) }, lost: () => {}, close: async () => {} }
  )
  t.equal(await kept.write(event('small', '{"a":1}')), true)
  t.equal(await kept.write(event('large', JSON.stringify('x'.repeat(1000)))), true)
  t.match(JSON.parse(items[0] ?? ''), { requestObject: { a: 1 }, annotations: undefined })
  t.match(JSON.parse(items[1] ?? ''), { requestObject: undefined, annotations: { 'audit.orch.io/truncated': 'true' } })
  for (const name of ['a', 'b', 'c', 'd', 'x'.repeat(1000)]) backend.write(event(name))
  await backend.close()
  t.strictSame(batches, [['a', 'b'], ['c', 'd']])
  t.equal(lost(), 1, 'an event that is too large even without its objects')
  t.strictSame([...parts], ['truncate'])
})

const POSTS: AuditPolicy = {
  apiVersion: 'audit.orch.io/v1', kind: 'Policy', metadata: {}, rules: [{ level: 'Metadata', verbs: ['create'] }]
}

const ca = authority()
const pair = ca.issue({ commonName: 'receiver', names: ['localhost'], uses: ['server'] })
const nameless = ca.issue({ commonName: 'localhost', uses: ['server'] })

interface Receiver {
  readonly port: number
  readonly lists: Json[]
  answer: (reply: ServerResponse, request: IncomingMessage) => void
}

async function receiver (
  t: Test, { certificate: cert, key }: { certificate: string, key: string } = pair
): Promise<Receiver> {
  const server = createServer({ cert, key, ciphers: 'DEFAULT@SECLEVEL=0' }, (request, reply) => {
    let text = ''
    request.setEncoding('utf8').on('data', (more: string) => { text += more }).on('end', () => {
      self.lists.push(JSON.parse(text) as Json)
      self.answer(reply, request)
    })
  }).listen(0, '127.0.0.1')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const self: Receiver = { port: (server.address() as AddressInfo).port, lists: [], answer: reply => { reply.end() } }
  return self
}

async function sending (
  t: Test & { testdir: (files: Record<string, string>) => string }, port: number, ...flags: string[]
) {
  const folder = t.testdir({ ...SERVER_FILES, 'ca.crt': ca.certificate, webhook: kubeconfig(port) })
  return await flagged(t, folder, [`--audit-webhook-config-file=${folder}/webhook`, ...flags])
}

t.test('the webhook is sent lists of events, and what waits when the server closes', async t => {
  const service = await receiver(t)
  const server = await sending(
    t, service.port, '--audit-webhook-batch-max-size=2', '--audit-webhook-batch-max-wait=60s'
  )
  await server.get('/version')
  while (service.lists.length === 0) await pause(5)
  await server.get('/api')
  await server.app.close()
  t.match(service.lists[0], {
    kind: 'EventList',
    apiVersion: 'audit.orch.io/v1',
    metadata: {},
    items: [{ level: 'Metadata', stage: 'RequestReceived' }, { stage: 'ResponseComplete' }]
  })
  const items = service.lists.flatMap(({ items }) => items as Json[])
  t.ok(service.lists.every(({ items }) => items.length <= 2))
  t.ok(
    items.some(({ requestURI, stage }) => requestURI === '/api' && stage === 'ResponseComplete'),
    'nothing is left behind'
  )
})

t.test('delivery is retried, and lost events are counted and logged once', async t => {
  const service = await receiver(t)
  let failures = 2
  service.answer = reply => { reply.writeHead(failures-- > 0 ? 503 : 200).end() }
  const server = await sending(
    t, service.port, '--audit-webhook-batch-max-size=1', '--audit-webhook-initial-backoff=1ms',
    '--audit-webhook-batch-throttle-enable=false'
  )
  await server.get('/version')
  await server.app.close()
  t.ok(service.lists.length >= 4, 'each event is sent until it has arrived')
  const down = await receiver(t)
  down.answer = (_reply, request) => { request.socket.destroy() }
  const other = await sending(t, down.port, '--audit-webhook-mode=blocking', '--audit-webhook-initial-backoff=1ms')
  t.equal((await other.get('/version')).code, 200, 'requests succeed in mode blocking')
  t.match((await other.get('/metrics')).body, /apiserver_audit_error_total\{plugin="webhook"\} [1-9]/)
  t.equal(other.log.filter(line => line.includes('audit events cannot be sent')).length, 1)
})

t.test(
  'in mode blocking-strict a request waits until its event has arrived, and is refused when it does not', async t => {
    const service = await receiver(t)
    const server = await sending(
      t, service.port, '--audit-webhook-mode=blocking-strict', '--audit-webhook-initial-backoff=1ms'
    )
    const before = service.lists.length
    t.equal((await server.get('/version')).code, 200)
    t.ok(service.lists.slice(before).some(({ items: [item] }) =>
      item.stage === 'RequestReceived' && item.requestURI === '/version'))
    service.answer = reply => { reply.writeHead(500).end() }
    t.match(await server.get('/version'), { code: 500, json: { reason: 'InternalError' } })
    service.answer = reply => { reply.end() }
    t.match((await server.get('/metrics')).body, /apiserver_audit_requests_rejected_total 1\n/)
    t.notOk(
      server.log.some(line => line.includes('request failed')),
      'the log has a line about the receiver, and none for each request'
    )
    t.ok(
      service.lists.every(({ items }) => (items as Json[]).every(({ stage }) => stage !== 'Panic')),
      'nor is it a defect'
    )
  }
)

t.test(
  'calls are counted by what they came to, and certificates that name their host in the common name alone', async t => {
    const service = await receiver(t)
    const server = await sending(
      t, service.port, '--audit-webhook-mode=blocking', '--audit-webhook-initial-backoff=1ms'
    )
    await server.get('/version')
    const text = (await server.get('/metrics')).body
    t.match(
      text,
      new RegExp(
        `^rest_client_requests_total\\{code="200",method="POST",host="localhost:${service.port}"\\} [1-9]`, 'm'
      )
    )
    t.match(
      text,
      new RegExp(
        `^rest_client_request_duration_seconds_count\\{verb="POST",host="localhost:${service.port}"\\} [1-9]`, 'm'
      )
    )
    for (const name of ['missing_san', 'insecure_sha1']) {
      t.match(text, new RegExp(`^apiserver_webhooks_x509_${name}_total 0$`, 'm'))
    }
    const other = await receiver(t, nameless)
    const refusing = await sending(
      t, other.port, '--audit-webhook-mode=blocking', '--audit-webhook-initial-backoff=1ms'
    )
    await refusing.get('/version')
    const refused = (await refusing.get('/metrics')).body
    t.match(refused, /^apiserver_webhooks_x509_missing_san_total [1-9]/m)
    t.match(
      refused,
      new RegExp(
        `^rest_client_requests_total\\{code="<error>",method="POST",host="localhost:${other.port}"\\} [1-9]`, 'm'
      )
    )
    t.same(other.lists, [], 'it is not trusted')
    t.ok(refusing.log.some(line => line.includes('no subject alternative name')))
  }
)

t.test('connections to receivers whose certificate is signed with SHA-1 are refused and counted', async t => {
  const folder = t.testdir({
    ...SERVER_FILES,
    'ca.crt': ca.certificate,
    'ca.key': ca.key,
    'own.key': pair.key,
    names: 'subjectAltName=DNS:localhost'
  })
  const openssl = (...args: string[]): string =>
    execFileSync('openssl', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  openssl('req', '-new', '-key', 'own.key', '-subj', '/CN=receiver', '-out', 'request')
  const weak = openssl(
    'x509', '-req', '-sha1', '-in', 'request', '-CA', 'ca.crt', '-CAkey', 'ca.key', '-set_serial', '7', '-extfile',
    'names'
  )
  const service = await receiver(t, { certificate: weak, key: pair.key })
  writeFileSync(join(folder, 'webhook'), kubeconfig(service.port))
  const server = await flagged(t, folder, [
    `--audit-webhook-config-file=${folder}/webhook`, '--audit-webhook-mode=blocking',
    '--audit-webhook-initial-backoff=1ms'
  ])
  t.match((await server.get('/metrics')).body, /^apiserver_webhooks_x509_insecure_sha1_total [1-9]/m)
  t.same(service.lists, [])
  t.ok(server.log.some(line => line.includes('digest algorithm too weak')))
})

t.test('a receiver that hangs does not keep the server from closing, whether requests wait for it or not', async t => {
  for (const mode of ['batch', 'blocking'] as const) {
    const service = await receiver(t)
    service.answer = () => {}
    const endpoint = {
      server: new URL(`https://localhost:${service.port}/`),
      authority: { data: ca.certificate },
      insecure: false,
      serverName: undefined,
      proxy: undefined,
      credentials: NO_CREDENTIALS
    }
    const server = await build(t, {
      audit: { policy: POSTS, webhook: { endpoint, mode, batch: { maxSize: 1 } }, closeGrace: 50 }
    })
    const asked = server.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'one' } }).catch(() => {})
    while (service.lists.length === 0) await pause(5)
    await server.app.close()
    await asked
    t.pass(mode)
  }
})
