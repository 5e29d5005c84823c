/** Paths that are served with a slash behind them too, as clients that were generated ask for them so. */
import type { FastifyInstance } from 'fastify'

/** The path, and with a slash where the router of the host does not take that for the same. */
export function withSlash ({ initialConfig: { ignoreTrailingSlash, routerOptions } }: FastifyInstance, path: string): string[] {
  return path === '/' || ignoreTrailingSlash === true || routerOptions?.ignoreTrailingSlash === true ? [path] : [path, `${path}/`]
}
