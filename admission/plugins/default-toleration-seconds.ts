/**
 * DefaultTolerationSeconds: adds tolerations for nodes that are not ready or unreachable, of five minutes unless
 * `--default-not-ready-toleration-seconds` and `--default-unreachable-toleration-seconds`, or the pod, say otherwise.
 * (Enabled by default.)
 */
import { pods, type Pod } from '../../schemas/api/core/pods.js'
import { pluginFor, type AdmissionPlugin } from '../../registry/admission.js'
import type { TolerationSeconds } from '../options.js'
import { NOT_READY, UNREACHABLE } from '../tolerations.js'

export const defaultTolerationSeconds = ({ notReady, unreachable }: TolerationSeconds): AdmissionPlugin =>
  pluginFor<Pod>(pods, {
    name: 'DefaultTolerationSeconds',
    operations: ['CREATE', 'UPDATE'],
    mutate: ({ object }) => {
      if (object === undefined) return
      const { spec } = object
      for (const [taint, tolerationSeconds] of [[NOT_READY, notReady], [UNREACHABLE, unreachable]] as const) {
        const isTolerated = spec.tolerations?.some(({ key = '', effect = '' }) => (key === taint || key === '') &&
        (effect === 'NoExecute' || effect === '')) === true
        if (!isTolerated) {
          spec.tolerations = [
            ...spec.tolerations ?? [], { key: taint, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }
          ]
        }
      }
    }
  })
