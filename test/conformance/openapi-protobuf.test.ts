/**
 * `/openapi/v2` in protobuf has the same content as in JSON: decoded by a library that knows only
 * `schemas/openapi/v2.proto`.
 */
import t from 'tap'
import { fileURLToPath } from 'node:url'
import protobuf from 'protobufjs'
import { build, type Json } from '../build.js'

const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
const file = fileURLToPath(new URL('../../../schemas/openapi/v2.proto', import.meta.url))
const Document = new protobuf.Root().loadSync(file, { keepCase: true }).lookupType('openapi.v2.Document')

/** JSON names that are spelt differently. */
const NAMES: Record<string, string> = {
  _ref: '$ref',
  security_definitions: 'securityDefinitions',
  operation_id: 'operationId',
  unique_items: 'uniqueItems',
  max_length: 'maxLength',
  additional_properties: 'additionalProperties'
}

const pairs = (list: Json[], of: (value: Json) => unknown): Json =>
  Object.fromEntries(list.map(({ name, value }) => [name, of(value)]))
const any = ({ yaml }: Json): unknown => JSON.parse(yaml)

/** The JSON form of a message. In protobuf maps are lists of pairs, and alternatives are wrapped in a message. */
function plain (type: protobuf.Type, message: Json): unknown {
  switch (type.name) {
    case 'Any': return any(message)
    case 'Paths': return pairs(message['path'], value => plain(type.root.lookupType('PathItem'), value))
    case 'Responses': return pairs(message['response_code'], value =>
      plain(type.root.lookupType('ResponseValue'), value))
    case 'Definitions':
    case 'Properties': return pairs(message['additional_properties'], value =>
      plain(type.root.lookupType('Schema'), value))
    case 'SecurityDefinitions': return pairs(message['additional_properties'], value =>
      plain(type.root.lookupType('SecurityDefinitionsItem'), value))
    case 'SecurityRequirement': return pairs(message['additional_properties'], ({ value = [] }) => value)
    case 'TypeItem': return message['value'][0]
    case 'ItemsItem': return plain(type.root.lookupType('Schema'), message['schema'][0])
  }
  if (type.oneofsArray.length > 0) {
    const [name = ''] = Object.keys(message)
    return plain(type.fields[name]?.resolvedType as protobuf.Type, message[name])
  }
  const { vendor_extension: extensions = [], ...members } = message
  const found = Object.entries(members).map(([name, value]) => {
    const field = type.fields[name]
    const of = (one: unknown): unknown =>
      field?.resolvedType instanceof protobuf.Type ? plain(field.resolvedType, one as Json) : one
    return [NAMES[name] ?? name, Array.isArray(value) ? value.map(of) : of(value)]
  })
  return { ...Object.fromEntries(found), ...pairs(extensions, any) }
}

/** JSON also contains false values. */
const withoutFalse = (value: unknown): unknown => JSON.parse(JSON.stringify(
  value,
  (name, member: unknown) =>
    member === false && (name === 'required' || name === 'uniqueItems' || name === 'deprecated') ? undefined : member
))

t.test('a reader of the protocol file finds the document of the JSON form, to the last byte', async t => {
  const server = await build(t)
  const { json } = await server.get('/openapi/v2')
  const { raw } = await server.get('/openapi/v2', { accept: PROTOBUF })
  const message = Document.decode(raw)
  t.ok(
    Buffer.from(Document.encode(message).finish()).equals(raw), 'nothing is in it that the protocol file does not know'
  )
  const { paths, definitions, ...rest } = plain(Document, Document.toObject(message, { longs: Number })) as Json
  t.strictSame(rest, withoutFalse({ ...json, paths: undefined, definitions: undefined }))
  t.strictSame(Object.keys(paths), Object.keys(json['paths']))
  for (const [path, item] of Object.entries(json['paths'])) t.strictSame(paths[path], withoutFalse(item), path)
  t.strictSame(Object.keys(definitions), Object.keys(json['definitions']))
  for (const [name, definition] of Object.entries(json['definitions'])) {
    t.strictSame(definitions[name], withoutFalse(definition), name)
  }
})
