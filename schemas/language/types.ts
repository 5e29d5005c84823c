/** Types of the declaration language, see declare.ts. */
import type { Gates } from '../gates.js'
import type { TOptional, TSchema } from '@sinclair/typebox'
import type { FieldError } from '../status.js'

export type { Static } from '@sinclair/typebox'

/** The key under which a schema carries facts that JSON Schema cannot express. */
export const Facts: unique symbol = Symbol.for('orch.Facts')
declare const PRESENCE: unique symbol
declare const SCALAR: unique symbol

/** A number if exact, otherwise a bigint: beyond ±9007199254740991 it is never a number. */
export type Int64 = number | bigint

export interface ScalarValues {
  string: string, bool: boolean, int32: number, int64: Int64, double: number, bytes: string
}
export type ScalarName = keyof ScalarValues

/**
 * A scalar; a message, or a thunk of one for recursive types; or a field, for nested lists, which have no protobuf
 * form.
 */
export type ElementType = ScalarName | Message | (() => Message) | Field
export type ValueOf<E> =
  E extends ScalarName ? ScalarValues[E] : E extends {
    static: infer T
  } ? T : E extends () => Message<infer T> ? T : never

/** An object as codecs see it: read by field name. */
export type Plain = Record<string, unknown>

export interface Report {
  (error: FieldError): void
  /** Gates on which validation depends. Default: those of the release. */
  readonly gates?: Gates
  /** Warns of what is not refused. Default: silent. */
  readonly warn?: (text: string) => void
}

export interface FieldOptions {
  /** Always written; as a string it must not be empty. `required` in OpenAPI. */
  readonly required?: true
  /** Detail of the error for an empty required field. */
  readonly missing?: string
  /** A required string that may be empty, or that custom rules check for emptiness. */
  readonly mayBeEmpty?: true
  /** Optional, but written when unset: an unset list as null. */
  readonly written?: true
  /** Left out of JSON when unset, rather than null, where `planOf` is asked for that. */
  readonly mayBeOmitted?: true
  /** Distinguishes unset from zero, and from empty for a list or map. */
  readonly pointer?: true
  /** A sent empty list or map gets an owner, although it is never stored. Implied by `written`. */
  readonly keepsEmpty?: true
  /** Computed defaults move it into other fields and clear it. Only at the top level of an object. */
  readonly writeOnly?: true
  /** null is a value, distinct from unset. */
  readonly nullable?: true
  /** Keeps a value of another type: the rules of the type report it. */
  readonly anyType?: true
  /** The parent's own rules validate it and everything below; its constraints here are documentation. */
  readonly ruled?: true
  /** May not change on update; 'ruled' if the type's `validateUpdate` decides. */
  readonly immutable?: true | 'ruled'
  /** Default when unset (or zero, without `pointer`). Computed defaults are in the message's `defaults`. */
  readonly default?: unknown
  /** Known values of a string. `closed` refuses others; with 'ruled' the type's own rules do. */
  readonly values?: readonly string[]
  readonly closed?: true | 'ruled'
  /** Values that are added to `values` by a release or a feature gate. */
  readonly laterValues?: { readonly since: string, readonly values: readonly string[] }
  /**
   * The release since which this text, a merge key, is empty when unset: apply accepts list items without it, and
   * OpenAPI has the default. Earlier releases require it in each item.
   */
  readonly emptySince?: string
  /** Errors list the supported values in declared order instead of sorted. */
  readonly unsorted?: true
  /** UTF-16 code units. */
  readonly maxLength?: number
  readonly pattern?: { readonly source: string, readonly test: (text: string) => boolean }
  readonly minimum?: number
  readonly maximum?: number
  /** How server-side apply merges lists, maps and structures. */
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly listMapKeys?: readonly string[]
  readonly mapType?: 'atomic' | 'granular'
  readonly structType?: StructType
  /** Strategic merge patch. */
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
  /** The discriminator of a union, in OpenAPI. */
  readonly discriminator?: true
  /** The text, or each of the list, is an IP address or an address range, whose forms are checked (`addresses.ts`). */
  readonly holds?: 'ip' | 'cidr'
  /** Name in findings about these forms, where clients know another. */
  readonly foundAs?: string
  /** Name in JSON if not that in memory: the message is that of a view. */
  readonly jsonName?: string
  /** Name in protobuf if not that in JSON. */
  readonly protoName?: string
  /** The feature gate that introduces the field. */
  readonly gate?: string | FieldGate
  /**
   * The release that the field came with, such as `1.29`: earlier ones do not know it, unless they know its gate.
   * Without a gate it is always on from then.
   */
  readonly since?: string
  /** The release that no longer has the field: it and later ones do not know it. */
  readonly removed?: string
}

/** How server-side apply merges a structure; with a release, from then on. */
export type StructType =
  'atomic' | 'granular' | { readonly since: string, readonly becomes: 'atomic' | 'granular' }

/** How a feature gate concerns a field; see `gated.ts`. */
export interface FieldGate {
  readonly name: string
  /** The value of a dropped field, which does not count as use. Default: the field is absent. */
  readonly otherwise?: unknown
  /** The computed default of the message, withheld while the gate is off. */
  readonly default?: unknown
  /** A default that is given only while the gate is on. */
  readonly given?: unknown
  /** Holders of this name keep the field, so that validation refuses it. */
  readonly except?: string
}

export type Shape = 'one' | 'list' | 'map' | 'inline'
export type Presence = 'always' | 'maybe' | 'inline'

/** Facts about a field besides its JSON Schema. */
export interface FieldFacts extends FieldOptions {
  readonly shape: Shape
  /** Protobuf field number; null for types that have no protobuf form. */
  readonly number: number | null
  readonly description: string
  readonly of: ElementType
}

/**
 * A field as a TypeBox schema. The type parameters are its value and whether it is always present; they exist in types
 * only.
 */
export interface Field<T = unknown, P extends Presence = Presence> extends TSchema {
  static: T
  readonly [Facts]: FieldFacts
  readonly [PRESENCE]?: P
}
/** The same, recognized by TypeBox's own object types. */
export type Declared<T, P extends Presence> = P extends 'maybe' ? TOptional<Field<T, P>> : Field<T, P>

export type Fields = Readonly<Record<string, Field>>
/* Flattened intersections are readable in editors. */
type Flat<T> = { [K in keyof T]: T[K] }
type Intersection<U> = (U extends unknown ? (value: U) => void : never) extends (value: infer I) => void ? I : never
type FieldValue<F> = F extends Field<infer T> ? T : never
type InlineFields<F extends Fields> = { [K in keyof F]: F[K] extends Field<infer T, 'inline'> ? T : never }[keyof F]
export type ObjectOf<F extends Fields> = Flat<
  { -readonly [K in keyof F as F[K] extends Field<unknown, 'always'> ? K : never]: FieldValue<F[K]> }
  & { -readonly [K in keyof F as F[K] extends Field<unknown, 'maybe'> ? K : never]?: FieldValue<F[K]> | undefined }
  & ([InlineFields<F>] extends [never] ? unknown : Intersection<InlineFields<F>>)
>

declare const SELF: unique symbol
/** Stands for the type being declared, in its own fields: see `recursive`. */
export interface Self { readonly [SELF]: true }

/** `T` with Self replaced by itself. */
export type Within<T> = { [K in keyof T]: Resolved<T[K], T> }
type Resolved<V, T> =
  V extends Self ? Within<T> : V extends Self[] ? Array<
    Within<T>
  > : V extends readonly unknown[] ? V : string extends keyof V ? { [K in keyof V]: Resolved<V[K], T> } : V

/** The two members at the start of every kind. */
export interface TypeMembers { kind: string, apiVersion: string }

/** What reading a protobuf body may still consume. */
export interface ValueBudget {
  /** List items and object members; a reader of raw JSON subtracts those it finds. */
  valuesLeft: number
}

/**
 * The codec of a type that is not a plain object of its fields in JSON or protobuf (times, raw JSON, int-or-string …).
 */
export interface Special<T = unknown> {
  /** From a JSON value; undefined for unset. Calls `refuse` with what it expected. */
  readonly decode: (value: unknown, refuse: (expected: string) => never) => T | undefined
  /** JSON text; undefined is the unset value. */
  readonly json: (value: T | undefined) => string
  /** The body of its protobuf message, perhaps in memory that the next call overwrites. */
  readonly toProtobuf: (value: T | undefined) => Uint8Array
  readonly fromProtobuf: (body: Uint8Array, budget: ValueBudget) => T | undefined
  /** Its message is field 1 alone: the text that the value is, or its JSON text. */
  readonly wraps?: 'text' | 'json'
  /** The value of an unset one in lists, maps and required fields. */
  readonly zero?: string | number
  /** Whether two values mean the same in different notations. Default: there is one notation. */
  readonly isSame?: (value: T, other: T) => boolean
  /** OpenAPI type; `{}` for anything. */
  readonly openapi: Readonly<Plain>
  /** JSON Schema, if it differs from `openapi`. */
  readonly schema?: Readonly<Plain>
  /** An object with arbitrary members, each owned separately. */
  readonly open?: boolean
  /** A list or bytes in Go: when unset, omitted from protobuf, and from JSON under omitempty. */
  readonly nullable?: boolean
}

/** Makes a message a union of its fields: see `alternatives` in declare.ts. */
export interface Alternatives {
  /** Constant protobuf fields beside the chosen one. */
  readonly beside: Readonly<Plain>
}

export interface FormerMessage { readonly message: Message, readonly until: string }

export interface MessageOptions<T> {
  readonly structType?: StructType
  /** Computed defaults; run after static ones, and must be idempotent. */
  readonly defaults?: (object: T, gates: Gates) => void
  /** Validation beyond single fields; `at` is the path of the object, '' at the root. */
  readonly validate?: (object: T, at: string, report: Report) => void
  /** Rules for creation only: existing objects may violate them. */
  readonly validateCreate?: (object: T, at: string, report: Report) => void
  readonly validateUpdate?: (object: T, old: T, at: string, report: Report) => void
  /** False for types without a protobuf form. */
  readonly protobuf?: false
  /** The message in whose place it came, which OpenAPI has until then. */
  readonly formerly?: FormerMessage
  /** Keeps undeclared members. */
  readonly preserveUnknown?: true
}

export interface GroupVersionKind { readonly group: string, readonly version: string, readonly kind: string }

/** Facts about a message besides its JSON Schema. */
export interface Declaration {
  /** `rbac.v1.Subject`. */
  readonly name: string
  /** `io.orch.api.rbac.v1.Subject`. */
  readonly openapiName: string
  readonly formerly: FormerMessage | undefined
  readonly description: string
  readonly fields: Fields
  /** Set for kinds, whose objects begin with kind and apiVersion. */
  readonly type: KindFacts | undefined
  /** OpenAPI v3 schema of a custom kind, from its definition. */
  readonly given: object | undefined
  readonly special: Special | undefined
  /** Set for unions. */
  readonly alternatives: Alternatives | undefined
  readonly structType: StructType | undefined
  readonly protobuf: boolean
  /** Undeclared members that are kept: all, none, or these. */
  readonly preserveUnknown: boolean | ReadonlySet<string>
  /** An apply may have undeclared members here. They are dropped, and have no owner. */
  readonly freeForm: boolean
  readonly defaults: ((object: Plain, gates: Gates) => void) | undefined
  readonly validate: ((object: Plain, at: string, report: Report) => void) | undefined
  readonly validateCreate: ((object: Plain, at: string, report: Report) => void) | undefined
  readonly validateUpdate: ((object: Plain, old: Plain, at: string, report: Report) => void) | undefined
}

/**
 * A message as a TypeBox schema. Its static type is the flattened object, without the schemas of nested messages. At
 * run time it is an object schema with `properties` and `required`, computed when first read. It describes an object
 * after defaulting.
 */
export interface Message<out T = unknown> extends TSchema {
  static: T
  readonly [Facts]: Declaration
  /* A TSchema has any key; these guard against reading facts from the schema instead of from `Facts`. */
  readonly type?: string
  readonly name?: never
  readonly openapiName?: never
  readonly fields?: never
  readonly special?: never
  readonly protobuf?: never
}

/** A message whose JSON is not an object of its fields. */
export interface SpecialMessage<out T = unknown> extends Message<T> { readonly [SCALAR]: true }

export interface KindFacts extends GroupVersionKind {
  /** `v1` for the core group, else `group/version`. */
  readonly apiVersion: string
  /** Options and Status are accepted under the apiVersion of any group. */
  readonly anyVersion: boolean
  /** A second accepted apiVersion, which responses then use. */
  readonly alsoAs?: string
}

/** A list kind: RoleList is `ListOf<Role, ListMeta>`. */
export type ListOf<T, Meta> = TypeMembers & { metadata: Meta, items?: T[] | undefined }
