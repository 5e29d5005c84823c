/** Names of the admission plugins of the release whose interface is served, and which of them are on by default. */
import { printable } from './flag.js'

const ON = [
  'CertificateApproval', 'CertificateSigning', 'CertificateSubjectRestriction', 'DefaultIngressClass', 'DefaultStorageClass', 'DefaultTolerationSeconds', 'LimitRanger', 'MutatingAdmissionWebhook', 'NamespaceLifecycle', 'PersistentVolumeClaimResize', 'PodSecurity', 'Priority', 'ResourceQuota', 'RuntimeClass', 'ServiceAccount', 'StorageObjectInUseProtection', 'TaintNodesByCondition', 'ValidatingAdmissionWebhook'
]
const OFF = [
  'AlwaysAdmit', 'AlwaysDeny', 'AlwaysPullImages', 'DenyServiceExternalIPs', 'EventRateLimit', 'ExtendedResourceToleration', 'ImagePolicyWebhook', 'LimitPodHardAntiAffinityTopology', 'NamespaceAutoProvision', 'NamespaceExists', 'NodeRestriction', 'OwnerReferencesPermissionEnforcement', 'PersistentVolumeLabel', 'PodNodeSelector', 'PodSecurityPolicy', 'PodTolerationRestriction', 'SecurityContextDeny'
]

export const ADMISSION_PLUGINS: ReadonlyMap<string, { readonly default: boolean }> =
  new Map([...ON, ...OFF].map(name => [name, { default: ON.includes(name) }]))

export function admissionProblem (name: string): string | undefined {
  return ADMISSION_PLUGINS.has(name) ? undefined : `"${printable(name)}" is not an admission plugin; the names are ${[...ADMISSION_PLUGINS.keys()].sort().join(', ')}`
}
