/** Which objects a stage is for. */
import { isObject } from '../../schemas/language/values.js'
import type { Expression, Simulated, Stage } from './stage.js'

type Step = string | typeof EACH

const EACH = Symbol('each element')
const STEP = /\.?\[\]|\.([\w-]+)|\.?\["([^"]+)"\]/y

/** The steps of a path; undefined if it is none. */
export function stepsOf (path: string): readonly Step[] | undefined {
  const steps: Step[] = []
  STEP.lastIndex = 0
  while (STEP.lastIndex < path.length) {
    const step = STEP.exec(path)
    if (step === null) return undefined
    steps.push(step[1] ?? step[2] ?? EACH)
  }
  return steps.length === 0 ? undefined : steps
}

/** All values at the path; null and what is absent are none. */
function valuesAt (object: unknown, steps: readonly Step[]): unknown[] {
  let values: unknown[] = [object]
  for (const step of steps) {
    values = values.flatMap(value => {
      if (step === EACH) return Array.isArray(value) ? value as unknown[] : []
      return isObject(value) && Object.hasOwn(value, step) ? [value[step]] : []
    }).filter(value => value !== undefined && value !== null)
  }
  return values
}

function meets (object: Simulated, { key, operator, values = [] }: Expression): boolean {
  const present = valuesAt(object, stepsOf(key) ?? [])
  const isIn = (): boolean => present.some(value => values.includes(String(value)))
  switch (operator) {
    case 'In': return isIn()
    case 'NotIn': return !isIn()
    case 'Exists': return present.length > 0
    case 'DoesNotExist': return present.length === 0
  }
}

const hasAll = (there: Readonly<Record<string, string>> = {}, wanted: Readonly<Record<string, string>> = {}): boolean =>
  Object.entries(wanted).every(([name, value]) => Object.hasOwn(there, name) && there[name] === value)

export function selects ({ selector = {}, when }: Stage, object: Simulated): boolean {
  const { metadata: { labels, annotations } } = object
  return hasAll(labels, selector.matchLabels) && hasAll(annotations, selector.matchAnnotations) &&
    (selector.matchExpressions ?? []).every(expression => meets(object, expression)) && (when?.(object) ?? true)
}
