/** Validation of pods' users, scheduling gates, host names and files of variables, and of resources of whole pods. */
import { isOn } from '../../../gates.js'
import type { Report } from '../../../language/declare.js'
import { compareQuantities } from '../../../meta/quantity.js'
import { dnsSubdomain, qualifiedName } from '../../../names.js'
import { checkName, duplicate, forbidden, invalid, notSupported, tooLong } from '../../../rules/findings.js'
import { isHugePages } from '../../../rules/quantities.js'
import type { PodSpec } from '../pod-spec.js'
import { checkFileKeys } from './env.js'
import { aggregateLimits, aggregateRequests } from './pod-resources.js'
import { checkResourceName } from './resource-names.js'
import { checkResources } from './resources.js'
import { containersOf } from './visit.js'

const MAX_HOST_NAME = 64

export function checkLaterFields (spec: PodSpec, at: string, report: Report): void {
  checkUsers(spec, at, report)
  checkGates(spec, at, report)
  checkHostName(spec, at, report)
  checkFileKeys(spec, at, report)
  if (spec.resources !== undefined) checkPodResources(spec, at, report)
}

/** Users of its own do not go with namespaces of the node, and /proc is not unmasked without them. */
function checkUsers (spec: PodSpec, at: string, report: Report): void {
  if (spec.hostUsers !== false) {
    for (const [{ securityContext }, path] of isOn(report, 'PodUnmasksOnlyForUsers') ? containersOf(spec, at) : []) {
      if (securityContext?.procMount === 'Unmasked') {
        invalid(report, `${path}.securityContext.procMount`, 'Unmasked', '`hostUsers` must be false to use `Unmasked`')
      }
    }
    return
  }
  const detail = 'when `hostUsers` is false'
  if (spec.hostNetwork === true && !isOn(report, 'UserNamespacesHostNetworkSupport')) {
    forbidden(report, `${at}.hostNetwork`, detail)
  }
  // As upstream, with the names of its own language.
  if (spec.hostPID === true) forbidden(report, `${at}.HostPID`, detail)
  if (spec.hostIPC === true) forbidden(report, `${at}.HostIPC`, detail)
  for (const [{ volumeDevices = [] }, path] of containersOf(spec, at)) {
    if (volumeDevices.length > 0) forbidden(report, `${path}.volumeDevices`, detail)
  }
}

function checkGates ({ schedulingGates = [] }: PodSpec, at: string, report: Report): void {
  const seen = new Set<string>()
  schedulingGates.forEach(({ name }, index) => {
    const path = `${at}.schedulingGates[${index}]`
    checkName(report, path, name, qualifiedName)
    if (seen.has(name)) duplicate(report, path, name)
    seen.add(name)
  })
}

function checkHostName (spec: PodSpec, at: string, report: Report): void {
  const { hostnameOverride: name } = spec
  const field = `${at}.hostnameOverride`
  if (name === undefined) return
  if (spec.hostNetwork === true) forbidden(report, field, 'may not be specified when `hostNetwork` is true')
  if (spec.setHostnameAsFQDN === true) {
    forbidden(report, field, 'may not be specified when `setHostnameAsFQDN` is true')
  }
  checkName(report, field, name, dnsSubdomain)
  if (name.length > MAX_HOST_NAME) tooLong(report, field, MAX_HOST_NAME)
}

const SUPPORTED = ['cpu', 'hugepages-', 'memory']

function checkNameForPod (name: string, field: string, report: Report): void {
  const isSupported = name === 'cpu' || name === 'memory' || isHugePages(name)
  if (checkResourceName(name, field, report) && !isSupported) notSupported(report, field, name, SUPPORTED)
}

/** A pod has at least what its containers ask for, and none of them may use more than the pod. */
function checkPodResources (spec: PodSpec, at: string, report: Report): void {
  const { limits = {}, requests = {}, claims = [] } = spec.resources ?? {}
  const path = `${at}.resources`
  if (spec.os?.name === 'windows') return forbidden(report, path, 'cannot be set for a windows pod')
  if (claims.length > 0) forbidden(report, `${path}.claims`, 'claims may not be set for Resources at pod-level')
  checkResources({ limits, requests }, path, report, checkNameForPod)
  const needed = aggregateRequests(spec)
  for (const [name, request] of Object.entries(requests)) {
    const least = needed.get(name)
    if (least !== undefined && compareQuantities(request, least) < 0) {
      invalid(
        report, `${path}.requests[${name}]`, request,
        `must be greater than or equal to aggregate container requests of ${least}`
      )
    }
  }
  for (const [name, most] of Object.entries(limits)) {
    const sum = isHugePages(name) ? aggregateLimits(spec).get(name) : undefined
    if (sum !== undefined && compareQuantities(sum, most) > 0) {
      invalid(
        report, `${path}.limits[${name}]`, most, `must be greater than or equal to aggregate container limits of ${sum}`
      )
    }
    spec.containers?.forEach(({ resources }, index) => {
      const limit = resources.limits?.[name]
      if (limit === undefined || compareQuantities(limit, most) <= 0) return
      // Upstream's path.
      invalid(
        report, `${path}.containers[${index}][${name}].limits`, limit,
        `must be less than or equal to pod limits of ${most}`
      )
    })
  }
}
