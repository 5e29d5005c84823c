/** Fastify on the listener: without its request logs, ids, query parser and schema compilers. */
import type { Server } from 'node:http'
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance, type FastifyReply } from 'fastify'
import { answerBadRequest } from './client-errors.js'
import { createListener, type Listener, type ListenerOptions } from './listener.js'
import { badRequestBody } from './refusals.js'

/** @throws Error if Fastify makes no server */
export function createRoot (
  log: FastifyBaseLogger, options: ListenerOptions
): { root: FastifyInstance, listener: Listener } {
  let listener: Listener | undefined
  const root = Fastify({
    // Avoid Fastify's request logging, which would create a logger and timer per request.
    childLoggerFactory: () => log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => '', // requests are identified by their audit-id
    routerOptions: { maxParamLength: 1000, querystringParser: () => NO_QUERY },
    return503OnClosing: false,
    serverFactory: handler => {
      listener = createListener(handler, options)
      return listener.server as unknown as Server // it serves both HTTP versions
    },
    clientErrorHandler: answerBadRequest,
    frameworkErrors: ({ statusCode }, _request, reply) => {
      const answer = reply as unknown as FastifyReply // its type is parameterized by schemas, which are unused
      const code = statusCode === 414 ? 414 : 400
      answer.code(code).headers({ 'content-type': 'application/json', 'cache-control': 'no-cache, private' })
        .send(badRequestBody(
          code, 'BadRequest', 'the request path is not valid: it is no percent-encoded UTF-8 or has too long a part'
        ))
    },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } }
  })
  root.log = log
  if (listener === undefined) throw new Error('Fastify made no server')
  return { root, listener }
}

/** The query is parsed lazily by request info. */
const NO_QUERY = Object.freeze({})

/** Routes have no Fastify schemas; Fastify's two compilers would add a fifth to the start-up time. */
function noSchemas (): never {
  throw new Error('a route has a schema, but no schema compiler is set')
}
