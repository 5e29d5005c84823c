/** What a call costs, in upstream's units. Operators and functions that are not here cost 1. */
import { Items, Opaque, sizeOf, type Value } from './values.js'

const tenth = (size: number): number => Math.ceil(size / 10)
const quarter = (size: number): number => Math.ceil(size / 4)
type Cost = (sizes: Sizes, values: readonly Value[]) => number

/** Sizes of the values, read when a cost asks for one. */
class Sizes {
  readonly #values: readonly Value[]
  constructor (values: readonly Value[]) { this.#values = values }
  get s (): number { return sizeOf(this.#values[0]) }
  get a (): number { return sizeOf(this.#values[1]) }
  get smaller (): number { return Math.min(this.s, this.a) }
}

const isText = (value: Value | undefined): boolean => typeof value === 'string' || value instanceof Uint8Array
const texts = (cost: Cost): Cost => (sizes, values) => isText(values[0]) ? cost(sizes, values) : 1
const once: Cost = ({ s }) => tenth(s)
const twice: Cost = ({ s }) => Math.ceil(s / 5)
const pattern: Cost = ({ s, a }) => tenth(s + 1) * quarter(a)
const compared: Cost = ({ smaller }, [left]) => left instanceof Opaque ? 1 : tenth(smaller)
const squared: Cost = ({ s }, [list]) =>
  11 + Math.floor((list instanceof Items && isText(list.at(0)) ? 2.1 : 2) * s * s)

/** Lists pay for each item that is visited. */
const searched: Cost = (_sizes, [of]) => typeof of === 'string' ? Math.floor(Buffer.byteLength(of) / 10) : 0
const selector: Cost = ({ a }) => 10 + tenth(a) + 50 * Math.ceil(a / 2)
const COST_OF_CHECK = 350_000
const LEVELS = 1
/** The length of the pattern behind a format. */
const COST_OF_FORMAT: Readonly<Record<string, number>> = {
  dns1123Label: 30, dns1123Subdomain: 60, dns1035Label: 30, qualifiedName: 60, dns1123LabelPrefix: 30,
  dns1123SubdomainPrefix: 60, dns1035LabelPrefix: 30, labelValue: 40, uri: 1103, uuid: 70, byte: 84, date: 71,
  datetime: 71
}

const COSTS: ReadonlyMap<string, Cost> = new Map<string, Cost>([
  ['_==_', compared], ['_!=_', compared],
  ...['<', '<=', '>', '>='].map((op): [string, Cost] => [`_${op}_`, texts(compared)]),
  ['_+_', texts(({ s, a }) => tenth(s + a))],
  ['@in', ({ a }, [, container]) => container instanceof Items ? a : 1],
  ...['.startsWith', '.endsWith'].map((name): [string, Cost] => [name, once]),
  ['.contains', ({ s, a }) => tenth(s) * tenth(a)], ['.matches', pattern], ['.find', pattern], ['.findAll', pattern],
  ...['bytes', 'strings.quote', '.format', '.lowerAscii', '.upperAscii', '.substring', '.trim', 'jsonpatch.escapeKey',
    'url', 'quantity', 'isQuantity', 'semver', 'isSemver', 'cidr', 'isCIDR', 'isIP', 'ip']
    .map((name): [string, Cost] => [name, texts(once)]),
  ['string', (sizes, [value]) => value instanceof Uint8Array ? tenth(sizes.s) : 1],
  ['.replace', twice], ['.split', twice], ['ip.isCanonical', twice],
  ...['.isSorted', '.sum', '.max', '.min', '.join', '.indexOf', '.lastIndexOf']
    .map((name): [string, Cost] => [name, searched]),
  ['sets.contains', ({ s, a }) => 1 + s * a], ['sets.intersects', ({ s, a }) => 1 + s * a],
  ['sets.equivalent', ({ s, a }) => 1 + 2 * s * a],
  ['.flatten', ({ s }, [, depth]) => 11 + Math.floor((typeof depth === 'bigint' ? Number(depth) : LEVELS) * s)],
  ['.distinct', squared], ['.sort', squared],
  ['.@sortByAssociatedKeys', (_sizes, [, keys = null]) => squared(new Sizes([keys]), [keys])],
  ['.containsIP', ({ s, a }, [, other]) => Math.ceil(s / 5) + (typeof other === 'string' ? tenth(a) : 0)],
  ['.containsCIDR', ({ s, a }, [, other]) =>
    Math.ceil(s / 5) + tenth(s) + 1 + (typeof other === 'string' ? tenth(a) : 0)],
  ['.check', () => COST_OF_CHECK], ['.fieldSelector', selector], ['.labelSelector', selector],
  ['.validate', ({ a }, [format]) => tenth(a + 1) * quarter(COST_OF_FORMAT[String(format)] ?? 0)],
  ['.orValue', () => 0], ['.or', () => 0]
])

/** @param values the receiver of a method is the first */
export const costOfCall = (name: string, values: readonly Value[]): number =>
  COSTS.get(name)?.(new Sizes(values), values) ?? 1

/** Calls that cost by their result, which takes no time to make. */
export const COSTS_BY_RESULT: ReadonlySet<string> = new Set(['.slice', 'lists.range', '.reverse'])
export const costOfResult = (result: Value): number => 11 + sizeOf(result)

export const COST_OF_LIST = 10
export const COST_OF_MAP = 30
export const COST_OF_STRUCT = 40
