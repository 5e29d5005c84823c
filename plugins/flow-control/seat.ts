/** A request in priority and fairness: waits for its seats and releases them. */
import type { FastifyReply } from 'fastify'
import { served, type LimitPlace, type ServedRequest } from '../../answers/request-context.js'
import { distinguisher, type Flow } from '../../flow-control/flow-control.js'
import type { QueueSet, QueueSettings } from '../../flow-control/queue-set.js'
import { Ticket, type Refusal, type Work } from '../../flow-control/queue.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { tooManyRequests } from '../../schemas/status.js'
import { NOT_LISTED, type UnsentResponse, type UnsentResponses } from '../shared/unsent-responses.js'
import type { KindSeries } from '../shared/in-flight-metrics.js'
import type { FlowSeries } from './metrics.js'

const RETRY_AFTER_SECONDS = 1

/** What a request waits for. */
interface Seated {
  readonly flow: Flow
  readonly queues: QueueSet
  readonly series: FlowSeries
  readonly kind: KindSeries
  readonly unsent: UnsentResponses
  readonly user: UserInfo
  readonly work: Work
}

export class Seat extends Ticket implements UnsentResponse, LimitPlace {
  readonly reply: FastifyReply
  readonly request: ServedRequest
  at = NOT_LISTED
  bytes = 0
  readonly #flow: Flow
  readonly #set: QueueSet
  readonly #series: FlowSeries
  readonly #kind: KindSeries
  readonly #unsent: UnsentResponses
  #done: ((error?: Error) => void) | undefined
  #over = false

  /**
   * @param done called once, unless the client disconnects first or the request executes immediately; with an error if
   * it is rejected
   */
  constructor (
    { flow, queues, series, kind, unsent, user, work }: Seated, reply: FastifyReply, done: (error?: Error) => void
  ) {
    const request = served(reply.request)
    super(flow.name, distinguisher(flow, user, request.orch.info), work)
    this.#flow = flow
    this.#set = queues
    this.#series = series
    this.#kind = kind
    this.#unsent = unsent
    this.request = request
    this.reply = reply
    this.#done = done
  }

  get #isWatch (): boolean { return this.request.orch.info.verb === 'watch' }

  /** @returns 'executing' if the request may proceed immediately; `done` is then not called */
  enter (): 'executing' | 'waiting' | 'refused' {
    const outcome = this.#set.enter(this)
    this.#series.estimated.observe(this.seats)
    if (outcome === 'executing') {
      this.#begun(0)
      return outcome
    }
    if (outcome === 'waiting') {
      this.#series.waiting.add(1)
      this.#kind.waiting(1)
      this.#series.queueLength.observe(this.queue?.waiting.size ?? 0)
      return outcome
    }
    this.#over = true
    this.#series.rejected(outcome)
    this.#refuse(outcome)
    return 'refused'
  }

  dispatched (): void {
    this.#series.waiting.add(-1)
    this.#kind.waiting(-1)
    const waited = this.startedAt - this.arrivedAt
    this.request.orch.trace.waited += waited
    this.request.orch.trace.step('Waiting in a queue of flow control done')
    this.#begun(waited)
    this.#answer()
  }

  refused (reason: Refusal): void {
    this.#left(reason)
    this.#refuse(reason)
  }

  released (): void {
    this.#series.executing.add(-1)
    this.#series.seats.add(-this.seats)
  }

  /** The response waits only for its client, or the watch has started. */
  handedOver (bytes: number): void {
    if (this.#over || this.state !== 'executing') return
    if (this.#isWatch || this.#unsent.hold(this, bytes)) this.release()
  }

  release (): void {
    if (this.state !== 'executing') return
    this.#set.leave(this)
    this.#kind.executing(-1, this.#set.now)
    const series = this.#isWatch ? this.#series.ranAsWatch : this.#series.ran
    series.observe((this.#set.now - this.startedAt) / 1000)
  }

  /** The request has ended, successfully or not. */
  closed (): void {
    this.#over = true
    this.#unsent.drop(this)
    if (this.state === 'waiting') {
      this.#set.leave(this)
      this.#left('cancelled')
    } else this.release()
  }

  #begun (waited: number): void {
    this.#series.dispatched.add()
    this.#series.executing.add(1)
    this.#kind.executing(1, this.startedAt)
    this.#series.seats.add(this.seats)
    this.#series.waited.observe(waited / 1000)
  }

  #left (reason: Refusal): void {
    this.#series.waiting.add(-1)
    this.#kind.waiting(-1)
    this.#series.waitedThenRejected.observe((this.#set.now - this.arrivedAt) / 1000)
    this.#series.rejected(reason)
  }

  #refuse (reason: Refusal): void {
    this.#kind.dropped.add()
    const { name, level } = this.#flow
    this.#answer(
      tooManyRequests(
        `too many requests, please try again later: flow schema ${name}, priority level ${level.name}: ` +
          `${explain(reason, this.#set.settings, level.lending === undefined ? 'assured' : 'nominal')}`,
        RETRY_AFTER_SECONDS
      )
    )
  }

  #answer (error?: Error): void {
    const done = this.#done
    this.#done = undefined
    done?.(error)
  }
}

/** Why a level refused a request, and which of its settings would change that. */
function explain (
  reason: Refusal, { limit, lengthLimit, waitLimit }: QueueSettings, kind: 'assured' | 'nominal'
): string {
  const shares = `raise ${kind}ConcurrencyShares, which give it ${limit} seats now`
  switch (reason) {
    case 'concurrency-limit':
      return `all seats are taken and it does not queue; ${shares}, or set limitResponse to Queue`
    case 'queue-full': return `the queue of this flow has ${lengthLimit} requests; ${shares}, or queueLengthLimit`
    default: return `no seat became free within ${waitLimit / 1000} s; ${shares}`
  }
}
