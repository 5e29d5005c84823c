/**
 * OpenAPI documents of extension servers: what concerns their group version, and merged into the document of this
 * server. Of a definition that both have in different forms, the extension server's is renamed (`…_v2`), with the
 * references to it.
 */
import type { Plain } from '../language/declare.js'
import { sameValue, isObject } from '../language/values.js'
import type { Steps } from '../steps.js'

export interface RemoteSpec {
  readonly paths: Readonly<Record<string, Plain>>
  readonly definitions: Readonly<Record<string, Plain>>
}

/** The document is no Swagger document that could be merged. */
class BrokenSpec extends Error {}

const DEFINITIONS = '#/definitions/'
const PARAMETERS = '#/parameters/'
const MAX_DEPTH = 100
/** Values in one path or definition, which are read in one step. */
const MAX_VALUES = 20_000
/** The most paths, and the most definitions, that a document may have. This server's own has fewer. */
const MAX_PARTS = 5000
/** Maximum bytes of shared parameters after inlining. */
const MAX_INLINED_BYTES = 8 * 1024 * 1024

/** A JSON pointer escapes / and ~. */
const unescaped = (name: string): string => name.replace(/~1/g, '/').replace(/~0/g, '~')

type Refer = (reference: string) => unknown

/** Replaces references; `refer` returns the replacement, undefined to keep the reference. */
function rewritten (value: unknown, refer: Refer): unknown {
  let left = MAX_VALUES
  const visit = (value: unknown, depth: number): unknown => {
    if (depth > MAX_DEPTH) throw new BrokenSpec('it is nested too deeply')
    if (--left < 0) throw new BrokenSpec('one of its paths or definitions is too large')
    if (Array.isArray(value)) return value.map(item => visit(item, depth + 1))
    if (!isObject(value)) return value
    const reference = value['$ref']
    const replaced = typeof reference === 'string' ? refer(reference) : undefined
    if (replaced !== undefined) return replaced
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, visit(member, depth + 1)]))
  }
  return visit(value, 0)
}

function referencesIn (value: unknown): Set<string> {
  const names = new Set<string>()
  rewritten(value, reference => {
    if (reference.startsWith(DEFINITIONS)) names.add(unescaped(reference.slice(DEFINITIONS.length)))
    return undefined
  })
  return names
}

/**
 * Resolves shared parameters. References to other parameters and oversized sets are refused, because inlining would
 * multiply them.
 */
function parametersOf (shared: Plain): Refer {
  const known = new Map<string, { readonly parameter: unknown, readonly bytes: number }>()
  let left = MAX_INLINED_BYTES
  return reference => {
    if (!reference.startsWith(PARAMETERS)) return undefined
    const name = unescaped(reference.slice(PARAMETERS.length))
    let kept = known.get(name)
    if (kept === undefined) {
      if (!Object.hasOwn(shared, name)) throw new BrokenSpec(`it has no parameter ${name}`)
      const parameter = rewritten(shared[name], below => {
        if (below.startsWith(PARAMETERS)) {
          throw new BrokenSpec(`it has no parameter ${name}, as that refers to another one`)
        }
      })
      known.set(name, kept = { parameter, bytes: JSON.stringify(parameter).length })
    }
    left -= kept.bytes
    if (left < 0) throw new BrokenSpec('its parameters are too large')
    return kept.parameter
  }
}

/**
 * The paths below a group version, and the definitions that they refer to. Shared parameters are inlined.
 * @param root `/apis/example.com/v1`
 * @throws BrokenSpec
 */
export function * specOf (document: unknown, root: string): Steps<RemoteSpec> {
  if (!isObject(document) || !isObject(document['paths'])) throw new BrokenSpec('it is no Swagger document')
  const all = isObject(document['definitions']) ? document['definitions'] : {}
  const inline = parametersOf(isObject(document['parameters']) ? document['parameters'] : {})
  const paths: Array<[string, Plain]> = []
  const used = new Set<string>()
  for (const [path, item] of Object.entries(document['paths'])) {
    if (!path.startsWith(`${root}/`) || !isObject(item)) continue
    const piece = rewritten(item, inline) as Plain // objects stay objects
    paths.push([path, piece])
    if (paths.length > MAX_PARTS) throw new BrokenSpec(`it has more than ${MAX_PARTS} paths`)
    for (const name of referencesIn(piece)) used.add(name)
    yield
  }
  const definitions: Array<[string, Plain]> = []
  for (const name of used) {
    const definition = Object.hasOwn(all, name) ? all[name] : undefined
    if (!isObject(definition)) throw new BrokenSpec(`it has no definition ${name}`)
    definitions.push([name, definition])
    if (definitions.length > MAX_PARTS) throw new BrokenSpec(`it has more than ${MAX_PARTS} definitions`)
    for (const below of referencesIn(definition)) used.add(below) // grows during the loop
    yield
  }
  return { paths: Object.fromEntries(paths), definitions: Object.fromEntries(definitions) }
}

/** Kinds of definitions that several servers have, such as DeleteOptions, differ between servers. */
const withoutKinds = (definition: Plain): Plain => Object
  .fromEntries(Object.entries(definition).filter(([name]) => !/^x-(?:orch|kubernetes)-group-version-kind$/.test(name)))
const same = (one: Plain, other: Plain): boolean => sameValue(withoutKinds(one), withoutKinds(other))

/**
 * The spec with its definitions renamed where `known` has others of the same name, and without those that `known` has.
 * @param known returns a definition that is in the document already
 */
export function * renamed (
  { paths, definitions }: RemoteSpec, known: (name: string) => Plain | undefined
): Steps<RemoteSpec> {
  /** Definitions that `known` has too, with the names to which they refer. */
  const equal = new Map<string, Set<string>>()
  for (const [name, definition] of Object.entries(definitions)) {
    const other = known(name)
    if (other !== undefined && same(definition, other)) equal.set(name, referencesIn(definition))
    yield
  }
  // A definition that refers to a renamed one differs as well.
  for (let before = -1; before !== equal.size;) {
    before = equal.size
    for (const [name, references] of equal) {
      if ([...references].some(below => known(below) !== undefined && !equal.has(below))) equal.delete(name)
      yield
    }
  }
  const taken = (name: string): boolean => known(name) !== undefined || Object.hasOwn(definitions, name)
  const names = new Map(Object.keys(definitions).filter(name => !equal.has(name)).map(name =>
    [name, known(name) === undefined ? name : freeName(name, taken)]))
  const refer = (reference: string): unknown => {
    const name = reference.startsWith(DEFINITIONS)
      ? names.get(unescaped(reference.slice(DEFINITIONS.length)))
      : undefined
    return name === undefined ? undefined : { $ref: DEFINITIONS + name.replace(/~/g, '~0').replace(/\//g, '~1') }
  }
  const parts: { readonly paths: Array<[string, Plain]>, readonly definitions: Array<[string, Plain]> } = {
    paths: [], definitions: []
  }
  for (const [path, item] of Object.entries(paths)) {
    parts.paths.push([path, rewritten(item, refer) as Plain]) // objects stay objects
    yield
  }
  for (const [name, own] of names) {
    parts.definitions.push([own, rewritten(definitions[name], refer) as Plain])
    yield
  }
  return { paths: Object.fromEntries(parts.paths), definitions: Object.fromEntries(parts.definitions) }
}

function freeName (name: string, taken: (name: string) => boolean): string {
  for (let number = 2; ; number++) if (!taken(`${name}_v${number}`)) return `${name}_v${number}`
}
