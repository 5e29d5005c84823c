/** Fastify for tests, without a limit on the start-up time, because the machine may be busy. */
import Fastify, { type FastifyServerOptions } from 'fastify'

export default ((options: FastifyServerOptions = {}) =>
  Fastify({ pluginTimeout: 120_000, ...options })) as unknown as typeof Fastify
