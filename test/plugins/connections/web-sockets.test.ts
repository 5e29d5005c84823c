/** WebSockets of today's clients against node agents that speak SPDY only, or that end WebSockets themselves. */
import t from 'tap'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { connect, type Socket } from 'node:net'
import type { ServerOptions } from '../../../app.js'
import { listen, type Client, type Json, type Test } from '../../build.js'
import { Spdy } from '../../interop/speaking-agent.js'
import { callingAgent, nodeAgent, PODS, withPod, type NodeAgent } from '../../node-agent.js'

interface WebSocket extends NodeJS.EventEmitter {
  readonly protocol: string
  readonly _socket: Socket
  send: (bytes: Buffer) => void
  close: (code?: number) => void
  terminate: () => void
  pause: () => void
  resume: () => void
}
/** The package has no types of its own. */
const { WebSocket } = createRequire(import.meta.url)('ws') as {
  WebSocket: new (url: string, protocols: string[], options?: object) => WebSocket
}

const V5 = 'v5.channel.orch.io'
const SUCCESS = JSON.stringify({ metadata: {}, status: 'Success' })
const EXITED = {
  metadata: {}, status: 'Failure', message: 'command terminated with non-zero exit code', reason: 'NonZeroExitCode',
  details: { causes: [{ reason: 'ExitCode', message: '7' }] }
}

const accept = (request: IncomingMessage, socket: Socket, head: Buffer): Spdy => {
  const version = String(request.headers['x-stream-protocol-version']).split(',')[0] ?? ''
  socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ' +
    `${version.trim()}\r\n\r\n`
  )
  if (head.length > 0) socket.unshift(head)
  return new Spdy(socket)
}

/** Once all streams of a command are open, `run` gets their numbers, in order: errors, input, output, … */
type Run = (spdy: Spdy, ids: readonly number[]) => void
type Hear = (spdy: Spdy, ids: readonly number[], order: number, bytes: Buffer, last: boolean) => void

const running = (streams: number, run: Run, data: Hear = () => {}) => (
  request: IncomingMessage, socket: Socket, head: Buffer
): void => {
  const spdy = accept(request, socket, head)
  const ids: number[] = []
  spdy.follow({
    opened: (order, id) => {
      ids[order] = id
      if (ids.length === streams) run(spdy, ids)
    },
    data: (order, _id, bytes, last) => { data(spdy, ids, order, bytes, last) }
  })
}

async function serve (
  t: Test, agent: NodeAgent, options: Partial<ServerOptions> = {}
): Promise<Client & { port: number }> {
  const server = await listen(t, { connections: callingAgent(agent), ...options })
  await withPod(server, agent.port)
  return server
}

interface Opened {
  readonly socket: WebSocket
  /** Bytes of each channel. */
  readonly said: Map<number, Buffer[]>
  /** The code of the closing frame. */
  readonly closed: Promise<number>
  readonly outcome: () => Promise<Json>
}

async function open (
  t: Test, port: number, path: string, protocols = [V5], headers: Record<string, string> = {}
): Promise<Opened> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${PODS}/${path}`, protocols, { headers })
  t.teardown(() => { socket.terminate() })
  const said = new Map<number, Buffer[]>()
  socket.on('message', (message: Buffer) => {
    const channel = message[0] ?? -1
    const pieces = said.get(channel) ?? []
    pieces.push(message.subarray(1))
    said.set(channel, pieces)
  })
  const closed = once(socket, 'close').then(([code]) => code as number)
  await once(socket, 'open')
  return { socket, said, closed, outcome: async () => { await closed; return JSON.parse(text(said, 3)) as Json } }
}

/** A connection that has asked for a WebSocket, with a subprotocol that `ws` does not let through. */
function asked (t: Test, port: number, path: string, protocol: string): Socket {
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => { socket.destroy() })
  socket.write(
    `GET ${PODS}/${path} HTTP/1.1\r\nHost: server\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n' +
    `Sec-WebSocket-Protocol: ${protocol}\r\n\r\n`
  )
  return socket
}

/** A message of a client. The mask is zeros, so it changes nothing. */
const message = (bytes: Buffer): Buffer => {
  const head = Buffer.alloc(14)
  head.writeUInt16BE(0x82ff, 0)
  head.writeUInt32BE(bytes.length, 6)
  return Buffer.concat([head, bytes])
}

/** The payloads of messages of the server. */
function payloads (bytes: Buffer): Buffer {
  const found: Buffer[] = []
  for (let rest = bytes; rest.length >= 2;) {
    const short = rest.readUInt8(1)
    const head = short === 127 ? 10 : short === 126 ? 4 : 2
    if (rest.length < head) break
    const length = short === 127 ? Number(rest.readBigUInt64BE(2)) : short === 126 ? rest.readUInt16BE(2) : short
    if (rest.readUInt8(0) === 0x82) found.push(rest.subarray(head, head + length))
    rest = rest.subarray(head + length)
  }
  return Buffer.concat(found)
}

async function until (socket: Socket, enough: (bytes: Buffer) => boolean): Promise<Buffer> {
  const chunks: Buffer[] = []
  for (;;) {
    const chunk = socket.read() as Buffer | null
    if (chunk !== null) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    if (enough(bytes)) return bytes
    if (socket.readableEnded || socket.destroyed) {
      throw new Error(`the connection ended: ${bytes.toString('latin1').slice(0, 500)}`)
    }
    await Promise.race([once(socket, 'readable'), once(socket, 'end'), once(socket, 'close')])
  }
}

/** The answer to a WebSocket that is refused. */
async function refused (
  t: Test, port: number, path: string, protocols = [V5], headers: Record<string, string> = {}
): Promise<{ code: number, body: string }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${PODS}/${path}`, protocols, { headers })
  t.teardown(() => { socket.terminate() })
  socket.on('error', () => {})
  const [, answer] = await once(socket, 'unexpected-response') as [unknown, IncomingMessage]
  let body = ''
  for await (const piece of answer) body += String(piece)
  return { code: answer.statusCode ?? 0, body }
}

const text = (said: Map<number, Buffer[]>, channel: number): string => String(Buffer.concat(said.get(channel) ?? []))

t.test('a command over channels is streams for the node agent, and its outcome arrives', async t => {
  let headers = ''
  let outcome: string = SUCCESS
  const agent = await nodeAgent(t, {
    upgrade: running(3, (spdy, [errors = 0, out = 0, err = 0]) => {
      headers = spdy.headers()
      spdy.data(out, 'printed', true)
      spdy.data(err, 'complained', true)
      spdy.data(errors, outcome, true)
    })
  })
  const server = await serve(t, agent)
  for (const domain of ['orch.io', 'k8s.io']) {
    const command = await open(t, server.port, 'web/exec?command=ls&stdout=true&stderr=true', [
      `v4.channel.${domain}`, `v5.channel.${domain}`
    ])
    t.equal(command.socket.protocol, `v5.channel.${domain}`)
    t.match(await command.outcome(), { kind: 'Status', status: 'Success' })
    t.equal(await command.closed, 1000)
    t.strictSame([text(command.said, 1), text(command.said, 2)], ['printed', 'complained'])
    t.match(await agent.next(), {
      method: 'POST', url: '/exec/default/web/main?command=ls&error=1&output=1',
      headers: {
        upgrade: 'SPDY/3.1',
        'x-stream-protocol-version': ['v4.', 'v3.', 'v2.', ''].map(version => `${version}channel.${domain}`).join(', '),
        'sec-websocket-key': undefined,
        'sec-websocket-protocol': undefined
      }
    })
    t.strictSame(
      [...headers.matchAll(/streamtype\0\0\0.(error|stdin|stdout|stderr|resize)/g)].map(([, type]) => type),
      ['error', 'stdout', 'stderr']
    )
  }
  outcome = JSON.stringify(EXITED)
  t.match(await (await open(t, server.port, 'web/exec?command=ls&stdout=true&stderr=true')).outcome(), EXITED)
  outcome = JSON.stringify({ status: 'Failure', message: 'no such file' })
  t.match(await (await open(t, server.port, 'web/exec?command=ls&stdout=true&stderr=true')).outcome(), {
    status: 'Failure', reason: 'InternalError', message: 'Internal error occurred: no such file', code: 500
  })
  const metrics = (await server.get('/metrics')).body
  t.match(metrics, /^apiserver_stream_translator_requests_total\{code="200"\} 3$/m)
  t.match(metrics, /^apiserver_stream_translator_requests_total\{code="500"\} 1$/m)
})

t.test('the end of the input is a channel that closes, and output still arrives', async t => {
  const agent = await nodeAgent(t, {
    upgrade: running(3, () => {}, (spdy, [errors = 0, , out = 0], order, bytes, last) => {
      if (order !== 1) return
      spdy.data(out, bytes)
      if (!last) return
      spdy.data(out, 'the end', true)
      spdy.data(errors, SUCCESS, true)
    })
  })
  const server = await serve(t, agent)
  const command = await open(t, server.port, 'web/exec?command=cat&stdin=true&stdout=true')
  const sent = Buffer.alloc(3_000_000, 'input ')
  command.socket.send(Buffer.concat([Buffer.of(0), sent]))
  command.socket.send(Buffer.of(0))
  command.socket.send(Buffer.from('\0and more'))
  command.socket.send(Buffer.of(255, 0))
  command.socket.send(Buffer.from('\0too late'))
  t.equal((await command.outcome()).status, 'Success')
  t.ok(text(command.said, 1) === `${String(sent)}and morethe end`)
})

t.test('ten thousand pieces of output arrive, and as many sizes of a terminal', async t => {
  const [PIECES, SIZE] = [10_000, 1024]
  const sizes: number[] = []
  const agent = await nodeAgent(t, {
    upgrade: (request, socket, head) => {
      const spdy = accept(request, socket, head)
      const ids: number[] = []
      let unread = ''
      spdy.follow({
        opened: (order, id) => {
          ids[order] = id
          if (order === 1) for (let sent = 0; sent < PIECES; sent++) spdy.data(id, Buffer.alloc(SIZE, 'x'))
        },
        data: (order, _id, bytes) => {
          if (order !== 2) return
          const lines = `${unread}${String(bytes)}`.split('\n')
          unread = lines.pop() ?? ''
          for (const line of lines) sizes.push((JSON.parse(line) as { Width: number }).Width)
          if (sizes.length < PIECES) return
          const [errors = 0, out = 0] = ids
          spdy.data(out, '', true)
          spdy.data(errors, SUCCESS, true)
        }
      })
    }
  })
  const server = await serve(t, agent)
  const command = await open(t, server.port, 'web/attach?stdout=true&stderr=true&tty=true')
  for (let width = 0; width < PIECES; width++) command.socket.send(Buffer.from(`\x04{"Width":${width},"Height":24}\n`))
  t.equal((await command.outcome()).status, 'Success')
  t.equal(text(command.said, 1).length, PIECES * SIZE)
  t.equal(sizes.length, PIECES)
  t.ok(sizes.every((width, at) => width === at))
})

t.test('failures of the node agent arrive as an outcome, those before as an answer', async t => {
  const agent = await nodeAgent(t, {
    upgrade: (request, socket, head) => {
      if (request.url?.includes('refused') === true) {
        socket.end(
          'HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno!'
        )
      } else if (request.url?.includes('left') === true) {
        accept(request, socket, head).follow({
          opened: () => { socket.destroy() }, data: () => {}
        })
      } else {
        running(2, (spdy, [errors = 0, out = 0]) => {
          spdy.data(out, '', true)
          spdy.data(errors, Buffer.alloc(100_000, 'x'), true)
        })(request, socket, head)
      }
    }
  })
  const server = await serve(t, agent)
  const outcome = async (command: string): Promise<Json> =>
    await (await open(t, server.port, `web/exec?stdout=true&command=${command}`)).outcome()
  t.match(await outcome('refused'), { status: 'Failure', reason: 'Forbidden', code: 403 })
  t.match(await outcome('left'), {
    status: 'Failure', reason: 'InternalError', message: /the node agent has closed the connection/
  })
  t.match(await outcome('endless'), { status: 'Failure', reason: 'InternalError' })
  await server.patch('/api/v1/nodes/n/status', { status: { daemonEndpoints: { kubeletEndpoint: { Port: 1 } } } })
  t.match(await outcome('away'), {
    status: 'Failure', reason: 'InternalError', message: /error dialing backend: 127\.0\.0\.1:1: .*refused/, code: 500
  })
  t.match(await refused(t, server.port, 'nobody/exec?command=ls'), { code: 404, body: /pods \\"nobody\\" not found/ })
  t.match(await refused(t, server.port, 'web/exec?command=ls&container=other'), {
    code: 400, body: /container other is not valid/
  })
  t.match(
    await server.call('GET', `${PODS}/web/exec?command=ls`, undefined, {
      connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-protocol': V5
    }),
    { code: 400 }
  )
})

t.test('what is no WebSocket ends with a code that says so, and a client that leaves ends the command', async t => {
  const agent = await nodeAgent(t, { upgrade: running(2, (spdy, [, out = 0]) => { spdy.data(out, 'begun') }) })
  const server = await serve(t, agent)
  const command = await open(t, server.port, 'web/exec?command=sleep&stdout=true')
  const { socket: first } = await agent.next()
  command.socket._socket.write(Buffer.of(0x82, 0x01, 0x00)) // unmasked
  t.equal(await command.closed, 1002)
  if (!first.destroyed) await once(first, 'close')
  const other = await open(t, server.port, 'web/exec?command=sleep&stdout=true')
  const { socket: second } = await agent.next()
  other.socket.terminate()
  if (!second.destroyed) await once(second, 'close')
  const third = await open(t, server.port, 'web/exec?command=sleep&stdout=true')
  await agent.next()
  await Promise.all([server.app.close(), third.closed])
})

t.test('older WebSockets are passed on as they are, and all to nodes that end them', async t => {
  const agent = await nodeAgent(t, {
    upgrade: (request, socket) => {
      socket.end(`HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nAsked: ${request.headers.upgrade}\r\n\r\n`)
    }
  })
  const server = await serve(t, agent, { emulatedVersion: '1.36' })
  for (const [path, protocols] of [
    ['exec', ['v4.channel.orch.io']], ['attach', ['channel.orch.io']], ['portforward?ports=80', ['v4.channel.orch.io']]
  ] as const) {
    await refused(t, server.port, `web/${path}`, [...protocols])
    t.match(await agent.next(), {
      method: 'GET', headers: { upgrade: 'websocket', 'sec-websocket-protocol': protocols.join(',') }
    })
  }
  await server.patch('/api/v1/nodes/n/status', { status: { declaredFeatures: ['ExtendWebSocketsToKubelet'] } })
  for (const [path, protocol] of [['exec?command=ls', V5], ['portforward', 'SPDY/3.1+portforward.orch.io']] as const) {
    await until(asked(t, server.port, `web/${path}`, protocol), bytes => bytes.includes('400 Bad Request'))
    t.match(await agent.next(), {
      method: 'GET', headers: { upgrade: 'websocket', 'sec-websocket-protocol': protocol }
    })
  }
})

t.test('a forwarded port is a SPDY connection within messages', async t => {
  let refuses = false
  const agent = await nodeAgent(t, {
    upgrade: (request, socket, head) => {
      if (refuses) return socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone')
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ' +
        `${request.headers['x-stream-protocol-version']}\r\n\r\nfirst`
      )
      if (head.length > 0) socket.unshift(head)
      socket.pipe(socket)
      return undefined
    }
  })
  const server = await serve(t, agent)
  const socket = asked(t, server.port, 'web/portforward', 'other, SPDY/3.1+portforward.k8s.io')
  const head = await until(socket, bytes => bytes.includes('\r\n\r\n'))
  t.match(
    String(head),
    /^HTTP\/1\.1 101 [^]*Sec-WebSocket-Accept: ICX\+Yqv66kxgM0FcWaLWlFLwTAI=\r\nSec-WebSocket-Protocol: SPDY\/3\.1\+portforward\.k8s\.io\r\n/
  )
  t.match(await agent.next(), {
    url: '/portForward/default/web',
    headers: { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'portforward.k8s.io', 'sec-websocket-key': undefined }
  })
  socket.unshift(head.subarray(head.indexOf('\r\n\r\n') + 4))
  const sent = Buffer.alloc(2_000_000, 'bytes ')
  for (let at = 0; at < sent.length; at += 100_000) socket.write(message(sent.subarray(at, at + 100_000)))
  const received = await until(socket, bytes => payloads(bytes).length >= sent.length + 5)
  t.ok(payloads(received).equals(Buffer.concat([Buffer.from('first'), sent])))
  socket.end()
  socket.resume()
  await once(socket, 'close')
  refuses = true
  t.match(
    String(await until(
      asked(t, server.port, 'web/portforward', 'SPDY/3.1+portforward.k8s.io'), bytes => bytes.includes('none')
    )),
    /^HTTP\/1\.1 404 /
  )
  t.match((await server.get('/metrics')).body, /^apiserver_stream_tunnel_requests_total\{code="101"\} 1$/m)
})

t.test('under 1.36 who connects by GET must be allowed to create', async t => {
  const agent = await nodeAgent(t, {
    upgrade: running(2, (spdy, [errors = 0, out = 0]) => { spdy.data(out, '', true); spdy.data(errors, SUCCESS, true) })
  })
  const authorization = {
    modes: ['AlwaysDeny' as const],
    authorizers: [
      {
        name: 'readers',
        authorize: ({ user, info }: { user: { username: string }, info: { verb: string } }) => ({
          decision: user.username === 'ann' || info.verb === 'get' ? 'Allow' as const : 'NoOpinion' as const
        })
      }
    ]
  }
  const authentication = { tokens: 'secret,ann,1\nother,eve,2\n' }
  for (const emulatedVersion of ['1.24', '1.36'] as const) {
    const server = await listen(t, { connections: callingAgent(agent), authorization, authentication, emulatedVersion })
    const call: Client['call'] = async (method, url, body, headers) =>
      await server.call(method, url, body, { authorization: 'Bearer secret', ...headers })
    await withPod({
      ...server,
      get: async url => await call('GET', url),
      post: async (url, body) => await call('POST', url, body),
      patch: async (url, body) => await call('PATCH', url, body, { 'content-type': 'application/merge-patch+json' })
    }, agent.port)
    const headers = { authorization: 'Bearer other' }
    const path = 'web/exec?command=ls&stdout=true'
    if (emulatedVersion === '1.24') {
      t.equal(
        (await (await open(t, server.port, path, [V5], headers)).outcome()).status, 'Success'
      )
    } else {
      t.match(await refused(t, server.port, path, [V5], headers), {
        code: 403, body: /pods \\"web\\" is forbidden: User \\"eve\\" cannot create resource \\"pods\/exec\\"/
      })
    }
    t.equal(
      (await (await open(t, server.port, path, [V5], { authorization: 'Bearer secret' })).outcome()).status, 'Success'
    )
  }
})

t.test('a client that reads nothing stops the command, and nothing is kept for it', async t => {
  let blocked = (): void => {}
  const isBlocked = new Promise<void>(resolve => { blocked = resolve })
  let sent = 0
  const agent = await nodeAgent(t, {
    upgrade: (request, socket, head) => {
      running(2, (spdy, [, out = 0]) => {
        const more = (): void => {
          while (!socket.writableNeedDrain && sent < 200_000_000) {
            spdy.data(out, Buffer.alloc(65_536))
            sent += 65_536
          }
          socket.once('drain', more)
          setTimeout(() => { if (socket.writableNeedDrain) blocked() }, 300).unref()
        }
        more()
      })(request, socket, head)
    }
  })
  const server = await serve(t, agent)
  const command = await open(t, server.port, 'web/exec?command=yes&stdout=true')
  command.socket.pause()
  await isBlocked
  t.ok(sent < 100_000_000, `${sent} bytes`)
})

t.test('an idle command is kept open by pings of the agent', async t => {
  let pinged = (): void => {}
  const isPinged = new Promise<void>(resolve => { pinged = resolve })
  const agent = await nodeAgent(t, {
    upgrade: (request, socket, head) => {
      const spdy = accept(request, socket, head)
      const ids: number[] = []
      spdy.follow({
        opened: (order, id) => { ids[order] = id },
        data: () => {},
        pinged: () => {
          spdy.data(ids[1] ?? 0, 'awake')
          spdy.data(ids[0] ?? 0, SUCCESS, true)
          for (const id of ids.slice(1)) spdy.data(id, '', true)
          pinged()
        }
      })
    }
  })
  const server = await serve(t, agent)
  const command = await open(t, server.port, 'web/exec?command=sleep&stdout=true')
  await isPinged
  t.match(await command.outcome(), { status: 'Success' })
  t.equal(text(command.said, 1), 'awake')
})

t.test('a limited rate holds each translated stream back, and everything arrives', async t => {
  const TOTAL = 600_000
  let sent = 0
  let left = (): boolean => false
  const agent = await nodeAgent(t, {
    upgrade: (request, socket, head) => {
      running(2, (spdy, [errors = 0, out = 0]) => {
        left = () => socket.writableLength > 0 || sent < TOTAL
        const more = (): void => {
          while (!socket.writableNeedDrain && sent < TOTAL) {
            spdy.data(out, Buffer.alloc(20_000, 'x'))
            sent += 20_000
          }
          if (sent < TOTAL) {
            socket.once('drain', more)
            return
          }
          spdy.data(out, '', true)
          spdy.data(errors, SUCCESS, true)
        }
        more()
      })(request, socket, head)
    }
  })
  const server = await serve(t, agent, { limits: { connectionBytesPerSecond: 300_000 } })
  const command = await open(t, server.port, 'web/exec?command=yes&stdout=true')
  const bytes = (): number => (command.said.get(1) ?? []).reduce((sum, piece) => sum + piece.length, 0)
  while (bytes() === 0) await new Promise(resolve => { setTimeout(resolve, 5) })
  t.ok(bytes() < TOTAL, 'not all at once')
  t.match(await command.outcome(), { status: 'Success' })
  t.equal(bytes(), TOTAL)
  t.notOk(left())
})
