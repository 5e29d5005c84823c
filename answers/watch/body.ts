/** The body of a watch. */
import type { FastifyReply } from 'fastify'
import type { Representation } from '../../schemas/resource.js'
import { scopeLabel } from '../../auth/request-info.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import type { WatchAnswer } from '../answer.js'
import { Body, type BodyOutput } from '../body.js'
import { warn } from '../heads.js'
import type { ServedRequest } from '../request-context.js'
import { watchForm } from './encoder.js'
import type { WatchObserver } from './metrics.js'
import { WatchStream } from './stream.js'
import { openWatches } from './turns.js'
import { sendMessages, watchSocketOf } from './web-socket.js'

export interface WatchTools {
  readonly closing: () => AbortSignal
  /** Milliseconds over which a shutdown ends watches. */
  readonly grace: () => number
  readonly bytesPerSecond: number
  readonly observerOf: (representation: Representation) => WatchObserver
}

/** Not a closure of `sendWatch`, which would hold the initial state as long as the watch. */
const freshOf = (store: ResourceStore) => (): Promise<void> | undefined => store.cache?.fresh()

/** Counts the time since the request came. */
function listedBy (
  { orch: { info, receivedAt } }: ServedRequest, { clock }: ResourceStore, { listed }: WatchObserver
): (() => void) | undefined {
  if (listed === undefined) return undefined
  const [scope, since] = [scopeLabel(info), receivedAt.getTime()]
  return () => { listed(scope, Math.max(0, clock.wall() - since) / 1000) }
}

/** @throws StatusError 400 for an invalid `includeObject` */
export function sendWatch (
  request: ServedRequest, reply: FastifyReply, answer: WatchAnswer, tools: WatchTools
): undefined {
  const { store, watch, seconds, bookmarks, marked, subscriber } = answer
  const { closing, grace, bytesPerSecond, observerOf } = tools
  const abandon = (): void => { watch.feed.close() }
  try {
    const { type, encoder } = watchForm(request.orch, store)
    const socket = watchSocketOf(request)
    if (reply.raw.destroyed) return abandon() as undefined
    warn(reply, answer.warnings, request.orch)
    reply.header('content-type', type)
    const writeTo = (raw: BodyOutput): void => {
      releaseHeaders(request)
      const open = openWatches(closing(), store.clock, grace)
      const observer = observerOf(store.representation)
      const stream = subscriber.stream = new WatchStream({
        raw,
        watch,
        encoder,
        seconds,
        bookmarks,
        marked,
        listed: marked ? listedBy(request, store, observer) : undefined,
        begun: () => { request.orch.handedOver(0) },
        open,
        fresh: freshOf(store),
        log: request.log,
        auditId: request.orch.auditId,
        bytesPerSecond,
        observer
      })
      if (subscriber.ended !== undefined) stream.fail(subscriber.ended)
      if (closing().aborted) stream.finish()
      open.wake(stream)
    }
    const body = new Body(reply, { writeTo, abandon })
    if (socket === undefined) void reply.send(body)
    else sendMessages(request, reply, body, { ...socket, isText: type.startsWith('application/json') })
  } catch (error) {
    abandon()
    throw error
  }
}

const KEPT = new Set([':method', ':path'])

/**
 * Frees the query and the headers of a watch, which a client may make large. Over HTTP/2 Fastify reads method and URL
 * of a request from the headers that are kept.
 */
function releaseHeaders (request: ServedRequest): void {
  const { raw, orch } = request
  orch.dropQuery()
  request.query = {} // Fastify's copy
  raw.url = (raw.url ?? '').split('?', 1)[0]
  raw.rawHeaders.length = 0
  for (const name of Object.keys(raw.headers)) if (!KEPT.has(name)) delete raw.headers[name]
}
