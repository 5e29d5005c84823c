/**
 * The selectors of a request as authorizers see them: requirements, never text. One that cannot be read counts as none,
 * as selectors only narrow a request, and it fails later.
 */
import { fieldRequirements } from '../schemas/selectors/fields.js'
import { labelRequirements } from '../schemas/selectors/labels.js'
import type { SelectorRequirement } from '../schemas/selectors/requirement.js'
import { DecodeError } from '../schemas/language/decode-error.js'

export interface Selectors {
  readonly fields: readonly SelectorRequirement[]
  readonly labels: readonly SelectorRequirement[]
}

/** Of a query; read when an authorizer asks, as few do. */
export class SelectorsOfQuery implements Selectors {
  readonly #query: string
  #fields: Selectors['fields'] | undefined
  #labels: Selectors['labels'] | undefined

  constructor (query: string) { this.#query = query }

  get fields (): Selectors['fields'] { return this.#fields ??= this.#read('fieldSelector', fieldRequirements) }
  get labels (): Selectors['labels'] { return this.#labels ??= this.#read('labelSelector', labelRequirements) }

  /** The first value counts. */
  #read (parameter: string, read: (text: string) => SelectorRequirement[]): SelectorRequirement[] {
    return readable(read, new URLSearchParams(this.#query).get(parameter) ?? '') ?? []
  }
}

/** What a selector requires; undefined if it cannot be read. */
export function readable (
  read: (text: string) => SelectorRequirement[], text: string
): SelectorRequirement[] | undefined {
  try {
    return read(text)
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}
