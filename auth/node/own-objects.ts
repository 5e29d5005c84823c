/** Permissions of a node for its own lease and CSINode. */
import type { Ruling } from '../authorizer.js'
import type { RequestInfo } from '../request-info.js'

export const ALLOW: Ruling = { decision: 'Allow', reason: '' }
export const noOpinion = (reason: string): Ruling => ({ decision: 'NoOpinion', reason })

const LEASES = 'orch-node-lease'
const VERBS: ReadonlySet<string> = new Set(['get', 'create', 'update', 'patch', 'delete'])

/** On create the name is unknown. */
const isOwn = (node: string, { verb, name }: RequestInfo): boolean => verb === 'create' || name === node

export function ownLease (node: string, info: RequestInfo): Ruling {
  if (!VERBS.has(info.verb)) {
    return noOpinion(`node ${JSON.stringify(node)} can only get, create, update, patch or delete a node lease`)
  }
  if (info.namespace !== LEASES) {
    return noOpinion(`node ${JSON.stringify(node)} can only access leases in the namespace ${LEASES}`)
  }
  return isOwn(node, info) ? ALLOW : noOpinion(`node ${JSON.stringify(node)} can only access the lease of its own name`)
}

export function ownCSINode (node: string, info: RequestInfo): Ruling {
  if (!VERBS.has(info.verb)) {
    return noOpinion(`node ${JSON.stringify(node)} can only get, create, update, patch or delete a CSINode`)
  }
  if (info.subresource !== '') return noOpinion(`node ${JSON.stringify(node)} cannot access subresources of a CSINode`)
  return isOwn(node, info)
    ? ALLOW
    : noOpinion(`node ${JSON.stringify(node)} can only access the CSINode of its own name`)
}

/** Reads of the node's own object, also as a list of that name. */
export function ownNode (node: string, { name, subresource }: RequestInfo): Ruling {
  if (subresource !== '') return noOpinion(`node ${JSON.stringify(node)} cannot read subresources of a node`)
  return name === node ? ALLOW : noOpinion(`node ${JSON.stringify(node)} can only read its own Node`)
}

/** Whether a request asks only for objects that name the node in spec.nodeName. */
export const selectsNode = ({ selectors }: RequestInfo, node: string): boolean =>
  selectors?.fields.some(({ key, operator, values }) =>
    key === 'spec.nodeName' && operator === 'In' && values?.length === 1 && values[0] === node) === true
