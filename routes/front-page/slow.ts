/**
 * What is slow now: requests under way and how old they are, the queues of priority levels, the latest slow requests,
 * the event loop. Of this process.
 */
import { performance, type EventLoopUtilization } from 'node:perf_hooks'
import type { ServedRequest } from '../../answers/request-context.js'
import { settled } from './health.js'
import { clipped, duration, html, NOTHING, notPermitted, plural, type Html } from '../../answers/page/html.js'
import type { Rights } from './rights.js'
import type { RoutedServer } from '../needs.js'

const OLDEST = 10
const MAX_LEVELS = 50
const DUMPS = '/debug/api_priority_and_fairness'

/** How busy the event loop was since the last view. */
export class LoopMeter {
  #before: EventLoopUtilization | undefined
  #readAt = performance.timeOrigin

  read (): { readonly busy: number, readonly since: Date } {
    const now = performance.eventLoopUtilization()
    const { utilization } = this.#before === undefined ? now : performance.eventLoopUtilization(now, this.#before)
    const since = new Date(this.#readAt)
    this.#before = now
    this.#readAt = Date.now()
    return { busy: utilization, since }
  }
}

export async function slowSection (
  fastify: RoutedServer, rights: Rights, own: ServedRequest, meter: LoopMeter
): Promise<Html> {
  const others = fastify.orchUnderWay().filter(request => request !== own)
  const [mayMetrics, mayRequests, mayLevels] = await Promise
    .all([rights.get('/metrics'), rights.get(`${DUMPS}/dump_requests`), rights.get(`${DUMPS}/dump_priority_levels`)])
  return html`<section aria-labelledby="slow"><h2 id="slow">What is slow now</h2>
${mayMetrics
  ? html`${load(fastify.orchShutdown.inFlight - 1, others.length, meter)}${await storeTime(fastify)}`
  : notPermitted('get', '/metrics')}
${mayRequests
  ? html`${oldest(others)}${recent(fastify.orchSlowRequests())}`
  : notPermitted('get', `${DUMPS}/dump_requests`)}
${fastify.orchFlowControl === undefined
  ? NOTHING
  : mayLevels
  ? levels(fastify.orchFlowControl.levels)
  : notPermitted('get', `${DUMPS}/dump_priority_levels`)}</section>`
}

function load (all: number, short: number, meter: LoopMeter): Html {
  const { busy, since } = meter.read()
  return html`<p>${plural(short, 'request')} under way besides this one, and ${plural(
    Math.max(0, all - short), 'watch or other long-running request', 'watches and other long-running requests'
  )}. The event loop was busy ${(busy * 100).toFixed(0)} % of the time since ${time(since)}.</p>`
}

/** Of the store of most resources. */
async function storeTime ({ orchResources: resources }: RoutedServer): Promise<Html> {
  const backend = resources.find('', 'namespaces')?.backend
  if (backend === undefined) return NOTHING
  const { state, ms } = await settled('', backend.status().then(() => true, () => false))
  return state === 'ok'
    ? html`<p>The store answered in ${duration(ms)}.</p>`
    : html`<p class="warning">The store has ${state === 'failed' ? 'failed' : 'not answered'} in ${duration(ms)}.</p>`
}

const time = (date: Date): Html =>
  html`<time datetime="${date.toISOString()}">${date.toISOString().slice(0, 19).replace('T', ' ')} UTC</time>`

function oldest (requests: readonly ServedRequest[]): Html {
  const running: ServedRequest[] = []
  const startOf = (request: ServedRequest | undefined): number => request?.orch.trace.startedAt ?? Infinity
  for (const request of requests) {
    if (running.length === OLDEST && startOf(request) >= startOf(running.at(-1))) continue
    running.splice(running.findLastIndex(other => startOf(other) <= startOf(request)) + 1, 0, request)
    if (running.length > OLDEST) running.pop()
  }
  if (running.length === 0) return html`<p class="none">No other request is under way.</p>`
  const now = performance.now()
  return html`<h3>Longest under way</h3>
<table><thead><tr><th scope="col">Request</th><th scope="col">User</th>
<th scope="col" class="number">For</th></tr></thead>
<tbody>${running.map(({ orch: { info, user, trace } }) =>
  html`<tr><td>${info.verb} <code>${clipped(info.path)}</code></td><td>${clipped(user?.username ??
    '')}</td><td class="number">${duration(now - trace.startedAt)}</td></tr>`)}</tbody></table>`
}

function recent (requests: ReturnType<RoutedServer['orchSlowRequests']>): Html {
  if (requests.length === 0) return html`<p class="none">No request took half a second or more.</p>`
  return html`<h3>Slow lately</h3>
<table><thead><tr><th scope="col">Request</th><th scope="col">User</th>
<th scope="col">Ended</th><th scope="col" class="number">Took</th></tr></thead>
<tbody>${requests.map(({ verb, path, username, endedAt, milliseconds }) =>
  html`<tr><td>${verb} <code>${path}</code></td><td>${username}</td><td>${time(
    endedAt
  )}</td><td class="number">${duration(milliseconds)}</td></tr>`)}</tbody></table>`
}

function levels (all: NonNullable<RoutedServer['orchFlowControl']>['levels']): Html {
  const limited = all.flatMap(({ name, queues }) => queues === undefined ? [] : [{ name, queues }])
    .sort((one, other) => other.queues.waiting - one.queues.waiting || other.queues.executing - one.queues.executing)
    .slice(0, MAX_LEVELS)
  return html`<h3>Priority levels</h3>
<table><thead><tr><th scope="col">Level</th><th scope="col" class="number">Waiting</th>
<th scope="col" class="number">Executing</th><th scope="col" class="number">Seats in use</th></tr></thead>
<tbody>${limited.map(({ name, queues }) =>
  html`<tr${queues.waiting > 0
    ? html` class="warning"`
    : NOTHING}><th scope="row">${name}</th><td class="number">${queues.waiting}</td>
<td class="number">${queues.executing}</td>
<td class="number">${queues.seatsInUse} of ${queues.settings.limit}</td></tr>`)}</tbody></table>`
}
