/** Names of resources and API versions that options and flags refer to. */
import { API_VERSIONS, representations, types } from '../schemas/resources.js'
import { didYouMean } from './suggestions.js'

/** Describes an unknown resource. @param nameOf how the option writes a resource */
export function resourceProblem (name: string, nameOf: (group: string, plural: string) => string): string | undefined {
  const names = types.map(({ group, plural }) => nameOf(group, plural))
  if (names.includes(name)) return undefined
  return 'is no resource of this ' +
    `version${didYouMean(name, names) || `; leave it out or name one of ${names.sort().join(', ')}`}`
}

/** Describes a name that is neither a version (`apps/v1`, `v1`) nor a resource of one (`apps/v1/daemonsets`). */
export function apiProblem (name: string): string | undefined {
  const resources = representations.map(({ apiVersion, plural }) => `${apiVersion}/${plural}`)
  if (API_VERSIONS.includes(name) || resources.includes(name)) return undefined
  return 'is no API version of this server; name one as GROUP/VERSION, a resource as GROUP/VERSION/RESOURCE'
}

/** As resourceProblem, but accepts resources of unknown groups with a dot: they may be custom resources. */
export function cachedProblem (
  name: string, nameOf: (group: string, plural: string) => string, groupOf: (name: string) => string
): string | undefined {
  const group = groupOf(name)
  return group.includes('.') && !types.some(type => type.group === group) ? undefined : resourceProblem(name, nameOf)
}

/** The name in flags and files: `plural.group`, or `plural` for the core group. */
export const pluralAndGroup = (group: string, plural: string): string => group === '' ? plural : `${plural}.${group}`

/** The group in such a name. */
export const groupIn = (name: string): string => name.split('.').slice(1).join('.')

/** The name in options: `group/plural`, or `/plural` for the core group. */
export const groupAndPlural = (group: string, plural: string): string => `${group}/${plural}`
