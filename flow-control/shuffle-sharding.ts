/**
 * Which queues a flow may use: a few of them, dealt like a hand of cards by a hash of the flow, so that two flows share some
 * of their queues now and then and hardly ever all of them.
 */
import { createHash } from 'node:crypto'

/** 64 bits that are the same for the same flow on every server. */
export function hashOf (schema: string, distinguisher: string): bigint {
  return createHash('sha256').update(schema).update('\0').update(distinguisher).digest().readBigUInt64LE(0)
}

/**
 * Distinct numbers of queues. The hash is a number with digits of falling bases, one for each card: its place among those
 * that are left.
 * @param queues how many there are
 * @param hand how many are dealt, at most `queues`
 */
export function deal (hash: bigint, queues: number, hand: number): readonly number[] {
  const taken: number[] = [] // ascending
  const cards: number[] = []
  let rest = hash
  for (let left = queues; cards.length < hand; left--) {
    let card = Number(rest % BigInt(left))
    rest /= BigInt(left)
    let place = 0
    while (place < taken.length && card >= (taken[place] ?? 0)) {
      card++
      place++
    }
    taken.splice(place, 0, card)
    cards.push(card)
  }
  return cards
}

const HANDS_KEPT = 1000

/** Hands of the flows that came last, as a hash costs as much as a small request. */
export class Dealer {
  readonly #queues: number
  readonly #hand: number
  /** By schema, then by what tells its flows apart: keys that are there already cost no new text. */
  readonly #dealt = new Map<string, Map<string, readonly number[]>>()
  #kept = 0

  constructor (queues: number, hand: number) {
    this.#queues = queues
    this.#hand = Math.min(hand, queues)
  }

  hand (schema: string, distinguisher: string): readonly number[] {
    let ofSchema = this.#dealt.get(schema)
    let hand = ofSchema?.get(distinguisher)
    if (hand === undefined) {
      if (this.#kept >= HANDS_KEPT) {
        this.#dealt.clear()
        this.#kept = 0
        ofSchema = undefined
      }
      if (ofSchema === undefined) this.#dealt.set(schema, ofSchema = new Map())
      ofSchema.set(distinguisher, hand = deal(hashOf(schema, distinguisher), this.#queues, this.#hand))
      this.#kept++
    }
    return hand
  }
}
