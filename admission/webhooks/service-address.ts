/** Resolves the service of a webhook: its cluster IP or, if enabled, a ready endpoint. */
import type { Endpoints } from '../../schemas/api/core/endpoints.js'
import type { Service } from '../../schemas/api/core/services.js'
import { notFound, serviceUnavailable } from '../../schemas/status.js'
import type { AdmissionReader } from '../../registry/admission.js'
import type { HookService } from './target.js'

export interface Address { readonly host: string, readonly port: number }

/**
 * @param endpoints `--enable-aggregator-routing`
 * @throws StatusError that describes what is missing
 */
export async function serviceAddress (
  reader: AdmissionReader, { namespace, name, port }: HookService, endpoints: boolean
): Promise<Address> {
  const service = await reader.get('', 'services', namespace, name) as Service | undefined // the resource's type
  if (service === undefined) throw notFound({ group: '', resource: 'services' }, name)
  const { type = 'ClusterIP', clusterIP = '', externalName = '', ports } = service.spec ?? {}
  if (type === 'ExternalName') {
    if (endpoints) throw unsupported(type)
    return { host: externalName, port }
  }
  const servicePort = (ports ?? []).find(candidate => candidate.port === port)
  if (endpoints) return await readyEndpoint(reader, { namespace, name, port }, servicePort)
  if (clusterIP === 'None' || clusterIP === '') {
    throw serviceUnavailable('cannot route to service with ClusterIP "None"')
  }
  if (servicePort === undefined) throw noSuchPort(name, port)
  return { host: clusterIP, port }
}

async function readyEndpoint (
  reader: AdmissionReader, { namespace, name, port }: HookService,
  servicePort: { readonly name?: string | undefined } | undefined
): Promise<Address> {
  if (servicePort === undefined) throw noSuchPort(name, port)
  const endpoints = await reader.get('', 'endpoints', namespace, name) as Endpoints | undefined // the resource's type
  if (endpoints === undefined) throw notFound({ group: '', resource: 'endpoints' }, name)
  const ready = (endpoints.subsets ?? []).flatMap(({ addresses, ports }) => {
    const target = (ports ?? []).find(candidate => (candidate.name ?? '') === (servicePort.name ?? ''))
    return target === undefined ? [] : (addresses ?? []).map(({ ip }) => ({ host: ip, port: target.port }))
  })
  const chosen = ready[Math.floor(Math.random() * ready.length)]
  if (chosen === undefined) throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`)
  return chosen
}

const noSuchPort = (name: string, port: number): Error =>
  serviceUnavailable(`no service port ${port} found for service ${JSON.stringify(name)}`)
const unsupported = (type: string): Error => serviceUnavailable(`unsupported service type ${JSON.stringify(type)}`)
