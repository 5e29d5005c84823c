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
  const piece = publicPiece(schema) as Plain
  const { properties } = piece
  if (!isObject(properties) || GROUPS in piece) return piece
  const named = Object.entries(properties).map(([name, member]) => [EXTENSIONS.get(name) ?? name, member])
  return { ...piece, properties: Object.fromEntries(named) }
}

/** Values of types. */
const DATA: ReadonlySet<string> = new Set(['default', 'enum', 'example'])

/** A path item, or a part of a schema. @param names its members are names that types made up */
export function publicPiece (value: unknown, names = false): unknown {
  if (typeof value === 'string') return publicType(value)
  if (Array.isArray(value)) return value.map(item => publicPiece(item))
  if (typeof value !== 'object' || value === null) return value
  const translated: Plain = {}
  for (const [name, member] of Object.entries(value)) {
    if (names) setMember(translated, name, publicPiece(member))
    else if (name === 'description' && typeof member === 'string') translated['description'] = publicWords(member)
    else if (name === '$ref' && typeof member === 'string') translated['$ref'] = member.replace('/io.orch.', '/io.k8s.')
    else if (name === GROUPS) {
      translated[GROUPS] = Array.isArray(member) ? member.map(publicKind) : publicKind(member as Kind)
    } else if (DATA.has(name)) translated[name] = member
    else if (!name.startsWith(OWN_EXTENSION)) {
      setMember(translated, publicType(name), publicPiece(member, name === 'properties'))
    }
  }
  return translated
}
