/**
 * Pieces of OpenAPI documents under the public project's names: references, media types, groups; extensions by its
 * names only.
 */
import { isObject, setMember } from '../language/values.js'
import type { Plain } from '../language/types.js'
import { EXTENSIONS } from './definitions.js'
import { publicType } from './objects.js'
import { publicWords } from './sentences.js'
import { translateGroup } from './text.js'

export const publicDefinition = (name: string): string => name.replace(/^io\.orch\./, 'io.k8s.')

const GROUPS = 'x-kubernetes-group-version-kind'
const OWN_EXTENSION = 'x-orch-'

interface Kind { readonly group: string }
const publicKind = ({ group, ...rest }: Kind): object => ({ group: translateGroup(group), ...rest })

/**
 * A schema of the document. The one that declares extensions as properties is no kind; properties of types that others
 * define keep their names.
 */
export function publicSchema (schema: Plain): Plain {
  const made = publicPiece(schema) as Plain
  const { properties } = made
  if (!isObject(properties) || GROUPS in made) return made
  const named = Object.entries(properties).map(([name, member]) => [EXTENSIONS.get(name) ?? name, member])
  return { ...made, properties: Object.fromEntries(named) }
}

/** Values of types. */
const DATA: ReadonlySet<string> = new Set(['default', 'enum', 'example'])

/** A path item, or a part of a schema. @param names its members are names that types made up */
export function publicPiece (value: unknown, names = false): unknown {
  if (typeof value === 'string') return publicType(value)
  if (Array.isArray(value)) return value.map(item => publicPiece(item))
  if (typeof value !== 'object' || value === null) return value
  const made: Plain = {}
  for (const [name, member] of Object.entries(value)) {
    if (names) setMember(made, name, publicPiece(member))
    else if (name === 'description' && typeof member === 'string') made['description'] = publicWords(member)
    else if (name === '$ref' && typeof member === 'string') made['$ref'] = member.replace('/io.orch.', '/io.k8s.')
    else if (name === GROUPS) made[GROUPS] = Array.isArray(member) ? member.map(publicKind) : publicKind(member as Kind)
    else if (DATA.has(name)) made[name] = member
    else if (!name.startsWith(OWN_EXTENSION)) {
      setMember(made, publicType(name), publicPiece(member, name === 'properties'))
    }
  }
  return made
}
