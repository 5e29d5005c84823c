/**
 * Stage and default of the feature gates of each release, and what a server has set. They decide which fields and rules
 * of objects apply; other folders look up those of their own behaviour.
 * @see interface, 'Other lifecycles stated' (alpha, beta, GA) and 'Errors' 6
 */
import { BEHAVIOURS } from './behaviours.js'
import { GATES_CAME, GATES_OF_1_36, GATES_WENT, hasStayed, words, type Gate } from './gates-1.36.js'
import { reaches, RELEASE_NAME, SINCE, type Release } from './meta/release.js'

export type { Gate } from './gates-1.36.js'

function named (names: string, gate: Gate): Array<[string, Gate]> {
  return words(names).map(name => [name, gate])
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

/**
 * Gates of 1.36 that 1.24 knows too: of what an author writes and asks to be kept, which therefore works there as well.
 */
const KNOWN_EARLIER = words(`
  APISelfSubjectReview AdmissionWebhookMatchConditions AuthorizeWithSelectors CRDValidationRatcheting
  CustomResourceFieldSelectors MutatingAdmissionPolicy ValidatingAdmissionPolicy WatchList`)

const LATER: Gate = { stage: 'Alpha', default: false }

/** Those of the interface's release, where later ones are alpha. */
export const GATES: ReadonlyMap<string, Gate> = new Map([
  ...KNOWN_EARLIER.map((name): [string, Gate] => [name, LATER]),
  ...named(ALPHA, { stage: 'Alpha', default: false }),
  ...named(ALPHA_ON, { stage: 'Alpha', default: true }),
  ...named(BETA, { stage: 'Beta', default: true }),
  ...named(BETA_OFF, { stage: 'Beta', default: false }),
  ...named(GA, { stage: 'GA', default: true, locked: true }),
  ...named(DEPRECATED, { stage: 'Deprecated', default: false })
])

/** The gates that may be set where a release is emulated. */
export const gatesOf = (release: Release): ReadonlyMap<string, Gate> => BY_RELEASE[release]

const BY_RELEASE: Readonly<Record<Release, ReadonlyMap<string, Gate>>> = { [RELEASE_NAME]: GATES, 1.36: GATES_OF_1_36 }

/**
 * Every name that code may ask for with its value where nobody sets it: gates of all releases, behaviours, and
 * releases, which declarations name.
 */
const defaults = (release: Release): Map<string, boolean> => new Map([
  ...[...GATES_CAME.keys(), ...Object.values(BY_RELEASE).flatMap(gates => [...gates.keys()])]
    .map((name): [string, boolean] => [name, false]),
  ...[...GATES_WENT.keys(), ...GATES.keys()].map((name): [string, boolean] =>
    [name, release !== RELEASE_NAME && hasStayed(name)]),
  ...[...gatesOf(release)].map(([name, gate]): [string, boolean] => [name, gate.default]),
  ...SINCE.map((name): [string, boolean] => [name, reaches(release, name)]),
  ...Object.entries(BEHAVIOURS).map(([name, since]): [string, boolean] => [name, reaches(release, since)])
])

/** Gates of 1.36 that bring nothing here: they may be switched on, and nothing changes. */
export const ABSENT: ReadonlySet<string> = new Set(words(`
  APIServingWithRoutine CBORServingAndStorage ClusterTrustBundle ClusterTrustBundleProjection
  ConcurrentWatchObjectDecode CoordinatedLeaderElection DRAResourcePoolStatus
  DRAWorkloadResourceClaims GangScheduling GenericWorkload ManifestBasedAdmissionControlConfig NativeHistograms
  PodCertificateRequest ShardedListAndWatch TopologyAwareWorkloadScheduling
  WorkloadAwarePreemption WorkloadWithJob`))

/** Names that set all gates of a stage. */
export const GATE_GROUPS: ReadonlyMap<string, Gate['stage']> = new Map([['AllAlpha', 'Alpha'], ['AllBeta', 'Beta']])

/** The state of the feature gates of a server. */
export interface Gates {
  /**
   * Whether a gate is on, or a behaviour there (`behaviours.ts`). Of a release (`1.29`), for declarations: whether what
   * came with it without a gate is there.
   * @throws Error for an unknown one, a programming error
   */
  readonly enabled: (name: string) => boolean
  /** Whether the emulated release has a gate that can be set, or had it and has for good what it brought. */
  readonly knows: (name: string) => boolean
  /** The emulated release. */
  readonly release: Release
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
  const on = Object.keys(settings).length === 0 ? usual(release) : resolved(settings, release)
  return {
    publicGroup,
    release,
    knows: name => gates.has(name) || (release !== RELEASE_NAME && GATES_WENT.has(name) && hasStayed(name)),
    areDefault: [...GATES].every(([name, gate]) => on.get(name) === gate.default),
    enabled: name => {
      const value = on.get(name)
      if (value === undefined) throw new Error(`${name} is not a feature gate of release ${release}`)
      return value
    }
  }
}

/**
 * The values where no gate is set. They are kept because a process may start many servers.
 * Benchmark: `npm run bench -- start`, 'a further server in memory in a process'.
 */
const USUAL = new Map<Release, ReadonlyMap<string, boolean>>()

function usual (release: Release): ReadonlyMap<string, boolean> {
  const kept = USUAL.get(release) ?? resolved({}, release)
  USUAL.set(release, kept)
  return kept
}

function resolved (settings: Settings, release: Release): ReadonlyMap<string, boolean> {
  const gates = gatesOf(release)
  const ofStage = new Map([...GATE_GROUPS]
    .map(([group, stage]) => [stage, Object.hasOwn(settings, group) ? settings[group] : undefined]))
  const on = defaults(release)
  for (const [name, { stage, locked }] of gates) {
    const value = (Object.hasOwn(settings, name) ? settings[name] : undefined) ??
      (locked === true ? undefined : ofStage.get(stage))
    if (value !== undefined) on.set(name, value && !ABSENT.has(name))
  }
  // A stage that is switched as a whole never fails: what needs others that are off stays off.
  for (const [name, { stage, needs = [] }] of gates) {
    if (!Object.hasOwn(settings, name) && ofStage.get(stage) === true && needs.some(need => on.get(need) !== true)) {
      on.set(name, false)
    }
  }
  return on
}

/** The first gate that is on while one that it needs is off, with that one. */
export function unmetNeed (settings: Settings, release: Release): readonly [string, string] | undefined {
  const { enabled } = featureGates(settings, { release })
  const isOn = (name: string): boolean => enabled(name) || (ABSENT.has(name) && settings[name] === true)
  for (const [name, { needs = [] }] of gatesOf(release)) {
    const missing = isOn(name) ? needs.find(needed => !isOn(needed)) : undefined
    if (missing !== undefined) return [name, missing]
  }
  return undefined
}

/** The gates of a server that sets none. */
export const DEFAULT_GATES: Gates = featureGates()

/** Whether a gate is on for validation that reports there. */
export const isOn = ({ gates = DEFAULT_GATES }: { readonly gates?: Gates }, name: string): boolean =>
  gates.enabled(name)
