/** Literals that cannot be what a call makes of them. */
import { functions } from './functions.js'
import { CostExceeded, Meter } from './meter.js'
import { matches } from './strings.js'
import { Unsigned, type Call, type Node } from './syntax.js'
import { Fault, Uint, type Apply, type Value } from './values.js'

interface Finding { readonly problem: string, readonly at?: number, readonly subject?: string }

const CONVERSIONS: ReadonlySet<string> = new Set(['bool', 'double', 'int', 'uint'])
const TIMES: ReadonlySet<string> = new Set(['duration', 'timestamp'])
const PATTERNS: ReadonlySet<string> = new Set(['find', 'findAll', 'matches'])

function literal (node: Node | undefined): Value | undefined {
  if (node?.op !== 'constant') return undefined
  return node.value instanceof Unsigned ? new Uint(node.value.value) : node.value
}

/** Undefined if the call is fine. */
export function checkLiteral ({ name, target, args }: Call): Finding | undefined {
  const isPattern = PATTERNS.has(name)
  const value = literal(isPattern ? args[target === undefined ? 1 : 0] : args[0])
  if (value === undefined) return undefined
  if (isPattern) {
    const problem = typeof value === 'string' ? problemOf(() => matches('', value, new Meter())) : undefined
    if (problem === undefined) return undefined
    const at = args.at(target === undefined ? 1 : 0)?.at
    return name === 'matches' && at !== undefined
      ? { problem: 'invalid matches argument', at }
      : { problem: `instantiation failed: ${problem}`, subject: 'program' }
  }
  if (target !== undefined || args.length !== 1) return undefined
  if (!TIMES.has(name) && !CONVERSIONS.has(name)) return undefined
  const problem = problemOf(() => functions.get(name)?.([value], new Meter()))
  if (problem === undefined) return undefined
  return TIMES.has(name) && typeof value === 'string'
    ? { problem: `invalid ${name} argument`, at: args[0]?.at ?? 0 }
    : { problem: `instantiation failed: ${problem}`, subject: 'program' }
}

function problemOf (evaluate: () => ReturnType<Apply>): string | undefined {
  try {
    const value = evaluate()
    return value instanceof Fault ? value.message : undefined
  } catch (error) {
    if (error instanceof CostExceeded) return 'the pattern is too large'
    throw error
  }
}
