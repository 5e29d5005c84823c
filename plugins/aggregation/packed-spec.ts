/**
 * A RemoteSpec as JSON, one text for each path and definition: parsed objects take several times the memory, and one
 * text for all would be written and parsed in one step.
 */
import type { RemoteSpec } from '../../schemas/openapi/remote.js'
import type { Plain } from '../../schemas/language/declare.js'
import type { Steps } from '../../schemas/steps.js'

export interface PackedSpec {
  readonly paths: readonly string[]
  readonly definitions: readonly string[]
  readonly length: number
}

function * packedEntries (entries: Readonly<Record<string, Plain>>): Steps<string[]> {
  const texts: string[] = []
  for (const entry of Object.entries(entries)) {
    texts.push(JSON.stringify(entry))
    yield
  }
  return texts
}

function * entriesOf (texts: readonly string[]): Steps<Record<string, Plain>> {
  const entries: Array<[string, Plain]> = []
  for (const text of texts) {
    entries.push(JSON.parse(text) as [string, Plain]) // written by this module
    yield
  }
  return Object.fromEntries(entries)
}

export function * packed (spec: RemoteSpec): Steps<PackedSpec> {
  const paths = yield * packedEntries(spec.paths)
  const definitions = yield * packedEntries(spec.definitions)
  return { paths, definitions, length: [...paths, ...definitions].reduce((sum, { length }) => sum + length, 0) }
}

export function * unpacked ({ paths, definitions }: PackedSpec): Steps<RemoteSpec> {
  return { paths: yield * entriesOf(paths), definitions: yield * entriesOf(definitions) }
}

const sameTexts = (one: readonly string[], other: readonly string[]): boolean => one.length === other.length &&
  one.every((text, at) => text === other[at])
export const samePacked = (one: PackedSpec, other: PackedSpec | undefined): boolean => other !== undefined &&
  sameTexts(one.paths, other.paths) && sameTexts(one.definitions, other.definitions)
