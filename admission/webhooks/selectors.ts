/** Matches the selectors of a webhook with a request: labels of its namespace, and of its new or old object. */
import { matchesSelector } from '../../schemas/selectors/objects.js'
import { notFound } from '../../schemas/status.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import type { Hook } from './hook.js'

type Labels = Readonly<Record<string, string>>
type Labelled = { readonly metadata?: { readonly labels?: Labels | null, readonly name?: string } } | undefined

export const isOfNamespaces = ({ group, resource }: Pick<AdmissionRequest, 'group' | 'resource'>): boolean =>
  group === '' && resource === 'namespaces'

/** The namespace of a request; a namespace object is in itself. '' for cluster-scoped objects. */
export function namespaceOf (request: AdmissionRequest): string {
  if (request.namespace !== '' || !isOfNamespaces(request)) return request.namespace
  return request.name === '' ? (request.object as Labelled)?.metadata?.name ?? '' : request.name
}

/** @throws StatusError 404 if the namespace does not exist */
export async function isSelected (
  { namespaceSelector, objectSelector }: Pick<Hook, 'namespaceSelector' | 'objectSelector'>, request: AdmissionRequest
): Promise<boolean> {
  if (objectSelector !== undefined && ![request.object, request.oldObject].some(object => {
    const { metadata } = (object as Labelled) ?? {}
    return metadata !== undefined && matchesSelector(objectSelector, metadata.labels ?? {})
  })) return false
  if (namespaceSelector === undefined) return true
  const namespace = namespaceOf(request)
  // A namespace selector never excludes cluster-scoped objects.
  return (namespace === '' && !isOfNamespaces(request)) ||
    matchesSelector(namespaceSelector, await namespaceLabels(request, namespace))
}

/** Labels of the namespace; the new ones if it is being written. */
async function namespaceLabels (request: AdmissionRequest, namespace: string): Promise<Labels> {
  const { operation, subresource, object, reader } = request
  if (isOfNamespaces(request) && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) {
    return (object as Labelled)?.metadata?.labels ?? {}
  }
  const live = await reader.get('', 'namespaces', '', namespace)
  if (live === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace)
  return live.metadata.labels ?? {}
}
