/**
 * Kept connections to extension servers, one pool for each APIService and client certificate. Idle ones are closed when
 * either changes.
 */
import { Agent } from 'node:https'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { CertificatePair } from '../../clients/client-certificate.js'
import type { RemoteService } from '../../controllers/aggregation/registered-services.js'

const MAX_IDLE = 8
/** Shorter than what servers keep idle connections, so that a request seldom meets one that is being closed. */
const IDLE_MS = 4000

export interface Pool { readonly agent: Agent, readonly secureContext: SecureContext }

interface PoolOfService extends Pool { readonly remote: RemoteService, readonly pair: CertificatePair }

export class Pools {
  readonly #pools = new Map<string, PoolOfService>()

  /** @throws Error for a CA bundle that TLS rejects */
  of (remote: RemoteService, pair: CertificatePair): Pool {
    const known = this.#pools.get(remote.name)
    if (known !== undefined && known.remote === remote && known.pair === pair) return known
    this.retire(remote.name)
    const pool = {
      remote, pair, secureContext: contextOf(remote, pair),
      agent: new Agent({ keepAlive: true, maxFreeSockets: MAX_IDLE, timeout: IDLE_MS })
    }
    this.#pools.set(remote.name, pool)
    return pool
  }

  /** Closes idle connections; others when their requests have ended. */
  retire (name: string): void {
    const pool = this.#pools.get(name)
    if (pool === undefined) return
    this.#pools.delete(name)
    const { agent } = pool
    agent.maxFreeSockets = 0
    for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
  }

  close (): void {
    for (const { agent } of this.#pools.values()) agent.destroy()
    this.#pools.clear()
  }
}

/** An empty list skips loading the platform's CAs, which is slow. */
const contextOf = ({ authority, insecure }: RemoteService, pair: CertificatePair): SecureContext =>
  createSecureContext({
    ...(insecure ? { ca: [] } : authority === undefined ? {} : { ca: authority }), cert: pair.cert, key: pair.key
  })
