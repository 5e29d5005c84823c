/**
 * Stage and default of the feature gates of each release, and what a server has set. They decide which fields and rules
 * of objects apply; other folders look up those of their own behaviour.
 * @see interface, 'Other lifecycles stated' (alpha, beta, GA) and 'Errors' 6
 */
import { RELEASE_NAME, type Release } from './meta/release.js'

export interface Gate {
  readonly stage: 'Alpha' | 'Beta' | 'GA' | 'Deprecated'
  readonly default: boolean
  /** Gates that must be on where this one is on. */
  readonly needs?: readonly string[]
}

function named (names: string, gate: Gate): Array<[string, Gate]> {
  return names.trim().split(/\s+/).map(name => [name, gate])
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
  RecoverVolumeExpansionFailure SeccompDefault ServiceIPStaticSubrange
  StatefulSetAutoDeletePVC StorageVersionAPI VolumeCapacityPriority WinDSR`

/** On, unlike upstream, because the interface has the parameter of this gate. */
const ALPHA_ON = 'ServerSideFieldValidation'

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

/** Gates that 1.36 has otherwise, or that came later than the interface's release. */
const OF_1_36: ReadonlyMap<string, Gate> = new Map([
  ...named(`
    APISelfSubjectReview AdmissionWebhookMatchConditions AuthorizeWithSelectors CRDValidationRatcheting \
CustomResourceFieldSelectors
    CustomResourceValidationExpressions ValidatingAdmissionPolicy`,
  { stage: 'GA', default: true }),
  ...named('StorageVersionAPI', { stage: 'Alpha', default: false, needs: ['APIServerIdentity'] }),
  ...named('WatchList', { stage: 'Beta', default: true })
])

/** Of a gate that came later, where the interface's release is emulated. */
const LATER: Gate = { stage: 'Alpha', default: false }

/** Those of the interface's release, where later ones are alpha. */
export const GATES: ReadonlyMap<string, Gate> = new Map([
  ...[...OF_1_36.keys()].map((name): [string, Gate] => [name, LATER]),
  ...named(ALPHA, { stage: 'Alpha', default: false }),
  ...named(ALPHA_ON, { stage: 'Alpha', default: true }),
  ...named(BETA, { stage: 'Beta', default: true }),
  ...named(BETA_OFF, { stage: 'Beta', default: false }),
  ...named(GA, { stage: 'GA', default: true }),
  ...named(DEPRECATED, { stage: 'Deprecated', default: false })
])

/** The gates of a release. */
export const gatesOf = (release: Release): ReadonlyMap<string, Gate> =>
  release === RELEASE_NAME ? GATES : new Map([...GATES, ...OF_1_36])

/** Names that set all gates of a stage. */
export const GATE_GROUPS: ReadonlyMap<string, Gate['stage']> = new Map([['AllAlpha', 'Alpha'], ['AllBeta', 'Beta']])

/** The state of the feature gates of a server. */
export interface Gates {
  /** @throws Error for an unknown one, a programming error */
  readonly enabled: (name: string) => boolean
  /** Every gate has the default of the interface's release. */
  readonly areDefault?: boolean
  /** The public project's name of a group, where clients may use those. */
  readonly publicGroup?: ((group: string) => string) | undefined
}

type Settings = Readonly<Record<string, boolean>>

/**
 * Resolves gates: the gate's own setting, else its stage's (`AllAlpha`, `AllBeta`), else its default in the release.
 * @throws Error for an unknown gate
 */
export function featureGates (
  settings: Settings = {},
  { publicGroup, release = RELEASE_NAME }: Pick<Gates, 'publicGroup'> & { release?: Release | undefined } = {}
): Gates {
  const gates = gatesOf(release)
  const unknown = Object.keys(settings).find(name => !gates.has(name) && !GATE_GROUPS.has(name))
  if (unknown !== undefined) throw new Error(`${unknown} is not a feature gate of release ${release}`)
  const ofStage = new Map([...GATE_GROUPS]
    .map(([group, stage]) => [stage, Object.hasOwn(settings, group) ? settings[group] : undefined]))
  const on = new Map([...gates].map(([name, gate]) =>
    [name, (Object.hasOwn(settings, name) ? settings[name] : undefined) ?? ofStage.get(gate.stage) ?? gate.default]))
  return {
    publicGroup,
    areDefault: [...GATES].every(([name, gate]) => on.get(name) === gate.default),
    enabled: name => {
      const value = on.get(name)
      if (value === undefined) throw new Error(`${name} is not a feature gate of release ${release}`)
      return value
    }
  }
}

/** The first gate that is on while one that it needs is off, with that one. */
export function unmetNeed (settings: Settings, release: Release): readonly [string, string] | undefined {
  const { enabled } = featureGates(settings, { release })
  for (const [name, { needs = [] }] of gatesOf(release)) {
    const missing = enabled(name) ? needs.find(needed => !enabled(needed)) : undefined
    if (missing !== undefined) return [name, missing]
  }
  return undefined
}

/** The gates of a server that sets none. */
export const DEFAULT_GATES: Gates = featureGates()

/** Whether a gate is on for validation that reports there. */
export const isOn = ({ gates = DEFAULT_GATES }: { readonly gates?: Gates }, name: string): boolean =>
  gates.enabled(name)
