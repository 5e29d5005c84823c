/**
 * What the server answers or does otherwise since a release of the public project, where neither a gate nor a
 * declaration (`since`) says so. A behaviour is asked for by its name, like a gate. Its first word is what it concerns.
 */
export const BEHAVIOURS = {
  AuditLogIsKeptWithoutSize: '1.36',
  AutoscalerKeepsSentMetrics: '1.36',
  AutoscalerNamesGroupOfTarget: '1.36',
  CertificateIdentifiesUser: '1.32',
  ClaimGetsClassLater: '1.28',
  CronJobHasNoZoneInSchedule: '1.27',
  DefinitionNeedsCertificates: '1.36',
  DefinitionFormatsAreWarnedOf: '1.34',
  DefinitionFormatsHaveRanges: '1.34',
  DiscoveryFillsSingularNames: '1.27',
  FairnessLendsSeats: '1.29',
  Http2HasHundredStreams: '1.29',
  JobMayChangeGates: '1.27',
  JobStatusFollowsRules: '1.32',
  KeyServiceV1IsGated: '1.29',
  LeaseHasHostname: '1.26',
  ListParametersNameCauses: '1.36',
  LogStreamsAreKnown: '1.32',
  MetricsHaveLaterStages: '1.36',
  MissingWithUidIsNotFound: '1.36',
  NodeKeepsOwnCertificate: '1.31',
  NodeKeepsOwners: '1.34',
  NodeKeepsPodSources: '1.29',
  OpenApiMergesReferences: '1.31',
  OriginsAreAnchored: '1.27',
  PodGracePeriodIsPositive: '1.27',
  PodStatusFollowsRules: '1.36',
  PodUnmasksOnlyForUsers: '1.30',
  ServiceMayTakeAgentPort: '1.36',
  StatefulSetIsValidatedWhole: '1.33',
  StoredFormOmitsUnsetTimes: '1.36',
  TolerationsNameAllOperators: '1.36',
  TooLongIsInBytes: '1.32',
  WarningsOfTypes: '1.36',
  WatchRefusesInStream: '1.36'
} as const

export type Behaviour = keyof typeof BEHAVIOURS
