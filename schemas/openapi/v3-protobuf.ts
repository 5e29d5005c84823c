/**
 * The OpenAPI 3.0 documents in protobuf (gnostic's openapi.v3, `v3.proto`), which client libraries request. The build
 * generates encoders from that file. This module converts the JSON form, a path or schema in each step.
 */
import protobuf from 'protobufjs/minimal.js'
import type { Plain } from '../language/declare.js'
import type { Steps } from '../steps.js'
import { any, flag, messagesWith, pairs, requirement, tag, writeEntries, type Forms } from './gnostic.js'
import { Components, Document, PathItem, SchemaOrReference } from './v3.proto.js'
import type { DocumentParts } from './v3.js'

export function * documentProtobuf ({ head, paths, schemas, securitySchemes, security }: DocumentParts): Steps<Buffer> {
  const encodedPaths = yield * encoded(paths, item => PathItem.encode(pathItem(item)).finish())
  const encodedSchemas = yield * encoded(schemas, schema => SchemaOrReference.encode(schemaOr(schema)).finish())
  const writer = Document.encode(head, protobuf.Writer.create())
  writeEntries(writer, 4, 1, encodedPaths)
  yield
  writer.uint32(tag(5)).fork()
  writeEntries(writer, 1, 1, encodedSchemas)
  Components.encode({ securitySchemes: schemes(securitySchemes) }, writer).ldelim()
  yield
  return Document.encode({ security: security.map(requirement) }, writer).finish() as Buffer // in Node it is one
}

function * encoded (
  entries: DocumentParts['paths'], encode: (value: Plain) => Uint8Array
): Steps<Array<readonly [string, Uint8Array]>> {
  const items: Array<readonly [string, Uint8Array]> = []
  for (const [name, json] of entries) {
    items.push([name, encode(JSON.parse(json) as Plain)]) // written by this server
    yield
  }
  return items
}

const message = messagesWith('specificationExtension')

const SCHEMA: Forms = {
  default: (value: unknown) => {
    switch (typeof value) {
      case 'number': return { number: value }
      case 'boolean': return { boolean: value }
      case 'string': return { string: value }
      default: return {}
    }
  },
  example: any,
  enum: (values: unknown[]) => values.map(any),
  allOf: schemas,
  oneOf: schemas,
  anyOf: schemas,
  not: schema,
  items: (of: Plain) => ({ schemaOrReference: [schemaOr(of)] }),
  properties: (map: Plain) => ({ additionalProperties: pairs(map, schemaOr) }),
  additionalProperties: (of: Plain | boolean) =>
    typeof of === 'boolean' ? { boolean: of } : { schemaOrReference: schemaOr(of) },
  nullable: flag,
  deprecated: flag,
  uniqueItems: flag,
  exclusiveMaximum: flag,
  exclusiveMinimum: flag
}
function schema (source: Plain): object { return message(source, SCHEMA) }
function schemas (sources: Plain[]): object[] { return sources.map(schemaOr) }
function schemaOr (source: Plain): object {
  return '$ref' in source ? { reference: { _ref: source['$ref'] } } : { schema: schema(source) }
}

const MEDIA_TYPE: Forms = { schema: schemaOr }
const mediaTypes = (map: Plain): object => ({ additionalProperties: pairs(map, type => message(type, MEDIA_TYPE)) })

const PARAMETER: Forms = { required: flag, schema: schemaOr }
const parameters = (list: Plain[]): object[] => list.map(source => ({ parameter: message(source, PARAMETER) }))

const REQUEST_BODY: Forms = { content: mediaTypes, required: flag }
const RESPONSE: Forms = { content: mediaTypes }
const OPERATION: Forms = {
  parameters,
  requestBody: (source: Plain) => ({ requestBody: message(source, REQUEST_BODY) }),
  responses: (map: Plain) => ({ responseOrReference: pairs(map, source => ({ response: message(source, RESPONSE) })) }),
  deprecated: flag
}
const operation = (source: Plain): object => message(source, OPERATION)

const PATH_ITEM: Forms = {
  get: operation, put: operation, post: operation, delete: operation, options: operation, head: operation,
  patch: operation, parameters
}
const pathItem = (source: Plain): object => message(source, PATH_ITEM)

const schemes = (map: Plain): object =>
  ({ additionalProperties: pairs(map, scheme => ({ securityScheme: message(scheme, {}) })) })
