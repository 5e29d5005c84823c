/** Calls that are macros, which take names or conditions instead of values. */
import { Problem } from './problem.js'
import { call, measure, name, type Bind, type Call, type Fold, type Node } from './syntax.js'

interface Macro {
  readonly kind: Fold['kind']
  /** Names it takes, and whether a condition may come before what an item becomes. */
  readonly names: 1 | 2
  readonly form: 'test' | 'result' | 'test, result'
}
const quantifier = (kind: 'all' | 'exists' | 'one'): Array<[number, Macro]> =>
  [[2, { kind, names: 1, form: 'test' }], [3, { kind, names: 2, form: 'test' }]]
const transform = (kind: Fold['kind']): Map<number, Macro> => new Map([
  [3, { kind, names: 2, form: 'result' }], [4, { kind, names: 2, form: 'test, result' }]
])

/** By name and number of arguments. */
const MACROS: ReadonlyMap<string, ReadonlyMap<number, Macro>> = new Map([
  ['all', new Map(quantifier('all'))], ['exists', new Map(quantifier('exists'))],
  ['exists_one', new Map(quantifier('one'))],
  ['existsOne', new Map<number, Macro>([[3, { kind: 'one', names: 2, form: 'test' }]])],
  ['map', new Map<number, Macro>([
    [2, { kind: 'list', names: 1, form: 'result' }], [3, { kind: 'list', names: 1, form: 'test, result' }]
  ])],
  ['filter', new Map<number, Macro>([[2, { kind: 'list', names: 1, form: 'test' }]])],
  ['transformList', transform('list')], ['transformMap', transform('map')], ['transformMapEntry', transform('entries')]
])

/** What a call stands for: itself, or what a macro makes of it. @throws Problem */
export function expand (text: string, written: Call, binds: boolean): Node {
  const { name: called, target, args, at } = written
  if (target === undefined) {
    if (called !== 'has' || args.length !== 1) return written
    const [field] = args
    if (field?.op !== 'select') throw new Problem('invalid argument to has() macro', text, field?.at ?? at)
    return { ...field, test: true, at }
  }
  if (called === 'bind' && binds && args.length === 3 && target.op === 'name' && target.name === 'cel') {
    const [variable, value, body] = args as [Node, Node, Node] // three
    return bind(nameOf(text, variable), value, body, at)
  }
  const macro = MACROS.get(called)?.get(args.length)
  if (macro !== undefined) return fold(text, written, macro)
  if (args.length !== 2) return written
  const [variable, body] = args as [Node, Node] // two
  if (called === 'sortBy') {
    const [list, own] = ['@__sortBy_input__', name('@__sortBy_input__', at)]
    const keys = fold(text, { ...written, target: own }, { kind: 'list', names: 1, form: 'result' })
    return bind(list, target, call('@sortByAssociatedKeys', own, [keys], at), at)
  }
  if (called !== 'optMap' && called !== 'optFlatMap') return written
  const inner = bind(nameOf(text, variable), call('value', target, [], at), body, at)
  const optional = name('optional', at)
  const [condition, yes, no] = [
    call('hasValue', target, [], at), called === 'optMap' ? call('of', optional, [inner], at) : inner,
    call('none', optional, [], at)
  ]
  return { op: 'choice', args: [condition, yes, no], at, ...measure(condition, yes, no) }
}

function fold (text: string, { target, args, at }: Call, { kind, names, form }: Macro): Fold {
  const [first, second] = args.slice(0, names).map(variable => nameOf(text, variable))
  if (first === second) throw new Problem('duplicate variable name in comprehension', text, args[1]?.at ?? at)
  const [one, other] = args.slice(names)
  const range = target as Node // macros are methods
  const [test, result] = form === 'test'
    // What passes a filter stays as it is.
    ? [one, kind === 'list' ? name(first ?? '', args[0]?.at ?? at) : undefined]
    : form === 'result' ? [undefined, one] : [one, other]
  return {
    op: 'fold', kind, range, names: second === undefined ? [first ?? ''] : [first ?? '', second], test, result, at,
    ...measure(range, test, result)
  }
}

const bind = (variable: string, value: Node, body: Node, at: number): Bind =>
  ({ op: 'bind', name: variable, value, body, at, ...measure(value, body) })

function nameOf (text: string, node: Node): string {
  if (node.op === 'name') return node.name
  throw new Problem('argument is not an identifier', text, node.at)
}
