/**
 * What the interface has and this server does not have yet, in one place, so that it can shrink to
 * nothing. Asking for any of it ends the start: nothing is accepted and then ignored.
 */
import { ADMISSION_PLUGINS } from './admission-plugins.js'
import { changedGates } from './feature-gates.js'
import { FlagError } from './flag.js'
import { FLAGS, type FlagName } from './flags/index.js'
import type { Parsed } from './parse.js'

/**
 * Flags with nothing behind them. Each accepts its default and the values beside it, which ask for
 * nothing or for what the server does anyway.
 */
const UNBUILT: Partial<Record<FlagName, readonly unknown[]>> = {
  // storage
  'encryption-provider-config': [],
  'lease-reuse-duration-seconds': [],
  'event-ttl': [],
  'enable-garbage-collector': [],
  // authentication
  'api-audiences': [],
  'authentication-token-webhook-config-file': [],
  'authentication-token-webhook-cache-ttl': [],
  'authentication-token-webhook-version': [],
  'enable-bootstrap-token-auth': [],
  'oidc-issuer-url': [],
  'oidc-client-id': [],
  'oidc-username-claim': [],
  'oidc-username-prefix': [],
  'oidc-groups-claim': [],
  'oidc-groups-prefix': [],
  'oidc-required-claim': [],
  'oidc-ca-file': [],
  'oidc-signing-algs': [],
  'service-account-key-file': [],
  'service-account-signing-key-file': [],
  'service-account-issuer': [],
  'service-account-jwks-uri': [],
  'service-account-lookup': [],
  'service-account-max-token-expiration': [],
  'service-account-extend-token-expiration': [],
  'requestheader-username-headers': [],
  'requestheader-group-headers': [],
  'requestheader-extra-headers-prefix': [],
  'requestheader-client-ca-file': [],
  'requestheader-allowed-names': [],
  'proxy-client-cert-file': [],
  'proxy-client-key-file': [],
  // authorization
  'authorization-policy-file': [],
  'authorization-webhook-config-file': [],
  'authorization-webhook-cache-authorized-ttl': [],
  'authorization-webhook-cache-unauthorized-ttl': [],
  'authorization-webhook-version': [],
  // audit
  'audit-policy-file': [],
  'audit-log-batch-buffer-size': [],
  'audit-log-batch-max-size': [],
  'audit-log-batch-max-wait': [],
  'audit-log-batch-throttle-enable': [],
  'audit-log-batch-throttle-qps': [],
  'audit-log-batch-throttle-burst': [],
  'audit-log-truncate-enabled': [],
  'audit-log-truncate-max-batch-size': [],
  'audit-log-truncate-max-event-size': [],
  'audit-webhook-config-file': [],
  'audit-webhook-mode': [],
  'audit-webhook-version': [],
  'audit-webhook-initial-backoff': [],
  'audit-webhook-batch-buffer-size': [],
  'audit-webhook-batch-max-size': [],
  'audit-webhook-batch-max-wait': [],
  'audit-webhook-batch-throttle-enable': [],
  'audit-webhook-batch-throttle-qps': [],
  'audit-webhook-batch-throttle-burst': [],
  'audit-webhook-truncate-enabled': [],
  'audit-webhook-truncate-max-batch-size': [],
  'audit-webhook-truncate-max-event-size': [],
  // admission and features
  'admission-control-config-file': [],
  'enable-aggregator-routing': [],
  'endpoint-reconciler-type': ['none'],
  'apiserver-count': [],
  'identity-lease-duration-seconds': [],
  'identity-lease-renew-interval-seconds': [],
  // limits
  'enable-priority-and-fairness': [false],
  'max-connection-bytes-per-sec': [],
  // the cluster
  'service-cluster-ip-range': [],
  'service-node-port-range': [],
  'orch-service-node-port': [],
  'master-service-namespace': [],
  'allow-privileged': [],
  'default-not-ready-toleration-seconds': [],
  'default-unreachable-toleration-seconds': [],
  'node-agent-certificate-authority': [],
  'node-agent-client-certificate': [],
  'node-agent-client-key': [],
  'node-agent-preferred-address-types': [],
  'node-agent-timeout': [],
  'cloud-provider': [],
  'cloud-config': [],
  'cloud-provider-gce-l7lb-src-cidrs': [],
  'azure-container-registry-config': [],
  'egress-selector-config-file': [],
  // logs, metrics, traces
  vmodule: [],
  'experimental-logging-sanitization': [true],
  'allow-metric-labels': [],
  'show-hidden-metrics-for-version': ['1.23'],
  'tracing-config-file': [],
  profiling: [false],
  'contention-profiling': []
}

/** Values of flags that are otherwise built. */
const UNBUILT_VALUES: Partial<Record<FlagName, ReadonlyArray<string | number>>> = {
  'authorization-mode': ['ABAC', 'Webhook', 'RBAC', 'Node'],
  'audit-log-mode': ['batch'],
  'storage-media-type': ['application/yaml']
}

/** Admission plugins that are there; AlwaysAdmit is one that does nothing. */
const BUILT_ADMISSION: ReadonlySet<string> = new Set(['NamespaceLifecycle', 'AlwaysAdmit'])

/** Gates whose feature is not there, so that switching them off is what they are. */
const OFF_ALREADY: ReadonlySet<string> = new Set(['APIPriorityAndFairness'])

/** Known group versions that are not served yet; see `runtime-config.ts`. */
export const UNSERVED: ReadonlySet<string> = new Set([
  'admissionregistration.orch.io/v1', 'apiextensions.orch.io/v1', 'apiregistration.orch.io/v1', 'apps/v1', 'authentication.orch.io/v1', 'authorization.orch.io/v1', 'autoscaling/v1', 'autoscaling/v2', 'autoscaling/v2beta1', 'autoscaling/v2beta2', 'batch/v1', 'batch/v1beta1', 'certificates.orch.io/v1', 'coordination.orch.io/v1', 'discovery.orch.io/v1', 'discovery.orch.io/v1beta1', 'events.orch.io/v1', 'events.orch.io/v1beta1', 'flowcontrol.apiserver.orch.io/v1beta1', 'flowcontrol.apiserver.orch.io/v1beta2', 'internal.apiserver.orch.io/v1alpha1', 'networking.orch.io/v1', 'node.orch.io/v1', 'node.orch.io/v1beta1', 'policy/v1', 'policy/v1beta1', 'scheduling.orch.io/v1', 'storage.orch.io/v1', 'storage.orch.io/v1beta1'
])

/** @throws FlagError naming the first flag that asks for something not built */
export function refuseUnbuilt ({ values, given }: Parsed): void {
  for (const [name, text] of given) {
    const accepted = UNBUILT[name]
    if (accepted !== undefined && ![FLAGS[name].default, ...accepted].some(value => same(value, values[name]))) {
      throw new FlagError(name, text, 'is not supported by this version yet; leave it out')
    }
    const value = values[name]
    const missing = UNBUILT_VALUES[name]?.find(one => Array.isArray(value) ? value.includes(one) : value === one)
    if (missing !== undefined) throw new FlagError(name, text, `${missing} is not supported by this version yet; leave it out`)
  }
  const plugin = values['enable-admission-plugins'].find(one => !BUILT_ADMISSION.has(one))
  if (plugin !== undefined) {
    const mend = ADMISSION_PLUGINS.get(plugin)?.default === true ? 'although it is on by default in the interface; leave it out' : 'leave it out'
    throw new FlagError('enable-admission-plugins', given.get('enable-admission-plugins'), `the admission plugin ${plugin} is not supported by this version yet, ${mend}`)
  }
  const gates = new Map([...values['feature-gates']].filter(([name]) => !OFF_ALREADY.has(name)))
  const [changed] = changedGates(gates)
  if (changed !== undefined) throw new FlagError('feature-gates', given.get('feature-gates'), `${changed} is not supported by this version yet; leave it out`)
}

const same = (left: unknown, right: unknown): boolean => comparable(left) === comparable(right)
const comparable = (value: unknown): string => JSON.stringify(value instanceof Map ? [...value] : value)
