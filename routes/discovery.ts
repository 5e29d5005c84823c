/** Discovery: which groups, versions and resources there are, and which release this is. JSON or YAML. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ResourceDefinition } from '../schemas/index.js'
import { noSuchPath } from '../schemas/status.js'
import { sendValue } from './respond.js'
import { priorityOf } from './groups.js'
import { versionInfo } from './version.js'

const byName = (one: { name: string }, other: { name: string }): number => one.name < other.name ? -1 : 1

function apiResources (definitions: readonly ResourceDefinition[]): object[] {
  return definitions.flatMap(definition => {
    const own = {
      name: definition.plural,
      singularName: '',
      namespaced: definition.namespaced,
      kind: definition.kind,
      verbs: [...definition.verbs].sort(),
      ...(definition.shortNames.length > 0 ? { shortNames: definition.shortNames } : {}),
      ...(definition.categories.length > 0 ? { categories: definition.categories } : {}),
      storageVersionHash: definition.storageVersionHash
    }
    // A subresource of another kind has a route of its own once it is built; until then it is not offered.
    const subresources = definition.subresources.filter(({ kind }) => kind === undefined || kind === definition.kind).map(({ name, verbs }) => ({
      name: `${definition.plural}/${name}`, singularName: '', namespaced: definition.namespaced, kind: definition.kind, verbs: [...verbs].sort()
    }))
    return [own, ...subresources]
  }).sort(byName)
}

function groupOf (group: string, versions: readonly string[]): object {
  const ordered = versions.map(version => ({ groupVersion: `${group}/${version}`, version }))
  return { name: group, versions: ordered, preferredVersion: ordered[0] }
}

export default async function discovery (fastify: FastifyInstance): Promise<void> {
  const { resources, settings } = fastify.orch
  const definitions = (): ResourceDefinition[] => resources.served().map(({ definition }) => definition)
  const groups = (): Map<string, string[]> => {
    const found = new Map<string, string[]>()
    for (const { group, version } of definitions()) {
      const versions = found.get(group) ?? []
      if (!versions.includes(version)) found.set(group, [...versions, version])
    }
    return new Map([...found].sort(([one], [other]) => priorityOf(other) - priorityOf(one)))
  }
  const { ignoreTrailingSlash, routerOptions } = fastify.initialConfig
  /** A host whose router takes a path with a slash behind it for the same. */
  const slashless = ignoreTrailingSlash === true || routerOptions?.ignoreTrailingSlash === true
  const get = (url: string, make: (request: FastifyRequest) => object): void => {
    for (const path of url === '/' || slashless ? [url] : [url, `${url}/`]) {
      fastify.route({ method: 'GET', url: path, exposeHeadRoute: false, handler: (request, reply) => sendValue(request, reply, make(request)) })
    }
  }

  get('/version', () => versionInfo())
  get('/api', () => ({
    kind: 'APIVersions',
    versions: groups().get('') ?? [],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: settings.externalHostname ?? settings.advertiseAddress ?? '' }]
  }))
  get('/apis', () => ({
    kind: 'APIGroupList', apiVersion: 'v1', groups: [...groups()].filter(([group]) => group !== '').map(([group, versions]) => groupOf(group, versions))
  }))
  get('/apis/:group', request => {
    const { group } = request.params as { group: string }
    const versions = group === '' ? undefined : groups().get(group)
    if (versions === undefined) throw noSuchPath()
    return { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group, versions) }
  })
  const list = (group: string, version: string): object => {
    const found = definitions().filter(definition => definition.group === group && definition.version === version)
    if (found.length === 0) throw noSuchPath()
    return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: group === '' ? version : `${group}/${version}`, resources: apiResources(found) }
  }
  get('/api/:version', request => list('', (request.params as { version: string }).version))
  get('/apis/:group/:version', request => {
    const { group, version } = request.params as { group: string, version: string }
    if (group === '') throw noSuchPath()
    return list(group, version)
  })
  get('/', () => ({ paths: rootPaths(groups()) }))
}

function rootPaths (groups: ReadonlyMap<string, readonly string[]>): string[] {
  const paths = ['/healthz', '/livez', '/metrics', '/openapi/v2', '/readyz', '/version']
  for (const [group, versions] of groups) {
    if (group === '') paths.push('/api', ...versions.map(version => `/api/${version}`))
    else paths.push('/apis', `/apis/${group}`, ...versions.map(version => `/apis/${group}/${version}`))
  }
  return [...new Set(paths)].sort()
}
