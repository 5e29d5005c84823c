/**
 * Priority and fairness: priority levels with their shares of the server's seats, and flow schemas that assign requests
 * to levels. A new configuration takes effect at once; a removed level serves its pending requests first. The mandatory
 * levels and schemas, for administrators and for everybody, exist even if they are not stored.
 */
import type { FlowSchema, FlowSchemaSpec, PriorityLevelConfiguration } from '../schemas/api/flowcontrol/v1beta1.js'
import type { RequestInfo } from '../auth/request-info.js'
import type { UserInfo } from '../schemas/meta/user-info.js'
import type { Clock } from '../event-loop/clock.js'
import { CATCH_ALL, MANDATORY_LEVELS, MANDATORY_SCHEMAS } from './defaults.js'
import { sharesOf } from '../schemas/api/flowcontrol/shares.js'
import { boundsOf, Demand, divide, type Bounds } from './lending.js'
import { inOrder, Matcher } from './matching.js'
import { QueueSet, type QueueObserver, type QueueSettings, type Turns } from './queue-set.js'

export interface Level {
  readonly name: string
  /** '' if it is not stored. */
  uid: string
  /** Undefined for exempt levels. */
  readonly queues: QueueSet | undefined
  shares: number
  /** Seats of an exempt level that its requests use. */
  used: number
  /** What it lends and borrows, and asks for; undefined where levels do neither. */
  lending: Lending | undefined
  /** Removed, but still serving pending requests. */
  quiescing: boolean
}

interface Lending {
  readonly percentages: { readonly lends: number | undefined, readonly borrows: number | undefined }
  readonly demand: Demand
  bounds: Bounds | undefined
}

export interface Flow {
  readonly name: string
  /** '' if it is not stored. */
  readonly uid: string
  readonly spec: FlowSchemaSpec
  readonly level: Level
}

export interface FlowControlOptions {
  /** Seats of all levels together. */
  readonly seats: number
  /** Milliseconds a request may wait. */
  readonly waitLimit: number
  readonly clock: Clock
  /** Creates the observer of a level. Default none. */
  readonly observe?: (level: string) => QueueObserver
  /** Receives the seats of a level, 0 on removal, and what it may have if levels lend. */
  readonly limited?: (level: string, seats: number, bounds?: Bounds) => void
  /** Levels lend each other seats, and may have no share. Default false. */
  readonly lending?: boolean | undefined
  /** For tests. */
  readonly turns?: Turns
}

/** Milliseconds after which levels get the seats that they ask for. */
const PERIOD = 10_000

export class FlowControl {
  readonly #options: FlowControlOptions
  readonly #levels = new Map<string, Level>()
  #matcher = new Matcher<Flow>([])
  #fallback: Flow | undefined
  #cancel: (() => void) | undefined

  constructor (options: FlowControlOptions) {
    this.#options = options
    this.configure([], [])
    if (options.lending === true) this.#lendLater()
  }

  get levels (): Level[] { return [...this.#levels.values()].sort((one, other) => one.name < other.name ? -1 : 1) }

  /** The flow of a request; always found. */
  flow (user: UserInfo, info: RequestInfo): Flow {
    return this.#matcher.match(user, info) ?? this.#fallback as Flow // set by configure
  }

  /** Replaces the configuration. @param levels and schemas as stored, with unique names */
  configure (levels: readonly PriorityLevelConfiguration[], schemas: readonly FlowSchema[]): void {
    const desired = new Map<string, PriorityLevelConfiguration>()
    for (const level of [...MANDATORY_LEVELS, ...levels]) {
      if (isValid(level, this.#options.lending)) desired.set(level.metadata.name ?? '', level)
    }
    for (const level of this.#levels.values()) {
      if (desired.has(level.name)) continue
      if (level.queues?.idle === false) level.quiescing = true
      else this.#drop(level)
    }
    for (const level of desired.values()) this.#ensure(level)
    this.#distributeSeats(desired)
    const flows = new Map<string, Flow>()
    for (const { metadata: { name = '', uid = '' }, spec } of [...MANDATORY_SCHEMAS, ...schemas]) {
      const level = this.#levels.get(spec.priorityLevelConfiguration.name)
      if (level?.quiescing === false) flows.set(name, { name, uid, spec, level })
    }
    this.#matcher = new Matcher([...flows.values()].sort(inOrder))
    this.#fallback = flows.get(CATCH_ALL)
  }

  /** Whether the level exists, so that schemas may refer to it. */
  hasLevel (name: string): boolean { return this.#levels.get(name)?.quiescing === false }

  /** A request of an exempt level takes seats, or gives them back if negative. */
  exempt (level: Level, seats: number): void {
    level.used += seats
    level.lending?.demand.set(level.used, this.#options.clock.elapsed())
  }

  close (): void {
    this.#cancel?.()
    for (const { queues } of this.#levels.values()) queues?.close()
  }

  #ensure (stored: PriorityLevelConfiguration): void {
    const { metadata: { name = '', uid = '' }, spec: { limited, exempt } } = stored
    const { clock, waitLimit, observe, turns, lending: lends } = this.#options
    const level = this.#levels.get(name)
    const own = limited === undefined ? exempt?.nominalConcurrencyShares ?? 0 : sharesOf(stored)
    const shares = lends === true ? own : limited?.assuredConcurrencyShares ?? 0
    const demand = level?.lending?.demand ?? new Demand(clock.elapsed())
    const { lendablePercent } = limited ?? exempt ?? {}
    const percentages = { lends: lendablePercent, borrows: limited?.borrowingLimitPercent }
    const lending = lends === true ? { percentages, demand, bounds: level?.lending?.bounds } : undefined
    if (level !== undefined) {
      Object.assign(level, { uid, shares, lending, quiescing: false })
      return
    }
    const observer = observe?.(name) ?? {}
    const changed = lends !== true
      ? observer.changed
      : (set: QueueSet): void => {
          observer.changed?.(set)
          demand.set(set.seatsAsked, set.now)
        }
    const queues = limited === undefined
      ? undefined
      : new QueueSet(
          clock, { limit: 1, queues: 0, handSize: 0, lengthLimit: 0, waitLimit },
          { ...observer, ...(changed === undefined ? {} : { changed }), idle: () => { this.#removeIfIdle(name) } },
          turns
        )
    this.#levels.set(name, { name, uid, queues, shares, used: 0, lending, quiescing: false })
  }

  /** Distributes the seats by shares, rounded up, so that each level with a share has at least one. */
  #distributeSeats (desired?: ReadonlyMap<string, PriorityLevelConfiguration>): void {
    const { seats } = this.#options
    let sum = 0
    for (const { shares } of this.#levels.values()) sum += shares
    const nominal = (shares: number): number => Math.ceil(seats * shares / sum)
    let all = 0
    for (const { shares } of this.#levels.values()) all += nominal(shares)
    for (const level of this.#levels.values()) {
      const { name, queues, lending, shares } = level
      let limit = nominal(shares)
      if (lending !== undefined) {
        const bounds = boundsOf(limit, all, lending.percentages)
        // It keeps what it has borrowed or lent, until the end of the period.
        if (lending.bounds !== undefined && queues !== undefined) {
          const borrowed = queues.settings.limit - lending.bounds.nominal
          limit = Math.max(bounds.least, Math.min(bounds.most, limit + borrowed))
        }
        lending.bounds = bounds
      }
      if (queues === undefined) {
        if (lending !== undefined) this.#limit(level, limit)
        continue
      }
      const { queuing } = desired?.get(name)?.spec.limited?.limitResponse ?? {}
      this.#limit(level, limit, desired?.has(name) !== true
        ? {}
        : {
            queues: queuing?.queues ?? 0, handSize: queuing?.handSize ?? 0, lengthLimit: queuing?.queueLengthLimit ?? 0
          })
    }
  }

  #limit ({ name, queues, lending }: Level, limit: number, settings: Partial<QueueSettings> = {}): void {
    const { waitLimit, limited } = this.#options
    limited?.(name, limit, lending?.bounds)
    queues?.configure({ ...queues.settings, ...settings, limit, waitLimit })
  }

  #lendLater (): void {
    this.#cancel = this.#options.clock.after(PERIOD, () => {
      this.#lend()
      this.#lendLater()
    })
  }

  /**
   * Gives levels the seats that they ask for, as far as others lend them. An exempt level has of its own what it asks
   * for, and what it does not lend.
   */
  #lend (): void {
    const now = this.#options.clock.elapsed()
    let seats = 0
    const claims = [...this.#levels.values()].flatMap(level => {
      const { bounds, demand } = level.lending ?? {}
      if (bounds === undefined || demand === undefined) return []
      const mostAsked = demand.end(now)
      const { nominal, least } = bounds
      if (level.queues === undefined) {
        seats += nominal - Math.max(least, Math.min(nominal, mostAsked))
        return []
      }
      seats += nominal
      return [{ level, bounds, mostAsked, smoothed: demand.smoothed }]
    })
    for (const [index, limit] of divide(seats, claims).entries()) {
      const level = claims[index]?.level
      if (level !== undefined && level.queues?.settings.limit !== limit) this.#limit(level, limit)
    }
  }

  /** Removes a quiescing level after its last request and redistributes its seats. */
  #removeIfIdle (name: string): void {
    const level = this.#levels.get(name)
    if (level?.quiescing !== true || level.queues?.idle === false) return
    this.#drop(level)
    this.#distributeSeats()
  }

  #drop (level: Level): void {
    level.queues?.close()
    this.#levels.delete(level.name)
    if (level.queues !== undefined) this.#options.limited?.(level.name, 0)
  }
}

/** Whether a stored level is usable; older servers may have stored it without today's validation. */
function isValid (
  { metadata: { name = '' }, spec: { type, limited } }: PriorityLevelConfiguration, lends: boolean | undefined
): boolean {
  if ((type === 'Exempt') !== (limited === undefined) || (type === 'Exempt') !== (name === 'exempt')) return false
  if (limited === undefined) return true
  const { assuredConcurrencyShares: shares = 0, limitResponse: { type: response, queuing } } = limited
  if ((lends === true ? shares < 0 : shares <= 0) || (response === 'Reject') !== (queuing === undefined)) return false
  return queuing === undefined ||
    ((queuing.queues ?? 0) > 0 && (queuing.handSize ?? 0) > 0 && (queuing.queueLengthLimit ?? 0) > 0)
}

/** Identifies the flow of a request within its schema. */
export function distinguisher ({ spec: { distinguisherMethod } }: Flow, user: UserInfo, info: RequestInfo): string {
  if (distinguisherMethod === undefined) return ''
  return distinguisherMethod.type === 'ByUser' ? user.username : info.namespace
}
