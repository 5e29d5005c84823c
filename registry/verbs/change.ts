/** The order of a change, which updates, patches and applies share, and changes that the server makes itself. */
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { conflict, isStatusError } from '../../schemas/status.js'
import { waitFor, type Steps, type WaitingSteps } from '../../schemas/steps.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { Manager } from '../apply/managers.js'
import type { ResourceStore } from '../resource-store.js'
import { ADMIT_AGAIN, ADMIT_CHANGED } from '../stages/admit.js'
import { allocates, ALLOCATE_CHANGE, COMMIT, RELEASE } from '../stages/allocate.js'
import { concludeChange, decideRemoval, decodeOld, FIND, isMissing, READ, recover } from '../stages/change.js'
import { encodeChange } from '../stages/encode.js'
import { compareVersion, MODIFIED } from '../stages/expected-version.js'
import { DECODE, dropUnknown } from '../stages/decode.js'
import { measure } from '../stages/object-limits.js'
import { inheritOwners, ownChange } from '../stages/own.js'
import { defaultAgain } from '../stages/prepare.js'
import { inherit, prepareChange, settle } from '../stages/prepare-change.js'
import { Repeat, runStages, type Stage } from '../stages/run.js'
import { LEASE, STORE_CHANGE } from '../stages/store.js'
import { validateChange } from '../stages/validate.js'
import { Given, type Sent } from '../stages/write.js'
import { ChangeWrite, CreateWrite } from '../stages/writes.js'
import type { ObjectWrite, Target, WriteContext } from '../write-context.js'
import { CREATE } from './create.js'

/**
 * Makes the new object from the current one, as a separate copy. `old` is decoded and frozen. Throws a StatusError to
 * refuse.
 */
export type Make = (current: Entry, old: ApiObject) => ApiObject | Promise<ApiObject> | Steps<ApiObject>

export interface Written {
  readonly entry: Entry
  /** True if the object was created, false if it was changed. */
  readonly created: boolean
}

/** Finds the object that is replaced. */
export const FINDING: ReadonlyArray<Stage<ChangeWrite>> = [READ, FIND, { name: 'decode old', run: decodeOld }]

/** Stores the object and answers for it. */
export const STORING: ReadonlyArray<Stage<ChangeWrite>> = [
  { name: 'encode', when: ({ removes }) => !removes, run: encodeChange },
  LEASE,
  STORE_CHANGE,
  { name: 'conclude', run: concludeChange },
  COMMIT,
  RELEASE
]

/**
 * @param make stages that make the new object from the old one
 * @param own sets the managers of the new object, before it has allocated values
 */
export function changeOf<W extends ChangeWrite> (
  make: ReadonlyArray<Stage<W>>, own: Stage<W>['run'] = ownChange
): ReadonlyArray<Stage<W>> {
  return [
    ...FINDING,
    ...make,
    { name: 'drop what is unknown', run: dropUnknown },
    { name: 'measure', run: measure },
    { name: 'compare versions', run: compareVersion },
    ADMIT_CHANGED,
    { name: 'default again', run: defaultAgain },
    { name: 'inherit', run: inherit },
    { name: 'inherit owners', run: inheritOwners },
    { name: 'prepare', run: prepareChange },
    { name: 'validate', isLong: true, when: write => !allocates(write), run: validateChange },
    { name: 'own', run: own },
    { name: 'settle', run: settle },
    ALLOCATE_CHANGE,
    { name: 'validate what is allocated', isLong: true, when: allocates, run: validateChange },
    ADMIT_AGAIN,
    { name: 'decide removal', run: decideRemoval },
    ...STORING
  ]
}

/** Repeats when other clients keep creating and deleting the object. */
const MAX_REPEATS = 20

/**
 * Creates an object that is missing, which ends the write. If another client was faster, its object is changed.
 * @param managers of an applied object
 */
export function createMissing<W extends ChangeWrite> (
  managers: (write: W) => readonly Manager[] | undefined = () => undefined
): Stage<W> {
  return {
    name: 'create',
    when: isMissing,
    run: async write => {
      const { store, object, target, context } = write
      await context.mayCreate?.()
      try {
        const creation = new CreateWrite(write, object, managers(write))
        await runStages(CREATE, creation)
        write.result = creation.answer
        write.isDone = true
      } catch (error) {
        if (!isStatusError(error, 'AlreadyExists')) throw error
        if (write.attempt++ > MAX_REPEATS) throw conflict(store.resource, target.name, MODIFIED)
        throw new Repeat(READ)
      }
    }
  }
}

/**
 * @returns the object; under dry run as it would be stored
 * @throws as its stages
 */
export async function runChange<W extends ChangeWrite> (stages: ReadonlyArray<Stage<W>>, write: W): Promise<Written> {
  await runStages(stages, write, recover)
  return { entry: write.answer, created: isMissing(write) }
}

export interface Change { readonly make: Make }

class MadeWrite extends ChangeWrite {
  readonly given: Given<Change>

  constructor (write: ObjectWrite, given: Change | Sent<Change>) {
    super(write)
    this.given = new Given(given)
  }
}

function * make (write: MadeWrite): WaitingSteps<void> {
  const changed = write.given.value.make(write.base, write.oldObject)
  write.object = Symbol.iterator in changed ? yield * changed : yield * waitFor(changed)
}

const MAKE: ReadonlyArray<Stage<MadeWrite>> = [{ name: 'make', isLong: true, run: make }]
const CHANGE = [DECODE, ...changeOf(MAKE)]
const CHANGE_UNOWNED = changeOf(MAKE, () => {})

/**
 * Changes an existing object. The author of the change owns the changed fields.
 * @returns the stored object; under dry run the object that would be stored
 * @throws StatusError 404, 409 Conflict, 422, any admission refusal; StorageError
 */
export async function change (store: ResourceStore, target: Target, context: WriteContext, make: Make): Promise<Entry> {
  return await changeBy(store, { make }, target, context)
}

/** As `change`, by a change that a client sent. */
export async function changeBy (
  store: ResourceStore, given: Change | Sent<Change>, target: Target, context: WriteContext
): Promise<Entry> {
  return (await runChange(CHANGE, new MadeWrite({ store, target, context }, given))).entry
}

/** As `change`, but nobody owns the changed fields. */
export async function changeUnowned (
  store: ResourceStore, target: Target, context: WriteContext, make: Make
): Promise<Entry> {
  return (await runChange(CHANGE_UNOWNED, new MadeWrite({ store, target, context }, { make }))).entry
}
