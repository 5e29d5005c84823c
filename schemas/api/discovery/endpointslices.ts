/** EndpointSlice: some endpoints of a service. Stored as v1beta1; v1 has fields for parts of its topology. */
import { age, firstThree, name, text, UNSET, type Column } from '../../columns.js'
import { sameValue } from '../../language/values.js'
import { dnsSubdomain } from '../../names.js'
import { resource } from '../../resource.js'
import { HOSTNAME, otherTopology, ZONE } from './rules/endpointslices.js'
import * as v1 from './v1.js'
import * as v1beta1 from './v1beta1.js'
import { warnedLater } from '../../rules/warned.js'

function toV1 ({ topology, ...endpoint }: v1beta1.Endpoint): v1.Endpoint {
  if (topology === undefined) return endpoint
  const { [ZONE]: zone } = topology
  const rest = otherTopology({ topology, nodeName: endpoint.nodeName })
  return {
    ...endpoint,
    ...(Object.keys(rest).length > 0 ? { deprecatedTopology: rest } : {}),
    ...(zone === undefined ? {} : { zone })
  }
}

function toV1beta1 ({ deprecatedTopology, zone, ...endpoint }: v1.Endpoint): v1beta1.Endpoint {
  return {
    ...endpoint,
    ...withTopology(endpoint.nodeName, { ...deprecatedTopology, ...(zone === undefined ? {} : { [ZONE]: zone }) })
  }
}

/** Adds the node to the topology, unless that names another. */
function withTopology (nodeName: string | undefined, topology: Record<string, string>): {
  topology?: Record<string, string>
} {
  if (nodeName !== undefined) topology[HOSTNAME] ||= nodeName
  return Object.keys(topology).length > 0 ? { topology } : {}
}

function fromStored (slice: v1beta1.EndpointSlice): v1.EndpointSlice {
  return { ...slice, apiVersion: v1.API_VERSION, endpoints: slice.endpoints?.map(toV1) }
}

function toStored (slice: v1.EndpointSlice): v1beta1.EndpointSlice {
  return { ...slice, apiVersion: v1beta1.API_VERSION, endpoints: slice.endpoints?.map(toV1beta1) }
}

function prepare (slice: v1beta1.EndpointSlice): void {
  slice.endpoints = slice.endpoints
    ?.map(endpoint => ({ ...endpoint, ...withTopology(endpoint.nodeName, { ...endpoint.topology }) }))
}

/** deprecatedTopology is read-only in v1: it stays only if the endpoints are unchanged. */
function dropTopology (slice: v1beta1.EndpointSlice, old: v1beta1.EndpointSlice | undefined): void {
  if (old !== undefined && sameValue(slice.endpoints, old.endpoints)) return
  const known = new Set(old?.endpoints?.map(hostOf))
  slice.endpoints = slice.endpoints?.map(({ topology, ...endpoint }) => {
    const zone = topology?.[ZONE]
    const host = hostOf({ ...endpoint, topology })
    const nodeName = endpoint.nodeName ?? (host !== undefined && known.has(host) && dnsSubdomain(host).length === 0
      ? host
      : undefined)
    return {
      ...endpoint, ...(nodeName === undefined ? {} : { nodeName }),
      ...withTopology(nodeName, zone === undefined ? {} : { [ZONE]: zone })
    }
  })
}

/** A node that only the topology names. `dropTopology` moves a known one to nodeName. */
function hostOf (endpoint: v1beta1.Endpoint): string | undefined {
  return otherTopology(endpoint)[HOSTNAME] || undefined
}

function addressText (endpoints: readonly v1beta1.Endpoint[]): string {
  const addresses = endpoints.flatMap(({ addresses = [] }) => addresses)
  return firstThree(addresses, addresses.length)
}

const columns: ReadonlyArray<Column<v1beta1.EndpointSlice>> = [
  name,
  text('AddressType', 'Type of all addresses.', ({ addressType }) => addressType),
  text('Ports', 'Ports of every endpoint.', ({ ports = [] }) =>
    firstThree(ports.map(({ port, name }) => String(port ?? name ?? '*')), ports.length) || UNSET),
  text('Endpoints', 'Addresses of the endpoints.', ({ endpoints = [] }) => addressText(endpoints) || UNSET),
  age
]

const sliceWarnings = warnedLater<v1beta1.EndpointSlice>(({ addressType }, old, warn) => {
  if (old === undefined && addressType === 'FQDN') warn('addressType: FQDN endpoints are deprecated')
})

export const endpointSlices = resource(v1beta1.EndpointSlice, {
  plural: 'endpointslices',
  namespaced: true,
  deprecation: { deprecated: '1.21', removed: '1.25', replacement: 'discovery.orch.io/v1 EndpointSlice' },
  // Labels name the service of a slice.
  generation: ({ addressType, endpoints, ports, metadata }) => [addressType, endpoints, ports, metadata.labels],
  columns,
  strategy: { prepareForCreate: prepare, prepareForUpdate: prepare, warnings: sliceWarnings },
  others: [{
    message: v1.EndpointSlice, fromStored, toStored: slice => toStored(slice as v1.EndpointSlice),
    rules: { prepare: dropTopology }
  }]
})
