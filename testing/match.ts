/** Patterns that select requests, for expectations and faults. */
import type { FastifyRequest } from 'fastify'
import { viewOf } from '../answers/view.js'
import type { RequestInfo } from '../auth/request-info.js'

/** A request matches if all given members match. */
export interface RequestMatch {
  /** `GET`, `POST`, … */
  readonly method?: string
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verb?: string
  /** A path, which includes all paths below it, or a regular expression for the URL with its query. */
  readonly url?: string | RegExp
  /** Under either name where the server has public names. */
  readonly group?: string
  /** The plural, with its subresource after a slash if it has one: `pods`, `pods/status`. */
  readonly resource?: string
  readonly namespace?: string
  readonly name?: string
  /** The name of the user. */
  readonly user?: string
}

/** What is known of a request when it is matched. */
export interface MatchedRequest {
  readonly method: string
  readonly url: string
  readonly info: RequestInfo
  readonly user: string | undefined
  /** The group as clients see it. */
  readonly shownGroup: string
}

export const PROBE = /^\/(?:healthz|livez|readyz)(?:[/?]|$)/

/** Undefined if the request was refused before its request info was known, or is one of the server to itself. */
export const matchedOf = ({ orch, method, url, raw }: FastifyRequest): MatchedRequest | undefined =>
  orch === undefined || 'isLightMyRequest' in raw
    ? undefined
    : { method, url, info: orch.info, user: orch.user?.username, shownGroup: viewOf(orch).group(orch.info.group) }

export const resourceOf = ({ resource, subresource }: RequestInfo): string =>
  subresource === '' ? resource : `${resource}/${subresource}`

const isBelow = (path: string, url: string): boolean => url === path || url.startsWith(`${path.replace(/\/$/, '')}/`)

export function matches (match: RequestMatch, { method, url, info, user, shownGroup }: MatchedRequest): boolean {
  const same = (wanted: string | undefined, actual: string | undefined): boolean => wanted === undefined ||
    wanted === actual
  if (!same(match.method?.toUpperCase(), method) || !same(match.verb, info.verb) || !same(match.user, user)) {
    return false
  }
  if ((!same(match.group, info.group) && match.group !== shownGroup) || !same(match.resource, resourceOf(info)) ||
    !same(match.namespace, info.namespace) || !same(match.name, info.name)) return false
  if (match.url === undefined) return true
  return typeof match.url === 'string' ? isBelow(match.url, url.replace(/\?.*$/, '')) : url.search(match.url) >= 0
}
