/** JSON schemas in CustomResourceDefinitions. */
import {
  int64, recursive, map, one, double, bool, bytes, list, string, type Self, type Static, type Message
} from '../../language/declare.js'
import { jsonValue } from '../../meta/scalars.js'
import { alternatives, message, special } from './package.js'

export const TYPES: readonly string[] = ['array', 'boolean', 'integer', 'number', 'object', 'string']

/** Fields of every object, which a schema need not declare. */
export const OF_EVERY_KIND: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion'])

export type ExternalDocumentation = Static<typeof ExternalDocumentation>
export const ExternalDocumentation = message('ExternalDocumentation', 'A link to further documentation.', {
  description: string(1, 'What is to be found there.'),
  url: string(2, 'URL of the documentation.')
})

export const JSON = special<unknown>(
  'JSON', 'Any JSON value, as it is.', { raw: bytes(1, 'The value as JSON text.') }, jsonValue({})
)

/** A reference to JSONSchemaProps from its own parts. */
const schema = (): Message<Self> => JSONSchemaProps as Message as Message<Self>

export const JSONSchemaPropsOrArray = alternatives('JSONSchemaPropsOrArray', 'A schema, or a list of schemas.', {
  schema: one(1, 'The one schema.', schema, { pointer: true }),
  jSONSchemas: list(2, 'The schemas, in order.', schema)
})

export const JSONSchemaPropsOrBool =
  alternatives('JSONSchemaPropsOrBool', 'A schema, or whether anything at all is allowed.', {
    allows: bool(1, 'Whether anything is allowed; true beside a schema.', { pointer: true }),
    schema: one(2, 'The schema of what is allowed.', schema, { pointer: true })
  }, { allows: true })

export const JSONSchemaPropsOrStringArray =
  alternatives('JSONSchemaPropsOrStringArray', 'A schema, or a list of names.', {
    schema: one(1, 'The schema.', schema, { pointer: true }),
    property: list(2, 'The names of properties.', 'string')
  })

/** The feature gate of rules, and of what later releases gave them. */
export const RULES_GATE = 'CustomResourceValidationExpressions'
/** Reasons that rules may give. */
export const REASONS: readonly string[] = [
  'FieldValueRequired', 'FieldValueDuplicate', 'FieldValueInvalid', 'FieldValueForbidden'
]

export type ValidationRule = Static<typeof ValidationRule>
export const ValidationRule = message('ValidationRule', 'A rule for values, as a CEL expression.', {
  rule: string(1, 'CEL expression that must be true; self is the value.', { required: true }),
  message: string(2, 'Message for values that break the rule.'),
  messageExpression: string(3, 'CEL expression that makes the message, instead of `message`.', {
    gate: RULES_GATE, since: '1.27'
  }),
  reason: string(4, 'Reason of the error; by default FieldValueInvalid.', {
    pointer: true, values: REASONS, closed: 'ruled', gate: RULES_GATE, since: '1.28'
  }),
  fieldPath: string(5, 'Path of the field that breaks the rule, below the value.', {
    gate: RULES_GATE, since: '1.28'
  }),
  optionalOldSelf: bool(6, 'Runs the rule without an old value too; oldSelf is optional then.', {
    pointer: true, gate: RULES_GATE, since: '1.29'
  })
})

export const JSONSchemaProps = recursive(() =>
  message('JSONSchemaProps', 'A JSON schema, with the extensions of this API.', {
    id: string(1, 'Identifier of the schema; not allowed here.'),
    $schema: string(2, 'URI of the JSON schema dialect.', { protoName: 'schema' }),
    $ref: string(3, 'Reference to another schema; not allowed here.', { pointer: true, protoName: 'ref' }),
    description: string(4, 'What the value means, for a person.'),
    type: string(5, 'Type of the value, such as object, array or string.'),
    format: string(6, 'Format of the value, such as date-time or int64.'),
    title: string(7, 'Short title of the value.'),
    default: one(8, 'Value that is set where none is given.', JSON, { pointer: true }),
    maximum: double(9, 'Greatest number that is allowed.', { pointer: true }),
    exclusiveMaximum: bool(10, 'Whether the maximum itself is not allowed.'),
    minimum: double(11, 'Least number that is allowed.', { pointer: true }),
    exclusiveMinimum: bool(12, 'Whether the minimum itself is not allowed.'),
    maxLength: int64(13, 'Greatest length of the string.', { pointer: true }),
    minLength: int64(14, 'Least length of the string.', { pointer: true }),
    pattern: string(15, 'Regular expression the string must match.'),
    maxItems: int64(16, 'Greatest number of items in the list.', { pointer: true }),
    minItems: int64(17, 'Least number of items in the list.', { pointer: true }),
    uniqueItems: bool(18, 'Whether items must differ; true is not allowed here.'),
    multipleOf: double(19, 'Number the value must be a multiple of.', { pointer: true }),
    enum: list(20, 'Values that are allowed.', JSON),
    maxProperties: int64(21, 'Greatest number of properties of the object.', { pointer: true }),
    minProperties: int64(22, 'Least number of properties of the object.', { pointer: true }),
    required: list(23, 'Properties the object must have.', 'string'),
    items: one(24, 'Schema of the items of the list.', JSONSchemaPropsOrArray, { pointer: true }),
    allOf: list(25, 'Schemas that must all match.', schema),
    oneOf: list(26, 'Schemas of which exactly one must match.', schema),
    anyOf: list(27, 'Schemas of which at least one must match.', schema),
    not: one(28, 'Schema that must not match.', schema, { pointer: true }),
    properties: map(29, 'Schemas of the properties, by name.', schema),
    additionalProperties: one(
      30, 'Schema of properties not named, or whether there may be any.', JSONSchemaPropsOrBool, { pointer: true }
    ),
    patternProperties: map(31, 'Schemas of properties by name pattern; not allowed here.', schema),
    dependencies: map(32, 'What properties require of others; not allowed here.', JSONSchemaPropsOrStringArray),
    additionalItems: one(
      33, 'Schema of further items of the list; not allowed here.', JSONSchemaPropsOrBool, { pointer: true }
    ),
    definitions: map(34, 'Schemas for reference; not allowed here.', schema),
    externalDocs: one(35, 'Link to further documentation.', ExternalDocumentation, { pointer: true }),
    example: one(36, 'Example of a value.', JSON, { pointer: true }),
    nullable: bool(37, 'Whether the value may be null.'),
    'x-orch-preserve-unknown-fields': bool(38, 'Whether properties the schema does not name are kept.', {
      pointer: true, protoName: 'xOrchPreserveUnknownFields'
    }),
    'x-orch-embedded-resource': bool(39, 'Whether the value is an object with apiVersion, kind and metadata.', {
      protoName: 'xOrchEmbeddedResource'
    }),
    'x-orch-int-or-string': bool(40, 'Whether the value is either an integer or a string.', {
      protoName: 'xOrchIntOrString'
    }),
    'x-orch-list-map-keys': list(41, 'Properties that identify an item, for list type map.', 'string', {
      protoName: 'xOrchListMapKeys'
    }),
    'x-orch-list-type': string(42, 'How lists are merged, atomic, set or map; by default atomic.', {
      pointer: true, protoName: 'xOrchListType'
    }),
    'x-orch-map-type': string(43, 'How objects are merged, granular or atomic; by default granular.', {
      pointer: true, protoName: 'xOrchMapType'
    }),
    'x-orch-validations': list(44, 'Further rules, as CEL expressions.', ValidationRule, {
      listType: 'map', listMapKeys: ['rule'], patchStrategy: 'merge', patchMergeKey: 'rule',
      protoName: 'xOrchValidations'
    })
  }))
export type JSONSchemaProps = Static<typeof JSONSchemaProps>

/** For items and additionalProperties: one schema, neither a list nor a boolean. */
export const isSchema = (value: unknown): value is JSONSchemaProps => typeof value === 'object' && value !== null &&
  !Array.isArray(value)
