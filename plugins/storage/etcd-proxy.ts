/** Reaches etcd through the proxy of its egress selection. */
import { withoutBrackets } from '../../clients/tunnel.js'
import type { Tunnel, TunnelTarget } from '../../clients/egress/tunnel.js'
import type { Backend } from '../../storage/backend.js'
import type { BackendOptions } from '../../storage/open.js'

interface Egress {
  readonly etcd?: Tunnel | undefined
  readonly relay: (tunnel: Tunnel, target: TunnelTarget) => Promise<string>
}

/** Milliseconds to connect to etcd through a proxy. */
const CONNECT_TIMEOUT = 3000

/** Options that connect to etcd through its proxy, if there is one. */
export async function throughProxy<Options extends BackendOptions | Backend> (
  storage: Options, { etcd, relay }: Egress
): Promise<Options> {
  if (etcd === undefined || !('servers' in storage)) return storage
  const servers = new Set([...storage.servers, ...Object.values(storage.overrides ?? {}).flat()])
  const sockets: Record<string, string> = {}
  for (const server of servers) {
    const { protocol, hostname, port } = new URL(server.includes('://') ? server : `http://${server}`)
    const host = withoutBrackets(hostname)
    const target = { host, port: Number(port || (protocol === 'https:' ? 443 : 80)), timeout: CONNECT_TIMEOUT }
    sockets[server] = await relay(etcd, { ...target, call: `etcd ${server}` })
  }
  return { ...storage, sockets }
}
