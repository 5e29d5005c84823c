/** Admission durations and rejections, by plugin and in total, with upstream's names. */
import type { ObserveAdmission, Phase } from '../../admission/chain.js'
import type { AdmissionOperation } from '../../registry/admission.js'
import type { Histogram, Metrics } from '../shared/metric-series.js'

const SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5]

export function observeAdmission ({ histogram, summary }: Metrics): ObserveAdmission {
  const plugins = histogram(
    'apiserver_admission_controller_admission_duration_seconds',
    'Seconds an admission plugin took, by plugin, operation, type and whether it refused.', SECONDS,
    ['name', 'operation', 'rejected', 'type']
  )
  const steps = histogram(
    'apiserver_admission_step_admission_duration_seconds',
    'Seconds all admission plugins took together, by operation, type and whether one refused.', SECONDS,
    ['type', 'operation', 'rejected']
  )
  const quantiles = summary(
    'apiserver_admission_step_admission_duration_seconds_summary',
    'Seconds all admission plugins took together in the last five hours, by operation, type and whether one refused.',
    ['type', 'operation', 'rejected']
  )
  /** Cached series of accepting plugins: a label lookup takes as long as most plugins. */
  const accepted = new Map<string, {
    admit: Partial<Record<AdmissionOperation, Histogram>>, validate: Partial<Record<AdmissionOperation, Histogram>>
  }>()
  const passed = (plugin: string, phase: Phase, operation: AdmissionOperation): Histogram => {
    let known = accepted.get(plugin)
    if (known === undefined) accepted.set(plugin, known = { admit: {}, validate: {} })
    return known[phase][operation] ??= plugins.with(plugin, operation, 'false', phase)
  }
  return ({ plugin, phase, request: { operation } }, rejected, seconds) => {
    if (plugin !== '') {
      return (rejected ? plugins.with(plugin, operation, 'true', phase) : passed(plugin, phase, operation))
        .observe(seconds)
    }
    steps.with(phase, operation, String(rejected)).observe(seconds)
    quantiles.with(phase, operation, String(rejected)).observe(seconds)
  }
}
