/** The public types of core v1. */
export {
  Affinity, NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodAffinity, PodAffinityTerm,
  PodAntiAffinity, PreferredSchedulingTerm, Toleration, TopologySpreadConstraint, WeightedPodAffinityTerm
} from './affinity.js'
export { RangeAllocation, SerializedReference } from './allocations.js'
export { Binding } from './bindings.js'
export { ComponentCondition, ComponentStatus } from './componentstatuses.js'
export { ConfigMap } from './configmaps.js'
export {
  Container, ContainerPort, EphemeralContainer, EphemeralContainerCommon, VolumeDevice, VolumeMount
} from './containers.js'
export { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from './endpoints.js'
export { EnvFromSource, EnvVar, EnvVarSource } from './env.js'
export { Event, EventSeries } from './events.js'
export {
  ExecAction, GRPCAction, HTTPGetAction, HTTPHeader, Lifecycle, LifecycleHandler, Probe, ProbeHandler, TCPSocketAction
} from './handlers.js'
export { LimitRange, LimitRangeItem, LimitRangeSpec } from './limitranges.js'
export { LoadBalancerIngress, LoadBalancerStatus, PortStatus } from './load-balancers.js'
export { Namespace, NamespaceCondition, NamespaceSpec, NamespaceStatus } from './namespaces.js'
export {
  AzureFileVolumeSource, CSIVolumeSource, CephFSVolumeSource, CinderVolumeSource, FlexVolumeSource,
  GlusterfsVolumeSource, ISCSIVolumeSource, RBDVolumeSource, ScaleIOVolumeSource, StorageOSVolumeSource
} from './network-volumes.js'
export { AvoidPods, NodeResources, PodSignature, Preconditions, PreferAvoidPodsEntry } from './node-annotations.js'
export {
  AttachedVolume, ConfigMapNodeConfigSource, ContainerImage, DaemonEndpoint, NodeAddress, NodeCondition,
  NodeConfigSource, NodeConfigStatus, NodeDaemonEndpoints, NodeStatus, NodeSystemInfo
} from './node-status.js'
export { Node, NodeSpec, Taint } from './nodes.js'
export {
  AzureFilePersistentVolumeSource, CSIPersistentVolumeSource, CephFSPersistentVolumeSource,
  CinderPersistentVolumeSource, FlexPersistentVolumeSource, GlusterfsPersistentVolumeSource,
  ISCSIPersistentVolumeSource, LocalVolumeSource, RBDPersistentVolumeSource, ScaleIOPersistentVolumeSource,
  StorageOSPersistentVolumeSource
} from './persistent-network-volumes.js'
export {
  PersistentVolumeClaim, PersistentVolumeClaimCondition, PersistentVolumeClaimSpec, PersistentVolumeClaimStatus
} from './persistentvolumeclaims.js'
export { PersistentVolumeSource } from './persistent-sources.js'
export {
  PersistentVolume, PersistentVolumeSpec, PersistentVolumeStatus, VolumeNodeAffinity
} from './persistentvolumes.js'
export {
  NodeProxyOptions, PodAttachOptions, PodExecOptions, PodLogOptions, PodPortForwardOptions, PodProxyOptions,
  ServiceProxyOptions
} from './pod-options.js'
export {
  HostAlias, PodDNSConfig, PodDNSConfigOption, PodOS, PodReadinessGate, PodSpec, PodTemplateSpec
} from './pod-spec.js'
export {
  ContainerState, ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting, ContainerStatus, PodCondition,
  PodIP, PodStatus, PodStatusResult
} from './pod-status.js'
export {
  ClusterTrustBundleProjection, ConfigMapProjection, ConfigMapVolumeSource, DownwardAPIProjection,
  DownwardAPIVolumeFile, DownwardAPIVolumeSource, EmptyDirVolumeSource, EphemeralVolumeSource, GitRepoVolumeSource,
  PersistentVolumeClaimTemplate, PersistentVolumeClaimVolumeSource, PodCertificateProjection, ProjectedVolumeSource,
  SecretProjection, SecretVolumeSource, ServiceAccountTokenProjection, Volume, VolumeProjection, VolumeSource
} from './pod-volumes.js'
export { Pod } from './pods.js'
export { PodTemplate } from './podtemplates.js'
export {
  ConfigMapEnvSource, ConfigMapKeySelector, KeyToPath, ObjectFieldSelector, ResourceFieldSelector, SecretEnvSource,
  SecretKeySelector, SecretReference, TypedLocalObjectReference, TypedObjectReference
} from './references-to-data.js'
export { EventSource, LocalObjectReference, ObjectReference } from './references.js'
export {
  ReplicationController, ReplicationControllerCondition, ReplicationControllerSpec, ReplicationControllerStatus
} from './replicationcontrollers.js'
export { ResourceRequirements, VolumeResourceRequirements } from './resource-requirements.js'
export {
  ResourceQuota, ResourceQuotaSpec, ResourceQuotaStatus, ScopeSelector, ScopedResourceSelectorRequirement
} from './resourcequotas.js'
export { Secret } from './secrets.js'
export {
  Capabilities, PodSecurityContext, SELinuxOptions, SeccompProfile, SecurityContext, Sysctl,
  WindowsSecurityContextOptions
} from './security-contexts.js'
export { ServiceAccount } from './serviceaccounts.js'
export { ClientIPConfig, Service, ServicePort, ServiceSpec, ServiceStatus, SessionAffinityConfig } from './services.js'
export { TopologySelectorLabelRequirement, TopologySelectorTerm } from './topology.js'
export {
  AWSElasticBlockStoreVolumeSource, AzureDiskVolumeSource, FCVolumeSource, FlockerVolumeSource,
  GCEPersistentDiskVolumeSource, HostPathVolumeSource, NFSVolumeSource, PhotonPersistentDiskVolumeSource,
  PortworxVolumeSource, QuobyteVolumeSource, VsphereVirtualDiskVolumeSource
} from './volume-sources.js'
