/** Values that labels of metrics may have, from the command line and from a file; what the command line says wins. */
import { documentIn } from './documents.js'
import { FlagError, Problem } from './flag.js'
import { FLAGS, type Values } from './flags/index.js'
import type { LabelValues } from './flags/label-values.js'

const [FLAG, FILE] = ['allow-metric-labels', 'allow-metric-labels-manifest'] as const

/** @throws FlagError */
export function allowedLabels (values: Values): LabelValues {
  const path = values[FILE]
  if (path === '') return values[FLAG]
  const document = documentIn(FILE, path)
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new FlagError(FILE, path, 'must be a mapping of METRIC,LABEL to VALUE,VALUE')
  }
  let labels: LabelValues = new Map()
  for (const [key, list] of Object.entries(document)) {
    if (typeof list !== 'string') throw new FlagError(FILE, path, `${key} must have a text such as GET,LIST`)
    try {
      labels = FLAGS[FLAG].parse(`${key}=${list}`, labels)
    } catch (error) {
      throw error instanceof Problem ? new FlagError(FILE, path, error.message) : error
    }
  }
  return new Map([...labels, ...values[FLAG]])
}
