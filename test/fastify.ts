/** Fastify for tests: a start may take as long as it takes on a machine that does other things too. */
import Fastify, { type FastifyServerOptions } from 'fastify'

export default ((options: FastifyServerOptions = {}) => Fastify({ pluginTimeout: 120_000, ...options })) as unknown as typeof Fastify
