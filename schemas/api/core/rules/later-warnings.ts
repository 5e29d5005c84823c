/** Warnings about pods, names and services that came after release 1.24. */
import type { Gates } from '../../../gates.js'
import { dnsLabel, labelValue } from '../../../names.js'
import type { ObjectMeta } from '../../../meta/object.js'
import { warnedLater, type Warn } from '../../../rules/warned.js'
import type { Container } from '../containers.js'
import type { PodSpec } from '../pod-spec.js'
import type { Service } from '../services.js'
import { warnOfClaim } from './object-warnings.js'
import { warnOfPaths } from './path-warnings.js'
import { containersOf } from './visit.js'

const LATER = '1.36'

export function warnOfLater (spec: PodSpec, at: string, warn: Warn): void {
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) {
    warn(`${at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`)
  }
  warnOfSelectors(spec, at, warn)
  warnOfPreferences(spec, at, warn)
  warnOfPaths(spec, at, warn)
  for (const [index, { ephemeral }] of (spec.volumes ?? []).entries()) {
    const claim = ephemeral?.volumeClaimTemplate
    if (claim !== undefined) warnOfClaim(claim.spec, `${at}.volumes[${index}].ephemeral.volumeClaimTemplate.spec`, warn)
  }
  const ports = new Ports(warn)
  for (const [container, path] of containersOf(spec, at)) {
    ports.check(container.ports ?? [], `${path}.ports`)
    warnOfEnv(container.env ?? [], `${path}.env`, warn)
  }
}

/** A later variable may repeat a name to make its value longer, as `$(PATH):/more` does. */
function warnOfEnv (env: NonNullable<Container['env']>, at: string, warn: Warn): void {
  const seen = new Set<string>()
  for (const [index, { name, value = '' }] of env.entries()) {
    const reference = `$(${name})`
    const isLonger = value.includes(reference) && value.length > reference.length
    if (seen.has(name) && !isLonger) {
      warn(`${at}[${index}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using ` +
        'apply')
    }
    seen.add(name)
  }
}

/** Required terms are refused for such values. */
function warnOfPreferences ({ affinity }: PodSpec, at: string, warn: Warn): void {
  const { preferredDuringSchedulingIgnoredDuringExecution: preferred = [] } = affinity?.nodeAffinity ?? {}
  for (const [index, { preference: { matchExpressions = [] } }] of preferred.entries()) {
    const path = `${at}.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[${index}].preference`
    for (const [place, { values = [] }] of matchExpressions.entries()) {
      for (const [which, value] of values.entries()) {
        const wrong = labelValue(value)
        if (wrong.length > 0) warn(`${path}.matchExpressions[${place}].values[${which}]: ${wrong.join('; ')}`)
      }
    }
  }
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

interface Port { readonly at: string, readonly hostIP: string, readonly hostPort: number }

const isAny = (ip: string): boolean => ['', '0.0.0.0', '::'].includes(ip)

/** Ports of all containers of a pod. */
class Ports {
  readonly #warn: Warn
  readonly #byPort = new Map<string, Port[]>()
  readonly #byName = new Map<string, string>()

  constructor (warn: Warn) { this.#warn = warn }

  check (ports: NonNullable<Container['ports']>, at: string): void {
    for (const [index, { name = '', containerPort, protocol = 'TCP', hostIP = '', hostPort = 0 }] of ports.entries()) {
      const port = { at: `${at}[${index}]`, hostIP, hostPort }
      if (hostIP !== '' && hostPort === 0) this.#warn(`${port.at}: hostIP set without hostPort`)
      this.#compare(port, `${containerPort}/${protocol}`)
      this.#named(name, port.at)
    }
  }

  #compare (port: Port, key: string): void {
    const others = this.#byPort.get(key)
    if (others === undefined) {
      this.#byPort.set(key, [port])
      return
    }
    for (const other of others.slice(0, MAX_COMPARED)) {
      const how = howTheyMeet(port, other)
      if (how !== undefined) this.#warn(`${port.at}: ${how} port definition with ${other.at}`)
    }
    others.push(port)
  }

  #named (name: string, at: string): void {
    if (name === '') return
    const other = this.#byName.get(name)
    if (other === undefined) this.#byName.set(name, at)
    else {
      this.#warn(`${at}: duplicate port name ${JSON.stringify(name)} with ${other}, services and probes that select ` +
        `ports by name will use ${other}`)
    }
  }
}

/** Of thousands of equal ports only the first are compared. */
const MAX_COMPARED = 10

function howTheyMeet (one: Port, other: Port): string | undefined {
  if (one.hostIP === other.hostIP && one.hostPort === other.hostPort) return 'duplicate'
  if (one.hostPort === 0 || other.hostPort === 0) return 'overlapping'
  if (one.hostPort !== other.hostPort) return undefined
  return isAny(one.hostIP) || isAny(other.hostIP) ? 'dangerously ambiguous' : undefined
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

export const serviceWarnings = warnedLater<Service>(({ metadata, spec }, _old, warn) => {
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
})
