/**
 * Server-side apply: merges the applied configuration into the current object, or creates the object. The store supplies the current object, so a version
 * conflict retries the apply; only an ownership conflict reaches the client.
 */
import { decode, type ApiObject } from '../../schemas/index.js'
import { applyOtherDefaults } from '../../schemas/language/defaults.js'
import { conflict, isStatusError, notFound } from '../../schemas/status.js'
import type { Entry } from '../../storage/cache/entry.js'
import { conflictsOutside, apply as applied, type Application, type Applied } from '../apply/apply.js'
import { applyConflict } from '../apply/conflicts.js'
import type { FieldSet } from '../apply/field-set.js'
import { KUBECTL, keepLastApplied, unchangedSince } from '../apply/last-applied.js'
import type { Manager, ManagerIdentity } from '../apply/managers.js'
import { update } from '../apply/update.js'
import type { ResourceStore } from '../resource-store.js'
import { reportTooLarge } from './object-limits.js'
import { runSteps, yieldToEventLoop } from '../../event-loop/turns.js'
import type { Steps, WaitingSteps } from '../../schemas/steps.js'
import { now, type Target, type WriteContext } from './context.js'
import { create } from './create.js'
import { matchTarget } from './identity.js'
import { fieldsKept, ownersIn, setOwners, managerIdentity } from './ownership.js'
import { rewrite } from './rewrite.js'
import { attempt, type Written } from './update.js'
import { versionsOf } from './versions-of.js'

export interface ApplyRequest {
  /** The applied configuration in the version of the store; see `appliedValue`. `base` is undefined for a missing object. */
  readonly configOf: (base: Entry | undefined) => ApiObject
  /** The request body, if the configuration is the object itself. */
  readonly sent?: unknown
  /** Takes over fields that other managers set to other values. */
  readonly force: boolean
  /** For applies to a view such as scale: the version of the view, and a function that completes an object without the fields removed from the view. */
  readonly view?: { readonly version: string, readonly complete: (object: ApiObject) => void }
}

/** Owns the existing fields of an object without managers when it is first applied. */
const BEFORE_FIRST_APPLY = 'before-first-apply'
/** Retries when other clients keep creating and deleting the object. */
const MAX_ATTEMPTS = 20

/** @throws StatusError 400, 404, 409 Conflict of versions or of owners, 422, any admission refusal; StorageError */
export async function apply (store: ResourceStore, request: ApplyRequest, target: Target, context: WriteContext): Promise<Written> {
  for (let attempts = 0; ; attempts++) {
    const entry = await rewrite(store, target, context, base => {
      let owners: readonly Manager[] = []
      return attempt(store, base, target, context, async () => {
        const made = await objectOf(store, request, base, target, context)
        owners = made.owners
        return made.object
      }, function * (object) { setOwners(object, owners) })
    }, () => undefined)
    if (entry !== undefined) return { entry, created: false }
    if ((target.subresource ?? '') !== '') throw notFound(store.resource, target.name)
    try {
      const { object, owners } = await objectOf(store, request, undefined, target, context)
      refuseUid(store, object, target)
      await context.mayCreate?.()
      return { entry: await create(store, object, target, context, owners), created: true }
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists') || attempts === MAX_ATTEMPTS) throw error
    }
  }
}

/** A uid names an object that existed. A resourceVersion is ignored, so that exported objects can be applied elsewhere. */
function refuseUid (store: ResourceStore, { metadata: { uid = '' } }: ApiObject, { name }: Target): void {
  if (uid !== '') throw conflict(store.resource, name, `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`)
}

interface AppliedObject { readonly object: ApiObject, readonly owners: readonly Manager[] }

async function objectOf (store: ResourceStore, { configOf, sent, force, view }: ApplyRequest, base: Entry | undefined, target: Target, context: WriteContext): Promise<AppliedObject> {
  const { message } = store.representation
  const size = Math.max(context.size ?? 0, base?.json.length ?? 0)
  const live = base === undefined ? {} : store.convertCopy(base)
  await yieldToEventLoop(size)
  const config = configOf(base)
  const identity = managerIdentity(store, context, 'Apply', target.subresource)
  const ignored = fieldsKept(store, target.subresource ?? '')
  const complete = function * (made: object): Steps<ApiObject> {
    const { object } = reportTooLarge(() => decode(message, made))
    yield
    view?.complete(object)
    applyOtherDefaults(message, object) // as upstream, fields are compared and owned as the client sent them
    return object
  }
  const owners = await runSteps(ownersOf(store, live, identity, ignored), size)
  const application = { versions: versionsOf(store, true), complete, live, config, managers: owners, identity, force, now: () => now(store), ignored }
  const outcome = await runSteps(applied(application), size)
  const { object, managers } = isSettled(outcome, application, store, view?.version) ? outcome : await runSteps(applied({ ...application, force: true }), size)
  await yieldToEventLoop(size)
  if (identity.manager === KUBECTL && view === undefined) keepLastApplied(object, sent)
  const typed = object as ApiObject // it is complete
  matchTarget(store, typed, target)
  return { object: await store.fromVersion(typed), owners: managers }
}

/** Assigns the fields of an object without managers to `before-first-apply`. */
function * ownersOf (
  store: ResourceStore, live: Partial<ApiObject>, identity: ManagerIdentity, ignored: FieldSet
): WaitingSteps<readonly Manager[]> {
  const managers = ownersIn(store, live.metadata?.managedFields)
  if (managers.length > 0 || live.metadata === undefined) return managers
  return yield * update({ versions: versionsOf(store, true), before: {}, after: live, managers, identity: { ...identity, manager: BEFORE_FIRST_APPLY, operation: 'Update' }, now: () => now(store), ignored })
}

/**
 * False if all conflicts concern fields that kubectl applied client-side, which it takes over.
 * @throws StatusError 409 for other conflicts
 */
function isSettled ({ conflicts }: Applied, application: Application, store: ResourceStore, viewVersion: string | undefined): boolean {
  if (conflicts.length === 0) return true
  const { manager, apiVersion } = application.identity
  const remaining = manager === KUBECTL && viewVersion === undefined ? conflictsOutside(conflicts, unchangedSince(store.representation.message, apiVersion, application.live)) : conflicts
  if (remaining.length > 0) throw applyConflict(remaining, viewVersion)
  return false
}
