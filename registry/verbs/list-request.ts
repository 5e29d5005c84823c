/** What is asked of a list, and what it finds. */
import { NO_FIELDS, type FieldSelectorMatcher } from '../../schemas/selectors/fields.js'
import { NO_LABELS, type LabelSelectorMatcher } from '../../schemas/selectors/labels.js'
import { endedBefore } from '../../schemas/status.js'
import type { Revision } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import { nextTurn } from '../../event-loop/turns.js'

export interface ListRequest {
  /** '' for all namespaces. */
  readonly namespace: string
  readonly labels: LabelSelectorMatcher
  readonly fields: FieldSelectorMatcher
  /** 0 for no limit. */
  readonly limit: number
  readonly continue: string
  readonly resourceVersion: string
  readonly resourceVersionMatch: string
  readonly signal?: AbortSignal
}

/** All objects of a type, of the newest state. */
export const EVERYTHING: ListRequest = {
  namespace: '', labels: NO_LABELS, fields: NO_FIELDS, resourceVersion: '', limit: 0, continue: '',
  resourceVersionMatch: ''
}

export interface ListResult {
  readonly revision: Revision
  readonly entries: Entry[]
  /** Entries that form whole leaves of the cache, with the index of their first. */
  readonly leaves?: ReadonlyArray<{ readonly at: number, readonly entries: readonly Entry[] }>
  /** '' on the last page. */
  readonly continue: string
  /** Undefined on the last page, and with selectors, where it is unknown. */
  readonly remaining: number | undefined
}

/** Between two parts of a page that takes long. @throws StatusError 504 if nobody waits for it any longer */
export async function yieldTurn ({ signal }: ListRequest): Promise<void> {
  if (signal?.aborted === true) throw endedBefore('the list was complete')
  await nextTurn()
}
