/** Metrics of APIServices, with upstream's names. */
import type { AvailabilityObserver } from '../../controllers/aggregation/availability.js'
import type { OutgoingRequest } from '../../clients/outgoing.js'
import type { Metrics } from '../shared/metric-series.js'

export function observeAvailability ({ gauge, counter }: Metrics): AvailabilityObserver {
  const unavailable = gauge(
    'aggregator_unavailable_apiservice', 'Whether an APIService was unavailable at its last check, by name.', ['name']
  )
  const lost = counter(
    'aggregator_unavailable_apiservice_total', 'APIServices that became unavailable, by name and reason.',
    ['name', 'reason']
  )
  return {
    checked: (name, available) => { unavailable.with(name).set(available ? 0 : 1) },
    lost: (name, reason) => { lost.with(name, reason).add() },
    deleted: name => { unavailable.forget(name) }
  }
}

/** Counts refused certificates: without a subject alternative name, or with a weak signature. */
export function observeCertificates ({ counter }: Metrics): Required<Pick<OutgoingRequest, 'missingName'
  | 'weakSignature'>> {
  const nameless = counter(
    'apiserver_orch_aggregator_x509_missing_san_total',
    'Connections to extension servers that failed as their certificate has no subject alternative name.'
  )
    .with()
  const weak = counter(
    'apiserver_orch_aggregator_x509_insecure_sha1_total',
    'Connections to extension servers that failed as their certificate is signed with SHA-1.'
  )
    .with()
  return { missingName: () => { nameless.add() }, weakSignature: () => { weak.add() } }
}
