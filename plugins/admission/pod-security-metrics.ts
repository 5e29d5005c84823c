/** Metrics of PodSecurity evaluations, with upstream's names. */
import type { AdmissionRequest } from '../../registry/admission.js'
import type { PodSecurityObserver } from '../../admission/pod-security/observer.js'
import { RELEASE } from '../../schemas/meta/release.js'
import type { Metrics } from '../shared/metric-series.js'

const LABELS = ['request_operation', 'resource', 'subresource']

/** Types with a pod template are all labelled controller. */
const labelsOf = ({ operation, resource, subresource }: AdmissionRequest): string[] =>
  [operation.toLowerCase(), resource === 'pods'
    ? 'pod'
    : resource === 'namespaces'
      ? 'namespace'
      : 'controller', subresource]

/** Versions later than this release share one label. */
const versionOf = (minor: number): string =>
  minor === Infinity ? 'latest' : minor > Number(RELEASE.minor) ? 'future' : `v1.${minor}`

export function observePodSecurity ({ counter }: Metrics): PodSecurityObserver {
  const evaluations = counter(
    'pod_security_evaluations_total', 'Policy evaluations, without requests that were ignored or exempt.',
    ['decision', 'policy_level', 'policy_version', 'mode', ...LABELS]
  )
  const exemptions = counter(
    'pod_security_exemptions_total', 'Exempt requests, without those that were ignored or out of scope.', LABELS
  )
  const errors = counter(
    'pod_security_errors_total',
    'Errors that kept requests from being evaluated as usual; with one that is not fatal the latest restricted level ' +
      'may have been used.',
    ['fatal', ...LABELS]
  )
  return {
    evaluated: (request, mode, { level, minor }, allowed) => {
      evaluations.with(allowed ? 'allow' : 'deny', level, versionOf(minor), mode, ...labelsOf(request)).add()
    },
    exempted: request => { exemptions.with(...labelsOf(request)).add() },
    failed: (request, fatal) => { errors.with(String(fatal), ...labelsOf(request)).add() }
  }
}
