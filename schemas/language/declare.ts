/**
 * The language every API type is stated in. A message is one value with one entry per field, in the order
 * of declaration (which is the order of its JSON); everything else is derived from it when it is first
 * needed: the TypeScript type (`Static`), JSON and protobuf codecs, defaults, validation, OpenAPI.
 * Messages and fields are TypeBox schemas: JSON Schema that Ajv takes as it is, with our own facts under the symbol `Facts`.
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
 * null. Times are RFC 3339 strings, bytes base64 strings, 64-bit integers numbers or, beyond ±9007199254740991, bigints.
 */
import { fieldSchema, messageSchema } from './json-schema.js'
import type { Alternatives, Declaration, Declared, ElementType, Field, FieldOptions, Fields, KindFacts, Message, MessageOptions, ObjectOf, Plain, ScalarName, ScalarValues, Self, Shape, Special, SpecialMessage, TypeMembers, ValueOf, Within } from './types.js'

export { Facts } from './types.js'
export type * from './types.js'

function apiVersionOf (group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}

function build (name: string, openapiName: string, description: string, fields: Fields, type: KindFacts | undefined, special: Special | undefined, alternatives: Alternatives | undefined, options: MessageOptions<never>): Message {
  return messageSchema({
    name,
    openapiName,
    description,
    fields,
    type,
    special,
    alternatives,
    structType: options.structType,
    protobuf: options.protobuf !== false,
    preserveUnknown: options.preserveUnknown === true,
    // The codecs hand each rule the object they made from these very fields, so its static type holds.
    defaults: options.defaults as Declaration['defaults'],
    validate: options.validate as Declaration['validate'],
    validateCreate: options.validateCreate as Declaration['validateCreate'],
    validateUpdate: options.validateUpdate as Declaration['validateUpdate']
  })
}

export interface ApiPackage {
  message: <F extends Fields>(name: string, description: string, fields: F, options?: MessageOptions<ObjectOf<F>>) => Message<ObjectOf<F>>
  kind: <F extends Fields>(name: string, description: string, fields: F, options?: MessageOptions<ObjectOf<F> & TypeMembers>) => Message<ObjectOf<F> & TypeMembers>
  special: <T>(name: string, description: string, fields: Fields, special: Special<T>) => SpecialMessage<T>
  /**
   * A type whose value is that of one of its fields, in JSON and in memory: an object for the one that holds a message, a list
   * for a list, true or false for a boolean. Each kind stands at most once. In protobuf it is a message of these fields, with
   * what is `beside` the chosen one. Names, defaults and rules of what the fields hold are as anywhere else.
   */
  alternatives: <F extends Fields>(name: string, description: string, fields: F, beside?: Plain) => SpecialMessage<{ [K in keyof F]: ValueOf<F[K]> }[keyof F]>
}

/**
 * Where the types of a group version are declared. `openapi` prefixes OpenAPI definition names;
 * the names of messages begin with its last two parts unless `name` says otherwise. `kindVersion` is
 * the apiVersion of its kinds where that is not group/version, `alsoAs` one that clients may call them by.
 */
export function apiPackage (group: string, version: string, openapi: string, options: { name?: string, kindVersion?: string, anyVersion?: true, alsoAs?: string } = {}): ApiPackage {
  const prefix = options.name ?? openapi.split('.').slice(-2).join('.')
  const apiVersion = options.kindVersion ?? apiVersionOf(group, version)
  const make = (name: string, description: string, fields: Fields, kind: boolean, special: Special | undefined, rules: MessageOptions<never>, alternatives?: Alternatives) =>
    build(`${prefix}.${name}`, `${openapi}.${name}`, description, fields,
      kind ? { group, version, kind: name, apiVersion, anyVersion: options.anyVersion === true, ...(options.alsoAs === undefined ? {} : { alsoAs: options.alsoAs }) } : undefined, special, alternatives, rules)
  return {
    // The phantom type parameter is what the fields say; nothing at run time carries it.
    message: (name, description, fields, rules = {}) => make(name, description, fields, false, undefined, rules) as Message<ObjectOf<typeof fields>>,
    kind: (name, description, fields, rules = {}) => make(name, description, fields, true, undefined, rules) as Message<ObjectOf<typeof fields> & TypeMembers>,
    special: <T>(name: string, description: string, fields: Fields, special: Special<T>) =>
      make(name, description, fields, false, special as Special, {}) as SpecialMessage<T>,
    alternatives: (name, description, fields, beside = {}) =>
      make(name, description, fields, false, undefined, {}, { beside }) as SpecialMessage<ValueOf<(typeof fields)[string]>> as never
  }
}

type ScalarPresence<O> = O extends { required: true } ? 'always' : 'maybe'
type MessagePresence<E, O> = O extends { pointer: true } ? 'maybe' : E extends SpecialMessage ? 'maybe' : 'always'
type None = Record<never, never>

function field (shape: Shape, number: number | null, description: string, of: ElementType, options: FieldOptions | undefined): Field {
  return fieldSchema(options === undefined ? { shape, number, description, of } : { ...options, shape, number, description, of }, options !== undefined)
}

const scalar = <S extends ScalarName>(of: S) =>
  <const O extends FieldOptions = None>(number: number | null, description: string, options?: O) =>
    field('one', number, description, of, options) as Declared<O extends { values: ReadonlyArray<infer V>, closed: true } ? V : ScalarValues[S], ScalarPresence<O>>

export const string = scalar('string')
export const bool = scalar('bool')
export const int32 = scalar('int32')
export const int64 = scalar('int64')
export const double = scalar('double')
/** Base64 text, standard alphabet with padding. */
export const bytes = scalar('bytes')

/** One nested message. */
export function one<const E extends Message | (() => Message), const O extends FieldOptions = None> (number: number | null, description: string, of: E, options?: O) {
  return field('one', number, description, of, options) as Declared<ValueOf<E>, MessagePresence<E, O>>
}

export function list<const E extends ElementType> (number: number | null, description: string, of: E, options?: FieldOptions) {
  return field('list', number, description, of, options) as Declared<Array<ValueOf<E>>, 'maybe'>
}

/**
 * A type that contains itself. `self` is what stands for it in its fields, where it must be a pointer, a list or a map:
 *
 *     export const JSONSchemaProps = recursive(self => message('JSONSchemaProps', 'A schema.', {
 *       not: one(1, 'What must not hold.', self, { pointer: true }),
 *       properties: map(2, 'By name.', self)
 *     }))
 *
 * Of types that contain each other, one has to be written down as an interface, `const A: Message<A>`; thunks do the rest.
 */
export function recursive<T> (declare: (self: () => Message<Self>) => Message<T>): Message<Within<T>> {
  // What stands for itself is itself, which only the static type has to be told.
  const made: Message = declare(() => made as Message<Self>)
  return made as Message<Within<T>>
}

/** A map with string keys; read its entries with Object.hasOwn or Object.entries, any key may be in it. */
export function map<const E extends ElementType> (number: number | null, description: string, of: E, options?: FieldOptions) {
  return field('map', number, description, of, options) as Declared<Record<string, ValueOf<E>>, 'maybe'>
}

/** A nested message whose fields stand in the object itself in JSON, and in a message of their own in protobuf. */
export function inline<const E extends Message> (number: number | null, description: string, of: E, options?: Pick<FieldOptions, 'immutable'>) {
  return field('inline', number, description, of, options) as Field<ValueOf<E>, 'inline'>
}
