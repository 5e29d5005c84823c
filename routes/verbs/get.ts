/** GET of one object: from the cache's bytes to the wire, without parsing anything. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { get } from '../../storage/operations/get.js'
import type { ResourceStore } from '../../storage/resource-store.js'
import { text } from '../query.js'
import { sendEntry } from '../respond.js'

export function getHandler (store: ResourceStore) {
  return (request: FastifyRequest, reply: FastifyReply): undefined => {
    const { info, query } = request.orch
    const found = get(store, info.namespace, info.name, query.size === 0 ? '' : text(query, 'resourceVersion'))
    // Nothing is given back for Fastify to wait for, neither a promise nor the reply, which looks like one.
    if (!(found instanceof Promise)) {
      sendEntry(request, reply, store, found)
      return undefined
    }
    const fail = (error: unknown): void => { if (!reply.sent) void reply.send(error) }
    found.then(entry => {
      try {
        sendEntry(request, reply, store, entry)
      } catch (error) {
        fail(error)
      }
    }, fail)
    return undefined
  }
}
