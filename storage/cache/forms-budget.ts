/**
 * Bounds the memory of all forms of the process, see `forms.ts`. When it is short, the form that was asked for least is
 * dropped as a whole, whatever its type: what keeps a part of each form makes every list again. A form that was asked
 * for less than those that fill the memory is not kept, and tried again when some of that has become free.
 */
import { totalmem } from 'node:os'

/** A form, or the joined bytes of lists. */
export abstract class Keeper {
  readonly type: string
  readonly name: string
  /** Kept now. */
  bytes = 0
  /** How often it was asked for since the last span. */
  asked = 0
  /** How often it was asked for before, half as much for each span. */
  score = 0
  /** Spans in which nobody has asked. */
  idle = 0
  /** There was no room for it. */
  refused = false
  hits = 0
  misses = 0

  constructor (type: string, name: string) {
    this.type = type
    this.name = name
  }

  abstract drop (): void

  /** Drops what was not used in the span that ends. */
  sweep (): void {}
}

const SPAN_MS = 30_000
/** A keeper that nobody has asked for in as many spans is dropped. */
const MAX_IDLE = 6
/** A keeper in use makes room for others only if they are asked for as many times as much: they would take turns. */
const ADVANTAGE = 2
const DEFAULT_SHARE = 0.25

/** Bytes that this process may use. */
const memory = (): number => {
  const constrained = process.constrainedMemory()
  const total = totalmem()
  return constrained > 0 && constrained < total ? constrained : total
}

/** Bytes. */
const room = { limit: Math.floor(memory() * DEFAULT_SHARE), used: 0 }
let timer: NodeJS.Timeout | undefined
const keepers = new Set<Keeper>()

/** Bytes, or a share of the memory that the process may use. */
export type FormsSize = { readonly bytes: number } | { readonly share: number }

export function limitForms (size: FormsSize): void {
  room.limit = Math.floor('bytes' in size ? size.bytes : memory() * size.share)
  while (room.used > room.limit) leastAsked()?.drop()
}

/** What is kept, for metrics and tests. */
export const keptForms = (): KeptForms => ({ bytes: room.used, limit: room.limit, all: keepers })

export interface KeptForms { readonly bytes: number, readonly limit: number, readonly all: Iterable<Readonly<Keeper>> }

/** Accounts for what a keeper adds; drops others for it if need be. @returns false if there is no room */
export function makeRoom (keeper: Keeper, bytes: number): boolean {
  if (keeper.refused) return false
  if (keeper.bytes === 0) {
    keepers.add(keeper)
    timer ??= setInterval(sweep, SPAN_MS).unref()
  }
  while (room.used + bytes > room.limit) {
    const least = leastAsked(keeper)
    if (least === undefined || !isWorthMore(keeper, least)) {
      keeper.drop()
      keeper.refused = true
      return false
    }
    least.drop()
  }
  keeper.bytes += bytes
  room.used += bytes
  return true
}

/** Some of what a keeper kept is gone. */
export function giveBack (keeper: Keeper, bytes: number): void {
  keeper.bytes -= bytes
  room.used -= bytes
}

/** All that a keeper kept is gone. */
export function forget (keeper: Keeper): void {
  room.used -= keeper.bytes
  keeper.bytes = 0
}

const worth = ({ asked, score }: Keeper): number => asked + score
const isWorthMore = (keeper: Keeper, other: Keeper): boolean => worth(keeper) > worth(other) * ADVANTAGE

function leastAsked (except?: Keeper): Keeper | undefined {
  let least: Keeper | undefined
  for (const keeper of keepers) {
    if (keeper !== except && keeper.bytes > 0 && (least === undefined || worth(keeper) < worth(least))) least = keeper
  }
  return least
}

/** Ends a span. */
export function sweep (): void {
  for (const keeper of keepers) {
    keeper.score = worth(keeper) / 2
    keeper.idle = keeper.asked === 0 ? keeper.idle + 1 : 0
    keeper.asked = 0
    keeper.sweep()
    if (keeper.idle < MAX_IDLE) continue
    keeper.drop()
    keeper.refused = false
    keepers.delete(keeper)
  }
  const least = leastAsked()
  const isFree = room.used <= room.limit / 2 || least === undefined
  for (const keeper of keepers) if (isFree || isWorthMore(keeper, least)) keeper.refused = false
  if (keepers.size > 0) return
  clearInterval(timer)
  timer = undefined
}
