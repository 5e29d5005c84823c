/** Creates objects: POST, and PUT or an apply of a missing name. */
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { forbidden } from '../../schemas/status.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { ResourceStore } from '../resource-store.js'
import { ADMIT_AGAIN, ADMIT_NEW } from '../stages/admit.js'
import { ALLOCATE_NEW, COMMIT } from '../stages/allocate.js'
import { DECODING, dropUnknown } from '../stages/decode.js'
import { encodeNew } from '../stages/encode.js'
import { identify, identifyAgain } from '../stages/identity.js'
import { measure } from '../stages/object-limits.js'
import { ownAdmitted, ownNew } from '../stages/own.js'
import { checkNames, defaultAgain, NAME, prepareNew } from '../stages/prepare.js'
import { runStages, type Stage } from '../stages/run.js'
import { LEASE } from '../stages/store.js'
import { concludeNew, HOLD, STORE_NEW } from '../stages/store-new.js'
import { validateNew } from '../stages/validate.js'
import type { Sent } from '../stages/write.js'
import { CreateWrite } from '../stages/writes.js'
import type { Target, WriteContext } from '../write-context.js'

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

/** The order of a creation. */
export const CREATE: ReadonlyArray<Stage<CreateWrite>> = [
  ...DECODING,
  { name: 'drop what is unknown', run: dropUnknown },
  { name: 'identify', run: identify },
  { name: 'measure', run: measure },
  { name: 'own', run: ownNew },
  REFUSE_WHILE_CLOSING,
  ADMIT_NEW,
  { name: 'own again', run: ownAdmitted },
  { name: 'default again', run: defaultAgain },
  { name: 'identify again', run: identifyAgain },
  NAME,
  { name: 'check names', when: ({ context }) => context.misnamed !== undefined, run: checkNames },
  { name: 'prepare', run: prepareNew },
  ALLOCATE_NEW,
  { name: 'validate', isLong: true, run: validateNew },
  ADMIT_AGAIN,
  { name: 'encode', run: encodeNew },
  LEASE,
  STORE_NEW,
  HOLD,
  { name: 'conclude', run: concludeNew },
  COMMIT
]

/**
 * @param object in the stored version, which is changed in place, or decodes the object that a client sent
 * @param target name: '' uses the object's own or generates one
 * @returns the stored object, or under dry run the object that would be stored
 * @throws StatusError 400, 409 AlreadyExists, 422, any admission refusal; StorageError
 */
export async function create (
  store: ResourceStore, object: ApiObject | Sent<ApiObject>, target: Target, context: WriteContext
): Promise<Entry> {
  const write = new CreateWrite({ store, target, context }, object)
  await runStages(CREATE, write)
  return write.answer
}
