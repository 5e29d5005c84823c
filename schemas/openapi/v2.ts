/**
 * The Swagger 2.0 document of what is served: the paths of the Resource URIs table with the parameters of the operation
 * tables, and the definitions of every type they mention. Made when it is first asked for; nothing here is on the way of other requests.
 */
import type { Plain } from '../declare.js'
import { APIGroup, APIGroupList, APIResourceList, APIVersions } from '../meta/discovery.js'
import { JSON_TYPE, PATCH_TYPES, PROTOBUF_TYPE, YAML_TYPE } from '../media-types.js'
import { DeleteOptions } from '../meta/options.js'
import { Status, WatchEvent } from '../meta/answers.js'
import type { ResourceDefinition, ResourceVerb, Subresource } from '../resource.js'
import { DefinitionSet, extension } from './definitions.js'
import { body, NAME, NAMESPACE, QUERIES } from './parameters.js'
import type { Action } from './parameters.js'

export { openapiV2Protobuf } from './v2-protobuf.js'

export interface OpenApiInfo { readonly title: string, readonly version: string }
export type OpenApiDocument = Plain & { swagger: '2.0', info: OpenApiInfo, paths: Record<string, Plain>, definitions: Record<string, Plain> }

const FORMS = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE]
const STREAMS = [`${JSON_TYPE};stream=watch`, `${PROTOBUF_TYPE};stream=watch`]
const VERBS: ReadonlyArray<readonly [ResourceVerb, 'get' | 'put' | 'post' | 'delete' | 'patch', Action, string]> = [
  ['get', 'get', 'get', 'read'], ['update', 'put', 'put', 'replace'], ['delete', 'delete', 'delete', 'delete'], ['patch', 'patch', 'patch', 'patch']
]
const COLLECTION_VERBS: typeof VERBS = [
  ['list', 'get', 'list', 'list'], ['create', 'post', 'post', 'create'], ['deletecollection', 'delete', 'deletecollection', 'deleteCollection']
]

export function openapiV2 (resources: readonly ResourceDefinition[], info: OpenApiInfo): OpenApiDocument {
  const definitions = new DefinitionSet('#/definitions/', groupVersions(resources))
  definitions.reference(WatchEvent)
  const paths = new Paths(definitions)
  paths.discovery(resources)
  for (const resource of resources) paths.resource(resource)
  return {
    swagger: '2.0',
    info: { title: info.title, version: info.version },
    paths: paths.all(),
    definitions: definitions.all(),
    securityDefinitions: { BearerToken: { description: 'Bearer token', type: 'apiKey', name: 'authorization', in: 'header' } },
    security: [{ BearerToken: [] }]
  }
}

function groupVersions (resources: readonly ResourceDefinition[]): Array<{ group: string, version: string }> {
  return [...new Map(resources.map(({ group, version, apiVersion }) => [apiVersion, { group, version }])).values()]
}

/** `rbacAuthorization` of rbac.authorization.orch.io, `core` of the core group. */
const groupName = (group: string) => group === ''
  ? 'core'
  : group.replace(/\.orch\.io$/, '').split('.').map((part, index) => index === 0 ? part : capital(part)).join('')
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const rootOf = (group: string, version: string) => group === '' ? `/api/${version}` : `/apis/${group}/${version}`

interface Operation {
  readonly action: Action
  readonly id: string
  readonly description: string
  readonly tag: string
  readonly gvk?: Plain
  readonly answers: Readonly<Record<string, Plain>>
  readonly body?: Plain
}

class Paths {
  readonly #definitions: DefinitionSet
  readonly #paths = new Map<string, Plain>()

  constructor (definitions: DefinitionSet) {
    this.#definitions = definitions
  }

  all (): Record<string, Plain> {
    return Object.fromEntries([...this.#paths].sort(([a], [b]) => a < b ? -1 : 1))
  }

  discovery (resources: readonly ResourceDefinition[]): void {
    const add = (path: string, id: string, tag: string, description: string, schema: Plain) => this.#paths.set(path, {
      get: { consumes: FORMS, description, operationId: id, produces: FORMS, responses: responses({ 200: schema }), schemes: ['https'], tags: [tag] }
    })
    const { reference } = { reference: this.#definitions.reference.bind(this.#definitions) }
    const all = groupVersions(resources)
    add('/api/', 'getCoreAPIVersions', 'core', 'The versions of the core group.', reference(APIVersions))
    add('/apis/', 'getAPIVersions', 'apis', 'The groups.', reference(APIGroupList))
    for (const { group, version } of all) {
      const name = groupName(group)
      if (group !== '') add(`/apis/${group}/`, `get${capital(name)}APIGroup`, name, 'The versions of the group.', reference(APIGroup))
      add(`${rootOf(group, version)}/`, `get${capital(name)}${capital(version)}APIResources`, `${name}_${version}`, 'The resources of the version.', reference(APIResourceList))
    }
  }

  resource (resource: ResourceDefinition): void {
    const root = rootOf(resource.group, resource.version)
    const collection = `${root}/${resource.namespaced ? 'namespaces/{namespace}/' : ''}${resource.plural}`
    const scope = resource.namespaced ? [NAMESPACE] : []
    this.#add(collection, scope, this.#operations(resource, COLLECTION_VERBS))
    this.#add(`${collection}/{name}`, [NAME, ...scope], this.#operations(resource, VERBS))
    if (resource.namespaced && resource.verbs.includes('list')) {
      this.#add(`${root}/${resource.plural}`, [], { get: operation(this.#describe(resource, 'list', 'list', 'ForAllNamespaces')) })
    }
    for (const subresource of resource.subresources) {
      // The kinds of other groups are declared with their groups.
      if (subresource.kind !== undefined && subresource.kind !== resource.kind) continue
      this.#add(`${collection}/{name}/${subresource.name}`, [NAME, ...scope], this.#operations(resource, VERBS, subresource))
    }
  }

  #add (path: string, parameters: readonly Plain[], operations: Plain): void {
    if (Object.keys(operations).length === 0) return
    this.#paths.set(path, { ...operations, ...(parameters.length > 0 ? { parameters } : {}) })
  }

  #operations (resource: ResourceDefinition, table: typeof VERBS, subresource?: Subresource): Plain {
    const verbs = subresource?.verbs ?? resource.verbs
    return Object.fromEntries(table.filter(([verb]) => verbs.includes(verb)).map(([, method, action, prefix]) =>
      [method, operation(this.#describe(resource, action, prefix, subresource === undefined ? '' : capital(subresource.name)))]))
  }

  #describe (resource: ResourceDefinition, action: Action, prefix: string, suffix: string): Operation {
    const { group, version, kind, namespaced } = resource
    const name = groupName(group)
    const scope = namespaced && suffix !== 'ForAllNamespaces' ? 'Namespaced' : ''
    const object = this.#definitions.reference(resource.message)
    const status = this.#definitions.reference(Status)
    const id = `${prefix}${capital(name)}${capital(version)}${scope}${kind}${suffix}`
    const common = { action, id, tag: `${name}_${version}`, gvk: { group, kind, version } }
    switch (action) {
      case 'get': return { ...common, description: `One ${kind}.`, answers: { 200: object } }
      case 'list': return { ...common, description: `All ${kind} objects, or a stream of their changes.`, answers: { 200: this.#definitions.list(resource) } }
      case 'post': return { ...common, description: `Creates a ${kind}.`, body: body(object, true), answers: { 200: object, 201: object, 202: object } }
      case 'put': return { ...common, description: `Replaces a ${kind}.`, body: body(object, true), answers: { 200: object, 201: object } }
      case 'patch': return { ...common, description: `Changes parts of a ${kind}.`, body: body(this.#patch(), true), answers: { 200: object, 201: object } }
      default: {
        const answer = action === 'delete' && resource.deleteReturns === 'Object' ? object : status
        const options = body(this.#definitions.reference(DeleteOptions), false)
        const description = action === 'delete' ? `Deletes a ${kind}.` : `Deletes the ${kind} objects that match.`
        return { ...common, description, body: options, answers: action === 'delete' ? { 200: answer, 202: answer } : { 200: status } }
      }
    }
  }

  #patch (): Plain {
    return this.#definitions.plain('io.orch.apimachinery.pkg.apis.meta.v1.Patch', { description: 'A patch, in the form its content type says.', type: 'object' })
  }
}

function operation ({ action, id, description, tag, gvk, answers, body }: Operation): Plain {
  return {
    consumes: action === 'patch' ? PATCH_TYPES : ['*/*'],
    description,
    operationId: id,
    parameters: [...(body === undefined ? [] : [body]), ...QUERIES[action]],
    produces: action === 'list' ? [...FORMS, ...STREAMS] : FORMS,
    responses: responses(answers),
    schemes: ['https'],
    tags: [tag],
    ...extension('action', action),
    ...extension('group-version-kind', gvk)
  }
}

const MEANINGS: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }

function responses (answers: Readonly<Record<string, Plain>>): Plain {
  const described = Object.entries(answers).map(([code, schema]) => [code, { description: MEANINGS[code] ?? code, schema }])
  return { ...Object.fromEntries(described), 401: { description: 'Unauthorized' } }
}
