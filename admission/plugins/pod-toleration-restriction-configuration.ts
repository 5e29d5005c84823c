/** The configuration of PodTolerationRestriction, for namespaces without annotations. */
import { Toleration } from '../../schemas/api/core/affinity.js'
import { apiPackage, list } from '../../schemas/language/declare.js'
import { readConfiguration, type PluginConfiguration } from '../configuration.js'

export interface TolerationSettings {
  readonly defaults: readonly Toleration[]
  /** Empty allows all. */
  readonly allowed: readonly Toleration[]
}

const { kind } = apiPackage(
  'podtolerationrestriction.admission.orch.io', 'v1alpha1', 'io.orch.podtolerationrestriction.v1alpha1'
)
const Configuration = kind('Configuration', 'Tolerations of pods.', {
  default: list(null, 'Those that all pods have.', Toleration),
  whitelist: list(null, 'Those that pods may have.', Toleration)
})

/** @throws ConfigurationError */
export function tolerationSettings (given: PluginConfiguration | undefined): TolerationSettings {
  if (given === undefined) return { defaults: [], allowed: [] }
  const { default: defaults = [], whitelist: allowed = [] } = readConfiguration(
    'PodTolerationRestriction', given, [Configuration]
  )
  return { defaults, allowed }
}
