/** Validation of classes of devices. */
import type { Gates } from '../../../gates.js'
import type { Report } from '../../../language/types.js'
import { sameValue } from '../../../language/values.js'
import { invalid } from '../../../rules/findings.js'
import { isExtendedResource } from '../../../rules/quantities.js'
import type { Steps } from '../../../steps.js'
import type { DeviceClassSpec } from '../v1.js'
import { isShort } from './names.js'
import { MOST, validateConfiguration, validateSelectors } from './selection.js'

/** Selectors that an update leaves as they are stay valid. @param old undefined on create */
export function * validateClass (
  spec: DeviceClassSpec, old: DeviceClassSpec | undefined, report: Report, gates: Pick<Gates, 'enabled'>
): Steps<void> {
  const { selectors = [], config = [], extendedResourceName } = spec
  if (old === undefined || !sameValue(selectors, old.selectors ?? [])) {
    yield * validateSelectors(selectors, 'spec.selectors', report, gates)
  }
  if ((old === undefined || !sameValue(config, old.config ?? [])) && isShort(config, MOST, 'spec.config', report)) {
    for (const [index, settings] of config.entries()) {
      validateConfiguration(settings, `spec.config[${index}]`, report)
      yield
    }
  }
  if (extendedResourceName !== undefined && !isExtendedResource(extendedResourceName)) {
    invalid(
      report, 'spec.extendedResourceName', extendedResourceName, 'must be a valid extended resource name'
    )
  }
}
