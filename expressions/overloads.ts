/** The functions and operators of CEL and of upstream's libraries. A and B are type parameters. */
import { listOf, mapOf, optionalOf, typeOf, type Kind, type Type } from './types.js'

/** In the order of the public project: an empty list is one of the first. */
const ORDERED = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes']
const NUMBERS = ['int', 'uint', 'double']
const SUMMED = [...NUMBERS, 'duration']
const OF_TIME = [
  'getFullYear', 'getMonth', 'getDate', 'getDayOfMonth', 'getDayOfWeek', 'getDayOfYear', 'getHours', 'getMinutes',
  'getSeconds', 'getMilliseconds'
]
export const FORMATS = [
  'dns1123Label', 'dns1123Subdomain', 'dns1035Label', 'qualifiedName', 'dns1123LabelPrefix', 'dns1123SubdomainPrefix',
  'dns1035LabelPrefix', 'labelValue', 'uri', 'uuid', 'byte', 'date', 'datetime'
] as const

/** `name(parameters): result`, or `type.name(parameters): result` for methods. */
const standard = (): string[] => [
  '_==_(A, A): bool', '_!=_(A, A): bool', '@in(A, list(A)): bool', '@in(A, map(A, B)): bool', '_[_](list(A), int): A',
  '_[_](map(A, B), A): B', '!_(bool): bool', '-_(int): int', '-_(double): double',
  ...['<', '<=', '>', '>='].flatMap(op => [
    ...ORDERED.map(type => `_${op}_(${type}, ${type}): bool`),
    ...NUMBERS.flatMap(left => NUMBERS.flatMap(right => left === right ? [] : `_${op}_(${left}, ${right}): bool`))
  ]),
  ...['int', 'uint', 'double', 'string', 'bytes', 'duration', 'list(A)'].map(type => `_+_(${type}, ${type}): ${type}`),
  '_+_(timestamp, duration): timestamp', '_+_(duration, timestamp): timestamp',
  ...SUMMED.map(type => `_-_(${type}, ${type}): ${type}`),
  '_-_(timestamp, timestamp): duration', '_-_(timestamp, duration): timestamp',
  ...['*', '/'].flatMap(op => NUMBERS.map(type => `_${op}_(${type}, ${type}): ${type}`)),
  '_%_(int, int): int', '_%_(uint, uint): uint',
  ...['string', 'bytes', 'list(A)', 'map(A, B)'].flatMap(type => [`size(${type}): int`, `${type}.size(): int`]),
  'type(A): type(A)', 'dyn(A): dyn',
  ...['int', 'uint', 'double', 'string', 'timestamp', 'duration'].map(type => `int(${type}): int`),
  ...[...NUMBERS, 'string'].flatMap(type => [`uint(${type}): uint`, `double(${type}): double`]),
  ...['bool', 'int', 'uint', 'double', 'string', 'bytes', 'timestamp', 'duration', 'ip', 'cidr']
    .map(type => `string(${type}): string`),
  ...['bytes', 'string'].map(type => `bytes(${type}): bytes`), ...['bool', 'string'].map(type => `bool(${type}): bool`),
  ...['string', 'timestamp', 'int'].map(type => `timestamp(${type}): timestamp`),
  ...['string', 'duration', 'int'].map(type => `duration(${type}): duration`),
  ...OF_TIME.flatMap(name => [`timestamp.${name}(): int`, `timestamp.${name}(string): int`]),
  ...OF_TIME.slice(-4).map(name => `duration.${name}(): int`),
  ...['contains', 'startsWith', 'endsWith', 'matches'].map(name => `string.${name}(string): bool`),
  'matches(string, string): bool'
]

const ofStrings = (): string[] => [
  'string.charAt(int): string', ...['indexOf', 'lastIndexOf']
    .flatMap(name => [`string.${name}(string): int`, `string.${name}(string, int): int`]),
  'list(string).join(): string', 'list(string).join(string): string',
  ...['lowerAscii', 'upperAscii', 'trim'].map(name => `string.${name}(): string`),
  'string.replace(string, string): string', 'string.replace(string, string, int): string',
  'string.split(string): list(string)', 'string.split(string, int): list(string)', 'string.substring(int): string',
  'string.substring(int, int): string', 'string.format(list(dyn)): string', 'strings.quote(string): string',
  'string.find(string): string', 'string.findAll(string): list(string)', 'string.findAll(string, int): list(string)'
]

const ofLists = (): string[] => [
  ...ORDERED.flatMap(type => [
    `list(${type}).isSorted(): bool`, `list(${type}).min(): ${type}`, `list(${type}).max(): ${type}`,
    `list(${type}).sort(): list(${type})`, `list(A).@sortByAssociatedKeys(list(${type})): list(A)`
  ]),
  ...SUMMED.map(type => `list(${type}).sum(): ${type}`), 'list(A).indexOf(A): int', 'list(A).lastIndexOf(A): int',
  'list(A).slice(int, int): list(A)', 'list(list(A)).flatten(): list(A)', 'list(dyn).flatten(int): list(dyn)',
  'lists.range(int): list(int)', 'list(A).reverse(): list(A)', 'list(A).distinct(): list(A)',
  ...['contains', 'equivalent', 'intersects'].map(name => `sets.${name}(list(A), list(A)): bool`)
]

const ofOptionals = (): string[] => [
  'optional.of(A): optional(A)', 'optional.ofNonZeroValue(A): optional(A)', 'optional.none(): optional(A)',
  'optional(A).value(): A', 'optional(A).hasValue(): bool', 'optional(A).or(optional(A)): optional(A)',
  'optional(A).orValue(A): A', 'list(A).first(): optional(A)', 'list(A).last(): optional(A)',
  'optional.unwrap(list(optional(A))): list(A)', 'list(optional(A)).unwrapOpt(): list(A)',
  '_[?_](list(A), int): optional(A)', '_[?_](optional(list(A)), int): optional(A)',
  '_[?_](map(A, B), A): optional(B)', '_[?_](optional(map(A, B)), A): optional(B)',
  '_[_](optional(list(A)), int): optional(A)', '_[_](optional(map(A, B)), A): optional(B)'
]

const compared = (type: string): string[] => [
  `${type}.isGreaterThan(${type}): bool`, `${type}.isLessThan(${type}): bool`, `${type}.compareTo(${type}): int`
]
const ofValues = (): string[] => [
  'url(string): url', 'isURL(string): bool',
  ...['getScheme', 'getHost', 'getHostname', 'getPort', 'getEscapedPath'].map(name => `url.${name}(): string`),
  'url.getQuery(): map(string, list(string))',
  'ip(string): ip', 'isIP(string): bool', 'ip.isCanonical(string): bool', 'ip.family(): int',
  ...['isUnspecified', 'isLoopback', 'isLinkLocalMulticast', 'isLinkLocalUnicast', 'isGlobalUnicast']
    .map(name => `ip.${name}(): bool`),
  'cidr(string): cidr', 'isCIDR(string): bool', ...['IP', 'CIDR'].flatMap(name =>
    [`cidr.contains${name}(string): bool`, `cidr.contains${name}(${name.toLowerCase()}): bool`]),
  'cidr.ip(): ip', 'cidr.prefixLength(): int', 'cidr.masked(): cidr',
  'quantity(string): quantity', 'isQuantity(string): bool', 'sign(quantity): int', 'quantity.sign(): int',
  ...compared('quantity'), 'quantity.asApproximateFloat(): double', 'quantity.asInteger(): int',
  'quantity.isInteger(): bool',
  ...['add', 'sub'].flatMap(name => ['quantity', 'int'].map(type => `quantity.${name}(${type}): quantity`)),
  'semver(string): semver', 'semver(string, bool): semver', 'isSemver(string): bool', 'isSemver(string, bool): bool',
  ...compared('semver'), ...['major', 'minor', 'patch'].map(name => `semver.${name}(): int`),
  'format.named(string): optional(named_format)', 'named_format.validate(string): optional(list(string))',
  ...FORMATS.map(name => `format.${name}(): named_format`)
]

const ofAuthorizer = (): string[] => [
  'authorizer.path(string): path_check', 'authorizer.group(string): group_check',
  'authorizer.serviceAccount(string, string): authorizer', 'group_check.resource(string): resource_check',
  ...['subresource', 'namespace', 'name', 'fieldSelector', 'labelSelector']
    .map(name => `resource_check.${name}(string): resource_check`),
  'path_check.check(string): decision', 'resource_check.check(string): decision', 'decision.errored(): bool',
  'decision.error(): string', 'decision.allowed(): bool', 'decision.reason(): string'
]

/** Only environments that name it have such a function. */
const ofSome = (): string[] => ['jsonpatch.escapeKey(string): string', 'dyn.includes(dyn): bool']

export interface Overload {
  /** The name in expressions, without receiver. */
  readonly name: string
  /** Types of the parameters; the receiver is the first. */
  readonly takes: readonly Type[]
  readonly returns: Type
}

let known: ReadonlyMap<string, readonly Overload[]> | undefined

/** By the name of a function or operator, or of a method with a dot. The table is made with the first expression. */
export function overloadsOf (name: string): readonly Overload[] | undefined {
  known ??= table()
  return known.get(name)
}

/** Namespaces of functions, which look like receivers. */
const NAMESPACES = /^(?:strings|lists|sets|optional|format|jsonpatch)\.|^ip\.isCanonical\(/

function table (): Map<string, Overload[]> {
  const byName = new Map<string, Overload[]>()
  const all = [standard, ofStrings, ofLists, ofOptionals, ofValues, ofAuthorizer, ofSome].flatMap(library => library())
  for (const signature of all) {
    const end = signature.lastIndexOf('): ')
    const open = openOf(signature, end)
    const head = signature.slice(0, open)
    const dot = NAMESPACES.test(signature) ? -1 : head.lastIndexOf('.')
    const name = head.slice(dot + 1)
    const receiver = dot < 0 ? [] : [head.slice(0, dot)]
    const key = dot < 0 ? name : `.${name}`
    const overloads = byName.get(key) ?? []
    overloads.push({
      name, takes: [...receiver, ...split(signature.slice(open + 1, end))].map(read),
      returns: read(signature.slice(end + '): '.length))
    })
    byName.set(key, overloads)
  }
  return byName
}

/** The parenthesis that another one closes. */
function openOf (text: string, close: number): number {
  for (let at = close, depth = 0; at > 0; at--) {
    if (text[at] === ')') depth++
    else if (text[at] === '(' && --depth === 0) return at
  }
  return 0
}

/** Splits at commas outside of parentheses. */
function split (text: string): string[] {
  const parts: string[] = []
  let [depth, start] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '(') depth++
    else if (text[at] === ')') depth--
    else if (text[at] === ',' && depth === 0) {
      parts.push(text.slice(start, at))
      start = at + 2
    }
  }
  return text === '' ? parts : [...parts, text.slice(start)]
}

function read (text: string): Type {
  const [, outer, inner = ''] = /^(list|map|type|optional)\((.*)\)$/.exec(text) ?? []
  const [first = '', second = first] = split(inner)
  if (outer === 'list') return listOf(read(inner))
  if (outer === 'optional') return optionalOf(read(inner))
  if (outer === 'map') return mapOf(read(first), read(second))
  if (outer === 'type') return typeOf(read(inner))
  return /^[AB]$/.test(text) ? { kind: 'param', name: text } : { kind: text as Kind } // the kinds of the table
}
