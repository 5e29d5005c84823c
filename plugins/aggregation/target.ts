/** Where an extension server is: its address and the name in its certificate; and a request as it gets that. */
import { isIPv6 } from 'node:net'
import type { RemoteService } from '../../controllers/aggregation/registered-services.js'
import type { Tunnel } from '../../clients/egress/tunnel.js'
import type { OutgoingRequest } from '../../clients/outgoing.js'
import { apiVersionOf } from '../../schemas/groups.js'
import type { AdmissionReader } from '../../registry/admission.js'
import type { ReadyEndpoints } from '../../admission/webhooks/ready-endpoints.js'
import { serviceAddress } from '../../admission/webhooks/service-address.js'
import type { Outside, RemoteUser } from '../shared/outside.js'

export interface Routing {
  readonly reader: AdmissionReader
  /** Where to call an endpoint of a service instead of its address, `--enable-aggregator-routing`. */
  readonly endpoints?: ReadyEndpoints | undefined
  /** Connections to the cluster. Default direct. */
  readonly tunnel?: Tunnel | undefined
  readonly outside: Pick<Outside, 'host' | 'path' | 'query' | 'user'>
}

export interface Target extends Pick<OutgoingRequest, 'scheme' | 'host' | 'address' | 'port' | 'call' | 'tunnel'> {
  /** `host:port` of the address. */
  readonly authority: string
}

/** @throws StatusError if the service has no address */
export async function targetOf (
  { service }: RemoteService, { reader, endpoints, tunnel, outside }: Routing
): Promise<Target> {
  const { host: address, port } = await serviceAddress(reader, service, endpoints)
  const authority = `${isIPv6(address) ? `[${address}]` : address}:${port}`
  return { scheme: 'https', host: outside.host(service), address, port, call: authority, authority, tunnel }
}

/** `/apis/example.com/v1` */
export const discoveryPath = ({ group, version }: Pick<RemoteService, 'group' | 'version'>): string =>
  `/${group === '' ? 'api' : 'apis'}/${apiVersionOf(group, version)}`

/** A request under own names. */
export interface OwnRequest { readonly path: string, readonly query?: string, readonly user: RemoteUser }

/** The request as the extension server gets it. */
export const shownRequest = (
  { path, query = '', user }: OwnRequest, { outside }: Pick<Routing, 'outside'>
): Required<OwnRequest> =>
  ({ path: outside.path(path), query: outside.query(query, path), user: outside.user(user) })
