/** Validation of the legacy JSON annotation for tolerations. */
import { invalid } from '../../../rules/findings.js'
import type { Plain, Report } from '../../../language/types.js'
import type { Toleration } from '../affinity.js'
import { validateToleration } from './scheduling.js'

export const TOLERATIONS = 'scheduler.alpha.orch.io/tolerations'

/** @param at path of the annotations */
export function checkTolerationAnnotation (text: string, at: string, report: Report): void {
  if (text === '') return
  const tolerations = parsed(text)
  if (tolerations === undefined) return invalid(report, at, TOLERATIONS, 'must be a JSON list of tolerations')
  tolerations.forEach((toleration, index) => {
    validateToleration(toleration, `${at}.${TOLERATIONS}[${index}]`, report)
  })
}

const TEXTS = ['key', 'operator', 'value', 'effect'] as const
const isToleration = (value: Plain): value is Plain & Toleration =>
  TEXTS.every(field => typeof (value[field] ?? '') === 'string') && Number.isInteger(value['tolerationSeconds'] ?? 0)

/** The tolerations; undefined if malformed. null is treated as unset. */
function parsed (text: string): Toleration[] | undefined {
  try {
    const list: unknown = JSON.parse(text, (_, value: unknown) => value ?? undefined) ?? []
    return Array.isArray(list) && list.every(value => typeof value === 'object' && isToleration(value as Plain))
      ? list
      : undefined
  } catch {
    return undefined
  }
}
