/**
 * A resource type as one value: what is stored, under which keys, with which operations, and in which representations
 * it is served. `resources.ts` lists the built-in types; a custom resource is the same kind of value. Options default
 * to what nearly every type has.
 */
import { createHash } from 'node:crypto'
import type { Column } from './columns.js'
import type { Gates } from './gates.js'
import type { ApiObject } from './meta/api-object.js'
import type { LaterNames } from './meta/metadata.js'
import { SINCE } from './meta/release.js'
import { Facts, type Message } from './language/types.js'
import type { TableRowCondition } from './meta/answers.js'
import { dnsSubdomain, type NameRule } from './names.js'
import type { Strategy, UpdateRule, VersionRules } from './strategy.js'
import { EVERY_VERB, type ResourceVerb, type Subresource } from './subresource.js'

/** Whether a server with these gates has something that gates or releases bring and take away. */
export const isServed = (
  { gate, removed }: { gate?: string | undefined, removed?: string | undefined }, gates: Pick<Gates, 'enabled'>
): boolean => (gate === undefined || gates.enabled(gate)) && (removed === undefined || !gates.enabled(removed))

/** The deprecation of a version; undefined too in a release before it. */
export function deprecationIn (
  gates: Pick<Gates, 'enabled'>, { deprecation }: Pick<Representation, 'deprecation'>
): Deprecation | undefined {
  if (deprecation === undefined || !SINCE.includes(deprecation.deprecated)) return deprecation
  return gates.enabled(deprecation.deprecated) ? deprecation : undefined
}

export interface Deprecation {
  /** major.minor, as in `1.25`; '' for custom resources. */
  readonly deprecated: string
  /** Undefined when no removal is planned. */
  readonly removed?: string
  /** apiVersion and kind to use instead. */
  readonly replacement?: string
  /** The whole warning, instead of the one composed of these. */
  readonly warning?: string
}

/** A selectable field that no object has; its value is always ''. */
export const NO_FIELD = (): string => ''

interface Named {
  readonly plural: string
  readonly namespaced: boolean
}

/** What all versions of a type have alike. */
interface Common extends Named {
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly verbs: readonly ResourceVerb[]
  /** Its definition is being deleted: nothing is created any more, and discovery shows no verb that writes. */
  readonly closing: boolean
  /** PUT of a name that does not exist creates it. */
  readonly createOnUpdate: boolean
  /** PUT without a resourceVersion is accepted. */
  readonly unconditionalUpdate: boolean
  /** Rules that updates skip. */
  readonly notOnUpdate: readonly UpdateRule[]
  /** Annotations that hold fields of other versions; the limit on the size of annotations leaves them out. */
  readonly fieldAnnotations: readonly string[]
  /** Skips the check that finalizers are domain-qualified or standard. */
  readonly anyFinalizer: boolean
  /** What a delete that removed the object returns. */
  readonly deleteReturns: 'Status' | 'Object'
  /** Valid names. */
  readonly nameRule: NameRule
  /** Valid names where a gate is on. */
  readonly laterNames: LaterNames | undefined
}

/** What nearly every type has. */
const DEFAULTS: Omit<Common, keyof Named> = {
  shortNames: [],
  categories: [],
  verbs: EVERY_VERB,
  closing: false,
  createOnUpdate: false,
  unconditionalUpdate: true,
  notOnUpdate: [],
  fieldAnnotations: [],
  anyFinalizer: false,
  deleteReturns: 'Status',
  nameRule: dnsSubdomain,
  laterNames: undefined
}

/** What may differ between versions, and is undefined or empty by default. */
interface OfVersion<T extends ApiObject> {
  readonly subresources: readonly Subresource[]
  /** Table columns. Default: name and creation time; in another version those of the stored one, of the stored form. */
  readonly columns: ReadonlyArray<Column<T>> | undefined
  readonly unsupportedField: UnsupportedField | undefined
  readonly deprecation: Deprecation | undefined
  /** Feature gate without which it is not served. */
  readonly gate: string | undefined
  /** Default propagation of deletes. */
  readonly dependents: Strategy['dependents']
  /** Rules of this version alone, run on the stored form; rules of its message apply to all versions. */
  readonly rules: VersionRules<T> | undefined
}

/** Another group or version in which a type is served. Conversions return new objects and are lossless. */
export interface OtherRepresentation<T extends ApiObject> extends Partial<Omit<OfVersion<T>, 'columns'>> {
  readonly message: Message<ApiObject>
  readonly toStored: (object: ApiObject) => T
  /**
   * As `toStored`, with what the stored version lacks and without its defaults: rules and admission see a new object
   * as its client sent it. Default `toStored`.
   */
  readonly unpruned?: (object: ApiObject) => T
  readonly fromStored: (object: T) => ApiObject
  /** Field labels of this version, if they differ: each maps to the stored version's label, or to NO_FIELD. */
  readonly fieldLabels?: Readonly<Record<string, string | typeof NO_FIELD>>
  /** Fields of its own, in place of the stored version's; the functions read the stored form. */
  readonly selectableFields?: Representation['selectableFields']
  readonly columns?: ReadonlyArray<Column<ApiObject>>
}

/** The error message for a field label that is not selectable. */
export type UnsupportedField = (label: string) => string

export interface ResourceOptions<T extends ApiObject> extends
  Named, Partial<Omit<Common, keyof Named>>, Partial<Omit<OfVersion<T>, 'dependents'>> {
  /** As discovery shows it. Default '', as upstream for built-in types. */
  readonly singular?: string
  readonly listKind?: string
  /** Path below the store prefix. Default the plural. */
  readonly storagePrefix?: string
  /** States of an object that change how its row is displayed. */
  readonly rowConditions?: (object: T) => readonly TableRowCondition[]
  /** Sorts a printed table, lowest first, then by name. Default: list order. */
  readonly tableRank?: (object: T) => number
  /** Selectable fields besides metadata.name and metadata.namespace. */
  readonly selectableFields?: Readonly<Record<string, (object: T) => string>>
  /** Those by which objects are listed often; their values are few beside the objects. */
  readonly indexedFields?: readonly string[]
  /** False for custom resources. */
  readonly protobuf?: boolean
  readonly strategy?: Strategy<T>
  /**
   * The desired state: metadata.generation starts at 1 and rises when it changes. Default: the type has no generation.
   */
  readonly generation?: (object: T) => unknown
  /** The generation rises, too, when a member that was not set becomes empty. Only custom types store both. */
  readonly countsEmpty?: true
  /** Feature gate without which it has none. */
  readonly countsWith?: string
  /** Seconds an object lives after its last write. Default: forever. */
  readonly ttlSeconds?: number
  /** Other groups and versions it is served in. */
  readonly others?: ReadonlyArray<OtherRepresentation<T>>
  /** Objects are processed and answered, never stored. */
  readonly virtual?: true
  readonly anyStoredVersion?: true
}

/** A type in one group and version, as clients see it. */
export interface Representation<T extends ApiObject = ApiObject> extends Common, OfVersion<ApiObject> {
  readonly type: ResourceType
  readonly group: string
  readonly version: string
  /** `v1` or `group/version`. */
  readonly apiVersion: string
  readonly kind: string
  readonly listKind: string
  readonly singular: string
  readonly rowConditions: ((object: ApiObject) => readonly TableRowCondition[]) | undefined
  /** Converts to the object that columns and conditions read; undefined for the object itself. */
  readonly rowSubject: ((object: ApiObject) => ApiObject) | undefined
  /** By this version's labels; the functions read the stored form. */
  readonly selectableFields: Readonly<Record<string, (object: ApiObject) => string>> | undefined
  readonly protobuf: boolean
  readonly message: Message<T>
  /** Base64 of the first eight bytes of SHA-256 over the stored group/version/kind; '' for virtual types. */
  readonly storageVersionHash: string
  /** To and from the stored version; undefined for the stored version itself. */
  readonly conversion: {
    readonly toStored: (object: ApiObject) => ApiObject, readonly fromStored: (object: ApiObject) => ApiObject
    readonly unpruned?: ((object: ApiObject) => ApiObject) | undefined
  } | undefined
}

/** What all representations of a resource share. */
export interface ResourceType {
  readonly group: string
  readonly plural: string
  readonly namespaced: boolean
  /** Path of its keys below the store prefix. */
  readonly storagePrefix: string
  readonly virtual: boolean
  readonly strategy: Strategy
  /** The desired state that metadata.generation counts changes of. */
  readonly generation: ((object: ApiObject) => unknown) | undefined
  readonly countsEmpty: boolean
  /** Feature gate without which it counts none. */
  readonly countsWith: string | undefined
  /** Seconds an object lives after its last write; undefined for forever. */
  readonly ttlSeconds: number | undefined
  /** Stored objects may be of any version of the type, with the fields of the stored one. */
  readonly anyStoredVersion: boolean
  /** Reads the stored form. */
  readonly tableRank: ((object: ApiObject) => number) | undefined
  readonly indexedFields: readonly string[]
  /** The functions of all versions' selectable fields, whose values each object has, in this order. */
  readonly fieldReaders: ReadonlyArray<(object: ApiObject) => string>
  /** The stored representation, or the only one of a virtual type. */
  readonly stored: Representation
  /** All representations, the stored one first. */
  readonly representations: readonly Representation[]
}

type Own = Pick<Representation, keyof OfVersion<ApiObject> | 'rowConditions' | 'rowSubject' | 'selectableFields'
  | 'conversion'>

/** The options that all versions share, with their defaults. */
function common (options: ResourceOptions<never>): Common {
  const given = Object.entries(options).filter(([name, value]) => Object.hasOwn(DEFAULTS, name) && value !== undefined)
  return { ...DEFAULTS, ...Object.fromEntries(given), plural: options.plural, namespaced: options.namespaced }
}

function ownOfStored (options: ResourceOptions<ApiObject>): Own {
  const { columns, rowConditions, selectableFields, unsupportedField, deprecation, gate, rules } = options
  return {
    columns, rowConditions, rowSubject: undefined, selectableFields, unsupportedField, deprecation, gate, rules,
    dependents: options.strategy?.dependents,
    subresources: options.subresources ?? [],
    conversion: undefined
  }
}

/** Another version has what the stored one has, as far as it declares nothing else. */
function ownOfOther (
  other: OtherRepresentation<ApiObject>, options: ResourceOptions<ApiObject>, stored: Representation
): Own {
  const { columns, toStored, fromStored, unpruned } = other
  return {
    columns: columns ?? stored.columns,
    rowConditions: columns === undefined ? stored.rowConditions : undefined,
    rowSubject: columns === undefined && stored.columns !== undefined ? toStored : undefined,
    selectableFields: other.selectableFields ?? relabelled(stored.selectableFields, other.fieldLabels),
    unsupportedField: other.unsupportedField ?? options.unsupportedField,
    deprecation: other.deprecation,
    gate: other.gate ?? options.gate,
    dependents: other.dependents ?? stored.dependents,
    rules: other.rules,
    subresources: other.subresources ?? stored.subresources,
    conversion: { toStored, fromStored, unpruned }
  }
}

/** Defines a resource type whose objects are stored as `message`. */
export function resource<T extends ApiObject> (message: Message<T>, options: ResourceOptions<T>): ResourceType {
  const { namespaced, plural } = options
  let hash: string | undefined
  const shared = common(options as unknown as ResourceOptions<never>)
  const representation = (spoken: Message<ApiObject>, own: Own): Representation => {
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
      listKind: options.listKind ?? `${kind}List`,
      singular: options.singular ?? '',
      protobuf: options.protobuf ?? protobuf,
      message: spoken,
      get type () { return type },
      get storageVersionHash () {
        const { stored } = type
        hash ??= options.virtual === true
          ? ''
          : createHash('sha256')
              .update(`${stored.group}/${stored.version}/${stored.kind}`).digest().subarray(0, 8).toString('base64')
        return hash
      }
    }
  }
  // Generic code passes these functions only objects decoded by this resource's message.
  const generic = options as unknown as ResourceOptions<ApiObject>
  const stored = representation(message as Message<ApiObject>, ownOfStored(generic))
  const others = (generic.others ?? []).map(other => representation(other.message, ownOfOther(other, generic, stored)))
  const representations = [stored, ...others]
  const type: ResourceType = {
    group: stored.group,
    plural,
    namespaced,
    storagePrefix: options.storagePrefix ?? plural,
    virtual: options.virtual === true,
    anyStoredVersion: options.anyStoredVersion === true,
    strategy: (options.strategy ?? {}) as Strategy,
    generation: options.generation as ResourceType['generation'],
    countsEmpty: options.countsEmpty === true,
    countsWith: options.countsWith,
    ttlSeconds: options.ttlSeconds,
    tableRank: options.tableRank as ResourceType['tableRank'],
    indexedFields: options.indexedFields ?? [],
    fieldReaders: [...new Set(representations.flatMap(version => Object.values(version.selectableFields ?? {})))]
      .filter(read => read !== NO_FIELD),
    stored,
    representations
  }
  return type
}

/**
 * The stored selectable fields under other labels. The functions are shared, so their values are cached once for all
 * representations.
 */
function relabelled (
  fields: Representation['selectableFields'], labels: OtherRepresentation<ApiObject>['fieldLabels']
): Representation['selectableFields'] {
  if (labels === undefined) return fields
  return Object.fromEntries(Object.entries(labels).map(([here, there]) => {
    const read = there === NO_FIELD ? NO_FIELD : fields?.[there as string] // otherwise a label
    if (read === undefined) throw new TypeError(`${String(there)} is no selectable field`)
    return [here, read]
  }))
}

/** As metrics name it: `configmaps`, `clusterroles.rbac.authorization.orch.io`. */
export const resourceLabel = ({ group, plural }: Pick<ResourceType, 'group' | 'plural'>): string =>
  group === '' ? plural : `${plural}.${group}`

/** The labels by which metrics know a type, with its values: group and resource each, before release 1.36 in one. */
export interface TypeLabels {
  readonly names: readonly string[]
  readonly of: (type: Pick<ResourceType, 'group' | 'plural'>) => readonly string[]
}

export const typeLabels = (gates: Gates): TypeLabels => gates.enabled('MetricsHaveLaterStages')
  ? { names: ['group', 'resource'], of: ({ group, plural }) => [group, plural] }
  : { names: ['resource'], of: type => [resourceLabel(type)] }
