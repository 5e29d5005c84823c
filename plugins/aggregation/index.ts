/**
 * The aggregation layer: group versions that APIServices assign to other servers. Requests for them pass all hooks here
 * and are then proxied with their user. Routes look for this server's own types first, then for the path's server in
 * `fastify.orchAggregation`.
 */
import { randomUUID } from 'node:crypto'
import { ClientCertificate } from '../../clients/client-certificate.js'
import type { Material } from '../../clients/kubeconfig.js'
import { admissionReader } from '../../admission/reader.js'
import { readyEndpoints } from '../../admission/webhooks/ready-endpoints.js'
import { Availability } from '../../controllers/aggregation/availability.js'
import { discoveryOrder } from '../../controllers/aggregation/discovery-order.js'
import { RegisteredServices, type RegisteredService } from '../../controllers/aggregation/registered-services.js'
import { remoteContents, type RemoteContents } from '../../controllers/aggregation/remote-contents.js'
import type { Controller } from '../../controllers/controller.js'
import { failureFields } from '../../storage/errors.js'
import { occasionally } from '../shared/rate-limited.js'
import { RemoteDocuments, type Documents } from './documents.js'
import { RemoteDiscovery, type RemoteVersions } from './remote-discovery.js'
import { discoveryFetch, documentFetch, exchange, namespaceAsk } from './fetch.js'
import { observeAvailability, observeCertificates } from './metrics.js'
import { Pools } from './pools.js'
import { discoveryProbe } from './probe.js'
import { remoteProxy, type RemoteProxy } from './proxy.js'
import { plugin } from '../shared/plugin.js'

export interface AggregationOptions {
  /**
   * Identifies this server to extension servers, `--proxy-client-cert-file` and `--proxy-client-key-file`. Default
   * none.
   */
  readonly client?: { readonly certificate: Material, readonly key: Material } | undefined
  /**
   * Calls a ready endpoint of a service instead of its cluster address, `--enable-aggregator-routing`. Default false.
   */
  readonly toEndpoints?: boolean | undefined
}

export interface Aggregation {
  /**
   * The APIService whose server serves a path below `/api/VERSION` or `/apis/GROUP/VERSION`. Call it for what this
   * server does not serve.
   */
  readonly find: (path: string) => RegisteredService | undefined
  /** @throws StatusError 503 if the server is not available */
  readonly proxy: RemoteProxy
  /** All groups with their versions, in discovery order. */
  readonly groups: () => ReadonlyMap<string, readonly string[]>
  /** OpenAPI documents of extension servers; the same object until one changes. */
  readonly documents: () => Promise<Documents>
  /** Resources of extension servers; the same object until one changes. */
  readonly discovery: () => Promise<RemoteVersions>
  /** The objects of extension servers in namespaces that are being deleted. */
  readonly contents: RemoteContents
  readonly controllers: readonly Controller[]
}

const GROUP_VERSION = /^\/(?:api|apis\/([^/]+))\/([^/]+)(?=\/|$)/
/** An extension server could resolve a path with such segments to another path than the authorized one. */
const AMBIGUOUS = /\/(?:\.{0,2}\/|\.{1,2}$)/

export default plugin<AggregationOptions>()(async (fastify, { client, toEndpoints = false }) => {
  const {
    orchResources: resources, orchMetrics: metrics, orchShutdown: shutdown, orchEgress: { cluster: tunnel },
    orchSettings: { outside, featureGates }
  } = fastify
  const log = (message: string, error: unknown): void => { fastify.log.warn(failureFields(error), message) }
  const reader = admissionReader(() => resources)
  const endpoints = readyEndpoints(reader, featureGates.enabled('SlicesLocateServices'))
  const routing = { reader, endpoints: toEndpoints ? endpoints : undefined, tunnel, outside }
  const certificate = new ClientCertificate(client)
  const pools = new Pools()
  const via = `1.1 orch-apiserver-${randomUUID()}`
  const services = new RegisteredServices({ resources, log })
  services.onChange((before, after) => {
    if (before?.remote !== undefined && before.remote !== after?.remote) pools.retire(before.name)
  })

  const reportUnread = occasionally<readonly [string, unknown]>(([name, error]) => {
    log(`the OpenAPI document of APIService ${name} is left out`, error)
  })
  const asking = exchange(routing, certificate, pools, via)
  const documents = new RemoteDocuments({
    services, fetch: documentFetch(asking), shownPath: outside.path,
    failed: (name, error) => { reportUnread([name, error]) }
  })

  const reportUndiscovered = occasionally<readonly [string, unknown]>(([name, error]) => {
    log(`the resources of APIService ${name} are those that it had last in discovery`, error)
  })
  const discovery = new RemoteDiscovery({
    services, fetch: discoveryFetch(asking, outside), shownGroup: outside.group,
    failed: (name, error) => { reportUndiscovered([name, error]) }
  })

  let order: ReadonlyMap<string, readonly string[]> | undefined
  let orderOf = ''
  fastify.decorate('orchAggregation', {
    find: path => {
      const [prefix = '', group = '', version = ''] = GROUP_VERSION.exec(path) ?? []
      const service = prefix === '' ? undefined : services.find(group, version)
      return service === undefined || AMBIGUOUS.test(path) ? undefined : service
    },
    proxy: remoteProxy({
      ...routing, certificate, pools, ending: shutdown.signal, via, certificates: observeCertificates(metrics),
      sendsUid: featureGates.enabled('RemoteRequestHeaderUID')
    }),
    groups: () => {
      const current = `${resources.generation} ${services.generation}`
      if (order === undefined || current !== orderOf) {
        orderOf = current
        order = discoveryOrder(resources.servedVersions(), services.byName)
      }
      return order
    },
    documents: () => documents.current(),
    discovery: () => discovery.current(),
    contents: remoteContents(services, namespaceAsk(asking)),
    controllers: [services, new Availability({
      resources, log, services, reader, endpoints, probe: discoveryProbe(routing, certificate, via),
      observer: observeAvailability(metrics)
    })]
  })
  fastify.addHook('onReady', async () => { await certificate.current() })
  fastify.addHook('onClose', (_instance, done) => {
    pools.close()
    done()
  })
}, {
  name: 'orch/aggregation',
  fastify: '5.x',
  decorators: {
    fastify: ['orchEgress', 'orchMetrics', 'orchResources', 'orchSettings', 'orchShutdown'], request: ['orch']
  }
})
