/**
 * Tracing: where spans are exported and how many requests are sampled. As upstream, the connection to the collector has
 * no TLS.
 *
 * @see interface, `--tracing-config-file`
 */
import { int32, string, apiPackage, type Message, type Report, type Static } from '../../language/declare.js'
import { invalid } from '../../rules/findings.js'

const MILLION = 1_000_000
const SCHEMES = ['dns:', 'unix:', 'unix-abstract:']

function declare (version: string) {
  const { kind } = apiPackage('apiserver.config.orch.io', version, `io.orch.apiserver.${version}`)
  return kind('TracingConfiguration', 'Where spans are sent, and of how many requests.', {
    endpoint: string(
      1, 'Name of a receiver of OTLP over gRPC: HOST:PORT, dns:///HOST:PORT or unix:///PATH. Default localhost:4317.',
      { pointer: true }
    ),
    samplingRatePerMillion: int32(2, 'Of a million requests whose callers do not decide. Default 0.', { pointer: true })
  }, { validate: (configuration, at, report) => { validateTracing(configuration, at, report) } })
}

export type TracingConfiguration = Static<ReturnType<typeof declare>>

/** One for each version. */
export const TRACING_CONFIGURATIONS: ReadonlyArray<Message<TracingConfiguration>> =
  ['v1', 'v1beta1', 'v1alpha1'].map(declare)

function validateTracing (
  { endpoint, samplingRatePerMillion: rate = 0 }: TracingConfiguration, at: string, report: Report
): void {
  const path = (field: string): string => at === '' ? field : `${at}.${field}`
  if (rate < 0) invalid(report, path('samplingRatePerMillion'), rate, 'sampling rate must be positive')
  if (rate > MILLION) {
    invalid(
      report, path('samplingRatePerMillion'), rate,
      'sampling rate per million must be less than or equal to one million'
    )
  }
  if (endpoint === undefined) return
  const scheme = endpoint.includes('//')
    ? /^([a-z][a-z\d+.-]*:)?\/\//i.exec(endpoint)?.[1]?.toLowerCase() ?? ''
    : 'dns:'
  if (!SCHEMES.includes(scheme)) {
    invalid(
      report, path('endpoint'), endpoint,
      `unsupported scheme: ${scheme.slice(0, -1)}.  Options are none, dns, unix, or unix-abstract.  See ` +
        'https://github.com/grpc/grpc/blob/master/doc/naming.md'
    )
  }
}
