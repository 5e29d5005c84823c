/** JSONPath of Kubernetes' dialect, evaluated one value after the other within a budget. */
import type * as JsonP3 from 'json-p3'
import { type CellBudget, OVER_BUDGET } from '../cell-budget.js'
import { onDemand } from '../on-demand.js'

const jsonPath = onDemand<typeof JsonP3>('json-p3')

/** Longer paths match nothing. */
const MAX_PATH = 8 * 1024

/** Finds the first value at the path; none for an invalid path, as upstream. @throws OVER_BUDGET */
export function finder (path: string): (object: object, budget: CellBudget) => unknown {
  const { JSONPathEnvironment } = jsonPath()
  const environment = new JSONPathEnvironment()
  environment.functionRegister.clear() // they match regular expressions that may backtrack
  let current: CellBudget | undefined
  let query: JsonP3.JSONPathQuery
  try {
    if (path.length > MAX_PATH) return () => undefined
    query = environment.compile(`$${standardPath(path)}`)
    visitOneByOne(query, () => { current?.spend() })
    environment.entries = object => {
      const entries = Object.entries(object)
      current?.spend(entries.length)
      return entries
    }
  } catch {
    return () => undefined
  }
  return (object, budget) => {
    current = budget
    try {
      return query.match(object as never)?.value // a plain object
    } catch (error) {
      if (error === OVER_BUDGET) throw error
      return undefined // the library limits the depth of `..`
    }
  }
}

interface Node { readonly value: unknown }
/** The parts of a compiled query that are replaced. */
interface Part {
  readonly segments?: unknown
  readonly selectors?: ReadonlyArray<{ readonly lazyResolve: (node: Node) => Iterable<Node> }>
  /** Of `..`: all values below. */
  readonly visit?: (node: Node) => Iterable<Node>
  lazyResolve?: (nodes: Iterable<Node>) => Iterable<Node>
  resolve?: (nodes: Iterable<Node>) => Iterable<Node>
  evaluate?: (context: object) => unknown
}

/** Makes each part of the path select one value after the other, in filters too: the library would list all first. */
function visitOneByOne (part: Part, visited: () => void): void {
  const { selectors, evaluate } = part
  if (selectors !== undefined) {
    const lazily = function * (nodes: Iterable<Node>): Generator<Node> {
      for (const node of nodes) {
        for (const within of part.visit?.(node) ?? [node]) {
          visited()
          for (const selector of selectors) {
            for (const match of selector.lazyResolve(within)) {
              visited()
              yield match
            }
          }
        }
      }
    }
    part.lazyResolve = lazily
    part.resolve = nodes => [...lazily(nodes)]
  }
  if (evaluate !== undefined) {
    part.evaluate = context => {
      visited()
      return evaluate.call(part, context)
    }
  }
  for (const [name, value] of Object.entries(part)) {
    if (name === 'environment' || name === 'token') continue
    for (const below of Array.isArray(value) ? value as unknown[] : [value]) {
      if (typeof below === 'object' && below !== null) visitOneByOne(below, visited)
    }
  }
}

/**
 * Kubernetes' dialect ends names at few characters and escapes dots in them: `.metadata.annotations.example\.com/size`.
 * Quoted in brackets, they are read in the same way. Filters stay as they are.
 */
const standardPath = (path: string): string => path.replace(PART, (part, quoted?: string, name?: string) => {
  if (quoted !== undefined) return namesIn(quoted).map(quotedName).join('')
  return name === undefined || PLAIN.test(name) ? part : quotedName(name)
})

/** A filter, a name in brackets, or a name after a dot. */
const PART = /\[\?\(.*?\)\]|\['([^']*)'\]|\.((?:[^\\.,[\]$@{}\s]|\\.)+)/g
const PLAIN = /^(?:\*|[A-Za-z_][\w-]*)$/
const namesIn = (text: string): readonly string[] => text.match(/(?:[^\\.]|\\.)+/g) ?? []
const quotedName = (name: string): string => `[${JSON.stringify(name.replaceAll('\\', ''))}]`
