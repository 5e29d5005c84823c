/** Validation of Ingresses and IngressClasses. */
import { isOn } from '../../../gates.js'
import type { Report } from '../../../language/types.js'
import { dns1035Label, dnsLabel, dnsSubdomain, pathSegment, portName, wildcardSubdomain } from '../../../names.js'
import { forbidden, invalid, checkName, notSupported, required, requiredName } from '../../../rules/findings.js'
import { parseAddress } from '../../../rules/net.js'
import { validatePortNumber } from '../../../rules/ports.js'
import type { HTTPIngressPath, Ingress, IngressBackend, IngressRule, IngressSpec } from '../ingresses.js'

const CLASS_ANNOTATION = 'orch.io/ingress.class'
const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix']
const NEVER_WITHIN = ['//', '/./', '/../', '%2f', '%2F']
const NEVER_LAST = ['/..', '/.']

const isWildcard = ({ host = '' }: IngressRule): boolean => host.includes('*')

export function validateIngressSpec (spec: IngressSpec, at: string, report: Report): void {
  const { rules = [], tls = [], defaultBackend, ingressClassName } = spec
  if (rules.length === 0 && defaultBackend === undefined) {
    invalid(report, at, rules, 'either `defaultBackend` or `rules` must be specified')
  }
  if (defaultBackend !== undefined) validateBackend(defaultBackend, `${at}.defaultBackend`, report)
  for (const [index, { host = '' }] of rules.entries()) {
    const field = `${at}.rules[${index}].host`
    if (host === '') continue
    if (parseAddress(host) !== undefined) invalid(report, field, host, 'must be a DNS name, not an IP address')
    checkName(report, field, host, host.includes('*') ? wildcardSubdomain : dnsSubdomain)
  }
  for (const [index, { hosts = [] }] of tls.entries()) {
    for (const [nth, host] of hosts.entries()) {
      checkName(
        report, `${at}.tls[${index}].hosts[${nth}]`, host, host.includes('*') ? wildcardSubdomain : dnsSubdomain
      )
    }
  }
  if (ingressClassName !== undefined) checkName(report, `${at}.ingressClassName`, ingressClassName, dnsSubdomain)
}

export function newIngressWarnings ({ metadata: { annotations = {} }, spec }: Ingress): string[] {
  return Object.hasOwn(annotations, CLASS_ANNOTATION) && spec.ingressClassName === undefined
    ? [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`]
    : []
}

export function validateIngressCreate ({ metadata: { annotations = {} }, spec }: Ingress, report: Report): void {
  const isSame = annotations[CLASS_ANNOTATION] === spec.ingressClassName && isOn(report, 'IngressMayNameClassTwice')
  if (Object.hasOwn(annotations, CLASS_ANNOTATION) && spec.ingressClassName !== undefined && !isSame) {
    invalid(
      report, `annotations.${CLASS_ANNOTATION}`, annotations[CLASS_ANNOTATION],
      'can not be set when the class field is set to another class'
    )
  }
  validateRules(spec, () => true, report)
  validateSecretNames(spec, report)
}

/**
 * Secret names and wildcard hosts' paths stay valid if the old object has invalid ones, which older servers accepted.
 */
export function validateIngressUpdate (spec: IngressSpec, old: IngressSpec, report: Report): void {
  const wrong = (run: (note: Report) => void): boolean => {
    let isWrong = false
    run(() => { isWrong = true })
    return isWrong
  }
  const lenient = wrong(note => { validateRules(old, isWildcard, note) })
  validateRules(spec, rule => !lenient || !isWildcard(rule), report)
  if (!wrong(note => { validateSecretNames(old, note) })) validateSecretNames(spec, report)
}

function validateSecretNames ({ tls = [] }: IngressSpec, report: Report): void {
  for (const [index, { secretName = '' }] of tls.entries()) {
    if (secretName !== '') checkName(report, `spec.tls[${index}].secretName`, secretName, dnsSubdomain)
  }
}

function validateRules ({ rules = [] }: IngressSpec, wanted: (rule: IngressRule) => boolean, report: Report): void {
  for (const [index, rule] of rules.entries()) {
    if (rule.http === undefined || !wanted(rule)) continue
    const at = `spec.rules[${index}].http.paths`
    const { paths = [] } = rule.http
    if (paths.length === 0) required(report, at)
    for (const [nth, path] of paths.entries()) validatePath(path, `${at}[${nth}]`, report)
  }
}

function validatePath ({ path = '', pathType, backend }: HTTPIngressPath, at: string, report: Report): void {
  if (pathType === undefined) return // reported as required by the declaration
  if (!PATH_TYPES.includes(pathType)) notSupported(report, `${at}.pathType`, pathType, PATH_TYPES)
  const exact = pathType === 'Exact' || pathType === 'Prefix'
  if ((exact || (pathType === 'ImplementationSpecific' && path !== '')) && !path.startsWith('/')) {
    invalid(report, `${at}.path`, path, 'must be an absolute path')
  }
  if (exact) {
    for (const part of NEVER_WITHIN) {
      if (path.includes(part)) invalid(report, `${at}.path`, path, `must not contain '${part}'`)
    }
    for (const part of NEVER_LAST) {
      if (path.endsWith(part)) invalid(report, `${at}.path`, path, `cannot end with '${part}'`)
    }
  }
  validateBackend(backend, `${at}.backend`, report)
}

function validateBackend ({ service, resource }: IngressBackend, at: string, report: Report): void {
  if (service !== undefined && resource !== undefined) {
    return invalid(report, at, '', 'cannot set both resource and service backends')
  }
  if (resource !== undefined) return validateResource(resource, `${at}.resource`, report)
  if (service === undefined) return invalid(report, at, '', 'resource or service backend is required')
  const rule = isOn(report, 'RelaxedServiceNameValidation') ? dnsLabel : dns1035Label
  requiredName(report, `${at}.service.name`, service.name, rule)
  const { name = '', number = 0 } = service.port
  if (name !== '' && number !== 0) invalid(report, at, '', 'cannot set both port name & port number')
  else if (name !== '') checkName(report, `${at}.service.port.name`, name, portName)
  else if (number !== 0) validatePortNumber(report, `${at}.service.port.number`, number)
  else required(report, at, 'port name or number is required')
}

interface TypedReference { readonly apiGroup?: string | undefined, readonly kind: string, readonly name: string }

/** Also reports an empty kind and name, which no declaration does for a backend. */
function validateResource (reference: TypedReference, at: string, report: Report): void {
  validateTypedReference(reference, at, report)
  for (const field of ['kind', 'name'] as const) {
    if (reference[field] === '') required(report, `${at}.${field}`, `${field} is required`)
  }
}

/** The declarations report an empty kind and name. */
function validateTypedReference ({ apiGroup, kind, name }: TypedReference, at: string, report: Report): void {
  if (apiGroup !== undefined) checkName(report, `${at}.apiGroup`, apiGroup, dnsSubdomain)
  if (kind !== '') checkName(report, `${at}.kind`, kind, pathSegment)
  if (name !== '') checkName(report, `${at}.name`, name, pathSegment)
}

const CONTROLLER_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const WHOLE_PATH = new RegExp(`^${CONTROLLER_PATH}$`)

/** Controller of an IngressClass, `domain/path`. The value of an error is the invalid part. */
export function validateController (name: string | undefined, at: string, report: Report): void {
  if (name === undefined || name === '') return required(report, at)
  const slash = name.indexOf('/')
  if (slash < 1 || slash === name.length - 1) {
    return invalid(report, at, name, 'must be a domain-prefixed path (such as "acme.io/foo")')
  }
  const [domain, path] = [name.slice(0, slash), name.slice(slash + 1)]
  checkName(report, at, domain, dnsSubdomain)
  if (!WHOLE_PATH.test(path)) {
    invalid(report, at, path, `Invalid path (regex used for validation is '${CONTROLLER_PATH}')`)
  }
}

interface Parameters extends TypedReference {
  readonly scope?: string | undefined, readonly namespace?: string | undefined
}

/** Parameters of an IngressClass: a reference to a cluster-scoped or namespaced object. */
export function validateParameters (parameters: Parameters, at: string, report: Report): void {
  const { scope = '', namespace } = parameters
  validateTypedReference(parameters, at, report)
  if (scope === 'Namespace') {
    if (namespace === undefined) required(report, `${at}.namespace`, "`parameters.scope` is set to 'Namespace'")
    else checkName(report, `${at}.namespace`, namespace, dnsLabel)
  } else if (scope !== 'Cluster') notSupported(report, `${at}.scope`, scope, ['Cluster', 'Namespace'])
  else if (namespace !== undefined) forbidden(report, `${at}.namespace`, "`parameters.scope` is set to 'Cluster'")
}
