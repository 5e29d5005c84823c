/**
 * Each document of `/openapi/v3` in protobuf has the content of its JSON form, read with gnostic's messages as written
 * down here.
 */
import t, { type Test } from 'tap'
import protobuf from 'protobufjs'
import { build, type Client, type Json } from '../build.js'
import { definition, install, version } from '../controllers/custom/definitions.js'

const OLD = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf'
const TYPE = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf'

/**
 * Fields of `openapi.v3` by number; `[]` for repeated ones. All that Kubernetes' documents use, and more than this
 * server writes.
 */
const MESSAGES: Record<string, Record<number, string>> = {
  Document: {
    1: 'string openapi',
    2: 'Info info',
    3: 'bytes[] servers',
    4: 'Paths paths',
    5: 'Components components',
    6: 'SecurityRequirement[] security',
    7: 'bytes[] tags',
    8: 'bytes externalDocs',
    9: 'NamedAny[] specificationExtension'
  },
  Info: {
    1: 'string title',
    2: 'string description',
    3: 'string termsOfService',
    4: 'bytes contact',
    5: 'bytes license',
    6: 'string version',
    7: 'NamedAny[] specificationExtension',
    8: 'string summary'
  },
  Any: { 1: 'bytes value', 2: 'string yaml' },
  NamedAny: { 1: 'string name', 2: 'Any value' },
  Paths: { 1: 'NamedPathItem[] path', 2: 'NamedAny[] specificationExtension' },
  NamedPathItem: { 1: 'string name', 2: 'PathItem value' },
  PathItem: {
    1: 'string _ref',
    2: 'string summary',
    3: 'string description',
    4: 'Operation get',
    5: 'Operation put',
    6: 'Operation post',
    7: 'Operation delete',
    8: 'Operation options',
    9: 'Operation head',
    10: 'Operation patch',
    11: 'Operation trace',
    12: 'bytes[] servers',
    13: 'ParameterOrReference[] parameters',
    14: 'NamedAny[] specificationExtension'
  },
  Operation: {
    1: 'string[] tags',
    2: 'string summary',
    3: 'string description',
    4: 'bytes externalDocs',
    5: 'string operationId',
    6: 'ParameterOrReference[] parameters',
    7: 'RequestBodyOrReference requestBody',
    8: 'Responses responses',
    9: 'bytes callbacks',
    10: 'bool deprecated',
    11: 'SecurityRequirement[] security',
    12: 'bytes[] servers',
    13: 'NamedAny[] specificationExtension'
  },
  ParameterOrReference: { 1: 'Parameter parameter', 2: 'Reference reference' },
  Parameter: {
    1: 'string name',
    2: 'string in',
    3: 'string description',
    4: 'bool required',
    5: 'bool deprecated',
    6: 'bool allowEmptyValue',
    7: 'string style',
    8: 'bool explode',
    9: 'bool allowReserved',
    10: 'SchemaOrReference schema',
    11: 'Any example',
    12: 'bytes examples',
    13: 'MediaTypes content',
    14: 'NamedAny[] specificationExtension'
  },
  RequestBodyOrReference: { 1: 'RequestBody requestBody', 2: 'Reference reference' },
  RequestBody: {
    1: 'string description', 2: 'MediaTypes content', 3: 'bool required', 4: 'NamedAny[] specificationExtension'
  },
  MediaTypes: { 1: 'NamedMediaType[] additionalProperties' },
  NamedMediaType: { 1: 'string name', 2: 'MediaType value' },
  MediaType: {
    1: 'SchemaOrReference schema',
    2: 'Any example',
    3: 'bytes examples',
    4: 'bytes encoding',
    5: 'NamedAny[] specificationExtension'
  },
  Responses: {
    1: 'ResponseOrReference default',
    2: 'NamedResponseOrReference[] responseOrReference',
    3: 'NamedAny[] specificationExtension'
  },
  NamedResponseOrReference: { 1: 'string name', 2: 'ResponseOrReference value' },
  ResponseOrReference: { 1: 'Response response', 2: 'Reference reference' },
  Response: {
    1: 'string description',
    2: 'bytes headers',
    3: 'MediaTypes content',
    4: 'bytes links',
    5: 'NamedAny[] specificationExtension'
  },
  Components: {
    1: 'SchemasOrReferences schemas',
    2: 'bytes responses',
    3: 'bytes parameters',
    4: 'bytes examples',
    5: 'bytes requestBodies',
    6: 'bytes headers',
    7: 'SecuritySchemesOrReferences securitySchemes',
    8: 'bytes links',
    9: 'bytes callbacks',
    10: 'NamedAny[] specificationExtension'
  },
  SchemasOrReferences: { 1: 'NamedSchemaOrReference[] additionalProperties' },
  NamedSchemaOrReference: { 1: 'string name', 2: 'SchemaOrReference value' },
  SchemaOrReference: { 1: 'Schema schema', 2: 'Reference reference' },
  Reference: { 1: 'string _ref', 2: 'string summary', 3: 'string description' },
  Schema: {
    1: 'bool nullable', 2: 'bytes discriminator', 3: 'bool readOnly', 4: 'bool writeOnly', 5: 'bytes xml',
    6: 'bytes externalDocs', 7: 'Any example', 8: 'bool deprecated', 9: 'string title', 10: 'double multipleOf',
    11: 'double maximum', 12: 'bool exclusiveMaximum', 13: 'double minimum', 14: 'bool exclusiveMinimum',
    15: 'int64 maxLength', 16: 'int64 minLength', 17: 'string pattern', 18: 'int64 maxItems', 19: 'int64 minItems',
    20: 'bool uniqueItems', 21: 'int64 maxProperties', 22: 'int64 minProperties', 23: 'string[] required',
    24: 'Any[] enum', 25: 'string type', 26: 'SchemaOrReference[] allOf', 27: 'SchemaOrReference[] oneOf',
    28: 'SchemaOrReference[] anyOf', 29: 'Schema not', 30: 'ItemsItem items', 31: 'Properties properties',
    32: 'AdditionalPropertiesItem additionalProperties', 33: 'DefaultType default', 34: 'string description',
    35: 'string format', 36: 'NamedAny[] specificationExtension'
  },
  ItemsItem: { 1: 'SchemaOrReference[] schemaOrReference' },
  Properties: { 1: 'NamedSchemaOrReference[] additionalProperties' },
  AdditionalPropertiesItem: { 1: 'SchemaOrReference schemaOrReference', 2: 'bool boolean' },
  DefaultType: { 1: 'double number', 2: 'bool boolean', 3: 'string string' },
  SecuritySchemesOrReferences: { 1: 'NamedSecuritySchemeOrReference[] additionalProperties' },
  NamedSecuritySchemeOrReference: { 1: 'string name', 2: 'SecuritySchemeOrReference value' },
  SecuritySchemeOrReference: { 1: 'SecurityScheme securityScheme', 2: 'Reference reference' },
  SecurityScheme: {
    1: 'string type',
    2: 'string description',
    3: 'string name',
    4: 'string in',
    5: 'string scheme',
    6: 'string bearerFormat',
    7: 'bytes flows',
    8: 'string openIdConnectUrl',
    9: 'NamedAny[] specificationExtension'
  },
  SecurityRequirement: { 1: 'NamedStringArray[] additionalProperties' },
  NamedStringArray: { 1: 'string name', 2: 'StringArray value' },
  StringArray: { 1: 'string[] value' }
}

/** Messages of one alternative. */
const ONE_OF = /OrReference$|^AdditionalPropertiesItem$|^DefaultType$/

function reader (): protobuf.Type {
  const root = new protobuf.Root()
  for (const [message, fields] of Object.entries(MESSAGES)) {
    const type = new protobuf.Type(message)
    for (const [number, text] of Object.entries(fields)) {
      const [, kind = '', repeated, name = ''] = /^(\w+)(\[\])? (\S+)$/.exec(text) ?? []
      type.add(new protobuf.Field(name, Number(number), kind, repeated === undefined ? undefined : 'repeated'))
    }
    if (ONE_OF.test(message)) type.add(new protobuf.OneOf('oneof', type.fieldsArray.map(({ name }) => name)))
    root.add(type)
  }
  root.resolveAll()
  return root.lookupType('Document')
}
const Document = reader()

const pairs = (list: Json[] = [], of: (value: Json) => unknown): Json =>
  Object.fromEntries(list.map(({ name, value }) => [name, of(value)]))

/** The JSON form of a message. */
function plain (type: protobuf.Type, message: Json): unknown {
  const named = (name: string) => (value: Json): unknown => plain(type.root.lookupType(name), value)
  switch (type.name) {
    case 'Any': return JSON.parse(message['yaml'])
    case 'Paths': return pairs(message['path'], named('PathItem'))
    case 'MediaTypes': return pairs(message['additionalProperties'], named('MediaType'))
    case 'Responses': return pairs(message['responseOrReference'], named('ResponseOrReference'))
    case 'SchemasOrReferences':
    case 'Properties': return pairs(message['additionalProperties'], named('SchemaOrReference'))
    case 'SecuritySchemesOrReferences': return pairs(
      message['additionalProperties'], named('SecuritySchemeOrReference')
    )
    case 'SecurityRequirement': return pairs(message['additionalProperties'], ({ value = [] }) => value)
    case 'ItemsItem': return plain(type.root.lookupType('SchemaOrReference'), message['schemaOrReference'][0])
  }
  const { specificationExtension = [], ...members } = message
  const found = Object.entries(members).map(([name, value]) => {
    const { resolvedType } = type.fields[name] as protobuf.Field
    const of = (one: unknown): unknown => resolvedType instanceof protobuf.Type ? plain(resolvedType, one as Json) : one
    return [name === '_ref' ? '$ref' : name, Array.isArray(value) ? value.map(of) : of(value)] as const
  })
  if (ONE_OF.test(type.name)) return found[0]?.[1] ?? {}
  return { ...Object.fromEntries(found), ...pairs(specificationExtension, value => JSON.parse(value['yaml'])) }
}

const FLAGS = new Set(['required', 'uniqueItems', 'deprecated', 'nullable', 'exclusiveMaximum', 'exclusiveMinimum'])
/** Without what protobuf does not say: flags that are false, and defaults that are lists or objects. */
function said (value: unknown, isMap = false): unknown {
  if (Array.isArray(value)) return value.map(item => said(item))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    if (isMap) return [[name, said(member)]]
    if (member === false && FLAGS.has(name)) return []
    if (name === 'default' && typeof member === 'object') return [[name, {}]]
    if (name.startsWith('x-') || name === 'enum' || name === 'example') return [[name, member]]
    return [[name, said(member, name === 'properties' || name === 'schemas' || name === 'paths')]]
  }))
}

async function compare (t: Test, server: Client, name: string): Promise<void> {
  const json = await server.get(`/openapi/v3/${name}`)
  const answer = await server.get(`/openapi/v3/${name}`, { accept: TYPE })
  t.same([answer.code, answer.headers['content-type'], answer.headers.etag], [200, TYPE, json.headers.etag], name)
  const message = Document.decode(answer.raw)
  t.ok(Buffer.from(Document.encode(message).finish()).equals(answer.raw), `${name}: nothing in it is unknown`)
  const read = plain(Document, Document.toObject(message, { longs: Number }))
  t.strictSame(read, said(json.json), name)
}

for (const release of ['1.24', '1.36'] as const) {
  t.test(`${release}: every document is that of the JSON form, to the last byte`, async t => {
    const server = await build(t, { emulatedVersion: release })
    const { paths } = (await server.get('/openapi/v3')).json
    t.ok(Object.keys(paths).length > 40)
    for (const name of Object.keys(paths)) await compare(t, server, name)
  })
}

t.test('under public names', async t => {
  const server = await build(t, { compatNames: true })
  const name = 'apis/rbac.authorization.k8s.io/v1'
  await compare(t, server, name)
  const { raw } = await server.get(`/openapi/v3/${name}`, { accept: TYPE })
  t.ok(raw.includes('io.k8s.api.rbac.v1.ClusterRole'))
})

t.test('custom types, with all that their schemas may say', async t => {
  const server = await build(t)
  const properties = {
    any: { 'x-orch-preserve-unknown-fields': true, nullable: true },
    number: { type: 'number', minimum: -0.5, maximum: 12, exclusiveMaximum: true, multipleOf: 0.5, default: 1.5 },
    text: {
      type: 'string',
      minLength: 0,
      maxLength: 9007199254740991,
      pattern: '^a',
      title: 'T',
      enum: ['a', 'ab'],
      default: 'a'
    },
    empty: { type: 'string', default: '' },
    flag: { type: 'boolean', default: false },
    list: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string' }, default: ['a'] },
    map: {
      type: 'object', minProperties: 1, maxProperties: 3, additionalProperties: { type: 'integer', format: 'int64' }
    },
    open: { type: 'object', additionalProperties: true },
    either: { 'x-orch-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    rules: {
      type: 'object',
      properties: { a: { type: 'string' }, default: { type: 'string' } },
      allOf: [{ required: ['a'] }],
      oneOf: [{ required: ['a'] }],
      not: { required: ['default'] },
      default: { a: 'x' }
    }
  }
  await install(server, definition({
    versions: [
      version('v1', {
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } }
      })
    ]
  }))
  await compare(t, server, 'apis/example.com/v1')
  const before = await server.get('/openapi/v3/apis/example.com/v1', { accept: TYPE })
  await server.patch(
    '/apis/apiextensions.orch.io/v1/customresourcedefinitions/widgets.example.com',
    [{ op: 'add', path: '/spec/versions/0/schema/openAPIV3Schema/properties/more', value: { type: 'string' } }],
    'application/json-patch+json'
  )
  let after = before
  while (after.headers.etag === before.headers.etag) {
    after = await server.get('/openapi/v3/apis/example.com/v1', { accept: TYPE })
  }
  await compare(t, server, 'apis/example.com/v1')
  t.ok(after.raw.includes('more'))
})

t.test('the hash of an address is that of the JSON form, and a tag that is known is answered 304', async t => {
  const server = await build(t)
  const { paths } = (await server.get('/openapi/v3')).json
  const address = paths['apis/apps/v1'].serverRelativeURL as string
  for (const accept of [OLD, TYPE, `${TYPE};q=1, application/json;q=0.5`]) {
    const { code, headers } = await server.get(address, { accept })
    t.same([code, headers['content-type'], headers['cache-control']], [200, TYPE, 'public, immutable'], accept)
    t.match(headers['vary'], /accept/i)
    t.equal(headers.etag, `"${address.split('=')[1]}"`)
    t.equal((await server.get(address, { accept, 'if-none-match': String(headers.etag) })).code, 304)
    t.match(await server.get('/openapi/v3/apis/apps/v1?hash=OLD', { accept }), {
      code: 301, headers: { location: address }
    })
  }
  t.equal(
    (await server.get(address, { accept: `application/json, ${TYPE}` })).headers['content-type'], 'application/json'
  )
})
