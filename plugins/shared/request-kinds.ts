/**
 * Request classes that limits, deadlines, metrics and audit treat differently: long-running requests, health probes and
 * administrators. Pure functions, not a plugin.
 */
import type { RequestInfo } from '../../auth/request-info.js'
import { isBuiltInGroup } from '../../schemas/resources.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'

/** Connecting subresources by core resource. Subresources of the same name on other types are ordinary requests. */
const CONNECTIONS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['pods', new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])],
  ['services', new Set(['proxy'])],
  ['nodes', new Set(['proxy'])]
])

/** True if a pod or node produces the response: a log, an exec, a proxied request. */
export const isConnection = ({ subresource, group, resource }: RequestInfo): boolean =>
  subresource !== '' && group === '' && CONNECTIONS.get(resource)?.has(subresource) === true

/** Subresources of extension servers that may be connections. */
const REMOTE_CONNECTIONS = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])
const isRemoteConnection = ({ subresource, group }: RequestInfo): boolean => subresource !== '' &&
  REMOTE_CONNECTIONS.has(subresource) && !isBuiltInGroup(group)

/** A watch or a connection. A log counts even if it does not follow, as upstream: its length is unbounded. */
export const isLongRunning = (info: RequestInfo): boolean => info.verb === 'watch' || isConnection(info) ||
  isRemoteConnection(info)

/** Counted as CONNECT whatever the method. Logs are excluded; they are read with get. */
export const isConnect = (info: RequestInfo): boolean => info.subresource !== 'log' && isConnection(info)

/** Administrators must be able to repair an overloaded server. */
export const isAdministrator = (user: UserInfo | undefined): boolean => user?.groups.includes('system:masters') === true

/** Endpoints of `health.ts`; each check has a path below them. */
export const HEALTH_ENDPOINTS = ['healthz', 'livez', 'readyz'] as const

const PROBE = new RegExp(`^/(?:${HEALTH_ENDPOINTS.join('|')})(?:/|$)`)

export const isProbe = (path: string): boolean => PROBE.test(path)
