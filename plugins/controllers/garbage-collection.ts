/**
 * The garbage collector of this server. It asks by requests within the process as the service account of the public
 * collector, whom the default roles let do what it does.
 */
import { serviceAccountGroups, serviceAccountUsername } from '../../auth/service-account-names.js'
import { GarbageCollector, type GarbageCollectorOptions } from '../../controllers/garbage/collector.js'
import type { Request, Requests } from '../../controllers/garbage/requests.js'
import type { Discover, RemoteVersion } from '../../controllers/garbage/types.js'
import { StorageError } from '../../storage/errors.js'
import { apiVersionOf } from '../../schemas/groups.js'
import type { Having } from '../shared/plugin.js'

const NAMESPACE = 'orch-system'
const NAME = 'generic-garbage-collector'
const METADATA = ['', 'List']
  .map(kind => `application/json;as=PartialObjectMetadata${kind};g=meta.orch.io;v=v1`).concat('application/json').join()
/** Maximum bytes of an answer or an event; reading more would hold the event loop. */
const MAX_BYTES = 3 * 1024 * 1024
const NEWLINE = 10
/** Fastify's code of requests to a server that is being closed. */
const CLOSED = 'FST_ERR_REOPENED_CLOSE_SERVER'

type Server = Having<'orchAggregation' | 'orchAuthentication' | 'orchResources'>

export const garbageCollector = (
  fastify: Server, options: Omit<GarbageCollectorOptions, 'requests' | 'discover'>
): GarbageCollector =>
  new GarbageCollector({ ...options, requests: requestsWithin(fastify), discover: discoverWith(fastify) })

function requestsWithin (fastify: Server): Requests {
  const authorization = fastify.orchAuthentication.ownUsers.add({
    username: serviceAccountUsername(NAMESPACE, NAME), uid: '', groups: serviceAccountGroups(NAMESPACE), extra: {}
  })
  const send = ({ method, path, body }: Request, signal?: AbortSignal) => fastify.inject({
    method, url: `${fastify.prefix}${path}`, payloadAsStream: true,
    headers: {
      authorization, accept: METADATA, 'user-agent': `orch-apiserver/${NAME}`,
      ...body === undefined
        ? {}
        : { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }
    },
    ...body === undefined ? {} : { payload: JSON.stringify(body) }, ...signal === undefined ? {} : { signal }
  }).catch((error: unknown) => {
    const { code } = error as { code?: unknown }
    throw code === CLOSED ? new StorageError('Closed', 'the server is closing', { cause: error }) : error
  })
  const ownTurn = turns()
  return {
    ask: async request => {
      await ownTurn()
      const answer = await send(request)
      const chunks: Buffer[] = []
      let bytes = 0
      for await (const chunk of answer.stream() as AsyncIterable<Buffer>) {
        bytes += chunk.length
        if (bytes > MAX_BYTES) throw new Error(`the answer to ${request.method} ${request.path} is too large`)
        chunks.push(chunk)
      }
      return { code: answer.statusCode, body: parsed(Buffer.concat(chunks, bytes)) }
    },
    watch: async function * (path, signal) {
      const answer = await orAborted(send({ method: 'GET', path }, signal), signal)
      try {
        if (answer.statusCode !== 200) throw new Error(`GET ${path} was answered with ${answer.statusCode}`)
        yield * linesOf(answer.stream() as AsyncIterable<Buffer>)
      } finally {
        answer.raw.res.destroy()
      }
    }
  }
}

/**
 * Resolves in an event loop turn in which no other request begins: without sockets, nothing else keeps the work of many
 * requests apart.
 */
function turns (): () => Promise<void> {
  const waiting: Array<() => void> = []
  const next = (): void => {
    waiting.shift()?.()
    if (waiting.length > 0) setImmediate(next)
  }
  return () => new Promise(resolve => {
    if (waiting.push(resolve) === 1) setImmediate(next)
  })
}

/** A request that is aborted before its answer begins gets none. */
async function orAborted<T> (answer: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => { reject(new Error('the watch was ended')) }
    signal.addEventListener('abort', stop)
  })
  return await Promise.race([answer, aborted]).finally(() => { signal.removeEventListener('abort', stop) })
}

async function * linesOf (stream: AsyncIterable<Buffer>): AsyncGenerator<unknown, void, void> {
  let rest = Buffer.alloc(0)
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk])
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      yield parsed(rest.subarray(0, end))
      rest = rest.subarray(end + 1)
    }
    if (rest.length > MAX_BYTES) throw new Error('an event is too large')
  }
}

function parsed (json: Buffer): unknown {
  try {
    return JSON.parse(json.toString()) as unknown
  } catch {
    return undefined // a proxy may answer with a page
  }
}

/** In the order of discovery. */
function discoverWith ({ orchAggregation: aggregation }: Server): Discover {
  return async () => {
    const discovered = await aggregation.discovery()
    return [...aggregation.groups()].flatMap(([group, versions]) => versions.flatMap((version): RemoteVersion[] => {
      const remote = discovered.of(group, version)
      return remote === undefined
        ? []
        : [{
            apiVersion: apiVersionOf(group, version), isFresh: remote.isFresh,
            resources: remote.resources.map(({ resource, responseKind, scope, verbs = [] }) =>
              ({ plural: resource, kind: responseKind?.kind ?? '', namespaced: scope === 'Namespaced', verbs }))
          }]
    }))
  }
}
