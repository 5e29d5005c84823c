/**
 * The feature gates of release 1.36 of the public project, those of client libraries too: stages and defaults, what
 * each needs, and with which release one came or went.
 */

export interface Gate {
  readonly stage: 'Alpha' | 'Beta' | 'GA' | 'Deprecated'
  readonly default: boolean
  /** Cannot be set to another value. */
  readonly locked?: true
  /** Gates that must be on where this one is on. */
  readonly needs?: readonly string[]
}

export const words = (text: string): readonly string[] => text.trim().split(/\s+/)

const STAGES: ReadonlyArray<readonly [Gate, string]> = [
  [{ stage: 'Alpha', default: false }, `
    APIServingWithRoutine AllowUnsafeMalformedObjectDeletion CBORServingAndStorage
    CPUManagerPolicyAlphaOptions CRIListStreaming CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR
    CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook ContainerStopSignals
    ControllerManagerReleaseLeaderElectionLockOnExit CrossNamespaceVolumeDataSource DRAListTypeAttributes
    DRANodeAllocatableResources DRAResourcePoolStatus DRAWorkloadResourceClaims EventedPLEG GangScheduling
    GenericWorkload HPAScaleToZero ImageVolumeWithDigest InPlacePodVerticalScalingExclusiveCPUs
    InPlacePodVerticalScalingExclusiveMemory KubeletInUserNamespace LoggingAlphaOptions
    ManifestBasedAdmissionControlConfig MemoryQoS MutablePVNodeAffinity NativeHistograms
    PersistentVolumeClaimUnusedSinceTime PodAndContainerStatsFromCRI PodLevelResourceManagers
    PodLogsQuerySplitStreams PodsAPI QOSReserved ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriApi
    ShardedListAndWatch StorageCapacityScoring StorageVersionAPI TaintTolerationComparisonOperators
    TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions UserNamespacesHostNetworkSupport
    VolumeLimitScaling WindowsCPUAndMemoryAffinity WorkloadAwarePreemption WorkloadWithJob`],
  [{ stage: 'Beta', default: true }, `
    APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AtomicFIFO
    AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions CRDObservedGenerationTracking
    ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation ClientsAllowTLSCacheGC ComponentFlagz
    ComponentStatusz ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules ContextualLogging
    DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource
    DRAPartitionableDevices DRAResourceClaimDeviceStatus DRAResourceClaimGranularStatusAuthorization
    DRASchedulerFilterTimeout DeclarativeValidationBeta DeploymentReplicaSetTerminatingReplicas
    DetectCacheInconsistency EnvFiles ExtendWebSocketsToKubelet GracefulNodeShutdown
    GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance HostnameOverride
    InOrderInformersBatchProcess InPlacePodLevelResourcesVerticalScaling
    InPlacePodVerticalScalingInitContainers KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages
    KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot
    LoggingBetaOptions MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge
    MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs NodeDeclaredFeatures
    NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching PLEGOnDemandRelist PodDeletionCost
    PodLevelResources PodReadyToStartContainersCondition PodTopologyLabelsAdmission PortForwardWebsockets
    PreventStaticPodAPIReferences RelaxedServiceNameValidation ReloadKubeletClientCAFile
    ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus ResourceHealthStatusMessage
    RestartAllContainersOnContainerExits RotateKubeletServerCertificate SchedulerAsyncPreemption
    SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate
    StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
    StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison StorageVersionHash
    StrictIPCIDRValidation StructuredAuthenticationConfigurationEgressSelector
    StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
    TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation
    UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO WatchCacheInitializationPostStartHook
    WatchList WatchListClient WindowsGracefulNodeShutdown`],
  [{ stage: 'Beta', default: false }, `
    ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode CoordinatedLeaderElection
    DRADeviceTaintRules LocalStorageCapacityIsolationFSQuotaMonitoring MaxUnavailableStatefulSet
    PodCertificateRequest SELinuxMount SchedulerAsyncAPICalls StorageVersionMigrator`],
  [{ stage: 'GA', default: true, locked: true }, `
    APIServerTracing AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors
    AuthorizeWithSelectors BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting
    CSIServiceAccountTokenSecrets ConsistentListFromCache CustomResourceFieldSelectors DRAAdminAccess
    DeclarativeValidation DisableAllocatorDualWrite DynamicResourceAllocation ExecProbeTimeout
    ExternalServiceAccountTokenSigner ImageMaximumGCAge ImageVolume InPlacePodVerticalScaling InOrderInformers
    JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI
    KubeletFineGrainedAuthz KubeletPSI KubeletPodResourcesDynamicResources KubeletPodResourcesGet
    KubeletTracing LogarithmicScaleDown MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator
    MutableCSINodeAllocatableCount NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeLogQuery
    NodeSwap OrderedNamespaceDeletion PodLifecycleSleepAction PodLifecycleSleepActionAllowZero
    PodObservedGenerationTracking PodSchedulingReadiness PreferSameTrafficDistribution ProcMountType
    RecoverVolumeExpansionFailure RecursiveReadOnlyMounts RelaxedDNSSearchValidation
    RelaxedEnvironmentVariableValidation ResilientWatchCacheInitialization RetryGenerateName
    SELinuxChangePolicy SELinuxMountReadWriteOncePod SchedulerQueueingHints SeparateTaintEvictionController
    ServiceAccountTokenJTI ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation
    ServiceAccountTokenPodNodeInfo SidecarContainers StreamingCollectionEncodingToJSON
    StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration SupplementalGroupsPolicy
    SystemdWatchdog TopologyManagerPolicyOptions UserNamespacesSupport VolumeAttributesClass WinDSR WinOverlay`],
  [{ stage: 'GA', default: true }, `
    AllowServiceExternalIPs CustomCPUCFSQuotaPeriod DRAPrioritizedList InformerResourceVersion
    MutatingAdmissionPolicy`],
  [{ stage: 'Deprecated', default: true }, `
    DisableCPUQuotaWithExclusiveCPUs KubeletPodResourcesListUseActivePods ServiceCIDRStatusFieldWiping
    StorageNamespaceIndex`],
  [{ stage: 'Deprecated', default: false }, `
    AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ChangeContainerStatusOnKubeletRestart
    DeclarativeValidationTakeover KMSv1 KubeletRegistrationGetOnExistsOnly WindowsHostNetwork`],
  [{ stage: 'Deprecated', default: true, locked: true }, `
    AggregatedDiscoveryRemoveBetaType DisableNodeKubeProxyVersion`],
  [{ stage: 'Deprecated', default: false, locked: true }, `
    AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver SeparateCacheWatchRPC`]
]

const NEEDS: Readonly<Record<string, string>> = {
  AuthorizeNodeWithSelectors: 'AuthorizeWithSelectors',
  ClusterTrustBundleProjection: 'ClusterTrustBundle',
  DRAAdminAccess: 'DynamicResourceAllocation',
  DRAConsumableCapacity: 'DynamicResourceAllocation',
  DRADeviceBindingConditions: 'DRAResourceClaimDeviceStatus DynamicResourceAllocation',
  DRADeviceTaintRules: 'DRADeviceTaints',
  DRADeviceTaints: 'DynamicResourceAllocation',
  DRAExtendedResource: 'DynamicResourceAllocation',
  DRAListTypeAttributes: 'DynamicResourceAllocation',
  DRANodeAllocatableResources: 'DynamicResourceAllocation',
  DRAPartitionableDevices: 'DynamicResourceAllocation',
  DRAPrioritizedList: 'DynamicResourceAllocation',
  DRAResourceClaimGranularStatusAuthorization: 'DRAResourceClaimDeviceStatus DynamicResourceAllocation',
  DRAResourcePoolStatus: 'DynamicResourceAllocation',
  DRASchedulerFilterTimeout: 'DynamicResourceAllocation',
  DRAWorkloadResourceClaims: 'DynamicResourceAllocation GenericWorkload',
  DeclarativeValidationBeta: 'DeclarativeValidation',
  DeclarativeValidationTakeover: 'DeclarativeValidation',
  DisableAllocatorDualWrite: 'MultiCIDRServiceAllocator',
  ExtendWebSocketsToKubelet: 'NodeDeclaredFeatures',
  GangScheduling: 'GenericWorkload',
  GracefulNodeShutdownBasedOnPodPriority: 'GracefulNodeShutdown',
  ImageVolumeWithDigest: 'ImageVolume',
  InPlacePodLevelResourcesVerticalScaling: 'InPlacePodVerticalScaling NodeDeclaredFeatures PodLevelResources',
  InPlacePodVerticalScalingExclusiveCPUs: 'InPlacePodVerticalScaling',
  InPlacePodVerticalScalingExclusiveMemory: 'InPlacePodVerticalScaling',
  InPlacePodVerticalScalingInitContainers: 'InPlacePodVerticalScaling NodeDeclaredFeatures',
  MatchLabelKeysInPodTopologySpreadSelectorMerge: 'MatchLabelKeysInPodTopologySpread',
  PodCertificateRequest: 'AuthorizeNodeWithSelectors',
  PodLevelResourceManagers: 'PodLevelResources',
  PodLifecycleSleepActionAllowZero: 'PodLifecycleSleepAction',
  ProcMountType: 'UserNamespacesSupport',
  ResourceHealthStatus: 'DynamicResourceAllocation',
  ResourceHealthStatusMessage: 'ResourceHealthStatus',
  RestartAllContainersOnContainerExits: 'ContainerRestartRules NodeDeclaredFeatures',
  ServiceAccountTokenNodeBinding: 'ServiceAccountTokenNodeBindingValidation',
  StaleControllerConsistencyDaemonSet: 'AtomicFIFO',
  StaleControllerConsistencyJob: 'AtomicFIFO',
  StaleControllerConsistencyReplicaSet: 'AtomicFIFO',
  StaleControllerConsistencyStatefulSet: 'AtomicFIFO',
  StorageVersionAPI: 'APIServerIdentity',
  StructuredAuthenticationConfigurationEgressSelector: 'StructuredAuthenticationConfiguration',
  StructuredAuthenticationConfigurationJWKSMetrics: 'StructuredAuthenticationConfiguration',
  TopologyAwareWorkloadScheduling: 'GenericWorkload',
  UnknownVersionInteroperabilityProxy: 'APIServerIdentity',
  UserNamespacesHostNetworkSupport: 'NodeDeclaredFeatures UserNamespacesSupport',
  WindowsGracefulNodeShutdown: 'GracefulNodeShutdown',
  WorkloadAwarePreemption: 'GangScheduling',
  WorkloadWithJob: 'GenericWorkload'
}

/** The release with which a gate came, for those that 1.24 does not have. */
const CAME: ReadonlyArray<readonly [string, string]> = [
  ['1.12', `
    CustomCPUCFSQuotaPeriod`],
  ['1.24', `
    ContextualLogging ExperimentalHostUserNamespaceDefaulting LoggingAlphaOptions LoggingBetaOptions`],
  ['1.25', `
    CSINodeExpandSecret ContainerCheckpoint IPTablesOwnershipCleanup JobPodFailurePolicy KMSv2 KubeletTracing
    MatchLabelKeysInPodTopologySpread MultiCIDRRangeAllocator NodeInclusionPolicyInPodTopologySpread
    PodDisruptionConditions PodHasNetworkCondition RetroactiveDefaultStorageClass SELinuxMountReadWriteOncePod
    UnauthenticatedHTTP2DOSMitigation UserNamespacesStatelessPodsSupport UserNamespacesSupport`],
  ['1.26', `
    APISelfSubjectReview AggregatedDiscoveryEndpoint ComponentSLIs ConsistentHTTPGetHandlers
    CrossNamespaceVolumeDataSource DynamicResourceAllocation EventedPLEG LegacyServiceAccountTokenTracking
    MinimizeIPTablesRestore PDBUnhealthyPodEvictionPolicy PodSchedulingReadiness StatefulSetStartOrdinal
    TopologyManagerPolicyAlphaOptions TopologyManagerPolicyBetaOptions TopologyManagerPolicyOptions
    ValidatingAdmissionPolicy WindowsHostNetwork`],
  ['1.27', `
    AdmissionWebhookMatchConditions CloudControllerManagerWebhook CloudDualStackNodeIPs ClusterTrustBundle
    ElasticIndexedJob InPlacePodVerticalScaling KubeletPodResourcesDynamicResources KubeletPodResourcesGet
    MultiCIDRServiceAllocator NewVolumeManagerReconstruction NodeLogQuery SecurityContextDeny
    ServiceNodePortStaticSubrange StableLoadBalancerNodeSet WatchFromStorageWithoutResourceVersion WatchList`],
  ['1.28', `
    CRDValidationRatcheting ConsistentListFromCache CronJobsScheduledAnnotation
    DefaultHostNetworkHostPortsInPodTemplates DevicePluginCDIDevices JobBackoffLimitPerIndex
    JobPodReplacementPolicy KMSv1 KMSv2KDF KubeProxyDrainingTerminatingNodes KubeletCgroupDriverFromCRI
    LegacyServiceAccountTokenCleanUp PersistentVolumeLastPhaseTransitionTime PodHostIPs PodIndexLabel
    PodReadyToStartContainersCondition SchedulerQueueingHints SeparateCacheWatchRPC SidecarContainers
    SkipReadOnlyValidationGCE UnknownVersionInteroperabilityProxy`],
  ['1.29', `
    AllowServiceLBStatusOnNonLB ClusterTrustBundleProjection DisableNodeKubeProxyVersion ImageMaximumGCAge
    KubeletSeparateDiskGC LoadBalancerIPMode MatchLabelKeysInPodAffinity NFTablesProxyMode
    PodLifecycleSleepAction RuntimeClassInImageCriApi SeparateTaintEvictionController ServiceAccountTokenJTI
    ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo
    StructuredAuthenticationConfiguration StructuredAuthorizationConfiguration
    TranslateStreamCloseWebsocketRequests UserNamespacesPodSecurityStandards VolumeAttributesClass
    ZeroLimitedNominalConcurrencyShares`],
  ['1.30', `
    APIServingWithRoutine AppArmorFields CustomResourceFieldSelectors InformerResourceVersion JobManagedBy
    JobSuccessPolicy OrderedNamespaceDeletion PortForwardWebsockets RecursiveReadOnlyMounts
    RelaxedEnvironmentVariableValidation RetryGenerateName SELinuxMount ServiceTrafficDistribution
    StorageNamespaceIndex StorageVersionMigrator StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks
    WatchListClient`],
  ['1.31', `
    AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests AnonymousAuthConfigurableEndpoints
    AuthorizeNodeWithSelectors AuthorizeWithSelectors ConcurrentWatchObjectDecode CoordinatedLeaderElection
    DRAControlPlaneController DisableAllocatorDualWrite ImageVolume ReloadKubeletServerCertificateFile
    ResilientWatchCacheInitialization ResourceHealthStatus SupplementalGroupsPolicy
    WatchCacheInitializationPostStartHook`],
  ['1.32', `
    AllowOverwriteTerminationGracePeriodSeconds AllowUnsafeMalformedObjectDeletion BtreeWatchCache
    CBORServingAndStorage ClientsAllowCBOR ClientsPreferCBOR ComponentFlagz ComponentStatusz DRAAdminAccess
    DRAResourceClaimDeviceStatus ExternalServiceAccountTokenSigner InPlacePodVerticalScalingAllocatedStatus
    InPlacePodVerticalScalingExclusiveCPUs KubeletCrashLoopBackOffMax KubeletFineGrainedAuthz
    KubeletRegistrationGetOnExistsOnly MutatingAdmissionPolicy PodLevelResources
    PodLifecycleSleepActionAllowZero PodLogsQuerySplitStreams RelaxedDNSSearchValidation
    RemoteRequestHeaderUID SELinuxChangePolicy SchedulerAsyncPreemption ServiceAccountNodeAudienceRestriction
    SystemdWatchdog WindowsCPUAndMemoryAffinity WindowsGracefulNodeShutdown`],
  ['1.33', `
    AggregatedDiscoveryRemoveBetaType AllowParsingUserUIDFromCertAuth ContainerStopSignals DRADeviceTaints
    DRAPartitionableDevices DRAPrioritizedList DeclarativeValidation DeclarativeValidationTakeover
    DeploymentReplicaSetTerminatingReplicas DisableCPUQuotaWithExclusiveCPUs GitRepoVolumeDriver
    HPAConfigurableTolerance InOrderInformers KubeletEnsureSecretPulledImages KubeletPSI
    KubeletServiceAccountTokenForCredentialProviders LegacySidecarContainers ListFromCacheSnapshot
    MutableCSINodeAllocatableCount PodObservedGenerationTracking PodTopologyLabelsAdmission
    PreferSameTrafficDistribution ReduceDefaultCrashLoopBackOffDecay SchedulerPopFromBackoffQ
    StorageCapacityScoring StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf
    StrictIPCIDRValidation`],
  ['1.34', `
    ClearingNominatedNodeNameAfterBinding ContainerRestartRules DRAConsumableCapacity DRADeviceBindingConditions
    DRAExtendedResource DRASchedulerFilterTimeout DetectCacheInconsistency EnvFiles HostnameOverride
    InPlacePodVerticalScalingExclusiveMemory KubeletPodResourcesListUseActivePods
    MatchLabelKeysInPodTopologySpreadSelectorMerge NominatedNodeNameForExpectation PodCertificateRequest
    PreventStaticPodAPIReferences ProbeHostPodSecurityStandards RelaxedServiceNameValidation
    SchedulerAsyncAPICalls SizeBasedListCostEstimate StructuredAuthenticationConfigurationEgressSelector
    TokenRequestServiceAccountUIDValidation`],
  ['1.35', `
    AuthorizePodWebsocketUpgradeCreatePermission CRDObservedGenerationTracking CSIServiceAccountTokenSecrets
    ChangeContainerStatusOnKubeletRestart CloudControllerManagerWatchBasedRoutesReconciliation
    ConstrainedImpersonation DRADeviceTaintRules GangScheduling GenericWorkload ImageVolumeWithDigest
    InOrderInformersBatchProcess
    InPlacePodLevelResourcesVerticalScaling MutablePVNodeAffinity MutablePodResourcesForSuspendedJobs
    MutableSchedulingDirectivesForSuspendedJobs NodeDeclaredFeatures OpportunisticBatching
    RestartAllContainersOnContainerExits StructuredAuthenticationConfigurationJWKSMetrics
    TaintTolerationComparisonOperators UserNamespacesHostNetworkSupport VolumeLimitScaling`],
  ['1.36', `
    AllowServiceExternalIPs AtomicFIFO CRIListStreaming ClientsAllowCARotation ClientsAllowTLSCacheGC
    ControllerManagerReleaseLeaderElectionLockOnExit
    DRAListTypeAttributes DRANodeAllocatableResources DRAResourceClaimGranularStatusAuthorization
    DRAResourcePoolStatus DRAWorkloadResourceClaims DeclarativeValidationBeta ExtendWebSocketsToKubelet
    InPlacePodVerticalScalingInitContainers ManifestBasedAdmissionControlConfig NativeHistograms
    PLEGOnDemandRelist PersistentVolumeClaimUnusedSinceTime PodLevelResourceManagers PodsAPI
    ReloadKubeletClientCAFile ResourceHealthStatusMessage ServiceCIDRStatusFieldWiping ShardedListAndWatch
    StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
    StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison TopologyAwareWorkloadScheduling
    UnlockWhileProcessingFIFO WorkloadAwarePreemption WorkloadWithJob`]
]

/** The first release without a gate, for those that 1.36 does not have. */
const WENT: ReadonlyArray<readonly [string, string]> = [
  ['1.25', `
    CSIServiceAccountToken CSIVolumeFSGroupPolicy ConfigurableFSGroupPolicy EndpointSlice EndpointSliceNodeName
    EndpointSliceProxying GenericEphemeralVolume IngressClassNamespacedParams PodDisruptionBudget SelectorIndex
    StorageObjectInUseProtection TTLAfterFinished VolumeSubpath WindowsEndpointSliceProxying`],
  ['1.26', `
    CSIMigrationOpenStack CSRDuration DefaultPodTopologySpread DynamicKubeletConfig IndexedJob
    NonPreemptingPriority PodAffinityNamespaceSelector PodOverhead PreferNominatedNode ServiceLBNodePortControl
    ServiceLoadBalancerClass SuspendJob`],
  ['1.27', `
    CSIInlineVolume CSIMigration CSIMigrationAWS CSIMigrationAzureDisk ControllerManagerLeaderMigration
    DaemonSetUpdateSurge EphemeralContainers ExpandCSIVolumes ExpandInUsePersistentVolumes
    ExpandPersistentVolumes IPv6DualStack IdentifyPodOS LocalStorageCapacityIsolation NetworkPolicyEndPort
    StatefulSetMinReadySeconds`],
  ['1.28', `
    AdvancedAuditing CSIMigrationGCE CSIStorageCapacity DelegateFSGroupToCSIDriver DevicePlugins
    DisableAcceleratorUsageMetrics DryRun EndpointSliceTerminatingCondition KubeletCredentialProviders
    MixedProtocolLBService NetworkPolicyStatus PodHasNetworkCondition PodSecurity ServiceIPStaticSubrange
    ServiceInternalTrafficPolicy UserNamespacesStatelessPodsSupport WindowsHostProcessContainers`],
  ['1.29', `
    CSIMigrationvSphere CronJobTimeZone DownwardAPIHugePages GRPCContainerProbe
    JobMutableNodeSchedulingDirectives JobTrackingWithFinalizers KubeletPodResourcesGetAllocatable
    LegacyServiceAccountTokenNoAutoGeneration MultiCIDRRangeAllocator OpenAPIV3 ProbeTerminationGracePeriod
    RetroactiveDefaultStorageClass SeccompDefault TopologyManager`],
  ['1.30', `
    APISelfSubjectReview CSIMigrationAzureFile ExpandedDNSConfig ExperimentalHostUserNamespaceDefaulting
    IPTablesOwnershipCleanup KubeletPodResources LegacyServiceAccountTokenTracking MinimizeIPTablesRestore
    ProxyTerminatingEndpoints RemoveSelfLink SecurityContextDeny`],
  ['1.31', `
    APIPriorityAndFairness CSIMigrationRBD CSINodeExpandSecret ConsistentHTTPGetHandlers
    CustomResourceValidationExpressions DefaultHostNetworkHostPortsInPodTemplates InTreePluginAWSUnregister
    InTreePluginAzureDiskUnregister InTreePluginAzureFileUnregister InTreePluginGCEUnregister
    InTreePluginOpenStackUnregister InTreePluginRBDUnregister InTreePluginvSphereUnregister JobReadyPods
    ReadWriteOncePod ServiceNodePortStaticSubrange SkipReadOnlyValidationGCE`],
  ['1.32', `
    CloudDualStackNodeIPs ComponentSLIs DRAControlPlaneController HPAContainerMetrics KMSv2 KMSv2KDF
    LegacyServiceAccountTokenCleanUp MinDomainsInPodTopologySpread NewVolumeManagerReconstruction
    NodeOutOfServiceVolumeDetach PodHostIPs ServerSideApply ServerSideFieldValidation StableLoadBalancerNodeSet
    ValidatingAdmissionPolicy ZeroLimitedNominalConcurrencyShares`],
  ['1.33', `
    APIListChunking AdmissionWebhookMatchConditions AggregatedDiscoveryEndpoint AppArmor AppArmorFields
    CPUManager DisableCloudProviders DisableKubeletCloudCredentialProviders EfficientWatchResumption
    JobPodFailurePolicy KubeProxyDrainingTerminatingNodes PDBUnhealthyPodEvictionPolicy
    PersistentVolumeLastPhaseTransitionTime RemainingItemCount VolumeCapacityPriority WatchBookmark`],
  ['1.34', `
    DevicePluginCDIDevices ElasticIndexedJob LegacySidecarContainers PodDisruptionConditions
    StatefulSetStartOrdinal`],
  ['1.35', `
    AllowServiceLBStatusOnNonLB CronJobsScheduledAnnotation LoadBalancerIPMode PodIndexLabel
    ProbeHostPodSecurityStandards SizeMemoryBackedVolumes StatefulSetAutoDeletePVC StrictCostEnforcementForVAP
    StrictCostEnforcementForWebhooks UserNamespacesPodSecurityStandards`],
  ['1.36', `
    CSIMigrationPortworx HonorPVReclaimPolicy InPlacePodVerticalScalingAllocatedStatus
    InTreePluginPortworxUnregister MemoryManager ServiceTrafficDistribution StructuredAuthorizationConfiguration
    TopologyAwareHints WatchFromStorageWithoutResourceVersion`]
]

/** Of the gates that went: those that took with them what they brought. What the others brought stayed. */
const WITHDRAWN = `
  CSIMigrationRBD DRAControlPlaneController DefaultHostNetworkHostPortsInPodTemplates DynamicKubeletConfig
  ExperimentalHostUserNamespaceDefaulting InPlacePodVerticalScalingAllocatedStatus InTreePluginAWSUnregister
  InTreePluginAzureDiskUnregister InTreePluginAzureFileUnregister InTreePluginGCEUnregister
  InTreePluginOpenStackUnregister InTreePluginPortworxUnregister InTreePluginRBDUnregister
  InTreePluginvSphereUnregister LegacySidecarContainers MultiCIDRRangeAllocator NetworkPolicyStatus
  PodHasNetworkCondition SecurityContextDeny UserNamespacesPodSecurityStandards
  UserNamespacesStatelessPodsSupport VolumeCapacityPriority`

const named = (table: ReadonlyArray<readonly [string, string]>): ReadonlyMap<string, string> =>
  new Map(table.flatMap(([release, names]) => words(names).map(name => [name, release] as const)))

/** With which release a gate came that 1.24 does not have. */
export const GATES_CAME = named(CAME)
/** Which release was the first without a gate. */
export const GATES_WENT = named(WENT)

export const GATES_OF_1_36: ReadonlyMap<string, Gate> = new Map(STAGES.flatMap(([gate, names]) =>
  words(names).map(name => {
    const needs = Object.hasOwn(NEEDS, name) ? NEEDS[name] : undefined
    return [name, needs === undefined ? gate : { ...gate, needs: words(needs) }] as const
  })))

const withdrawn: ReadonlySet<string> = new Set(words(WITHDRAWN))
/** Whether what a gate brought that 1.36 does not have became part of the API. */
export const hasStayed = (name: string): boolean => !withdrawn.has(name)
