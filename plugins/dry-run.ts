/**
 * Parses `dryRun` before the body is read. Only `All` requests a dry run; any other non-empty value is an error. The
 * operations act on it. (Interface: Dry-run.)
 */
import { served } from '../answers/request-context.js'
import { parseDryRun } from '../schemas/dry-run.js'
import { isConnection } from './shared/request-kinds.js'
import { plugin } from './shared/plugin.js'
import { later } from './shared/server.js'

export default plugin()(async fastify => {
  const aggregation = later(fastify, 'orchAggregation')
  fastify.addHook('preParsing', (request, _reply, _payload, done) => {
    const { orch } = served(request)
    // a proxied back end may define dryRun differently
    if (request.method !== 'GET' && !isConnection(orch.info)) {
      try {
        orch.dryRun = parseDryRun(orch.query.getAll('dryRun'))
      } catch (error) {
        // an extension server handles dryRun itself
        if (aggregation()?.find(orch.info.path) !== undefined) return done()
        return done(error as Error) // a StatusError
      }
    }
    done()
  })
}, { name: 'orch/dry-run', fastify: '5.x', dependencies: ['orch/authorization'], decorators: { request: ['orch'] } })
