/** Begins the stream of a watch. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { WatchAnswer } from '../answers/answer.js'
import type { Representation } from '../schemas/index.js'
import { begin } from './stream.js'
import { watchForm } from './watch-encoder.js'
import type { WatchObserver } from './watch-metrics.js'
import { WatchStream } from './watch-stream.js'
import { openWatches } from './watch-turns.js'

export interface WatchTools {
  readonly closing: () => AbortSignal
  readonly bytesPerSecond: number
  readonly observerOf: (representation: Representation) => WatchObserver
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

/** @throws StatusError 400 for an invalid `includeObject` */
export function sendWatch (request: FastifyRequest, reply: FastifyReply, answer: WatchAnswer, tools: WatchTools): void {
  const { store, watch, seconds, bookmarks, subscriber } = answer
  const { closing, bytesPerSecond, observerOf } = tools
  try {
    const form = watchForm(request, store)
    if (reply.raw.destroyed) return watch.feed.close()
    releaseHeaders(request)
    const open = openWatches(closing(), store.clock)
    const stream = subscriber.stream = new WatchStream({
      raw: begin(reply, { 'content-type': form.type }),
      watch,
      encoder: form.encoder,
      seconds,
      bookmarks,
      open,
      fresh: () => store.cache?.fresh(),
      log: request.log,
      bytesPerSecond,
      observer: observerOf(store.representation)
    })
    if (subscriber.ended !== undefined) stream.fail(subscriber.ended)
    if (closing().aborted) stream.finish()
    open.wake(stream)
    request.orch.handedOver(0)
  } catch (error) {
    watch.feed.close()
    throw error
  }
}
