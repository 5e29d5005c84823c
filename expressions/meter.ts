/** The cost of evaluating rules, in upstream's units. */

/** Ends an evaluation. Not a value, because operators absorb those. */
export class CostExceeded extends Error {}

/** Upstream's limit of one evaluation. */
const MAX_COST = 1_000_000
/** The cost between two yields: some milliseconds. */
const COST_PER_YIELD = 2000
/** Upstream's limit of all rules of an object. */
export const MAX_COST_OF_OBJECT = 10_000_000

export class Meter {
  spent = 0
  #yielded = 0

  /** @throws CostExceeded */
  spend (cost: number): void {
    this.spent += cost
    if (this.spent > MAX_COST) throw new CostExceeded()
  }

  /** Whether other work is due. */
  get isDue (): boolean {
    if (this.spent - this.#yielded < COST_PER_YIELD) return false
    this.#yielded = this.spent
    return true
  }
}

/** Cost of visiting one character of a string, or byte. */
const PER_CHARACTER = 0.1
const PER_CHARACTER_OF_PATTERN = 0.25
const traversal = (size: number): number => Math.ceil(size * PER_CHARACTER)

type Cost = (first: number, second: number) => number
const ofFirst: Cost = first => traversal(first)
const ofSecond: Cost = (_first, second) => traversal(second)
const ofSmaller: Cost = (first, second) => traversal(Math.min(first, second))
const ofProduct: Cost = (first, second) => traversal(first) * traversal(second)
const ofPattern: Cost = (first, second) => traversal(first + 1) * Math.ceil(second * PER_CHARACTER_OF_PATTERN)

/** By the name of a function, or of a method with a dot; others cost 1. */
const OF_TEXT: Readonly<Record<string, Cost>> = {
  '==': ofSmaller, '!=': ofSmaller, '<': ofSmaller, '<=': ofSmaller, '>': ofSmaller, '>=': ofSmaller,
  '+': (first, second) => traversal(first + second), '.contains': ofProduct, '.startsWith': ofSecond,
  '.endsWith': ofSecond, '.matches': ofPattern, matches: ofPattern, '.find': ofPattern, '.findAll': ofPattern,
  '.indexOf': ofProduct, '.lastIndexOf': ofProduct,
  ...Object.fromEntries([
    '.lowerAscii', '.upperAscii', '.trim', '.replace', '.split', '.substring', '.charAt', 'isURL', 'url', 'string',
    'bytes'
  ].map(name =>
    [name, ofFirst]))
}
const OF_LIST: Readonly<Record<string, Cost>> = {
  in: (_first, second) => second,
  ...Object.fromEntries(['.isSorted', '.sum', '.min', '.max', '.indexOf', '.lastIndexOf', '.join'].map(name =>
    [name, (first: number) => first]))
}

/** @param visits what the function visits: a list, or strings or bytes */
export function costOfCall (name: string, visits: 'list' | 'text' | undefined, first: number, second: number): number {
  const cost = visits === 'list' ? OF_LIST[name] : visits === 'text' ? OF_TEXT[name] : undefined
  return Math.max(1, cost?.(first, second) ?? 1)
}

export const COST_OF_LIST = 10
export const COST_OF_MAP = 30
