/**
 * The language every API type is stated in. A message is one value with one entry per field, in the order
 * of declaration (which is the order of its JSON); everything else is derived from it when it is first
 * needed: the TypeScript type (`Static`), JSON and protobuf codecs, defaults, validation, OpenAPI.
 *
 *     const { message, kind } = apiPackage('rbac.authorization.orch.io', 'v1', 'io.orch.api.rbac.v1')
 *
 *     export type RoleRef = Static<typeof RoleRef>
 *     export const RoleRef = message('RoleRef', 'Points at the role that is granted.', {
 *       apiGroup: string(1, 'API group of the role.', { required: true }),
 *       kind: string(2, 'ClusterRole or Role.', { required: true }),
 *       name: string(3, 'Name of the role.', { required: true })
 *     }, { structType: 'atomic' })
 *
 * Declaring allocates a few plain objects and computes nothing, so that hundreds of types cost a start nothing.
 *
 * How an object looks in memory: like its JSON, in declared order. A scalar that is `required` is always there
 * (zero when it was not sent), so is a nested message that is no pointer; everything else is absent when unset, never
 * null. Times are RFC 3339 strings, bytes base64 strings, 64-bit integers safe JavaScript integers.
 */
import type { FieldError } from './status.js'

export interface ScalarValues { string: string, bool: boolean, int32: number, int64: number, double: number, bytes: string }
export type ScalarName = keyof ScalarValues

/** What a list or map holds, or a field is: a scalar, a message, or a thunk of one (for types that contain themselves). */
export type ElementType = ScalarName | Message | (() => Message)
export type ValueOf<E> = E extends ScalarName ? ScalarValues[E] : E extends Message<infer T> ? T : E extends () => Message<infer T> ? T : never

/** An object read by field name: what codecs see. */
export type Plain = Record<string, unknown>

/** Receives one finding of validation. */
export type Report = (error: FieldError) => void

export interface FieldOptions {
  /** Always written, and a string of it must not be empty. In OpenAPI it is `required`. */
  readonly required?: true
  /** A required string that may be empty all the same. */
  readonly mayBeEmpty?: true
  /** Optional, yet written when unset: a missing list as null. */
  readonly written?: true
  /** Unset and zero are two things. */
  readonly pointer?: true
  /** May not change on update; 'ruled' when the type's own `validateUpdate` says when. */
  readonly immutable?: true | 'ruled'
  /** Taken when the field is unset (without `pointer`: or zero). Computed defaults stand in the message's `defaults`. */
  readonly default?: string | number | boolean | Readonly<Plain>
  /** The known values of a string; others are refused only when `closed`. */
  readonly values?: readonly string[]
  readonly closed?: true
  /** In UTF-16 code units. */
  readonly maxLength?: number
  readonly pattern?: RegExp
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
  /** Name in protobuf where it is another than in JSON. */
  readonly protoName?: string
}

export type Shape = 'one' | 'list' | 'map' | 'inline'
type Presence = 'always' | 'maybe' | 'inline'

/** `T` and `P` live in the types only: the value of the field, and whether it is always there. */
export interface Field<T = unknown, P extends Presence = Presence> extends FieldOptions {
  readonly shape: Shape
  /** Protobuf field number; null for types that have no protobuf form. */
  readonly number: number | null
  readonly text: string
  readonly of: ElementType
  readonly static?: T
  readonly presence?: P
}

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

/** The two members every object of a kind begins with. */
export interface TypeMembers { kind: string, apiVersion: string }

/** The TypeScript type of a declaration. */
export type Static<M extends { readonly static?: unknown }> = Exclude<M['static'], undefined>

/** The forms of a type that is no plain object of its fields in JSON or protobuf (times, raw JSON, int-or-string …). */
export interface Special<T = unknown> {
  /** From a JSON value; `undefined` for unset. Calls `refuse` with what was expected instead. */
  readonly decode: (value: unknown, refuse: (expected: string) => never) => T | undefined
  /** JSON text; `undefined` is the unset value. */
  readonly json: (value: T | undefined) => string
  /** The body of its protobuf message. */
  readonly toProtobuf: (value: T | undefined) => Uint8Array
  readonly fromProtobuf: (body: Uint8Array) => T | undefined
  /** Its OpenAPI type, `{}` for anything. */
  readonly openapi: Readonly<Plain>
  /** True for those that are lists or bytes underneath: left out of protobuf, and of JSON under omitempty, when unset. */
  readonly nullable?: boolean
}

export interface MessageOptions<T> {
  readonly structType?: 'atomic' | 'granular'
  /** Computed defaults; runs after the static ones of its fields, and must not care how often it runs. */
  readonly defaults?: (object: T) => void
  /** Rules a field can't state alone; `at` is the path of the object, '' at the root. */
  readonly validate?: (object: T, at: string, report: Report) => void
  readonly validateUpdate?: (object: T, old: T, at: string, report: Report) => void
  /** False when it is never spoken in protobuf. */
  readonly protobuf?: false
}

export interface GroupVersionKind { readonly group: string, readonly version: string, readonly kind: string }

export interface Message<out T = unknown> {
  /** `rbac.v1.Subject`. */
  readonly name: string
  /** `io.orch.api.rbac.v1.Subject`. */
  readonly openapiName: string
  readonly text: string
  readonly fields: Fields
  /** Set when its objects begin with kind and apiVersion. */
  readonly type: KindFacts | undefined
  readonly special: Special | undefined
  readonly structType: 'atomic' | 'granular' | undefined
  readonly protobuf: boolean
  readonly defaults: ((object: Plain) => void) | undefined
  readonly validate: ((object: Plain, at: string, report: Report) => void) | undefined
  readonly validateUpdate: ((object: Plain, old: Plain, at: string, report: Report) => void) | undefined
  readonly static?: T
}

export interface KindFacts extends GroupVersionKind {
  /** `v1` for the core group, else `group/version`. */
  readonly apiVersion: string
  /** Options and Status are accepted under the apiVersion of any group. */
  readonly anyVersion: boolean
}

/** The kind whose values are lists of `M`: `listOf(Role)` is RoleList. */
export type ListOf<T, Meta> = TypeMembers & { metadata: Meta, items?: T[] | undefined }

function apiVersionOf (group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}

function build (name: string, openapiName: string, text: string, fields: Fields, type: KindFacts | undefined, special: Special | undefined, options: MessageOptions<never>): Message {
  return {
    name,
    openapiName,
    text,
    fields,
    type,
    special,
    structType: options.structType,
    protobuf: options.protobuf !== false,
    // The codecs hand each rule the object they made from these very fields, so its static type holds.
    defaults: options.defaults as Message['defaults'],
    validate: options.validate as Message['validate'],
    validateUpdate: options.validateUpdate as Message['validateUpdate']
  }
}

export interface ApiPackage {
  message: <F extends Fields>(name: string, text: string, fields: F, options?: MessageOptions<ObjectOf<F>>) => Message<ObjectOf<F>>
  kind: <F extends Fields>(name: string, text: string, fields: F, options?: MessageOptions<ObjectOf<F> & TypeMembers>) => Message<ObjectOf<F> & TypeMembers>
  special: <T>(name: string, text: string, fields: Fields, special: Special<T>) => Message<T> & { readonly scalar: true }
}

/**
 * Where the types of a group version are declared. `openapi` prefixes OpenAPI definition names;
 * the names of messages begin with its last two parts unless `name` says otherwise. `kindVersion` is
 * the apiVersion of its kinds where that is not group/version.
 */
export function apiPackage (group: string, version: string, openapi: string, options: { name?: string, kindVersion?: string, anyVersion?: true } = {}): ApiPackage {
  const prefix = options.name ?? openapi.split('.').slice(-2).join('.')
  const apiVersion = options.kindVersion ?? apiVersionOf(group, version)
  const make = (name: string, text: string, fields: Fields, kind: boolean, special: Special | undefined, rules: MessageOptions<never>) =>
    build(`${prefix}.${name}`, `${openapi}.${name}`, text, fields,
      kind ? { group, version, kind: name, apiVersion, anyVersion: options.anyVersion === true } : undefined, special, rules)
  return {
    // The phantom type parameter is what the fields say; nothing at run time carries it.
    message: (name, text, fields, rules = {}) => make(name, text, fields, false, undefined, rules) as Message<ObjectOf<typeof fields>>,
    kind: (name, text, fields, rules = {}) => make(name, text, fields, true, undefined, rules) as Message<ObjectOf<typeof fields> & TypeMembers>,
    special: <T>(name: string, text: string, fields: Fields, special: Special<T>) =>
      ({ ...make(name, text, fields, false, special as Special, {}), scalar: true }) as Message<T> & { readonly scalar: true }
  }
}

type ScalarPresence<O> = O extends { required: true } ? 'always' : 'maybe'
type MessagePresence<E, O> = O extends { pointer: true } ? 'maybe' : E extends { scalar: true } ? 'maybe' : 'always'
type None = Record<never, never>

function field (shape: Shape, number: number | null, text: string, of: ElementType, options: FieldOptions | undefined): Field {
  return { ...options, shape, number, text, of }
}

const scalar = <S extends ScalarName>(of: S) =>
  <const O extends FieldOptions = None>(number: number | null, text: string, options?: O) =>
    field('one', number, text, of, options) as Field<O extends { values: ReadonlyArray<infer V>, closed: true } ? V : ScalarValues[S], ScalarPresence<O>>

export const string = scalar('string')
export const bool = scalar('bool')
export const int32 = scalar('int32')
/** A safe integer; larger ones are refused rather than rounded. */
export const int64 = scalar('int64')
export const double = scalar('double')
/** Base64 text, standard alphabet with padding. */
export const bytes = scalar('bytes')

/** One nested message. */
export function one<const E extends Message | (() => Message), const O extends FieldOptions = None> (number: number | null, text: string, of: E, options?: O) {
  return field('one', number, text, of, options) as Field<ValueOf<E>, MessagePresence<E, O>>
}

export function list<const E extends ElementType> (number: number | null, text: string, of: E, options?: FieldOptions) {
  return field('list', number, text, of, options) as Field<Array<ValueOf<E>>, 'maybe'>
}

/** A map with string keys; read its entries with Object.hasOwn or Object.entries, any key may be in it. */
export function map<const E extends ElementType> (number: number | null, text: string, of: E, options?: FieldOptions) {
  return field('map', number, text, of, options) as Field<Record<string, ValueOf<E>>, 'maybe'>
}

/** A nested message whose fields stand in the object itself in JSON, and in a message of their own in protobuf. */
export function inline<const E extends Message> (number: number | null, text: string, of: E) {
  return field('inline', number, text, of, undefined) as Field<ValueOf<E>, 'inline'>
}
