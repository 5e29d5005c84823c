/**
 * What the server answers or does otherwise since a release of the public project, where neither a gate nor a
 * declaration (`since`) says so. A behaviour is asked for by its name, like a gate. Its first word is what it concerns.
 */
export const BEHAVIOURS = {
  /** Duplicate addresses are one cause about their list; before, each duplicate was another one. */
  AddressFaultsAreToldOnce: '1.33',
  /** `--audit-log-maxsize=0` is no rotation, rather than 100 MiB. */
  AuditLogIsKeptWithoutSize: '1.36',
  /** Metrics of an autoscaler in v1 stay in the order in which they were sent. */
  AutoscalerKeepsSentMetrics: '1.36',
  /** `scaleTargetRef` needs a group where its kind has one. */
  AutoscalerNamesGroupOfTarget: '1.36',
  /** Approved together with Denied is a cause about `status.conditions`, rather than about one condition's type. */
  CertificateDecisionsAreOneFinding: '1.34',
  /** A user carries the hash of the client certificate as a credential. */
  CertificateIdentifiesUser: '1.32',
  /** A claim that names neither class nor volume may get a class. */
  ClaimGetsClassLater: '1.28',
  /** Of several default storage classes a claim gets the newest, rather than a refusal. */
  ClaimGetsNewestClass: '1.26',
  /** TZ in the schedule of a cron job is 422; `timeZone` is for that. */
  CronJobHasNoZoneInSchedule: '1.27',
  /** Groups of what a claim is filled from are DNS names. */
  ClaimSourceGroupsAreNames: '1.27',
  /** While a definition is being deleted, creates of its objects are 403; in earlier releases they are 405. */
  DefinitionForbidsCreates: '1.34',
  /** A definition whose conversion webhook has no certificates is not established. */
  DefinitionNeedsCertificates: '1.36',
  /** Unknown formats in schemas are warned of. */
  DefinitionFormatsAreWarnedOf: '1.34',
  /** Formats of numbers bound their values. */
  DefinitionFormatsHaveRanges: '1.34',
  /** A delete of an object that something holds is 200, rather than 202, unless `orphanDependents` is false. */
  DeleteOfHeldIsOk: '1.36',
  /** Discovery has a singular name for every resource. */
  DiscoveryFillsSingularNames: '1.27',
  /** `podInfoOnMount` and `fsGroupPolicy` of a CSIDriver may change. */
  DriverChangesMounts: '1.29',
  /** An empty name of a storage driver is Required alone, not Invalid too. */
  DriverNameIsRequired: '1.36',
  /** Every exception of a block of addresses is validated, not only those up to the first that is no range. */
  ExceptionsAreAllValidated: '1.33',
  /** `targetContainerName` cannot name an ephemeral container, and static pods can have none. */
  EphemeralContainersAimAtOthers: '1.25',
  /** Priority levels lend and borrow seats. */
  FairnessLendsSeats: '1.29',
  /** A connection has 100 streams by default, rather than 250. */
  Http2HasHundredStreams: '1.29',
  /** Of several default classes an ingress gets the newest, rather than a refusal. */
  IngressGetsNewestClass: '1.25',
  /** An ingress may name its class by annotation too, if both are the same. */
  IngressMayNameClassTwice: '1.27',
  /** A suspended job may change the scheduling gates of its pods. */
  JobMayChangeGates: '1.27',
  /** Changes of a job's status are validated. */
  JobStatusFollowsRules: '1.32',
  /** Version 1 of the protocol of key services needs its feature gate. */
  KeyServiceV1IsGated: '1.29',
  /** The identity lease of a server is named after its host. */
  LeaseHasHostname: '1.26',
  /** Parameters of lists that exclude each other are 422 with causes. */
  ListParametersNameCauses: '1.36',
  /** Logs know the parameter `stream`. */
  LogStreamsAreKnown: '1.32',
  /** Metrics have the stages of stability, and some the names, of that release; there are those of rules, too. */
  MetricsHaveLaterStages: '1.36',
  /** PUT of a missing object with a UID is 404, rather than 409. */
  MissingWithUidIsNotFound: '1.36',
  /** Values of node affinity that a node must have are values of labels. */
  NodeAffinityNeedsLabelValues: '1.33',
  /** The cause of a changed driver of a CSINode has its path. */
  NodeDriversHavePath: '1.33',
  /** A node agent gets certificates of its own node only. */
  NodeKeepsOwnCertificate: '1.31',
  /** A node agent does not change the owners of its node. */
  NodeKeepsOwners: '1.34',
  /** A node agent creates no pods that refer to claims, tokens and the like. */
  NodeKeepsPodSources: '1.29',
  /** OpenAPI says the type of every list. */
  OpenApiTypesLists: '1.31',
  /** Origins of CORS that match parts of other hosts are refused. */
  OriginsAreAnchored: '1.27',
  /** An apply that changes owners alone leaves the time of its entry, and gives a new one none. */
  OwnershipHasNoTime: '1.36',
  /** Findings in pods have the paths and reasons of that release. */
  PodFaultsNamePlaces: '1.36',
  /** A negative grace period of a pod becomes 1, and seccomp annotations are not synced. */
  PodGracePeriodIsPositive: '1.27',
  /** Changes of a pod's status are validated. */
  PodStatusFollowsRules: '1.36',
  /** Sysctls of a namespace that the pod shares with its host are refused. */
  PodSysctlsStayInPod: '1.29',
  /** The file of a projected token is within its volume. */
  PodTokenPathsStayInVolume: '1.30',
  /** `procMount: Unmasked` needs `hostUsers: false`. */
  PodUnmasksOnlyForUsers: '1.30',
  /** An empty handler of a runtime class is Required, not Invalid. */
  RuntimeHandlerIsRequired: '1.36',
  /** Both annotations of a service about topology say the same. */
  ServiceAnnotationsAgree: '1.27',
  /** A service may have the port of node agents. */
  ServiceMayTakeAgentPort: '1.36',
  /** Each address range of a service that is wrong has its own finding. */
  ServiceRangesAreToldApart: '1.33',
  /** Extension servers and webhooks are where EndpointSlices say, rather than Endpoints. */
  SlicesLocateServices: '1.33',
  /** Selectors of topology spread constraints are validated. */
  SpreadSelectorsAreChecked: '1.27',
  /** Templates and claims of stateful sets are validated whole, and more of them may change. */
  StatefulSetIsValidatedWhole: '1.33',
  /** What does not change in a storage class is Invalid, not Forbidden. */
  StorageClassChangeIsInvalid: '1.36',
  /** With `hostNetwork`, `hostPort` defaults to `containerPort` in pods alone, not in pod templates. */
  TemplatesKeepPorts: '1.28',
  /** A refused operator of a toleration names all operators there are. */
  TolerationsNameAllOperators: '1.36',
  /** Causes of type FieldValueTooLong give the limit in bytes. */
  TooLongIsInBytes: '1.32',
  /** Times that are not set are left out of text. */
  UnsetTimesAreOmitted: '1.36',
  /** The node affinity of a volume may replace deprecated node labels by their new names. */
  VolumeFollowsRenamedLabels: '1.27',
  /** Names of secrets of CSI volumes are as long as those of secrets. */
  VolumeSecretsHaveLongNames: '1.25',
  /** Built-in types are warned of what that release warns of. */
  WarningsOfTypes: '1.36',
  /** A watch from a version that is no longer kept is an error in its stream, rather than a refusal. */
  WatchRefusesInStream: '1.36'
} as const

export type Behaviour = keyof typeof BEHAVIOURS
