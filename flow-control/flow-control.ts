/**
 * Priority and fairness as configured: levels, each with its share of the seats of the server, and flow schemas, which say
 * who belongs to which. All of it changes at once, and requests go on: those of a level that is no more are served until
 * none is left. What cannot be missed, a level and a schema for administrators and one for everybody, is there without
 * being stored.
 */
import type { FlowSchema, FlowSchemaSpec, PriorityLevelConfiguration } from '../schemas/api/flowcontrol/v1beta1.js'
import type { RequestInfo } from '../auth/request-info.js'
import type { UserInfo } from '../schemas/meta/user-info.js'
import type { Clock } from '../storage/clock.js'
import { CATCH_ALL, MANDATORY_LEVELS, MANDATORY_SCHEMAS } from './defaults.js'
import { inOrder, Matcher } from './matching.js'
import { QueueSet, type QueueObserver, type QueueSettings } from './queue-set.js'

export interface Level {
  readonly name: string
  /** '' of one that is not stored. */
  uid: string
  /** Undefined where requests are exempt. */
  readonly queues: QueueSet | undefined
  shares: number
  /** It is no more, and serves who is still in it. */
  quiescing: boolean
}

export interface Flow {
  readonly name: string
  /** '' of one that is not stored. */
  readonly uid: string
  readonly spec: FlowSchemaSpec
  readonly level: Level
}

export interface FlowControlOptions {
  /** Of all levels together. */
  readonly seats: number
  /** Milliseconds that a request may wait. */
  readonly waitLimit: number
  readonly clock: Clock
  /** What is told of a level. Default nobody is. */
  readonly observe?: (level: string) => QueueObserver
  /** Told of the seats of a level, 0 when it is gone. */
  readonly limited?: (level: string, seats: number) => void
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

  /** Where a request belongs; there is always such a flow. */
  flow (user: UserInfo, info: RequestInfo): Flow {
    return this.#matcher.match(user, info) ?? this.#fallback as Flow // configure makes one
  }

  /** From now on. @param levels and schemas as they are stored, one of each name */
  configure (levels: readonly PriorityLevelConfiguration[], schemas: readonly FlowSchema[]): void {
    const wanted = new Map<string, PriorityLevelConfiguration>()
    for (const level of [...MANDATORY_LEVELS, ...levels]) if (isWhole(level)) wanted.set(level.metadata.name ?? '', level)
    for (const level of this.#levels.values()) {
      if (wanted.has(level.name)) continue
      if (level.queues?.idle === false) level.quiescing = true
      else this.#drop(level)
    }
    for (const one of wanted.values()) this.#keep(one)
    this.#share(wanted)
    const flows = new Map<string, Flow>()
    for (const { metadata: { name = '', uid = '' }, spec } of [...MANDATORY_SCHEMAS, ...schemas]) {
      const level = this.#levels.get(spec.priorityLevelConfiguration.name)
      if (level?.quiescing === false) flows.set(name, { name, uid, spec, level })
    }
    this.#matcher = new Matcher([...flows.values()].sort(inOrder))
    this.#fallback = flows.get(CATCH_ALL)
  }

  /** False where a schema that refers to it refers to nothing. */
  hasLevel (name: string): boolean { return this.#levels.get(name)?.quiescing === false }

  close (): void { for (const { queues } of this.#levels.values()) queues?.close() }

  #keep ({ metadata: { name = '', uid = '' }, spec: { limited } }: PriorityLevelConfiguration): void {
    const level = this.#levels.get(name)
    const shares = limited?.assuredConcurrencyShares ?? 0
    if (level !== undefined) {
      Object.assign(level, { uid, shares, quiescing: false })
      return
    }
    const { clock, waitLimit, observe } = this.#options
    const observer = observe?.(name) ?? {}
    const queues = limited === undefined
      ? undefined
      : new QueueSet(clock, { limit: 1, queues: 0, handSize: 0, lengthLimit: 0, waitLimit }, { ...observer, idle: () => { this.#reap(name) } })
    this.#levels.set(name, { name, uid, queues, shares, quiescing: false })
  }

  /** Gives each level its part of the seats, rounded up, so that each has one. */
  #share (wanted?: ReadonlyMap<string, PriorityLevelConfiguration>): void {
    const { seats, waitLimit, limited } = this.#options
    let sum = 0
    for (const { shares } of this.#levels.values()) sum += shares
    for (const { name, queues, shares } of this.#levels.values()) {
      if (queues === undefined) continue
      const limit = Math.ceil(seats * shares / sum)
      const { queuing } = wanted?.get(name)?.spec.limited?.limitResponse ?? {}
      const settings: Omit<QueueSettings, 'limit' | 'waitLimit'> = wanted?.has(name) !== true
        ? queues.settings
        : { queues: queuing?.queues ?? 0, handSize: queuing?.handSize ?? 0, lengthLimit: queuing?.queueLengthLimit ?? 0 }
      const { queues: number, handSize, lengthLimit } = settings
      limited?.(name, limit)
      queues.configure({ limit, queues: number, handSize, lengthLimit, waitLimit })
    }
  }

  /** Its last request is over: others have its seats. */
  #reap (name: string): void {
    const level = this.#levels.get(name)
    if (level?.quiescing !== true || level.queues?.idle === false) return
    this.#drop(level)
    this.#share()
  }

  #drop (level: Level): void {
    level.queues?.close()
    this.#levels.delete(level.name)
    if (level.queues !== undefined) this.#options.limited?.(level.name, 0)
  }
}

/** Whether it can be gone by: validation sees to that, but not every version of it saw what is stored. */
function isWhole ({ metadata: { name = '' }, spec: { type, limited } }: PriorityLevelConfiguration): boolean {
  if ((type === 'Exempt') !== (limited === undefined) || (type === 'Exempt') !== (name === 'exempt')) return false
  if (limited === undefined) return true
  const { assuredConcurrencyShares: shares = 0, limitResponse: { type: response, queuing } } = limited
  if (shares <= 0 || (response === 'Reject') !== (queuing === undefined)) return false
  return queuing === undefined || ((queuing.queues ?? 0) > 0 && (queuing.handSize ?? 0) > 0 && (queuing.queueLengthLimit ?? 0) > 0)
}

/** Which of the flows of a schema a request is of. */
export function distinguisher ({ spec: { distinguisherMethod } }: Flow, user: UserInfo, info: RequestInfo): string {
  if (distinguisherMethod === undefined) return ''
  return distinguisherMethod.type === 'ByUser' ? user.username : info.namespace
}
