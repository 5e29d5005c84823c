/** WATCH: what is asked for is checked before the stream begins; `watch-stream.ts` is the stream. (Interface: Watch.) */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Representation } from '../../schemas/index.js'
import { badRequest, invalid } from '../../schemas/status.js'
import type { StorageError } from '../../storage/errors.js'
import type { Subscriber } from '../../storage/cache/subscribers.js'
import { watch } from '../../registry/operations/watch.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { bool, count, heldSelectors, refuseInitialEvents, selectors, text } from '../query.js'
import { begin } from '../stream.js'
import { watchForm } from '../watch-encoder.js'
import type { WatchObserver } from '../watch-metrics.js'
import { WatchStream } from '../watch-stream.js'
import { openWatches } from '../watch-turns.js'

export interface WatchTimes { readonly minRequestTimeoutSeconds: number }
interface WatchSettings extends WatchTimes { readonly connectionBytesPerSecond: number }

/** Characters of the URL of a watch: room for the largest selector that it may hold, with what encoding adds. */
const MOST_TARGET = 12 * 1024

/** Seconds a watch may last: what the client says, else between one and two of the minimum. */
function lifetime (query: URLSearchParams, { minRequestTimeoutSeconds }: WatchTimes): number {
  const asked = count(query, 'timeoutSeconds')
  if (asked !== undefined && asked > 0) return Math.min(asked, 2 ** 31 / 1000 - 1)
  return minRequestTimeoutSeconds * (1 + Math.random())
}

/** From the feed to the stream. What happens before the stream stands is noticed when it does: the feed keeps its place. */
class WatchSubscriber implements Subscriber {
  stream: WatchStream | undefined = undefined
  ended: StorageError | undefined = undefined

  wake (): void { this.stream?.wake() }

  end (error: StorageError): void {
    this.ended = error
    this.stream?.fail(error)
  }
}

/** Lets go of what nobody asks for any more of a request that lasts: its query and its headers, which a client may make large. */
function releaseHeaders (request: FastifyRequest): void {
  const { raw } = request
  request.orch.dropQuery()
  request.query = {} // as Fastify has parsed it
  raw.url = request.orch.info.path
  raw.rawHeaders.length = 0
  for (const name of Object.keys(raw.headers)) delete raw.headers[name]
}

/** What a watch of one object selects, as its path may ask for. @throws StatusError 400 for a query that selects another one */
function ofOne (query: URLSearchParams, name: string, definition: Representation): URLSearchParams {
  if (name === '') return query
  const { fields } = selectors(query, definition)
  if (!fields.empty && fields.exact.get('metadata.name') !== name) throw badRequest("fieldSelector metadata.name doesn't match requested name")
  if (!fields.empty) return query
  const asked = new URLSearchParams(query)
  asked.set('fieldSelector', `metadata.name=${name.replace(/[\\,=]/g, '\\$&')}`)
  return asked
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
    const link = new WatchSubscriber()
    const { labels, fields } = heldSelectors(ofOne(query, info.selected === true ? '' : info.name, store.representation), store.representation)
    if ((request.raw.url ?? '').length > MOST_TARGET) throw badRequest(`the URL of a watch may have no more than ${MOST_TARGET} characters`)
    const objects = await watch(store, { labels, fields, namespace: store.type.namespaced ? info.namespace : '', resourceVersion: text(query, 'resourceVersion') }, link)
    if (reply.raw.destroyed) {
      objects.feed.close()
      return reply
    }
    if (store.cache === undefined) {
      store.trackUncached(link)
      request.orch.onClosed(() => { store.untrackUncached(link) })
    }
    releaseHeaders(request)
    const open = openWatches(closing())
    const stream = link.stream = new WatchStream({
      raw: begin(reply, { 'content-type': form.type }), watch: objects, encoder: form.encoder, seconds, bookmarks, open, fresh: () => store.cache?.fresh(), log: request.log, bytesPerSecond: times.connectionBytesPerSecond, observer
    })
    if (link.ended !== undefined) stream.fail(link.ended)
    if (closing().aborted) stream.finish()
    open.wake(stream)
    request.orch.handedOver(0)
    return reply
  }
}
