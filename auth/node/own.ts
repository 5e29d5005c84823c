/** What a node keeps under its own name: its lease, and what it says of its storage drivers. */
import type { Ruling } from '../authorizer.js'
import type { RequestInfo } from '../request-info.js'

export const ALLOW: Ruling = { decision: 'Allow', reason: '' }
export const no = (reason: string): Ruling => ({ decision: 'NoOpinion', reason })

const LEASES = 'orch-node-lease'
const KEEPS: ReadonlySet<string> = new Set(['get', 'create', 'update', 'patch', 'delete'])

/** At its creation the name of an object is not known yet. */
const isOwn = (node: string, { verb, name }: RequestInfo): boolean => verb === 'create' || name === node

export function ownLease (node: string, info: RequestInfo): Ruling {
  if (!KEEPS.has(info.verb)) return no(`node ${JSON.stringify(node)} can only get, create, update, patch or delete a node lease`)
  if (info.namespace !== LEASES) return no(`node ${JSON.stringify(node)} can only access leases in the namespace ${LEASES}`)
  return isOwn(node, info) ? ALLOW : no(`node ${JSON.stringify(node)} can only access the lease of its own name`)
}

export function ownCSINode (node: string, info: RequestInfo): Ruling {
  if (!KEEPS.has(info.verb)) return no(`node ${JSON.stringify(node)} can only get, create, update, patch or delete a CSINode`)
  if (info.subresource !== '') return no(`node ${JSON.stringify(node)} cannot access subresources of a CSINode`)
  return isOwn(node, info) ? ALLOW : no(`node ${JSON.stringify(node)} can only access the CSINode of its own name`)
}
