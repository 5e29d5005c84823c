/** The ready endpoints of a service, as its EndpointSlices say, or in earlier releases its Endpoints. */
import type { Endpoints } from '../../schemas/api/core/endpoints.js'
import type { ServicePort } from '../../schemas/api/core/services.js'
import type { EndpointSlice } from '../../schemas/api/discovery/v1beta1.js'
import type { AdmissionReader } from '../../registry/admission.js'

export interface Address { readonly host: string, readonly port: number }

export interface ReadyEndpoint extends Address {
  /** Undefined where the endpoints do not say it. */
  readonly addressType?: string
}

/** Those of one port. Undefined if nothing says what is behind the service. */
export type ReadyEndpoints = (
  service: { readonly namespace: string, readonly name: string }, port: Pick<ServicePort, 'name'>
) => Promise<readonly ReadyEndpoint[] | undefined>

/** Label of an EndpointSlice: its service. */
export const SERVICE_NAME = 'orch.io/service-name'

/** @param slices whether EndpointSlices are read, which is the behaviour `SlicesLocateServices` */
export const readyEndpoints = (reader: AdmissionReader, slices: boolean): ReadyEndpoints =>
  slices ? ofSlices(reader) : ofEndpoints(reader)

const ofSlices = (reader: AdmissionReader): ReadyEndpoints => async ({ namespace, name }, named) => {
  const slices = await reader
    .list('discovery.orch.io', 'endpointslices', namespace, { [SERVICE_NAME]: name }) as EndpointSlice[] // their type
  if (slices.length === 0) return undefined
  return slices.flatMap(({ addressType, endpoints, ports }) => {
    const port = (ports ?? []).find(isNamed(named))?.port
    if (port == null) return []
    return (endpoints ?? []).flatMap(({ addresses: [host] = [], conditions }) =>
      host === undefined || conditions?.ready === false ? [] : [{ host, port, addressType }])
  })
}

const ofEndpoints = (reader: AdmissionReader): ReadyEndpoints => async ({ namespace, name }, port) => {
  const endpoints = await reader.get('', 'endpoints', namespace, name) as Endpoints | undefined // the resource's type
  return endpoints && (endpoints.subsets ?? []).flatMap(({ addresses, ports }) => {
    const named = (ports ?? []).find(isNamed(port))
    return named === undefined ? [] : (addresses ?? []).map(({ ip }) => ({ host: ip, port: named.port }))
  })
}

const isNamed = ({ name = '' }: Pick<ServicePort, 'name'>) =>
  (candidate: { readonly name?: string | null | undefined }): boolean => (candidate.name ?? '') === name
