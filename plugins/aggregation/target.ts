/** Where an extension server is: the address of its service, and the name in its certificate. */
import { isIPv6 } from 'node:net'
import type { RemoteService } from '../../controllers/aggregation/registered-services.js'
import type { Tunnel } from '../../clients/egress/tunnel.js'
import type { OutgoingRequest } from '../../clients/outgoing.js'
import { publicHost, translatePath } from '../../schemas/compat/requests.js'
import { apiVersionOf } from '../../schemas/groups.js'
import type { AdmissionReader } from '../../registry/admission.js'
import { serviceAddress } from '../../admission/webhooks/service-address.js'

export interface Routing {
  readonly reader: AdmissionReader
  /** Calls an endpoint of a service instead of its address, `--enable-aggregator-routing`. */
  readonly toEndpoints: boolean
  /** Connections to the cluster. Default direct. */
  readonly tunnel?: Tunnel | undefined
  /** Extension servers are called under the public project's names. */
  readonly publicNames: boolean
}

export interface Target extends Pick<OutgoingRequest, 'scheme' | 'host' | 'address' | 'port' | 'call' | 'tunnel'> {
  /** `host:port` of the address. */
  readonly authority: string
}

/** @throws StatusError if the service has no address */
export async function targetOf ({ service }: RemoteService, { reader, toEndpoints, tunnel, publicNames }: Routing): Promise<Target> {
  const { host: address, port } = await serviceAddress(reader, service, toEndpoints)
  const authority = `${isIPv6(address) ? `[${address}]` : address}:${port}`
  const host = publicNames ? publicHost(service) : `${service.name}.${service.namespace}.svc`
  return { scheme: 'https', host, address, port, call: authority, authority, tunnel }
}

/** `/apis/example.com/v1`, as the server calls it. */
export function discoveryPath ({ group, version }: Pick<RemoteService, 'group' | 'version'>, publicNames: boolean): string {
  const path = `/${group === '' ? 'api' : 'apis'}/${apiVersionOf(group, version)}`
  return publicNames ? translatePath(path) : path
}
