/**
 * What became of a write whose answer was lost. It is never sent again; the store is read instead.
 *
 * A write compares the key's revision, so at most one write ever follows a given revision of a key: if the
 * key has moved on, the first change after the expected revision was either ours or it shut ours out for
 * good. As long as the key still stands at the expected revision, a request that is still on its way
 * could yet arrive, and nobody can say.
 */
import type { Backend, BackendEvent, KeyValue, Revision, WriteResult } from '../backend.js'
import { StorageError } from '../errors.js'

export interface Attempt {
  readonly kind: 'create' | 'update' | 'delete'
  readonly key: string
  /** Undefined for a delete. */
  readonly value: Uint8Array | undefined
  /** 0 for a create. */
  readonly expected: Revision
}

/** Milliseconds to learn the history of one key. */
const HISTORY_TIME = 10_000

type Reader = Pick<Backend, 'get' | 'watch'>

/**
 * @param before a revision the store had reached before the attempt, 0 when none is known
 * @throws StorageError 'UnknownOutcome' when the store can't be read or its state leaves both possible
 */
export async function outcomeOf (store: Reader, attempt: Attempt, before: Revision, cause: Error): Promise<WriteResult> {
  const unknown = (why: string, error?: unknown) => new StorageError('UnknownOutcome',
    `the answer to a ${attempt.kind} of ${attempt.key} was lost (${cause.message}) and ${why}`, { key: attempt.key, cause: error ?? cause })
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
 * Ours if the key's present life began after the attempt and with exactly our bytes. A key that is not there leaves all
 * possible, a guard that has moved on too: it may have done so only after the create, and the key have been deleted since.
 */
async function createdBy (store: Reader, { key, value }: Attempt, before: Revision, kv: KeyValue | undefined): Promise<WriteResult | undefined> {
  if (kv === undefined || before === 0 || kv.createRevision <= before) return undefined
  const first = kv.modRevision === kv.createRevision ? kv : (await store.get(key, kv.createRevision)).kv
  return same(first?.value, value) ? { succeeded: true, revision: kv.createRevision } : undefined
}

async function firstChange (store: Reader, { kind, key, value, expected }: Attempt, revision: Revision, kv: KeyValue | undefined): Promise<WriteResult | undefined> {
  if (kv?.modRevision === expected) return undefined
  const change = await firstEvent(store, key, expected)
  // The comparison could never have held: the expected revision was not this key's last before the change.
  const follows = change.previous?.modRevision === expected
  const ours = follows && (kind === 'delete' ? change.type === 'delete' : change.type === 'put' && same(change.kv.value, value))
  return ours
    ? { succeeded: true, revision: change.kv.modRevision }
    : { succeeded: false, revision, current: kv }
}

/** The first thing that happened to the key after a revision; something did. */
async function firstEvent (store: Reader, key: string, after: Revision): Promise<BackendEvent> {
  return await new Promise((resolve, reject) => {
    const timer = setTimeout(() => finish(() => reject(new StorageError('Unavailable', `the history of ${key} did not come`))), HISTORY_TIME)
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
