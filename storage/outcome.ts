/**
 * Determines the outcome of a write whose response was lost, by reading the store; the write is never sent again.
 *
 * A write compares the key's revision, so at most one write follows a given revision of a key. If the key has changed,
 * the first change after the expected revision either is this write or made it fail. While the key is still at the
 * expected revision, the request may yet arrive and the outcome is unknown.
 */
import type { Backend, BackendEvent, KeyValue, Revision, WriteResult } from './backend.js'
import { StorageError } from './errors.js'

export interface Attempt {
  readonly kind: 'create' | 'update' | 'delete'
  readonly key: string
  /** Undefined for a delete. */
  readonly value: Uint8Array | undefined
  /** 0 for a create. */
  readonly expected: Revision
}

/** Timeout for a read of the key or its history. */
export const OUTCOME_TIMEOUT_MS = 3_000

type Reader = Pick<Backend, 'get' | 'watch'>

/**
 * @param before a revision that the store had reached before the attempt, 0 if unknown
 * @throws StorageError 'UnknownOutcome' if the store can't be read or its state allows both outcomes
 */
export async function outcomeOf (
  store: Reader, attempt: Attempt, before: Revision, cause: Error
): Promise<WriteResult> {
  const unknown = (why: string, error?: unknown) => new StorageError('UnknownOutcome',
    `the answer to a ${attempt.kind} of ${attempt.key} was lost (${cause.message}) and ${why}`, {
      key: attempt.key, cause: error ?? cause
    })
  try {
    const { revision, kv } = await store.get(attempt.key)
    const outcome = attempt.kind === 'create'
      ? await createdBy(store, attempt, before, kv)
      : await firstChange(store, attempt, revision, kv)
    if (outcome !== undefined) return outcome
  } catch (error) {
    throw unknown('the store could not be read afterwards', error)
  }
  throw unknown('the store does not tell whether it was done')
}

/**
 * The create succeeded if the key was created after the attempt with exactly these bytes. A missing key, or a changed
 * guard, allows both outcomes: the key may have been created and deleted since.
 */
async function createdBy (
  store: Reader, { key, value }: Attempt, before: Revision, kv: KeyValue | undefined
): Promise<WriteResult | undefined> {
  if (kv === undefined || before === 0 || kv.createRevision <= before) return undefined
  const first = kv.modRevision === kv.createRevision ? kv : (await store.get(key, kv.createRevision)).kv
  return same(first?.value, value) ? { succeeded: true, revision: kv.createRevision } : undefined
}

async function firstChange (
  store: Reader, { kind, key, value, expected }: Attempt, revision: Revision, kv: KeyValue | undefined
): Promise<WriteResult | undefined> {
  if (kv?.modRevision === expected) return undefined
  const change = await firstEvent(store, key, expected)
  // Otherwise the expected revision was not the key's last before the change, so the comparison failed.
  const follows = change.previous?.modRevision === expected
  const ours = follows &&
    (kind === 'delete' ? change.type === 'delete' : change.type === 'put' && same(change.kv.value, value))
  return ours
    ? { succeeded: true, revision: change.kv.modRevision }
    : { succeeded: false, revision, current: kv }
}

/** The first event of the key after a revision; at least one exists. */
async function firstEvent (store: Reader, key: string, after: Revision): Promise<BackendEvent> {
  return await new Promise((resolve, reject) => {
    const timer = setTimeout(() =>
      finish(() => reject(new StorageError('Unavailable', `the history of ${key} did not come`))), OUTCOME_TIMEOUT_MS)
    const finish = (settle: () => void) => {
      clearTimeout(timer)
      watch.cancel()
      settle()
    }
    const watch = store.watch({
      start: key,
      end: key + '\0',
      after,
      onEvents: events => {
        const [first] = events
        if (first !== undefined) finish(() => resolve(first))
      },
      onProgress: () => {},
      onEnd: error => finish(() => reject(error))
    })
  })
}

function same (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a !== undefined && b !== undefined && Buffer.compare(a, b) === 0
}
