/** The types of the language: what its constructors make, and what TypeScript knows of it. See declare.ts. */
import type { TOptional, TSchema } from '@sinclair/typebox'
import type { FieldError } from '../status.js'

export type { Static } from '@sinclair/typebox'

/** Under this key a schema carries what JSON Schema has no word for: codecs read it, nobody else sees it. */
export const Facts: unique symbol = Symbol.for('orch.Facts')
declare const PRESENCE: unique symbol
declare const SCALAR: unique symbol

/** A number where that is exact, else a bigint: what is beyond ±9007199254740991 is never a number. */
export type Int64 = number | bigint

export interface ScalarValues { string: string, bool: boolean, int32: number, int64: Int64, double: number, bytes: string }
export type ScalarName = keyof ScalarValues

/** What a list or map holds, or a field is: a scalar, a message, or a thunk of one, for types that contain themselves (`recursive`) or each other; a field, for lists of lists and the like, which have no protobuf form. */
export type ElementType = ScalarName | Message | (() => Message) | Field
export type ValueOf<E> = E extends ScalarName ? ScalarValues[E] : E extends { static: infer T } ? T : E extends () => Message<infer T> ? T : never

/** An object read by field name: what codecs see. */
export type Plain = Record<string, unknown>

/** Receives one finding of validation. */
export type Report = (error: FieldError) => void

export interface FieldOptions {
  /** Always written, and a string of it must not be empty. In OpenAPI it is `required`. */
  readonly required?: true
  /** What clients are told where a required one is empty, if anything. */
  readonly missing?: string
  /** A required string that may be empty all the same, or of which rules of its type say so when it is. */
  readonly mayBeEmpty?: true
  /** Optional, yet written when unset: a missing list as null. */
  readonly written?: true
  /** Unset and zero are two things, and so are unset and empty for a list or map. */
  readonly pointer?: true
  /** An empty list or map that was sent says something, although it is never written; as all that are written when unset do. */
  readonly heardEmpty?: true
  /** Computed defaults put it into other fields, and it is never there afterwards. At the top of an object alone. */
  readonly writeOnly?: true
  /** Null is a value of it, and no other word for unset. */
  readonly nullable?: true
  /** Rules of the type that has it say all that can be wrong with it and with what it holds: its declaration is for readers alone. */
  readonly ruled?: true
  /** May not change on update; 'ruled' when the type's own `validateUpdate` says when. */
  readonly immutable?: true | 'ruled'
  /** Taken when the field is unset (without `pointer`: or zero). Computed defaults stand in the message's `defaults`. */
  readonly default?: unknown
  /** The known values of a string; others are refused only when `closed`, 'ruled' when the type's own rules say where. */
  readonly values?: readonly string[]
  readonly closed?: true | 'ruled'
  /** Where one is refused the known values are told as they are declared, else sorted. */
  readonly unsorted?: true
  /** In UTF-16 code units. */
  readonly maxLength?: number
  readonly pattern?: { readonly source: string, readonly test: (text: string) => boolean }
  readonly minimum?: number
  readonly maximum?: number
  /** Server-side apply: how lists, maps and structures merge. */
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly listMapKeys?: readonly string[]
  readonly mapType?: 'atomic' | 'granular'
  readonly structType?: 'atomic' | 'granular'
  /** Strategic merge patch. */
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
  /** Says which of the other fields of its message counts: a union, in OpenAPI. */
  readonly discriminator?: true
  /** Name in protobuf where it is another than in JSON. */
  readonly protoName?: string
}

export type Shape = 'one' | 'list' | 'map' | 'inline'
export type Presence = 'always' | 'maybe' | 'inline'

/** What there is to know of a field beside its JSON Schema. */
export interface FieldFacts extends FieldOptions {
  readonly shape: Shape
  /** Protobuf field number; null for types that have no protobuf form. */
  readonly number: number | null
  readonly description: string
  readonly of: ElementType
}

/** A TypeBox schema. `T` and `P` live in the types only: the value of the field, and whether it is always there. */
export interface Field<T = unknown, P extends Presence = Presence> extends TSchema {
  static: T
  readonly [Facts]: FieldFacts
  readonly [PRESENCE]?: P
}
/** The same for TypeBox's own objects. */
export type Declared<T, P extends Presence> = P extends 'maybe' ? TOptional<Field<T, P>> : Field<T, P>

export type Fields = Readonly<Record<string, Field>>
/* Intersections stay readable in editors when they are flattened. */
type Flat<T> = { [K in keyof T]: T[K] }
type Intersection<U> = (U extends unknown ? (value: U) => void : never) extends (value: infer I) => void ? I : never
type FieldValue<F> = F extends Field<infer T> ? T : never
type InlineFields<F extends Fields> = { [K in keyof F]: F[K] extends Field<infer T, 'inline'> ? T : never }[keyof F]
export type ObjectOf<F extends Fields> = Flat<
  { -readonly [K in keyof F as F[K] extends Field<unknown, 'always'> ? K : never]: FieldValue<F[K]> } &
  { -readonly [K in keyof F as F[K] extends Field<unknown, 'maybe'> ? K : never]?: FieldValue<F[K]> | undefined } &
  ([InlineFields<F>] extends [never] ? unknown : Intersection<InlineFields<F>>)
>

declare const SELF: unique symbol
/** Stands for the type that is being declared, in its own fields: see `recursive`. */
export interface Self { readonly [SELF]: true }

/** `T`, with itself wherever it says Self. */
export type Within<T> = { [K in keyof T]: Resolved<T[K], T> }
type Resolved<V, T> = V extends Self ? Within<T> : V extends Self[] ? Array<Within<T>> : V extends readonly unknown[] ? V : string extends keyof V ? { [K in keyof V]: Resolved<V[K], T> } : V

/** The two members every object of a kind begins with. */
export interface TypeMembers { kind: string, apiVersion: string }

/** What reading a protobuf body may still come to. */
export interface ValueBudget {
  /** List items and object members; those of raw JSON are counted by whoever reads it. */
  valuesLeft: number
}

/** The forms of a type that is no plain object of its fields in JSON or protobuf (times, raw JSON, int-or-string …). */
export interface Special<T = unknown> {
  /** From a JSON value; `undefined` for unset. Calls `refuse` with what was expected instead. */
  readonly decode: (value: unknown, refuse: (expected: string) => never) => T | undefined
  /** JSON text; `undefined` is the unset value. */
  readonly json: (value: T | undefined) => string
  /** The body of its protobuf message, perhaps in memory that the next call writes over. */
  readonly toProtobuf: (value: T | undefined) => Uint8Array
  readonly fromProtobuf: (body: Uint8Array, budget: ValueBudget) => T | undefined
  /** What an unset one is where nothing is unset: in lists, maps and required fields. */
  readonly zero?: string | number
  /** Its OpenAPI type, `{}` for anything. */
  readonly openapi: Readonly<Plain>
  /** Its JSON Schema, where that is another. */
  readonly schema?: Readonly<Plain>
  /** Any members, each of which is owned by itself. */
  readonly open?: boolean
  /** True for those that are lists or bytes underneath: left out of protobuf, and of JSON under omitempty, when unset. */
  readonly nullable?: boolean
}

/** What makes a message a choice between its fields: see `alternatives` in declare.ts. */
export interface Alternatives {
  /** What its protobuf form says beside the chosen field. */
  readonly beside: Readonly<Plain>
}

export interface MessageOptions<T> {
  readonly structType?: 'atomic' | 'granular'
  /** Computed defaults; runs after the static ones of its fields, and must not care how often it runs. */
  readonly defaults?: (object: T) => void
  /** Rules a field can't state alone; `at` is the path of the object, '' at the root. */
  readonly validate?: (object: T, at: string, report: Report) => void
  /** Rules for new objects alone: those that are there already may break them. */
  readonly validateCreate?: (object: T, at: string, report: Report) => void
  readonly validateUpdate?: (object: T, old: T, at: string, report: Report) => void
  /** False when it is never spoken in protobuf. */
  readonly protobuf?: false
  /** Members it does not declare stay as they are. */
  readonly preserveUnknown?: true
}

export interface GroupVersionKind { readonly group: string, readonly version: string, readonly kind: string }

/** What there is to know of a message beside its JSON Schema. */
export interface Declaration {
  /** `rbac.v1.Subject`. */
  readonly name: string
  /** `io.orch.api.rbac.v1.Subject`. */
  readonly openapiName: string
  readonly description: string
  readonly fields: Fields
  /** Set when its objects begin with kind and apiVersion. */
  readonly type: KindFacts | undefined
  readonly special: Special | undefined
  /** Set when its value is that of one of its fields. */
  readonly alternatives: Alternatives | undefined
  readonly structType: 'atomic' | 'granular' | undefined
  readonly protobuf: boolean
  readonly preserveUnknown: boolean
  readonly defaults: ((object: Plain) => void) | undefined
  readonly validate: ((object: Plain, at: string, report: Report) => void) | undefined
  readonly validateCreate: ((object: Plain, at: string, report: Report) => void) | undefined
  readonly validateUpdate: ((object: Plain, old: Plain, at: string, report: Report) => void) | undefined
}

/**
 * A TypeBox schema, whose static type is the flattened object: the types of nested messages are told once, not once more as
 * schemas. At run time it is an object schema with `properties` and `required`, made when they are first looked at. It says what
 * an object is with its defaults, as a validator that fills them in leaves it.
 */
export interface Message<out T = unknown> extends TSchema {
  static: T
  readonly [Facts]: Declaration
  /* A schema takes any key: these are none of its, and stand in its facts. */
  readonly type?: string
  readonly name?: never
  readonly openapiName?: never
  readonly fields?: never
  readonly special?: never
  readonly protobuf?: never
}

/** A message whose JSON is no object of its fields, but of a form of its own or the value of one of them. */
export interface SpecialMessage<out T = unknown> extends Message<T> { readonly [SCALAR]: true }

export interface KindFacts extends GroupVersionKind {
  /** `v1` for the core group, else `group/version`. */
  readonly apiVersion: string
  /** Options and Status are accepted under the apiVersion of any group. */
  readonly anyVersion: boolean
  /** An apiVersion that is accepted beside the own one, and then answered with. */
  readonly alsoAs?: string
}

/** The kind whose values are lists of `M`: `listOf(Role)` is RoleList. */
export type ListOf<T, Meta> = TypeMembers & { metadata: Meta, items?: T[] | undefined }
