/** How somebody is told that they may not. */
import { forbidden } from '../status.js'
import type { StatusError } from '../status.js'
import type { Attributes } from './authorizer.js'

/** `User "u" cannot list resource "pods" in API group "" in the namespace "x"`, or the path for what is no resource. */
export function refusal ({ user, info }: Attributes, reason: string): StatusError {
  const why = reason === '' ? '' : `: ${reason}`
  if (!info.isResourceRequest) {
    return forbidden({ group: '', resource: '' }, '', `User ${JSON.stringify(user.username)} cannot ${info.verb} path ${JSON.stringify(info.path)}${why}`)
  }
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  const where = info.namespace !== '' && info.resource !== 'namespaces' ? ` in the namespace ${JSON.stringify(info.namespace)}` : info.namespace === '' ? ' at the cluster scope' : ''
  return forbidden({ group: info.group, resource: info.resource }, info.name,
    `User ${JSON.stringify(user.username)} cannot ${info.verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(info.group)}${where}${why}`)
}
