/**
 * Discovery: the groups, versions and resources served, and the release. JSON or YAML; for browsers the root is a page.
 */
import { noSuchPath } from '../schemas/status.js'
import { unknownPath } from './unknown-path.js'
import { AggregatedDiscovery } from './aggregated-discovery.js'
import { apiResources } from '../registry/discovered-resources.js'
import type { frontPage } from './front-page/index.js'
import { discoveryPaths } from './issuer-discovery.js'
import type { DocumentAnswer, PageAnswer, RelayedAnswer, ValueAnswer } from '../answers/answer.js'
import type { ServedRequest } from '../answers/request-context.js'
import { answered } from '../answers/send.js'
import { versionInfo } from './version.js'
import { withSlash } from './with-slash.js'
import type { RoutedServer } from './needs.js'

function groupOf (group: string, versions: readonly string[]): object {
  const ordered = versions.map(version => ({ groupVersion: `${group}/${version}`, version }))
  return { name: group, versions: ordered, preferredVersion: ordered[0] }
}

/** Group and version of a path below `/apis`, by our names. */
function named ({ orch: { info: { path } } }: ServedRequest): { readonly group: string, readonly version: string } {
  const [, , group = '', version = ''] = path.split('/')
  return { group, version }
}

type Discovered = ValueAnswer | DocumentAnswer | PageAnswer | RelayedAnswer
type Answering = (request: ServedRequest) => Discovered | Promise<Discovered>

const valueAnswer = (value: object): ValueAnswer => ({ kind: 'value', value })

export default async function discovery (fastify: RoutedServer): Promise<void> {
  const { orchSettings: settings, orchAggregation: { groups } } = fastify
  const route = (url: string, answer: Answering): void => {
    const handler = answered(answer)
    for (const path of withSlash(fastify, url)) {
      fastify.route({ method: 'GET', url: path, exposeHeadRoute: false, handler })
    }
  }
  const get = (url: string, make: (request: ServedRequest) => object): void => {
    route(url, request => valueAnswer(make(request)))
  }

  get('/version', () => versionInfo(settings.featureGates.release, settings.reader))
  const aggregated = new AggregatedDiscovery(fastify)
  /** One document of everything for those who ask for that. */
  const overview = (url: '/api' | '/apis', make: () => object): void => {
    route(url, request => request.orch.accept?.as === 'APIGroupDiscoveryList'
      ? aggregated.answer(request, url)
      : valueAnswer(make()))
  }
  overview('/api', () => ({
    kind: 'APIVersions',
    versions: groups().get('') ?? [],
    serverAddressByClientCIDRs: [
      { clientCIDR: '0.0.0.0/0', serverAddress: settings.externalHostname ?? settings.advertiseAddress ?? '' }
    ]
  }))
  overview('/apis', () => ({
    kind: 'APIGroupList', apiVersion: 'v1',
    groups: [...groups()].filter(([group]) => group !== '').map(([group, versions]) => groupOf(group, versions))
  }))
  get('/apis/:group', request => {
    const { group } = named(request)
    const versions = group === '' ? undefined : groups().get(group)
    if (versions === undefined) throw unknownPath(request.orch.info)
    return { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group, versions) }
  })
  route('/api/:version', resourcesAt(fastify, request =>
    ({ group: '', version: (request.params as { version: string }).version })))
  route('/apis/:group/:version', resourcesAt(fastify, request => {
    const place = named(request)
    if (place.group === '') throw noSuchPath()
    return place
  }))
  route('/', root(fastify))
}

/** The resources of the group and version that a request names. */
function resourcesAt (
  { orchResources: resources, orchAggregation: aggregation }: RoutedServer, placeOf: typeof named
): Answering {
  return request => {
    const { group, version } = placeOf(request)
    const { info } = request.orch
    const stores = resources.servedIn(group, version)
    if (stores.length === 0) {
      const service = aggregation.find(info.path)
      if (service === undefined) throw unknownPath(info)
      return aggregation.proxy(service, request)
    }
    // Lists of the core group have no apiVersion, as upstream.
    return valueAnswer({
      kind: 'APIResourceList', ...(group === '' ? {} : { apiVersion: 'v1' }),
      groupVersion: group === '' ? version : `${group}/${version}`,
      resources: apiResources(stores, store => resources.subresourcesOf(store))
    })
  }
}

/** All paths, or a page for browsers. */
function root (fastify: RoutedServer): Answering {
  const { orchSettings: settings, orchAggregation: { groups }, orchAuthentication: { tokens } } = fastify
  // Loaded with the first browser: most servers meet none.
  let page: Promise<ReturnType<typeof frontPage>> | undefined
  const pageAnswer = async (request: ServedRequest): Promise<PageAnswer> => {
    page ??= import('./front-page/index.js').then(({ frontPage }) => frontPage(fastify))
    return await (await page)(request)
  }
  return request => request.orch.accept?.page === true
    ? pageAnswer(request)
    : valueAnswer({
        paths: rootPaths(groups(), [
          ...discoveryPaths(tokens.issuer), ...settings.featureGates.enabled('OpenAPIV3') ? ['/openapi/v3'] : [],
          ...settings.statePaths
        ])
      })
}

function rootPaths (groups: ReadonlyMap<string, readonly string[]>, others: readonly string[]): string[] {
  const paths = [...others, '/openapi/v2']
  for (const [group, versions] of groups) {
    if (group === '') paths.push('/api', ...versions.map(version => `/api/${version}`))
    else paths.push('/apis', `/apis/${group}`, ...versions.map(version => `/apis/${group}/${version}`))
  }
  return [...new Set(paths)].sort()
}
