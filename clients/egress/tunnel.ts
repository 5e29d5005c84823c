/** Connections through a proxy, to servers that this machine may not reach directly. */
import { Duplex } from 'node:stream'

export interface TunnelTarget {
  /** A name, which the proxy resolves, or an address, without brackets. */
  readonly host: string
  readonly port: number
  /** Maximum milliseconds to connect. */
  readonly timeout: number
  /** Names caller and peer in errors. */
  readonly call: string
}

/** Connects. @throws ClientError 'Unreachable', 'Timeout', 'BadAnswer', 'Config' */
export type Tunnel = (target: TunnelTarget) => Promise<Duplex>

/** How far a connection got before it failed: to the proxy, or through it. */
export type Stage = 'connect' | 'proxy'

export interface StagedTarget extends TunnelTarget {
  /** Called when the proxy is reached. */
  readonly reached: () => void
}

/** `host:port`, with brackets around IPv6 addresses. */
export const addressOf = ({ host, port }: Pick<TunnelTarget, 'host' | 'port'>): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`

/** A stream with the socket methods that Node's HTTP clients call; none of them affects a tunnel. */
export abstract class TunnelStream extends Duplex {
  setNoDelay (): this { return this }
  setKeepAlive (): this { return this }
  setTimeout (): this { return this }
  ref (): this { return this }
  unref (): this { return this }
}

/** For TLS above it, which discards what its reader has not taken yet if the stream below closes by itself. */
export function underTls<T extends Duplex> (stream: T): T {
  stream.allowHalfOpen = true
  return stream
}
