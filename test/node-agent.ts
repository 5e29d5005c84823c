/**
 * A node agent for tests: HTTPS with certificates of its own, requests client certificates, and behaves as the test
 * says.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import type { Client, Json, Test } from './build.js'
import { authority } from './serving/authority.js'

export interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  /** Common name of the client's certificate. */
  readonly client: string | undefined
  readonly socket: Socket
}

export interface NodeAgent {
  readonly port: number
  /** Paths of files for the flags: the authority of its certificate, and a client certificate that it accepts. */
  readonly files: { readonly authority: string, readonly certificate: string, readonly key: string }
  readonly flags: readonly string[]
  /** Requests and upgrades, in order. */
  readonly asked: Asked[]
  /** The next request, or the first one not yet taken. */
  readonly next: () => Promise<Asked>
}

export interface Behaviour {
  readonly request?: (request: IncomingMessage, response: ServerResponse) => void
  readonly upgrade?: (request: IncomingMessage, socket: Socket, head: Buffer) => void
}

/** Accepts any protocol, and echoes what it receives until that ends. */
export function echo (request: IncomingMessage, socket: Socket, head: Buffer): void {
  socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ' +
    `${request.headers.upgrade}\r\nX-Stream-Protocol-Version: v4.channel.orch.io\r\n\r\n`
  )
  socket.on('error', () => {})
  if (head.length > 0) socket.unshift(head)
  socket.pipe(socket)
}

/** @param host where it listens; also the name in its certificate */
export async function nodeAgent (
  t: Test, { request = (_request, response) => { response.end('') }, upgrade = echo }: Behaviour, host = '127.0.0.1'
): Promise<NodeAgent> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-node-agent-'))
  const own = authority(`node agents ${randomUUID()}`)
  const clients = authority('clients of node agents')
  const serving = own.issue({ commonName: 'system:node:n', names: [host], uses: ['server'] })
  const shown = clients.issue({ commonName: 'orch-apiserver', uses: ['client'] })
  const files = {
    authority: join(folder, 'ca.crt'), certificate: join(folder, 'client.crt'), key: join(folder, 'client.key')
  }
  writeFileSync(files.authority, own.certificate)
  writeFileSync(files.certificate, shown.certificate)
  writeFileSync(files.key, shown.key, { mode: 0o600 })
  const asked: Asked[] = []
  let taken = 0
  let wake = (): void => {}
  const seen = (incoming: IncomingMessage): void => {
    const { subject } = (incoming.socket as TLSSocket).getPeerCertificate()
    asked.push({
      method: incoming.method ?? '',
      url: incoming.url ?? '',
      headers: incoming.headers,
      client: subject?.CN as string | undefined,
      socket: incoming.socket
    })
    wake()
  }
  const server = createServer({
    cert: serving.certificate, key: serving.key, ca: clients.certificate, requestCert: true, rejectUnauthorized: true
  })
  const sockets = new Set<Socket>()
  server.on('secureConnection', socket => { sockets.add(socket) })
  server.on('request', (incoming, response) => {
    seen(incoming)
    request(incoming, response)
  })
  server.on('upgrade', (incoming, socket: Socket, head) => {
    socket.on('error', () => {})
    seen(incoming)
    upgrade(incoming, socket, head)
  })
  server.listen(0, host)
  await once(server, 'listening')
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    port: (server.address() as AddressInfo).port,
    files,
    flags: [
      `--node-agent-certificate-authority=${files.authority}`, `--node-agent-client-certificate=${files.certificate}`,
      `--node-agent-client-key=${files.key}`, '--node-agent-preferred-address-types=InternalIP'
    ],
    asked,
    next: async () => {
      while (asked.length === taken) await new Promise<void>(resolve => { wake = resolve })
      return asked[taken++] as Asked // it is there
    }
  }
}

export const PODS = '/api/v1/namespaces/default/pods'

/** The node of an agent, and pods on it with one container or more. */
export async function withPod (
  server: Client, port: number,
  { name = 'web', containers = ['main'], node = 'n', address = '127.0.0.1', ...spec }: Json = {}
): Promise<Json> {
  if (node !== '' && (await server.get(`/api/v1/nodes/${node}`)).code === 404) {
    await server.post('/api/v1/nodes', { metadata: { name: node } })
    const status = await server.patch(`/api/v1/nodes/${node}/status`, {
      status: {
        addresses: [{ type: 'Hostname', address: 'nowhere.invalid' }, { type: 'InternalIP', address }],
        daemonEndpoints: { kubeletEndpoint: { Port: port } }
      }
    })
    if (status.code !== 200) throw new Error(status.body)
  }
  const { json, code, body } = await server.post(PODS, {
    metadata: { name },
    spec: {
      ...(node === '' ? {} : { nodeName: node }),
      containers: containers.map((one: string) => ({ name: one, image: 'i' })),
      ...spec
    }
  })
  if (code !== 201) throw new Error(body)
  return json
}

/** Options for an agent that a host's server calls on its own machine. */
export const callingAgent = ({ files }: { files: Partial<NodeAgent['files']> }): {
  nodeAgents: { files: Partial<NodeAgent['files']>, preferredAddressTypes: string[] }
  nearby: boolean
} => ({ nodeAgents: { files, preferredAddressTypes: ['InternalIP'] }, nearby: true })
