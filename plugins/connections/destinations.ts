/** Finds the destination of a proxied request: a pod, a ready endpoint of a service, a node or its agent. */
import type { EndpointAddress } from '../../schemas/api/core/endpoints.js'
import { podAddress } from '../../schemas/api/core/pod-status.js'
import { isStatusError, serviceUnavailable } from '../../schemas/status.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { checkAddress, type AddressPolicy } from './addresses.js'
import type { NodeAgents } from './node-agents.js'
import { find, partsOf } from './objects.js'

export interface Destination {
  readonly scheme: 'http' | 'https'
  readonly host: string
  /** The resolved address of the host. */
  readonly address?: string
  readonly port: number
  /**
   * True for a node agent, which gets this server's client certificate and is verified by its CA bundle; other
   * destinations are not verified.
   */
  readonly agent: boolean
}

/** Resolves the target of a `proxy` subresource. @throws StatusError */
export type Locate = (namespace: string, id: string) => Promise<Destination>

export interface DestinationTools {
  readonly resources: ResourceRegistry
  readonly agents: NodeAgents
  readonly reach: AddressPolicy
  /** Returns a number from 0 to less than 1. */
  readonly random?: () => number
}

const impliedPort = (scheme: string): number => scheme === 'https' ? 443 : 80

const MAX_PORT = 65_535

/** @throws StatusError 503 for an invalid port */
function portOf (text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN
  if (port >= 1 && port <= MAX_PORT) return port
  throw serviceUnavailable(`error trying to reach service: ${JSON.stringify(text)} is no port number`)
}

/** Uses the requested port, or the first one that a container declares. */
export const locatePod = ({ resources, reach }: DestinationTools): Locate => async (namespace, id) => {
  const { scheme, name, port } = partsOf('pod', id)
  const { spec, status } = await find(resources, 'pods', namespace, name)
  const declared = spec.containers?.find(({ ports }) => (ports ?? []).length > 0)?.ports?.[0]?.containerPort
  const host = podAddress(status)
  checkAddress(host, reach)
  return {
    scheme: scheme || 'http', host, port: port !== '' ? portOf(port) : declared ?? impliedPort(scheme), agent: false
  }
}

/** Tries endpoints in order from a random start; takes the first that belongs to an existing pod. */
export const locateService = ({ resources, reach, random = Math.random }: DestinationTools): Locate =>
  async (namespace, id) => {
    const { scheme, name, port } = partsOf('service', id)
    let portName = port
    if (/^[+-]?\d+$/.test(port)) {
      const { spec } = await find(resources, 'services', namespace, name)
      const known = spec.ports?.find(candidate => candidate.port === Number(port))
      if (known === undefined) {
        throw serviceUnavailable(`no service port ${Number(port)} found for service ${JSON.stringify(name)}`)
      }
      portName = known.name ?? ''
    }
    const { subsets = [] } = await find(resources, 'endpoints', namespace, name)
    if (subsets.length === 0) throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`)
    for (const { addresses = [], ports = [] } of fromAny(subsets, random)) {
      const endpointPort = ports.find(candidate => (candidate.name ?? '') === portName)
      if (endpointPort === undefined) continue
      for (const address of fromAny(addresses, random)) {
        if (!await isOfPod(resources, namespace, address)) continue
        checkAddress(address.ip, reach)
        return { scheme: scheme || 'http', host: address.ip, port: endpointPort.port, agent: false }
      }
    }
    throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(id)}`)
  }

/** Yields all elements, starting at a random one. */
function * fromAny<T> (all: readonly T[], random: () => number): Generator<T> {
  const first = Math.floor(random() * all.length)
  for (let at = 0; at < all.length; at++) yield all[(first + at) % all.length] as T // the index is within bounds
}

/**
 * Only addresses of existing pods are allowed: otherwise a user who may write endpoints could direct other users'
 * requests to any address.
 */
async function isOfPod (
  resources: ResourceRegistry, namespace: string, { ip, targetRef }: EndpointAddress
): Promise<boolean> {
  if (targetRef == null || (targetRef.namespace ?? '') !== namespace) return false
  try {
    const { status } = await find(resources, 'pods', namespace, targetRef.name ?? '')
    return podAddress(status) === ip || (status.podIPs ?? []).some(address => address.ip === ip)
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return false
    throw error
  }
}

/** Uses the requested port, or the node agent's. */
export const locateNode = ({ agents }: Pick<DestinationTools, 'agents'>): Locate => async (_namespace, id) => {
  const { scheme, name, port } = partsOf('node', id)
  const { host, address, port: known } = await agents.of(name)
  if (port === '' || port === String(known)) return { scheme: 'https', host, address, port: known, agent: true }
  return { scheme: scheme || 'http', host, address, port: portOf(port), agent: false }
}
