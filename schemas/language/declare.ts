/**
 * The language in which every API type is declared. A message has one entry for each field, in JSON order. Everything
 * else is derived from it when first needed: the TypeScript type (`Static`), JSON and protobuf codecs, defaults,
 * validation, OpenAPI. Messages and fields are TypeBox schemas: JSON Schema for Ajv, with further facts under the
 * symbol `Facts`.
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
 * A declaration allocates a few plain objects and computes nothing, so hundreds of types do not slow the start.
 *
 * In memory an object looks like its JSON, in declared order. A `required` scalar is always present (zero if unsent),
 * and so is a nested message that is not a pointer. Every other unset field is absent, never null. Times are RFC 3339
 * strings, bytes base64 strings; 64-bit integers are numbers, or bigints beyond ±9007199254740991.
 */
import { apiVersionOf } from '../groups.js'
import { fieldSchema, messageSchema } from './json-schema.js'
import type {
  Alternatives, Declaration, Declared, ElementType, Field, FieldOptions, Fields, Message, MessageOptions, ObjectOf,
  Plain, ScalarName, ScalarValues, Self, Shape, Special, SpecialMessage, TypeMembers, ValueOf, Within
} from './types.js'

export { Facts } from './types.js'
export type * from './types.js'

export interface ApiPackage {
  message: <F extends Fields>(
    name: string, description: string, fields: F, options?: MessageOptions<ObjectOf<F>>
  ) => Message<ObjectOf<F>>
  kind: <F extends Fields>(
    name: string, description: string, fields: F, options?: MessageOptions<ObjectOf<F> & TypeMembers>
  ) => Message<ObjectOf<F> & TypeMembers>
  special: <T>(name: string, description: string, fields: Fields, special: Special<T>) => SpecialMessage<T>
  /**
   * A union type: its value is that of one of its fields, in JSON and in memory. The JSON type selects the field
   * (object, list or boolean), so each occurs at most once. In protobuf it is a message with the chosen field and the
   * constants in `beside`.
   */
  alternatives: <F extends Fields>(
    name: string, description: string, fields: F, beside?: Plain
  ) => SpecialMessage<{ [K in keyof F]: ValueOf<F[K]> }[keyof F]>
}

/**
 * Declares the types of a group version. `openapi` prefixes OpenAPI definition names; message names begin with its last
 * two parts unless `name` is set. `kindVersion` is the apiVersion of its kinds if not group/version; `alsoAs` is
 * another accepted apiVersion.
 */
export function apiPackage (
  group: string, version: string, openapi: string,
  options: { name?: string, kindVersion?: string, anyVersion?: true, alsoAs?: string } = {}
): ApiPackage {
  const prefix = options.name ?? openapi.split('.').slice(-2).join('.')
  const apiVersion = options.kindVersion ?? apiVersionOf(group, version)
  const make = ({ name, description, fields, isKind = false, rules = {}, special, alternatives }: {
    readonly name: string, readonly description: string, readonly fields: Fields, readonly isKind?: boolean,
    readonly rules?: MessageOptions<never>, readonly special?: Special, readonly alternatives?: Alternatives
  }) => messageSchema({
    name: `${prefix}.${name}`,
    openapiName: `${openapi}.${name}`,
    formerly: rules.formerly,
    description,
    fields,
    type: isKind
      ? {
          group, version, kind: name, apiVersion, anyVersion: options.anyVersion === true,
          ...(options.alsoAs === undefined ? {} : { alsoAs: options.alsoAs })
        }
      : undefined,
    given: undefined,
    special,
    alternatives,
    structType: rules.structType,
    protobuf: rules.protobuf !== false,
    preserveUnknown: rules.preserveUnknown === true,
    freeForm: false,
    // Codecs pass each rule an object decoded by these fields, so its static type holds.
    defaults: rules.defaults as Declaration['defaults'],
    validate: rules.validate as Declaration['validate'],
    validateCreate: rules.validateCreate as Declaration['validateCreate'],
    validateUpdate: rules.validateUpdate as Declaration['validateUpdate']
  })
  return {
    // Phantom types: nothing at run time carries them.
    message: (name, description, fields, rules = {}) =>
      make({ name, description, fields, rules }) as Message<ObjectOf<typeof fields>>,
    kind: (name, description, fields, rules = {}) =>
      make({ name, description, fields, isKind: true, rules }) as Message<ObjectOf<typeof fields> & TypeMembers>,
    special: <T>(name: string, description: string, fields: Fields, special: Special<T>) =>
      make({ name, description, fields, special: special as Special }) as SpecialMessage<T>,
    alternatives: (name, description, fields, beside = {}) =>
      make({ name, description, fields, alternatives: { beside } }) as
        SpecialMessage<ValueOf<(typeof fields)[string]>> as never
  }
}

type ScalarPresence<O> = O extends { required: true } ? 'always' : 'maybe'
type MessagePresence<E, O> = O extends { pointer: true } ? 'maybe' : E extends SpecialMessage ? 'maybe' : 'always'
type None = Record<never, never>

function field (
  facts: {
    readonly shape: Shape, readonly number: number | null, readonly description: string, readonly of: ElementType
  },
  options: FieldOptions | undefined
): Field {
  return fieldSchema(options === undefined ? facts : { ...options, ...facts }, options !== undefined)
}

const scalar = <S extends ScalarName>(of: S) =>
  <const O extends FieldOptions = None>(number: number | null, description: string, options?: O) =>
    field({ shape: 'one', number, description, of }, options) as Declared<
      O extends { values: ReadonlyArray<infer V>, closed: true } ? V : ScalarValues[S], ScalarPresence<O>
    >

export const string = scalar('string')
export const bool = scalar('bool')
export const int32 = scalar('int32')
export const int64 = scalar('int64')
export const double = scalar('double')
/** Base64 text, standard alphabet with padding. */
export const bytes = scalar('bytes')

/** One nested message. */
export function one<const E extends Message | (() => Message), const O extends FieldOptions = None> (
  number: number | null, description: string, of: E, options?: O
) {
  return field({ shape: 'one', number, description, of }, options) as Declared<ValueOf<E>, MessagePresence<E, O>>
}

export function list<const E extends ElementType> (
  number: number | null, description: string, of: E, options?: FieldOptions
) {
  return field({ shape: 'list', number, description, of }, options) as Declared<Array<ValueOf<E>>, 'maybe'>
}

/**
 * A type that contains itself. In its fields `self` stands for it, and must be a pointer, a list or a map:
 *
 *     export const JSONSchemaProps = recursive(self => message('JSONSchemaProps', 'A schema.', {
 *       not: one(1, 'What must not hold.', self, { pointer: true }),
 *       properties: map(2, 'By name.', self)
 *     }))
 *
 * Types that contain each other need thunks, and an interface for the static type of one: `const A: Message<A>`.
 */
export function recursive<T> (declare: (self: () => Message<Self>) => Message<T>): Message<Within<T>> {
  // `Self` exists in the static type only.
  const message: Message = declare(() => message as Message<Self>)
  return message as Message<Within<T>>
}

/** A map with string keys, any of which may occur: read entries with Object.hasOwn or Object.entries. */
export function map<const E extends ElementType> (
  number: number | null, description: string, of: E, options?: FieldOptions
) {
  return field({ shape: 'map', number, description, of }, options) as Declared<Record<string, ValueOf<E>>, 'maybe'>
}

/** A message whose fields are inlined into the object in JSON, and nested in protobuf. */
export function inline<const E extends Message> (
  number: number | null, description: string, of: E, options?: Pick<FieldOptions, 'immutable'>
) {
  return field({ shape: 'inline', number, description, of }, options) as Field<ValueOf<E>, 'inline'>
}
