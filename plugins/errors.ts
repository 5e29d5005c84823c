/**
 * Renders every failure as a Status in the negotiated encoding. Errors other than StatusError and StorageError are
 * logged with their cause and returned as InternalError. The not-found handler is set in this scope: without one
 * Fastify skips the hooks for unmatched URLs, so that a 404 would bypass authentication and audit. Registered first in
 * app.ts.
 */
import { Readable } from 'node:stream'
import type { FastifyRequest, onSendHookHandler } from 'fastify'
import { isClientError } from '../clients/errors.js'
import { sendFailure, writtenFailure, type WrittenFailure } from '../answers/failure.js'
import { served } from '../answers/request-context.js'
import { isDecodeError } from '../schemas/language/decode-error.js'
import { isStorageError, isUnreadable, reasonOf, type StorageError } from '../storage/errors.js'
import {
  badRequest, bodyTooSlow, expired, futureVersion, internalError, serviceUnavailable, StatusError, tooLarge,
  unsupportedMediaType
} from '../schemas/status.js'
import { unanswered } from '../registry/verb-table.js'
import { negotiate } from './shared/accept.js'
import { acceptOf } from './shared/client-names.js'
import { plugin } from './shared/plugin.js'
import { later } from './shared/server.js'

/**
 * Maximum milliseconds of waiting for the store after which a client still gets Retry-After. After longer waits kubectl
 * would repeat the request ten times and wait as long each time.
 */
const LONG_WAIT = 1000

/** Status for a storage error that no operation has translated. @param waited milliseconds since the request arrived */
function statusOfStorage (error: StorageError, waited: number): StatusError {
  switch (error.code) {
    case 'Compacted':
      return expired(
        'The provided resource version is too old: that state is no longer kept; list again without a ' +
          'resourceVersion or continue token.'
      )
    case 'FutureRevision': return futureVersion(error.message)
    // Without Retry-After: retries cannot succeed until an operator frees space.
    case 'NoSpace': return new StatusError('ServiceUnavailable', noSpaceText(error), { cause: error })
    case 'TooLarge': return tooLarge(error.message)
    case 'Unavailable':
    case 'Closed': {
      const answers = error.since === undefined
        ? 'does not answer'
        : `has not answered since ${new Date(error.since).toISOString()}`
      return new StatusError('ServiceUnavailable', `the store of the cluster state ${answers}; nothing was changed`, {
        details: waited < LONG_WAIT ? { retryAfterSeconds: 1 } : {}, cause: error
      })
    }
    case 'UnknownOutcome':
      return new StatusError(
        'Timeout',
        'the store did not confirm the change and it may or may not have been made; read the object before trying ' +
          'again',
        { cause: error }
      )
    case 'Corrupt':
      return error.key === undefined
        ? internalError(error)
        : new StatusError(
            'InternalError',
          `Internal error occurred: the stored object ${error.key} is damaged and cannot be read; delete it or ` +
            'restore the store, the objects beside it are well',
          { cause: error }
          )
    case 'Undecryptable': {
      const message = `Internal error occurred: ${error.message}; the objects beside it are well`
      return new StatusError('InternalError', message, { cause: error })
    }
    case 'KeyService':
      return new StatusError(
        'InternalError', `Internal error occurred: ${error.message}; nothing was changed`, { cause: error }
      )
    case 'NotFound': return internalError(error) // a lease, which only the server requests
  }
}

const noSpaceText = ({ remedy }: StorageError): string => remedy === undefined
  ? 'the disk of the cluster state is nearly full: new objects and changes are refused until there is room; ' +
    'nothing was changed. Reads and deletes go on'
  : 'the store of the cluster state has no space left: new objects and changes are refused; ' +
    `nothing was changed. Reads and deletes go on; ${remedy}`

interface FastifyFailure extends Error { code?: string, statusCode?: number }

/** Converts any thrown value to the Status for the client. @param waited milliseconds since the request arrived */
export function statusOf (error: unknown, waited = 0): StatusError {
  if (error instanceof StatusError) return error
  if (isDecodeError(error)) return badRequest(error.message)
  if (isStorageError(error)) return statusOfStorage(error, waited)
  const { code, statusCode, message } = error as FastifyFailure
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return unsupportedMediaType('the Content-Type header is not a media type')
  }
  if (code === 'FST_ERR_BAD_URL') return badRequest('the request path is not valid')
  if (statusCode === 400) return badRequest(`the request can't be read: ${message}`)
  if (statusCode === 408) return bodyTooSlow()
  if (statusCode === 413) return tooLarge('the request is too large')
  if (statusCode === 503) return serviceUnavailable('the server is closing')
  return internalError(error)
}

/** The Status in the format that the client asks for, who may not have been asked yet. */
function written (failure: StatusError, request: FastifyRequest): WrittenFailure {
  const { accept, info } = request.orch ?? {}
  const asked = accept ?? negotiate(acceptOf(request), {
    protobuf: true, watch: false, transforms: true, html: info?.path === '/'
  })
  return writtenFailure(failure, request, asked)
}

/**
 * Its deadline has passed: while a host's hook holds the answer, the failure is sent too, and both come here. The first
 * becomes the failure, whatever it is, and the second is dropped.
 */
const guardOverdue: onSendHookHandler = (request, reply, payload, send) => {
  const { orch } = request
  if (orch?.overdue !== true) return send()
  if (payload instanceof Readable) payload.destroy()
  const { failure } = orch
  if (reply.raw.headersSent || failure === undefined) return
  const { type, bytes } = written(failure, request)
  for (const name of ['content-encoding', 'content-length']) reply.removeHeader(name)
  reply.type(type)
  send(null, bytes)
}

/** Minimum milliseconds between log lines about a failing store: an outage fails every request. */
const STORE_LINES_EVERY = 1000

export default plugin()(async fastify => {
  /** Served paths without parameters. A lookup in the router would interpret client input as a pattern. */
  const paths = new Set<string>()
  const resources = later(fastify, 'orchResources')
  fastify.addHook('onRoute', route => {
    if (!/[:*]/.test(route.url)) paths.add(route.url)
    route.onSend = [...[route.onSend ?? []].flat(), guardOverdue] // after the hooks of hosts, whenever those are added
  })

  let lastLoggedAt = -Infinity
  let unlogged = 0
  const logFailure = (request: FastifyRequest, cause: unknown, status: number): void => {
    const { log, url } = request
    const auditId = request.orch?.auditId
    if (isClientError(cause)) {
      log.error({ reason: cause.message, url, status, auditId }, 'another server failed a request') // no fault here
    } else if (!isStorageError(cause) || isUnreadable(cause)) {
      log.error({ err: cause, url, status, auditId }, 'request failed')
    } else if (performance.now() - lastLoggedAt < STORE_LINES_EVERY) {
      unlogged++
    } else {
      log.error(
        { reason: reasonOf(cause), url, status, auditId, ...(unlogged === 0 ? {} : { unlogged }) },
        'the store failed a request'
      )
      lastLoggedAt = performance.now()
      unlogged = 0
    }
  }

  fastify.setErrorHandler((error, request, reply) => {
    const context = request.orch
    const failure = statusOf(error, context === undefined ? 0 : performance.now() - context.trace.startedAt)
    if (context !== undefined) {
      context.failure = failure
      context.defect = failure.status.reason === 'InternalError' && failure.cause === error && !isStorageError(error)
    }
    if (failure.status.code >= 500 &&
      !failure.unlogged) logFailure(request, failure.cause ?? error, failure.status.code)
    else if (failure.status.code === 401 && failure.cause !== undefined) {
      request.log.info({ reason: String(failure.cause) }, 'authentication refused')
    }
    return sendFailure(failure, request, reply, written(failure, request))
  })

  fastify.setNotFoundHandler((request, reply) => {
    const { orch } = served(request)
    const { info } = orch
    const isServed = info.isResourceRequest ? resources()?.serves(info) === true : paths.has(fastify.prefix + info.path)
    const failure = unanswered(isServed)
    orch.failure = failure
    return sendFailure(failure, request, reply, written(failure, request))
  })
}, { name: 'orch/errors', fastify: '5.x' })
