/** Every built-in resource type, by group. The server serves this list; nothing else names a type. */
import {
  mutatingAdmissionPolicies, mutatingAdmissionPolicyBindings
} from './api/admissionregistration/mutating-policies.js'
import {
  validatingAdmissionPolicies, validatingAdmissionPolicyBindings
} from './api/admissionregistration/validating-policies.js'
import { mutatingWebhookConfigurations, validatingWebhookConfigurations } from './api/admissionregistration/webhooks.js'
import { customResourceDefinitions } from './api/apiextensions/customresourcedefinitions.js'
import { apiServices } from './api/apiregistration/apiservices.js'
import { controllerRevisions } from './api/apps/controllerrevisions.js'
import { daemonSets } from './api/apps/daemonsets.js'
import { deployments } from './api/apps/deployments.js'
import { replicaSets } from './api/apps/replicasets.js'
import { statefulSets } from './api/apps/statefulsets.js'
import { selfSubjectReviews } from './api/authentication/selfsubjectreviews.js'
import { tokenReviews } from './api/authentication/tokenreviews.js'
import {
  localSubjectAccessReviews, selfSubjectAccessReviews, subjectAccessReviews
} from './api/authorization/accessreviews.js'
import { selfSubjectRulesReviews } from './api/authorization/rulesreviews.js'
import { horizontalPodAutoscalers } from './api/autoscaling/horizontalpodautoscalers.js'
import { cronJobs } from './api/batch/cronjobs.js'
import { jobs } from './api/batch/jobs.js'
import { certificateSigningRequests } from './api/certificates/certificatesigningrequests.js'
import { leases } from './api/coordination/leases.js'
import { bindings } from './api/core/bindings.js'
import { componentStatus } from './api/core/componentstatuses.js'
import { configMaps } from './api/core/configmaps.js'
import { endpoints } from './api/core/endpoints.js'
import { events } from './api/core/events.js'
import { limitRanges } from './api/core/limitranges.js'
import { namespaces } from './api/core/namespaces.js'
import { nodes } from './api/core/nodes.js'
import { persistentVolumeClaims } from './api/core/persistentvolumeclaims.js'
import { persistentVolumes } from './api/core/persistentvolumes.js'
import { pods } from './api/core/pods.js'
import { podTemplates } from './api/core/podtemplates.js'
import { replicationControllers } from './api/core/replicationcontrollers.js'
import { resourceQuotas } from './api/core/resourcequotas.js'
import { secrets } from './api/core/secrets.js'
import { serviceAccounts } from './api/core/serviceaccounts.js'
import { services } from './api/core/services.js'
import { endpointSlices } from './api/discovery/endpointslices.js'
import { flowSchemas } from './api/flowcontrol/flowschemas.js'
import { priorityLevelConfigurations } from './api/flowcontrol/prioritylevelconfigurations.js'
import { storageVersions } from './api/internal/storageversions.js'
import { ingressClasses } from './api/networking/ingressclasses.js'
import { ingresses } from './api/networking/ingresses.js'
import { ipAddresses } from './api/networking/ipaddresses.js'
import { networkPolicies } from './api/networking/networkpolicies.js'
import { serviceCIDRs } from './api/networking/servicecidrs.js'
import { runtimeClasses } from './api/node/runtimeclasses.js'
import { podDisruptionBudgets } from './api/policy/poddisruptionbudgets.js'
import { podSecurityPolicies } from './api/policy/podsecuritypolicies.js'
import { clusterRoleBindings } from './api/rbac/clusterrolebindings.js'
import { clusterRoles } from './api/rbac/clusterroles.js'
import { roleBindings } from './api/rbac/rolebindings.js'
import { roles } from './api/rbac/roles.js'
import { deviceClasses } from './api/resource/deviceclasses.js'
import { deviceTaintRules } from './api/resource/devicetaintrules.js'
import { resourceClaims } from './api/resource/resourceclaims.js'
import { resourceClaimTemplates } from './api/resource/resourceclaimtemplates.js'
import { resourceSlices } from './api/resource/resourceslices.js'
import { priorityClasses } from './api/scheduling/priorityclasses.js'
import { csiDrivers } from './api/storage/csidrivers.js'
import { csiNodes } from './api/storage/csinodes.js'
import { csiStorageCapacities } from './api/storage/csistoragecapacities.js'
import { storageClasses } from './api/storage/storageclasses.js'
import { volumeAttachments } from './api/storage/volumeattachments.js'
import { volumeAttributesClasses } from './api/storage/volumeattributesclasses.js'
import { storageVersionMigrations } from './api/storagemigration/storageversionmigrations.js'
import { compareGroups, compareVersions, stageOf } from './groups.js'
import type { Representation, ResourceType } from './resource.js'

export const types: readonly ResourceType[] = [
  apiServices,
  bindings, componentStatus, configMaps, endpoints, events, limitRanges, namespaces, nodes, persistentVolumeClaims,
  persistentVolumes, pods, podTemplates, replicationControllers, resourceQuotas, secrets, serviceAccounts, services,
  controllerRevisions, daemonSets, deployments, replicaSets, statefulSets,
  selfSubjectReviews, tokenReviews,
  localSubjectAccessReviews, selfSubjectAccessReviews, selfSubjectRulesReviews, subjectAccessReviews,
  horizontalPodAutoscalers,
  cronJobs, jobs,
  certificateSigningRequests,
  ingressClasses, ingresses, ipAddresses, networkPolicies, serviceCIDRs,
  podDisruptionBudgets, podSecurityPolicies,
  clusterRoleBindings, clusterRoles, roleBindings, roles,
  csiDrivers, csiNodes, csiStorageCapacities, storageClasses, volumeAttachments, volumeAttributesClasses,
  mutatingAdmissionPolicies, mutatingAdmissionPolicyBindings, mutatingWebhookConfigurations,
  validatingAdmissionPolicies, validatingAdmissionPolicyBindings, validatingWebhookConfigurations,
  customResourceDefinitions,
  priorityClasses,
  leases,
  runtimeClasses,
  endpointSlices,
  deviceClasses, deviceTaintRules, resourceClaims, resourceClaimTemplates, resourceSlices,
  flowSchemas, priorityLevelConfigurations,
  storageVersions,
  storageVersionMigrations
]

/** Every version of every type. */
export const representations: readonly Representation[] = types.flatMap(type => type.representations)

const GROUPS: ReadonlySet<string> = new Set(representations.map(({ group }) => group))

/** Whether a group has built-in types. */
export const isBuiltInGroup = (group: string): boolean => GROUPS.has(group)

/** Every built-in apiVersion, in discovery order. */
export const API_VERSIONS: readonly string[] =
  [...new Map(representations.map(representation => [representation.apiVersion, representation])).values()]
    .sort((one, other) => compareGroups(one.group, other.group) ||
      compareVersions(one.group, one.version, other.version))
    .map(({ apiVersion }) => apiVersion)

/**
 * Disabled by default: alpha versions, and beta ones that came after the interface's release; resources that came to a
 * beta version later (`storage.orch.io/v1beta1/volumeattributesclasses`).
 */
export const OFF_BY_DEFAULT: readonly string[] = API_VERSIONS.flatMap(apiVersion => {
  const stage = stageOf(apiVersion)
  const own = representations.filter(representation => representation.apiVersion === apiVersion)
  const later = own.filter(({ gate }) => gate !== undefined)
  if (stage === 'alpha' || (stage === 'beta' && later.length === own.length)) return [apiVersion]
  return stage === 'beta' ? later.map(({ plural }) => `${apiVersion}/${plural}`) : []
})
