/**
 * Which requests are long by nature, watches above all: limits and deadlines do not hold for them, and
 * metrics and audit count them apart. A pure function, not a plugin.
 */
import type { RequestInfo } from '../schemas/request.js'

const SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

export function isLongRunning (info: RequestInfo): boolean {
  return info.verb === 'watch' || info.verb === 'proxy' || (info.subresource !== '' && SUBRESOURCES.has(info.subresource))
}
