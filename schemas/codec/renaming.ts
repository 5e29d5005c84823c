/**
 * Which texts of a message another reader calls by other names, for code that turns stored bytes into other bytes.
 * `schemas/compat/` has the names.
 */
import { lowerBound } from '../sorted.js'

/**
 * One member: text, or a list of texts; a map whose keys are names; objects of a message, alone or as the items of a
 * list or map; or any value, which is changed as a whole, maybe in place.
 */
export type Renamed =
  | { readonly kind: 'text', readonly of: Text }
  | RenamedKeys
  | { readonly kind: 'objects', readonly renaming: Renaming, readonly inMap: boolean }
  | { readonly kind: 'value', readonly of: (value: unknown) => unknown }

export interface RenamedKeys {
  readonly kind: 'keys'
  readonly of: Text
  /** What renames the value of a key; undefined for the client's own text. */
  readonly valueOf: (key: string) => Text | undefined
}

type Text = (text: string) => string

/** The members of a message that may hold names; all others are copied. */
export interface Renaming {
  readonly member: (name: string) => Renamed | undefined
  /** Where JSON may hold names. */
  readonly signsIn: (json: Buffer) => Signs
}

/** Positions of what every name has a part of. */
export class Signs {
  readonly #at: readonly number[]

  /** @param at ascending */
  constructor (at: readonly number[]) { this.#at = at }

  get none (): boolean { return this.#at.length === 0 }

  /** Whether there is one from `start` on and before `end`. */
  between (start: number, end: number): boolean {
    const next = this.#at[lowerBound(this.#at, start)]
    return next !== undefined && next < end
  }
}
