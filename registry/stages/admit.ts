/** The two runs of admission. */
import { forbidden } from '../../schemas/status.js'
import type { Write } from './write.js'
import { restoreOwners } from './own.js'
import { runStages, type Stage } from './run.js'
import type { ChangeWrite, CreateWrite } from './writes.js'

export const ADMIT: Stage = {
  name: 'admit', span: 'Mutating admission', run: ({ store, admitted }) => store.admission.mutate(admitted)
}

/** @throws StatusError 403 */
export const REFUSE_WHILE_CLOSING: Stage<CreateWrite> = {
  name: 'refuse while closing',
  when: ({ store }) => store.representation.closing,
  run: ({ store, object }) => {
    throw forbidden(
      store.resource, object.metadata.name ?? '', 'create not allowed while custom resource definition is terminating'
    )
  }
}

/** The same of an object, whose owners stay readable. */
export const ADMIT_OBJECT: Stage<CreateWrite | ChangeWrite> = {
  ...ADMIT,
  run: async write => {
    const { managedFields } = write.object.metadata
    await write.store.admission.mutate(write.admitted)
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
  const checked: T[] = []
  const run = async (): Promise<void> => { checked.push(await check()) }
  await runStages([ADMIT, { name: 'check', run }, ADMIT_AGAIN], write)
  return checked[0] as T // admission ends after the check
}
