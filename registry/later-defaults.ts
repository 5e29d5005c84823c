/** Defaults besides those of 1.24, which the emulated release or its gates bring. Set after all others. */
import type { GatedFields } from '../schemas/language/gated.js'
import type { Gates } from '../schemas/gates.js'
import type { ApiObject } from '../schemas/meta/api-object.js'
import type { Strategy } from '../schemas/strategy.js'

export class LaterDefaults {
  readonly #gated: GatedFields
  readonly #gates: Gates
  readonly #ofType: Strategy['laterDefaults']

  constructor ({ laterDefaults: later }: Strategy, gated: GatedFields, gates: Gates) {
    this.#gated = gated
    this.#gates = gates
    this.#ofType = later !== undefined && gates.enabled(later.since) ? later : undefined
  }

  /** Whether there are any. */
  get exist (): boolean { return this.#ofType !== undefined || this.#gated.correctsDefaults }

  /** Sets them. */
  fill (object: object): void {
    this.#gated.correctDefaults(object)
    this.#ofType?.fill(object as ApiObject, this.#gates) // of the type
  }
}
