/** Which type a schema is of, and which of the server's types that is. */
import { Facts, type Declaration } from '../schemas/language/types.js'
import { isObject } from '../schemas/language/values.js'
import { StatusError } from '../schemas/status.js'
import type { ResourceRegistry } from '../registry/resource-registry.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { ownGroupOf } from '../schemas/upstream-groups.js'
import type { TypeName } from './contract.js'

/** @throws TypeError for a schema that does not say it */
export function typeNameOf (schema: object, name?: TypeName): TypeName {
  const facts = (schema as { readonly [Facts]?: Partial<Declaration> })[Facts]?.type
  const members = 'properties' in schema && isObject(schema.properties) ? schema.properties : schema
  const { apiVersion, kind } = name ?? facts ?? {
    apiVersion: literal(members, 'apiVersion'), kind: literal(members, 'kind')
  }
  if (typeof apiVersion === 'string' && typeof kind === 'string') return { apiVersion, kind }
  throw new TypeError('a schema must say its type: by literals for apiVersion and kind, or say { apiVersion, kind } ' +
    'beside it')
}

/** The text that a member has to be, or is. */
function literal (members: object, name: string): unknown {
  const member: unknown = Object.hasOwn(members, name) ? (members as Record<string, unknown>)[name] : undefined
  return isObject(member) ? member['const'] : member
}

/** Finds the stores of types by kind. */
export class StoresByKind {
  readonly #resources: ResourceRegistry
  #generation = -1
  #stores = new Map<string, ResourceStore>()

  constructor (resources: ResourceRegistry) { this.#resources = resources }

  find ({ apiVersion, kind }: TypeName): ResourceStore | undefined {
    if (this.#generation !== this.#resources.generation) {
      this.#generation = this.#resources.generation
      this.#stores = new Map(this.#resources.served().map(store =>
        [`${store.representation.apiVersion} ${store.representation.kind}`, store]))
    }
    return this.#stores.get(`${apiVersion} ${kind}`)
  }

  /** @throws StatusError 404 */
  of (name: TypeName): ResourceStore {
    const store = this.find(name)
    if (store !== undefined) return store
    const [group = ''] = name.apiVersion.split('/')
    const own = ownGroupOf(group)
    const advice = own === undefined ? '' : `; in its own process the API group ${group} is named ${own}`
    throw new StatusError(
      'NotFound', `this server has no kind ${name.kind} in ${name.apiVersion}${advice}`, { details: {} }
    )
  }
}
