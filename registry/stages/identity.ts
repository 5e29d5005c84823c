/**
 * Matches the name and namespace of an object that was sent with the URL. The object may omit its
 * namespace but must not contradict the URL. Error texts as upstream.
 */
import { randomUUID } from 'node:crypto'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { badRequest, conflict, type GroupResource } from '../../schemas/status.js'
import type { ResourceStore } from '../resource-store.js'
import { now, type Target } from '../write-context.js'
import { mergeOwnerReferences } from './owner-references.js'
import type { CreateWrite } from './writes.js'

type Scope = Pick<ResourceStore, 'type'>
type Named = Pick<ApiObject, 'metadata'>

/** Fills in the namespace, or removes it for cluster-scoped types. @throws StatusError 400 on a mismatch */
export function matchNamespace ({ type }: Scope, { metadata }: Named, { namespace }: Pick<Target, 'namespace'>): void {
  if (!type.namespaced || namespace === '') delete metadata.namespace
  else if ((metadata.namespace ?? '') === '') metadata.namespace = namespace
  else if (metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
}

/** As `matchNamespace`; the name is required as well. @throws StatusError 400 */
export function matchTarget (scope: Scope, object: Named, target: Target): void {
  matchNamespace(scope, object, target)
  const { name = '' } = object.metadata
  if (name === '') {
    throw badRequest(`the name of the object (${target.name} based on URL) was undeterminable: name must be provided`)
  }
  if (name !== target.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${target.name})`)
  }
}

/** A uid in a replacement is a precondition. Validation refuses patches that change it. @throws StatusError 409 */
export function requireUid (
  { metadata: { uid = '' } }: Named, { metadata: { uid: current = '' } }: Named, { name }: Target,
  resource: GroupResource
): void {
  if (uid === '' || uid === current) return
  throw conflict(resource, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current}`)
}

/** The names of a new object as they were sent. @throws StatusError 400 */
export function identify (write: CreateWrite): void {
  const { store, object, target, context } = write
  write.sentName = object.metadata.name ?? ''
  if ((object.metadata.resourceVersion ?? '') !== '' && target.name === '') {
    throw badRequest('resourceVersion should not be set on objects to be created')
  }
  matchNamespace(store, object, target)
  mergeOwnerReferences(object, context.caller)
}

/**
 * Admission may have replaced the metadata, but must not rename an object that the client named.
 * @throws StatusError 400
 */
export function identifyAgain (write: CreateWrite): void {
  const { store, object, target, object: { metadata } } = write
  if (target.name === '') matchNamespace(store, object, target)
  else matchTarget(store, object, target)
  delete metadata.resourceVersion
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
  delete metadata.clusterName
  metadata.uid = randomUUID()
  metadata.creationTimestamp = now(store)
}
