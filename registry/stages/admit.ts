/** The two runs of admission. */
import type { Write } from './write.js'
import { restoreOwners } from './own.js'
import { runStages, type Stage } from './run.js'
import type { ChangeWrite, CreateWrite } from './writes.js'

export const ADMIT: Stage = {
  name: 'admit',
  span: 'Mutating admission',
  run: async ({ store, admitted }) => { await store.admission.mutate(admitted) }
}

/** The same of a new object. */
export const ADMIT_NEW: Stage<CreateWrite> = {
  ...ADMIT,
  run: async write => {
    write.foreignChanges = await write.store.admission.mutate(write.admitted, write.applied === undefined)
  }
}

/** The same of a changed one, whose owners stay readable. */
export const ADMIT_CHANGED: Stage<ChangeWrite> = {
  ...ADMIT,
  run: async write => {
    const { store, admitted, object: { metadata: { managedFields } } } = write
    await store.admission.mutate(admitted)
    restoreOwners(write, managedFields)
  }
}

export const ADMIT_AGAIN: Stage = {
  name: 'admit again',
  span: 'Validating admission',
  run: async write => { write.preconditions = await write.store.admission.validate(write.admitted) }
}

/**
 * Admits an object that is not one of a store: of an operation, or the options of a connection.
 * @param check validates the object in between
 * @returns what the check does
 * @throws StatusError of an admission refusal; as the check
 */
export async function admit<T> (write: Write, check: () => T | Promise<T>): Promise<T> {
  await runStages([ADMIT], write)
  const checked = await check()
  await runStages([ADMIT_AGAIN], write)
  return checked
}
