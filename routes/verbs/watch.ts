/** WATCH: validates the request before the stream begins; `watch-stream.ts` is the stream. (Interface: Watch.) */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Representation } from '../../schemas/index.js'
import { badRequest, invalid } from '../../schemas/status.js'
import type { StorageError } from '../../storage/errors.js'
import type { Subscriber } from '../../storage/cache/subscribers.js'
import { watch } from '../../registry/operations/watch.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { bool, count, watchSelectors, refuseInitialEvents, selectors, text } from '../query.js'
import { mayReadFrom } from '../past.js'
import { begin } from '../stream.js'
import { watchForm } from '../watch-encoder.js'
import type { WatchObserver } from '../watch-metrics.js'
import { WatchStream } from '../watch-stream.js'
import { openWatches } from '../watch-turns.js'

export interface WatchTimes { readonly minRequestTimeoutSeconds: number }
interface WatchSettings extends WatchTimes { readonly connectionBytesPerSecond: number }

/** Characters of a watch URL: the largest valid selector, URL-encoded. */
const MAX_URL_LENGTH = 12 * 1024

/** Seconds a watch may last: as requested, else between one and two times the minimum. */
function lifetime (query: URLSearchParams, { minRequestTimeoutSeconds }: WatchTimes): number {
  const requested = count(query, 'timeoutSeconds')
  if (requested !== undefined && requested > 0) return Math.min(requested, 2 ** 31 / 1000 - 1)
  return minRequestTimeoutSeconds * (1 + Math.random())
}

/** Connects feed and stream. Events before the stream exists are not lost: the feed keeps its position. */
class WatchSubscriber implements Subscriber {
  stream: WatchStream | undefined = undefined
  ended: StorageError | undefined = undefined

  wake (): void { this.stream?.wake() }

  end (error: StorageError): void {
    this.ended = error
    this.stream?.fail(error)
  }
}

/** Frees the query and the headers of a long-running request, which a client may make large. */
function releaseHeaders (request: FastifyRequest): void {
  const { raw } = request
  request.orch.dropQuery()
  request.query = {} // Fastify's copy
  raw.url = request.orch.info.path
  raw.rawHeaders.length = 0
  for (const name of Object.keys(raw.headers)) delete raw.headers[name]
}

/** The query of a watch of one object, with a selector on its name. @throws StatusError 400 if the query selects another name */
function selectName (query: URLSearchParams, name: string, definition: Representation): URLSearchParams {
  if (name === '') return query
  const { fields } = selectors(query, definition)
  if (!fields.empty && fields.exact.get('metadata.name') !== name) throw badRequest("fieldSelector metadata.name doesn't match requested name")
  if (!fields.empty) return query
  const requested = new URLSearchParams(query)
  requested.set('fieldSelector', `metadata.name=${name.replace(/[\\,=]/g, '\\$&')}`)
  return requested
}

export function watchHandler (store: ResourceStore, times: WatchSettings, closing: () => AbortSignal, observer: WatchObserver) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { query, info } = request.orch
    refuseInitialEvents(query)
    count(query, 'limit')
    if (text(query, 'continue') !== '') throw badRequest('continue is forbidden for watch')
    if (text(query, 'resourceVersionMatch') !== '') {
      throw invalid({ group: 'meta.orch.io', kind: 'ListOptions' }, '', [{ type: 'FieldValueForbidden', field: 'resourceVersionMatch', detail: 'resourceVersionMatch is forbidden for watch' }])
    }
    const bookmarks = bool(query, 'allowWatchBookmarks')
    const seconds = lifetime(query, times)
    const form = watchForm(request, store)
    const subscriber = new WatchSubscriber()
    const { labels, fields } = watchSelectors(selectName(query, info.selected === true ? '' : info.name, store.representation), store.representation)
    if ((request.raw.url ?? '').length > MAX_URL_LENGTH) throw badRequest(`the URL of a watch may have no more than ${MAX_URL_LENGTH} characters`)
    const namespace = store.type.namespaced ? info.namespace : ''
    const watched = { labels, fields, namespace, resourceVersion: text(query, 'resourceVersion') }
    const objects = await watch(store, watched, subscriber, mayReadFrom(request, store))
    if (reply.raw.destroyed) {
      objects.feed.close()
      return reply
    }
    if (store.cache === undefined) {
      store.trackUncached(subscriber)
      request.orch.onClosed(() => { store.untrackUncached(subscriber) })
    }
    releaseHeaders(request)
    const open = openWatches(closing(), store.clock)
    const stream = subscriber.stream = new WatchStream({
      raw: begin(reply, { 'content-type': form.type }), watch: objects, encoder: form.encoder, seconds, bookmarks, open, fresh: () => store.cache?.fresh(), log: request.log, bytesPerSecond: times.connectionBytesPerSecond, observer
    })
    if (subscriber.ended !== undefined) stream.fail(subscriber.ended)
    if (closing().aborted) stream.finish()
    open.wake(stream)
    request.orch.handedOver(0)
    return reply
  }
}
