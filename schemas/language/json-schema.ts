/**
 * Declarations as JSON Schema, in the form TypeBox gives it. Made here rather than by its constructors, as importing them takes about
 * as long as importing this whole server; its symbols are global, so its own tools know these schemas for their own.
 *
 * No keyword or format but those that Ajv knows with ajv-formats, in strict mode. Types that contain themselves refer to the
 * `$id` of an enclosing one, which is unique in the schema of any message; a schema of a host can hold one such message once.
 */
import type { Kind as KindSymbol, OptionalKind as OptionalSymbol } from '@sinclair/typebox'
import { Facts } from './types.js'
import type { Declaration, ElementType, Field, FieldFacts, Message, Plain, ScalarName, Shape } from './types.js'

const Kind: typeof KindSymbol = Symbol.for('TypeBox.Kind') as typeof KindSymbol
const OptionalKind: typeof OptionalSymbol = Symbol.for('TypeBox.Optional') as typeof OptionalSymbol

/** `type` and `format` of OpenAPI too. */
export const SCALARS: Readonly<Record<ScalarName, { readonly type: string, readonly format?: string }>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' }
}
const KINDS: Readonly<Record<string, string>> = { string: 'String', boolean: 'Boolean', integer: 'Integer', number: 'Number', array: 'Array', object: 'Object' }

/** A schema as it is at run time. */
export interface JsonSchema extends Plain { [Kind]: string, [OptionalKind]?: string, [Facts]?: FieldFacts }

/** Of JSON Schema that has no parts of its own to look into. */
function typed (schema: Readonly<Plain>): JsonSchema {
  const kind = KINDS[String(schema['type'])] ?? 'Unknown'
  return { [Kind]: kind, ...(kind === 'Object' ? { properties: {} } : {}), ...schema }
}

const ELEMENTS = Object.fromEntries(Object.entries(SCALARS).map(([name, schema]) => [name, typed(schema)])) as Readonly<Record<ScalarName, JsonSchema>>

/** The parts of a message's schema, made when they are looked at. The getters are shared, as thousands of schemas have them. */
const partsOf = (declaration: (schema: object) => Declaration): PropertyDescriptorMap => ({
  properties: { get (this: object) { return propertiesOf(declaration(this)) }, enumerable: true, configurable: true },
  required: { get (this: object) { return requiredOf(declaration(this)) }, enumerable: true, configurable: true }
})
const choiceOf = (declaration: (schema: object) => Declaration): PropertyDescriptorMap => ({
  anyOf: { get (this: object) { return Object.values(propertiesOf(declaration(this))) }, enumerable: true, configurable: true }
})
const ofMessage = (schema: object): Declaration => (schema as Message)[Facts]
const ofField = (schema: object): Declaration => ((schema as Field)[Facts].of as Message)[Facts] // put where that is a message
const OF_MESSAGE = partsOf(ofMessage)
const OF_FIELD = partsOf(ofField)
const UNION_OF_MESSAGE = choiceOf(ofMessage)
const UNION_OF_FIELD = choiceOf(ofField)

export function messageSchema (facts: Declaration): Message {
  const { special, alternatives, description } = facts
  const schema = special !== undefined
    ? { ...typed(special.schema ?? special.openapi), description, [Facts]: facts }
    : alternatives !== undefined
      ? Object.defineProperties({ [Kind]: 'Union', description, [Facts]: facts }, UNION_OF_MESSAGE)
      : Object.defineProperties({ [Kind]: 'Object', description, type: 'object', [Facts]: facts }, OF_MESSAGE)
  return schema as unknown as Message // its static type is told by whoever declares it
}

/** `constrained`: it has options, which may say more than its type does. */
export function fieldSchema (facts: FieldFacts, constrained: boolean): Field {
  const schema = shaped(facts)
  if (constrained) constrain(schema, facts)
  if (isEmbedded(facts) && schema['default'] === undefined) schema['default'] = {}
  if (facts.required !== true) schema[OptionalKind] = 'Optional'
  return schema as unknown as Field // as above
}

function shaped (facts: FieldFacts): JsonSchema {
  const { shape, description, of } = facts
  if (shape === 'list') return { [Kind]: 'Array', description, type: 'array', items: elementOf(of), [Facts]: facts }
  if (shape === 'map') return { [Kind]: 'Object', description, type: 'object', properties: {}, additionalProperties: elementOf(of), [Facts]: facts }
  if (messageIn(of)?.alternatives !== undefined) return Object.defineProperties({ [Kind]: 'Union', description, [Facts]: facts }, UNION_OF_FIELD)
  if (messageIn(of)?.special === undefined && typeof of === 'object') {
    return Object.defineProperties({ [Kind]: 'Object', description, type: 'object', [Facts]: facts }, OF_FIELD)
  }
  return { ...elementOf(of) as JsonSchema, description, [Facts]: facts } // its symbols too
}

/** What a field holds; anything as long as a thunk can't be asked. */
const elementOf = (of: ElementType): JsonSchema | Message | Field => typeof of === 'string' ? ELEMENTS[of] : typeof of === 'function' ? typed({}) : of

function constrain (schema: JsonSchema, { default: preset, nullable, closed, values, maxLength, pattern, minimum, maximum }: FieldFacts): void {
  if (preset !== undefined) schema['default'] = preset
  // Ajv asks for null among the values too.
  if (closed !== undefined && values !== undefined) schema['enum'] = nullable === true ? [...values, null] : values
  if (nullable === true && schema['type'] !== undefined) schema['nullable'] = true
  if (maxLength !== undefined) schema['maxLength'] = maxLength
  if (pattern !== undefined) schema['pattern'] = pattern.source
  if (minimum !== undefined) schema['minimum'] = minimum
  if (maximum !== undefined) schema['maximum'] = maximum
}

/** A message that an object always has, though it need not be sent. */
function isEmbedded ({ shape, of, pointer, required }: FieldFacts): boolean {
  const message = shape === 'one' ? messageIn(of) : undefined
  return message !== undefined && message.special === undefined && message.alternatives === undefined && pointer !== true && required !== true
}

/** The message that is held, where it can be said without asking a thunk. */
function messageIn (of: ElementType): Declaration | undefined {
  if (typeof of !== 'object') return undefined
  const facts = of[Facts]
  return 'shape' in facts ? undefined : facts
}

/** The fields of an object: those of what is inlined among them. */
function fieldsOf (facts: Declaration): Array<[string, Field]> {
  return Object.entries(facts.fields).flatMap(([name, field]) => {
    const { shape, of } = field[Facts]
    const inlined = shape === 'inline' ? messageIn(of) : undefined
    return inlined === undefined ? [[name, field] satisfies [string, Field]] : fieldsOf(inlined)
  })
}

const made = new WeakMap<Declaration, Plain>()

function propertiesOf (facts: Declaration): Plain {
  let known = made.get(facts)
  if (known === undefined) made.set(facts, known = { ...typeProperties(facts), ...makeProperties(facts) })
  return known
}

const requiredOf = (facts: Declaration): string[] => fieldsOf(facts).flatMap(([name, field]) => field[Facts].required === true ? [name] : [])

function typeProperties ({ type }: Declaration): Plain {
  if (type === undefined) return {}
  const member = (description: string, value: string, fixed: boolean) =>
    ({ [Kind]: fixed ? 'Literal' : 'String', [OptionalKind]: 'Optional', description, type: 'string', ...(fixed ? { const: value } : {}), default: value })
  return {
    apiVersion: member('Group and version of this form of the object.', type.apiVersion, !type.anyVersion),
    kind: member('What the object is.', type.kind, true)
  }
}

function makeProperties (facts: Declaration): Plain {
  if (!hasThunks(facts)) return Object.fromEntries(fieldsOf(facts))
  return unrolled(facts, facts.openapiName, new Map())
}

const thunks = new WeakMap<Declaration, boolean>()

/** Whether anything below is told by a thunk. Without thunks nothing contains itself. */
function hasThunks (facts: Declaration): boolean {
  let answer = thunks.get(facts)
  if (answer === undefined) {
    answer = Object.values(facts.fields).some(field => {
      const { of } = field[Facts]
      const message = messageIn(of)
      return typeof of === 'function' || (message !== undefined && hasThunks(message))
    })
    thunks.set(facts, answer)
  }
  return answer
}

interface Node { readonly id: string, referred: boolean }

/** With the thunks called; a message within itself refers to the one around it. */
function unrolled (facts: Declaration, at: string, above: ReadonlyMap<Declaration, Node>): Plain {
  return Object.fromEntries(fieldsOf(facts).map(([name, field]) => {
    const { of } = field[Facts]
    const message = typeof of === 'function' ? of() : of
    const inner = messageIn(message)
    if (inner === undefined) return [name, field]
    const plain = fieldSchema({ ...field[Facts], of: message }, true)
    if (inner.special !== undefined || !hasThunks(inner)) return [name, plain]
    return [name, holding(plain, field[Facts].shape, unrolledMessage(inner, `${at}.${encodeURIComponent(name)}`, above))]
  }))
}

/** The same schema of a field, for the schema of what it holds. */
function holding (field: Field, shape: Shape, element: JsonSchema): Plain {
  const { description, default: preset } = field
  const optional = OptionalKind in field
  const kept = { ...(preset === undefined ? {} : { default: preset as unknown }), ...(optional ? { [OptionalKind]: 'Optional' } : {}) }
  if (shape === 'list') return { [Kind]: 'Array', description, type: 'array', items: element, ...kept }
  if (shape === 'map') return { [Kind]: 'Object', description, type: 'object', properties: {}, additionalProperties: element, ...kept }
  return { ...element, description, ...kept }
}

function unrolledMessage (facts: Declaration, at: string, above: ReadonlyMap<Declaration, Node>): JsonSchema {
  const around = above.get(facts)
  if (around !== undefined) {
    around.referred = true
    return { [Kind]: 'This', $ref: around.id }
  }
  if (facts.alternatives !== undefined) return { [Kind]: 'Union', description: facts.description, anyOf: Object.values(unrolled(facts, at, above)) }
  const node: Node = { id: at, referred: false }
  const properties = { ...typeProperties(facts), ...unrolled(facts, at, new Map([...above, [facts, node]])) }
  return { [Kind]: 'Object', ...(node.referred ? { $id: node.id } : {}), description: facts.description, type: 'object', properties, required: requiredOf(facts) }
}
