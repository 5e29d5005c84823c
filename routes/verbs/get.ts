/** GET of one object: from the cache's bytes to the wire, without parsing anything. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { get } from '../../storage/operations/get.js'
import type { ResourceStore } from '../../storage/resource-store.js'
import { text } from '../query.js'
import { sendEntry } from '../respond.js'

export function getHandler (store: ResourceStore) {
  return (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> | undefined => {
    const { info, query } = request.orch
    const found = get(store, info.namespace, info.name, query.size === 0 ? '' : text(query, 'resourceVersion'))
    if (found instanceof Promise) return found.then(entry => sendEntry(request, reply, store, entry))
    sendEntry(request, reply, store, found) // not its result, which Fastify would take for something to wait for
    return undefined
  }
}
