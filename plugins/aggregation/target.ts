/** Where an extension server is: the address of its service, and the name in its certificate. */
import { isIPv6 } from 'node:net'
import type { RemoteService } from '../../controllers/aggregation/registered-services.js'
import type { Tunnel } from '../../clients/egress/tunnel.js'
import type { OutgoingRequest } from '../../clients/outgoing.js'
import type { Naming } from '../../schemas/naming.js'
import { apiVersionOf } from '../../schemas/groups.js'
import type { AdmissionReader } from '../../registry/admission.js'
import type { ReadyEndpoints } from '../../admission/webhooks/ready-endpoints.js'
import { serviceAddress } from '../../admission/webhooks/service-address.js'

export interface Routing {
  readonly reader: AdmissionReader
  /** Where to call an endpoint of a service instead of its address, `--enable-aggregator-routing`. */
  readonly endpoints?: ReadyEndpoints | undefined
  /** Connections to the cluster. Default direct. */
  readonly tunnel?: Tunnel | undefined
  /** Of extension servers. */
  readonly naming: Naming
}

export interface Target extends Pick<OutgoingRequest, 'scheme' | 'host' | 'address' | 'port' | 'call' | 'tunnel'> {
  /** `host:port` of the address. */
  readonly authority: string
}

/** @throws StatusError if the service has no address */
export async function targetOf (
  { service }: RemoteService, { reader, endpoints, tunnel, naming }: Routing
): Promise<Target> {
  const { host: address, port } = await serviceAddress(reader, service, endpoints)
  const authority = `${isIPv6(address) ? `[${address}]` : address}:${port}`
  return { scheme: 'https', host: naming.hostOf(service), address, port, call: authority, authority, tunnel }
}

/** `/apis/example.com/v1`, as the server calls it. */
export const discoveryPath = ({ group, version }: Pick<RemoteService, 'group' | 'version'>, naming: Naming): string =>
  naming.path(`/${group === '' ? 'api' : 'apis'}/${apiVersionOf(group, version)}`)
