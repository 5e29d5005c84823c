/**
 * `/debug/pprof/`: CPU and heap profiles for `go tool pprof`, and the server's state as text. `/debug/caches`: the
 * watch caches. `/debug/flags/`: the verbosity of the log. Authorized like any path; a socket, if there is one, serves
 * profiles and verbosity to users who may open it.
 * @see interface, `--profiling`, `--contention-profiling`
 */
import { served } from '../../answers/request-context.js'
import { debugFlags } from './flags.js'
import { stateOf, type State } from '../../registry/state.js'
import { sendTable, type Row } from '../shared/debug-table.js'
import { Pages } from './pages.js'
import { plugin } from '../shared/plugin.js'

export interface ProfilingOptions {
  /** Measures the event loop delay, `--contention-profiling`. Default false. */
  readonly contention?: boolean
  /** Changes the verbosity of the log to 0 to 10, as `-v` has it. Default none: `/debug/flags/` is not served. */
  readonly setVerbosity?: (v: number) => void
  /** Maximum duration of a request, and thus of a profile, in milliseconds. Default 60,000. */
  readonly requestTimeout?: number | undefined
  /** Path of a socket that serves the same without authentication, `--debug-socket-path`. Default none. */
  readonly socket?: string
}

export default plugin<ProfilingOptions>()(async (
  fastify, { contention = false, setVerbosity, requestTimeout = 60_000, socket }
) => {
  const state = (): State => stateOf(fastify.orchResources)
  const pages = new Pages({ contention, requestTimeout, state })
  fastify.addHook('onClose', async () => { pages.close() })
  pages.register(fastify, request => {
    const { query, signal } = served(request).orch
    return { seconds: query.get('seconds'), signal }
  })
  fastify.get('/debug/caches', (request, reply) => sendTable(served(request), reply, CACHES, cacheRows(state())))
  if (setVerbosity !== undefined) debugFlags(fastify, setVerbosity)
  if (socket !== undefined) {
    const { serveSocket } = await import('./socket.js')
    await serveSocket(fastify, { path: socket, pages, setVerbosity })
  }
}, { name: 'orch/profiling', fastify: '5.x', decorators: { fastify: ['orchResources'] } })

const CACHES = ['Resource', 'Loaded', 'Objects', 'Watches', 'Revision', 'Events', 'EventsSince']

/** Largest caches first. */
const cacheRows = ({ caches }: State): Row[] => Object.entries(caches).sort(([, a], [, b]) => b.objects - a.objects)
  .map(([name, { loaded, objects, watches, revision, events, eventsSince }]) =>
    [name, loaded, objects, watches, revision, events, eventsSince])
