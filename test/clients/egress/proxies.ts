/** Proxies between the server and its destinations: CONNECT over TCP, TLS and a socket, and gRPC over a socket. */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttp, type IncomingMessage, type Server } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Server as GrpcServer, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import type { EgressProxy } from '../../../clients/egress/index.js'
import type { Test } from '../../build.js'
import { authority } from '../../serving/authority.js'

export interface Proxy {
  /** The proxy as an option of the server. */
  readonly proxy: EgressProxy
  /** The proxy as a connection in a configuration file. */
  readonly connection: object
  /** Requested addresses, as written. */
  readonly asked: string[]
  /** Number of open connections through it. */
  readonly open: () => number
  /** Ports by name, for names that only the proxy can resolve. */
  readonly names: Map<string, number>
  /** True refuses all new connections. */
  refuse: boolean
  readonly stop: () => void
}

const own = authority('authority of proxies')
const clients = authority('clients of proxies')

function scratch (t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'orch-proxy-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  return folder
}

interface State extends Pick<Proxy, 'asked' | 'names'> { refuse: boolean, readonly sockets: Set<Socket> }

/** Connects to the test's server for the address. */
function dial (state: State, address: string): Socket | undefined {
  state.asked.push(address)
  if (state.refuse) return undefined
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(address) ?? []
  const known =
    state.names.get(address) ?? (/^(?:127\.0\.0\.1|localhost|\[::1\])$/.test(host) ? Number(port) : undefined)
  if (known === undefined) return undefined
  const socket = connect({ port: known, host: '127.0.0.1', allowHalfOpen: true })
  state.sockets.add(socket)
  socket.once('close', () => state.sockets.delete(socket))
  return socket
}

function made (t: Test, state: State, proxy: EgressProxy, connection: object, end: () => void): Proxy {
  const stop = (): void => {
    for (const socket of state.sockets) socket.destroy()
    end()
  }
  t.teardown(stop)
  return Object.defineProperties({
    proxy, connection, asked: state.asked, names: state.names, open: () => state.sockets.size, stop
  } as unknown as Proxy, {
    refuse: { get: () => state.refuse, set: (value: boolean) => { state.refuse = value } }
  })
}

const fresh = (): State => ({ asked: [], names: new Map(), refuse: false, sockets: new Set() })

function connecting (server: Server, state: State): () => void {
  const accepted = new Set<Socket>()
  server.on('connection', socket => {
    accepted.add(socket)
    socket.once('close', () => accepted.delete(socket))
  })
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    client.on('error', () => {})
    const peer = dial(state, request.url ?? '')
    if (peer === undefined) {
      client.end('HTTP/1.1 503 Service Unavailable\r\n\r\n')
      return
    }
    peer.on('error', () => { client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n') })
    peer.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      client.pipe(peer)
      peer.pipe(client)
      client.once('close', () => peer.destroy())
      peer.once('close', () => client.destroy())
    })
  })
  return () => {
    server.close()
    for (const socket of accepted) socket.destroy()
  }
}

export async function httpProxy (t: Test): Promise<Proxy> {
  const state = fresh()
  const server = createHttp()
  const end = connecting(server, state)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return made(
    t, state, { protocol: 'HTTPConnect', url }, { proxyProtocol: 'HTTPConnect', transport: { tcp: { url } } }, end
  )
}

/** Accepts only clients with a certificate. */
export async function httpsProxy (t: Test): Promise<Proxy> {
  const state = fresh()
  const folder = scratch(t)
  const pair = own.issue({ commonName: 'proxy', names: ['localhost'], uses: ['server'] })
  const shown = clients.issue({ commonName: 'orch-apiserver', uses: ['client'] })
  const server = createHttps({
    cert: pair.certificate, key: pair.key, ca: clients.certificate, requestCert: true, rejectUnauthorized: true
  })
  const end = connecting(server, state)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `https://localhost:${(server.address() as AddressInfo).port}`
  const files = {
    authority: join(folder, 'ca.crt'), certificate: join(folder, 'client.crt'), key: join(folder, 'client.key')
  }
  writeFileSync(files.authority, own.certificate)
  writeFileSync(files.certificate, shown.certificate)
  writeFileSync(files.key, shown.key)
  return made(
    t,
    state,
    { protocol: 'HTTPConnect', url, files },
    {
      proxyProtocol: 'HTTPConnect',
      transport: {
        tcp: { url, tlsConfig: { caBundle: files.authority, clientCert: files.certificate, clientKey: files.key } }
      }
    },
    end
  )
}

export async function socketProxy (t: Test): Promise<Proxy> {
  const state = fresh()
  const socket = join(scratch(t), 'proxy.sock')
  const server = createHttp()
  const end = connecting(server, state)
  server.listen(socket)
  await once(server, 'listening')
  return made(
    t, state, { protocol: 'HTTPConnect', socket },
    { proxyProtocol: 'HTTPConnect', transport: { uds: { udsName: socket } } }, end
  )
}

/** Upstream's protocol, restated from its facts. */
const { root } = protobuf.parse(`
  syntax = "proto3";
  enum PacketType { DIAL_REQ = 0; DIAL_RSP = 1; CLOSE_REQ = 2; CLOSE_RSP = 3; DATA = 4; DIAL_CLS = 5; }
  message Packet {
    PacketType type = 1;
    oneof payload {
      DialRequest dialRequest = 2; DialResponse dialResponse = 3; Data data = 4;
      CloseRequest closeRequest = 5; CloseResponse closeResponse = 6; CloseDial closeDial = 7;
    }
  }
  message DialRequest { string protocol = 1; string address = 2; int64 random = 3; }
  message DialResponse { string error = 1; int64 connectID = 2; int64 random = 3; }
  message CloseRequest { int64 connectID = 1; }
  message CloseResponse { string error = 1; int64 connectID = 2; }
  message CloseDial { int64 random = 1; }
  message Data { int64 connectID = 1; string error = 2; bytes data = 3; }
`, { keepCase: true })
const Packet = root.lookupType('Packet')
interface Said {
  type: number
  dialRequest?: { protocol: string, address: string, random: unknown }
  data?: { data: Buffer }
  closeRequest?: object
}

let connections = 0

export async function grpcProxy (t: Test): Promise<Proxy> {
  const state = fresh()
  const socket = join(scratch(t), 'proxy.sock')
  const server = new GrpcServer()
  server.addService({
    Proxy: {
      path: '/ProxyService/Proxy',
      requestStream: true,
      responseStream: true,
      requestSerialize: (value: object) => Buffer.from(Packet.encode(value).finish()),
      requestDeserialize: (bytes: Buffer) => Packet.decode(bytes) as unknown as Said,
      responseSerialize: (value: object) => Buffer.from(Packet.encode(value).finish()),
      responseDeserialize: (bytes: Buffer) => Packet.decode(bytes)
    }
  }, {
    Proxy: (stream: ServerDuplexStream<Said, object>) => {
      const connectID = ++connections
      let peer: Socket | undefined
      // Several packets at a time, as upstream's under load: the last bytes of a connection come together with its end.
      const late: object[] = []
      const send = (packet: object): boolean => {
        const flush = (): void => { if (late.splice(0).map(each => stream.write(each)).at(-1) === true) peer?.resume() }
        if (late.push(packet) === 1) setTimeout(flush, 10)
        return late.length < 10
      }
      stream.on('error', () => {})
      stream.on('data', ({ type, dialRequest, data }: Said) => {
        if (type === 0 && dialRequest !== undefined) {
          const { random } = dialRequest
          peer = dialRequest.protocol === 'tcp' ? dial(state, dialRequest.address) : undefined
          const refused = (error: string): void => { stream.write({ type: 1, dialResponse: { error, random } }) }
          if (peer === undefined) return refused('no such address')
          peer.once('error', ({ message }) => { refused(message) })
          peer.once('connect', () => { stream.write({ type: 1, dialResponse: { connectID, random } }) })
          peer.on('data', chunk => { if (!send({ type: 4, data: { connectID, data: chunk } })) peer?.pause() })
          stream.on('drain', () => peer?.resume())
          peer.once('end', () => { send({ type: 3, closeResponse: { connectID } }) })
        } else if (type === 4 && data !== undefined) {
          if (peer?.write(data.data) === false) {
            stream.pause()
            peer.once('drain', () => { stream.resume() })
          }
        } else if (type === 2) {
          peer?.destroy()
          stream.write({ type: 3, closeResponse: { connectID } })
        }
      })
      stream.on('end', () => {
        peer?.destroy()
        stream.end()
      })
      stream.on('cancelled', () => { peer?.destroy() })
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), error => {
      if (error === null) resolve(); else reject(error)
    })
  })
  return made(
    t, state, { protocol: 'GRPC', socket }, { proxyProtocol: 'GRPC', transport: { uds: { udsName: socket } } },
    () => { server.forceShutdown() }
  )
}

export const PROXIES = {
  'CONNECT over TCP': httpProxy,
  'CONNECT over TLS': httpsProxy,
  'CONNECT at a socket': socketProxy,
  'gRPC at a socket': grpcProxy
} as const
