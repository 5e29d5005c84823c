/**
 * Reads `dryRun` once, before any body is read. Only `All` is a dry run, absent and empty are real
 * requests, anything else is refused; the operations in storage honour it. (Interface: Dry-run.)
 */
import fp from 'fastify-plugin'
import { parseDryRun } from '../schemas/dry-run.js'
import { isConnection } from './request-kinds.js'

export default fp(async fastify => {
  fastify.addHook('preParsing', (request, _reply, _payload, done) => {
    if (request.method !== 'GET' && !isConnection(request.orch.info)) { // what is proxied may mean something else by it
      try {
        request.orch.dryRun = parseDryRun(request.orch.query.getAll('dryRun'))
      } catch (error) {
        return done(error as Error) // a StatusError
      }
    }
    done()
  })
}, { name: 'orch/dry-run', fastify: '5.x', dependencies: ['orch/request-info', 'orch/authorization'] })
