/** Flags for logs, metrics, traces and profiles. */
import { bool, choice, duration, int, list, path, socketPath, text, until, withShort } from '../flag.js'
import { RELEASE } from '../../schemas/meta/release.js'
import { ruleProblem } from '../verbosity.js'
import { labelValues } from './label-values.js'

const metricName = (value: string): string | undefined =>
  /^[a-z_:][a-z0-9_:]*$/i.test(value) ? undefined : 'must be the name of a metric'

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1e3, Ki: 2 ** 10, M: 1e6, Mi: 2 ** 20 }
const MAX_BUFFER = 2 ** 26

/** Parses `--log-text-info-buffer-size`. */
export function readBufferSize (value: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,9})(k|Ki|M|Mi)?$/.exec(value) ?? []
  return amount === undefined ? undefined : Number(amount) * (UNITS[unit] ?? 1)
}

const bufferProblem = (value: string): string | undefined => (readBufferSize(value) ?? Infinity) > MAX_BUFFER
  ? 'must be a number of bytes such as 64Ki, at most 64Mi, or 0'
  : undefined

const PREVIOUS = `${RELEASE.major}.${Number(RELEASE.minor) - 1}`

const previousVersion = (value: string): string | undefined =>
  value === PREVIOUS
    ? undefined
    : `must be ${PREVIOUS}, the previous version in the form MAJOR.MINOR: only its metrics are hidden and not yet ` +
      'removed'

export const observability = {
  'logging-format': choice(
    ['text', 'json'], 'text', 'log format; json has an object per line with ts, v, msg, err and the fields of the entry'
  ),
  'log-flush-frequency': duration(
    5000,
    'maximum time between log flushes; without --log-text-info-buffer-size every line is flushed immediately',
    { min: 1 }
  ),
  'log-text-split-stream': bool(
    false, 'log errors to standard error and the rest to standard output (feature gate LoggingAlphaOptions)'
  ),
  'log-text-info-buffer-size': text(
    '0',
    'bytes of the text for standard output that may wait, up to --log-flush-frequency; 0 buffers none (feature gate ' +
      'LoggingAlphaOptions)',
    bufferProblem
  ),
  v: withShort('v', int(
    0, 'log level verbosity, 0 to 10; 3 logs requests, 4 debug, 6 trace, 8 headers, 9 and 10 objects',
    { min: 0, max: 10 }
  )),
  vmodule: {
    ...list([], 'log level verbosity by module, a source file without its extension: request-log=8, *=4', ruleProblem),
    type: 'pattern=N,...'
  },
  'experimental-logging-sanitization': until('1.26', bool(
    false, 'redact sensitive fields in logs, as is always done'
  )),
  'allow-metric-labels': labelValues('values that labels of metrics may have; others are counted as unexpected'),
  'allow-metric-labels-manifest': path(
    'file in YAML with the values that labels of metrics may have: METRIC,LABEL: VALUE,VALUE'
  ),
  'disabled-metrics': list([], 'names of metrics to disable', metricName),
  'show-hidden-metrics-for-version': text(
    '', 'previous minor version whose hidden metrics are shown; none are hidden in this release', previousVersion
  ),
  'tracing-config-file': path('file with the TracingConfiguration: where spans of requests are sent, and of how many'),
  profiling: bool(true, 'serve profiles at /debug/pprof/, and PUT /debug/flags/v, which changes -v'),
  'contention-profiling': bool(false, 'measure the delay of the event loop, shown at /debug/pprof/block'),
  'debug-socket-path': text(
    '', 'path of a Unix socket that serves /debug/pprof/ and /debug/flags/v to its owner, without authentication',
    socketPath
  )
}

export const general = {
  local: bool(
    false,
    'for one machine and one person: listens on 127.0.0.1, makes an administrator and a kubeconfig for it in ' +
      '--data-dir, lets in nobody else, authorizes by RBAC, and collects garbage; other flags beside it win'
  ),
  help: withShort('h', bool(false, 'print this help and exit')),
  version: bool(false, 'print the version and exit')
}
