/** The OpenAPI 3.0 documents: one for each group version, and for discovery. Definitions are shared among them. */
import { DEFAULT_GATES, type Gates } from '../gates.js'
import type { Plain } from '../language/types.js'
import { apiVersionOf } from '../groups.js'
import type { Representation } from '../resource.js'
import { DefinitionSet } from './definitions.js'
import { OWN_DOCUMENT_NAMES, type DocumentNames } from './document-names.js'
import { groupVersions, rootOf } from './naming.js'
import type { Route } from './operations.js'
import { OPENAPI3, pathItem3 } from './openapi3.js'
import { routesIn } from './resource-routes.js'
import { CORE_ROUTE, groupRoute, GROUPS_ROUTE, ISSUER_ROUTES, RELEASE_ROUTE, versionRoute } from './server-routes.js'
import { objectOf, members, BEARER_TOKEN, type Entries, type OpenApiInfo } from './v2.js'

/** A document; its paths and schemas are JSON. */
export interface DocumentParts {
  readonly head: Plain
  readonly paths: Entries<string>
  readonly schemas: Entries<string>
  readonly securitySchemes: Plain
  readonly security: readonly Plain[]
}

export class OpenApi3 {
  readonly #definitions: DefinitionSet<string>
  readonly #routes: ReadonlyMap<string, () => Route[]>
  readonly #info: Plain
  readonly #names: DocumentNames

  /** @param resources with their served subresources */
  constructor (
    resources: readonly Representation[], { version, issuer = false, gates, names = OWN_DOCUMENT_NAMES }: OpenApiInfo
  ) {
    this.#info = { title: names.title, version }
    this.#names = names
    const written = (schema: Plain): string => JSON.stringify(names.schema(schema))
    this.#definitions = new DefinitionSet<string>(OPENAPI3, resources, written, gates)
    this.#routes = new Map(documents(resources, issuer, gates ?? DEFAULT_GATES))
  }

  #path (route: Route): string {
    return JSON.stringify(this.#names.pathItem(pathItem3(route, this.#definitions)))
  }

  /** Paths of the documents, below `/openapi/v3/`, under our names. */
  get names (): string[] { return [...this.#routes.keys()] }

  has (name: string): boolean { return this.#routes.has(name) }

  /** A document before serialization, in a step for each path: others may be made in between. */
  * parts (name: string): Generator<undefined, DocumentParts> {
    const { path, definition: named } = this.#names
    const paths: Array<readonly [string, string]> = []
    const used = new Set<string>()
    for (const route of this.#routes.get(name)?.() ?? []) {
      paths.push([path(route.path), this.#path(route)])
      for (const definition of this.#definitions.take()) used.add(definition)
      yield
    }
    return {
      head: { openapi: '3.0.0', info: this.#info },
      paths: paths.sort(([one], [other]) => one < other ? -1 : 1),
      schemas: this.#definitions.withReferences(used)
        .map(([name, schema]) => [named(name), schema] as const),
      securitySchemes: { BearerToken: BEARER_TOKEN },
      security: [{ BearerToken: [] }]
    }
  }
}

export function documentJson ({ head, paths, schemas, securitySchemes, security }: DocumentParts): Buffer {
  return Buffer.from(`${members(head)},"paths":${objectOf(paths)},"components":{"schemas":${objectOf(schemas)}` +
    `,"securitySchemes":${JSON.stringify(securitySchemes)}},"security":${JSON.stringify(security)}}`)
}

function * documents (
  resources: readonly Representation[], issuer: boolean, gates: Gates
): Generator<[string, () => Route[]]> {
  const routesOf = routesIn(gates)
  if (issuer) for (const route of ISSUER_ROUTES) yield [route.path.slice(1, -1), () => [route]]
  yield ['api', () => [CORE_ROUTE]]
  yield ['apis', () => [GROUPS_ROUTE]]
  yield ['version', () => [RELEASE_ROUTE]]
  for (const { group, version } of groupVersions(resources)) {
    if (group !== '') yield [`apis/${group}`, () => [groupRoute(group)]]
    const own = resources.filter(resource =>
      apiVersionOf(resource.group, resource.version) === apiVersionOf(group, version))
    yield [rootOf(group, version).slice(1), () => [versionRoute({ group, version }), ...own.flatMap(routesOf)]]
  }
}
