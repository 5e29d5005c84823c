/**
 * DELETE in two phases: an object with finalizers or a grace period is marked with a deletionTimestamp and removed when
 * nothing holds it any longer; other objects are removed at once. (Interface: Deletion of an object.)
 */
import type { Int64 } from '../../schemas/language/declare.js'
import { nextGeneration } from '../../schemas/meta/object.js'
import { timestamp } from '../../schemas/meta/time.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { Strategy } from '../../schemas/strategy.js'
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../schemas/meta/metadata-rules.js'
import { conflict, invalid } from '../../schemas/status.js'
import type { Entry } from '../../storage/cache/entry.js'
import { isUnreadable } from '../../storage/errors.js'
import type { ResourceStore } from '../resource-store.js'
import { ADMIT, ADMIT_AGAIN } from '../stages/admit.js'
import { RELEASE } from '../stages/allocate.js'
import { changedSince } from '../stages/changed-since.js'
import { conclude, removable } from '../stages/change.js'
import { DECODE, Given, type Sent } from '../stages/given.js'
import type { Stage } from '../stages/run.js'
import { STORE_CHANGE } from '../stages/store.js'
import { Write } from '../stages/write.js'
import { ChangeWrite } from '../stages/writes.js'
import { now, type ObjectWrite, type Target, type WriteContext } from '../write-context.js'
import { FINDING, runChange, STORING } from './change.js'
import { removeDamaged, type Preconditions } from './delete-damaged.js'

export type Propagation = 'Orphan' | 'Background' | 'Foreground'

export interface DeleteRequest {
  readonly preconditions?: Preconditions | undefined
  readonly propagationPolicy?: Propagation | undefined
  /** Requested grace period in seconds, for strategies that have one. Default: the object's own. */
  readonly gracePeriodSeconds?: number | undefined
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

const BY_PROPAGATION: Readonly<Record<Propagation, string | undefined>> = {
  Orphan: ORPHAN_FINALIZER, Foreground: FOREGROUND_FINALIZER, Background: undefined
}
const PROPAGATION_FINALIZERS = new Set([ORPHAN_FINALIZER, FOREGROUND_FINALIZER])

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
  override get admitted (): Write { return new Deletion(this) }
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
  write.object = store.readStored(result)
  write.removes = true
  write.result = undefined
}

/** Another client may have removed the object in between, which completes this deletion. */
export function concludeRemoval (write: DeleteWrite): void | Promise<void> {
  const { outcome, marked } = write
  const isMissing = outcome?.succeeded === false && outcome.current === undefined
  if (!isMissing) return conclude(write)
  write.result = marked
}

function markedObject (
  store: ResourceStore, object: ApiObject, { propagationPolicy, gracePeriodSeconds }: DeleteRequest
): ApiObject {
  const { metadata } = object
  const terminating = metadata.deletionTimestamp !== undefined
  if (terminating && (metadata.deletionGracePeriodSeconds ?? 0) > 0 &&
    !shortenGracePeriod(metadata, gracePeriodSeconds)) return object
  // A namespace that is being emptied keeps its first propagation policy.
  if (terminating && store.strategy.blocksRemoval?.(object) === true) return object
  if (store.dependents !== 'left') setDependentFinalizers(metadata, store.dependents, propagationPolicy)
  if (!terminating) {
    const grace = store.strategy.gracePeriod?.(object, gracePeriodSeconds) ?? 0
    metadata.deletionTimestamp = now(store, grace)
    metadata.deletionGracePeriodSeconds = grace
    // Controllers must react to the new deletionTimestamp. Types with a `beginDelete` of their own count no generation
    // for it.
    if (store.strategy.beginDelete === undefined && (metadata.generation ?? 0) > 0) {
      metadata.generation = nextGeneration(object)
    }
    store.strategy.beginDelete?.(object)
  }
  return object
}

/** Sets the finalizer for dependents: the policy of the request, else of the object, else of its type. */
function setDependentFinalizers (
  metadata: ApiObject['metadata'], ofType: Strategy['dependents'], policy: Propagation | undefined
): void {
  const { finalizers = [] } = metadata
  const byItself = finalizers.find(finalizer =>
    PROPAGATION_FINALIZERS.has(finalizer)) ?? (ofType === 'orphaned' ? ORPHAN_FINALIZER : undefined)
  const wanted = ofType === 'none' ? undefined : policy === undefined ? byItself : BY_PROPAGATION[policy]
  const kept = finalizers.filter(finalizer => !PROPAGATION_FINALIZERS.has(finalizer) || finalizer === wanted)
  if (wanted !== undefined && !kept.includes(wanted)) kept.push(wanted)
  if (kept.length > 0) metadata.finalizers = kept
  else delete metadata.finalizers
}

/** Shortens a running grace period. @returns false if it would not become shorter; the deletion then changes nothing */
function shortenGracePeriod (metadata: ApiObject['metadata'], seconds: number | undefined): boolean {
  const { deletionTimestamp = '', deletionGracePeriodSeconds: before = 0 } = metadata
  if (seconds === undefined || seconds >= before) return false
  metadata.deletionTimestamp = timestamp(Date.parse(deletionTimestamp) + (seconds - Number(before)) * 1000)
  metadata.deletionGracePeriodSeconds = seconds
  return true
}

/**
 * The propagation policy of a request, given in either of two options.
 * @throws StatusError 422 for an unknown policy, or if both options are set
 */
export function propagationOf (
  policy: string | undefined, orphanDependents: boolean | undefined
): Propagation | undefined {
  const kind = { group: 'meta.orch.io', kind: 'DeleteOptions' }
  if (policy !== undefined && orphanDependents !== undefined) {
    throw invalid(kind, '', [{
      type: 'FieldValueInvalid', field: 'propagationPolicy', value: policy,
      detail: 'orphanDependents and deletionPropagation cannot be both set'
    }])
  }
  if (orphanDependents !== undefined) return orphanDependents ? 'Orphan' : 'Background'
  if (policy === undefined) return undefined
  if (!Object.hasOwn(BY_PROPAGATION, policy)) {
    throw invalid(kind, '', [{
      type: 'FieldValueNotSupported', field: 'propagationPolicy', value: policy,
      detail: 'supported values: "Foreground", "Background", "Orphan"'
    }])
  }
  return policy as Propagation // one of the three, as just checked
}

/** The largest offset of a date, in seconds. */
const MAX_SECONDS = 2 ** 31 - 1

/** A negative period means one second. */
export function gracePeriodOf (seconds: Int64 | undefined): number | undefined {
  if (seconds === undefined) return undefined
  return seconds < 0 ? 1 : Math.min(Number(seconds), MAX_SECONDS)
}
