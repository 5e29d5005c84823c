/** Where a proxied request goes: to a pod, to one of the ready addresses behind a service, to a node or its agent. */
import type { EndpointAddress } from '../../schemas/api/core/endpoints.js'
import { podAddress } from '../../schemas/api/core/pod-status.js'
import { isStatusError, serviceUnavailable } from '../../schemas/status.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { checkAddress, type Reach } from './addresses.js'
import type { NodeAgents } from './node-agents.js'
import { find, partsOf } from './objects.js'

export interface Destination {
  readonly scheme: 'http' | 'https'
  readonly host: string
  /** Where the host was found. */
  readonly address?: string
  readonly port: number
  /** Called as a node agent is, with our certificate, and verified by its CA bundle; of others nothing is verified. */
  readonly agent: boolean
}

/** Finds where a request to the `proxy` of an object goes. @throws StatusError */
export type Locate = (namespace: string, id: string) => Promise<Destination>

export interface DestinationTools {
  readonly resources: ResourceRegistry
  readonly agents: NodeAgents
  readonly reach: Reach
  /** From 0 to less than 1. */
  readonly random?: () => number
}

const impliedPort = (scheme: string): number => scheme === 'https' ? 443 : 80

const MOST_PORT = 65_535

/** @throws StatusError 503 for a port that nobody can be at */
function portOf (text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN
  if (port >= 1 && port <= MOST_PORT) return port
  throw serviceUnavailable(`error trying to reach service: ${JSON.stringify(text)} is no port number`)
}

/** At the port that is asked for, else at the first one that a container declares. */
export const locatePod = ({ resources, reach }: DestinationTools): Locate => async (namespace, id) => {
  const { scheme, name, port } = partsOf('pod', id)
  const { spec, status } = await find(resources, 'pods', namespace, name)
  const declared = spec.containers?.find(({ ports }) => (ports ?? []).length > 0)?.ports?.[0]?.containerPort
  const host = podAddress(status)
  checkAddress(host, reach)
  return { scheme: scheme || 'http', host, port: port !== '' ? portOf(port) : declared ?? impliedPort(scheme), agent: false }
}

/** Addresses are tried from a random one on, until one is that of a pod that is there. */
export const locateService = ({ resources, reach, random = Math.random }: DestinationTools): Locate => async (namespace, id) => {
  const { scheme, name, port } = partsOf('service', id)
  let portName = port
  if (/^[+-]?\d+$/.test(port)) {
    const { spec } = await find(resources, 'services', namespace, name)
    const known = spec.ports?.find(one => one.port === Number(port))
    if (known === undefined) throw serviceUnavailable(`no service port ${Number(port)} found for service ${JSON.stringify(name)}`)
    portName = known.name ?? ''
  }
  const { subsets = [] } = await find(resources, 'endpoints', namespace, name)
  if (subsets.length === 0) throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`)
  for (const { addresses = [], ports = [] } of fromAny(subsets, random)) {
    const wanted = ports.find(one => (one.name ?? '') === portName)
    if (wanted === undefined) continue
    for (const address of fromAny(addresses, random)) {
      if (!await isOfPod(resources, namespace, address)) continue
      checkAddress(address.ip, reach)
      return { scheme: scheme || 'http', host: address.ip, port: wanted.port, agent: false }
    }
  }
  throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(id)}`)
}

/** All of them in turn, the first being any. */
function * fromAny<T> (all: readonly T[], random: () => number): Generator<T> {
  const first = Math.floor(random() * all.length)
  for (let at = 0; at < all.length; at++) yield all[(first + at) % all.length] as T // within its bounds
}

/** Whoever may write endpoints could else send others, with what they say, to any address. */
async function isOfPod (resources: ResourceRegistry, namespace: string, { ip, targetRef }: EndpointAddress): Promise<boolean> {
  if (targetRef == null || (targetRef.namespace ?? '') !== namespace) return false
  try {
    const { status } = await find(resources, 'pods', namespace, targetRef.name ?? '')
    return podAddress(status) === ip || (status.podIPs ?? []).some(one => one.ip === ip)
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return false
    throw error
  }
}

/** At the port that is asked for, else at that of its agent. */
export const locateNode = ({ agents }: Pick<DestinationTools, 'agents'>): Locate => async (_namespace, id) => {
  const { scheme, name, port } = partsOf('node', id)
  const { host, address, port: known } = await agents.of(name)
  if (port === '' || port === String(known)) return { scheme: 'https', host, address, port: known, agent: true }
  return { scheme: scheme || 'http', host, address, port: portOf(port), agent: false }
}
