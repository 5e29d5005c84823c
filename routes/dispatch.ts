/**
 * Finds what serves a request: a type of this server, built in or defined at run time, or the extension server of its
 * group version.
 */
import type { RouteHandlerMethod } from 'fastify'
import { served } from '../answers/request-context.js'
import { answered, answering } from '../answers/send.js'
import { observeWatches } from '../answers/watch/metrics.js'
import { deprecationIn } from '../schemas/resource.js'
import { deprecations } from './deprecation.js'
import { connectingVerbTables } from './verb-tables.js'
import { unknownPath } from './unknown-path.js'
import type { RoutedServer } from './needs.js'

/** The handler of all routes of the API. It reads the request info alone, as authorization does. */
export function dispatcher (fastify: RoutedServer): RouteHandlerMethod {
  const {
    orchResources: resources, orchAggregation: aggregation, orchMetrics: metrics, orchShutdown: shutdown,
    orchSettings: settings
  } = fastify
  const verbsOf = connectingVerbTables(fastify)
  const answer = answering({
    closing: () => shutdown.signal, grace: () => shutdown.watchGrace,
    bytesPerSecond: settings.connectionBytesPerSecond, observerOf: observeWatches(metrics, settings.featureGates)
  })
  const noteDeprecation = deprecations(metrics.gauge)
  const proxied = answered(request => {
    const { info } = request.orch
    const service = aggregation.find(info.path)
    if (service === undefined) throw unknownPath(info)
    return aggregation.proxy(service, request)
  })
  return (arrived, reply) => {
    const request = served(arrived)
    const { info } = request.orch
    const store = info.deeper === undefined ? resources.lookup(info) : undefined
    if (store !== undefined) {
      const verb = verbsOf(store).of(info, request.method)
      if (deprecationIn(store.gates, store.representation) !== undefined) noteDeprecation(request, store.representation)
      request.orch.trace.handledAt = performance.now()
      return answer(request, reply, verb)
    }
    return proxied(request, reply)
  }
}
