/** Servers in the process of the benchmark. */
import type { FastifyInstance } from 'fastify'
import Fastify from '../fastify.js'
import { server as orch, type ServerOptions } from '../../app.js'
import { polled } from '../polled.js'

/** Resolves when the server is ready. */
export async function serving (
  storage: NonNullable<ServerOptions['storage']>, options: ServerOptions = {}
): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(async scope => { await orch(scope, { ...options, storage }) })
  await app.ready()
  await polled(async () => (await app.inject('/readyz')).statusCode === 200)
  return app
}
