/** What admission is asked of a deletion, and when: a step of it that changes nothing is no question. */
import type { ApiObject } from '../../schemas/index.js'
import type { ResourceStore } from '../resource-store.js'
import { admissionRequest } from './admission-request.js'
import type { Target, WriteContext } from './context.js'

interface Grace { readonly gracePeriodSeconds?: number | undefined }

/** @throws StatusError of whatever refuses */
export async function admitDeletion (store: ResourceStore, object: ApiObject, target: Target, request: Grace, context: WriteContext): Promise<void> {
  if (isUnderWay(object, request)) return
  const admission = admissionRequest(store, withGrace(store, object, request, context), target, 'DELETE', undefined, object)
  await store.admission.mutate(admission)
  await store.admission.validate(admission)
}

/** Whether its time to end is running and does not become shorter: then nothing is asked for that was not admitted before. */
const isUnderWay = ({ metadata: { deletionTimestamp, deletionGracePeriodSeconds: left = 0 } }: ApiObject, { gracePeriodSeconds }: Grace): boolean =>
  deletionTimestamp !== undefined && left > 0 && (gracePeriodSeconds === undefined || gracePeriodSeconds >= left)

/** Admission is told of the time the object will get, where its strategy knows of one. */
function withGrace ({ strategy }: ResourceStore, object: ApiObject, { gracePeriodSeconds }: Grace, context: WriteContext): WriteContext {
  if (strategy.gracePeriod === undefined || object.metadata.deletionTimestamp !== undefined) return context
  return { ...context, options: { ...context.options, gracePeriodSeconds: strategy.gracePeriod(object, gracePeriodSeconds) } }
}
