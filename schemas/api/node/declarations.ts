/** RuntimeClass, for both versions of node.orch.io. */
import { isOn } from '../../gates.js'
import { Quantity } from '../../meta/quantity.js'
import { Toleration } from '../core/affinity.js'
import { checkResources } from '../core/rules/resources.js'
import { apiPackage, list, map, one, string } from '../../language/declare.js'
import { validatePart } from '../../language/validation.js'
import { validateLabels } from '../../meta/metadata.js'
import { metadata } from '../../meta/object.js'
import { dnsLabel } from '../../names.js'
import { duplicate, checkName, required } from '../../rules/findings.js'

/** The messages of one version. */
export function declare (version: 'v1' | 'v1beta1') {
  const { kind, message } = apiPackage('node.orch.io', version, `io.orch.api.node.${version}`)

  const Overhead = message('Overhead', 'Resources a runtime takes for each pod.', {
    podFixed: map(1, 'Resources taken for each pod, by resource name.', Quantity)
    // Upstream's paths contain `limits`.
  }, { validate: ({ podFixed = {} }, at, report) => { checkResources({ limits: podFixed }, at, report) } })

  const Scheduling = message('Scheduling', 'Nodes that have a runtime.', {
    nodeSelector: map(1, 'Labels of the nodes that have the runtime.', 'string', { mapType: 'atomic' }),
    tolerations: list(2, 'Tolerations added to pods of the class.', Toleration, { listType: 'atomic', ruled: true })
  }, {
    validate: ({ nodeSelector, tolerations = [] }, at, report) => {
      validateLabels(nodeSelector, `${at}.nodeSelector`, report)
      // Upstream's path contains `tolerations` twice.
      for (const [index, toleration] of tolerations.entries()) {
        validatePart(Toleration, toleration, `${at}.tolerations.tolerations[${index}]`, report)
      }
      const seen = new Set<string>()
      for (const [index, entry] of tolerations.entries()) {
        const toleration = JSON
          .stringify([entry.key, entry.operator, entry.value, entry.effect].map(member => member ?? ''))
        if (seen.has(toleration)) duplicate(report, `${at}.tolerations[${index}]`, entry)
        seen.add(toleration)
      }
    }
  })

  const RuntimeClass = kind('RuntimeClass', 'A container runtime that pods may ask for.', {
    metadata,
    handler: string(2, 'Name of the runtime configuration on the nodes; does not change.', {
      required: true, mayBeEmpty: true, immutable: true
    }),
    overhead: one(3, 'Resources the runtime takes for each pod.', Overhead, { pointer: true }),
    scheduling: one(4, 'Nodes that have the runtime.', Scheduling, { pointer: true })
  }, {
    validate: ({ handler }, _at, report) => {
      if (handler === '' && isOn(report, 'RuntimeHandlerIsRequired')) required(report, 'handler')
      else checkName(report, 'handler', handler, dnsLabel)
    }
  })

  return { Overhead, Scheduling, RuntimeClass }
}
