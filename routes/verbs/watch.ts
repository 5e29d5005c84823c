/** WATCH: validates the request before the stream begins. (Interface: Watch.) */
import type { Representation } from '../../schemas/resource.js'
import { badRequest } from '../../schemas/status.js'
import { WatchSubscriber, type Verb, type WatchAnswer } from '../../answers/answer.js'
import { watch } from '../../registry/verbs/watch.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { refuseContradictions, rulesOf, sendInitialEvents } from '../list-options.js'
import { bool, count, integer, watchSelectors, selectors, text } from '../query.js'
import { mayReadFrom } from '../past.js'
import { asksForWebSocket } from '../../serving/wire/web-socket.js'

export interface WatchTimes { readonly minRequestTimeoutSeconds: number }

/** Characters of a watch URL: the largest valid selector, URL-encoded. */
const MAX_URL_LENGTH = 12 * 1024

/** Seconds a watch may last: as requested, else between one and two times the minimum. */
function lifetime (query: URLSearchParams, { minRequestTimeoutSeconds }: WatchTimes): number {
  const requested = count(query, 'timeoutSeconds')
  if (requested !== undefined && requested > 0) return Math.min(requested, 2 ** 31 / 1000 - 1)
  return minRequestTimeoutSeconds * (1 + Math.random())
}

/**
 * The query of a watch of one object, with a selector on its name.
 * @throws StatusError 400 if the query selects another name
 */
function selectName (query: URLSearchParams, name: string, definition: Representation): URLSearchParams {
  if (name === '') return query
  const { fields } = selectors(query, definition)
  if (!fields.empty && fields.exact.get('metadata.name') !== name) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name")
  }
  if (!fields.empty) return query
  const requested = new URLSearchParams(query)
  requested.set('fieldSelector', `metadata.name=${name.replace(/[\\,=]/g, '\\$&')}`)
  return requested
}

export function watchVerb (store: ResourceStore, times: WatchTimes): Verb {
  return async (request): Promise<WatchAnswer> => {
    const { query, info } = request.orch
    refuseContradictions(query, 'watch', store.gates)
    const streamed = sendInitialEvents(query)
    const { negativeIsNone, watchesContinue } = rulesOf(store.gates)
    if (streamed === undefined && !negativeIsNone) count(query, 'limit')
    else integer(query, 'limit')
    if (!watchesContinue && text(query, 'continue') !== '') throw badRequest('continue is forbidden for watch')
    const bookmarks = bool(query, 'allowWatchBookmarks')
    const seconds = lifetime(query, times)
    const subscriber = new WatchSubscriber()
    const { labels, fields } = watchSelectors(
      selectName(query, info.selected === true ? '' : info.name, store.representation), store.representation
    )
    if (request.url.length > MAX_URL_LENGTH) {
      throw badRequest(`the URL of a watch may have no more than ${MAX_URL_LENGTH} characters`)
    }
    const namespace = store.type.namespaced ? info.namespace : ''
    const resourceVersion = text(query, 'resourceVersion')
    const watched = {
      labels, fields, namespace, resourceVersion, sendInitialEvents: streamed,
      refusesInStream: asksForWebSocket(request.headers) // browsers do not show the answer that refuses a handshake
    }
    const objects = await watch(store, watched, subscriber, mayReadFrom(request, store))
    if (store.cache === undefined) {
      store.trackUncached(subscriber)
      request.orch.onClosed(() => { store.untrackUncached(subscriber) })
    }
    const marked = bookmarks && (streamed === true || store.gates.enabled('WatchList'))
    const { warnings } = request.orch
    return { kind: 'watch', store, watch: objects, seconds, bookmarks, marked, subscriber, warnings }
  }
}
