/** Every built-in resource type, a list of each group. What the server serves is this list, and nothing else in the house names one. */
import { admissionRegistration } from './api/admissionregistration/index.js'
import { apiExtensions } from './api/apiextensions/index.js'
import { apiRegistration } from './api/apiregistration/index.js'
import { apps } from './api/apps/index.js'
import { authentication } from './api/authentication/index.js'
import { authorization } from './api/authorization/index.js'
import { autoscaling } from './api/autoscaling/index.js'
import { batch } from './api/batch/index.js'
import { certificates } from './api/certificates/index.js'
import { coordination } from './api/coordination/index.js'
import { core } from './api/core/index.js'
import { discovery } from './api/discovery/index.js'
import { flowcontrol } from './api/flowcontrol/index.js'
import { internal } from './api/internal/index.js'
import { networking } from './api/networking/index.js'
import { node } from './api/node/index.js'
import { policy } from './api/policy/index.js'
import { rbac } from './api/rbac/index.js'
import { scheduling } from './api/scheduling/index.js'
import { storage } from './api/storage/index.js'
import { compareGroups, compareVersions, stageOf } from './groups.js'
import type { Representation, ResourceType } from './resource.js'

export const types: readonly ResourceType[] = [
  ...apiRegistration,
  ...core,
  ...apps,
  ...authentication,
  ...authorization,
  ...autoscaling,
  ...batch,
  ...certificates,
  ...networking,
  ...policy,
  ...rbac,
  ...storage,
  ...admissionRegistration,
  ...apiExtensions,
  ...scheduling,
  ...coordination,
  ...node,
  ...discovery,
  ...flowcontrol,
  ...internal
]

/** Every version of every type. */
export const representations: readonly Representation[] = types.flatMap(type => type.representations)

/** The built-in type of that name in that version, if there is one. */
export function findResource (group: string, version: string, plural: string): Representation | undefined {
  return representations.find(one => one.group === group && one.version === version && one.plural === plural)
}

/** Every group and version of a built-in type, as objects name it, in the order of discovery. */
export const API_VERSIONS: readonly string[] = [...new Map(representations.map(one => [one.apiVersion, one])).values()]
  .sort((one, other) => compareGroups(one.group, other.group) || compareVersions(one.group, one.version, other.version))
  .map(({ apiVersion }) => apiVersion)

/** Versions that are served only where they are asked for. */
export const OFF_BY_DEFAULT: readonly string[] = API_VERSIONS.filter(apiVersion => stageOf(apiVersion) === 'alpha')
