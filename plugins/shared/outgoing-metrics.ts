/** Metrics of outgoing HTTP calls, with upstream's names. */
import type { HttpClientOptions } from '../../clients/http-client.js'
import type { Metrics } from './metric-series.js'

const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60]

type ClientMetrics = Required<Pick<HttpClientOptions, 'observe' | 'missingName' | 'weakSignature'>>

/** HTTP client options that record metrics. */
export function outgoingMetrics ({ counter, histogram }: Metrics): ClientMetrics {
  const requests = counter(
    'rest_client_requests_total', 'Calls to other servers, each attempt, by status code, method and host.',
    ['code', 'method', 'host']
  )
  const durations = histogram(
    'rest_client_request_duration_seconds', 'Seconds that calls to other servers took, each attempt, by verb and host.',
    SECONDS, ['verb', 'host']
  )
  const nameless = counter(
    'apiserver_webhooks_x509_missing_san_total',
    'Connections to webhooks that failed as their certificate has no subject alternative name.'
  )
    .with()
  const weak = counter(
    'apiserver_webhooks_x509_insecure_sha1_total',
    'Connections to webhooks that failed as their certificate is signed with SHA-1.'
  )
    .with()
  return {
    observe: ({ method, host, code, milliseconds }) => {
      requests.with(/^(?:\d+|other)$/.test(code) ? code : '<error>', method, host).add()
      durations.with(method, host).observe(milliseconds / 1000)
    },
    missingName: () => { nameless.add() },
    weakSignature: () => { weak.add() }
  }
}
