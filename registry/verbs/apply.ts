/**
 * Server-side apply: merges the applied configuration into the current object, or creates the object. The store
 * supplies the current object, so a version conflict retries the apply; only an ownership conflict reaches the client.
 */
import { decode } from '../../schemas/language/decode.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { applyOtherDefaults } from '../../schemas/language/defaults.js'
import { conflict } from '../../schemas/status.js'
import type { Steps, WaitingSteps } from '../../schemas/steps.js'
import type { Entry } from '../../storage/cache/entry.js'
import { conflictsOutside, apply as applied, type Application, type Applied } from '../apply/apply.js'
import { applyConflict } from '../apply/conflicts.js'
import { KUBECTL, keepLastApplied, unchangedSince } from '../apply/last-applied.js'
import type { Manager } from '../apply/managers.js'
import { update } from '../apply/update.js'
import type { ResourceStore } from '../resource-store.js'
import { reportTooLarge } from '../stages/object-limits.js'
import { isMissing } from '../stages/change.js'
import { convertAndDefault, DECODE } from '../stages/decode.js'
import { matchTarget } from '../stages/identity.js'
import { fieldsKept, ownersIn, setOwners, managerIdentity } from '../stages/own.js'
import type { Stage } from '../stages/run.js'
import { versionsOf } from '../stages/versions-of.js'
import { Given, type Sent } from '../stages/write.js'
import { ChangeWrite } from '../stages/writes.js'
import { now, type ObjectWrite, type Target, type WriteContext } from '../write-context.js'
import { changeOf, createMissing, runChange, type Written } from './change.js'

export interface ApplyRequest {
  /**
   * The applied configuration in the version of the store; see `appliedValue`. `base` is undefined for a missing
   * object.
   */
  readonly configOf: (base: Entry | undefined) => ApiObject
  /** The request body, if the configuration is the object itself. */
  readonly sent?: unknown
  /** Takes over fields that other managers set to other values. */
  readonly force: boolean
  /**
   * For applies to a view such as scale: the version of the view, and a function that completes an object without the
   * fields removed from the view.
   */
  readonly view?: { readonly version: string, readonly complete: (object: ApiObject) => void }
}

/** Owns the existing fields of an object without managers when it is first applied. */
const BEFORE_FIRST_APPLY = 'before-first-apply'

export class ApplyWrite extends ChangeWrite {
  readonly given: Given<ApplyRequest>
  /** The current object in the request's version; `{}` if it does not exist. */
  live: Partial<ApiObject> = {}
  managers: readonly Manager[] = []

  constructor (write: ObjectWrite, given: ApplyRequest | Sent<ApplyRequest>) {
    super(write)
    this.given = new Given(given)
    this.mayCreate = this.subresource === ''
  }
}

export function copy (write: ApplyWrite): void {
  write.live = write.current === undefined ? {} : write.store.conversion.forClients(write.current).copy()
}

/** Reads the managers; those of an object without any are `before-first-apply`. */
export function * readManagers (write: ApplyWrite): WaitingSteps<void> {
  const { store, live, subresource } = write
  write.managers = ownersIn(store, live.metadata?.managedFields)
  if (write.managers.length > 0 || live.metadata === undefined) return
  const identity = { ...managerIdentity(write, 'Update'), manager: BEFORE_FIRST_APPLY }
  const change = { versions: versionsOf(store, true), before: {}, after: live, managers: [], identity }
  write.managers = yield * update({ ...change, now: () => now(store), ignored: fieldsKept(store, subresource) })
}

/** Merges the configuration into the object. @throws StatusError 400, 409 Conflict of owners, 413 */
export function * merge (write: ApplyWrite): WaitingSteps<void> {
  const { store, live, managers, current, subresource, given: { value: { configOf, force, view } } } = write
  const { message } = store.representation
  const decoded = function * (merged: object): Steps<ApiObject> {
    const { object } = reportTooLarge(() => decode(message, merged))
    yield
    view?.complete(object)
    return object
  }
  const application = {
    versions: versionsOf(store, true),
    decode: decoded,
    complete: (object: object) => { applyOtherDefaults(message, object as ApiObject, store.gates) },
    live,
    config: configOf(current),
    managers,
    identity: managerIdentity(write, 'Apply'),
    force,
    now: () => now(store),
    timeless: store.gates.enabled('OwnershipHasNoTime'),
    ignored: fieldsKept(store, subresource)
  }
  yield
  let outcome = yield * applied(application)
  if (!(yield * isSettled(write, outcome, application))) outcome = yield * applied({ ...application, force: true })
  write.managers = outcome.managers
  write.object = outcome.object as ApiObject // it is complete
}

/** @throws StatusError 400 */
export function identify ({ store, object, target, context, given }: ApplyWrite): void {
  const { sent, view } = given.value
  if (context.fieldManager === KUBECTL && view === undefined) keepLastApplied(object, sent)
  matchTarget(store, object, target)
}

/**
 * A uid names an object that existed. A resourceVersion is ignored, so that exported objects can be applied elsewhere.
 * @throws StatusError 409
 */
export function refuseUid ({ store, object: { metadata: { uid = '' } }, target: { name } }: ApplyWrite): void {
  if (uid === '') return
  throw conflict(
    store.resource, name, `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
  )
}

export const APPLY: ReadonlyArray<Stage<ApplyWrite>> = [
  DECODE,
  ...changeOf<ApplyWrite>([
    { name: 'copy', run: copy },
    { name: 'read managers', run: readManagers },
    { name: 'merge', run: merge },
    { name: 'identify', run: identify },
    { name: 'convert and default', run: convertAndDefault },
    { name: 'refuse uid', when: isMissing, run: refuseUid },
    createMissing(({ managers }) => managers)
  ], ({ object, managers }) => { setOwners(object, managers) })
]

/** @throws StatusError 400, 404, 409 Conflict of versions or of owners, 422, any admission refusal; StorageError */
export async function apply (
  store: ResourceStore, given: ApplyRequest | Sent<ApplyRequest>, target: Target, context: WriteContext
): Promise<Written> {
  return await runChange(APPLY, new ApplyWrite({ store, target, context }, given))
}

/**
 * False if all conflicts concern fields that kubectl applied client-side, which it takes over.
 * @throws StatusError 409 for other conflicts
 */
function * isSettled (
  { store, given: { value: { view } } }: ApplyWrite, { conflicts }: Applied, application: Application
): Steps<boolean> {
  if (conflicts.length === 0) return true
  const { manager, apiVersion } = application.identity
  const remaining = manager === KUBECTL && view === undefined
    ? conflictsOutside(
        conflicts, yield * unchangedSince(store.representation, apiVersion, application.live, store.gates)
      )
    : conflicts
  if (remaining.length > 0) throw applyConflict(remaining, view?.version)
  return false
}
