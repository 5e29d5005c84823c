/**
 * PodNodeSelector: adds the node selector of a namespace, from its annotation or the configured default, to its pods,
 * and allows only labels that the configuration permits. (Off by default.)
 */
import { pods, type Pod } from '../../schemas/api/core/pods.js'
import { pluginFor, type TypedRequest, type AdmissionPlugin } from '../../registry/admission.js'
import { refusal } from '../refusal.js'
import { parseSelector, DEFAULT_SELECTOR, type NodeSelectors } from './pod-node-selector-configuration.js'

const ANNOTATION = 'scheduler.alpha.orch.io/node-selector'

export function podNodeSelector (selectors: NodeSelectors): AdmissionPlugin {
  const selectorOf = async (request: TypedRequest<Pod>): Promise<Readonly<Record<string, string>>> => {
    const said = (await request.reader.get('', 'namespaces', '', request.namespace))?.metadata.annotations?.[ANNOTATION]
    if (said === undefined) return selectors.get(DEFAULT_SELECTOR) ?? {}
    const selector = parseSelector(said)
    if (typeof selector === 'string') throw refusal(request, selector)
    return selector
  }
  const check = (
    request: TypedRequest<Pod>, own: Readonly<Record<string, string>>, selector: Readonly<Record<string, string>>
  ): void => {
    if (Object.entries(own).some(([label, value]) => Object.hasOwn(selector, label) && selector[label] !== value)) {
      throw refusal(request, 'pod node label selector conflicts with its namespace node label selector')
    }
  }
  const checkAllowed = (request: TypedRequest<Pod>, own: Readonly<Record<string, string>>): void => {
    const allowed = selectors.get(request.namespace) ?? {}
    const isAllowed = Object.keys(allowed).length === 0 ||
      Object.entries(own).every(([label, value]) => Object.hasOwn(allowed, label) && allowed[label] === value)
    if (!isAllowed) throw refusal(request, 'pod node label selector labels conflict with its namespace whitelist')
  }

  return pluginFor<Pod>(pods, {
    name: 'PodNodeSelector',
    operations: ['CREATE'],
    mutate: async request => {
      if (request.object === undefined) return
      const { spec } = request.object
      const selector = await selectorOf(request)
      check(request, spec.nodeSelector ?? {}, selector)
      const merged = { ...selector, ...spec.nodeSelector }
      if (Object.keys(merged).length > 0) spec.nodeSelector = merged
      checkAllowed(request, merged)
    },
    validate: async request => {
      const own = request.object?.spec.nodeSelector ?? {}
      check(request, own, await selectorOf(request))
      checkAllowed(request, own)
    }
  })
}
