/** How somebody is told that they may not. */
import { forbidden } from '../schemas/status.js'
import type { StatusError } from '../schemas/status.js'
import type { Attributes } from './authorizer.js'

/** `User "u" cannot list resource "pods" in API group "" in the namespace "x"`, or the path for what is no resource. A namespace is in itself, as convention. */
export function refusal ({ user, info }: Attributes, reason: string): StatusError {
  const why = reason === '' ? '' : `: ${reason}`
  if (!info.isResourceRequest) {
    return forbidden({ group: '', resource: '' }, '', `User ${quoted(user.username)} cannot ${info.verb} path ${quoted(info.path)}${why}`)
  }
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  const where = info.namespace === '' ? 'at the cluster scope' : `in the namespace ${quoted(info.namespace)}`
  return forbidden({ group: info.group, resource: info.resource }, info.name,
    `User ${quoted(user.username)} cannot ${info.verb} resource ${quoted(resource)} in API group ${quoted(info.group)} ${where}${why}`)
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Nothing that looks like HTML: it is told to whoever made the request, perhaps by a link. */
const quoted = (text: string): string => JSON.stringify(text).replace(/[&<>]/g, letter => ENTITIES[letter] ?? letter)
