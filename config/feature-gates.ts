/**
 * Stage and default of this release's feature gates. Only some have an effect; see `unbuilt.ts`.
 * @see interface, 'Other lifecycles stated' (alpha, beta, GA) and 'Errors' 6
 */
import { RELEASE_NAME } from '../schemas/meta/release.js'
import { printable } from './flag.js'
import { meant } from './meant.js'

export interface Gate {
  readonly stage: 'Alpha' | 'Beta' | 'GA' | 'Deprecated'
  readonly default: boolean
}

const ALPHA = `
  APIServerIdentity APIServerTracing CPUCFSQuotaPeriod CPUManagerPolicyAlphaOptions CSIMigrationPortworx
  CSIMigrationRBD CSIVolumeHealth CronJobTimeZone CustomResourceValidationExpressions DisableCloudProviders
  DisableKubeletCloudCredentialProviders ExpandedDNSConfig HPAContainerMetrics HPAScaleToZero
  HonorPVReclaimPolicy InTreePluginAWSUnregister InTreePluginAzureDiskUnregister
  InTreePluginAzureFileUnregister InTreePluginGCEUnregister InTreePluginOpenStackUnregister
  InTreePluginPortworxUnregister InTreePluginRBDUnregister InTreePluginvSphereUnregister
  KubeletInUserNamespace LocalStorageCapacityIsolationFSQuotaMonitoring MaxUnavailableStatefulSet MemoryQoS
  MinDomainsInPodTopologySpread NetworkPolicyStatus NodeOutOfServiceVolumeDetach NodeSwap
  PodAndContainerStatsFromCRI ProcMountType ProxyTerminatingEndpoints QOSReserved ReadWriteOncePod
  RecoverVolumeExpansionFailure SeccompDefault ServerSideFieldValidation ServiceIPStaticSubrange
  StatefulSetAutoDeletePVC StorageVersionAPI VolumeCapacityPriority WinDSR`

const BETA = `
  APIListChunking APIPriorityAndFairness APIResponseCompression AnyVolumeDataSource AppArmor CPUManager
  CPUManagerPolicyBetaOptions CPUManagerPolicyOptions CSIInlineVolume CSIMigration CSIMigrationAWS
  CSIMigrationAzureFile CSIMigrationGCE DaemonSetUpdateSurge DelegateFSGroupToCSIDriver DevicePlugins
  DisableAcceleratorUsageMetrics DownwardAPIHugePages EndpointSliceTerminatingCondition EphemeralContainers
  GRPCContainerProbe GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority IdentifyPodOS
  JobMutableNodeSchedulingDirectives JobReadyPods KubeletCredentialProviders KubeletPodResources
  KubeletPodResourcesGetAllocatable LegacyServiceAccountTokenNoAutoGeneration LocalStorageCapacityIsolation
  LogarithmicScaleDown MemoryManager MixedProtocolLBService NetworkPolicyEndPort OpenAPIEnums OpenAPIV3
  PodDeletionCost PodSecurity RemainingItemCount RotateKubeletServerCertificate ServiceInternalTrafficPolicy
  SizeMemoryBackedVolumes StatefulSetMinReadySeconds StorageVersionHash TopologyAwareHints TopologyManager
  WinOverlay WindowsHostProcessContainers`

const BETA_OFF = `
  CSIMigrationvSphere ExperimentalHostUserNamespaceDefaultingGate JobTrackingWithFinalizers
  ProbeTerminationGracePeriod`

const GA = `
  AdvancedAuditing CSIMigrationAzureDisk DryRun ExecProbeTimeout ExpandCSIVolumes ExpandInUsePersistentVolumes
  ExpandPersistentVolumes ServerSideApply
  CSIMigrationOpenStack CSIServiceAccountToken CSIStorageCapacity CSIVolumeFSGroupPolicy CSRDuration
  ConfigurableFSGroupPolicy ControllerManagerLeaderMigration DefaultPodTopologySpread EfficientWatchResumption
  EndpointSlice EndpointSliceNodeName EndpointSliceProxying GenericEphemeralVolume IPv6DualStack IndexedJob
  IngressClassNamespacedParams NonPreemptingPriority PodAffinityNamespaceSelector PodDisruptionBudget
  PodOverhead PreferNominatedNode RemoveSelfLink SelectorIndex ServiceLBNodePortControl
  ServiceLoadBalancerClass StorageObjectInUseProtection SuspendJob TTLAfterFinished VolumeSubpath
  WatchBookmark WindowsEndpointSliceProxying`

const DEPRECATED = 'DynamicKubeletConfig'

const gates = (names: string, gate: Gate): Array<[string, Gate]> => names.trim().split(/\s+/).map(name => [name, gate])

export const GATES: ReadonlyMap<string, Gate> = new Map([
  ...gates(ALPHA, { stage: 'Alpha', default: false }),
  ...gates(BETA, { stage: 'Beta', default: true }),
  ...gates(BETA_OFF, { stage: 'Beta', default: false }),
  ...gates(GA, { stage: 'GA', default: true }),
  ...gates(DEPRECATED, { stage: 'Deprecated', default: false })
])

/** Names that set all gates of a stage. */
const GROUPS: ReadonlyMap<string, Gate['stage']> = new Map([['AllAlpha', 'Alpha'], ['AllBeta', 'Beta']])

const isOn = (value: string): boolean => /^(?:true|t|1)$/i.test(value)

/** Describes an invalid setting: an unknown gate, an invalid value, or a disabled GA gate. */
export function gateProblem (name: string, value: string): string | undefined {
  if (!/^(?:true|false|t|f|1|0)$/i.test(value)) return `${printable(name)} must be true or false`
  const gate = GATES.get(name)
  if (gate === undefined) return GROUPS.has(name) ? undefined : `"${printable(name)}" is not a feature gate of release ${RELEASE_NAME}; leave it out${meant(name, [...GATES.keys(), ...GROUPS.keys()])}`
  return gate.stage === 'GA' && !isOn(value) ? `${name} is GA and cannot be switched off; leave it out` : undefined
}

/** Settings that change a default. A stage setting does not count for gates set individually. */
export function changedGates (settings: ReadonlyMap<string, string>): string[] {
  const changed: string[] = []
  for (const [name, value] of settings) {
    const stage = GROUPS.get(name)
    const differs = stage === undefined
      ? GATES.get(name)?.default !== isOn(value)
      : [...GATES].some(([other, gate]) => gate.stage === stage && gate.default !== isOn(value) && !settings.has(other))
    if (differs) changed.push(`${name}=${value}`)
  }
  return changed
}

/** Warnings about GA and deprecated gates. */
export function gateWarnings (settings: ReadonlyMap<string, string>): string[] {
  return [...settings.keys()].flatMap(name => {
    const stage = GATES.get(name)?.stage
    if (stage === 'GA') return [`--feature-gates=${name}: the gate is GA and non-operational, it will be removed`]
    return stage === 'Deprecated' ? [`--feature-gates=${name}: the gate is deprecated, it will be removed`] : []
  })
}

/** The state of the feature gates. */
export interface FeatureGates {
  /** @throws Error for an unknown gate, a programming error */
  readonly enabled: (name: string) => boolean
}

/** Resolves gates: the gate's own setting, else its stage's (`AllAlpha`, `AllBeta`), else its default. @throws Error for an unknown gate */
export function featureGates (settings: Readonly<Record<string, boolean>> = {}): FeatureGates {
  const unknown = Object.keys(settings).find(name => !GATES.has(name) && !GROUPS.has(name))
  if (unknown !== undefined) throw new Error(`${unknown} is not a feature gate of release ${RELEASE_NAME}`)
  const ofStage = new Map([...GROUPS].map(([group, stage]) => [stage, Object.hasOwn(settings, group) ? settings[group] : undefined]))
  const on = new Map([...GATES].map(([name, gate]) => [name, (Object.hasOwn(settings, name) ? settings[name] : undefined) ?? ofStage.get(gate.stage) ?? gate.default]))
  return {
    enabled: name => {
      const found = on.get(name)
      if (found === undefined) throw new Error(`${name} is not a feature gate of release ${RELEASE_NAME}`)
      return found
    }
  }
}

/** Converts --feature-gates to the server option. */
export const gateSettings = (settings: ReadonlyMap<string, string>): Record<string, boolean> =>
  Object.fromEntries([...settings].map(([name, value]) => [name, isOn(value)]))
