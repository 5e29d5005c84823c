/** Reads fixtures: objects, texts, files and folders, flattened in order. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseYaml } from '../schemas/codec/yaml/yaml.js'

/**
 * An object, or a list of any kind; the path or `file:` URL of a YAML or JSON file, or of a folder of such files, which
 * are read in the order of their names; or YAML text of more than one line.
 */
export type Fixture = string | URL | object | readonly Fixture[]

export interface FixtureObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name?: string, readonly namespace?: string, readonly [member: string]: unknown }
  readonly status?: unknown
  readonly [member: string]: unknown
}

/** Where an object comes from, for errors. */
export interface SourcedObject { readonly object: FixtureObject, readonly source: string }

const FILE = /\.(?:ya?ml|json)$/
/** Higher limits than for client requests. */
const BOUNDS = { values: 1_000_000, members: 1_000_000, entries: 1_000_000 }

/** @throws Error that names the fixture */
export function readFixtures (fixture: Fixture, source = 'an object'): SourcedObject[] {
  if (Array.isArray(fixture)) {
    return (fixture as readonly Fixture[])
      .flatMap((given, at) => readFixtures(given, source === 'an object' ? `object ${at}` : source))
  }
  if (fixture instanceof URL) return readPath(fileURLToPath(fixture))
  if (typeof fixture === 'string') return fixture.includes('\n') ? readText(fixture, 'a text') : readPath(fixture)
  return readObject(fixture, source)
}

function readPath (path: string): SourcedObject[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) throw new Error(`${path}: there is no such file or folder`)
  if (!stats.isDirectory()) return readText(readFileSync(path, 'utf8'), path)
  return readdirSync(path, { withFileTypes: true })
    .sort((one, other) => one.name < other.name ? -1 : 1)
    .flatMap(entry => {
      const inside = join(path, entry.name)
      return entry.isDirectory() || FILE.test(entry.name) ? readPath(inside) : []
    })
}

function readText (text: string, source: string): SourcedObject[] {
  const documents = text.replace(/^\uFEFF/, '').split(/^---(?=\s|$).*$/m)
  return documents.flatMap((document, at) => {
    const where = documents.length === 1 ? source : `${source}, document ${at + 1}`
    if (document.replace(/^\s*#.*$/gm, '').trim() === '') return []
    try {
      const { value, duplicates } = parseYaml(Buffer.from(document), BOUNDS)
      if (duplicates.length > 0) throw new Error(`duplicate field "${duplicates[0] ?? ''}"`)
      return readObject(value, where)
    } catch (error) {
      throw new Error(`${where}: ${(error as Error).message}`, { cause: error })
    }
  })
}

function readObject (value: unknown, source: string): SourcedObject[] {
  const { apiVersion, kind, metadata = {}, items } = value as Partial<FixtureObject>
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    throw new Error(`${source} is no object: it needs apiVersion and kind`)
  }
  if (kind.endsWith('List') && Array.isArray(items)) {
    return items.flatMap((item, at) =>
      readObject({ apiVersion, kind: kind.slice(0, -4), ...item as object }, `${source}, item ${at}`))
  }
  return [{ object: { ...value as object, apiVersion, kind, metadata }, source }]
}
