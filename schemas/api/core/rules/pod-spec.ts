/** Validation of PodSpec. */
import { checkName, checkRange, forgiving, invalid, notSupported, required } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { validateLabels } from '../../../meta/metadata.js'
import { dnsLabel, dnsSubdomain, qualifiedName, type NameRule } from '../../../names.js'
import type { PodSpec } from '../pod-spec.js'
import { checkContainers, checkEphemeralContainers, checkInitContainers } from './containers.js'
import { checkPodClaims } from './device-claims.js'
import { checkLaterFields } from './later-fields.js'
import { checkDNS, checkHostAliases } from './network.js'
import { checkPortsOfHost } from './ports.js'
import { checkResources } from './resources.js'
import { checkSpreads } from './scheduling.js'
import { checkHostSysctls } from './security.js'
import { checkVolumes } from './volumes.js'
import { checkHostProcess, checkSystem } from './windows.js'

const PREEMPTIONS = ['PreemptLowerPriority', 'Never']
const MAX_SECONDS = 2 ** 31 - 1

export function validatePodSpec (spec: PodSpec, at: string, report: Report): void {
  const {
    containers = [], initContainers = [], ephemeralContainers = [], readinessGates = [], preemptionPolicy, overhead,
    activeDeadlineSeconds
  } = spec
  const volumes = checkVolumes(spec.volumes ?? [], `${at}.volumes`, report)
  const parts = { volumes, claims: checkPodClaims(spec, at, report), spec }
  checkContainers(containers, parts, `${at}.containers`, report)
  checkInitContainers(initContainers, parts, `${at}.initContainers`, report)
  checkEphemeralContainers(ephemeralContainers, parts, `${at}.ephemeralContainers`, report)
  validateLabels(spec.nodeSelector, `${at}.nodeSelector`, report)
  if (spec.hostNetwork === true) checkPortsOfHost(containers, `${at}.containers`, report)
  if (spec.hostPID === true && spec.shareProcessNamespace === true) {
    invalid(
      report, `${at}.securityContext.shareProcessNamespace`, true,
      'ShareProcessNamespace and HostPID cannot both be enabled'
    )
  }
  checkDNS(spec.dnsConfig, spec.dnsPolicy, `${at}.dnsConfig`, report)
  readinessGates.forEach(({ conditionType }, index) =>
    checkName(report, `${at}.readinessGates[${index}].conditionType`, conditionType, qualifiedName))
  checkSpreads(spec.topologySpreadConstraints ?? [], `${at}.topologySpreadConstraints`, report)
  checkHostProcess(spec, at, report)
  checkNames(spec, at, report)
  if (activeDeadlineSeconds !== undefined) {
    checkRange(report, `${at}.activeDeadlineSeconds`, activeDeadlineSeconds, 1, MAX_SECONDS)
  }
  checkHostAliases(spec.hostAliases ?? [], `${at}.hostAliases`, report)
  if (preemptionPolicy === '') required(report, `${at}.preemptionPolicy`)
  else if (preemptionPolicy !== undefined && !PREEMPTIONS.includes(preemptionPolicy)) {
    notSupported(report, `${at}.preemptionPolicy`, preemptionPolicy, PREEMPTIONS)
  }
  if (overhead !== undefined) checkResources({ limits: overhead }, `${at}.overhead`, report)
  checkSystem(spec, at, report)
  checkHostSysctls(spec, at, forgiving(report))
  checkLaterFields(spec, at, report)
}

const NAMES: ReadonlyArray<readonly [field: 'serviceAccountName' | 'nodeName' | 'hostname' | 'subdomain'
  | 'priorityClassName', rule: NameRule]> = [
  ['serviceAccountName', dnsSubdomain], ['nodeName', dnsSubdomain], ['hostname', dnsLabel], ['subdomain', dnsLabel],
  ['priorityClassName', dnsSubdomain]
]

function checkNames (spec: PodSpec, at: string, report: Report): void {
  for (const [field, rule] of NAMES) {
    const name = spec[field] ?? ''
    if (name !== '') checkName(report, `${at}.${field}`, name, rule)
  }
  if (spec.runtimeClassName !== undefined) {
    checkName(report, `${at}.runtimeClassName`, spec.runtimeClassName, dnsSubdomain)
  }
}
