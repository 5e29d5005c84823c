/** How long admission takes and how often it refuses, by plugin and altogether, under the conventional names. */
import type { ObserveAdmission } from '../../storage/admission/chain.js'
import type { OrchServer } from '../server.js'

const SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5]

export function observeAdmission ({ histogram, summary }: OrchServer['metrics']): ObserveAdmission {
  const plugins = histogram('apiserver_admission_controller_admission_duration_seconds', 'Seconds an admission plugin took, by plugin, operation, type and whether it refused.', SECONDS, ['name', 'operation', 'rejected', 'type'])
  const steps = histogram('apiserver_admission_step_admission_duration_seconds', 'Seconds all admission plugins took together, by operation, type and whether one refused.', SECONDS, ['type', 'operation', 'rejected'])
  const quantiles = summary('apiserver_admission_step_admission_duration_seconds_summary', 'Seconds all admission plugins took together in the last five hours, by operation, type and whether one refused.', ['type', 'operation', 'rejected'])
  return (plugin, phase, { operation }, rejected, seconds) => {
    if (plugin !== '') return plugins.with(plugin, operation, String(rejected), phase).observe(seconds)
    steps.with(phase, operation, String(rejected)).observe(seconds)
    quantiles.with(phase, operation, String(rejected)).observe(seconds)
  }
}
