/**
 * The Swagger 2.0 document: all paths with their parameters, and the definitions they refer to. It is made at the first request, in
 * steps, so that other requests proceed in between.
 */
import type { Plain } from '../language/declare.js'
import type { Representation } from '../resource.js'
import { DefinitionSet } from './definitions.js'
import { groupVersions } from './naming.js'
import type { Route } from './operations.js'
import { routesOf } from './resource-routes.js'
import { CORE_ROUTE, groupRoute, GROUPS_ROUTE, ISSUER_ROUTES, RELEASE_ROUTE, versionRoute } from './server-routes.js'
import { pathItem, SWAGGER } from './swagger.js'

export interface OpenApiInfo {
  readonly title: string
  readonly version: string
  /** Whether OpenID discovery is served. */
  readonly issuer?: boolean
  /** Whether fields list their values. Default true. */
  readonly enums?: boolean
}
export type Entries<K> = ReadonlyArray<readonly [string, K]>

/** The document before serialization. */
export interface Parts<K> { readonly head: Plain, readonly paths: Entries<K>, readonly definitions: Entries<K>, readonly tail: Plain }

/** Serializes path items and definitions. */
export interface Form<K> { readonly path: (item: Plain) => K, readonly definition: (schema: Plain) => K }

/** Authentication, in either format. */
export const BEARER_TOKEN = { description: 'Bearer token', type: 'apiKey', name: 'authorization', in: 'header' }

/** @param resources with their served subresources */
export function * swaggerParts<K> (resources: readonly Representation[], { title, version, issuer = false, enums }: OpenApiInfo, form: Form<K>): Generator<undefined, Parts<K>> {
  const set = new DefinitionSet(SWAGGER, resources, form.definition, enums)
  const paths: Array<readonly [string, K]> = []
  const add = (route: Route): void => { paths.push([route.path, form.path(pathItem(route, set))]) }
  if (issuer) ISSUER_ROUTES.forEach(add)
  serverRoutes(resources).forEach(add)
  for (const resource of resources) {
    routesOf(resource).forEach(add)
    yield
  }
  return {
    head: { swagger: '2.0', info: { title, version } },
    paths: paths.sort(([one], [other]) => one < other ? -1 : 1),
    definitions: set.take(),
    tail: { securityDefinitions: { BearerToken: BEARER_TOKEN }, security: [{ BearerToken: [] }] }
  }
}

function serverRoutes (resources: readonly Representation[]): Route[] {
  const versions = groupVersions(resources)
  const groups = new Set(versions.map(({ group }) => group))
  groups.delete('')
  return [RELEASE_ROUTE, CORE_ROUTE, GROUPS_ROUTE, ...[...groups].map(groupRoute), ...versions.map(versionRoute)]
}

const JSON_FORM: Form<string> = { path: JSON.stringify, definition: JSON.stringify }

export function * swaggerJson (resources: readonly Representation[], info: OpenApiInfo): Generator<undefined, Buffer> {
  const { head, paths, definitions, tail } = yield * swaggerParts(resources, info, JSON_FORM)
  return Buffer.from(`${members(head)},"paths":${objectOf(paths)},"definitions":${objectOf(definitions)},${members(tail).slice(1)}}`)
}

/** The JSON of an object without its closing brace. */
export const members = (object: Plain): string => JSON.stringify(object).slice(0, -1)
export const objectOf = (entries: Entries<string>): string => `{${entries.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`

/** A document in one go. */
export function whole<T> (steps: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
