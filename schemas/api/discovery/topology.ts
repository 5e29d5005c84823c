/** Labels by which v1beta1 tells where an endpoint is, of which v1 has fields for the zone and the node. */
import type { Endpoint } from './v1beta1.js'

export const ZONE = 'topology.orch.io/zone'
export const HOSTNAME = 'orch.io/hostname'

/** What of it v1 tells in no field of its own. */
export function otherTopology ({ topology, nodeName }: Pick<Endpoint, 'topology' | 'nodeName'>): Record<string, string> {
  const { [ZONE]: _, ...rest } = topology ?? {}
  if (nodeName !== undefined && rest[HOSTNAME] === nodeName) delete rest[HOSTNAME]
  return rest
}
