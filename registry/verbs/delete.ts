/**
 * DELETE in two phases: an object with finalizers or a grace period is marked with a deletionTimestamp and removed when
 * nothing holds it any longer; other objects are removed at once. (Interface: Deletion of an object.)
 */
import type { AdmissionRequest } from '../admission.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { conflict } from '../../schemas/status.js'
import type { Entry } from '../../storage/cache/entry.js'
import { isUnreadable } from '../../storage/errors.js'
import type { ResourceStore } from '../resource-store.js'
import { ADMIT, ADMIT_AGAIN } from '../stages/admit.js'
import { RELEASE } from '../stages/allocate.js'
import { changedSince } from '../stages/changed-since.js'
import { concludeChange, removable } from '../stages/change.js'
import { DECODE } from '../stages/decode.js'
import { markedObject, type DeletionOptions } from '../stages/deletion-mark.js'
import type { Stage } from '../stages/run.js'
import { STORE_CHANGE } from '../stages/store.js'
import { Given, type Sent, Write } from '../stages/write.js'
import { ChangeWrite } from '../stages/writes.js'
import type { ObjectWrite, Target, WriteContext } from '../write-context.js'
import { FINDING, runChange, STORING } from './change.js'
import { removeDamaged, type Preconditions } from './delete-damaged.js'

export interface DeleteRequest extends DeletionOptions {
  readonly preconditions?: Preconditions | undefined
  /** Skips admission, because the request that causes this deletion was admitted. */
  readonly admitted?: true
  /** As the client sent them, for admission. */
  readonly options?: Readonly<Record<string, unknown>>
}

export interface Deleted {
  /** The last state of a removed object, or the marked state. */
  readonly entry: Entry
  readonly removed: boolean
  /** Whether the request wants dependents to go first. */
  readonly dependentsFirst: boolean
  /** Of a removed object, if it could be read. */
  readonly uid?: string | undefined
}

export class DeleteWrite extends ChangeWrite {
  readonly given: Given<DeleteRequest>
  /** Nothing holds the object any longer. */
  removed = false
  /** The marked object in the store, of a type that is marked before it is removed. */
  marked: Entry | undefined = undefined

  constructor (write: ObjectWrite, given: DeleteRequest | Sent<DeleteRequest>) {
    super(write, 'DELETE')
    this.given = new Given(given)
  }

  get request (): DeleteRequest { return this.given.value }
  override get options (): Readonly<Record<string, unknown>> { return { ...super.options, ...this.request.options } }
  override get admitted (): AdmissionRequest { return new Deletion(this).admitted }
  /** A mark has no size limit. */
  override get unlimitedBytes (): number { return Infinity }

  override begin (): void {
    super.begin()
    this.marked = undefined
  }
}

/** What admission sees: nothing is written. */
class Deletion extends Write {
  readonly #write: DeleteWrite

  constructor (write: DeleteWrite) {
    super(write, 'DELETE')
    this.#write = write
    this.trace = write.trace
  }

  override get oldObject (): ApiObject { return this.#write.oldObject }

  /** With the effective grace period, if the strategy has one. */
  override get options (): Readonly<Record<string, unknown>> {
    const { store: { strategy }, oldObject } = this
    const { request, options } = this.#write
    if (strategy.gracePeriod === undefined || oldObject.metadata.deletionTimestamp !== undefined) return options
    return { ...options, gracePeriodSeconds: strategy.gracePeriod(oldObject, request.gracePeriodSeconds) }
  }
}

/** False if the cause of the deletion was admitted, or the deletion changes nothing. */
function needsAdmission ({ request: { admitted, gracePeriodSeconds }, oldObject: { metadata } }: DeleteWrite): boolean {
  if (admitted === true) return false
  const { deletionTimestamp, deletionGracePeriodSeconds: remaining = 0 } = metadata
  const keepsGracePeriod = gracePeriodSeconds === undefined || gracePeriodSeconds >= remaining
  return deletionTimestamp === undefined || remaining <= 0 || !keepsGracePeriod
}

/**
 * Types with a grace period or a terminating phase are marked before they are removed, so that watchers see that state.
 */
const marksFirst = ({ store: { strategy } }: DeleteWrite): boolean =>
  strategy.gracePeriod !== undefined || strategy.beginDelete !== undefined

const isMarked = ({ marked }: DeleteWrite): boolean => marked !== undefined

/** The order of a deletion. */
export const DELETE: ReadonlyArray<Stage<DeleteWrite>> = [
  DECODE,
  ...FINDING,
  { name: 'check preconditions', when: ({ request }) => request.preconditions !== undefined, run: checkPreconditions },
  { ...ADMIT, when: needsAdmission },
  { ...ADMIT_AGAIN, when: needsAdmission },
  { name: 'mark', run: mark },
  ...STORING,
  { name: 'remove marked', when: marksFirst, run: removeMarked },
  { ...STORE_CHANGE, name: 'store removal', when: isMarked },
  { name: 'conclude removal', when: isMarked, run: concludeRemoval },
  { ...RELEASE, name: 'release of marked', when: isMarked }
]

/** @throws StatusError 404, 409 Conflict, any admission refusal; StorageError */
export async function remove (
  store: ResourceStore, target: Target, given: DeleteRequest | Sent<DeleteRequest>, context: WriteContext
): Promise<Deleted> {
  const write = new DeleteWrite({ store, target, context }, given)
  try {
    const { entry } = await runChange(DELETE, write)
    const dependentsFirst = write.request.options?.['orphanDependents'] === false
    return { entry, removed: write.removed, dependentsFirst, uid: write.object.metadata.uid }
  } catch (error) {
    if (!isUnreadable(error)) throw error
    const damaged = { store, target, context: { ...context, options: write.options } }
    const entry = await removeDamaged(damaged, write.request.preconditions, error)
    return { entry, removed: true, dependentsFirst: false }
  }
}

/** @throws StatusError 409 */
export async function checkPreconditions (write: DeleteWrite): Promise<void> {
  const { store, base, oldObject, target: { name }, request: { preconditions: { uid, resourceVersion } = {} } } = write
  const currentUid = oldObject.metadata.uid ?? ''
  // As upstream, errors name the kind, except for namespaces.
  const { group, kind, plural } = store.representation
  const resource = { group, resource: kind === 'Namespace' ? plural : kind }
  const messages = kind === 'Namespace' ? OF_NAMESPACES : OF_OTHERS
  if (uid !== undefined && uid !== currentUid) throw conflict(resource, name, messages.uid(uid, currentUid))
  const current = String(base.revision)
  if (resourceVersion === undefined || resourceVersion === current) return
  const explanation = await changedSince(write, base, { version: Number(resourceVersion) })
  throw conflict(resource, name, messages.resourceVersion(resourceVersion, current) + explanation)
}

const OF_NAMESPACES = {
  uid: (expected: string, current: string) =>
    `Precondition failed: UID in precondition: ${expected}, UID in object meta: ${current}`,
  resourceVersion: (expected: string, current: string) =>
    `Precondition failed: ResourceVersion in precondition: ${expected}, ResourceVersion in object meta: ${current}`
}
const OF_OTHERS = {
  uid: (expected: string, current: string) =>
    `the UID in the precondition (${expected}) does not match the UID in record (${current}). The object might have ` +
      'been deleted and then recreated',
  resourceVersion: (expected: string, current: string) =>
    `the ResourceVersion in the precondition (${expected}) does not match the ResourceVersion in record (${current}` +
      '). The object might have been modified'
}

/** Decides whether the object is removed, and shows how it looks once its deletion has begun. */
export function mark (write: DeleteWrite): void {
  const { store, base, oldObject, request } = write
  // Only a strategy of its own changes more than metadata.
  const marked = markedObject(
    store, marksFirst(write) ? base.copy() : { ...oldObject, metadata: { ...oldObject.metadata } }, request
  )
  write.removed = removable(store, marked)
  write.removes = write.removed && !marksFirst(write)
  write.object = write.removes ? oldObject : marked
}

/** The mark is in the store. */
export function removeMarked (write: DeleteWrite): void {
  const { store, removed, dryRun, result } = write
  if (!removed || dryRun || result === undefined) return
  write.current = write.marked = result
  write.object = store.entries.read(result)
  write.removes = true
  write.result = undefined
}

/** Another client may have removed the object in between, which completes this deletion. */
export function concludeRemoval (write: DeleteWrite): void | Promise<void> {
  const { outcome, marked } = write
  const isMissing = outcome?.succeeded === false && outcome.current === undefined
  if (!isMissing) return concludeChange(write)
  write.result = marked
}
