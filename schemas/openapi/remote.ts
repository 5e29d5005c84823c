/**
 * OpenAPI documents of extension servers: what concerns their group version, and merged into the document of this server. Of a definition
 * that both have in different forms, the extension server's is renamed (`…_v2`), with the references to it.
 */
import type { Plain } from '../language/declare.js'
import { sameValue } from '../language/values.js'

export interface RemoteSpec {
  readonly paths: Readonly<Record<string, Plain>>
  readonly definitions: Readonly<Record<string, Plain>>
}

/** The document is no Swagger document that could be merged. */
export class BrokenSpec extends Error {}

const DEFINITIONS = '#/definitions/'
const PARAMETERS = '#/parameters/'
const MAX_DEPTH = 100

const isObject = (value: unknown): value is Plain => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A JSON pointer escapes / and ~. */
const unescaped = (name: string): string => name.replace(/~1/g, '/').replace(/~0/g, '~')

/** Replaces references; `refer` returns what stands in place of one, undefined to leave it. */
function rewritten (value: unknown, refer: (reference: string, depth: number) => unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw new BrokenSpec('it is nested too deeply')
  if (Array.isArray(value)) return value.map(item => rewritten(item, refer, depth + 1))
  if (!isObject(value)) return value
  const reference = value['$ref']
  const replaced = typeof reference === 'string' ? refer(reference, depth) : undefined
  if (replaced !== undefined) return replaced
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, rewritten(member, refer, depth + 1)]))
}

function referencesIn (value: unknown): Set<string> {
  const found = new Set<string>()
  rewritten(value, reference => {
    if (reference.startsWith(DEFINITIONS)) found.add(unescaped(reference.slice(DEFINITIONS.length)))
    return undefined
  })
  return found
}

/**
 * The paths below a group version, and the definitions that they refer to. Shared parameters are inlined.
 * @param root `/apis/example.com/v1`
 * @throws BrokenSpec
 */
export function specOf (document: unknown, root: string): RemoteSpec {
  if (!isObject(document) || !isObject(document['paths'])) throw new BrokenSpec('it is no Swagger document')
  const all = isObject(document['definitions']) ? document['definitions'] : {}
  const shared = isObject(document['parameters']) ? document['parameters'] : {}
  const inline = (reference: string, depth: number): unknown => {
    if (!reference.startsWith(PARAMETERS)) return undefined
    const name = unescaped(reference.slice(PARAMETERS.length))
    if (!Object.hasOwn(shared, name)) throw new BrokenSpec(`it has no parameter ${name}`)
    return rewritten(shared[name], inline, depth + 1)
  }
  const paths = Object.fromEntries(Object.entries(document['paths'])
    .filter(([path, item]) => path.startsWith(`${root}/`) && isObject(item))
    .map(([path, item]) => [path, rewritten(item, inline) as Plain])) // objects stay objects
  const definitions: Array<[string, Plain]> = []
  const used = referencesIn(paths)
  for (const name of used) {
    const definition = Object.hasOwn(all, name) ? all[name] : undefined
    if (!isObject(definition)) throw new BrokenSpec(`it has no definition ${name}`)
    definitions.push([name, definition])
    for (const below of referencesIn(definition)) used.add(below) // grows during the loop
  }
  return { paths, definitions: Object.fromEntries(definitions) }
}

/** Kinds of definitions that several servers have, such as DeleteOptions, differ between servers. */
const withoutKinds = (definition: Plain): Plain => Object.fromEntries(Object.entries(definition).filter(([name]) => !/^x-(?:orch|kubernetes)-group-version-kind$/.test(name)))
const same = (one: Plain, other: Plain): boolean => sameValue(withoutKinds(one), withoutKinds(other))

/**
 * The spec with its definitions renamed where `known` has others of the same name, and without those that `known` has.
 * @param known returns a definition that is in the document already
 */
export function renamed ({ paths, definitions }: RemoteSpec, known: (name: string) => Plain | undefined): RemoteSpec {
  const equal = new Set(Object.entries(definitions).filter(([name, definition]) => {
    const other = known(name)
    return other !== undefined && same(definition, other)
  }).map(([name]) => name))
  const taken = (name: string): boolean => known(name) !== undefined || Object.hasOwn(definitions, name)
  // What refers to a renamed definition is another one too.
  for (let before = -1; before !== equal.size;) {
    before = equal.size
    for (const name of equal) if ([...referencesIn(definitions[name])].some(below => known(below) !== undefined && !equal.has(below))) equal.delete(name)
  }
  const names = new Map(Object.keys(definitions).filter(name => !equal.has(name)).map(name => [name, known(name) === undefined ? name : freeName(name, taken)]))
  const refer = (reference: string): unknown => {
    const name = reference.startsWith(DEFINITIONS) ? names.get(unescaped(reference.slice(DEFINITIONS.length))) : undefined
    return name === undefined ? undefined : { $ref: DEFINITIONS + name.replace(/~/g, '~0').replace(/\//g, '~1') }
  }
  const apply = (map: Readonly<Record<string, Plain>>, rename: (name: string) => string): Record<string, Plain> =>
    Object.fromEntries(Object.entries(map).map(([name, value]) => [rename(name), rewritten(value, refer) as Plain])) // objects stay objects
  return {
    paths: apply(paths, path => path),
    definitions: apply(Object.fromEntries(Object.entries(definitions).filter(([name]) => names.has(name))), name => names.get(name) ?? name)
  }
}

function freeName (name: string, taken: (name: string) => boolean): string {
  for (let number = 2; ; number++) if (!taken(`${name}_v${number}`)) return `${name}_v${number}`
}
