/** The pages of `/debug/pprof/`, on the secure port and on the socket of `--debug-socket-path`. */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { badRequest, StatusError } from '../../schemas/status.js'
import { stateText, type State } from '../../registry/state.js'
import type { ProfileKind } from './profiles.js'

/** What a page asks of its request, which comes by one of two ways. */
export interface Asked {
  /** The parameter `seconds`. */
  readonly seconds: string | null
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
}

export interface PagesOptions {
  readonly contention: boolean
  /** Milliseconds, 0 for no limit. */
  readonly requestTimeout: number
  readonly state: () => State
}

export const ROOT = '/debug/pprof'
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

/** Only one profile is taken at a time, whichever way it is asked for. */
export class Pages {
  readonly #options: PagesOptions
  readonly #delay: IntervalHistogram | undefined
  #busy = false

  constructor (options: PagesOptions) {
    this.#options = options
    this.#delay = options.contention ? monitorEventLoopDelay({ resolution: 10 }) : undefined
    this.#delay?.enable()
  }

  close (): void { this.#delay?.disable() }

  register (fastify: FastifyInstance, askedBy: (request: FastifyRequest) => Asked): void {
    const lines = Object.entries(PAGES).map(([name, what]) => `${name.padEnd(12)} ${what}`)
    const index = `${ROOT}/\n\n${lines.join('\n')}\n`
    const page = (path: string, content: () => string): void => {
      fastify.get(path, (_request, reply) => reply.type('text/plain; charset=utf-8').send(content()))
    }
    page(ROOT, () => index)
    page(`${ROOT}/`, () => index)
    for (const kind of ['profile', 'heap'] as const) {
      fastify.get(`${ROOT}/${kind}`, (request, reply) => this.#profile(kind, askedBy(request), reply))
    }
    page(`${ROOT}/goroutine`, () => stateText(this.#options.state()))
    page(`${ROOT}/block`, () => this.#delay === undefined
      ? 'the delay of the event loop is not measured; start with --contention-profiling\n'
      : delayText(this.#delay))
    page(`${ROOT}/cmdline`, () => process.argv.join('\0'))
  }

  async #profile (kind: ProfileKind, asked: Asked, reply: FastifyReply): Promise<FastifyReply> {
    const seconds = secondsOf(asked, kind, this.#options.requestTimeout)
    if (this.#busy) {
      throw new StatusError('TooManyRequests', 'another profile is being taken; ask again when it is done', {
        details: { retryAfterSeconds: 5 }
      })
    }
    this.#busy = true
    try {
      const { takeProfile } = await import('./profiles.js')
      const taken = await takeProfile(kind, seconds, asked.signal)
      return reply.type('application/octet-stream')
        .header('content-disposition', `attachment; filename="${kind}"`)
        .send(taken)
    } finally {
      this.#busy = false
    }
  }
}

/** @throws StatusError 400 */
function secondsOf (asked: Asked, kind: ProfileKind, requestTimeout: number): number {
  const given = asked.seconds ?? String(DEFAULT_SECONDS[kind])
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
