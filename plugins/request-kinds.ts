/**
 * Kinds of requests that several concerns treat apart. Long ones, watches and connections to pods and nodes: limits and
 * deadlines do not hold for them, and metrics and audit count them apart. Probes of health: they are answered when
 * everything else is refused. Pure functions, not a plugin.
 */
import type { RequestInfo } from '../auth/request-info.js'
import type { UserInfo } from '../schemas/meta/user-info.js'

/** Subresources that lead to where their object runs, by resource of the core group. Those of other types that are merely called so are as short as any other. */
const CONNECTIONS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['pods', new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])],
  ['services', new Set(['proxy'])],
  ['nodes', new Set(['proxy'])]
])

/** A request whose answer comes from a pod or a node: a log, an exec, a proxied request. */
export const isConnection = ({ subresource, group, resource }: RequestInfo): boolean =>
  subresource !== '' && group === '' && CONNECTIONS.get(resource)?.has(subresource) === true

/** A watch or a connection. A log is one whether it is followed or not, as convention: it may be of any length. */
export const isLongRunning = (info: RequestInfo): boolean => info.verb === 'watch' || isConnection(info)

/** What is counted as CONNECT: a connection that is made with any method, where a log is read like an object. */
export const isConnect = (info: RequestInfo): boolean => info.subresource !== 'log' && isConnection(info)

/** They have to get in to mend what is wrong, whatever others do. */
export const isAdministrator = (user: UserInfo | undefined): boolean => user?.groups.includes('system:masters') === true

/** What `health.ts` answers, and the checks below each. */
export const HEALTH_ENDPOINTS = ['healthz', 'livez', 'readyz'] as const

const PROBE = new RegExp(`^/(?:${HEALTH_ENDPOINTS.join('|')})(?:/|$)`)

export const isProbe = (path: string): boolean => PROBE.test(path)
