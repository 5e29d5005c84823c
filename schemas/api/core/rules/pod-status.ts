/** Validation of pod status updates. */
import { isOn } from '../../../gates.js'
import { checkName, duplicate, forbidden, invalid, notNegative } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { dnsSubdomain, qualifiedName } from '../../../names.js'
import type { Pod } from '../pods.js'
import type { ContainerStatus, PodStatus } from '../pod-status.js'
import { checkPodAnnotationChanges, checkPodAnnotations } from './annotations.js'
import { checkExtendedClaim } from './device-claims.js'
import { mayStart, type MayStart } from './restarts.js'
import { parseAddress } from '../../../rules/net.js'
import { checkContainerStatuses } from './container-status.js'

const OWN_CONDITIONS = ['PodScheduled', 'Ready', 'Initialized']

export function validatePodStatusUpdate (pod: Pod, old: Pod, report: Report): void {
  const { metadata, spec, status } = pod
  checkPodAnnotationChanges(metadata.annotations, old.metadata.annotations, 'metadata.annotations', report)
  checkPodAnnotations(metadata.annotations, spec, 'metadata.annotations', report)
  // Upstream's path is below metadata in 1.24.
  const conditions = isOn(report, 'PodFaultsNamePlaces') ? 'status.conditions' : 'metadata.conditions'
  status.conditions?.forEach(({ type }, index) => {
    if (!OWN_CONDITIONS.includes(type)) checkName(report, `${conditions}[${index}].Type`, type, qualifiedName)
  })
  const { nominatedNodeName: node = '' } = status
  if (node !== '' && node !== (old.status.nominatedNodeName ?? '')) {
    checkName(report, 'status.nominatedNodeName', node, dnsSubdomain)
    if ((old.spec.nodeName ?? '') !== '' && isOn(report, 'ClearingNominatedNodeNameAfterBinding')) {
      forbidden(report, 'status.nominatedNodeName', 'may not be set on pods that are already bound to a node')
    }
  }
  for (const [list, containers] of [
    ['containerStatuses', old.spec.containers ?? []], ['initContainerStatuses', old.spec.initContainers ?? []]
  ] as const) {
    checkEnded(status[list], old.status[list], mayStart(old.spec, containers, report), `status.${list}`, report)
  }
  checkEnded(
    status.ephemeralContainerStatuses, old.status.ephemeralContainerStatuses, () => false,
    'status.ephemeralContainerStatuses', report
  )
  checkAddresses(status, 'status.podIPs', report)
  checkLaterStatus(pod, old, report)
}

/** What release 1.36 checks besides. */
function checkLaterStatus ({ spec, status }: Pod, { status: old }: Pod, report: Report): void {
  if (!isOn(report, 'PodStatusFollowsRules')) return
  checkContainerStatuses(spec, status, report)
  if (old.qosClass !== undefined && status.qosClass !== old.qosClass) {
    invalid(report, 'status.qosClass', status.qosClass ?? null, 'field is immutable')
  }
  notNegative(report, 'status.observedGeneration', status.observedGeneration)
  status.conditions?.forEach(({ observedGeneration }, index) => {
    notNegative(report, `status.conditions[${index}].observedGeneration`, observedGeneration)
  })
  checkHostAddresses(status, report)
  const claims = new Set(spec.resourceClaims?.map(({ name }) => name))
  const seen = new Set<string>()
  status.resourceClaimStatuses?.forEach(({ name, resourceClaimName }, index) => {
    const path = `status.resourceClaimStatuses[${index}]`
    if (seen.has(name)) duplicate(report, `${path}.name`, name)
    seen.add(name)
    if (!claims.has(name)) {
      invalid(report, `${path}.name`, name, 'must match the name of an entry in `spec.resourceClaims`')
    }
    if (resourceClaimName !== undefined) checkName(report, `${path}.name`, resourceClaimName, dnsSubdomain)
  })
  checkExtendedClaim(spec, status, report)
}

/** The first address of the node is that of hostIP. */
function checkHostAddresses ({ hostIP = '', hostIPs }: PodStatus, report: Report): void {
  if (hostIPs?.[0] === undefined) return
  if (hostIP !== hostIPs[0].ip) {
    invalid(report, 'status.hostIPs[0].ip', hostIPs[0].ip, 'must be equal to `hostIP`')
  }
  checkFamilies(hostIPs, 'status.hostIPs', report)
}

/** A terminated container that is not to be restarted must stay terminated. */
function checkEnded (
  statuses: readonly ContainerStatus[] = [], old: readonly ContainerStatus[] = [], mayStartAgain: MayStart, at: string,
  report: Report
): void {
  const running = new Set(statuses.filter(({ state }) => state.terminated === undefined).map(({ name }) => name))
  old.forEach(({ name, state: { terminated } }, index) => {
    if (terminated === undefined || !running.has(name) || mayStartAgain(name, terminated.exitCode)) return
    forbidden(report, `${at}[${index}].state`, 'may not be transitioned to non-terminated state')
  })
}

/** At most one address of each family. */
function checkAddresses ({ podIPs = [] }: PodStatus, at: string, report: Report): void {
  checkFamilies(podIPs, at, report)
}

function checkFamilies (podIPs: ReadonlyArray<{ readonly ip?: string | undefined }>, at: string, report: Report): void {
  podIPs.forEach(({ ip = '' }, index) => {
    if (parseAddress(ip) === undefined) {
      invalid(report, `${at}[${index}]`, ip, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')
    }
  })
  const families = podIPs.map(({ ip = '' }) => parseAddress(ip)?.length)
  if (podIPs.length > 2 || (podIPs.length === 2 && families[0] === families[1])) {
    invalid(report, at, podIPs, 'may specify no more than one IP for each IP family')
  }
  if (isOn(report, 'AddressFaultsAreToldOnce')) return
  const seen = new Set<string>()
  podIPs.forEach((address, index) => {
    const { ip = '' } = address
    if (seen.has(ip)) duplicate(report, `${at}[${index}]`, address)
    seen.add(ip)
  })
}
