/** The functions that rules may call: those of CEL, and of upstream's library in 1.24. A and B are type parameters. */
import { listOf, mapOf, typeOf, type Kind, type Type } from './types.js'

const ORDERED = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'timestamp', 'duration']
const SUMMED = ['int', 'uint', 'double', 'duration']
const OF_TIME = [
  'getFullYear', 'getMonth', 'getDate', 'getDayOfMonth', 'getDayOfWeek', 'getDayOfYear', 'getHours', 'getMinutes',
  'getSeconds', 'getMilliseconds'
]

const signatures = (): string[] => [
  '==(A, A): bool', '!=(A, A): bool', 'in(A, list(A)): bool', 'in(A, map(A, B)): bool', '[](list(A), int): A',
  '[](map(A, B), A): B', '!_(bool): bool', '-_(int): int', '-_(double): double',
  ...['<', '<=', '>', '>='].flatMap(op => ORDERED.map(type => `${op}(${type}, ${type}): bool`)),
  ...['int', 'uint', 'double', 'string', 'bytes', 'duration', 'list(A)'].map(type => `+(${type}, ${type}): ${type}`),
  '+(timestamp, duration): timestamp', '+(duration, timestamp): timestamp',
  ...['int', 'uint', 'double', 'duration'].map(type => `-(${type}, ${type}): ${type}`),
  '-(timestamp, timestamp): duration', '-(timestamp, duration): timestamp',
  ...['*', '/'].flatMap(op => ['int', 'uint', 'double'].map(type => `${op}(${type}, ${type}): ${type}`)),
  '%(int, int): int', '%(uint, uint): uint',
  ...['string', 'bytes', 'list(A)', 'map(A, B)'].flatMap(type => [`size(${type}): int`, `${type}.size(): int`]),
  'type(A): type(A)', 'dyn(A): dyn',
  ...['int', 'uint', 'double', 'string', 'timestamp', 'duration'].map(type => `int(${type}): int`),
  ...['int', 'uint', 'double', 'string'].flatMap(type => [`uint(${type}): uint`, `double(${type}): double`]),
  ...['bool', 'int', 'uint', 'double', 'string', 'bytes', 'timestamp', 'duration', 'url']
    .map(type => `string(${type}): string`),
  ...['bytes', 'string'].map(type => `bytes(${type}): bytes`), ...['bool', 'string'].map(type => `bool(${type}): bool`),
  ...['string', 'timestamp', 'int'].map(type => `timestamp(${type}): timestamp`),
  ...['string', 'duration'].map(type => `duration(${type}): duration`),
  ...OF_TIME.flatMap(name => [`timestamp.${name}(): int`, `timestamp.${name}(string): int`]),
  ...OF_TIME.slice(-4).map(name => `duration.${name}(): int`),
  ...['contains', 'startsWith', 'endsWith', 'matches'].map(name => `string.${name}(string): bool`),
  'matches(string, string): bool', 'string.charAt(int): string', 'string.indexOf(string): int',
  'string.indexOf(string, int): int', 'string.lastIndexOf(string): int', 'string.lastIndexOf(string, int): int',
  'list(string).join(): string', 'list(string).join(string): string', 'string.lowerAscii(): string',
  'string.upperAscii(): string', 'string.trim(): string', 'string.replace(string, string): string',
  'string.replace(string, string, int): string', 'string.split(string): list(string)',
  'string.split(string, int): list(string)', 'string.substring(int): string', 'string.substring(int, int): string',
  'string.find(string): string', 'string.findAll(string): list(string)', 'string.findAll(string, int): list(string)',
  'url(string): url', 'isURL(string): bool',
  ...['getScheme', 'getHost', 'getHostname', 'getPort', 'getEscapedPath'].map(name => `url.${name}(): string`),
  'url.getQuery(): map(string, list(string))',
  ...ORDERED.flatMap(type =>
    [`list(${type}).isSorted(): bool`, `list(${type}).min(): ${type}`, `list(${type}).max(): ${type}`]),
  ...SUMMED.map(type => `list(${type}).sum(): ${type}`), 'list(A).indexOf(A): int', 'list(A).lastIndexOf(A): int'
]

export interface Overload {
  /** Types of the parameters; the receiver is the first. */
  readonly takes: readonly Type[]
  readonly returns: Type
}

let known: ReadonlyMap<string, readonly Overload[]> | undefined

/** By the name of a function or operator, or of a method with a dot. The table is made with the first rule. */
export function overloadsOf (name: string): readonly Overload[] | undefined {
  known ??= table()
  return known.get(name)
}

function table (): Map<string, Overload[]> {
  const made = new Map<string, Overload[]>()
  for (const signature of signatures()) {
    const [, receiver, name = '', takes = '', returns = ''] = /^(?:([\w(), ]+)\.)?([^(]+)\((.*)\): (.+)$/
      .exec(signature) ?? []
    const key = receiver === undefined ? name : `.${name}`
    const all = made.get(key) ?? []
    all.push({
      takes: [...receiver === undefined ? [] : [receiver], ...split(takes)].map(read), returns: read(returns)
    })
    made.set(key, all)
  }
  return made
}

/** Splits at commas outside of parentheses. */
function split (text: string): string[] {
  return text === '' ? [] : text.split(/, (?![^(]*\))/)
}

function read (text: string): Type {
  const [, outer, inner = ''] = /^(list|map|type)\((.*)\)$/.exec(text) ?? []
  const [first = '', second = ''] = split(inner)
  if (outer === 'list') return listOf(read(inner))
  if (outer === 'map') return mapOf(read(first), read(second === '' ? first : second))
  if (outer === 'type') return typeOf(read(inner))
  return /^[AB]$/.test(text) ? { kind: 'param', name: text } : { kind: text as Kind } // the kinds of the table
}
