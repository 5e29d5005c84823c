/** EndpointSlice of discovery.orch.io/v1. */
import { map, one, string, list, type Static } from '../../language/declare.js'
import { parts } from './parts.js'
import { metadata } from '../../meta/object.js'
import { ObjectReference } from '../core/references.js'

export const API_VERSION = 'discovery.orch.io/v1'

const { kind, message, ...shared } = parts('v1')
export const { EndpointConditions, ForZone, ForNode, EndpointHints, EndpointPort } = shared

export type Endpoint = Static<typeof Endpoint>
export const Endpoint = message('Endpoint', 'One thing behind a service, usually a pod.', {
  addresses: list(1, 'Addresses of the endpoint, from 1 to 100.', 'string', {
    required: true, listType: 'set', holds: 'ip'
  }),
  conditions: one(2, 'Whether the endpoint may be sent traffic.', EndpointConditions),
  hostname: string(3, 'Host name of the endpoint, for DNS.', { pointer: true }),
  targetRef: one(4, 'Object the endpoint stands for, usually a pod.', ObjectReference, { pointer: true }),
  deprecatedTopology: map(5, 'Deprecated: topology labels left over from v1beta1; read-only.', 'string'),
  nodeName: string(6, 'Node the endpoint is on.', { pointer: true }),
  zone: string(7, 'Zone the endpoint is in.', { pointer: true }),
  hints: one(8, 'Zones whose clients should use the endpoint.', EndpointHints, {
    pointer: true, gate: 'TopologyAwareHints'
  })
})

export type EndpointSlice = Static<typeof EndpointSlice>
export const EndpointSlice = kind('EndpointSlice', 'Some of the endpoints of a service.', {
  metadata,
  addressType: string(4, 'Type of all addresses: IPv4, IPv6 or FQDN; does not change.', {
    required: true, immutable: true
  }),
  endpoints: list(2, 'Endpoints in the slice, at most 1000.', Endpoint, { required: true, listType: 'atomic' }),
  ports: list(3, 'Ports of every endpoint in the slice, at most 100.', EndpointPort, {
    written: true, listType: 'atomic'
  })
})
