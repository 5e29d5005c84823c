/** Resolves the service of a webhook: its cluster IP or, if enabled, a ready endpoint. */
import type { Service, ServicePort } from '../../schemas/api/core/services.js'
import { notFound, serviceUnavailable } from '../../schemas/status.js'
import type { AdmissionReader } from '../../registry/admission.js'
import type { Address, ReadyEndpoints } from './ready-endpoints.js'
import type { HookService } from './target.js'

/**
 * @param endpoints undefined without `--enable-aggregator-routing`
 * @throws StatusError that describes what is missing
 */
export async function serviceAddress (
  reader: AdmissionReader, { namespace, name, port }: HookService, endpoints?: ReadyEndpoints
): Promise<Address> {
  const service = await reader.get('', 'services', namespace, name) as Service | undefined // the resource's type
  if (service === undefined) throw notFound({ group: '', resource: 'services' }, name)
  const { type = 'ClusterIP', clusterIP = '', externalName = '', ipFamilies, ports } = service.spec ?? {}
  if (type === 'ExternalName') {
    if (endpoints !== undefined) throw unsupported(type)
    return { host: externalName, port }
  }
  const servicePort = (ports ?? []).find(candidate => candidate.port === port)
  if (endpoints !== undefined) {
    if (servicePort === undefined) throw noSuchPort(name, port)
    return await anyEndpoint(endpoints, { namespace, name }, servicePort, ipFamilies?.[0])
  }
  if (clusterIP === 'None' || clusterIP === '') {
    throw serviceUnavailable('cannot route to service with ClusterIP "None"')
  }
  if (servicePort === undefined) throw noSuchPort(name, port)
  return { host: clusterIP, port }
}

async function anyEndpoint (
  ready: ReadyEndpoints, service: Pick<HookService, 'namespace' | 'name'>, port: ServicePort,
  family: string | undefined
): Promise<Address> {
  const all = await ready(service, port) ?? []
  const preferred = all.filter(({ addressType }) => addressType === undefined || addressType === family)
  const among = preferred.length > 0 ? preferred : all
  const chosen = among[Math.floor(Math.random() * among.length)]
  if (chosen !== undefined) return { host: chosen.host, port: chosen.port }
  throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(service.name)}`)
}

const noSuchPort = (name: string, port: number): Error =>
  serviceUnavailable(`no service port ${port} found for service ${JSON.stringify(name)}`)
const unsupported = (type: string): Error => serviceUnavailable(`unsupported service type ${JSON.stringify(type)}`)
