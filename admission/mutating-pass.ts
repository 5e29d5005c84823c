/** One run of the mutating plugins over a request, and what webhooks and host plugins have changed in it. */
import { isDeepStrictEqual } from 'node:util'
import { clone } from '../schemas/language/values.js'
import type { AdmissionRequest, ForeignChange, Pass } from '../registry/admission.js'

export class MutatingPass implements Pass {
  round: 0 | 1 = 0
  isRepeated = false
  readonly foreignChanges: ForeignChange[] = []
  readonly #tracksForeign: boolean

  constructor (tracksForeign: boolean) { this.#tracksForeign = tracksForeign }

  again (): void { this.isRepeated = true }

  beforeForeign (object: AdmissionRequest['object']): (() => void) | undefined {
    if (!this.#tracksForeign || object === undefined) return undefined
    const before = clone(object)
    return () => {
      if (!isDeepStrictEqual(before, object)) this.foreignChanges.push({ before, after: clone(object) })
    }
  }
}
