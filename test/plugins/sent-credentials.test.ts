/** Credentials as sent: headers that HTTP parsers drop make nobody anonymous, as far as that can be known. */
import t from 'tap'
import { createServer, type ServerOptions as Http2Options } from 'node:http2'
import { connect, type AddressInfo } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { once } from 'node:events'
import { losesFields } from '../../serving/runtime.js'
import { BINDINGS, listen, type Test } from '../build.js'
import { field, frame, getHttp2, PREFACE } from '../serving/bare-listener.js'
import { serve } from '../secure-server.js'

const TOKENS = 'abc,ann,u1\n'

/** Responses of a whole server to these header lines over HTTP/1.1, and to these fields over HTTP/2. */
async function servers (
  t: Parameters<typeof serve>[0] & Test
): Promise<{
  http1: (...lines: string[]) => Promise<number>
  http2: (...fields: Array<[string, string]>) => Promise<string>
}> {
  const plain = await listen(t, { authentication: { tokens: TOKENS } })
  const secure = await serve(t, { authentication: { tokens: TOKENS } })
  return {
    http1: async (...lines) => {
      const socket = connect({ port: plain.port, host: '127.0.0.1' })
      t.teardown(() => socket.destroy())
      socket.write(
        `GET ${BINDINGS} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines.map(line => `${line}\r\n`).join('')}\r\n`
      )
      let answer = ''
      for await (const piece of socket) answer += String(piece)
      return Number(answer.split(' ')[1])
    },
    http2: async (...fields) => {
      const socket = connectTls({
        port: secure.port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2']
      })
      socket.on('error', () => {})
      t.teardown(() => socket.destroy())
      await once(socket, 'secureConnect')
      socket.write(Buffer.concat([
        PREFACE, getHttp2(1, BINDINGS, ...fields.map(([name, value]) => field(name, value)))
      ]))
      return await statusOf(socket)
    }
  }
}

const DATA = 0
const RESET = 3

/** What the client of a single request gets: the kind of a Status, else the kind of the response, or 'reset'. */
async function statusOf (socket: AsyncIterable<unknown>): Promise<string> {
  let left = Buffer.alloc(0)
  for await (const bytes of socket) {
    left = Buffer.concat([left, bytes as Buffer])
    while (left.length >= 9 && left.length >= 9 + left.readUIntBE(0, 3)) {
      const length = left.readUIntBE(0, 3)
      const [type, body] = [left[3], left.subarray(9, 9 + length)]
      left = left.subarray(9 + length)
      if (type === RESET) return 'reset'
      if (type === DATA && length > 0) {
        const { kind, code } = JSON.parse(body.toString()) as { kind: string, code?: number }
        return code === undefined ? kind : String(code)
      }
    }
  }
  return 'nothing'
}

t.test('a token beside another Authorization header is not overlooked', async t => {
  const { http1, http2 } = await servers(t)
  for (const [values, code] of [
    [['Bearer nope'], 401], [['Basic eDp5'], 200], [['Basic eDp5', 'Bearer nope'], 401],
    [['Basic eDp5', 'Bearer abc'], 401], [['', 'bearer nope'], 401],
    [['Bearer abc', 'Bearer nope'], 200], [['Bearer abc'], 200], [[], 200], [['Basic eDp5', 'Negotiate x'], 200]
  ] as const) {
    const title = values.join(', ')
    t.equal(
      await http1(...values.map((value, at) => `${at === 0 ? 'Authorization' : 'AUTHORIZATION'}: ${value}`)), code,
      title
    )
    t.equal(
      await http2(...values.map((value): [string, string] => ['authorization', value])),
      code === 200 ? 'ClusterRoleBindingList' : '401', title
    )
  }
})

t.test('nor is one among the subprotocols of a WebSocket', async t => {
  const { http1 } = await servers(t)
  for (const value of [
    'base64url.bearer.authorization.orch.io.YWJj', 'v4.channel.orch.io, base64url.bearer.authorization.orch.io.YWJj'
  ]) {
    t.equal(await http1(`Sec-WebSocket-Protocol: ${value}`), 401, value)
  }
  t.equal(await http1('Sec-WebSocket-Protocol: v4.channel.orch.io'), 200)
})

t.test('nor is one behind more headers than a host\'s server keeps', async t => {
  const { http1 } = await servers(t)
  const headers = (count: number): string[] => Array.from({ length: count }, () => 'a: b')
  t.equal(await http1(...headers(500), 'Authorization: Bearer nope'), 401)
  const many = await http1(...headers(1500), 'Authorization: Bearer nope')
  t.ok([401, 431].includes(many), `${many}: later versions of Node refuse so many themselves`)
  t.equal(await http1(...headers(900)), 200)
})

t.test('blanks around a token are no part of it', async t => {
  const { http1 } = await servers(t)
  t.equal(await http1('Authorization: Bearer n\x01pe'), 400)
  for (const blank of [' ', '\t', '  ']) {
    t.equal(await http1(`Authorization: Bearer nope${blank}`), 401)
    t.equal(await http1(`Authorization:${blank}Bearer abc${blank}`), 200)
  }
})

/** Whether this Node can be configured to keep headers with blanks around their value. */
async function keepsBlanks (t: Test): Promise<boolean> {
  const options: Http2Options & { strictFieldWhitespaceValidation: boolean } = {
    strictFieldWhitespaceValidation: false
  }
  const server = createServer(options)
  const asked = once(server, 'stream') as Promise<[{ destroy: () => void }, Record<string, unknown>]>
  await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => server.close())
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.write(Buffer.concat([PREFACE, getHttp2(1, '/', field('x', 'y ')), frame(7, 0, 0, Buffer.alloc(8))]))
  const [stream, headers] = await asked
  stream.destroy()
  socket.destroy()
  return headers['x'] !== undefined
}

t.test('HTTP/2 too, where Node can keep such header fields; those its library drops count as not sent', async t => {
  const { http2 } = await servers(t)
  const keeps = await keepsBlanks(t)
  t.equal(losesFields(process.versions.node), !keeps, 'as the start says')
  const unknown = keeps ? '401' : 'ClusterRoleBindingList'
  t.equal(await http2(['authorization', 'Bearer nope']), '401')
  t.equal(await http2(['authorization', 'Bearer nope ']), unknown)
  t.equal(await http2(['authorization', 'Bearer abc ']), 'ClusterRoleBindingList')
  t.equal(await http2(['authorization', 'Bearer n\x01pe']), 'ClusterRoleBindingList', 'left out by every version')
  t.equal(await http2(['Authorization', 'Bearer nope']), 'reset', 'a name that HTTP/2 does not have')
  t.equal(
    await http2(...Array.from({ length: 250 }, (_, at): [string, string] => [`x-${at}`, 'y']), [
      'authorization', 'Bearer nope'
    ]),
    'reset',
    'more headers than are kept'
  )
})
