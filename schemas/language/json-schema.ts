/**
 * Declarations as TypeBox schemas, which are JSON Schema. Field schemas are made when declared; message schemas when
 * first read, because a start declares thousands and reads none.
 *
 * Only keywords and formats that Ajv with ajv-formats accepts in strict mode. A recursive type refers to the `$id` of
 * an enclosing one, which is unique within a message's schema; a host's schema can therefore contain such a message
 * only once.
 */
import * as Type from '@sinclair/typebox'
import type { SchemaOptions, TObject, TSchema } from '@sinclair/typebox'
import {
  Facts, type ScalarName, type Declaration, type ElementType, type FieldFacts, type Shape, type Field, type Message,
  type Plain
} from './types.js'
import { oncePer } from '../once-per.js'

/** OpenAPI `type` and `format`. */
export const SCALARS: Readonly<Record<ScalarName, {
  readonly type: 'string' | 'boolean' | 'integer' | 'number', readonly format?: string
}>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' }
}

/** JSON Schema by its `type`, with options. */
function typed (schema: Readonly<Plain>, options: SchemaOptions): TSchema {
  const all = { ...schema, ...options }
  switch (schema['type']) {
    case 'string': return Type.String(all as object) // custom formats are not in TypeBox's type
    case 'boolean': return Type.Boolean(all)
    case 'integer': return Type.Integer(all)
    case 'number': return Type.Number(all)
    case 'array': return Type.Array(typed((schema['items'] ?? {}) as Plain, {}), all) // JSON Schema has an object there
    case 'object': return Type.Object({}, all)
    default: return Type.Unknown(all)
  }
}

const ELEMENTS = Object.fromEntries(Object.entries(SCALARS).map(([name, schema]) =>
  [name, typed(schema, {})])) as Readonly<Record<ScalarName, TSchema>>

/** The computed parts of a message's schema. Thousands of schemas share these getters. */
const partsOf = (declaration: (schema: object) => Declaration): PropertyDescriptorMap => ({
  properties: {
    get (this: object) { return objectOf(declaration(this)).properties }, enumerable: true, configurable: true
  },
  required: {
    get (this: object) { return objectOf(declaration(this)).required ?? [] }, enumerable: true, configurable: true
  }
})
/** The same of a choice (`alternatives` in `declare.ts`), whose value is that of one of its fields. */
const choiceOf = (declaration: (schema: object) => Declaration): PropertyDescriptorMap => ({
  anyOf: {
    get (this: object) { return Object.values(objectOf(declaration(this)).properties) }, enumerable: true,
    configurable: true
  }
})
const ofMessage = (schema: object): Declaration => (schema as Message)[Facts]
// used for message fields only
const ofField = (schema: object): Declaration => ((schema as Field)[Facts].of as Message)[Facts]
const OF_MESSAGE = partsOf(ofMessage)
const OF_FIELD = partsOf(ofField)
const UNION_OF_MESSAGE = choiceOf(ofMessage)
const UNION_OF_FIELD = choiceOf(ofField)

/** A Type.Union whose members are computed later. */
const emptyUnion = (options: SchemaOptions): TSchema => Type.Unsafe({ ...options, [Type.Kind]: 'Union' })

export function messageSchema (facts: Declaration): Message {
  const { special, alternatives, description } = facts
  const options = { description, [Facts]: facts }
  const schema = special !== undefined
    ? typed(special.schema ?? special.openapi, options)
    : alternatives !== undefined
      ? Object.defineProperties(emptyUnion(options), UNION_OF_MESSAGE)
      : Object.defineProperties(Type.Object({}, options), OF_MESSAGE)
  return schema as unknown as Message // the caller declares its static type
}

/** `constrained`: it has options that may add keywords. */
export function fieldSchema (facts: FieldFacts, constrained: boolean): Field {
  const { description, of, shape, required } = facts
  const options: SchemaOptions = constrained
    ? { description, ...constraintsOf(facts), [Facts]: facts }
    : { description, [Facts]: facts }
  if (options.default === undefined && isEmbedded(facts)) options.default = {}
  const message = shape === 'one' || shape === 'inline' ? messageIn(of) : undefined
  let schema = message?.alternatives !== undefined
    ? emptyUnion(options)
    : shape === 'list'
      ? Type.Array(elementOf(of), options)
      : shape === 'map'
        ? Type.Object({}, { ...options, additionalProperties: elementOf(of) })
        : typeof of === 'object' && message?.special === undefined
          ? Type.Object({}, options)
          : typed(
              message?.special?.schema ?? message?.special?.openapi ?? (typeof of === 'string' ? SCALARS[of] : {}),
              options
            )
  if (facts.nullable === true && schema['type'] !== undefined) schema['nullable'] = true
  if (required !== true) schema = Type.Optional(schema)
  if (message?.alternatives !== undefined) Object.defineProperties(schema, UNION_OF_FIELD)
  else if (message !== undefined && message.special === undefined) Object.defineProperties(schema, OF_FIELD)
  return schema as unknown as Field // as above
}

/** Schema of a list's or map's elements; a thunk is not resolved and allows anything. */
const elementOf = (of: ElementType): TSchema =>
  typeof of === 'string' ? ELEMENTS[of] : typeof of === 'function' ? Type.Unknown() : of

function constraintsOf (
  { default: preset, nullable, closed, values, maxLength, pattern, minimum, maximum }: FieldFacts
): Plain {
  const constraints: Plain = {}
  if (preset !== undefined) constraints['default'] = preset
  // Ajv requires null among the values too.
  if (closed !== undefined && values !== undefined) constraints['enum'] = nullable === true ? [...values, null] : values
  if (maxLength !== undefined) constraints['maxLength'] = maxLength
  if (pattern !== undefined) constraints['pattern'] = pattern.source
  if (minimum !== undefined) constraints['minimum'] = minimum
  if (maximum !== undefined) constraints['maximum'] = maximum
  return constraints
}

/** A message that an object always has, sent or not. */
function isEmbedded ({ shape, of, pointer, required }: FieldFacts): boolean {
  const message = shape === 'one' ? messageIn(of) : undefined
  return message !== undefined && message.special === undefined && message.alternatives === undefined &&
    pointer !== true && required !== true
}

/** The nested message; undefined for thunks. */
function messageIn (of: ElementType): Declaration | undefined {
  if (typeof of !== 'object') return undefined
  const facts = of[Facts]
  return 'shape' in facts ? undefined : facts
}

/** The fields of an object, with inlined ones in place. */
function fieldsOf (facts: Declaration): Array<[string, Field]> {
  return Object.entries(facts.fields).flatMap(([name, field]) => {
    const { shape, of } = field[Facts]
    const inlined = shape === 'inline' ? messageIn(of) : undefined
    return inlined === undefined ? [[name, field] satisfies [string, Field]] : fieldsOf(inlined)
  })
}

/** The object schema with all members. */
const objectOf = oncePer((facts: Declaration): TObject => {
  const fields = hasThunks(facts) ? unrolled(facts, facts.openapiName, new Map()) : Object.fromEntries(fieldsOf(facts))
  return Type.Object({ ...typeProperties(facts), ...fields })
})

function typeProperties ({ type }: Declaration): Record<string, TSchema> {
  if (type === undefined) return {}
  const apiVersion = { description: 'Group and version of this form of the object.', default: type.apiVersion }
  return {
    apiVersion: Type.Optional(type.anyVersion ? Type.String(apiVersion) : Type.Literal(type.apiVersion, apiVersion)),
    kind: Type.Optional(Type.Literal(type.kind, { description: 'What the object is.', default: type.kind }))
  }
}

/** Whether a thunk occurs anywhere below. Without one nothing is recursive. */
const hasThunks: (facts: Declaration) => boolean = oncePer(facts => Object.values(facts.fields).some(field => {
  const { of } = field[Facts]
  const message = messageIn(of)
  return typeof of === 'function' || (message !== undefined && hasThunks(message))
}))

interface Node { readonly id: string, referred: boolean }

/** Fields with their thunks resolved; a message within itself becomes a `$ref` to the enclosing one. */
function unrolled (facts: Declaration, at: string, above: ReadonlyMap<Declaration, Node>): Record<string, TSchema> {
  return Object.fromEntries(fieldsOf(facts).map(([name, field]): [string, TSchema] => {
    const { of } = field[Facts]
    const message = typeof of === 'function' ? of() : of
    const inner = messageIn(message)
    if (inner === undefined) return [name, field]
    const plain = fieldSchema({ ...field[Facts], of: message }, true)
    if (inner.special !== undefined || !hasThunks(inner)) return [name, plain]
    return [
      name, holding(plain, field[Facts].shape, unrolledMessage(inner, `${at}.${encodeURIComponent(name)}`, above))
    ]
  }))
}

/** The field's schema with another element schema. */
function holding (field: Field, shape: Shape, element: TSchema): TSchema {
  const { description = '', default: preset } = field
  const options = { description, ...(preset === undefined ? {} : { default: preset as unknown }) }
  const schema = shape === 'list'
    ? Type.Array(element, options)
    : shape === 'map'
      ? Type.Object({}, { ...options, additionalProperties: element })
      : { ...element, ...options }
  return Type.OptionalKind in field ? Type.Optional(schema) : schema
}

function unrolledMessage (facts: Declaration, at: string, above: ReadonlyMap<Declaration, Node>): TSchema {
  const around = above.get(facts)
  if (around !== undefined) {
    around.referred = true
    // Type.Recursive would give every enclosing message an $id
    return Type.Unsafe({ [Type.Kind]: 'This', $ref: around.id })
  }
  const { description } = facts
  if (facts.alternatives !== undefined) return Type.Union(Object.values(unrolled(facts, at, above)), { description })
  const node: Node = { id: at, referred: false }
  const properties = { ...typeProperties(facts), ...unrolled(facts, at, new Map([...above, [facts, node]])) }
  return Type.Object(properties, node.referred ? { $id: node.id, description } : { description })
}
