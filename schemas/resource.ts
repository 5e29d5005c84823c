/**
 * A resource type as one value: what is stored, where its keys are, what may be done with it; and its representations,
 * the versions and groups it is spoken in. Built-in ones are listed in `resources.ts`; a type defined at run time is
 * the same value. What is not stated takes the value nearly every type has.
 */
import { createHash } from 'node:crypto'
import type { UserInfo } from './meta/user-info.js'
import { Facts } from './language/types.js'
import type { Message, Report, TypeMembers } from './language/types.js'
import type { TableRowCondition } from './meta/answers.js'
import type { ObjectMeta } from './meta/v1.js'
import type { NameRule } from './names.js'
import { dnsSubdomain } from './names.js'
import type { Steps } from './steps.js'

/** Any object of a resource: what generic code may rely on. */
export interface ApiObject extends TypeMembers { metadata: ObjectMeta }

export type ResourceVerb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch'
const EVERY_VERB: readonly ResourceVerb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** Rules on new objects that upstream does not hold updates of every type to: names made from generateName, domains of finalizers, rules on fields. */
export type UpdateRule = 'generateName' | 'finalizers' | 'fields'

/** A path below an object: a part of it, or something that is done with it. */
export interface Subresource {
  readonly name: string
  readonly verbs: readonly ResourceVerb[]
  /** The kind it takes and returns, where that is another than the resource's own. */
  readonly kind?: string
  readonly group?: string
  readonly version?: string
  /** Paths of its object that it changes, and the object itself does not, such as `status`. Of one that takes another kind, what it may change. */
  readonly changes?: readonly string[]
  /** Members of the metadata that it leaves alone as well. */
  readonly keepsMetadata?: ReadonlyArray<keyof ObjectMeta>
  /** A connection to where the object runs, and none of its representations. */
  readonly connects?: true
  /** Rules its updates are not held to. Default the rule on generateName. */
  readonly notOnUpdate?: readonly UpdateRule[]
  /** Rules on what it changes, beside those of the fields. */
  readonly validateUpdate?: (object: ApiObject, old: ApiObject, report: Report) => void
  /** Another message than its object's, read from and written into it: `scale`. */
  readonly view?: SubresourceView
}

export interface SubresourceView {
  readonly message: Message<ApiObject>
  /** What it shows of the object, metadata included. */
  readonly read: (object: ApiObject) => ApiObject
  /** Puts what a client wants of it into the object, which it changes in place. */
  readonly write: (object: ApiObject, wanted: ApiObject) => void
  readonly validate?: (wanted: ApiObject, report: Report) => void
  /** Columns of its Table; as of a resource. */
  readonly columns?: ReadonlyArray<Column<ApiObject>>
}

export type Cell = string | number | bigint | boolean | null

export interface Column<T> {
  readonly name: string
  readonly type: 'string' | 'integer' | 'date' | 'boolean' | 'number'
  readonly format: string
  readonly description: string
  /** 0 is shown by default, 1 in wide output. */
  readonly priority: 0 | 1
  /** `now` in milliseconds since the epoch. */
  readonly cell: (object: T, now: number) => Cell
}

export interface Deprecation {
  /** major.minor, as in `1.25`. */
  readonly deprecated: string
  /** Undefined for what is to stay for now. */
  readonly removed?: string
  /** apiVersion and kind to use instead. */
  readonly replacement?: string
}

/**
 * What is particular to a resource beyond its declaration: how an object is prepared before it is validated and stored,
 * and what else keeps it from being removed. All of it runs inside the read-modify-write loop and must not care how often.
 */
export interface Strategy<T extends ApiObject = ApiObject> {
  /** Sets what the server decides about a new object, by who asks for it where that matters; clears what clients may not set. */
  readonly prepareForCreate?: (object: T, user?: UserInfo) => void
  /** Drops what belongs to features that are off in this release, unless `old`, undefined of a new object, has it. Runs before the object is prepared. */
  readonly dropGated?: (object: T, old: T | undefined) => void
  /** A new object may say what its status is: whoever makes it knows. Default its status is empty, or what the server says. */
  readonly statusOfNew?: true
  /** Judges a large object in steps, before its rules do, which then take what was found. */
  readonly judge?: (object: T, old: T | undefined) => Steps<void>
  /** Brings an object that is valid into the form that is stored. */
  readonly canonicalize?: (object: T) => void
  /** What whoever wrote an object that is valid is told beside the answer, one sentence each; `old` is undefined of a new one. Not asked of subresources. */
  readonly warnings?: (object: T, old: T | undefined) => readonly string[]
  /** What is told of a deletion that leaves it to the type what becomes of the dependents. */
  readonly dependentsWarning?: string
  /** Takes from `old` what an update of this subresource ('' for the object itself) may not change, beside what its subresources change. */
  readonly prepareForUpdate?: (object: T, old: T, subresource: string) => void
  /** What follows from an update when it is known who changed what: nobody owns it anew. */
  readonly settle?: (object: T, old: T) => void
  /** What becomes of the dependents of an object whose deletion does not say: they are orphaned, or it never has any. Default they are collected. */
  readonly dependents?: 'orphaned' | 'none'
  /** Seconds an object gets to end once its deletion is asked for, with `asked` seconds where the request says so; 0 at once. Default 0. */
  readonly gracePeriod?: (object: T, asked: number | undefined) => number
  /** Why the object of this name is not deleted when it is asked for by itself; as one of a collection it is. */
  readonly undeletable?: (name: string) => string | undefined
  /** Marks an object whose deletion begins, beside its deletionTimestamp. */
  readonly beginDelete?: (object: T) => void
  /** True while something other than metadata.finalizers keeps a terminating object. */
  readonly blocksRemoval?: (object: T) => boolean
}

/** What objects have to keep to when they are sent in one version, and not when in another; and what becomes of them before. */
export interface VersionRules<T extends ApiObject = ApiObject> {
  /** Runs before the strategy prepares the object; `old` is undefined of a new one. */
  readonly prepare?: (object: T, old: T | undefined) => void
  readonly create?: (object: T, report: Report) => void
  readonly update?: (object: T, old: T, report: Report, subresource: string) => void
}

/** A selectable field that no object has, so its value is always ''. */
export const NO_FIELD = (): string => ''

/** Another version, or another group, that a type is served in. Conversions make objects of their own and lose nothing. */
export interface OtherRepresentation<T extends ApiObject> {
  readonly message: Message<ApiObject>
  readonly toStored: (object: ApiObject) => T
  readonly fromStored: (object: T) => ApiObject
  readonly deprecation?: Deprecation
  /** What becomes of the dependents of an object that is deleted by it, where that is something else than by the stored one. */
  readonly dependents?: Strategy['dependents']
  /** Its labels of field selectors, where they are others than those of the stored one: to their names there, or NO_FIELD. */
  readonly fieldLabels?: Readonly<Record<string, string | typeof NO_FIELD>>
  readonly unsupportedField?: UnsupportedField
  /** Rules of this version alone, on the object as it is stored; those of what is stored hold in all of them. */
  readonly rules?: VersionRules<T>
  /** Columns of its own; else those of the stored one show the stored object, and so do its conditions of rows. */
  readonly columns?: ReadonlyArray<Column<ApiObject>>
}

/** What is said of a label that can't be selected by. */
export type UnsupportedField = (label: string) => string

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
  /** Rules its updates are not held to. Default they are held to all. */
  readonly notOnUpdate?: readonly UpdateRule[]
  /** Finalizers of its objects need not be of a domain, or of the server. Default they do. */
  readonly anyFinalizer?: true
  /** What a delete that removed the object answers. Default Status. */
  readonly deleteReturns?: 'Status' | 'Object'
  /** Path below the store prefix. Default the plural. */
  readonly storagePrefix?: string
  /** What names are valid. Default DNS-1123 subdomain. */
  readonly nameRule?: NameRule
  /** Columns of its Table; without them a table has the name and the time of creation. */
  readonly columns?: ReadonlyArray<Column<T>>
  /** States of an object that change how its row is shown. */
  readonly rowConditions?: (object: T) => readonly TableRowCondition[]
  /** Its place in a table that lists several, the lowest first and equal ones by name. Default the order of lists. */
  readonly tableRank?: (object: T) => number
  /** Fields a fieldSelector may use beside metadata.name and metadata.namespace. */
  readonly selectableFields?: Readonly<Record<string, (object: T) => string>>
  readonly unsupportedField?: UnsupportedField
  readonly deprecation?: Deprecation
  /** False for resources defined at run time. */
  readonly protobuf?: boolean
  readonly strategy?: Strategy<T>
  /** What of an object is desired state: metadata.generation is 1 in a new one, and rises whenever it changes. Default the type counts no generations. */
  readonly generation?: (object: T) => unknown
  /** Seconds an object stays after its last write. Default for ever. */
  readonly ttlSeconds?: number
  /** Rules of the stored version alone, beside those of its message, which hold in all. */
  readonly rules?: VersionRules<T>
  /** Other versions and groups it is served in. */
  readonly others?: ReadonlyArray<OtherRepresentation<T>>
  /** An operation rather than an object: created, answered, and kept nowhere. */
  readonly virtual?: true
}

/** A type in one version, or group, as clients speak of it. */
export interface Representation<T extends ApiObject = ApiObject> {
  readonly type: ResourceType
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
  readonly anyFinalizer: boolean
  readonly notOnUpdate: readonly UpdateRule[]
  readonly deleteReturns: 'Status' | 'Object'
  readonly nameRule: NameRule
  readonly columns: ReadonlyArray<Column<ApiObject>> | undefined
  readonly rowConditions: ((object: ApiObject) => readonly TableRowCondition[]) | undefined
  /** What columns and conditions are of, where that is another than the object itself. */
  readonly rowSubject: ((object: ApiObject) => ApiObject) | undefined
  /** Of the stored object, under the names they have here. */
  readonly selectableFields: Readonly<Record<string, (object: ApiObject) => string>> | undefined
  readonly unsupportedField: UnsupportedField | undefined
  readonly deprecation: Deprecation | undefined
  /** What becomes of the dependents of an object that is deleted by it, where the deletion does not say. */
  readonly dependents: Strategy['dependents']
  readonly protobuf: boolean
  readonly message: Message<T>
  /** Base64 of the first eight bytes of SHA-256 over group/version/kind of what is stored; '' where nothing is. */
  readonly storageVersionHash: string
  readonly rules: VersionRules | undefined
  /** To and from what is stored; undefined for what is stored itself. */
  readonly conversion: { readonly toStored: (object: ApiObject) => ApiObject, readonly fromStored: (object: ApiObject) => ApiObject } | undefined
}

/** A resource type: what its representations have in common. */
export interface ResourceType {
  readonly group: string
  readonly plural: string
  readonly namespaced: boolean
  /** Path of its keys below the store prefix. */
  readonly storagePrefix: string
  readonly virtual: boolean
  readonly strategy: Strategy
  /** What its generations count changes of. */
  readonly generation: ((object: ApiObject) => unknown) | undefined
  /** Seconds an object stays after its last write; undefined for ever. */
  readonly ttlSeconds: number | undefined
  /** Of a stored object. */
  readonly tableRank: ((object: ApiObject) => number) | undefined
  /** What is stored, or, of a virtual type, spoken. */
  readonly stored: Representation
  /** All of them, the stored one first. */
  readonly representations: readonly Representation[]
}

/** A resource type whose objects are stored as the given kind. */
export function resource<T extends ApiObject> (message: Message<T>, options: ResourceOptions<T>): ResourceType {
  const { namespaced, plural } = options
  let hash: string | undefined
  const shared = {
    plural,
    shortNames: options.shortNames ?? [],
    categories: options.categories ?? [],
    namespaced,
    verbs: options.verbs ?? EVERY_VERB,
    subresources: options.subresources ?? [],
    createOnUpdate: options.createOnUpdate ?? false,
    unconditionalUpdate: options.unconditionalUpdate ?? true,
    anyFinalizer: options.anyFinalizer === true,
    notOnUpdate: options.notOnUpdate ?? [],
    deleteReturns: options.deleteReturns ?? 'Status',
    nameRule: options.nameRule ?? dnsSubdomain
  } as const
  const representation = (spoken: Message<ApiObject>, own: Pick<Representation, 'columns' | 'rowConditions' | 'rowSubject' | 'selectableFields' | 'unsupportedField' | 'deprecation' | 'dependents' | 'rules' | 'conversion'>): Representation => {
    const { name, protobuf, type: spokenType } = spoken[Facts]
    if (spokenType === undefined) throw new TypeError(`${name} is no kind, so it can't be a resource`)
    const { group, version, kind, apiVersion } = spokenType
    return {
      ...shared,
      ...own,
      group,
      version,
      apiVersion,
      kind,
      listKind: `${kind}List`,
      singular: options.singular ?? kind.toLowerCase(),
      protobuf: options.protobuf ?? protobuf,
      message: spoken,
      get type () { return type },
      get storageVersionHash () {
        const { stored } = type
        hash ??= options.virtual === true ? '' : createHash('sha256').update(`${stored.group}/${stored.version}/${stored.kind}`).digest().subarray(0, 8).toString('base64')
        return hash
      }
    }
  }
  // Generic code hands each of these only objects of this resource, decoded by its message.
  const stored = representation(message as Message<ApiObject>, {
    columns: options.columns as Representation['columns'],
    rowConditions: options.rowConditions as Representation['rowConditions'],
    rowSubject: undefined,
    selectableFields: options.selectableFields as Representation['selectableFields'],
    unsupportedField: options.unsupportedField,
    deprecation: options.deprecation,
    dependents: options.strategy?.dependents,
    rules: options.rules as VersionRules | undefined,
    conversion: undefined
  })
  const others = (options.others ?? []).map(other => representation(other.message, {
    columns: other.columns ?? stored.columns,
    rowConditions: other.columns === undefined ? stored.rowConditions : undefined,
    rowSubject: other.columns === undefined && stored.columns !== undefined ? other.toStored : undefined,
    selectableFields: relabelled(stored.selectableFields, other.fieldLabels),
    unsupportedField: other.unsupportedField ?? options.unsupportedField,
    deprecation: other.deprecation,
    dependents: other.dependents ?? stored.dependents,
    rules: other.rules as VersionRules | undefined,
    conversion: { toStored: other.toStored, fromStored: other.fromStored as (object: ApiObject) => ApiObject }
  }))
  const type: ResourceType = {
    group: stored.group,
    plural,
    namespaced,
    storagePrefix: options.storagePrefix ?? plural,
    virtual: options.virtual === true,
    strategy: (options.strategy ?? {}) as Strategy,
    generation: options.generation as ResourceType['generation'],
    ttlSeconds: options.ttlSeconds,
    tableRank: options.tableRank as ResourceType['tableRank'],
    stored,
    representations: [stored, ...others]
  }
  return type
}

/** Selectable fields of what is stored under other names: their values are kept beside each object once for all representations. */
function relabelled (fields: Representation['selectableFields'], labels: OtherRepresentation<ApiObject>['fieldLabels']): Representation['selectableFields'] {
  if (labels === undefined) return fields
  return Object.fromEntries(Object.entries(labels).map(([here, there]) => {
    const read = there === NO_FIELD ? NO_FIELD : fields?.[there as string] // the other of the two
    if (read === undefined) throw new TypeError(`${String(there)} is no selectable field`)
    return [here, read]
  }))
}
