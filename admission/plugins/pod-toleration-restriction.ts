/**
 * PodTolerationRestriction: adds default tolerations of a namespace annotation or the configuration to pods, and
 * refuses those that the allowed list does not cover. Pods with requests also tolerate memory pressure. (Off by
 * default.)
 */
import { Toleration } from '../../schemas/api/core/affinity.js'
import { pods, type Pod } from '../../schemas/api/core/pods.js'
import { qosClass } from '../../schemas/api/core/rules/qos.js'
import { parseJson } from '../../schemas/codec/json/parse.js'
import { isDecodeError } from '../../schemas/language/decode-error.js'
import { decode } from '../../schemas/language/decode.js'
import { pluginFor, type TypedRequest, type AdmissionPlugin } from '../../registry/admission.js'
import { refusal } from '../refusal.js'
import { MEMORY_PRESSURE, Tolerated, mergeTolerations } from '../tolerations.js'
import type { TolerationSettings } from './pod-toleration-restriction-configuration.js'

const DEFAULTS = 'scheduler.alpha.orch.io/defaultTolerations'
const ALLOWED = 'scheduler.alpha.orch.io/tolerationsWhitelist'

export function podTolerationRestriction ({ defaults, allowed }: TolerationSettings): AdmissionPlugin {
  /** The tolerations in an annotation of the namespace, none if it is empty; undefined if it is missing. */
  const tolerationsIn = async (request: TypedRequest<Pod>, annotation: string): Promise<Toleration[] | undefined> => {
    const text = (await request.reader.get('', 'namespaces', '', request.namespace))?.metadata.annotations?.[annotation]
    if (text === undefined) return undefined
    if (text === '') return []
    try {
      const { value } = parseJson(Buffer.from(text))
      if (!Array.isArray(value)) {
        throw refusal(request, `the annotation ${annotation} of its namespace is no list of tolerations`)
      }
      return value.map(item => decode(Toleration, item).object)
    } catch (error) {
      if (!isDecodeError(error)) throw error
      throw refusal(request, `the annotation ${annotation} of its namespace cannot be understood: ${error.message}`)
    }
  }

  const checkAllowed = async (request: TypedRequest<Pod>): Promise<void> => {
    const own = request.object?.spec.tolerations ?? []
    if (own.length === 0) return
    const ofNamespace = await tolerationsIn(request, ALLOWED)
    const list = ofNamespace ?? allowed
    const tolerated = new Tolerated(list)
    if (list.length === 0 || own.every(toleration => tolerated.covers(toleration))) return
    throw refusal(
      request,
      'pod tolerations (possibly merged with namespace default tolerations) conflict with its ' +
        `${ofNamespace === undefined ? 'cluster' : 'namespace'} whitelist`
    )
  }

  return pluginFor<Pod>(pods, {
    name: 'PodTolerationRestriction',
    operations: ['CREATE', 'UPDATE'],
    mutate: async request => {
      if (request.object === undefined) return
      const { spec } = request.object
      const added = request.operation === 'CREATE' ? [...await tolerationsIn(request, DEFAULTS) ?? defaults] : []
      if (qosClass(spec) !== 'BestEffort') {
        added.push({ key: MEMORY_PRESSURE, operator: 'Exists', effect: 'NoSchedule' })
      }
      if (added.length > 0) spec.tolerations = mergeTolerations(spec.tolerations ?? [], added)
      await checkAllowed(request)
    },
    validate: checkAllowed
  })
}
