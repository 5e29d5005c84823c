/**
 * The server inside another one: a host with its own decorators, hooks and not-found handler, and the cluster
 * API below /cluster, kept in memory. The host sees `fastify.orch` of the server, and nothing else of it.
 *
 *     node dist/examples/embed.js        then: curl http://127.0.0.1:8080/cluster/api/v1/namespaces
 */
import { pathToFileURL } from 'node:url'
import Fastify, { type FastifyServerOptions, type FastifyInstance } from 'fastify'
import orch, { StatusError, type ServerOptions } from '../app.js'

/** Requests of the host's own clerks are known by a header it trusts. */
const options: ServerOptions = {
  storage: { kind: 'memory' },
  authentication: {
    authenticators: [{
      name: 'clerk',
      authenticate: ({ headers }) => typeof headers['x-clerk'] === 'string'
        ? { username: `clerk:${headers['x-clerk']}`, uid: '', groups: ['clerks'], extra: {} }
        : undefined
    }]
  },
  authorization: {
    authorizers: [{
      name: 'night-shift',
      authorize: ({ user, info }) => info.verb === 'delete' && user.username === 'clerk:night'
        ? { decision: 'Deny', reason: 'nothing is deleted at night' }
        : { decision: 'NoOpinion' }
    }]
  },
  admission: {
    plugins: [{
      name: 'owner-label',
      handles: ({ operation, resource }) => operation === 'CREATE' && resource === 'configmaps',
      mutate: ({ object, user }) => {
        const metadata = object?.['metadata'] as { labels?: Record<string, string> } // every object has metadata
        metadata.labels = { owner: user?.groups.includes('clerks') === true ? 'clerks' : 'nobody', ...metadata.labels }
      },
      validate: ({ object }) => {
        const { data } = object as { data?: Record<string, string> }
        if (data?.['forbidden'] !== undefined) throw new StatusError('Forbidden', 'this host forbids that key')
      }
    }]
  }
}

/**
 * @param server what Fastify takes, TLS and HTTP/2 among it
 * @param more further options of the cluster's server
 */
export async function host (server: FastifyServerOptions = {}, more: ServerOptions = {}): Promise<FastifyInstance> {
  const fastify = Fastify(server)
  fastify.decorateRequest('user', 'the host\'s own')
  fastify.decorate('orchard', ['apple', 'pear'])
  // On every answer: a list of any size, a watch, a log, an error.
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    reply.header('x-host', 'yes')
    done(null, payload)
  })
  fastify.setNotFoundHandler((_request, reply) => reply.code(404).send({ host: 'has no such page' }))
  fastify.get('/', async () => ({ host: 'hello' }))
  fastify.post('/echo', async request => request.body)
  await fastify.register(orch, { prefix: '/cluster', ...options, ...more })
  return fastify
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const fastify = await host()
  console.log(`listening on ${await fastify.listen({ port: 8080, host: '127.0.0.1' })}`)
}
