/** `fastify.orch` of a host: the servers that are registered in its scope. */
import type { FastifyInstance } from 'fastify'
import { loadedServer, type Whole } from '../plugins/shared/plugin.js'
import { clientOf } from './client.js'
import type { Orch, OwnClient } from './contract.js'

declare module 'fastify' {
  /** Of the scope in which a server is registered, and those within. */
  interface FastifyInstance { orch: Orch }
}

/** Milliseconds between two questions whether the server is ready. */
const READY_EVERY = 10

class Hosted {
  readonly client: OwnClient
  readonly #fastify: Whole

  constructor (fastify: Whole) {
    this.#fastify = fastify
    this.client = clientOf(fastify)
  }

  async ready (): Promise<void> {
    const { orchHealth: health, orchShutdown: { signal } } = this.#fastify
    while (!await health.ready()) {
      if (signal.aborted) throw new Error('the server was closed before it was ready')
      await new Promise(resolve => { setTimeout(resolve, READY_EVERY) })
    }
  }
}

class HostedServers implements Orch {
  readonly #byPrefix = new Map<string, Hosted>()

  get client (): OwnClient { return this.#only().client }
  async ready (): Promise<void> { await this.#only().ready() }

  at (prefix: string): Hosted {
    const hosted = this.#byPrefix.get(prefix)
    if (hosted === undefined) throw new TypeError(`no server is registered at ${prefix}: ${this.#names()}`)
    return hosted
  }

  add (prefix: string, server: Hosted): void { this.#byPrefix.set(prefix, server) }

  #only (): Hosted {
    const [first, ...others] = this.#byPrefix.values()
    if (first !== undefined && others.length === 0) return first
    throw new TypeError(`several servers are registered here, choose one: ${this.#names()}`)
  }

  #names (): string { return [...this.#byPrefix.keys()].map(prefix => `at(${JSON.stringify(prefix)})`).join(', ') }
}

/**
 * @param host where the server is registered, and what it decorates
 * @param server its own scope
 */
export function decorateHost (host: FastifyInstance, prefix: string, server: FastifyInstance): void {
  if (!Object.hasOwn(host, 'orch')) host.decorate('orch', new HostedServers())
  const servers = host.orch as HostedServers // decorated just now, or for another server
  servers.add(prefix, new Hosted(loadedServer(server)))
}
