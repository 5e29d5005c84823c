/**
 * `/debug/pprof/`: CPU and heap profiles for `go tool pprof`, and the server's state as text. `/debug/caches`: the
 * watch caches. `/debug/flags/`: the verbosity of the log. Authorized like any path.
 * @see interface, `--profiling`, `--contention-profiling`
 */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { served, type ServedRequest } from '../../answers/request-context.js'
import { badRequest, StatusError } from '../../schemas/status.js'
import { debugFlags } from './flags.js'
import { stateOf, stateText, type State } from '../../registry/state.js'
import { sendTable, type Row } from '../shared/debug-table.js'
import type { ProfileKind } from './profiles.js'
import { plugin } from '../../answers/server.js'

export interface ProfilingOptions {
  /** Measures the event loop delay, `--contention-profiling`. Default false. */
  readonly contention?: boolean
  /** Changes the verbosity of the log to 0 to 10, as `-v` has it. Default none: `/debug/flags/` is not served. */
  readonly setVerbosity?: (v: number) => void
  /** Maximum duration of a request, and thus of a profile, in milliseconds. Default 60,000. */
  readonly requestTimeout?: number | undefined
}

const ROOT = '/debug/pprof'
const DEFAULT_SECONDS: Readonly<Record<ProfileKind, number>> = { profile: 30, heap: 5 }
/** Milliseconds between the end of a profile and the request timeout. */
const MARGIN = 5000

const PAGES = {
  profile: 'CPU profile of ?seconds=30, in the format of pprof',
  heap: 'what is allocated in ?seconds=5 and still in use then, in the format of pprof',
  goroutine: 'what the server is doing: memory, handles, caches and their watches',
  block: 'delay of the event loop, with --contention-profiling',
  cmdline: 'the command line'
}

export default plugin<ProfilingOptions>()(async (
  fastify, { contention = false, setVerbosity, requestTimeout = 60_000 }
) => {
  let busy = false
  const delay = contention ? monitorEventLoopDelay({ resolution: 10 }) : undefined
  delay?.enable()
  fastify.addHook('onClose', async () => { delay?.disable() })

  const text = (reply: FastifyReply, content: string): FastifyReply =>
    reply.type('text/plain; charset=utf-8').send(content)
  const profile = async (kind: ProfileKind, request: ServedRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const seconds = secondsOf(request, kind, requestTimeout)
    if (busy) {
      throw new StatusError('TooManyRequests', 'another profile is being taken; ask again when it is done', {
        details: { retryAfterSeconds: 5 }
      })
    }
    busy = true
    try {
      const { takeProfile } = await import('./profiles.js')
      const taken = await takeProfile(kind, seconds, request.orch.signal)
      return reply.type('application/octet-stream')
        .header('content-disposition', `attachment; filename="${kind}"`)
        .send(taken)
    } finally {
      busy = false
    }
  }

  const index = (_request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    text(reply, `${ROOT}/\n\n${Object.entries(PAGES).map(([name, what]) => `${name.padEnd(12)} ${what}`).join('\n')}\n`)
  fastify.get(ROOT, index)
  fastify.get(`${ROOT}/`, index)
  fastify.get(`${ROOT}/profile`, (request, reply) => profile('profile', served(request), reply))
  fastify.get(`${ROOT}/heap`, (request, reply) => profile('heap', served(request), reply))
  fastify.get(`${ROOT}/goroutine`, (_request, reply) => text(reply, stateText(stateOf(fastify.orchResources))))
  fastify.get('/debug/caches', (request, reply) =>
    sendTable(served(request), reply, CACHES, cacheRows(stateOf(fastify.orchResources))))
  fastify.get(`${ROOT}/block`, (_request, reply) => text(reply, delay === undefined
    ? 'the delay of the event loop is not measured; start with --contention-profiling\n'
    : delayText(delay)))
  fastify.get(`${ROOT}/cmdline`, (_request, reply) => text(reply, process.argv.join('\0')))
  if (setVerbosity !== undefined) debugFlags(fastify, setVerbosity)
}, { name: 'orch/profiling', fastify: '5.x', decorators: { fastify: ['orchResources'] } })

const CACHES = ['Resource', 'Loaded', 'Objects', 'Watches', 'Revision', 'Events', 'EventsSince']

/** Largest caches first. */
const cacheRows = ({ caches }: State): Row[] => Object.entries(caches).sort(([, a], [, b]) => b.objects - a.objects)
  .map(([name, { loaded, objects, watches, revision, events, eventsSince }]) =>
    [name, loaded, objects, watches, revision, events, eventsSince])

/** @throws StatusError 400 */
function secondsOf (request: ServedRequest, kind: ProfileKind, requestTimeout: number): number {
  const given = request.orch.query.get('seconds') ?? String(DEFAULT_SECONDS[kind])
  const seconds = /^\d{1,6}$/.test(given) ? Number(given) : 0
  if (seconds === 0) throw badRequest('seconds must be a positive whole number')
  const maxSeconds = Math.floor((requestTimeout - MARGIN) / 1000)
  if (requestTimeout > 0 && seconds > maxSeconds) {
    throw badRequest(
      `a profile may take ${Math.max(0, maxSeconds)} seconds at most, as --request-timeout ends its request`
    )
  }
  return seconds
}

function delayText (delay: IntervalHistogram): string {
  const milliseconds = (nanoseconds: number): string => `${(nanoseconds / 1e6).toFixed(2)} ms`
  const rows = [['mean', delay.mean], ['max', delay.max], ...[50, 90, 99, 99.9]
    .map(share => [`p${share}`, delay.percentile(share)] as const)] as const
  return 'event loop delay since the ' +
    `start\n\n${rows.map(([name, value]) => `${name.padEnd(8)} ${milliseconds(value).padStart(12)}`).join('\n')}\n`
}
