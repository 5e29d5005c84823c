/** Removes unreadable objects at once: they can be neither marked nor finalized. */
import { UNBOUNDED } from '../../schemas/codec/json/parse.js'
import { decode } from '../../schemas/language/decode.js'
import { conflict, notFound } from '../../schemas/status.js'
import type { KeyValue } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import { isUnreadable, type StorageError } from '../../storage/errors.js'
import type { ResourceStore } from '../resource-store.js'
import { ADMIT, ADMIT_AGAIN } from '../stages/admit.js'
import { MODIFIED } from '../stages/expected-version.js'
import { runStages, type Stage } from '../stages/run.js'
import { acknowledge, STORE_CHANGE } from '../stages/store.js'
import { Write } from '../stages/write.js'
import type { ObjectWrite } from '../write-context.js'

export interface Preconditions { readonly uid?: string | undefined, readonly resourceVersion?: string | undefined }

export class DamagedWrite extends Write {
  readonly key: string
  readonly damage: StorageError
  /** Of the deleted object, as the client asked. */
  readonly expected: Preconditions | undefined
  revision = 0

  constructor (write: ObjectWrite, expected: Preconditions | undefined, damage: StorageError) {
    super(write, 'DELETE')
    this.key = write.store.keys.of(write.target.namespace, write.target.name)
    this.expected = expected
    this.damage = damage
  }
}

const DELETE_DAMAGED: ReadonlyArray<Stage<DamagedWrite>> = [
  { name: 'find', run: find },
  ADMIT,
  ADMIT_AGAIN,
  {
    ...STORE_CHANGE,
    fields: () => ({ operation: 'delete' }),
    when: ({ dryRun }) => !dryRun,
    run: async write => {
      write.outcome = await write.store.backend.delete(write.key, write.revision)
      await acknowledge(write)
    }
  },
  { name: 'conclude', run: conclude }
]

/**
 * @param damage the decoding error
 * @throws it if the object is not damaged; StatusError 404, 409, any admission refusal
 */
export async function removeDamaged (
  object: ObjectWrite, expected: Preconditions | undefined, damage: StorageError
): Promise<Entry> {
  const write = new DamagedWrite(object, expected, damage)
  await runStages(DELETE_DAMAGED, write)
  return write.answer
}

/** @throws StatusError 404, 409; the damage of another object */
export async function find (write: DamagedWrite): Promise<void> {
  const { store, key, target: { name }, expected: { uid, resourceVersion } = {} } = write
  const { kv } = await store.backend.get(key)
  if (kv === undefined) throw notFound(store.resource, name)
  if (!isDamaged(store, kv)) throw write.damage
  write.revision = kv.modRevision
  if (uid === undefined && (resourceVersion === undefined || resourceVersion === String(kv.modRevision))) return
  const why = 'the stored object cannot be read, so that its UID cannot be compared'
  throw conflict(store.resource, name, `Precondition failed: ${why} and its ResourceVersion is ${kv.modRevision}`)
}

function isDamaged (store: ResourceStore, kv: KeyValue): boolean {
  try {
    store.entries.decode(kv, kv.modRevision)
    return false
  } catch (error) {
    if (isUnreadable(error)) return true
    throw error
  }
}

/** Answers with what is known of the object. @throws StatusError 409 if it was changed meanwhile */
export function conclude (write: DamagedWrite): void {
  const { store, key, target, outcome, revision } = write
  if (outcome?.succeeded === false) throw conflict(store.resource, target.name, MODIFIED)
  const { kind, group, version } = store.stored
  const metadata = { name: target.name, ...(target.namespace === '' ? {} : { namespace: target.namespace }) }
  const apiVersion = group === '' ? version : `${group}/${version}`
  const { object } = decode(store.stored.message, { kind, apiVersion, metadata }, UNBOUNDED)
  write.result = store.entries.of(key, object, outcome?.revision ?? revision)
}
