/** A TCP balancer as small as they come: new connections go in turn to the servers that are ready, open ones stay where they are. */
import { once } from 'node:events'
import { request } from 'node:https'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** Milliseconds between two looks at a server. */
const LOOK_MS = 100

export class Balancer {
  readonly port: number
  readonly #server: Server
  readonly #looking: NodeJS.Timeout
  readonly #sockets = new Set<Socket>()
  /** By port, whether it is ready. */
  readonly #ready = new Map<number, boolean>()
  #turn = 0

  private constructor (server: Server) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    server.on('connection', client => { this.#connect(client, this.#chosen()) })
    this.#looking = setInterval(() => { for (const port of this.#ready.keys()) this.#look(port) }, LOOK_MS)
  }

  static async listening (): Promise<Balancer> {
    const server = createServer({ allowHalfOpen: true, noDelay: true }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new Balancer(server)
  }

  /** From now on this server is looked at. */
  add (port: number): void { this.#ready.set(port, true) }
  remove (port: number): void { this.#ready.delete(port) }

  close (): void {
    clearInterval(this.#looking)
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Those that are ready, all where none is, the one whose turn it is first. */
  #chosen (): number[] {
    const known = [...this.#ready]
    const ready = known.some(([, is]) => is) ? known.filter(([, is]) => is).map(([port]) => port) : [...this.#ready.keys()]
    const first = ready.length === 0 ? 0 : this.#turn++ % ready.length
    return [...ready.slice(first), ...ready.slice(0, first)]
  }

  /** To the first of them that takes it. */
  #connect (client: Socket, [port, ...others]: number[]): void {
    if (port === undefined) {
      client.destroy()
      return
    }
    const server = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    server.once('connect', () => {
      this.#pair(client, server)
      client.pipe(server)
      server.pipe(client)
    })
    const failed = (): void => { this.#connect(client, others) }
    server.once('error', failed)
    server.once('connect', () => { server.off('error', failed) })
  }

  #pair (client: Socket, server: Socket): void {
    for (const [one, other] of [[client, server], [server, client]] as const) {
      this.#sockets.add(one)
      one.on('error', () => { other.destroy() })
      one.once('close', () => { this.#sockets.delete(one) })
    }
  }

  #look (port: number): void {
    const told = (is: boolean): void => { if (this.#ready.has(port)) this.#ready.set(port, is) }
    const asked = request({ port, host: '127.0.0.1', path: '/readyz', rejectUnauthorized: false, agent: false }, response => {
      response.resume()
      told(response.statusCode === 200)
    })
    asked.on('error', () => { told(false) })
    asked.end()
  }
}
