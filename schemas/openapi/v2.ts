/**
 * The Swagger 2.0 document: all paths with their parameters, and the definitions they refer to. It is made at the first
 * request, in steps, so that other requests proceed in between.
 */
import { DEFAULT_GATES, type Gates } from '../gates.js'
import type { Plain } from '../language/declare.js'
import type { Representation } from '../resource.js'
import { DefinitionSet } from './definitions.js'
import { OWN_DOCUMENT_NAMES, type DocumentNames } from './document-names.js'
import { groupVersions } from './naming.js'
import type { Route } from './operations.js'
import { routesIn } from './resource-routes.js'
import { CORE_ROUTE, groupRoute, GROUPS_ROUTE, ISSUER_ROUTES, RELEASE_ROUTE, versionRoute } from './server-routes.js'
import { renamed, type RemoteSpec } from './remote.js'
import type { Steps } from '../steps.js'
import { pathItem, SWAGGER } from './swagger.js'

export interface OpenApiInfo {
  readonly version: string
  /** Whether OpenID discovery is served. */
  readonly issuer?: boolean
  /** They decide which fields there are, and whether fields list their values. */
  readonly gates?: Gates
  /** Whose names it has. Default this server's own. */
  readonly names?: DocumentNames
}
export type Entries<K> = ReadonlyArray<readonly [string, K]>

/** The document before serialization. */
export interface Parts<K> {
  readonly head: Plain, readonly paths: Entries<K>, readonly definitions: Entries<K>, readonly tail: Plain
}

/** Serializes path items and definitions. */
export interface Form<K> { readonly path: (item: Plain) => K, readonly definition: (schema: Plain) => K }

/** Authentication, in either format. */
export const BEARER_TOKEN = { description: 'Bearer token', type: 'apiKey', name: 'authorization', in: 'header' }

/**
 * @param resources with their served subresources;
 * @param remotes merged into the document, except those that cannot be merged
 */
export function * swaggerParts<K> (
  resources: readonly Representation[], { version, issuer = false, gates, names = OWN_DOCUMENT_NAMES }: OpenApiInfo,
  written: Form<K>, remotes: Iterable<Steps<RemoteSpec>> = []
): Generator<undefined, Parts<K>> {
  const set = new DefinitionSet(SWAGGER, resources, schema => written.definition(names.schema(schema)), gates)
  const paths: Array<readonly [string, K]> = []
  const add = (route: Route): void => {
    paths.push([names.path(route.path), written.path(names.pathItem(pathItem(route, set)))])
  }
  if (issuer) ISSUER_ROUTES.forEach(add)
  serverRoutes(resources).forEach(add)
  const routes = routesIn(gates ?? DEFAULT_GATES)
  for (const resource of resources) {
    routes(resource).forEach(add)
    yield
  }
  const definitions = set.withReferences(set.take())
    .map(([name, schema]) => [names.definition(name), schema] as const)
  yield * addRemotes({ paths, definitions }, remotes, written, () =>
    ownDefinitions(resources, { version, issuer, names, ...gates === undefined ? {} : { gates } }))
  return {
    head: { swagger: '2.0', info: { title: names.title, version } },
    paths: paths.sort(byName),
    definitions: definitions.sort(byName),
    tail: { securityDefinitions: { BearerToken: BEARER_TOKEN }, security: [{ BearerToken: [] }] }
  }
}

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number => one < other ? -1 : 1

/** The definitions of this server, to compare others with. */
function * ownDefinitions (
  resources: readonly Representation[], info: OpenApiInfo
): Generator<undefined, ReadonlyMap<string, Plain>> {
  const { definitions } = yield * swaggerParts<Plain>(resources, info, {
    path: item => item, definition: schema => schema
  })
  return new Map(definitions)
}

interface Growing<K> { readonly paths: Array<readonly [string, K]>, readonly definitions: Array<readonly [string, K]> }

function * addRemotes<K> (
  { paths, definitions }: Growing<K>, remotes: Iterable<Steps<RemoteSpec>>, form: Form<K>,
  own: () => Generator<undefined, ReadonlyMap<string, Plain>>
): Generator<undefined, void> {
  const names = new Set(definitions.map(([name]) => name))
  const taken = new Set(paths.map(([path]) => path))
  /** Only if a name is in both. */
  let known: Map<string, Plain> | undefined
  const added = new Map<string, Plain>()
  for (const steps of remotes) {
    const remote = yield * steps
    if (known === undefined && Object.keys(remote.definitions).some(name => names.has(name))) {
      known = new Map(yield * own())
    }
    yield
    try {
      const spec = yield * renamed(remote, name => known?.get(name) ?? added.get(name))
      const described = yield * eachOf(Object.entries(spec.definitions), form.definition)
      const served = yield * eachOf(Object.entries(spec.paths).filter(([path]) => !taken.has(path)), form.path)
      for (const definition of described) definitions.push(definition)
      for (const definition of served) {
        paths.push(definition)
        taken.add(definition[0])
      }
      for (const [name, definition] of Object.entries(spec.definitions)) added.set(name, definition)
    } catch {} // it has a form that this format does not know
    yield
  }
}

function * eachOf<K> (
  entries: ReadonlyArray<[string, Plain]>, write: (value: Plain) => K
): Generator<undefined, Array<readonly [string, K]>> {
  const written: Array<readonly [string, K]> = []
  for (const [name, value] of entries) {
    written.push([name, write(value)])
    yield
  }
  return written
}

function serverRoutes (resources: readonly Representation[]): Route[] {
  const versions = groupVersions(resources)
  const groups = new Set(versions.map(({ group }) => group))
  groups.delete('')
  return [RELEASE_ROUTE, CORE_ROUTE, GROUPS_ROUTE, ...[...groups].map(groupRoute), ...versions.map(versionRoute)]
}

const JSON_FORM: Form<string> = { path: JSON.stringify, definition: JSON.stringify }

export function * swaggerJson (
  resources: readonly Representation[], info: OpenApiInfo, remotes: Iterable<Steps<RemoteSpec>> = []
): Generator<undefined, Buffer> {
  const { head, paths, definitions, tail } = yield * swaggerParts(resources, info, JSON_FORM, remotes)
  const pieces: Buffer[] = []
  yield * writeObject(pieces, `${members(head)},"paths":`, paths)
  yield * writeObject(pieces, ',"definitions":', definitions)
  return Buffer.concat([...pieces, Buffer.from(`,${members(tail).slice(1)}}`)])
}

const PIECE = 64 * 1024

function * writeObject (pieces: Buffer[], before: string, entries: Entries<string>): Generator<undefined, void> {
  let text = `${before}{`
  let separator = ''
  for (const [name, value] of entries) {
    text += `${separator}${JSON.stringify(name)}:${value}`
    separator = ','
    if (text.length < PIECE) continue
    pieces.push(Buffer.from(text))
    text = ''
    yield
  }
  pieces.push(Buffer.from(`${text}}`))
}

/** The JSON of an object without its closing brace. */
export const members = (object: Plain): string => JSON.stringify(object).slice(0, -1)
export const objectOf = (entries: Entries<string>): string =>
  `{${entries.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`

/** Runs all steps of a document at once. */
export function whole<T> (steps: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
