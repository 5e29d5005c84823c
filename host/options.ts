/** Options that nobody knows are refused: without its selector, namespace or dry run a request does something else. */
import { badRequest } from '../schemas/status.js'
import type {
  Aborted, ApplyOptions, ClientOptions, DeleteOptions, GetOptions, InformerOptions, ListOptions, PatchOptions,
  Selection, TypeName, WatchOptions, Within, WriteOptions
} from './contract.js'

type Names<T> = Readonly<Record<keyof T, true>>

const WITHIN: Names<Aborted & Within> = { signal: true, namespace: true }
const SELECTION: Names<Selection> = { ...WITHIN, labelSelector: true, fieldSelector: true }
const WRITE: Names<WriteOptions> = { ...WITHIN, dryRun: true, fieldManager: true, fieldValidation: true }
const DELETE: Names<DeleteOptions> = {
  ...WITHIN, dryRun: true, gracePeriodSeconds: true, propagationPolicy: true, preconditions: true
}

export const GET: Names<GetOptions> = { ...WITHIN, resourceVersion: true }
export const LIST: Names<ListOptions> = {
  ...SELECTION, limit: true, resourceVersion: true, resourceVersionMatch: true, continue: true
}
export const WATCH: Names<WatchOptions> = { ...SELECTION, resourceVersion: true }
export const CREATE = WRITE
export const UPDATE = WRITE
export const PATCH: Names<PatchOptions> = { ...WRITE, type: true }
export const APPLY: Names<ApplyOptions> = { ...WRITE, force: true }
export const DELETE_ONE = DELETE
export const DELETE_COLLECTION: Names<Selection & DeleteOptions> = { ...DELETE, ...SELECTION }
export const INFORMER: Names<InformerOptions<object> & { type?: TypeName }> = {
  type: true, namespace: true, labelSelector: true, fieldSelector: true, indexes: true, handlers: true, resync: true
}
export const CLIENT: Names<ClientOptions> = { fieldManager: true, warn: true }

/** @throws StatusError 400 */
export function checkOptions (options: object, known: Names<object>): void {
  const unknown = Object.keys(options).find(name => !Object.hasOwn(known, name))
  if (unknown === undefined) return
  throw badRequest(`${unknown}: there is no such option; there are ${Object.keys(known).join(', ')}`)
}
