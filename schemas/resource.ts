/**
 * A resource type as one value: where it is served, what may be done with it, how it is shown and stored.
 * Built-in ones stand in `resources.ts`; a custom resource definition builds the same value at run time.
 * What is not stated takes the value nearly every type has.
 */
import { createHash } from 'node:crypto'
import type { Message, TypeMembers } from './declare.js'
import type { ObjectMeta } from './meta/v1.js'
import type { NameRule } from './names.js'
import { dnsSubdomain } from './names.js'

/** Any object of a resource: what generic code may rely on. */
export interface ApiObject extends TypeMembers { metadata: ObjectMeta }

export type ResourceVerb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch'
const EVERY_VERB: readonly ResourceVerb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

export interface Subresource {
  readonly name: string
  readonly verbs: readonly ResourceVerb[]
  /** The kind it takes and returns, where that is another than the resource's own. */
  readonly kind?: string
  readonly group?: string
  readonly version?: string
}

export type Cell = string | number | boolean | null

export interface Column<T> {
  readonly name: string
  readonly type: 'string' | 'integer' | 'date' | 'boolean' | 'number'
  readonly format: string
  readonly text: string
  /** 0 is shown by default, 1 in wide output. */
  readonly priority: 0 | 1
  /** `now` in milliseconds since the epoch. */
  readonly cell: (object: T, now: number) => Cell
}

export interface Deprecation {
  /** major.minor, as in `1.25`. */
  readonly deprecated: string
  readonly removed: string
  /** apiVersion and kind to use instead. */
  readonly replacement?: string
}

export interface ResourceOptions<T extends ApiObject> {
  readonly plural: string
  readonly singular?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly namespaced: boolean
  readonly verbs?: readonly ResourceVerb[]
  readonly subresources?: readonly Subresource[]
  /** PUT of a name that does not exist creates it. Default false. */
  readonly createOnUpdate?: boolean
  /** PUT without a resourceVersion is accepted. Default true. */
  readonly unconditionalUpdate?: boolean
  /** What a delete that removed the object answers. Default Status. */
  readonly deleteReturns?: 'Status' | 'Object'
  /** Path below the store prefix. Default the plural. */
  readonly storagePrefix?: string
  /** Default the version it is served in. */
  readonly storageVersion?: string
  /** What names are valid. Default DNS-1123 subdomain. */
  readonly nameRule?: NameRule
  /** Columns of its Table; without them a table has the name and the time of creation. */
  readonly columns?: ReadonlyArray<Column<T>>
  /** Fields a fieldSelector may use beside metadata.name and metadata.namespace. */
  readonly selectableFields?: Readonly<Record<string, (object: T) => string>>
  readonly deprecation?: Deprecation
  /** False for resources defined at run time. */
  readonly protobuf?: boolean
}

export interface ResourceDefinition<T extends ApiObject = ApiObject> {
  readonly group: string
  readonly version: string
  /** `v1` or `group/version`. */
  readonly apiVersion: string
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  readonly verbs: readonly ResourceVerb[]
  readonly subresources: readonly Subresource[]
  readonly createOnUpdate: boolean
  readonly unconditionalUpdate: boolean
  readonly deleteReturns: 'Status' | 'Object'
  readonly storagePrefix: string
  readonly storageVersion: string
  /** Base64 of the first eight bytes of SHA-256 over group/version/kind of the storage version. */
  readonly storageVersionHash: string
  readonly nameRule: NameRule
  readonly columns: ReadonlyArray<Column<ApiObject>> | undefined
  readonly selectableFields: Readonly<Record<string, (object: ApiObject) => string>> | undefined
  readonly deprecation: Deprecation | undefined
  readonly protobuf: boolean
  readonly message: Message<T>
}

/** A resource whose objects are of the given kind. */
export function resource<T extends ApiObject> (message: Message<T>, options: ResourceOptions<T>): ResourceDefinition<T> {
  const { type } = message
  if (type === undefined) throw new TypeError(`${message.name} is no kind, so it can't be a resource`)
  const { group, version, kind, apiVersion } = type
  const storageVersion = options.storageVersion ?? version
  let hash: string | undefined
  return {
    group,
    version,
    apiVersion,
    kind,
    listKind: `${kind}List`,
    plural: options.plural,
    singular: options.singular ?? kind.toLowerCase(),
    shortNames: options.shortNames ?? [],
    categories: options.categories ?? [],
    namespaced: options.namespaced,
    verbs: options.verbs ?? EVERY_VERB,
    subresources: options.subresources ?? [],
    createOnUpdate: options.createOnUpdate ?? false,
    unconditionalUpdate: options.unconditionalUpdate ?? true,
    deleteReturns: options.deleteReturns ?? 'Status',
    storagePrefix: options.storagePrefix ?? options.plural,
    storageVersion,
    get storageVersionHash () {
      hash ??= createHash('sha256').update(`${group}/${storageVersion}/${kind}`).digest().subarray(0, 8).toString('base64')
      return hash
    },
    nameRule: options.nameRule ?? dnsSubdomain,
    // Generic code hands each of these only objects of this resource, decoded by its message.
    columns: options.columns as ResourceDefinition['columns'],
    selectableFields: options.selectableFields as ResourceDefinition['selectableFields'],
    deprecation: options.deprecation,
    protobuf: options.protobuf ?? message.protobuf,
    message
  }
}
