/**
 * Hands requests to Fastify. Those that one turn of the event loop has read are served together, as long as the turn
 * has time. The listener itself answers what it refuses, and holds back requests while a connection moves elsewhere.
 * Counts the active responses of HTTP/1 connections.
 */
import type { Http2ServerResponse, ServerHttp2Stream } from 'node:http2'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { afterPoll } from '../event-loop/batching.js'
import { ACTIVE, LAST_ENDED_AT, LATEST, type Counted } from './active-responses.js'
import type { GracefulGoaway } from './goaway.js'
import { originForm, overHttp1, refusalOf, refuse, type Refusal } from './refusals.js'

export interface DispatcherOptions {
  /** Probability, 0 to 1, that an HTTP/2 request makes its client reconnect. */
  readonly goawayChance: number
  /** Milliseconds from a GOAWAY until its connection is closed. */
  readonly leave: number
}

export class Dispatcher {
  /** Requests until now. */
  arrivals = 0
  /** Whether HTTP/1 connections close as soon as they are idle. */
  ending = false
  /** Whether the server may ask clients to reconnect, so that requests may have to be held. */
  mayGoaway: boolean
  readonly #handler: RequestListener
  readonly #options: DispatcherOptions
  readonly #goaway: () => GracefulGoaway
  /** Shared by all HTTP/1 responses. */
  readonly #answered: (this: ServerResponse) => void

  constructor (handler: RequestListener, options: DispatcherOptions, goaway: () => GracefulGoaway) {
    this.#handler = handler
    this.#options = options
    this.#goaway = goaway
    this.mayGoaway = options.goawayChance > 0
    const isEnding = (): boolean => this.ending
    this.#answered = function () {
      const socket: Counted = this.req.socket
      if ((socket[ACTIVE] = (socket[ACTIVE] ?? 1) - 1) > 0) return
      socket[LATEST] = undefined
      socket[LAST_ENDED_AT] = performance.now()
      if (isEnding()) socket.end()
    }
  }

  dispatch (request: IncomingMessage, response: ServerResponse, refusal?: Refusal): void {
    this.arrivals++
    if (overHttp1(request)) {
      const isFirst = this.#count(request.socket, response)
      // Node up to 26.10 closes the connection at the end of the read that completes a handshake with a badly signed
      // certificate. Serve the first request at once, so that its 401 is sent.
      if (isFirst || refusal !== undefined) this.#serve(request, response, refusal)
      else this.#serveInTurn(request, response, { client: request.socket, target: response })
      return
    }
    const { stream } = response as unknown as Http2ServerResponse
    if (this.mayGoaway && this.#isHeld(stream, () => { this.#serve(request, response, refusal) })) return
    if (refusal !== undefined) this.#serve(request, response, refusal)
    // Compatibility responses do not know whether they have closed.
    else this.#serveInTurn(request, response, { client: stream.session ?? stream, target: stream })
  }

  /** Skips requests that have closed: their seat would never be released. */
  #serveInTurn (
    request: IncomingMessage, response: ServerResponse,
    { client, target }: { readonly client: object, readonly target: { readonly destroyed: boolean } }
  ): void {
    afterPoll(client, () => { if (!target.destroyed) this.#serve(request, response) })
  }

  /** Returns true for the first request of an HTTP/1 connection. */
  #count (socket: Counted, response: ServerResponse): boolean {
    const isFirst = socket[ACTIVE] === undefined
    socket[ACTIVE] = (socket[ACTIVE] ?? 0) + 1
    socket[LATEST] = response
    response.on('close', this.#answered)
    return isFirst
  }

  #isHeld (stream: ServerHttp2Stream, serve: () => void): boolean {
    const { session } = stream
    const { goawayChance, leave } = this.#options
    const goaway = this.#goaway()
    if (session !== undefined && Math.random() < goawayChance) {
      // Closing immediately would reset the connection if more data arrives.
      goaway.send(session, () => { setTimeout(() => { session.close() }, leave).unref() })
    }
    return goaway.holds(stream, serve)
  }

  #serve (
    request: IncomingMessage, response: ServerResponse, refusal: Refusal | undefined = refusalOf(request)
  ): void {
    const { url = '' } = request
    const path = url.startsWith('/') && !url.includes('#') ? url : originForm(url)
    if (refusal !== undefined) {
      refuse(response, refusal)
    } else if (path === undefined) {
      refuse(response, {
        code: 400, reason: 'BadRequest', message: 'the request target is neither a path nor a URL, or has a fragment'
      })
    } else {
      if (path !== url) request.url = path
      this.#handler(request, response as ServerResponse<IncomingMessage> & { req: IncomingMessage })
    }
  }
}
