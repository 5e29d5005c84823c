/** Ingress (v1): routes requests from outside the cluster to services. */
import { age, join, name, NONE, text, type Column } from '../../columns.js'
import { int32, one, inline, string, list, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { loadBalancerAddresses, LoadBalancerStatus } from '../core/load-balancers.js'
import { TypedLocalObjectReference } from '../core/references-to-data.js'
import { resource } from '../../resource.js'
import {
  newIngressWarnings, validateIngressCreate, validateIngressSpec, validateIngressUpdate
} from './rules/ingresses.js'
import { kind, message } from './package.js'

export type ServiceBackendPort = Static<typeof ServiceBackendPort>
export const ServiceBackendPort = message('ServiceBackendPort', 'A port of a service, by name or number.', {
  name: string(1, 'Name of the port; not together with number.'),
  number: int32(2, 'Number of the port; not together with name.')
}, { structType: { since: '1.31', becomes: 'atomic' } })

export type IngressServiceBackend = Static<typeof IngressServiceBackend>
export const IngressServiceBackend = message('IngressServiceBackend', 'A service and its port.', {
  name: string(1, 'Name of the service, in the namespace of the ingress.', { required: true, mayBeEmpty: true }),
  port: one(2, 'Port of the service.', ServiceBackendPort)
})

export type IngressBackend = Static<typeof IngressBackend>
export const IngressBackend = message('IngressBackend', 'Where requests go: a service or another object.', {
  service: one(
    4, 'Service that gets the requests; not together with resource.', IngressServiceBackend, { pointer: true }
  ),
  resource: one(3, 'Object that gets the requests; not together with service.', TypedLocalObjectReference, {
    pointer: true, ruled: true
  })
})

export type HTTPIngressPath = Static<typeof HTTPIngressPath>
export const HTTPIngressPath = message('HTTPIngressPath', 'A path and the backend its requests go to.', {
  path: string(1, 'Path that requests are matched with; begins with /.'),
  pathType: string(3, 'How the path is matched: Exact, Prefix or ImplementationSpecific.', {
    required: true, pointer: true, missing: 'pathType must be specified'
  }),
  backend: one(2, 'Where matching requests go.', IngressBackend, { required: true })
})

export type HTTPIngressRuleValue = Static<typeof HTTPIngressRuleValue>
export const HTTPIngressRuleValue = message('HTTPIngressRuleValue', 'Paths of a host and their backends.', {
  paths: list(1, 'Paths and the backends their requests go to.', HTTPIngressPath, {
    required: true, listType: 'atomic'
  })
})

export type IngressTLS = Static<typeof IngressTLS>
export const IngressTLS = message('IngressTLS', 'Hosts and the certificate they are served with.', {
  hosts: list(1, 'Host names in the certificate.', 'string', { listType: 'atomic' }),
  secretName: string(2, 'Secret with the certificate and its private key.')
})

export type IngressRuleValue = Static<typeof IngressRuleValue>
export const IngressRuleValue = message('IngressRuleValue', 'What a rule does with requests.', {
  http: one(1, 'Paths of HTTP requests and their backends.', HTTPIngressRuleValue, { pointer: true })
})

export type IngressRule = Static<typeof IngressRule>
export const IngressRule = message('IngressRule', 'What happens to requests for a host.', {
  host: string(1, 'Host name of the requests; may begin with a wildcard label *.'),
  ingressRuleValue: inline(2, 'Paths of the host; without them, all goes to the default backend.', IngressRuleValue)
})

export type IngressSpec = Static<typeof IngressSpec>
export const IngressSpec = message('IngressSpec', 'Rules of an ingress and certificates for them.', {
  ingressClassName: string(4, 'Name of the ingress class that serves it.', { pointer: true }),
  defaultBackend: one(1, 'Where requests go that match no rule.', IngressBackend, { pointer: true }),
  tls: list(2, 'Hosts that are served over TLS, with their certificates.', IngressTLS, { listType: 'atomic' }),
  rules: list(3, 'Rules by host; without any, all goes to the default backend.', IngressRule, { listType: 'atomic' })
}, { validate: (object, at, report) => { validateIngressSpec(object, at, report) } })

export type IngressStatus = Static<typeof IngressStatus>
export const IngressStatus = message('IngressStatus', 'What is observed of an ingress.', {
  loadBalancer: one(1, 'State of the load balancer.', LoadBalancerStatus)
})

export type Ingress = Static<typeof Ingress>
export const Ingress = kind('Ingress', 'Rules by which requests from outside reach services.', {
  metadata,
  spec: one(2, 'The rules and the certificates for them.', IngressSpec),
  status: one(3, 'What is observed of the ingress; written by the system.', IngressStatus)
}, {
  validateCreate: (ingress, _at, report) => { validateIngressCreate(ingress, report) },
  validateUpdate: ({ spec }, { spec: old }, _at, report) => { validateIngressUpdate(spec, old, report) }
})

const MAX_HOSTS = 3

/** The first hosts. As upstream, the number of further rules includes those without a host. */
function hostsOf ({ spec: { rules = [] } }: Ingress): string {
  const named = [...rules.entries()].filter(([, { host }]) => (host ?? '') !== '').slice(0, MAX_HOSTS)
  if (named.length === 0) return '*'
  const [last] = named[MAX_HOSTS - 1] ?? [rules.length]
  return join(named.map(([, { host = '' }]) => host)) +
    (last < rules.length - 1 ? ` + ${rules.length - MAX_HOSTS} more...` : '')
}

const columns: ReadonlyArray<Column<Ingress>> = [
  name,
  text('Class', 'Ingress class that serves it.', ({ spec }) => spec.ingressClassName || NONE),
  text('Hosts', 'Hosts whose requests it is for.', hostsOf),
  text('Address', 'Where its traffic enters.', ({ status }) => join(loadBalancerAddresses(status.loadBalancer))),
  text('Ports', 'Ports it is served on.', ({ spec }) => (spec.tls ?? []).length === 0 ? '80' : '80, 443'),
  age
]

export const ingresses = resource(Ingress, {
  plural: 'ingresses',
  shortNames: ['ing'],
  namespaced: true,
  subresources: [
    { name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'] }
  ],
  storagePrefix: 'ingress',
  generation: ({ spec }) => spec,
  strategy: { warnings: (ingress, old) => old === undefined ? newIngressWarnings(ingress) : [] },
  columns
})
