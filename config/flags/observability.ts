/** What the server tells of itself. */
import { bool, choice, duration, int, list, pairs, path, text, withShort } from '../flag.js'

const metricName = (value: string): string | undefined =>
  /^[a-z_:][a-z0-9_:]*$/i.test(value) ? undefined : `"${value}" must be the name of a metric`

const labelKey = (key: string): string | undefined =>
  /^[a-z_:][a-z0-9_:]*$/i.test(key) ? undefined : `"${key}" must be the name of a metric or a label`

export const observability = {
  'logging-format': choice(['text'], 'text', 'form of the log'),
  'log-flush-frequency': duration(5000, 'longest time before the log is flushed; every line is flushed at once', { min: 1 }),
  v: withShort('v', int(0, 'how much is logged, from 0 to 10', { min: 0, max: 10 })),
  vmodule: { ...list([], 'other verbosities for single files', value => /^[^=]+=\d{1,2}$/.test(value) ? undefined : `"${value}" must have the form pattern=N`), type: 'pattern=N,...' },
  'experimental-logging-sanitization': bool(false, 'keep sensitive fields out of the log, as is always done'),
  'allow-metric-labels': pairs('label values that are let through, by METRIC,LABEL', { type: 'stringToString', bareValue: '', check: labelKey }),
  'disabled-metrics': list([], 'names of metrics that are not shown', metricName),
  'show-hidden-metrics-for-version': text('', 'minor release whose hidden metrics are shown once more', value => /^\d{1,3}\.\d{1,3}$/.test(value) ? undefined : 'must have the form MAJOR.MINOR'),
  'tracing-config-file': path('file that says where traces are sent'),
  profiling: bool(true, 'profiles under /debug/pprof/'),
  'contention-profiling': bool(false, 'profiles of lock contention too')
}

export const general = {
  help: withShort('h', bool(false, 'print this and exit')),
  version: bool(false, 'print the version and exit')
}
