/** Every overload and macro of the public project's libraries compiles, and has the type that it has there. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { escapeName } from '../../expressions/names.js'
import { Environment, Problem } from '../../expressions/program.js'
import {
  BOOL, DYN, INT, listOf, mapOf, objectOf, optionalOf, STRING, type Kind, type Type
} from '../../expressions/types.js'

interface Library {
  readonly functions?: Record<string, Record<string, string>>
  readonly macros?: string[]
  readonly formats?: Record<string, number>
}
interface Facts { readonly libraries: Record<string, Library>, readonly escaping: Record<string, string | string[]> }
const facts = JSON.parse(readFileSync(new URL('../../../test/facts/1.36/cel.json', import.meta.url), 'utf8')) as Facts

const of = (kind: Kind): Type => ({ kind })
const environment = new Environment({
  string: STRING, int: INT, bool: BOOL, uint: of('uint'), double: of('double'), bytes: of('bytes'),
  timestamp: of('timestamp'), duration: of('duration'), dyn: DYN, authorizer: of('authorizer'),
  ints: listOf(INT), map: mapOf(STRING, INT), object: objectOf({ f: INT }), optional: optionalOf(INT),
  maybes: listOf(optionalOf(INT)), lists: listOf(listOf(INT)), dyns: listOf(DYN)
}, { functions: ['jsonpatch.escapeKey', 'includes', 'cel.bind'] })

/** An expression of a type; type parameters are integers. */
const TERMS: Record<string, string> = {
  string: 'string', int: 'int', uint: 'uint', double: 'double', bool: 'bool', bytes: 'bytes', timestamp: 'timestamp',
  duration: 'duration', dyn: 'dyn', A: 'int', V: 'int', 'optional(V)': 'optional', 'list(A)': 'ints', 'list(V)': 'ints',
  'list(dyn)': 'dyns',
  'list(list(A))': 'lists', 'list(optional(V))': 'maybes', URL: 'url(string)', IP: 'ip(string)', CIDR: 'cidr(string)',
  Quantity: 'quantity(string)', Semver: 'semver(string)', NamedFormat: 'format.uuid()', Authorizer: 'authorizer',
  PathCheck: 'authorizer.path(string)',
  GroupCheck: 'authorizer.group(string)', ResourceCheck: 'authorizer.group(string).resource(string)',
  Decision: 'authorizer.path(string).check(string)'
}
const term = (type: string): string =>
  TERMS[type] ?? (type.startsWith('list(') ? `[${term(type.slice(5, -1))}]` : `unknown ${type}`)

const RESULTS: Record<string, string> = {
  A: 'int', V: 'int', URL: 'url', IP: 'ip', CIDR: 'cidr', Quantity: 'quantity', Semver: 'semver',
  NamedFormat: 'named_format', Authorizer: 'authorizer', PathCheck: 'path_check', GroupCheck: 'group_check',
  ResourceCheck: 'resource_check', Decision: 'decision'
}
function nameOf ({ kind, of, key }: Type): string {
  if (kind === 'map') return `map(${nameOf(key ?? DYN)},${nameOf(of ?? DYN)})`
  return of === undefined || kind === 'type' ? kind : `${kind}(${nameOf(of)})`
}
const resultOf = (type: string): string => type.replace(/[A-Z]\w*/g, name => RESULTS[name] ?? name)

function typeOf (text: string): string {
  try {
    return nameOf(environment.compile(text).type)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return error.message
  }
}

/** Splits a signature into the receiver, the name, the arguments and the result. */
const SIGNATURE =
  /^(?:([A-Z]\w*|\w+\(.*\)|string|dyn|bytes)\.)?((?:\w+\.)?@?\w+)\(([^()]*(?:\([^)]*\)+)?(?:, [^()]*(?:\([^)]*\))?)*)\) (.+)$/

/** The signature with a term for each of its types. */
function call (signature: string): { text: string, result: string } {
  const [, receiver = '', name = '', args = '', result = ''] = SIGNATURE.exec(signature) ?? []
  const parts = args === '' ? [] : args.split(', ')
  return {
    text: `${receiver === '' ? '' : `${term(receiver)}.`}${name}(${parts.map(term).join(', ')})`,
    result: resultOf(result)
  }
}

t.test('every function has its overloads', async t => {
  let count = 0
  for (const [library, { functions = {}, formats = {} }] of Object.entries(facts.libraries)) {
    if (Array.isArray(functions)) continue
    const signatures = Object.values(functions).flatMap(overloads => Object.values(overloads)).flatMap(signature =>
      signature.includes('<T>') || signature.includes('(T)')
        ? ['int', 'uint', 'double', 'bool', 'string', 'bytes', 'timestamp', 'duration'].map(type =>
            signature.replaceAll('(T)', `(${type})`))
        : signature.includes('<name>')
          ? Object.keys(formats).map(name => signature.replace('<name>', name))
          : [signature])
    for (const signature of signatures) {
      const { text, result } = call(signature)
      // What is not in there is of no type yet.
      t.equal(typeOf(text), text === 'optional.none()' ? 'optional(dyn)' : result, `${library}: ${signature}`)
      count++
    }
  }
  t.ok(count > 150, String(count))
})

t.test('every function of the language has its overloads', async t => {
  const { functions } = facts.libraries['standard'] as { functions: unknown }
  const times = (name: string): string => `timestamp.${name}() == timestamp.${name}("UTC")`
  const texts: Record<string, string> = {
    size: 'size(string) + size(bytes) + size(ints) + size(map) == string.size() + ints.size()',
    in: 'int in ints && string in map', type: 'type(int) == type(string)', dyn: 'dyn(int) == dyn',
    bool: 'bool(string) == bool(bool)', bytes: 'bytes(string) == bytes(bytes)',
    double: 'double(string) + double(int) + double(uint) == double(double)',
    duration: 'duration(string) == duration(duration)',
    int: 'int(string) + int(double) + int(uint) + int(timestamp) == int(int)',
    string:
      'string(int) + string(uint) + string(double) + string(bool) + string(bytes) + string(timestamp) + ' +
      'string(duration) == string(string)',
    timestamp: 'timestamp(string) == timestamp(int)', uint: 'uint(string) + uint(int) + uint(double) == uint(uint)',
    contains: 'string.contains(string)', endsWith: 'string.endsWith(string)', startsWith: 'string.startsWith(string)',
    matches: 'string.matches(string) && matches(string, string)'
  }
  for (const name of functions as string[]) {
    t.equal(typeOf(name.startsWith('get') ? times(name) : texts[name] ?? ''), 'bool', name)
  }
  for (const name of ['getHours', 'getMinutes', 'getSeconds', 'getMilliseconds']) {
    t.equal(typeOf(`duration.${name}()`), 'int', name)
  }
})

t.test('every macro and form of optional syntax is there', async t => {
  const filled = (macro: string): string => macro
    .replace(/^optional\(V\)\.optMap\(x, t\).*/, 'optional.optMap(x, x + 1).hasValue()')
    .replace(/^optional\(V\)\.optFlatMap\(x, t\).*/, 'optional.optFlatMap(x, optional).hasValue()')
    .replace(/^e\.sortBy\(x, key\).*/, 'ints.sortBy(x, -x) == ints')
    .replace('cel.bind(x, init, result)', 'cel.bind(x, int, x > 1)').replace('has(e.f)', 'has(object.f)')
    .replace(/^e\.(\w+)\((x|i, v|k, v)(.*)\)$/, (_, name: string, variables: string, rest: string) => {
      const over = variables === 'k, v' ? 'map' : 'ints'
      const args = rest.split(', ')
        .slice(1)
        .map((part, index, { length }) =>
          part === 'm' ? '{v: k}' : part === 'p' || (part === 't' && index < length - 1) ? 'true' : 't')
      const terms = args.map(part => part === 't' ? variables === 'x' ? 'x' : 'v' : part)
      const text = `${over}.${name}(${[variables, ...terms].join(', ')})`
      return /^(?:all|exists|exists_one|existsOne)$/.test(name) ? text : `${text}.size() >= 0`
    })
  for (const [library, { macros = [] }] of Object.entries(facts.libraries)) {
    for (const macro of macros) t.equal(typeOf(filled(macro)), 'bool', `${library}: ${macro}: ${filled(macro)}`)
  }
  t.same(['object.?f', 'ints[?0]', '[?optional]', '{?"a": optional}'].map(typeOf), [
    'optional(int)', 'optional(int)', 'list(int)', 'map(string,int)'
  ])
})

t.test('what the public project does not have is not there', async t => {
  for (const text of ['string.reverse()', 'base64.encode(bytes)', 'math.greatest(int, int)']) {
    t.match(typeOf(text), /^ERROR: .*(?:undeclared reference|no matching overload|undefined field)/, text)
  }
  t.match(
    (() => {
      try {
        return new Environment({}).compile('cel.bind(x, 1, x > 0)').type.kind
      } catch (error) { return (error as Error).message }
    })(),
    /^ERROR/
  )
})

t.test('keywords and odd characters have names', async t => {
  const keywords = facts.escaping['__<keyword>__'] as string[]
  for (const keyword of keywords) t.equal(escapeName(keyword), `__${keyword}__`)
  t.equal(escapeName('a__b.c-d/e'), 'a__underscores__b__dot__c__dash__d__slash__e')
})
