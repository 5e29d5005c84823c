/** Spans of requests. Interface: --tracing-config-file. */
import t from 'tap'
import { build, type Client, type Test } from '../../build.js'
import { hex, receiver, type ReceivedSpan } from '../../otlp-receiver.js'
import { configure, CONFIGS, hookServer, MUTATING, VALIDATING, webhook } from '../../admission/webhooks/hook-server.js'

const ANN = { authorization: 'Bearer tok' }
const CALLER = { trace: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' }
const traceparent = (flags = '01'): string => `00-${CALLER.trace}-${CALLER.span}-${flags}`

/** The server, and the spans that it has sent once it is closed. */
async function traced (t: Test, samplingRatePerMillion: number) {
  const received = await receiver(t)
  const server: Client = await build(t, {
    tracing: { receiver: { endpoint: received.endpoint, samplingRatePerMillion, timeout: 60_000 } },
    authentication: { tokens: 'tok,ann,7\n' }
  })
  return { server, received, close: () => server.app.close() }
}

const only = (spans: readonly ReceivedSpan[], path: string, method = 'GET'): ReceivedSpan => {
  const found = spans.filter(({ attributes }) =>
    attributes['http.target'] === path && attributes['http.method'] === method)
  if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} spans of ${path}`)
  return found[0]
}

t.test('a change is one trace: the request, what was decoded, admission and each webhook, and the write', async t => {
  const { server, received, close } = await traced(t, 1_000_000)
  const hook = await hookServer(t)
  await configure(server, MUTATING, 'a', webhook('a', hook))
  await configure(server, VALIDATING, 'b', webhook('b', hook))
  const made = await server.post(
    `${CONFIGS}?fieldManager=secret`, { metadata: { name: 'c' } }, { ...ANN, 'user-agent': 'me/1' }
  )
  t.equal(made.code, 201)
  await close()

  const root = only(received.spans, CONFIGS, 'POST')
  t.match(root, {
    name: 'OrchAPI',
    kind: 2,
    attributes: { 'http.status_code': '201', 'http.user_agent': 'me/1', 'audit-id': made.headers['audit-id'] },
    resource: { 'service.name': 'apiserver', 'service.instance.id': /^orch-apiserver-/ }
  })
  t.equal(root.parentSpanId, undefined)
  t.match(root.events?.map(({ name }) => name), [
    'Reading, authentication and authorization of the request done', 'Writing http response done'
  ])
  t.ok(BigInt(root.end) >= BigInt(root.start))
  const own = received.spans.filter(({ traceId }) => traceId === root.traceId)
  const parentOf = (name: string): string | undefined =>
    own.find(({ spanId }) => spanId === own.find(span => span.name === name)?.parentSpanId)?.name
  t.strictSame(
    [
      'Decode', 'Mutating admission', 'Call mutating webhook', 'Validating admission', 'Call validating webhook',
      'Store transaction'
    ].map(parentOf),
    ['OrchAPI', 'OrchAPI', 'Mutating admission', 'OrchAPI', 'Validating admission', 'OrchAPI']
  )
  t.match(own.find(({ name }) => name === 'Call mutating webhook')?.attributes, {
    configuration: 'a', webhook: 'a.example.com', operation: 'CREATE', resource: 'configmaps'
  })
  t.match(own.find(({ name }) => name === 'Store transaction')?.attributes, { operation: 'create' })
  for (const [index, name] of ['Call mutating webhook', 'Call validating webhook'].entries()) {
    const call = own.find(span => span.name === name)
    t.equal(
      hook.asked[index]?.headers['traceparent'], `00-${hex(root.traceId)}-${hex(call?.spanId ?? '')}-01`,
      'the webhook receives the span of the call'
    )
  }
  t.notMatch(JSON.stringify(received.spans), /secret/, 'a query may hold secrets')
})

t.test('a failed span has the failure, without text that may contain parts of the object', async t => {
  const { server, received, close } = await traced(t, 1_000_000)
  const hook = await hookServer(t, (_review, reply) => {
    reply.destroy()
    return undefined
  })
  t.equal((await server.post(CONFIGS, '{"metadata":{"name":"c"},"data":"sesame"}')).code, 400)
  t.equal((await server.post('/api/v1/namespaces/none/configmaps', { metadata: { name: 'sesame' } })).code, 404)
  await configure(server, VALIDATING, 'a', webhook('a', hook))
  t.equal((await server.post(CONFIGS, { metadata: { name: 'd' } })).code, 500)
  await close()
  const failed = received.spans.filter(({ status }) =>
    status?.code === 2).map(({ name, status }) => [name, status?.message])
  t.match(failed, [
    ['Decode', 'DecodeError'], ['Mutating admission', 'NotFound'], ['OrchAPI', 'InternalError'],
    ['Validating admission', 'InternalError'],
    ['Call validating webhook', /^failed to call webhook: Post "https:.*": connection (?:closed|reset) by the peer$/]
  ])
  t.equal(failed.length, 5)
  t.notMatch(JSON.stringify(failed), /sesame/)
})

t.test('a list says how many it has, a read that waits for nothing is one span', async t => {
  const { server, received, close } = await traced(t, 1_000_000)
  await server.get(CONFIGS)
  await server.get('/api/v1/namespaces/default')
  await server.get(`${CONFIGS}/none`)
  await close()
  const ofTrace = ({ traceId }: ReceivedSpan): string[] =>
    received.spans.filter(span => span.traceId === traceId).map(({ name }) => name).sort()
  t.strictSame(ofTrace(only(received.spans, CONFIGS)), ['List from storage', 'OrchAPI', 'SerializeObject'])
  t.match(
    received.of('SerializeObject').find(({ traceId }) => traceId === only(received.spans, CONFIGS).traceId)?.attributes,
    { count: /^\d+$/ }
  )
  t.strictSame(ofTrace(only(received.spans, '/api/v1/namespaces/default')), ['OrchAPI'])
  t.match(only(received.spans, `${CONFIGS}/none`), { attributes: { 'http.status_code': '404' } })
  t.notMatch(only(received.spans, `${CONFIGS}/none`).status, { code: 2 }, 'a 404 is not an error of the span')
})

t.test('an authenticated caller\'s trace is continued, with its sampling decision', async t => {
  for (const rate of [0, 1_000_000]) {
    const { server, received, close } = await traced(t, rate)
    const hook = await hookServer(t)
    await configure(server, VALIDATING, 'a', webhook('a', hook))
    await server.post(CONFIGS, { metadata: { name: 'c' } }, { ...ANN, traceparent: traceparent() })
    await server.post(CONFIGS, { metadata: { name: 'd' } }, { ...ANN, traceparent: traceparent('00') })
    await close()
    const own = received.spans.filter(({ traceId }) => hex(traceId) === CALLER.trace)
    t.equal(own.filter(({ name }) => name === 'OrchAPI').length, 1, 'one was sampled by its caller, the other was not')
    t.match(own.find(({ name }) => name === 'OrchAPI'), {
      attributes: { 'http.status_code': '201' }, parentSpanId: Buffer.from(CALLER.span, 'hex').toString('base64')
    })
    t.match(hook.asked.map(({ headers }) => headers['traceparent']), [
      new RegExp(`^00-${CALLER.trace}-(?!${CALLER.span})[0-9a-f]{16}-01$`),
      new RegExp(`^00-${CALLER.trace}-(?!${CALLER.span})[0-9a-f]{16}-00$`)
    ])
    if (rate === 0) t.equal(received.spans.length, own.length, 'no other request is sampled')
  }
})

t.test('an anonymous caller\'s trace does not decide sampling, and is linked', async t => {
  const { server, received, close } = await traced(t, 0)
  await server.get('/version', { traceparent: traceparent() })
  await server.get('/version', { traceparent: traceparent(), authorization: 'Bearer wrong' })
  await close()
  t.strictSame(received.spans, [])

  const all = await traced(t, 1_000_000)
  await all.server.get('/version', { traceparent: traceparent('00') })
  await all.close()
  const root = only(all.received.spans, '/version')
  t.not(hex(root.traceId), CALLER.trace)
  t.equal(root.parentSpanId, undefined)
  t.match(root.links?.map(({ traceId, spanId }) => [hex(traceId), hex(spanId)]), [[CALLER.trace, CALLER.span]])
})

t.test('an invalid traceparent is ignored', async t => {
  const { server, received, close } = await traced(t, 1_000_000)
  const wrong = [
    '', 'x', traceparent().toUpperCase(), `ff-${CALLER.trace}-${CALLER.span}-01`,
    `00-${'0'.repeat(32)}-${CALLER.span}-01`, `00-${CALLER.trace}-${'0'.repeat(16)}-01`,
    `${traceparent()}-more`, `${traceparent()}, ${traceparent()}`, 'a'.repeat(1024 * 1024),
    `00-${CALLER.trace}-${CALLER.span}`, `01-${CALLER.trace}-${CALLER.span}-01-${'x'.repeat(100_000)}`
  ]
  for (const header of wrong) t.equal((await server.get('/version', { ...ANN, traceparent: header })).code, 200)
  await close()
  const roots = received.spans.filter(({ attributes }) => attributes['http.target'] === '/version')
  t.equal(roots.length, wrong.length)
  for (const { parentSpanId, traceId, links } of roots) {
    t.match([parentSpanId, links, hex(traceId) === CALLER.trace], [undefined, undefined, false])
  }
})

t.test('a later version of the header is understood as far as it is known', async t => {
  const { server, received, close } = await traced(t, 0)
  await server.get('/version', { ...ANN, traceparent: `01-${CALLER.trace}-${CALLER.span}-01-more` })
  await close()
  t.equal(hex(only(received.spans, '/version').traceId), CALLER.trace)
})

t.test('with the gate alone callers\' headers are passed on, and with neither they are not', async t => {
  for (const on of [true, false]) {
    const hook = await hookServer(t)
    const server = await build(t, { featureGates: { APIServerTracing: on } })
    await configure(server, VALIDATING, 'a', webhook('a', hook))
    await server.post(CONFIGS, { metadata: { name: 'c' } }, { traceparent: traceparent() })
    t.equal(hook.asked[0]?.headers['traceparent'], on ? traceparent() : undefined)
    await server.post(CONFIGS, { metadata: { name: 'd' } }, { traceparent: 'x'.repeat(55) })
    t.notOk('traceparent' in (hook.asked[1]?.headers ?? {}))
  }
})

t.test('the number of spans of one request is bounded', async t => {
  const { server, received, close } = await traced(t, 0)
  for (let count = 0; count < 160; count++) await server.post(CONFIGS, { metadata: { name: `c${count}` } })
  t.equal((await server.call('DELETE', CONFIGS, undefined, { ...ANN, traceparent: traceparent() })).code, 200)
  await close()
  t.ok(received.spans.length > 100)
  t.ok(received.spans.length <= 402)
})
