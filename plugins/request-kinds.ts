/**
 * Kinds of requests that several concerns treat apart. Long ones, watches above all: limits and deadlines do
 * not hold for them, and metrics and audit count them apart. Probes of health: they are answered when
 * everything else is refused. Pure functions, not a plugin.
 */
import type { RequestInfo } from '../schemas/request.js'

const SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

export function isLongRunning (info: RequestInfo): boolean {
  return info.verb === 'watch' || info.verb === 'proxy' || (info.subresource !== '' && SUBRESOURCES.has(info.subresource))
}

/** What `health.ts` answers, and the checks below each. */
export const HEALTH_ENDPOINTS = ['healthz', 'livez', 'readyz'] as const

const PROBE = new RegExp(`^/(?:${HEALTH_ENDPOINTS.join('|')})(?:/|$)`)

export const isProbe = (path: string): boolean => PROBE.test(path)
