/**
 * OwnerReferencesPermissionEnforcement: changing the owners of an existing object requires permission to delete it,
 * because garbage collection may then delete it; setting blockOwnerDeletion requires permission to set the owner's
 * finalizers. (Off by default.)
 */
import { allows } from '../../auth/refusal.js'
import { resourceRequest } from '../../auth/request-info.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { sameValue } from '../../schemas/language/values.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { ResourceType } from '../../schemas/resource.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { typed, type AdmissionRequest, type AdmissionPlugin } from '../../registry/admission.js'
import type { AdmissionTools } from '../options.js'
import { refusal } from '../refusal.js'

/** The finalizers of all objects. */
const EVERYTHING = { group: '*', version: '*', resource: '*', subresource: 'finalizers', namespace: '', name: '*' }

type Owners = NonNullable<ApiObject['metadata']['ownerReferences']>

export function ownerReferencesPermissionEnforcement (
  { authorize, resources }: Pick<AdmissionTools, 'authorize' | 'resources'>
): AdmissionPlugin {
  /** The reason of a denial, undefined if allowed. */
  const whyDenied = async (
    user: UserInfo, verb: string,
    of: { group: string, version: string, resource: string, subresource: string, namespace: string, name: string }
  ): Promise<string | undefined> => {
    const ruling = await authorize({ user, info: resourceRequest({ verb, ...of }) })
    return allows(ruling) ? undefined : ruling.reason ?? ''
  }

  return {
    name: 'OwnerReferencesPermissionEnforcement',
    // The status of a pod has no owners.
    handles: ({ operation, group, resource, subresource }) => (operation === 'CREATE' || operation === 'UPDATE') &&
      !(group === '' && resource === 'pods' && subresource === 'status'),
    validate: async request => {
      const { user } = request
      const { object, oldObject } = typed(request)
      const [owners, old]: [Owners, Owners] = [
        object?.metadata?.ownerReferences ?? [], oldObject?.metadata?.ownerReferences ?? []
      ]
      if (user === undefined || sameValue(owners, old)) return
      const { operation, group, version, resource, subresource, namespace, name } = request
      // Creators need no permission to delete.
      const deleteDenied = operation === 'CREATE'
        ? undefined
        : await whyDenied(user, 'delete', { group, version, resource, subresource, namespace, name })
      if (deleteDenied !== undefined) {
        throw refusal(request, `cannot set an ownerRef on a resource you can't delete: ${deleteDenied}`)
      }
      const blocking = newlyBlocking(owners, old)
      if (blocking.length === 0 || await whyDenied(user, 'update', EVERYTHING) === undefined) return
      for (const owner of blocking) {
        for (const type of typesOf(resources, request, owner)) {
          const [group = '', version = ''] = owner.apiVersion.includes('/')
            ? owner.apiVersion.split('/')
            : ['', owner.apiVersion]
          const why = await whyDenied(user, 'update', {
            group, version, resource: type.plural, subresource: 'finalizers',
            namespace: type.namespaced ? namespace : '', name: owner.name
          })
          if (why !== undefined) {
            throw refusal(
              request,
              'cannot set blockOwnerDeletion if an ownerReference refers to a resource you can\'t set finalizers on: ' +
                `${why}`
            )
          }
        }
      }
    }
  }
}

/** Owners whose deletion the object begins to block. */
function newlyBlocking (owners: Owners, old: Owners): Owners {
  const before = new Set(old.filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true).map(({ uid }) => uid))
  return owners.filter(({ blockOwnerDeletion, uid }) => blockOwnerDeletion === true && !before.has(uid))
}

function typesOf (
  resources: ResourceRegistry, request: AdmissionRequest, { apiVersion, kind }: Owners[number]
): ResourceType[] {
  const types = resources.all().map(({ type }) => type).filter(({ representations }) =>
    representations.some(representation => representation.apiVersion === apiVersion && representation.kind === kind))
  if (types.length === 0) {
    throw refusal(
      request,
      `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ` +
        `${kind}: no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`
    )
  }
  return types
}
