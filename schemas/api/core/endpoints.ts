/** Endpoints (v1): the addresses of a service's pods. */
import { age, firstThree, name, NONE, text, type Column } from '../../columns.js'
import { int32, one, string, list, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { ObjectReference } from './references.js'
import { resource } from '../../resource.js'
import { validateEndpointAddress, validateSubset } from './rules/endpoints.js'
import { kind, message } from './package.js'

export type EndpointAddress = Static<typeof EndpointAddress>
export const EndpointAddress = message('EndpointAddress', 'One address behind a service.', {
  ip: string(1, 'IP address, neither loopback nor link-local.', { required: true, mayBeEmpty: true, holds: 'ip' }),
  hostname: string(3, 'Host name of the endpoint.'),
  nodeName: string(4, 'Node the endpoint is on.', { pointer: true }),
  targetRef: one(2, 'Object that has the address, usually a pod.', ObjectReference, { pointer: true })
}, { structType: 'atomic', validate: (address, at, report) => { validateEndpointAddress(address, at, report) } })

export type EndpointPort = Static<typeof EndpointPort>
export const EndpointPort = message('EndpointPort', 'One port of the addresses behind a service.', {
  name: string(1, 'Name of the port, as in the service.'),
  port: int32(2, 'Number of the port.', { required: true }),
  protocol: string(3, 'Transport protocol: TCP, UDP or SCTP; by default TCP.', {
    values: ['TCP', 'UDP', 'SCTP'], closed: true
  }),
  appProtocol: string(4, 'Application protocol of the port, such as http or https.', { pointer: true })
}, { structType: 'atomic' })

export type EndpointSubset = Static<typeof EndpointSubset>
export const EndpointSubset = message('EndpointSubset', 'Addresses that share the same set of ports.', {
  addresses: list(1, 'Addresses that are ready for traffic.', EndpointAddress),
  notReadyAddresses: list(2, 'Addresses that are not ready for traffic.', EndpointAddress),
  ports: list(3, 'Ports available at the addresses.', EndpointPort)
}, { validate: (subset, at, report) => { validateSubset(subset, at, report) } })

export type Endpoints = Static<typeof Endpoints>
export const Endpoints = kind('Endpoints', 'Addresses and ports of what stands behind a service.', {
  metadata,
  subsets: list(2, 'Addresses grouped by the ports they offer.', EndpointSubset)
}, {
  defaults: ({ subsets = [] }) => {
    for (const { ports = [] } of subsets) for (const port of ports) port.protocol ??= 'TCP'
  }
})

const withPort = (ip: string, port: number): string => ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`

/** Ready addresses with each port; without ports, the addresses. A generator, because there may be millions. */
function * addressesOf (subsets: readonly EndpointSubset[]): Generator<string> {
  for (const { addresses = [], ports = [] } of subsets) {
    if (ports.length === 0) for (const { ip } of addresses) yield ip
    for (const { port } of ports) for (const { ip } of addresses) yield withPort(ip, port)
  }
}

const countOf = (subsets: readonly EndpointSubset[]): number =>
  subsets.reduce((sum, { addresses = [], ports = [] }) => sum + addresses.length * Math.max(1, ports.length), 0)

const columns: ReadonlyArray<Column<Endpoints>> = [
  name,
  text('Endpoints', 'Addresses that are ready for traffic.', ({ subsets }) =>
    subsets === undefined ? NONE : firstThree(addressesOf(subsets), countOf(subsets))),
  age
]

export const endpoints = resource(Endpoints, {
  plural: 'endpoints',
  deprecation: { deprecated: '1.33', replacement: 'discovery.orch.io/v1 EndpointSlice' },
  shortNames: ['ep'],
  namespaced: true,
  createOnUpdate: true,
  storagePrefix: 'services/endpoints',
  columns
})
