/**
 * Log verbosity by module: `-v`, or more if a `--vmodule` pattern matches. A module is a source file without its
 * extension; the first matching pattern counts. `-v` can be changed while the server runs, the patterns stay.
 * @see interface, 'Server start-up options': --vmodule
 */

/** Modules whose logging depends on verbosity. */
export const MODULES = ['launch', 'metrics', 'request-log', 'tracing'] as const

interface Rule {
  readonly pattern: string
  readonly matches: RegExp
  readonly level: number
}

const RULE = /^([^=,\s]+)=(\d{1,9})$/

/** Describes an invalid rule; undefined if valid. */
export function ruleProblem (text: string): string | undefined {
  const pattern = RULE.exec(text)?.[1]
  if (pattern === undefined) return 'must have the form pattern=N'
  if (globOf(pattern) === undefined) {
    return 'has a pattern that cannot be read: [ and ] hold characters or ranges, and a \\ stands before the ' +
      'character it is for'
  }
  return undefined
}

export class Verbosity {
  readonly #rules: readonly Rule[]
  /** Levels by module, cached because some modules are looked up at each request. */
  readonly #known = new Map<string, number>()
  readonly #followers: Array<() => void> = []
  #v: number

  /** @param texts valid rules */
  constructor (v: number, texts: readonly string[] = []) {
    this.#v = v
    this.#rules = rulesOf(texts)
  }

  get v (): number { return this.#v }

  of (module: string): number {
    let level = this.#known.get(module)
    if (level === undefined) {
      level = Math.max(this.#v, this.#rules.find(({ matches }) => matches.test(module))?.level ?? 0)
      this.#known.set(module, level)
    }
    return level
  }

  set (v: number): void {
    this.#v = v
    this.#known.clear()
    for (const follow of this.#followers) follow()
  }

  /** Calls `then` after each change, as long as the server runs. */
  follow (then: () => void): void { this.#followers.push(then) }
}

/** Warnings about rules that match no module. */
export function idleRules (texts: readonly string[]): string[] {
  return rulesOf(texts).filter(({ matches }) => !MODULES.some(module => matches.test(module)))
    .map(({ pattern }) =>
      `--vmodule: no module matches ${pattern}; those that log by verbosity are ${MODULES.join(', ')}`)
}

const rulesOf = (texts: readonly string[]): Rule[] => texts.flatMap(text => {
  const [, pattern = '', level = ''] = RULE.exec(text) ?? []
  const matches = globOf(pattern)
  return matches === undefined ? [] : [{ pattern, matches, level: Number(level) }]
})

/** Compiles a glob: `*`, `?`, `[a-c]`, `[^a-c]`. Undefined if invalid. */
function globOf (pattern: string): RegExp | undefined {
  let source = ''
  for (let rest = pattern; rest !== '';) {
    const [part = ''] = /^(?:\*+|\?|\[(?!\^\])\^?(?:\\?[^\]\\-](?:-\\?[^\]\\-])?)+\]|\\.|[^\\[\]])/su.exec(rest) ?? []
    if (part === '') return undefined
    rest = rest.slice(part.length)
    if (part.startsWith('*')) source += '.*'
    else if (part === '?') source += '.'
    else if (part.length > 2 && part.startsWith('[')) source += part
    else source += (part.startsWith('\\') ? part.slice(1) : part).replace(/[.*+?^${}()|[\]\\/]/gu, '\\$&')
  }
  try {
    return new RegExp(`^${source}$`, 'su')
  } catch {
    return undefined // a reversed range
  }
}
