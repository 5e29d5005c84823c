/** Resources of a group version, as discovery lists them: one by one, and in the document of all groups. */
import type { APIResourceDiscovery } from '../schemas/api/apidiscovery/v2.js'
import type { APIResource } from '../schemas/meta/discovery.js'
import type { ResourceVerb, Subresource } from '../schemas/subresource.js'
import type { ResourceStore } from './resource-store.js'

const byName = (one: { name: string }, other: { name: string }): number => one.name < other.name ? -1 : 1

const WRITES: ReadonlySet<ResourceVerb> = new Set(['create', 'patch', 'update'])

type Listed = Partial<APIResource> & Pick<APIResource, 'name' | 'singularName' | 'namespaced' | 'kind' | 'verbs'>

export function apiResources (
  stores: readonly ResourceStore[], subresourcesOf: (store: ResourceStore) => readonly Subresource[]
): Listed[] {
  return stores.flatMap(store => {
    const { representation, type, gates } = store
    const { plural, namespaced, kind, shortNames, categories, storageVersionHash } = representation
    const own: Listed = {
      name: plural,
      singularName: representation.singular || (gates.enabled('DiscoveryFillsSingularNames') ? kind.toLowerCase() : ''),
      namespaced,
      kind,
      verbs: representation.verbs.filter(verb => !representation.closing || !WRITES.has(verb)).sort(),
      ...(shortNames.length > 0 ? { shortNames: [...shortNames] } : {}),
      ...(categories.length > 0 ? { categories: [...categories] } : {}),
      ...(type.virtual || !gates.enabled('StorageVersionHash') ? {} : { storageVersionHash })
    }
    const subresources = subresourcesOf(store).map(({ name, verbs, kind: own = kind, group, version }): Listed => ({
      name: `${plural}/${name}`, singularName: '', namespaced, ...(group === undefined ? {} : { group }),
      ...(version === undefined ? {} : { version }), kind: own, verbs: [...verbs].sort()
    }))
    return [own, ...subresources]
  }).sort(byName)
}

/** The same in the form of the document of all groups: subresources below their resource. */
export function discovered (resources: readonly Listed[]): APIResourceDiscovery[] {
  const byName = new Map<string, APIResourceDiscovery>()
  for (const listed of resources) {
    const { name, singularName, namespaced, group = '', version = '', kind, verbs, shortNames, categories } = listed
    const [plural = '', subresource] = name.split('/')
    const responseKind = { group, version, kind }
    if (subresource === undefined) {
      byName.set(plural, {
        resource: plural, responseKind, scope: namespaced ? 'Namespaced' : 'Cluster',
        singularResource: singularName || kind.toLowerCase(), verbs, ...shortNames === undefined ? {} : { shortNames },
        ...categories === undefined ? {} : { categories }
      })
      continue
    }
    let parent = byName.get(plural)
    if (parent === undefined) {
      byName.set(plural, parent = {
        resource: plural, scope: namespaced ? 'Namespaced' : 'Cluster', singularResource: '', verbs: []
      })
    }
    (parent.subresources ??= []).push({ subresource, responseKind, verbs })
  }
  return [...byName.values()]
}

/** With the groups of kinds under other names; '' stands for the group of the list. */
export function withGroups (
  resources: readonly APIResourceDiscovery[], rename: (group: string) => string
): APIResourceDiscovery[] {
  const kindOf = <T extends Pick<APIResourceDiscovery, 'responseKind'>>(part: T): T => part.responseKind === undefined
    ? part
    : { ...part, responseKind: { ...part.responseKind, group: rename(part.responseKind.group) } }
  return resources.map(resource => resource.subresources === undefined
    ? kindOf(resource)
    : { ...kindOf(resource), subresources: resource.subresources.map(kindOf) })
}
