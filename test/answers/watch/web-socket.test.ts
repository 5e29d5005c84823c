/** Watches over WebSockets, as browsers open them. */
import t, { type Test } from 'tap'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { listen, type Client, type Json } from '../../build.js'
import { polled } from '../../polled.js'

interface WebSocket extends NodeJS.EventEmitter {
  readonly protocol: string
  close: () => void
  terminate: () => void
  pause: () => void
  resume: () => void
}
/** The package has no types of its own. */
const { WebSocket } = createRequire(import.meta.url)('ws') as {
  WebSocket: new (url: string, protocols: string[], options?: object) => WebSocket
}

const MAPS = '/api/v1/namespaces/default/configmaps'
const SELECTED = 'fieldSelector=metadata.name%21%3Dorch-root-ca.crt'

interface Opened {
  readonly socket: WebSocket
  readonly messages: Array<{ readonly data: Buffer, readonly isBinary: boolean }>
  readonly until: (holds: () => boolean) => Promise<void>
}

function open (
  t: Test, { url }: Client & { url: string }, query: string, protocols: string[] = [], headers: object = {}
): Opened {
  const socket = new WebSocket(
    `${url.replace('http', 'ws')}${MAPS}?watch=1&${SELECTED}${query}`, protocols, { headers }
  )
  socket.on('error', () => {}) // of one that was refused, or is ended before it is open
  t.teardown(() => { socket.terminate() })
  const messages: Array<{ data: Buffer, isBinary: boolean }> = []
  socket.on('message', (data: Buffer, isBinary: boolean) => { messages.push({ data, isBinary }) })
  return {
    socket,
    messages,
    until: async holds => { while (!holds()) await new Promise(resolve => { setTimeout(resolve, 5) }) }
  }
}

const eventsOf = ({ messages }: Opened): Json[] => messages.map(({ data }) => JSON.parse(data.toString()) as Json)
const namesOf = (opened: Opened): string[] =>
  eventsOf(opened).map(({ type, object }) => `${String(type)} ${String(object.metadata?.name ?? object.reason)}`)

t.test('each event is a message', async t => {
  const server = await listen(t)
  await server.post(MAPS, { metadata: { name: 'a' }, data: { text: 'x\ny' } })
  const watch = open(t, server, '')
  await watch.until(() => watch.messages.length === 1)
  await server.post(MAPS, { metadata: { name: 'b' } })
  await server.delete(`${MAPS}/a`)
  await watch.until(() => watch.messages.length === 3)
  t.strictSame(namesOf(watch), ['ADDED a', 'ADDED b', 'DELETED a'])
  t.ok(watch.messages.every(({ isBinary }) => !isBinary))
  watch.socket.close()
  await once(watch.socket, 'close')
})

t.test('a large state arrives whole, and waits for a client that does not read', async t => {
  const server = await listen(t)
  for (let at = 0; at < 40; at++) {
    await server.post(MAPS, { metadata: { name: `m${at}` }, data: { text: 'x'.repeat(100_000) } })
  }
  const watch = open(t, server, '')
  await once(watch.socket, 'open')
  watch.socket.pause()
  await new Promise(resolve => { setTimeout(resolve, 100) })
  t.ok(watch.messages.length < 40)
  watch.socket.resume()
  await watch.until(() => watch.messages.length === 40)
  t.equal(new Set(namesOf(watch)).size, 40)
})

t.test('protobuf events are messages of bytes, and Tables of text', async t => {
  const server = await listen(t)
  await server.post(MAPS, { metadata: { name: 'a' } })
  const binary = open(t, server, '', [], { accept: 'application/vnd.orch.protobuf' })
  await binary.until(() => binary.messages.length === 1)
  t.ok(binary.messages[0]?.isBinary)
  t.equal(binary.messages[0]?.data.subarray(0, 7).toString('latin1'), '\n\u0005ADDED', 'the event, without its length')
  const table = open(t, server, '', [], { accept: 'application/json;as=Table;v=v1;g=meta.orch.io' })
  await table.until(() => table.messages.length === 1)
  t.match(eventsOf(table), [{ type: 'ADDED', object: { kind: 'Table', rows: [{}] } }])
})

t.test('a subprotocol is chosen, the token among them is not, and a wrong one is refused', async t => {
  const server = await listen(t, { authentication: { tokens: 'secret,ann,1\n' } })
  const bearing = (token: string): string[] => [
    `base64url.bearer.authorization.orch.io.${Buffer.from(token).toString('base64url')}`, 'base64.binary.orch.io'
  ]
  const watch = open(t, server, '', bearing('secret'))
  await once(watch.socket, 'open')
  t.equal(watch.socket.protocol, 'base64.binary.orch.io')
  const refused = open(t, server, '', bearing('wrong'))
  const [, response] = await once(refused.socket, 'unexpected-response') as [unknown, IncomingMessage]
  t.equal(response.statusCode, 401)
})

t.test('a watch that ends closes its socket', async t => {
  const ended = open(t, await listen(t), '&timeoutSeconds=1')
  await once(ended.socket, 'close')
})

for (const emulatedVersion of ['1.24', '1.36'] as const) {
  t.test(`a watch whose version is no longer kept says so first, ${emulatedVersion}`, async t => {
    const server = await listen(t, { emulatedVersion, storage: { compactionInterval: 30 } })
    const { resourceVersion: first } = (await server.post(MAPS, { metadata: { name: 'a' } })).json['metadata']
    for (let at = 0; ; at++) {
      await server.patch(`${MAPS}/a`, { data: { at: String(at) } })
      if ((await server.get(`${MAPS}?resourceVersion=${first}&resourceVersionMatch=Exact`)).code === 410) break
    }
    const expired = open(t, server, `&resourceVersion=${first}`)
    await once(expired.socket, 'close')
    t.strictSame(namesOf(expired), ['ERROR Expired'])
  })
}

t.test('a client that leaves ends its watch, and a malformed handshake is refused', async t => {
  const server = await listen(t)
  const watch = open(t, server, '')
  await once(watch.socket, 'open')
  watch.socket.terminate()
  const bad = await fetch(`${server.url}${MAPS}?watch=1`, { headers: { 'x-none': '1' } }).then(({ status, body }) => {
    void body?.cancel()
    return status
  })
  t.equal(bad, 200, 'without an upgrade it is an ordinary watch')
  const isGauge = (line: string): boolean =>
    line.startsWith('apiserver_longrunning_requests{') && line.includes('configmaps')
  const gauge = async (): Promise<string> => (await server.get('/metrics')).body.split('\n').find(isGauge) ?? ''
  await polled(async () => !/ [1-9]/.test((await gauge()).slice(-2)))
  t.pass('none is left')
})
