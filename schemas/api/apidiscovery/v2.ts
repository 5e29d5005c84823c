/** Discovery of all groups, versions and resources in one document (v2). */
import { apiPackage, list, one, string, type Static } from '../../language/declare.js'
import { GroupVersionKind, ListMeta, ObjectMeta } from '../../meta/v1.js'

const { kind, message } = apiPackage('apidiscovery.orch.io', 'v2', 'io.orch.api.apidiscovery.v2')

export const APISubresourceDiscovery = message('APISubresourceDiscovery', 'A subresource and its verbs.', {
  subresource: string(1, 'Its name, such as status.', { required: true }),
  responseKind: one(2, 'What it answers with; group and version only where they are others.', GroupVersionKind, {
    pointer: true
  }),
  acceptedTypes: list(3, 'Kinds that may be sent.', GroupVersionKind, {
    listType: 'map', listMapKeys: ['group', 'version', 'kind']
  }),
  verbs: list(4, 'What may be done with it.', 'string', { required: true, listType: 'set' })
})

export type APIResourceDiscovery = Static<typeof APIResourceDiscovery>
export const APIResourceDiscovery = message('APIResourceDiscovery', 'A resource and what may be done with it.', {
  resource: string(1, 'Plural name.', { required: true }),
  responseKind: one(2, 'Kind of its objects; group and version only where they are others.', GroupVersionKind, {
    pointer: true
  }),
  scope: string(3, 'Whether its objects are in namespaces.', { required: true, values: ['Cluster', 'Namespaced'] }),
  singularResource: string(4, 'Singular name.', { required: true }),
  verbs: list(5, 'What may be done with it.', 'string', { required: true, listType: 'set' }),
  shortNames: list(6, 'Shorter names for people.', 'string', { listType: 'set' }),
  categories: list(7, 'Groups of resources it belongs to, such as all.', 'string', { listType: 'set' }),
  subresources: list(8, 'Its subresources.', APISubresourceDiscovery, {
    listType: 'map', listMapKeys: ['subresource']
  })
})

export type APIVersionDiscovery = Static<typeof APIVersionDiscovery>
export const APIVersionDiscovery = message('APIVersionDiscovery', 'A version of a group.', {
  version: string(1, 'The version, such as v1.', { required: true }),
  resources: list(2, 'Its resources.', APIResourceDiscovery, { listType: 'map', listMapKeys: ['resource'] }),
  freshness: string(3, 'Stale while the server of the version does not answer.', { values: ['Current', 'Stale'] })
})

export type APIGroupDiscovery = Static<typeof APIGroupDiscovery>
export const APIGroupDiscovery = kind('APIGroupDiscovery', 'A group and its versions, the preferred one first.', {
  metadata: one(1, 'Has the name of the group.', ObjectMeta),
  versions: list(2, 'Its versions.', APIVersionDiscovery, { listType: 'map', listMapKeys: ['version'] })
})

export const APIGroupDiscoveryList = kind('APIGroupDiscoveryList', 'The groups of the server.', {
  metadata: one(1, 'About the list.', ListMeta),
  items: list(2, 'The groups.', APIGroupDiscovery, { required: true })
})
