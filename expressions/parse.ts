/**
 * Parses the text of a rule. Its size and depth are bounded, as everything that visits the syntax tree is recursive.
 */
import type * as Cel from '@marcbachmann/cel-js'
import { onDemand } from '../schemas/on-demand.js'

export type Node = Cel.ASTNode

const cel = onDemand<typeof Cel>('@marcbachmann/cel-js')
/** Maximum characters of a rule; parsing one takes at most a microsecond. */
const MAX_LENGTH = 10_000
const MAX_NODES = 2000
const MAX_DEPTH = 100
const OPERATORS_IN_A_ROW = /[!-][\s!-]{99}/
let environment: Cel.Environment | undefined

/** Why an expression does not compile; the message shows the place. */
export class Problem extends Error {
  /** @param at position of the problem, in characters of the expression */
  constructor (readonly problem: string, rule: string, readonly at = 0) {
    const before = rule.slice(0, at)
    const start = before.lastIndexOf('\n') + 1
    const [line = ''] = rule.slice(start).split('\n', 1)
    super(`ERROR: <input>:${before.split('\n').length}:${at - start + 1}: ${problem}\n | ${line}\n | ` +
      `${'.'.repeat(at - start)}^`)
  }
}

/** @throws Problem */
export function parseRule (rule: string): Node {
  if (rule.length > MAX_LENGTH) throw new Problem(`Syntax error: a rule has at most ${MAX_LENGTH} characters`, '')
  if (OPERATORS_IN_A_ROW.test(rule)) throw new Problem('Syntax error: too many operators in a row', '')
  environment ??= new (cel().Environment)({
    limits: { maxAstNodes: MAX_NODES, maxDepth: MAX_DEPTH, maxListElements: MAX_NODES, maxMapEntries: MAX_NODES }
  })
  try {
    return environment.parse(rule).ast
  } catch (error) {
    const { summary, message, range } = error as Cel.ParseError // the only error of the parser
    throw new Problem(`Syntax error: ${summary ?? message}`, rule, range?.start)
  }
}

/** Unsigned integers are objects of the parser. */
export type Literal = string | number | bigint | boolean | null | Uint8Array | { readonly value: bigint }

export const literalOf = (node: Extract<Node, { op: 'value' }>): Literal => node.args as Literal

/** The macros that loop over a list or the keys of a map, with their numbers of arguments. */
const LOOPS: Readonly<Record<string, readonly number[]>> = {
  all: [2], exists: [2], exists_one: [2], map: [2, 3], filter: [2]
}

export interface Loop {
  readonly macro: 'all' | 'exists' | 'exists_one' | 'map' | 'filter'
  readonly over: Node
  readonly variable: string
  /** The condition for each item; for `map` only if it has one. */
  readonly condition: Node | undefined
  readonly result: Node | undefined
}

/** Returns the loop macro that a call represents, if any. */
export function loopOf (node: Node): Loop | undefined {
  if (node.op !== 'rcall') return undefined
  const [macro, over, [variable, first, second]] = node.args
  if (!Object.hasOwn(LOOPS, macro) || LOOPS[macro]?.includes(node.args[2].length) !== true || variable?.op !== 'id') {
    return undefined
  }
  const maps = macro === 'map'
  return {
    macro: macro as Loop['macro'], over, variable: variable.args,
    condition: maps && second === undefined ? undefined : first, result: maps ? second ?? first : undefined
  }
}
