/** Discovery types: groups, versions and their resources. */
import { one, bool, string, list, type Static } from '../language/declare.js'
import { message, unversioned as kind } from './package.js'
import { Verbs } from './scalars.js'

export const GroupVersionForDiscovery = message('GroupVersionForDiscovery', 'A version of a group.', {
  groupVersion: string(1, 'Group and version, as in apiVersion.', { required: true }),
  version: string(2, 'The version alone.', { required: true })
})

export const ServerAddressByClientCIDR =
  message('ServerAddressByClientCIDR', 'Where clients of a network reach the server.', {
    clientCIDR: string(1, 'Addresses of the clients.', { required: true }),
    serverAddress: string(2, 'Address of the server for them.', { required: true })
  })

export type APIGroup = Static<typeof APIGroup>
export const APIGroup = kind('APIGroup', 'A group and its versions.', {
  name: string(1, 'Name of the group.', { required: true }),
  versions: list(2, 'Its versions.', GroupVersionForDiscovery, { required: true }),
  preferredVersion: one(3, 'The version clients should use.', GroupVersionForDiscovery),
  serverAddressByClientCIDRs: list(4, 'Where clients reach the server.', ServerAddressByClientCIDR)
})

export const APIGroupList = kind('APIGroupList', 'The groups of the server.', {
  groups: list(1, 'The groups.', APIGroup, { required: true })
})

export const APIVersions = kind('APIVersions', 'The versions of the core group.', {
  versions: list(1, 'The versions.', 'string', { required: true }),
  serverAddressByClientCIDRs: list(2, 'Where clients reach the server.', ServerAddressByClientCIDR, { required: true })
})

export type APIResource = Static<typeof APIResource>
export const APIResource = message('APIResource', 'A resource or subresource and what may be done with it.', {
  name: string(1, 'Plural name, followed by /subresource for one of those.', { required: true }),
  singularName: string(6, 'Singular name.', { required: true, mayBeEmpty: true }),
  namespaced: bool(2, 'Whether its objects live in namespaces.', { required: true }),
  group: string(8, 'Group of the kind, where it is another than that of the list.'),
  version: string(9, 'Version of the kind, where it is another than that of the list.'),
  kind: string(3, 'Kind of its objects.', { required: true }),
  verbs: one(4, 'What may be done with it.', Verbs, { required: true }),
  shortNames: list(5, 'Shorter names for people.', 'string'),
  categories: list(7, 'Groups of resources it belongs to, such as all.', 'string'),
  storageVersionHash: string(10, 'Changes when the stored version does.')
})

export const APIResourceList = kind('APIResourceList', 'The resources of a group version.', {
  groupVersion: string(1, 'Group and version.', { required: true }),
  resources: list(2, 'The resources.', APIResource, { required: true })
})

export const RootPaths = message('RootPaths', 'Every path the server has.', {
  paths: list(1, 'The paths.', 'string', { required: true })
})

const group = string(1, 'The group.', { required: true, mayBeEmpty: true })

export const GroupKind = message('GroupKind', 'A kind of any version.', {
  group,
  kind: string(2, 'The kind.', { required: true })
})

export const GroupResource = message('GroupResource', 'A resource of any version.', {
  group,
  resource: string(2, 'The resource.', { required: true })
})

export const GroupVersion = message('GroupVersion', 'A group version.', {
  group,
  version: string(2, 'The version.', { required: true })
})

export const GroupVersionKind = message('GroupVersionKind', 'A kind.', {
  group,
  version: string(2, 'The version.', { required: true }),
  kind: string(3, 'The kind.', { required: true })
})

export const GroupVersionResource = message('GroupVersionResource', 'A resource.', {
  group,
  version: string(2, 'The version.', { required: true }),
  resource: string(3, 'The resource.', { required: true })
})
