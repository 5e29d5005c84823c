/**
 * A small TCP balancer. It gives new connections in turn to the servers whose /readyz is ok, and leaves open ones where
 * they are. TLS is between client and server, so client certificates work through it.
 */
import { once } from 'node:events'
import { Agent, request } from 'node:https'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export interface Target {
  readonly host: string
  readonly port: number
  /** Verifies the server's certificate when /readyz is requested. */
  readonly ca: string
}

/** Milliseconds between two health checks of a server, and until a check or a connection counts as failed. */
const CHECK_MS = 100
const TIMEOUT_MS = 2000

export class Balancer {
  readonly port: number
  readonly #server: Server
  readonly #checks: NodeJS.Timeout
  readonly #sockets = new Set<Socket>()
  readonly #ready = new Map<Target, boolean>()
  /** One connection for all checks of a server: handshakes would cost both sides more than the answers. */
  readonly #agent = new Agent({ keepAlive: true })
  #turn = 0

  private constructor (server: Server) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port // it listens on a port
    server.on('connection', client => { this.#connect(client.on('error', () => {}), this.#candidates()) })
    this.#checks = setInterval(() => { for (const target of this.#ready.keys()) this.#check(target) }, CHECK_MS)
  }

  /** @throws Error if it can't listen there */
  static async listening (host = '127.0.0.1', port = 0): Promise<Balancer> {
    const server = createServer({ allowHalfOpen: true, noDelay: true }).listen(port, host)
    await once(server, 'listening')
    return new Balancer(server)
  }

  add (target: Target): void { this.#ready.set(target, true) }
  remove (target: Target): void { this.#ready.delete(target) }

  close (): void {
    clearInterval(this.#checks)
    this.#agent.destroy()
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  /** The servers that are ready, or all if none is, the one whose turn it is first. */
  #candidates (): Target[] {
    const known = [...this.#ready]
    const ready = known.some(([, is]) => is)
      ? known.filter(([, is]) => is).map(([target]) => target)
      : [...this.#ready.keys()]
    const first = ready.length === 0 ? 0 : this.#turn++ % ready.length
    return [...ready.slice(first), ...ready.slice(0, first)]
  }

  /** Connects the client to the first server that accepts. */
  #connect (client: Socket, [target, ...others]: Target[]): void {
    if (target === undefined || client.destroyed) {
      client.destroy()
      return
    }
    const server = connect({
      port: target.port, host: target.host, allowHalfOpen: true, noDelay: true, timeout: TIMEOUT_MS
    })
    const failed = (): void => {
      server.destroy()
      this.#connect(client, others)
    }
    server.once('error', failed).once('timeout', failed)
    server.once('connect', () => {
      server.off('error', failed).off('timeout', failed).setTimeout(0)
      this.#join(client, server)
      client.pipe(server)
      server.pipe(client)
    })
  }

  #join (client: Socket, server: Socket): void {
    for (const [one, other] of [[client, server], [server, client]] as const) {
      this.#sockets.add(one)
      one.on('error', () => { other.destroy() })
      one.once('close', () => {
        this.#sockets.delete(one)
        if (!one.readableEnded) other.destroy()
      })
    }
  }

  #check (target: Target): void {
    const setReady = (ready: boolean): void => { if (this.#ready.has(target)) this.#ready.set(target, ready) }
    const { host, port, ca } = target
    const sent = request({ host, port, ca, path: '/readyz', agent: this.#agent, timeout: TIMEOUT_MS }, response => {
      response.resume()
      setReady(response.statusCode === 200)
    })
    sent.on('error', () => { setReady(false) }).on('timeout', () => { sent.destroy(new Error('no answer in time')) })
    sent.end()
  }
}
