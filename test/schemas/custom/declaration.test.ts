import { createRequire } from 'node:module'
import t from 'tap'
import { toJson } from '../../../schemas/codec/json/encode.js'
import { parseJson } from '../../../schemas/codec/json/parse.js'
import { encodeProtobuf } from '../../../schemas/codec/protobuf/encode.js'
import { decode } from '../../../schemas/language/decode.js'
import { applyDefaults } from '../../../schemas/language/defaults.js'
import { strictFindings } from '../../../schemas/language/strict-findings.js'
import { validateObject, validateUpdate } from '../../../schemas/language/validation.js'
import { clone, sameValue } from '../../../schemas/language/values.js'
import type { FieldError } from '../../../schemas/status.js'
import { fromStructural, type StructuralSchema } from '../../../schemas/custom/declaration.js'
import { DefinitionSet } from '../../../schemas/openapi/definitions.js'
import { SWAGGER } from '../../../schemas/openapi/swagger.js'
import type { ApiObject } from '../../../schemas/meta/api-object.js'
import { resource } from '../../../schemas/resource.js'

const GVK = { group: 'example.com', version: 'v1', kind: 'Widget' }
const of = (spec: StructuralSchema): StructuralSchema => ({ type: 'object', properties: { spec } })
const widget = (spec: StructuralSchema) => {
  const message = fromStructural(GVK, of(spec))
  const definition = resource(message, { plural: 'widgets', namespaced: true }).stored
  return {
    message,
    definition,
    take: (json: string) => {
      const { value, duplicates } = parseJson(Buffer.from(`{"metadata":{"name":"n","namespace":"d"},"spec":${json}}`))
      const { object, unknown } = decode(message, value)
      applyDefaults(message, object)
      return {
        object, findings: strictFindings(unknown, duplicates), spec: toJson(message, object).slice(HEAD.length, -1)
      }
    }
  }
}
const HEAD =
  '{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"n","namespace":"d","creationTimestamp":null},' +
  '"spec":'
const short = (errors: FieldError[]) => errors.map(({ type, field }) => `${type.replace('FieldValue', '')} ${field}`)

const SPEC: StructuralSchema = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { type: 'integer', format: 'int32', minimum: 0, maximum: 10 },
    large: { type: 'integer' },
    ratio: { type: 'number', exclusiveMinimum: true, minimum: 0 },
    on: { type: 'boolean', default: false },
    colour: { type: 'string', enum: ['red', 'green', ''], default: 'red' },
    code: { type: 'string', pattern: '^[a-z]*$', minLength: 1, maxLength: 3 },
    nothing: { type: 'string', nullable: true },
    port: { 'x-orch-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    free: { type: 'object', 'x-orch-preserve-unknown-fields': true },
    any: { 'x-orch-preserve-unknown-fields': true },
    half: {
      type: 'object', 'x-orch-preserve-unknown-fields': true, properties: { known: { type: 'integer', default: 3 } }
    },
    labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 4 } },
    matrix: { type: 'array', items: { type: 'array', items: { type: 'integer', maximum: 9 } } },
    byName: {
      type: 'object',
      additionalProperties: {
        type: 'array', items: { type: 'object', properties: { a: { type: 'string', default: 'x' } } }
      }
    },
    tags: { type: 'array', 'x-orch-list-type': 'set', maxItems: 3, items: { type: 'string', enum: ['a', 'b', 'c'] } },
    parts: {
      type: 'array',
      'x-orch-list-type': 'map',
      'x-orch-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, weight: { type: 'integer', default: 1 } }
      }
    },
    nested: {
      type: 'object',
      default: {},
      properties: {
        deep: {
          type: 'object',
          default: { list: [1] },
          properties: { list: { type: 'array', items: { type: 'integer' } }, more: { type: 'string', default: 'm' } }
        }
      }
    },
    template: { type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true }
  }
}

t.test('objects of a structural schema go through the same codec: pruned, with defaults, as they were set', async t => {
  const { take } = widget(SPEC)
  t.equal(take('{"size":0}').spec, '{"colour":"red","nested":{"deep":{"list":[1],"more":"m"}},"on":false,"size":0}')
  const set =
    '{"any":[1,{"b":null}],"byName":{"k":[{"a":"x"}]},"code":"abc","colour":"","free":{"z":1,"a":[]},' +
    '"half":{"known":3,"extra":{"x":[9007199254740993]}},"labels":{},"large":9223372036854775807,"matrix":[[],[1,2]],' +
    '"nested":{"deep":{"list":[],"more":"m"}},"nothing":null,"on":true,"parts":[],"port":80,"ratio":0.5,"size":3,' +
    '"tags":["a"]}'
  t.equal(take(set).spec, set, 'zeros, empty lists, nullable nulls and preserved fields')
  const pruned = take(
    '{"size":1,"unknown":1,"nested":{"deep":{"list":null,"x":1}},"on":null,"parts":[{"name":"a","y":{}}]}'
  )
  t.same(pruned.findings, [
    'unknown field "spec.nested.deep.x"', 'unknown field "spec.parts[0].y"', 'unknown field "spec.unknown"'
  ])
  t.equal(
    pruned.spec,
    '{"colour":"red","nested":{"deep":{"more":"m"}},"on":false,"parts":[{"name":"a","weight":1}],"size":1}',
    'null where it may not be is unset, and defaulted'
  )
  t.same(
    take(
      '{"size":1,"template":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","foo":1},"data":{"a":"b"}}}'
    ).findings,
    ['unknown field "spec.template.metadata.foo"']
  )
  const { object } = take('{"size":1,"half":{"__proto__":{"x":1}}}')
  t.same(Object.keys(clone(object as unknown as { spec: { half: object } }).spec.half).sort(), ['__proto__', 'known'])
})

t.test('a value of another type is kept, in every form, until the rules report it', async t => {
  const { take, definition } = widget(SPEC)
  for (const [members, field] of [
    ['"size":"1"', 'spec.size'],
    ['"size":1,"matrix":[[1],["x"]]', 'spec.matrix[1][0]'],
    ['"size":1,"matrix":[null]', 'spec.matrix[0]'],
    ['"size":1,"matrix":{}', 'spec.matrix'],
    ['"size":1,"tags":[null]', 'spec.tags[0]'],
    ['"size":1,"byName":{"k":[{"a":1}]}', 'spec.byName.k[0].a'],
    ['"size":1,"byName":[]', 'spec.byName'],
    ['"size":1,"port":1.5', 'spec.port'],
    ['"size":1,"free":[]', 'spec.free'],
    ['"size":1,"nested":"text"', 'spec.nested'],
    ['"size":1,"parts":["x"]', 'spec.parts[0]']
  ] as const) {
    const { object, spec } = take(`{${members}}`)
    for (const member of members.split(/,(?=")/)) t.match(spec, member, 'it is encoded as it was sent')
    t.ok(
      validateObject(definition, object as ApiObject).some(error =>
        error.type === 'FieldValueTypeInvalid' && error.field === field),
      members
    )
  }
  const { object, spec } = take('[]')
  t.equal(spec, '[]')
  t.match(
    validateObject(definition, object as ApiObject), [{ type: 'FieldValueTypeInvalid', field: 'spec', value: 'array' }]
  )
})

t.test('where no object belongs, none of its members is declared', async t => {
  const { take } = widget(SPEC)
  const sent = '{"size":{"a":{"b":1}},"tags":[{"c":1},"x"],"matrix":{"d":[]},"port":[{"e":1}],"free":[{"f":1}]}'
  const { spec, findings } = take(sent)
  t.match(spec, '"size":{}')
  t.match(spec, '"tags":[{},"x"]')
  t.match(spec, '"matrix":{}')
  t.match(spec, '"port":[{}]')
  t.match(spec, '"free":[{"f":1}]', 'it keeps whatever is sent')
  const fields = ['size.a', 'tags[0].c', 'matrix.d', 'port[0].e']
  t.same(findings.sort(), fields.map(field => `unknown field "spec.${field}"`).sort())
})

t.test('its rules are held wherever its parts are', async t => {
  const { take, definition } = widget(SPEC)
  const errors = (json: string) => short(validateObject(definition, take(json).object as ApiObject))
  t.same(errors('{"size":1,"code":"abc","tags":["a","b"],"ratio":1}'), [])
  t.same(errors('{}'), ['Required spec.size'])
  t.same(errors('{"size":11,"colour":"blue","code":"","ratio":0}').sort(), [
    'Invalid spec.code', 'Invalid spec.ratio', 'Invalid spec.size', 'NotSupported spec.colour'
  ])
  t.same(errors('{"size":1,"code":"AB12"}'), ['TooLong spec.code'])
  t.same(
    errors('{"size":1,"labels":{"a":"abcde"},"matrix":[[1,10]],"tags":["a","x"]}'),
    ['TooLong spec.labels.a', 'Invalid spec.matrix[0][1]', 'NotSupported spec.tags[1]']
  )
  t.same(errors('{"size":1,"tags":["a","b","a","c"]}'), ['TooMany spec.tags', 'Duplicate spec.tags[2]'])
  t.same(
    errors('{"size":1,"parts":[{"name":"a"},{"name":"b"},{"name":"a","weight":2},{}]}'),
    ['Required spec.parts[3].name', 'Duplicate spec.parts[2]']
  )
  t.same(errors('{"size":1,"template":{"metadata":{}}}'), [
    'Required spec.template.apiVersion', 'Required spec.template.kind'
  ])
  const { object } = take('{"size":1,"parts":[{"name":"a"}]}')
  t.same(validateUpdate(definition, object as ApiObject, clone(object) as ApiObject), [])
  t.ok(sameValue(object, take('{"size":1,"parts":[{"name":"a","weight":1}]}').object))
})

t.test('a pattern in a custom schema cannot hold the event loop', async t => {
  const { take, definition } = widget({ type: 'object', properties: { s: { type: 'string', pattern: '^(a+)+$' } } })
  const started = process.cpuUsage()
  t.same(
    short(validateObject(definition, take(`{"s":"${'a'.repeat(5000)}!"}`).object as ApiObject)), ['Invalid spec.s']
  )
  t.ok(process.cpuUsage(started).user < 2_000_000)
})

t.test('a schema that is not structural, or has what is not supported, is refused by name', async t => {
  const refused = (spec: unknown, message: RegExp) =>
    t.throws(() => fromStructural(GVK, of(spec as StructuralSchema)), { name: 'TypeError', message }, String(message))
  refused({}, /^Widget: schema\.properties\[spec\]\.type: Required value/)
  refused({ type: 'file' }, /^Widget: schema\.properties\[spec\]\.type: Unsupported value: "file"/)
  refused({ type: 'object', properties: { a: { type: 'array' } } }, /properties\[a\]\.items: Required value/)
  refused({ type: 'array', items: { $ref: '#/x' } }, /items\.\$ref: Forbidden/)
  refused({ type: 'string', pattern: '(' }, /pattern: Invalid value: "\("/)
  refused(
    { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'string' } },
    /additionalProperties and properties are mutual exclusive/
  )
  refused({ type: 'object', propertyNames: {} }, /no such keyword/)
  t.throws(
    () => fromStructural(GVK, { type: 'array' }), { name: 'TypeError', message: /schema\.items: Required value/ }
  )
})

t.test('a custom declaration has the JSON Schema, the OpenAPI and the limits of any other', async t => {
  const { message } = widget(SPEC)
  const inFastify =
    createRequire(createRequire(createRequire(import.meta.url).resolve('fastify')).resolve('@fastify/ajv-compiler'))
  const ajv = new (inFastify('ajv') as new (options: object) => {
    compile: (schema: object) => ((value: unknown) => boolean) & { errors?: Array<{ instancePath: string }> }
  })({ strict: true, useDefaults: true, allErrors: true })
  ;(inFastify('ajv-formats') as (ajv: unknown) => void)(ajv)
  const validate = ajv.compile(message)
  const object = {
    metadata: { name: 'n' }, spec: { size: 1, nothing: null, port: 'http', matrix: [[1]], byName: { k: [{}] } }
  }
  t.ok(validate(object))
  t.match(object, { kind: 'Widget', spec: { colour: 'red', nested: { deep: { list: [1], more: 'm' } } } })
  t.notOk(validate({ spec: { size: 'x', matrix: [['x']], port: 1.5, tags: ['x'] } }))
  t.same(
    [...new Set(validate.errors?.map(({ instancePath }) => instancePath))],
    ['/spec/matrix/0/0', '/spec/port', '/spec/size'], 'types are in its JSON Schema; its rules are those of the server'
  )
  const set = new DefinitionSet(SWAGGER, [], definition => definition)
  set.reference(message)
  const definitions = Object.fromEntries(set.withReferences(set.take()))
  const { spec } = definitions['com.example.v1.Widget']?.['properties'] as Record<string, { properties: object }>
  t.match(spec, {
    type: 'object',
    properties: {
      matrix: { type: 'array', items: { type: 'array', items: { type: 'integer', maximum: 9 } } },
      tags: { 'x-orch-list-type': 'set', 'x-kubernetes-list-type': 'set' },
      port: { anyOf: undefined }
    }
  })
  t.throws(() => encodeProtobuf(message, decode(message, {}).object), /no protobuf form/)
})
