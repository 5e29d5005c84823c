/** Tunnels to each kind of destination that has a proxy. */
import { ClientError } from '../errors.js'
import { TlsFiles, type TlsFilePaths } from '../tls-files.js'
import { openTunnel, proxyAt } from '../tunnel.js'
import { addressOf, type Stage, type StagedTarget, type Tunnel } from './tunnel.js'

/** A proxy: at a URL or a Unix domain socket with CONNECT, or at a socket with gRPC. */
export type EgressProxy =
  | {
    readonly protocol: 'HTTPConnect', readonly url: string, /** Paths of PEM files, for https. */ readonly files?: Omit<
      TlsFilePaths, 'system'
    >
  }
  | { readonly protocol: 'HTTPConnect' | 'GRPC', readonly socket: string }

export const DESTINATIONS = ['cluster', 'controlPlane', 'etcd'] as const
export type Destination = (typeof DESTINATIONS)[number]

/** Destinations without a proxy are connected to directly. */
export type EgressOptions = { readonly [K in Destination]?: EgressProxy }
export type Egress = { readonly [K in Destination]?: Tunnel }

export interface EgressObserver {
  /** Called after each attempt to connect, with its seconds or the stage at which it failed. */
  readonly dialled: (
    proxy: { readonly protocol: 'http_connect' | 'grpc', readonly transport: 'tcp' | 'uds' }, outcome: number | Stage
  ) => void
}

export function openEgress (options: EgressOptions, observer: EgressObserver): Egress {
  return Object.fromEntries(DESTINATIONS.flatMap(destination => {
    const proxy = options[destination]
    return proxy === undefined ? [] : [[destination, observed(proxy, dialler(proxy), observer)]]
  }))
}

type Dialler = (target: StagedTarget) => ReturnType<Tunnel>

function observed (proxy: EgressProxy, dial: Dialler, { dialled }: EgressObserver): Tunnel {
  const kind = {
    protocol: proxy.protocol === 'GRPC'
      ? 'grpc'
      : 'http_connect', transport: 'socket' in proxy ? 'uds' : 'tcp'
  } as const
  return async target => {
    const since = performance.now()
    let stage: Stage = 'connect'
    try {
      const connection = await dial({ ...target, reached: () => { stage = 'proxy' } })
      dialled(kind, (performance.now() - since) / 1000)
      return connection
    } catch (error) {
      dialled(kind, stage)
      throw error
    }
  }
}

function dialler (proxy: EgressProxy): Dialler {
  if (proxy.protocol === 'GRPC') {
    return async target => {
      const { dialByGrpc } = await import('./grpc.js')
      return await dialByGrpc(proxy.socket, target)
    }
  }
  const connect = ({ host, port, ...target }: StagedTarget) =>
    ({ ...target, target: addressOf({ host, port }), serverFirst: true })
  if ('socket' in proxy) {
    return target =>
      openTunnel({ name: proxy.socket, secure: false, place: { socketPath: proxy.socket } }, connect(target))
  }
  const { files = {} } = proxy
  const at = proxyAt(new URL(proxy.url))
  if (!at.secure) return target => openTunnel(at, connect(target))
  const certificates = new TlsFiles({ ...files, system: true })
  return async target => {
    const secureContext = await certificates.current().catch((cause: unknown) => {
      throw new ClientError(
        'Config',
        `${target.call}: through the proxy ${at.name}: ${cause instanceof Error ? cause.message : String(cause)}`,
        { cause }
      )
    })
    return await openTunnel({ ...at, secureContext }, connect(target))
  }
}
