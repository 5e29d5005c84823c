/** The class that objects without one get. */
import type { ApiObject } from '../schemas/meta/api-object.js'
import { refusal } from './refusal.js'

export interface DefaultClasses {
  /** Those that are marked as default. */
  readonly marked: readonly ApiObject[]
  /** Whether the newest of several is the default; of the same second the first by name. */
  readonly mayBeSeveral: boolean
  /** What is wrong with several where they may not be. */
  readonly problem: string
}

/** @throws StatusError where there are several and none of them is the default */
export function defaultClass (
  request: Parameters<typeof refusal>[0], { marked, mayBeSeveral, problem }: DefaultClasses
): string | undefined {
  if (marked.length > 1 && !mayBeSeveral) throw refusal(request, `Internal error occurred: ${problem}`)
  const [newest] = marked.toSorted(({ metadata: one }, { metadata: other }) =>
    compare(other.creationTimestamp, one.creationTimestamp) || compare(one.name, other.name))
  return newest?.metadata.name
}

const compare = (a = '', b = ''): number => a < b ? -1 : Number(a > b)
