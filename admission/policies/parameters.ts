/** The parameters of a binding: objects of the kind that the policy names. */
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { Representation } from '../../schemas/resource.js'
import { matchesSelector } from '../../schemas/selectors/objects.js'
import { toJson } from '../../schemas/codec/json/encode.js'
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { AdmissionTools } from '../options.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import type { Binding, Policy } from './policy.js'

/** The served version that the parameters of a policy have. */
export const representationOf = (
  { paramKind }: Pick<Policy, 'paramKind'>, resources: ResourceRegistry
): Representation | undefined =>
  resources.served().find(({ representation: { apiVersion, kind, type } }) =>
    apiVersion === paramKind?.apiVersion && kind === paramKind.kind && !type.virtual)?.representation

/**
 * The values of `params` with which a binding of a policy with parameters is evaluated; none if the binding does
 * nothing.
 * @throws Error for a configuration that is wrong
 */
export async function parametersOf (
  policy: Policy, { paramRef }: Binding, request: AdmissionRequest,
  { resources, names }: Pick<AdmissionTools, 'resources' | 'names'>
): Promise<readonly unknown[]> {
  if (paramRef === undefined) return [null]
  const representation = representationOf(policy, resources)
  const { apiVersion = '', kind = '' } = policy.paramKind ?? {}
  if (representation === undefined) {
    throw new Error(`failed to find resource referenced by paramKind: '${apiVersion}, Kind=${kind}'`)
  }
  const { namespaced, type: { group, plural } } = representation
  const { name = '', namespace: given = '', selector, parameterNotFoundAction } = paramRef
  if (!namespaced && given !== '') {
    throw new Error('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
  }
  const namespace = namespaced ? given === '' ? request.namespace : given : ''
  if (namespaced && namespace === '') {
    throw new Error('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources')
  }
  const params: ApiObject[] = []
  if (name !== '') {
    const param = await request.reader.get(group, plural, namespace, name)
    if (param !== undefined) params.push(param)
  } else {
    const all = await request.reader.list(group, plural, namespace)
    params.push(...all.filter(({ metadata: { labels = {} } }) => matchesSelector(selector ?? {}, labels)))
  }
  if (params.length === 0 && parameterNotFoundAction === 'Deny') {
    throw new Error('no params found for policy binding with `Deny` parameterNotFoundAction')
  }
  const views: unknown[] = []
  for (const object of params) { // there may be thousands
    views.push(viewed(object, representation, names))
    if (turnIsOver()) await nextTurn()
  }
  return views
}

/** As clients see it, in the version that the policy names. */
const viewed = (
  object: ApiObject, { message, conversion }: Representation, names: AdmissionTools['names']
): unknown => names.object(toJson(message, conversion?.fromStored(object) ?? object))
