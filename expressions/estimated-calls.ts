/** What calls cost at most, and the sizes of their results, from the sizes of their operands. */
import type { Overload } from './overloads.js'
import { add, exactly, tenths, times, UNKNOWN, type Range } from './ranges.js'
import type { Kind } from './types.js'

export interface Operand {
  readonly kind: Kind
  /** Of the items of a list. */
  readonly of: Kind | undefined
  readonly size: Range | undefined
  /** The value of a literal integer. */
  readonly integer: number | undefined
  /** The size of an item of a list. */
  readonly element: () => Range | undefined
}

/** The operands of a call with their sizes. */
interface Sizes {
  readonly s: Range
  readonly a: Range
  readonly b: Range
  readonly operands: readonly Operand[]
  readonly overload: Overload
}
type Estimate = (sizes: Sizes) => Range

const quarters = (range: Range): Range =>
  ({ min: Math.ceil(range.min / 4), max: Math.min(UNKNOWN.max, Math.ceil(range.max / 4)) })
const once: Estimate = ({ s }) => tenths(1, s)
const twice: Estimate = ({ s }) => tenths(2, s)
const pattern: Estimate = ({ s, a }) => times(tenths(1, add(s, exactly(1))), quarters(a))
const isText = (kind: Kind | undefined): boolean => kind === 'string' || kind === 'bytes'
const ofTexts = (estimate: Estimate): Estimate => sizes =>
  isText(sizes.overload.takes[0]?.kind) ? estimate(sizes) : exactly(1)

const compared: Estimate = ({ s, a }) => {
  const most = Math.min(s.max, a.max)
  return tenths(1, { min: most > 0 ? 1 : 0, max: most })
}
const ONE_COST: ReadonlySet<Kind> = new Set([
  'quantity', 'semver', 'ip', 'cidr', 'authorizer', 'path_check', 'group_check', 'resource_check', 'decision'
])
const COST_OF_FORMATS = 7
const equal: Estimate = sizes => {
  const [left, right] = sizes.operands
  if (left === undefined || left.kind !== right?.kind) return compared(sizes)
  if (ONE_COST.has(left.kind)) return exactly(1)
  if (left.kind === 'named_format') return { min: 1, max: COST_OF_FORMATS }
  if (left.kind !== 'url') return compared(sizes)
  return right.size === undefined ? exactly(1) : { min: 1, max: tenths(1, right.size).max }
}

const elements: Estimate = ({ s, operands: [list] }) => times(s, isText(list?.of)
  ? add(exactly(1), tenths(1, list?.element() ?? UNKNOWN))
  : exactly(1))
const joined: Estimate = ({ s, a, operands: [list, by] }) => add(
  times(s, list?.element() ?? UNKNOWN),
  times(by === undefined ? exactly(0) : a, { min: Math.max(s.min - 1, 0), max: Math.max(s.max - 1, 0) })
)
const squared = (s: Range, isOfTexts: boolean): Range => add(exactly(11), tenths(isOfTexts ? 21 : 20, times(s, s)))
const square: Estimate = ({ s, operands: [list] }) => squared(s, isText(list?.of))

/** The size of a slice. */
const sliced: Estimate = ({ s, operands: [, from, to] }) => {
  const [start, end] = [Math.max(0, from?.integer ?? 0), to?.integer === undefined ? s.max : Math.max(0, to.integer)]
  return exactly(end < start ? UNKNOWN.max : end - start)
}
const counted: Estimate = ({ operands: [size] }) =>
  size?.integer === undefined ? exactly(UNKNOWN.max) : exactly(Math.max(0, size.integer))
const levels = (operand: Operand | undefined): Range => exactly(operand === undefined
  ? 1
  : operand.integer === undefined ? UNKNOWN.max : Math.max(0, operand.integer))
const withList = (estimate: Estimate): Estimate => sizes => add(exactly(11), estimate(sizes))
const selector: Estimate = ({ a }) =>
  add(exactly(10), tenths(1, a), times(exactly(50), tenths(5, a)))
const networks = (least: number, most: number): Estimate => ({ a, operands: [, other] }) =>
  add({ min: least, max: most }, other?.kind === 'string' ? tenths(1, a) : exactly(0))
const COST_OF_CHECK = 350_000
const COST_OF_VALIDATION = 32

/** By name, with a dot for methods; others cost 1. */
const COSTS: ReadonlyMap<string, Estimate> = new Map<string, Estimate>([
  ['_==_', equal], ['_!=_', compared],
  ...['<', '<=', '>', '>='].map((op): [string, Estimate] => [`_${op}_`, ofTexts(compared)]),
  ['_+_', ofTexts(({ s, a }) => tenths(1, add(s, a)))],
  ['@in', ({ a, overload }) => overload.takes[1]?.kind === 'list' ? a : exactly(1)],
  ...['.startsWith', '.endsWith'].map((name): [string, Estimate] => [name, ({ a }) => tenths(1, a)]),
  ['.contains', ({ s, a }) => times(tenths(1, s), tenths(1, a))],
  ['.matches', pattern], ['.find', pattern], ['.findAll', pattern],
  ['bytes', sizes => sizes.overload.takes[0]?.kind === 'string' ? once(sizes) : exactly(1)],
  ['string', sizes => sizes.overload.takes[0]?.kind === 'bytes' ? once(sizes) : exactly(1)],
  ...['strings.quote', '.format', '.lowerAscii', '.upperAscii', '.substring', '.trim', 'jsonpatch.escapeKey', 'url',
    'quantity', 'isQuantity', 'semver', 'isSemver', 'cidr', 'isCIDR', 'isIP', 'ip']
    .map((name): [string, Estimate] => [name, once]),
  ['.replace', twice], ['.split', twice], ['ip.isCanonical', twice], ['.join', sizes => tenths(1, joined(sizes))],
  ...['.indexOf', '.lastIndexOf'].map((name): [string, Estimate] =>
    [name, sizes => sizes.overload.takes[0]?.kind === 'string' ? once(sizes) : elements(sizes)]),
  ...['.isSorted', '.sum', '.max', '.min'].map((name): [string, Estimate] => [name, elements]),
  ...['sets.contains', 'sets.intersects'].map((name): [string, Estimate] =>
    [name, ({ s, a }) => add(exactly(1), times(s, a))]),
  ['sets.equivalent', ({ s, a }) => add(exactly(1), times(exactly(2), times(s, a)))],
  ['.slice', withList(sliced)], ['lists.range', withList(counted)], ['.reverse', withList(({ s }) => s)],
  ['.flatten', withList(({ s, operands: [, depth] }) => times(levels(depth), s))],
  ['.distinct', ({ s }) => squared(s, false)], ['.sort', square],
  ['.@sortByAssociatedKeys', ({ a, operands: [, keys] }) => squared(a, isText(keys?.of))],
  ['.containsIP', networks(1, 4)], ['.containsCIDR', networks(3, 7)],
  ['.validate', ({ a }) => times(exactly(COST_OF_VALIDATION), tenths(1, a))],
  ['.check', () => exactly(COST_OF_CHECK)], ['.fieldSelector', selector], ['.labelSelector', selector]
])

/** As upstream estimates it: what is replaced is as short, and what replaces it as long, as can be. */
const replaced: Estimate = ({ s, a, b }) => {
  const [most, least]: ReadonlyArray<readonly [count: number, rest: number]> = [
    a.min === 0 ? [s.max + 1, s.max] : b.max <= a.min ? [0, s.max] : [Math.ceil(s.max / a.min), 0],
    a.max === 0 ? [s.min + 1, s.min] : a.max <= b.min ? [0, s.min] : [Math.ceil(s.min / a.max), 0]
  ]
  const part = (index: 0 | 1): Range => ({ min: least?.[index] ?? 0, max: most?.[index] ?? 0 })
  return add(times(part(0), b), part(1))
}
const same: Estimate = ({ s }) => s

/** By name; others have no size of their own. */
const RESULTS: ReadonlyMap<string, Estimate> = new Map<string, Estimate>([
  ['_+_', ({ s, a }) => add(s, a)],
  ['bytes', ({ s }) => ({ min: s.min, max: times(exactly(4), s).max })],
  ['string', ({ s }) => ({ min: Math.floor(s.min / 4), max: s.max })],
  ['strings.quote', ({ s }) => add({ min: s.min, max: times(exactly(2), s).max }, exactly(2))],
  ...['.lowerAscii', '.upperAscii', '.substring', '.trim', 'jsonpatch.escapeKey', 'url', '.reverse', '.flatten']
    .map((name): [string, Estimate] => [name, same]),
  ['.replace', replaced],
  ['.split', ({ s, operands: [, , limit] }) => ({
    min: 0, max: limit?.integer === undefined ? s.max : limit.integer < 0 ? UNKNOWN.max : limit.integer
  })],
  ['.join', joined], ['.find', ({ s }) => ({ min: 0, max: s.max })], ['.findAll', ({ s }) => ({ min: 0, max: s.max })],
  ['.slice', sliced], ['lists.range', counted],
  ['.distinct', ({ s }) => times(s, s)], ['.sort', ({ s }) => times(s, s)],
  ['.@sortByAssociatedKeys', ({ a }) => times(a, a)]
])
/** Only for these types of their operand. */
const SIZED: Readonly<Record<string, readonly Kind[]>> =
  { '_+_': ['string', 'bytes', 'list'], bytes: ['string'], string: ['bytes'] }

function sizesOf (overload: Overload, operands: readonly Operand[]): Sizes {
  const [s = UNKNOWN, a = UNKNOWN, b = UNKNOWN] = operands.map(({ size }) => size ?? UNKNOWN)
  return { s, a, b, operands, overload }
}
const keyOf = ({ name }: Overload, isMethod: boolean): string => isMethod ? `.${name}` : name

export function costOf (overload: Overload, operands: readonly Operand[], isMethod: boolean): Range {
  return COSTS.get(keyOf(overload, isMethod))?.(sizesOf(overload, operands)) ?? exactly(1)
}

export function resultOf (overload: Overload, operands: readonly Operand[], isMethod: boolean): Range | undefined {
  const key = keyOf(overload, isMethod)
  const kinds = SIZED[key]
  const [first] = overload.takes
  if (kinds !== undefined && (first === undefined || !kinds.includes(first.kind))) return undefined
  return RESULTS.get(key)?.(sizesOf(overload, operands))
}
