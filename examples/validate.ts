/**
 * A host whose own route takes API types: they are TypeBox schemas, so Fastify validates by them, fills in their
 * defaults, and TypeScript knows what the handler gets. From elsewhere, `../schemas/public.js` is
 * `orch-apiserver/schemas`.
 *
 *     node dist/examples/validate.js
 *     curl http://127.0.0.1:8080/grants -H 'content-type: application/json' \
 *       -d '{"reason":"on call","binding":{"metadata":{"name":"ann"},"roleRef":
 *         {"apiGroup":"rbac.authorization.orch.io","kind":"ClusterRole","name":"view"}}}'
 */
import { pathToFileURL } from 'node:url'
import Fastify, { type FastifyInstance } from 'fastify'
import { Type } from '@sinclair/typebox'
import { rbacV1, toJson, type Static } from '../schemas/public.js'

const Grant = Type.Object({
  reason: Type.String({ minLength: 1 }),
  days: Type.Integer({ minimum: 1, default: 7 }),
  binding: rbacV1.ClusterRoleBinding
})
type Grant = Static<typeof Grant>

export function host (): FastifyInstance {
  const fastify = Fastify()
  fastify.post<{ Body: Grant }>('/grants', { schema: { body: Grant } }, async ({ body }, reply) => {
    const { days, binding } = body
    binding.metadata.annotations = { ...binding.metadata.annotations, 'example.com/days': String(days) }
    // In the order and with the omissions of the wire, ready to be sent to a server.
    return reply.type('application/json').send(toJson(rbacV1.ClusterRoleBinding, binding))
  })
  return fastify
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.log(`listening on ${await host().listen({ port: 8080, host: '127.0.0.1' })}`)
}
