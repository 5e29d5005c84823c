/** Admission of deletions. Repeated deletions that change nothing are not admitted again. */
import type { ApiObject } from '../../schemas/index.js'
import type { ResourceStore } from '../resource-store.js'
import { admissionRequest } from './admission-request.js'
import type { Target, WriteContext } from './context.js'

interface Grace { readonly gracePeriodSeconds?: number | undefined }

/** @throws StatusError of an admission refusal */
export async function admitDeletion (store: ResourceStore, object: ApiObject, target: Target, request: Grace, context: WriteContext): Promise<void> {
  if (keepsGracePeriod(object, request)) return
  const admission = admissionRequest(store, withGrace(store, object, request, context), target, 'DELETE', undefined, object)
  await store.admission.mutate(admission)
  await store.admission.validate(admission)
}

/** Whether the running grace period does not become shorter, so that nothing new needs admission. */
const keepsGracePeriod = ({ metadata: { deletionTimestamp, deletionGracePeriodSeconds: remaining = 0 } }: ApiObject, { gracePeriodSeconds }: Grace): boolean =>
  deletionTimestamp !== undefined && remaining > 0 && (gracePeriodSeconds === undefined || gracePeriodSeconds >= remaining)

/** Passes the effective grace period to admission, if the strategy has one. */
function withGrace ({ strategy }: ResourceStore, object: ApiObject, { gracePeriodSeconds }: Grace, context: WriteContext): WriteContext {
  if (strategy.gracePeriod === undefined || object.metadata.deletionTimestamp !== undefined) return context
  return { ...context, options: { ...context.options, gracePeriodSeconds: strategy.gracePeriod(object, gracePeriodSeconds) } }
}
