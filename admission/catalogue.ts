/**
 * All admission plugins in execution order. Flag values and help texts derive from this list. Each plugin has a file in
 * `plugins/`, imported at start-up if it is enabled.
 */
import { ConfigurationError, type PluginConfiguration } from './configuration.js'
import type { AdmissionPlugin } from '../registry/admission.js'
import type { AdmissionOptions, AdmissionTools } from './options.js'
import { kubeconfigIn } from './webhooks/configuration.js'

export interface CatalogueEntry {
  readonly name: string
  /** Enabled unless disabled by name. */
  readonly default: boolean
  /** `configuration` is undefined if the plugin has none. @throws ConfigurationError */
  readonly load: (tools: AdmissionTools, configuration: PluginConfiguration | undefined) => Promise<AdmissionPlugin>
  /** For configurable plugins: validates a configuration or its absence, without loading. @throws ConfigurationError */
  readonly check?: (configuration: PluginConfiguration | undefined) => Promise<unknown>
  /** The feature gate without which it is never loaded. */
  readonly gate?: string
  /** The first release without it. */
  readonly removed?: string
  /** Logged if the plugin is enabled. */
  readonly note?: string
}

type Load = CatalogueEntry['load']
type Extras = Pick<CatalogueEntry, 'check' | 'gate' | 'note' | 'removed'>

const on = (name: string, load: Load, more?: Extras): CatalogueEntry => ({ name, default: true, load, ...more })
const off = (name: string, load: Load, more?: Extras): CatalogueEntry => ({ name, default: false, load, ...more })
const deprecated = (name: string): Extras =>
  ({ note: `the admission plugin ${name} is deprecated; take it out of --enable-admission-plugins` })
const webhooks = (name: string): Extras => ({ check: async given => given && kubeconfigIn(name, given) })

/** Settings of configurable plugins, imported on demand. */
const SETTINGS = {
  EventRateLimit: async (given: PluginConfiguration | undefined) =>
    (await import('./plugins/event-rate-limit-configuration.js')).eventLimits(given),
  PodNodeSelector: async (given: PluginConfiguration | undefined) =>
    (await import('./plugins/pod-node-selector-configuration.js')).nodeSelectors(given),
  PodSecurity: async (given: PluginConfiguration | undefined) =>
    (await import('./pod-security/configuration.js')).podSecuritySettings(given),
  PodTolerationRestriction: async (given: PluginConfiguration | undefined) =>
    (await import('./plugins/pod-toleration-restriction-configuration.js')).tolerationSettings(given),
  ResourceQuota: async (given: PluginConfiguration | undefined) =>
    (await import('./quota/limited.js')).limitedResources(given)
}

export const CATALOGUE: readonly CatalogueEntry[] = [
  off('AlwaysAdmit', async () => ({ name: 'AlwaysAdmit', handles: [] }), deprecated('AlwaysAdmit')),
  off('NamespaceAutoProvision', async ({ resources }) =>
    (await import('./plugins/namespace-auto-provision.js')).namespaceAutoProvision(resources)),
  on('NamespaceLifecycle', async ({ resources }) =>
    (await import('./plugins/namespace-lifecycle.js')).namespaceLifecycle(resources)),
  off('NamespaceExists', async () => (await import('./plugins/namespace-exists.js')).namespaceExists),
  off('SecurityContextDeny', async () => (await import('./plugins/security-context-deny.js')).securityContextDeny, {
    removed: '1.30'
  }),
  off('LimitPodHardAntiAffinityTopology', async () =>
    (await import('./plugins/limit-pod-hard-anti-affinity-topology.js')).limitPodHardAntiAffinityTopology),
  on('LimitRanger', async () => (await import('./plugins/limit-ranger.js')).limitRanger),
  on('ServiceAccount', async () => (await import('./plugins/service-account.js')).serviceAccount),
  off('NodeRestriction', async tools => (await import('./plugins/node-restriction.js')).nodeRestriction(tools)),
  on('TaintNodesByCondition', async () =>
    (await import('./plugins/taint-nodes-by-condition.js')).taintNodesByCondition),
  off('AlwaysPullImages', async () => (await import('./plugins/always-pull-images.js')).alwaysPullImages),
  off('ImagePolicyWebhook', async (tools, given) =>
    await (await import('./plugins/image-policy.js')).imagePolicy('ImagePolicyWebhook', tools, given), {
    check: async given =>
      (await import('./plugins/image-policy-configuration.js')).imagePolicyIn('ImagePolicyWebhook', given)
  }),
  on('PodSecurity', async ({ observePodSecurity, gates }, given) =>
    (await import('./plugins/pod-security.js')).podSecurity(
      await SETTINGS.PodSecurity(given), observePodSecurity, gates.release
    ), {
    check: SETTINGS.PodSecurity, gate: 'PodSecurity'
  }),
  off('PodSecurityPolicy', async tools => (await import('./plugins/pod-security-policy.js')).podSecurityPolicy(tools), {
    removed: '1.25',
    note: 'the admission plugin PodSecurityPolicy is deprecated and goes with the next release; let PodSecurity take ' +
      'its place'
  }),
  off('PodNodeSelector', async (_tools, given) => (await import('./plugins/pod-node-selector.js'))
    .podNodeSelector(await SETTINGS.PodNodeSelector(given)), { check: SETTINGS.PodNodeSelector }),
  on('Priority', async () => (await import('./plugins/priority.js')).priority),
  on('DefaultTolerationSeconds', async ({ tolerationSeconds }) =>
    (await import('./plugins/default-toleration-seconds.js')).defaultTolerationSeconds(tolerationSeconds)),
  off('PodTolerationRestriction', async (_tools, given) => (await import('./plugins/pod-toleration-restriction.js'))
    .podTolerationRestriction(await SETTINGS.PodTolerationRestriction(given)), {
    check: SETTINGS.PodTolerationRestriction
  }),
  off('EventRateLimit', async ({ clock }, given) => (await import('./plugins/event-rate-limit.js'))
    .eventRateLimit(await SETTINGS.EventRateLimit(given), clock.elapsed), { check: SETTINGS.EventRateLimit }),
  off('ExtendedResourceToleration', async () =>
    (await import('./plugins/extended-resource-toleration.js')).extendedResourceToleration),
  off('PersistentVolumeLabel', async () =>
    (await import('./plugins/persistent-volume-label.js')).persistentVolumeLabel, {
    removed: '1.31',
    note: 'the admission plugin PersistentVolumeLabel is deprecated and there is no cloud provider here: volumes ' +
        'of clouds are refused; take it out of --enable-admission-plugins'
  }),
  on('DefaultStorageClass', async tools =>
    (await import('./plugins/default-storage-class.js')).defaultStorageClass(tools)),
  on('StorageObjectInUseProtection', async () =>
    (await import('./plugins/storage-object-in-use-protection.js')).storageObjectInUseProtection),
  off('OwnerReferencesPermissionEnforcement', async tools =>
    (await import('./plugins/owner-references-permission-enforcement.js')).ownerReferencesPermissionEnforcement(tools)),
  on('PersistentVolumeClaimResize', async () =>
    (await import('./plugins/persistent-volume-claim-resize.js')).persistentVolumeClaimResize),
  on('RuntimeClass', async () => (await import('./plugins/runtime-class.js')).runtimeClass),
  on('CertificateApproval', async tools =>
    (await import('./plugins/certificate-approval.js')).certificateApproval(tools)),
  on('CertificateSigning', async tools => (await import('./plugins/certificate-signing.js')).certificateSigning(tools)),
  on('CertificateSubjectRestriction', async () =>
    (await import('./plugins/certificate-subject-restriction.js')).certificateSubjectRestriction),
  on('DefaultIngressClass', async tools =>
    (await import('./plugins/default-ingress-class.js')).defaultIngressClass(tools)),
  off('DenyServiceExternalIPs', async () =>
    (await import('./plugins/deny-service-external-ips.js')).denyServiceExternalIPs),
  on('PodTopologyLabels', async () =>
    (await import('./plugins/pod-topology-labels.js')).podTopologyLabels, { gate: 'PodTopologyLabelsAdmission' }),
  on('NodeDeclaredFeatureValidator', async () =>
    (await import('./plugins/node-declared-feature-validator.js')).nodeDeclaredFeatureValidator, {
    gate: 'NodeDeclaredFeatures'
  }),
  on('PodResizeValidator', async () =>
    (await import('./plugins/pod-resize-validator.js')).podResizeValidator, { gate: 'InPlacePodVerticalScaling' }),
  on('MutatingAdmissionPolicy', async tools =>
    (await import('./policies/mutating.js')).mutatingPolicies(tools), { gate: 'MutatingAdmissionPolicy' }),
  on('MutatingAdmissionWebhook', async (tools, given) =>
    (await import('./webhooks/mutating.js')).mutatingWebhooks(await tools.callers.webhooks(given &&
      kubeconfigIn('MutatingAdmissionWebhook', given)), tools), webhooks('MutatingAdmissionWebhook')),
  on('ValidatingAdmissionPolicy', async tools =>
    (await import('./policies/validating.js')).validatingPolicies(tools), { gate: 'ValidatingAdmissionPolicy' }),
  on('ValidatingAdmissionWebhook', async (tools, given) =>
    (await import('./webhooks/validating.js')).validatingWebhooks(await tools.callers.webhooks(given &&
      kubeconfigIn('ValidatingAdmissionWebhook', given)), tools), webhooks('ValidatingAdmissionWebhook')),
  on('ResourceQuota', async ({ resources }, given) => (await import('./plugins/resource-quota.js'))
    .resourceQuota(resources, await SETTINGS.ResourceQuota(given)), { check: SETTINGS.ResourceQuota }),
  off('AlwaysDeny', async () => (await import('./plugins/always-deny.js')).alwaysDeny, deprecated('AlwaysDeny'))
]

/** The first release without a plugin, if it went. */
export const goneWith = (name: string): string | undefined => CATALOGUE.find(entry => entry.name === name)?.removed

/** Whether the plugin is enabled. */
export const isOn = (
  { name, default: isDefault }: Pick<CatalogueEntry, 'name' | 'default'>,
  { enabled = [], disabled = [] }: AdmissionOptions
): boolean => (isDefault && !disabled.includes(name)) || enabled.includes(name)

/** Validates all plugin configurations, those of disabled plugins included. @throws ConfigurationError */
export async function checkConfiguration (options: AdmissionOptions): Promise<void> {
  const { configuration = {} } = options
  for (const entry of CATALOGUE) {
    if (isOn(entry, options) && !Object.hasOwn(configuration, entry.name)) await entry.check?.(undefined)
  }
  for (const [name, given] of Object.entries(configuration)) {
    const entry = CATALOGUE.find(candidate => candidate.name === name)
    if (entry === undefined) throw new ConfigurationError(name, given, 'there is no such plugin')
    if (entry.check === undefined) throw new ConfigurationError(name, given, 'the plugin takes none; leave it out')
    await entry.check(given)
  }
}

/** The enabled plugins, then those of the host, in order. @throws ConfigurationError */
export async function loadPlugins (options: AdmissionOptions, tools: AdmissionTools): Promise<AdmissionPlugin[]> {
  await checkConfiguration(options)
  const { configuration = {}, plugins = [] } = options
  const loaded: AdmissionPlugin[] = []
  for (const entry of CATALOGUE) {
    const { removed } = entry
    if (removed !== undefined && isOn(entry, options) && tools.gates.enabled(removed)) {
      throw new Error(`the admission plugin ${entry.name} went with release ${removed}; leave it out`)
    }
    if (!isOn(entry, options) || (entry.gate !== undefined && !tools.gates.enabled(entry.gate))) continue
    if (entry.note !== undefined) tools.note(entry.note)
    // One after the other: Jest's loader of modules fails when several that share some are asked for at once.
    loaded.push(await entry.load(tools, configuration[entry.name]))
  }
  return [...loaded, ...plugins]
}
