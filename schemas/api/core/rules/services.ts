/** Validation of Services; see service-addresses.ts for cluster IPs. */
import { isOn } from '../../../gates.js'
import type { Report } from '../../../language/types.js'
import { validateLabels } from '../../../meta/metadata.js'
import { sameValue } from '../../../language/values.js'
import { dnsLabel, dnsSubdomain, qualifiedName } from '../../../names.js'
import {
  duplicate, forbidden, forgiving, invalid, checkName, notSupported, required, requiredName
} from '../../../rules/findings.js'
import { ambiguity } from '../../../rules/address-forms.js'
import { ipAddress, parseAddress, parseRange, validateNonSpecialAddress } from '../../../rules/net.js'
import { validatePort, validatePortNumber } from '../../../rules/ports.js'
import { isHeadless, validateServiceAddresses } from './service-addresses.js'
import { EXPOSED_SINCE, needsHealthCheckPort } from '../service-types.js'
import type { Service, ServicePort, ServiceSpec } from '../services.js'

const SOURCE_RANGES = 'service.beta.orch.io/load-balancer-source-ranges'
/** The node agent's port must not be exposed. */
const NODE_AGENT_PORT = 10250
const POLICIES = ['Cluster', 'Local']
const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const PROTOCOLS = ['SCTP', 'TCP', 'UDP']
const DISTRIBUTIONS = ['PreferClose', 'PreferSameNode', 'PreferSameZone']
const IP_MODES = ['Proxy', 'VIP']
const AFFINITIES = ['ClientIP', 'None']
const MAX_AFFINITY_SECONDS = 86400

export function validateService (service: Service, report: Report): void {
  const { spec } = service
  validateByType(spec, report)
  validatePorts(spec, report)
  validateLabels(spec.selector, 'spec.selector', report)
  validateAffinity(spec, report)
  validateServiceAddresses(spec, report)
  for (const [index, ip] of (spec.externalIPs ?? []).entries()) {
    const at = `spec.externalIPs[${index}]`
    if (parseAddress(ip) === undefined) checkName(report, at, ip, ipAddress)
    else validateNonSpecialAddress(ip, at, report)
  }
  validateKnown(report, 'spec.type', spec.type ?? '', TYPES)
  validateNodePorts(spec, report)
  validateSourceRanges(service, report)
  validateTopology(service, report)
  validateLoadBalancer(spec, report)
  validateExternalTraffic(spec, report)
  const { internalTrafficPolicy: internal } = spec
  if (internal !== undefined) validateKnown(report, 'spec.internalTrafficPolicy', internal, POLICIES)
  const { trafficDistribution: distribution } = spec
  if (distribution !== undefined) {
    const known = isOn(report, 'PreferSameTrafficDistribution') ? DISTRIBUTIONS : DISTRIBUTIONS.slice(0, 1)
    validateKnown(forgiving(report), 'spec.trafficDistribution', distribution, known)
  }
}

/** Findings about load balancers. Other services keep those that an earlier release let them have. */
export function validateServiceStatus ({ spec, status }: Service, old: Service, report: Report): void {
  if (!isOn(report, 'LoadBalancerIPMode') || sameValue(status.loadBalancer, old.status.loadBalancer)) return
  const at = 'status.loadBalancer.ingress'
  const { ingress = [] } = status.loadBalancer
  if (spec.type !== 'LoadBalancer' && ingress.length > 0) {
    return forbidden(report, at, "may only be used when `spec.type` is 'LoadBalancer'")
  }
  ingress.forEach(({ ip = '', ipMode }, index) => {
    const field = `${at}[${index}].ipMode`
    if (ip !== '' && ipMode === undefined) required(report, field, 'must be specified when `ip` is set')
    else if (ip === '' && ipMode !== undefined) forbidden(report, field, 'may not be specified when `ip` is not set')
    else if (ipMode !== undefined) validateKnown(report, field, ipMode, IP_MODES)
  })
}

function validateByType (spec: ServiceSpec, report: Report): void {
  const { type, ports = [] } = spec
  if (ports.length === 0 && !isHeadless(spec) && type !== 'ExternalName') required(report, 'spec.ports')
  if (type === 'LoadBalancer') {
    for (const [index, { port }] of ports.entries()) {
      if (port === NODE_AGENT_PORT && !isOn(report, 'ServiceMayTakeAgentPort')) {
        invalid(
          forgiving(report), `spec.ports[${index}]`, port,
          `may not expose port ${NODE_AGENT_PORT} externally since it is used by the node agent`
        )
      }
    }
  }
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(spec)) {
    invalid(report, 'spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`)
  }
  if (type !== 'ExternalName') return
  for (const field of ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const) {
    if ((spec[field]?.length ?? 0) > 0) forbidden(report, `spec.${field}`, 'may not be set for ExternalName services')
  }
  // A trailing dot marks a fully qualified name.
  requiredName(report, 'spec.externalName', spec.externalName?.replace(/\.$/, ''), dnsSubdomain)
}

function validateKnown (report: Report, field: string, value: string, known: readonly string[]): void {
  if (!known.includes(value)) notSupported(report, field, value, known)
}

function validatePorts ({ ports = [] }: ServiceSpec, report: Report): void {
  const names = new Set<string>()
  ports.forEach((port, index) => { validatePortItself(port, ports.length > 1, names, `spec.ports[${index}]`, report) })
}

/** No port and no node port may occur twice. */
function validateNodePorts ({ type, ports = [] }: ServiceSpec, report: Report): void {
  const [taken, takenOnNodes] = [new Set<string>(), new Set<string>()]
  for (const [index, { protocol = '', port, nodePort = 0 }] of ports.entries()) {
    const at = `spec.ports[${index}]`
    if (nodePort !== 0) {
      if (type === 'ClusterIP') forbidden(report, `${at}.nodePort`, "may not be used when `type` is 'ClusterIP'")
      once(takenOnNodes, `${protocol}/${nodePort}`, () => { duplicate(report, `${at}.nodePort`, nodePort) })
    }
    once(taken, `${protocol}/${port}`, () => { duplicate(report, at, { protocol, port }) })
  }
}

function once (seen: Set<string>, key: string, otherwise: () => void): void {
  if (seen.has(key)) otherwise()
  seen.add(key)
}

function validatePortItself (
  { name = '', port, protocol = '', targetPort, appProtocol }: ServicePort, hasOthers: boolean, names: Set<string>,
  at: string, report: Report
): void {
  if (name !== '') {
    checkName(report, `${at}.name`, name, dnsLabel)
    once(names, name, () => { duplicate(report, `${at}.name`, name) })
  } else if (hasOthers) required(report, `${at}.name`)
  validatePortNumber(report, `${at}.port`, port)
  validateKnown(report, `${at}.protocol`, protocol, PROTOCOLS)
  if (targetPort !== undefined) validatePort(report, `${at}.targetPort`, targetPort)
  if (appProtocol !== undefined) checkName(report, `${at}.appProtocol`, appProtocol, qualifiedName)
}

function validateAffinity ({ sessionAffinity, sessionAffinityConfig: config }: ServiceSpec, report: Report): void {
  const at = 'spec.sessionAffinityConfig'
  validateKnown(report, 'spec.sessionAffinity', sessionAffinity ?? '', AFFINITIES)
  if (sessionAffinity === 'None' && config !== undefined) {
    forbidden(report, at, 'must not be set when session affinity is None')
  }
  if (sessionAffinity !== 'ClientIP') return
  const why = 'when session affinity type is ClientIP'
  if (config === undefined) return required(report, at, why)
  if (config.clientIP === undefined) return required(report, `${at}.clientIP`, why)
  const { timeoutSeconds: seconds } = config.clientIP
  if (seconds === undefined) return required(report, `${at}.clientIP.timeoutSeconds`, why)
  if (seconds <= 0 || seconds > MAX_AFFINITY_SECONDS) {
    invalid(
      report, `${at}.clientIP.timeoutSeconds`, seconds, `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`
    )
  }
}

/** The field takes precedence over the annotation. Upstream's path begins with a capital letter. */
function validateSourceRanges ({ metadata: { annotations = {} }, spec }: Service, report: Report): void {
  const ranges = spec.loadBalancerSourceRanges ?? []
  const annotated = Object.hasOwn(annotations, SOURCE_RANGES) ? annotations[SOURCE_RANGES] : undefined
  if (ranges.length === 0 && annotated === undefined) return
  const [field, value, wanted] = ranges.length > 0
    ? ['spec.LoadBalancerSourceRanges', `[${ranges.join(' ')}]`, ranges]
    : [`metadata.annotations[${SOURCE_RANGES}]`, annotated, annotated?.trim() === '' ? [] : annotated?.split(',') ?? []]
  if (spec.type !== 'LoadBalancer') forbidden(report, field, "may only be used when `type` is 'LoadBalancer'")
  const wrong = (range: string): boolean => parseRange(range.trim()) === undefined
  if (!isOn(report, 'ServiceRangesAreToldApart')) {
    if (wanted.some(wrong)) {
      invalid(report, field, value, 'must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ')
    }
    return
  }
  wanted.forEach((range, index) => {
    const at = ranges.length > 0 ? `${field}[${index}]` : field
    if (wrong(range)) invalid(report, at, range, 'must be a valid CIDR value')
    else if (ranges.length === 0) checkForm(range.trim(), at, report)
  })
}

/** Of a range in the annotation; fields declare that they hold some. */
function checkForm (range: string, field: string, report: Report): void {
  const problem = isOn(report, 'StrictIPCIDRValidation') ? ambiguity(range, 'cidr') : undefined
  if (problem !== undefined) invalid(forgiving(report), field, range, problem)
}

const HINTS = 'service.orch.io/topology-aware-hints'
const MODE = 'service.orch.io/topology-mode'

function validateTopology ({ metadata: { annotations = {} } }: Service, report: Report): void {
  const [hints, mode] = [HINTS, MODE].map(key => Object.hasOwn(annotations, key) ? annotations[key] : undefined)
  if (hints === undefined || mode === undefined || hints === mode || !isOn(report, 'ServiceAnnotationsAgree')) return
  invalid(report, `metadata.annotations[${MODE}]`, mode, `must match annotations[${HINTS}] when both are specified`)
}

const ELSEWHERE = "may only be used when `type` is 'LoadBalancer'"

function validateLoadBalancer (spec: ServiceSpec, report: Report): void {
  if (spec.type !== 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== undefined) {
    forbidden(report, 'spec.allocateLoadBalancerNodePorts', ELSEWHERE)
  }
  const { type, loadBalancerClass } = spec
  if (loadBalancerClass === undefined) return
  if (type === 'LoadBalancer') checkName(report, 'spec.loadBalancerClass', loadBalancerClass, qualifiedName)
  else forbidden(report, 'spec.loadBalancerClass', ELSEWHERE)
}

function validateExternalTraffic (spec: ServiceSpec, report: Report): void {
  const { type, externalTrafficPolicy = '', healthCheckNodePort = 0 } = spec
  const isExposed = type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0 && isOn(report, EXPOSED_SINCE)
  if (type !== 'LoadBalancer' && type !== 'NodePort' && !isExposed) {
    if (externalTrafficPolicy !== '') {
      invalid(
        forgiving(report), 'spec.externalTrafficPolicy', externalTrafficPolicy,
        "may only be set when `type` is 'NodePort' or 'LoadBalancer'"
      )
    }
  } else if (externalTrafficPolicy === '') required(report, 'spec.externalTrafficPolicy')
  else validateKnown(report, 'spec.externalTrafficPolicy', externalTrafficPolicy, POLICIES)
  if (healthCheckNodePort === 0) return // allocated later if needed
  if (needsHealthCheckPort(spec)) validatePortNumber(report, 'spec.healthCheckNodePort', healthCheckNodePort)
  else {
    invalid(
      report, 'spec.healthCheckNodePort', healthCheckNodePort,
      "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
    )
  }
}
