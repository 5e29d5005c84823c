/** WATCH: what is asked for is checked before the stream begins; `watch-stream.ts` is the stream. (Interface: Watch.) */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { badRequest } from '../../schemas/status.js'
import type { StorageError } from '../../storage/errors.js'
import type { Subscriber } from '../../storage/cache/subscribers.js'
import { watch } from '../../storage/operations/watch.js'
import type { ResourceStore } from '../../storage/resource-store.js'
import { bool, count, refuseInitialEvents, selectors, text } from '../query.js'
import { begin } from '../stream.js'
import { watchForm } from '../watch-encoder.js'
import { WatchStream } from '../watch-stream.js'
import { openWatches } from '../watch-turns.js'

export interface WatchTimes { readonly minRequestTimeoutSeconds: number }

/** Seconds a watch may last: what the client says, else between one and two of the minimum. */
function lifetime (query: URLSearchParams, { minRequestTimeoutSeconds }: WatchTimes): number {
  const asked = count(query, 'timeoutSeconds')
  if (asked !== undefined && asked > 0) return Math.min(asked, 2 ** 31 / 1000 - 1)
  return minRequestTimeoutSeconds * (1 + Math.random())
}

/** From the feed to the stream. What happens before the stream stands is noticed when it does: the feed keeps its place. */
class Link implements Subscriber {
  stream: WatchStream | undefined = undefined
  ended: StorageError | undefined = undefined

  wake (): void { this.stream?.wake() }

  end (error: StorageError): void {
    this.ended = error
    this.stream?.fail(error)
  }
}

export function watchHandler (store: ResourceStore, times: WatchTimes, closing: () => AbortSignal) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { query, info } = request.orch
    bool(query, 'watch', true)
    refuseInitialEvents(query)
    count(query, 'limit')
    for (const name of ['continue', 'resourceVersionMatch']) {
      if (text(query, name) !== '') throw badRequest(`${name} is forbidden for a watch`)
    }
    const bookmarks = bool(query, 'allowWatchBookmarks')
    const seconds = lifetime(query, times)
    const form = watchForm(request, store)
    const link = new Link()
    const { labels, fields } = selectors(query, store.definition)
    const objects = await watch(store, { labels, fields, namespace: info.namespace, resourceVersion: text(query, 'resourceVersion') }, link)
    if (reply.raw.destroyed) {
      objects.feed.close()
      return reply
    }
    const open = openWatches(closing())
    const stream = link.stream = new WatchStream({
      raw: begin(reply, { 'content-type': form.type }), watch: objects, encoder: form.encoder, seconds, bookmarks, open, fresh: () => store.cache?.fresh(), log: request.log
    })
    if (link.ended !== undefined) stream.fail(link.ended)
    if (closing().aborted) stream.finish()
    open.wake(stream)
    return reply
  }
}
