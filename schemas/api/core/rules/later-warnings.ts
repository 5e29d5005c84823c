/** Warnings about pods, names and services that came after release 1.24. */
import type { Gates } from '../../../gates.js'
import { dnsLabel } from '../../../names.js'
import type { ObjectMeta } from '../../../meta/object.js'
import type { Container } from '../containers.js'
import type { PodSpec } from '../pod-spec.js'
import type { Service } from '../services.js'
import { containersOf } from './visit.js'

const LATER = '1.36'
type Warn = (text: string) => void

const VOLUMES = [
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+']
] as const

export function warnOfLater (spec: PodSpec, at: string, gates: Gates | undefined, warn: Warn): void {
  if (gates?.enabled(LATER) !== true) return
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) {
    warn(`${at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`)
  }
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    for (const [source, text] of VOLUMES) {
      if (volume[source] !== undefined) warn(`${at}.volumes[${index}].${source}: ${text}`)
    }
  }
  warnOfSelectors(spec, at, warn)
  for (const [{ ports }, path] of containersOf(spec, at)) warnOfPorts(ports ?? [], `${path}.ports`, warn)
}

/** Nothing selects no pods, where people may expect all of them. */
function warnOfSelectors ({ topologySpreadConstraints = [], affinity }: PodSpec, at: string, warn: Warn): void {
  const check = ({ labelSelector }: { readonly labelSelector?: unknown }, path: string): void => {
    if (labelSelector === undefined) warn(`${path}.labelSelector: a null labelSelector results in matching no pod`)
  }
  for (const [index, constraint] of topologySpreadConstraints.entries()) {
    check(constraint, `${at}.topologySpreadConstraints[${index}]`)
  }
  for (const kind of ['podAffinity', 'podAntiAffinity'] as const) {
    const {
      requiredDuringSchedulingIgnoredDuringExecution: required = [],
      preferredDuringSchedulingIgnoredDuringExecution: preferred = []
    } = affinity?.[kind] ?? {}
    const path = `${at}.affinity.${kind}`
    for (const [index, term] of required.entries()) {
      check(term, `${path}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`)
    }
    for (const [index, { podAffinityTerm }] of preferred.entries()) {
      check(podAffinityTerm, `${path}.preferredDuringSchedulingIgnoredDuringExecution[${index}].podAffinityTerm`)
    }
  }
}

function warnOfPorts (ports: NonNullable<Container['ports']>, at: string, warn: Warn): void {
  const seen = new Map<string, number>()
  for (const [index, { containerPort, protocol = 'TCP', hostIP = '', hostPort = 0 }] of ports.entries()) {
    if (hostIP !== '' && hostPort === 0) warn(`${at}[${index}]: hostIP set without hostPort`)
    const key = `${containerPort}/${protocol}`
    const first = seen.get(key)
    if (first === undefined) seen.set(key, index)
    else warn(`${at}[${index}]: duplicate port definition with ${at}[${first}]`)
  }
}

/** A name that becomes part of the names of pods, and of their host names. */
export function nameWarnings ({ name = '' }: ObjectMeta, gates: Gates | undefined): string[] {
  const wrong = gates?.enabled(LATER) === true ? dnsLabel(name) : []
  return wrong.length === 0
    ? []
    : [
        'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS ' +
          `label is recommended: [${wrong.join(' ')}]`
      ]
}

const HINTS = 'service.orch.io/topology-aware-hints'

export function serviceWarnings ({ metadata, spec }: Service, gates: Gates | undefined): string[] {
  if (gates?.enabled(LATER) !== true) return []
  const warnings: string[] = []
  const warn: Warn = text => { warnings.push(text) }
  const { type, externalIPs = [], externalName = '', loadBalancerIP = '', sessionAffinity = 'None' } = spec
  if (metadata.annotations !== undefined && Object.hasOwn(metadata.annotations, HINTS)) {
    warn(`metadata.annotations[${HINTS}]: deprecated, please use service.orch.io/topology-mode instead`)
  }
  const isHeadless = spec.clusterIP === 'None'
  if (isHeadless) {
    const ignored = Object.entries({
      loadBalancerIP: loadBalancerIP !== '', externalIPs: externalIPs.length > 0,
      sessionAffinity: sessionAffinity !== 'None'
    })
    for (const [field, isSet] of ignored) if (isSet) warn(`spec.${field} is ignored when spec.clusterIP is "None"`)
  } else if (type !== 'ExternalName' && externalIPs.length > 0) {
    warn('spec.externalIPs is deprecated, it lets whoever writes a service take over addresses')
  }
  if (type === 'ExternalName' && externalIPs.length > 0) {
    warn('spec.externalIPs is ignored when spec.type is "ExternalName"')
  }
  if (type !== 'ExternalName' && externalName !== '') {
    warn('spec.externalName is ignored when spec.type is not "ExternalName"')
  }
  if (spec.trafficDistribution === 'PreferClose') {
    warn('spec.trafficDistribution: PreferClose is deprecated, use PreferSameZone instead')
  }
  return warnings
}
