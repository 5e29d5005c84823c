/** The version that a change expects. */
import { conflict, invalid, type StatusError } from '../../schemas/status.js'
import { changedSince } from './changed-since.js'
import type { ChangeWrite } from './writes.js'

export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again'

/** Compares the request's resourceVersion, if it must have one, with the current one. @throws StatusError 409, 422 */
export function compareVersion (write: ChangeWrite): void | Promise<void> {
  const { store, object: { metadata: { resourceVersion = '' } }, target: { name }, base } = write
  const field = 'metadata.resourceVersion'
  if (resourceVersion === '' || resourceVersion === '0') {
    if (store.representation.unconditionalUpdate) return
    // Upstream puts the resource name in `kind`.
    const kind = { ...store.resource, kind: store.resource.resource }
    throw invalid(
      kind, name, [{ type: 'FieldValueInvalid', field, value: 0, detail: 'must be specified for an update' }]
    )
  }
  if (!/^\d{1,16}$/.test(resourceVersion)) {
    const detail = 'is not a version this server gave out'
    throw invalid(store.representation, name, [{ type: 'FieldValueInvalid', field, value: resourceVersion, detail }])
  }
  if (resourceVersion !== String(base.revision)) return stale(write).then(error => { throw error })
}

async function stale (write: ChangeWrite): Promise<StatusError> {
  const { store, object, base, target: { name, subresource } } = write
  // A scale has other fields than the object.
  const isView = store.representation.subresources.some(candidate => candidate.name === subresource &&
    candidate.view !== undefined)
  const sent = { version: Number(object.metadata.resourceVersion), object }
  return conflict(store.resource, name, MODIFIED + (isView ? '' : await changedSince(write, base, sent)))
}
