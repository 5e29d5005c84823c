/** Validation of the legacy JSON annotations for taints and avoided pods, with upstream's field paths. */
import type { Plain, Report } from '../../../language/types.js'
import { invalid, required } from '../../../rules/findings.js'
import type { Taint } from '../nodes.js'

const TAINTS = 'scheduler.alpha.orch.io/taints'
const AVOID = 'scheduler.alpha.orch.io/preferAvoidPods'
const AT = 'metadata.annotations'

const isPlain = (value: unknown): value is Plain => typeof value === 'object' && value !== null && !Array.isArray(value)
const textOf = (value: unknown): string => typeof value === 'string' ? value : ''

/** The JSON list of objects; undefined if malformed. */
function listOf (text: string, pick: (value: unknown) => unknown): Plain[] | undefined {
  try {
    const list = pick(JSON.parse(text)) ?? []
    return Array.isArray(list) && list.every(isPlain) ? list : undefined
  } catch {
    return undefined
  }
}

/** @param validateTaints validates taints at a path */
export function validateNodeAnnotations (
  annotations: Readonly<Record<string, string>> | undefined,
  validateTaints: (taints: readonly Taint[], at: string) => void, report: Report
): void {
  const valueOf = (key: string): string =>
    annotations !== undefined && Object.hasOwn(annotations, key) ? annotations[key] ?? '' : ''
  const [taints, avoided] = [valueOf(TAINTS), valueOf(AVOID)]
  if (taints !== '') {
    const list = listOf(taints, value => value)
    if (list === undefined) invalid(report, AT, TAINTS, 'must be a JSON list of taints')
    else {
      validateTaints(list.map(({ key, value, effect }) =>
        ({ key: textOf(key), value: textOf(value), effect: textOf(effect) })), `${AT}.${TAINTS}`)
    }
  }
  if (avoided === '') return
  const entries = listOf(avoided, value => isPlain(value) ? value['preferAvoidPods'] : value)
  if (entries === undefined) return invalid(report, `${AT}.AvoidPods`, AVOID, 'must be JSON of pods to avoid')
  for (const [index, { podSignature }] of entries.entries()) {
    const at = `${AT}.${AVOID}[${index}].PodSignature`
    const controller = isPlain(podSignature) ? podSignature['podController'] : undefined
    if (!isPlain(controller)) required(report, at)
    else if (controller['controller'] !== true) {
      invalid(report, `${at}.PodController.Controller`, controller['controller'] ?? false, 'must point to a controller')
    }
  }
}
