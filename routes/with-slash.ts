import type { FastifyInstance } from 'fastify'

/**
 * The path, and the path with a trailing slash, which generated clients request, unless the router ignores trailing
 * slashes.
 */
export function withSlash (
  { initialConfig: { ignoreTrailingSlash, routerOptions } }: FastifyInstance, path: string
): string[] {
  return path === '/' || ignoreTrailingSlash === true || routerOptions?.ignoreTrailingSlash === true
    ? [path]
    : [path, `${path}/`]
}
