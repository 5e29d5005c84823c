import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import protobuf from 'protobufjs'
import t from 'tap'
import { toJson } from '../../../../schemas/codec/json/encode.js'
import { stringify } from '../../../../schemas/codec/json/exact.js'
import { decodeMessage } from '../../../../schemas/codec/protobuf/decode.js'
import { encodeMessage } from '../../../../schemas/codec/protobuf/encode.js'
import { decode } from '../../../../schemas/language/decode.js'
import { applyDefaults } from '../../../../schemas/language/defaults.js'
import {
  validateObject as validateFields, validateUpdate as validateFieldsUpdate, validateVersion
} from '../../../../schemas/language/validation.js'
import { clone } from '../../../../schemas/language/values.js'
import type { FieldError } from '../../../../schemas/status.js'
import {
  CustomResourceDefinition, customResourceDefinitions
} from '../../../../schemas/api/apiextensions/customresourcedefinitions.js'
import {
  JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool
} from '../../../../schemas/api/apiextensions/schemas.js'
import { finish } from '../../../../schemas/steps.js'
import { definition } from './certificates.js'

const resource = customResourceDefinitions.stored
const ruled = (object: CustomResourceDefinition, old?: CustomResourceDefinition): FieldError[] =>
  finish(validateVersion(resource, { object, old, subresource: '' }))
const validateObject = (_: typeof resource, object: CustomResourceDefinition): FieldError[] => [
  ...validateFields(resource, object), ...ruled(object)
]
const validateUpdate = (
  _: typeof resource, object: CustomResourceDefinition, old: CustomResourceDefinition
): FieldError[] => [...validateFieldsUpdate(resource, object, old), ...ruled(object, old)]
const short = (errors: FieldError[]) => errors.map(({ type, field }) => `${type.replace('FieldValue', '')} ${field}`)
const read = (value: unknown) => {
  const { object } = decode(CustomResourceDefinition, value)
  applyDefaults(CustomResourceDefinition, object)
  return object
}
const small = (more: object = {}, spec: object = {}) => ({
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'things', kind: 'Thing' },
    scope: 'Cluster',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    ...spec
  },
  ...more
})
const members = (value: unknown): unknown => JSON.parse(
  stringify(value) ?? '',
  (_key, each: unknown) => typeof each === 'object' && each !== null && !Array.isArray(each)
    ? Object.fromEntries(Object.entries(each).sort())
    : each
)

t.test('a definition of real life comes through JSON and protobuf unchanged', async t => {
  const { object, unknown } = decode(CustomResourceDefinition, definition)
  t.same(unknown, [])
  applyDefaults(CustomResourceDefinition, object)
  const at = 'spec.validation.openAPIV3Schema.properties[spec].properties'
  // It uses everything that can be declared, including what is refused.
  t.same(short(validateObject(resource, object)), [
    `Required ${at}[additionalOutputFormats].items.properties[type].default`, `Forbidden ${at}[pair].additionalItems`,
    `Forbidden ${at}[pair].items`,
    `Forbidden ${at}[tree].patternProperties`, `Forbidden ${at}[tree].dependencies`,
    `NotSupported ${at}[tree].dependencies[d].not.type`, `Forbidden ${at}[tree].dependencies[d].not.type`
  ])
  const json = toJson(CustomResourceDefinition, object)
  t.strictSame(members(JSON.parse(json)), members(definition))
  t.match(json, '"maxItems":9007199254740993,')
  const back = decodeMessage(
    CustomResourceDefinition,
    encodeMessage(CustomResourceDefinition, object),
    { kind: object.kind, apiVersion: object.apiVersion }
  )
  t.equal(toJson(CustomResourceDefinition, back), json)
  t.same(back, object)
})

interface Fact { name: string, protoName?: string, type: string, repeated: boolean, proto: number }
/** The messages of the facts, for an independent encoder and decoder. */
function independent (...files: string[]): protobuf.Root {
  const nested: Record<string, protobuf.IType> = {}
  const flat = (type: string): string => type.replaceAll('.', '_')
  for (const file of files) {
    const facts = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../../../test/facts', file), 'utf8')) as {
      package: string
      messages: Record<string, { fields: Fact[] }>
    }
    for (const [name, { fields }] of Object.entries(facts.messages)) {
      nested[flat(`${facts.package}.${name}`)] = {
        fields: Object.fromEntries(fields.filter(({ proto }) => proto !== null).map((
          { name: member, protoName: name = member, type, repeated, proto }
        ) => {
          const value = /^map<string,(.*)>$/.exec(type)?.[1]
          if (value !== undefined) return [name, { keyType: 'string', type: flat(value), id: proto } as protobuf.IField]
          return [name, { type: flat(type), id: proto, ...(repeated ? { rule: 'repeated' } : {}) }]
        }))
      }
    }
  }
  return protobuf.Root.fromJSON({ nested })
}

t.test('an independent reader finds the schema under its numbers, and what it writes is read', async t => {
  const types = independent('apiextensions.orch.io.v1.json', 'meta.v1.json', 'runtime.json')
  const Type = types.lookupType('apiextensions_v1_JSONSchemaProps')
  const { object } = decode(JSONSchemaProps, definition.spec.versions[0]?.schema.openAPIV3Schema)
  const seen = Type.decode(encodeMessage(JSONSchemaProps, object))
  const { spec } = (Type.toObject(seen, { longs: Number }) as {
    properties: Record<string, { properties: Record<string, unknown> }>
  }).properties
  const schema = (name: string) => (spec?.properties ?? {})[name]
  t.match(
    schema('labels'), { additionalProperties: { allows: true, schema: { type: 'string', maxLength: 0 } } },
    'a schema allows'
  )
  t.match(schema('open'), { additionalProperties: { allows: true, schema: undefined } })
  t.match(schema('closed'), { additionalProperties: { allows: false } })
  t.match(schema('additionalOutputFormats'), { items: { schema: { type: 'object' }, jSONSchemas: undefined } })
  t.match(schema('pair'), { items: { jSONSchemas: [{ type: 'string' }, { type: 'integer', multipleOf: 0.5 }] } })
  t.match(schema('tree'), {
    dependencies: { a: { property: ['b', 'c'] }, d: { schema: { required: ['e'], not: { type: 'null' } } } }
  })
  t.match(schema('rotation'), {
    enum: [{ raw: Buffer.from('"Never"') }, { raw: undefined }, { raw: Buffer.from('3') }]
  })
  const again = decodeMessage(JSONSchemaProps, Type.encode(seen).finish())
  t.equal(toJson(JSONSchemaProps, again), toJson(JSONSchemaProps, object))
})

t.test('unknown fields of a schema are reported by path, wherever the schema occurs', async t => {
  const { unknown } = decode(JSONSchemaProps, {
    items: { a: 1 }, additionalProperties: { items: [{}, { b: 2, properties: { x: { c: 3 } } }] },
    dependencies: { y: { d: 4 } }
  })
  t.same(unknown, [
    'items.a', 'additionalProperties.items[1].properties.x.c', 'additionalProperties.items[1].b', 'dependencies.y.d'
  ])
  for (const [value, message] of [
    [{ items: 'x' }, 'items: expected an object or a list, got a string ("x")'],
    [
      { additionalProperties: { not: { additionalItems: [] } } },
      'additionalProperties.not.additionalItems: expected true or false or an object, got a list'
    ],
    [{ dependencies: { a: ['b', 1] } }, 'dependencies.a[1]: expected a string, got a number ("1")'],
    [{ items: [{ type: 1 }] }, 'items[0].type: expected a string, got a number ("1")']
  ] as const) t.throws(() => decode(JSONSchemaProps, value), { message: `apiextensions.v1.JSONSchemaProps.${message}` })
})

t.test('nothing in the place of a schema is nothing', async t => {
  t.same(decode(JSONSchemaProps, { items: [], not: null, additionalProperties: null }).object, {})
  const { object } = decode(JSONSchemaProps, { dependencies: { a: null, b: [] }, items: [null] })
  t.equal(toJson(JSONSchemaProps, object), '{"items":[{}],"dependencies":{"a":null,"b":null}}')
  t.equal(
    toJson(JSONSchemaProps, decodeMessage(JSONSchemaProps, encodeMessage(JSONSchemaProps, object))),
    toJson(JSONSchemaProps, object)
  )
})

t.test('a schema-or-list and a schema-or-bool can be decoded by themselves', async t => {
  const { object, unknown } = decode(JSONSchemaPropsOrArray, [{ type: 'string', x: 1 }])
  t.same(unknown, ['[0].x'])
  t.equal(toJson(JSONSchemaPropsOrArray, object), '[{"type":"string"}]')
  t.same(decodeMessage(JSONSchemaPropsOrArray, encodeMessage(JSONSchemaPropsOrArray, object)), object)
  t.same(decodeMessage(JSONSchemaPropsOrBool, Buffer.alloc(0)), false)
})

t.test('names, conversion and stored versions follow from the rest', async t => {
  const object = read(small())
  t.match(object, {
    spec: { names: { singular: 'thing', listKind: 'ThingList' }, conversion: { strategy: 'None' } },
    status: { storedVersions: ['v1'] }
  })
  const set = read(small(
    { status: { storedVersions: ['v0'] } },
    { names: { plural: 'things', kind: 'Thing', singular: 'one', listKind: 'Things' } }
  ))
  t.match(set, { spec: { names: { singular: 'one', listKind: 'Things' } }, status: { storedVersions: ['v0'] } })
  t.equal(read({ spec: {} }).spec.names.listKind, undefined)
})

t.test('a definition has a group, names, a scope and versions of which one is stored', async t => {
  t.same(short(validateObject(resource, read(small()))), [])
  t.same(short(validateObject(resource, read({ metadata: { name: 'x' }, spec: {} }))).sort(), [
    'Invalid metadata.name', 'Invalid spec.versions', 'Invalid status.storedVersions', 'Required spec.group',
    ...['kind', 'listKind', 'plural', 'singular'].map(name => `Required spec.names.${name}`), 'Required spec.scope'
  ])
  const finds = (spec: object, more: object = {}) => short(validateObject(resource, read(small(more, spec))))
  t.same(finds({ group: 'flat' }, { metadata: { name: 'things.flat' } }), ['Invalid spec.group'])
  t.same(
    finds({ names: { plural: 'things', singular: 'thing', kind: '1Thing', shortNames: ['T'], listKind: 'T_' } }),
    ['Invalid spec.names.kind', 'Invalid spec.names.listKind', 'Invalid spec.names.shortNames[0]']
  )
  t.same(finds({ scope: 'Galaxy' }), ['NotSupported spec.scope'])
  t.same(finds({
    versions: [
      { name: 'v1', served: true, storage: true },
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }
    ]
  }),
  ['Required spec.versions[0].schema.openAPIV3Schema', 'Invalid spec.versions', 'Invalid spec.versions'])
  const CONVERSION = 'spec.conversion'
  const converted = (strategy: string, clientConfig?: object, conversionReviewVersions?: string[]) =>
    finds({ conversion: { strategy, webhook: { clientConfig, conversionReviewVersions } } })
  t.same(finds({ conversion: { strategy: 'Webhook' } }), [
    `Required ${CONVERSION}.webhookClientConfig`, `Required ${CONVERSION}.conversionReviewVersions`
  ])
  t.same(
    converted('None', { url: 'https://a/' }, ['v1']),
    [`Forbidden ${CONVERSION}.webhookClientConfig`, `Forbidden ${CONVERSION}.conversionReviewVersions`]
  )
  t.same(converted('Some'), [`NotSupported ${CONVERSION}.strategy`])
  t.same(converted('Webhook', {}, ['v2', 'v1', 'v1', 'V_']), [
    `Required ${CONVERSION}.webhookClientConfig`, `Invalid ${CONVERSION}.conversionReviewVersions[2]`,
    `Invalid ${CONVERSION}.conversionReviewVersions[3]`
  ])
  t.same(converted('Webhook', { url: 'http://a/?q' }, ['v2']), [
    ...Array.from({ length: 2 }, () => `Invalid ${CONVERSION}.webhookClientConfig.url`),
    `Invalid ${CONVERSION}.conversionReviewVersions`
  ])
  t.same(
    converted('Webhook', { service: { port: 0, path: 'a' } }, ['v1beta1']),
    ['Required name', 'Required namespace', 'Invalid port', 'Invalid path'].map(one =>
      one.replace(' ', ` ${CONVERSION}.webhookClientConfig.service.`))
  )
  t.same(finds({ preserveUnknownFields: true }), ['Invalid spec.preserveUnknownFields'])
  t.same(finds({}, { status: { storedVersions: ['v1', 'v7'] } }), ['Invalid status.storedVersions[1]'])
})

t.test('group and plural never change, scope and kind not once the type is served', async t => {
  const old = read(small())
  const changed = clone(old)
  changed.spec.scope = 'Namespaced'
  changed.spec.names.kind = 'Other'
  t.same(short(validateUpdate(resource, changed, old)), [])
  old.status.conditions = [{ type: 'Established', status: 'True' }]
  t.same(short(validateUpdate(resource, changed, old)), ['Invalid spec.scope', 'Invalid spec.names.kind'])
  const moved = read({
    ...small(
      { metadata: { name: 'others.example.org' } }, { group: 'example.org', names: { plural: 'others', kind: 'Thing' } }
    )
  })
  t.same(short(validateUpdate(resource, moved, old)), [
    'Invalid metadata.name', 'Invalid spec.group', 'Invalid spec.names.plural'
  ])
})
