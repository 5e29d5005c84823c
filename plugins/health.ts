/**
 * Serves `/healthz`, `/livez`, `/readyz` and one path per check. Plugins register checks with `fastify.orchHealth`. The
 * log records when a check starts to fail and when it recovers; responses are public and never contain the reason.
 * Concurrent requests share one run of a check, so that probes do not overload the store. A check that exceeds
 * `timeout` fails.
 * @see interface, 'Health endpoints'
 */
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { served, type ServedRequest } from '../answers/request-context.js'
import { reasonOf } from '../storage/errors.js'
import { HEALTH_ENDPOINTS } from './shared/request-kinds.js'
import { plugin, type Having } from './shared/plugin.js'

/** Fails by throwing or rejecting; the error's message is logged. */
export type HealthCheck = () => unknown

export type HealthEndpoint = (typeof HEALTH_ENDPOINTS)[number]

export interface CheckOptions {
  /** Endpoints that include the check. Default all. */
  healthz?: boolean
  livez?: boolean
  readyz?: boolean
  /** Whether its failure fails the whole endpoint, and not only its own path. Default true. */
  counts?: boolean
  /** Milliseconds; overrides HealthOptions.timeout. */
  timeout?: number
}

export interface Health {
  /**
   * Adds a check under a unique name (`etcd`, `informer-sync`). Reports list checks in order of registration.
   * @throws Error if the name is taken
   */
  add: (name: string, check: HealthCheck, options?: CheckOptions) => void
  /**
   * Adds `poststarthook/NAME`, which fails until the work completes, and permanently if it fails. livez ignores
   * unfinished work for `livezGracePeriod` after start-up.
   */
  postStart: (name: string, work: PromiseLike<unknown>) => void
  /** Starts the checks of an endpoint as a probe does, in the order of reports. Never rejects. */
  run: (endpoint: HealthEndpoint) => Array<{ readonly name: string, readonly passes: Promise<boolean> }>
  /** True if all checks of readyz pass. Logs nothing. */
  ready: () => Promise<boolean>
}

export interface HealthOptions {
  /** Milliseconds, `--livez-grace-period`. Default 0. */
  livezGracePeriod?: number
  /** Milliseconds a check may take. Default 10,000. */
  timeout?: number
  /** Monotonic clock, milliseconds. Default performance.now. */
  now?: () => number
}

interface Registered {
  readonly name: string
  readonly endpoints: ReadonlySet<HealthEndpoint>
  readonly counts: boolean
  readonly run: HealthCheck
  readonly timeout: number
  /** True while this endpoint skips the check. */
  readonly isExcused: (endpoint: HealthEndpoint) => boolean
  pending: Promise<unknown> | undefined
  failing: boolean
}

export interface CheckResult { readonly name: string, readonly state: 'ok' | 'failed' | 'excluded' }

/** The verbose report: a line per check and the verdict. `unknown` are excluded names that match no check. */
export function report (endpoint: HealthEndpoint, results: readonly CheckResult[], unknown: readonly string[]): string {
  const lines = results.map(({ name, state }) => state === 'failed'
    ? `[-]${name} failed: reason withheld`
    : state === 'excluded' ? `[+]${name} excluded: ok` : `[+]${name} ok`)
  if (unknown.length > 0) {
    lines.push('warn: some health checks cannot be excluded: no matches for ' +
      `${unknown.map(name => JSON.stringify(name)).join(',')}`)
  }
  // The interface specifies one success line for all three endpoints, and none for failure.
  lines.push(results.some(({ state }) => state === 'failed') ? `${endpoint} check failed` : 'healthz check passed')
  return `${lines.join('\n')}\n`
}

/** Names in the `exclude` query parameter, repeated or comma-separated. Bounded, because clients control it. */
export function excludedNames (values: readonly string[]): ReadonlySet<string> {
  const names = values.flatMap(value => value.split(',')).filter(name => name !== '')
  return new Set(names.slice(0, 100).map(name => name.slice(0, 200)))
}

const SHUTDOWN = 'shutdown'

/** Counts outcomes of checks, for `/metrics/slis`. */
function counted ({ orchMetrics: metrics }: Having<'orchMetrics'>): (endpoint: string, result: CheckResult) => void {
  const latest = metrics.gauge(
    'kubernetes_healthcheck', 'Whether a check of health passed when it was last asked for.', ['name', 'type']
  )
  const all = metrics.counter(
    'kubernetes_healthchecks_total', 'Checks of health, by result.', ['name', 'status', 'type']
  )
  return (endpoint, { name, state }) => {
    if (state === 'excluded') return
    latest.with(name, endpoint).set(state === 'ok' ? 1 : 0)
    all.with(name, state === 'ok' ? 'success' : 'error', endpoint).add()
  }
}

class Checks {
  readonly #checks = new Map<string, Registered>()
  readonly #log: FastifyBaseLogger
  readonly #timeout: number

  constructor (log: FastifyBaseLogger, timeout: number) {
    this.#log = log
    this.#timeout = timeout
  }

  /** @param isExcused whether an endpoint ignores that the check fails; by default none does */
  add (
    name: string, run: HealthCheck, options: CheckOptions = {}, isExcused: Registered['isExcused'] = () => false
  ): void {
    const { healthz = true, livez = true, readyz = true, counts = true, timeout = this.#timeout } = options
    if (this.#checks.has(name)) throw new Error(`health check ${name} is there already`)
    const endpoints = new Set<HealthEndpoint>()
    if (healthz) endpoints.add('healthz')
    if (livez) endpoints.add('livez')
    if (readyz) endpoints.add('readyz')
    this.#checks.set(name, { name, run, timeout, isExcused, endpoints, counts, pending: undefined, failing: false })
    // Keep the shutdown check last in reports.
    const end = this.#checks.get(SHUTDOWN)
    if (end !== undefined && this.#checks.delete(SHUTDOWN)) this.#checks.set(SHUTDOWN, end)
  }

  get (name: string, endpoint: HealthEndpoint): Registered | undefined {
    const check = this.#checks.get(name)
    return check?.endpoints.has(endpoint) === true ? check : undefined
  }

  of (endpoint: HealthEndpoint): Registered[] {
    return [...this.#checks.values()].filter(check => check.counts && check.endpoints.has(endpoint))
  }

  async run (check: Registered, endpoint: HealthEndpoint): Promise<boolean> {
    if (check.isExcused(endpoint)) return true
    const problem = await this.problemOf(check)
    this.#logChange(check, problem)
    return problem === undefined
  }

  /** Undefined if the check passes. */
  async problemOf (check: Registered): Promise<unknown> {
    try {
      if (check.pending === undefined) {
        const outcome = check.run()
        if (isPromiseLike(outcome)) {
          check.pending = within(check.timeout, outcome).finally(() => { check.pending = undefined })
        }
      }
      await check.pending
      return undefined
    } catch (error) {
      return error ?? 'no reason given'
    }
  }

  /** Logs only changes: probes repeat every few seconds. */
  #logChange (check: Registered, problem: unknown): void {
    const failing = problem !== undefined
    if (failing === check.failing) return
    check.failing = failing
    if (failing) this.#log.warn({ check: check.name, reason: reasonOf(problem) }, 'a health check fails')
    else this.#log.info({ check: check.name }, 'a health check passes again')
  }
}

async function health (fastify: Having<'orchMetrics' | 'orchShutdown'>, options: HealthOptions): Promise<void> {
  const { livezGracePeriod = 0, timeout = 10_000, now = () => performance.now() } = options
  const started = now()
  const count = counted(fastify)
  const checks = new Checks(fastify.log, timeout)

  fastify.decorate('orchHealth', {
    add: (name, check, on) => { checks.add(name, check, on) },
    postStart: (name, work) => {
      let problem: unknown = new Error('not finished')
      let finished = false
      work.then(
        () => { finished = true; problem = undefined },
        (error: unknown) => { finished = true; problem = error ?? new Error('failed') })
      checks.add(`poststarthook/${name}`, () => {
        if (problem !== undefined) throw problem
      }, {}, endpoint => endpoint === 'livez' && !finished && now() - started < livezGracePeriod)
    },
    run: endpoint => checks.of(endpoint).map(check => ({ name: check.name, passes: checks.run(check, endpoint) })),
    ready: async () =>
      (await Promise.all(checks.of('readyz').map(check => checks.problemOf(check)))).every(problem =>
        problem === undefined)
  })
  checks.add('ping', () => {})
  checks.add('log', () => {})
  checks.add(SHUTDOWN, () => {
    if (fastify.orchShutdown.state !== 'serving') throw new Error('the server is shutting down')
  }, { healthz: false, livez: false })
  serve(fastify, checks, count)
}

function serve (
  fastify: FastifyInstance, checks: Checks, count: (endpoint: string, result: CheckResult) => void
): void {
  const answer = async (
    endpoint: HealthEndpoint, request: ServedRequest, reply: FastifyReply
  ): Promise<FastifyReply> => {
    const { query } = request.orch
    const excluded = excludedNames(query.getAll('exclude'))
    const mine = checks.of(endpoint)
    const results = await Promise.all(mine.map(async check => {
      const state = excluded.has(check.name) ? 'excluded' : await checks.run(check, endpoint) ? 'ok' : 'failed'
      return { name: check.name, state } satisfies CheckResult
    }))
    for (const result of results) count(endpoint, result)
    const names = new Set(mine.map(check => check.name))
    const text = report(endpoint, results, [...excluded].filter(name => !names.has(name)).sort())
    const failed = results.some(({ state }) => state === 'failed')
    plain(reply).code(failed ? 500 : 200)
    return reply.send(failed || query.has('verbose') ? text : 'ok')
  }

  const answerOne = async (
    endpoint: HealthEndpoint, request: FastifyRequest, reply: FastifyReply
  ): Promise<FastifyReply> => {
    const params = request.params as Record<string, string | undefined> // Fastify sets it from the wildcard
    const check = checks.get(params['*'] ?? '', endpoint)
    if (check === undefined) {
      reply.callNotFound()
      return reply
    }
    const well = await checks.run(check, endpoint)
    return plain(reply).code(well ? 200 : 500).send(well ? 'ok' : 'internal server error: reason withheld\n')
  }

  for (const endpoint of HEALTH_ENDPOINTS) {
    fastify.get(`/${endpoint}`, (request, reply) => answer(endpoint, served(request), reply))
    fastify.get(`/${endpoint}/*`, (request, reply) => answerOne(endpoint, request, reply))
  }
}

function plain (reply: FastifyReply): FastifyReply {
  return reply.header('content-type', 'text/plain; charset=utf-8').header('x-content-type-options', 'nosniff')
}

const isPromiseLike = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

function within (milliseconds: number, work: PromiseLike<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds)
    work.then(
      value => { clearTimeout(timer); resolve(value) },
      (error: unknown) => { clearTimeout(timer); reject(error) })
  })
}

export default plugin<HealthOptions>()(health, {
  name: 'orch/health', fastify: '5.x', decorators: { fastify: ['orchMetrics', 'orchShutdown'], request: ['orch'] }
})
