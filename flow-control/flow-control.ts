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
import { inOrder, Matcher } from './matching.js'
import { QueueSet, type QueueObserver, type QueueSettings, type Turns } from './queue-set.js'

export interface Level {
  readonly name: string
  /** '' if it is not stored. */
  uid: string
  /** Undefined for exempt levels. */
  readonly queues: QueueSet | undefined
  shares: number
  /** Removed, but still serving pending requests. */
  quiescing: boolean
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
  /** Receives the seats of a level, 0 on removal. */
  readonly limited?: (level: string, seats: number) => void
  /** For tests. */
  readonly turns?: Turns
}

export class FlowControl {
  readonly #options: FlowControlOptions
  readonly #levels = new Map<string, Level>()
  #matcher = new Matcher<Flow>([])
  #fallback: Flow | undefined

  constructor (options: FlowControlOptions) {
    this.#options = options
    this.configure([], [])
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
      if (isValid(level)) desired.set(level.metadata.name ?? '', level)
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

  close (): void { for (const { queues } of this.#levels.values()) queues?.close() }

  #ensure ({ metadata: { name = '', uid = '' }, spec: { limited } }: PriorityLevelConfiguration): void {
    const level = this.#levels.get(name)
    const shares = limited?.assuredConcurrencyShares ?? 0
    if (level !== undefined) {
      Object.assign(level, { uid, shares, quiescing: false })
      return
    }
    const { clock, waitLimit, observe, turns } = this.#options
    const observer = observe?.(name) ?? {}
    const queues = limited === undefined
      ? undefined
      : new QueueSet(
        clock, { limit: 1, queues: 0, handSize: 0, lengthLimit: 0, waitLimit },
        { ...observer, idle: () => { this.#removeIfIdle(name) } }, turns
      )
    this.#levels.set(name, { name, uid, queues, shares, quiescing: false })
  }

  /** Distributes the seats by shares, rounded up, so that each level has at least one. */
  #distributeSeats (desired?: ReadonlyMap<string, PriorityLevelConfiguration>): void {
    const { seats, waitLimit, limited } = this.#options
    let sum = 0
    for (const { shares } of this.#levels.values()) sum += shares
    for (const { name, queues, shares } of this.#levels.values()) {
      if (queues === undefined) continue
      const limit = Math.ceil(seats * shares / sum)
      const { queuing } = desired?.get(name)?.spec.limited?.limitResponse ?? {}
      const settings: Omit<QueueSettings, 'limit' | 'waitLimit'> = desired?.has(name) !== true
        ? queues.settings
        : {
            queues: queuing?.queues ?? 0, handSize: queuing?.handSize ?? 0, lengthLimit: queuing?.queueLengthLimit ?? 0
          }
      const { queues: number, handSize, lengthLimit } = settings
      limited?.(name, limit)
      queues.configure({ limit, queues: number, handSize, lengthLimit, waitLimit })
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
function isValid ({ metadata: { name = '' }, spec: { type, limited } }: PriorityLevelConfiguration): boolean {
  if ((type === 'Exempt') !== (limited === undefined) || (type === 'Exempt') !== (name === 'exempt')) return false
  if (limited === undefined) return true
  const { assuredConcurrencyShares: shares = 0, limitResponse: { type: response, queuing } } = limited
  if (shares <= 0 || (response === 'Reject') !== (queuing === undefined)) return false
  return queuing === undefined ||
    ((queuing.queues ?? 0) > 0 && (queuing.handSize ?? 0) > 0 && (queuing.queueLengthLimit ?? 0) > 0)
}

/** Identifies the flow of a request within its schema. */
export function distinguisher ({ spec: { distinguisherMethod } }: Flow, user: UserInfo, info: RequestInfo): string {
  if (distinguisherMethod === undefined) return ''
  return distinguisherMethod.type === 'ByUser' ? user.username : info.namespace
}
