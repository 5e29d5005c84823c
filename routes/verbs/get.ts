/** GET of one object: sends the cached bytes without parsing. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../schemas/status.js'
import { get } from '../../registry/operations/get.js'
import type { Source } from '../../registry/resource-registry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { text } from '../query.js'
import { sendEntry } from '../respond.js'

/** GET of a virtual object. */
export function getSourceHandler (store: ResourceStore, source: Source) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { namespace, name } = request.orch.info
    const object = (await source()).find(({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === namespace)
    if (object === undefined) throw notFound(store.resource, name)
    return sendEntry(request, reply, store, store.unstored(store.key(namespace, name), object))
  }
}

export function getHandler (store: ResourceStore) {
  return (request: FastifyRequest, reply: FastifyReply): undefined => {
    const { info, query } = request.orch
    const found = get(store, info.namespace, info.name, query.size === 0 ? '' : text(query, 'resourceVersion'))
    // Return undefined: Fastify would wait for a promise, and the reply is thenable.
    if (!(found instanceof Promise)) {
      sendEntry(request, reply, store, found)
      return undefined
    }
    const reading = request.orch.trace.start('Get from storage')
    const fail = (error: unknown): void => {
      reading.end(error)
      if (!reply.sent) void reply.send(error)
    }
    found.then(entry => {
      reading.end()
      try {
        sendEntry(request, reply, store, entry)
      } catch (error) {
        fail(error)
      }
    }, fail)
    return undefined
  }
}
