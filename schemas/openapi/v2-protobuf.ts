/**
 * The Swagger document in protobuf (gnostic's openapi.v2, `v2.proto`), which kubectl requests. The build generates
 * encoders from that file. This module converts the JSON form: alternatives are wrapped in messages, and defaults
 * become YAML text; `gnostic.ts` has what both versions of OpenAPI share.
 */
import protobuf from 'protobufjs/minimal.js'
import type { Plain } from '../language/declare.js'
import type { Representation } from '../resource.js'
import { any, flag, messagesWith, pairs, requirement, writeEntries, type Forms } from './gnostic.js'
import { Document, ParametersItem, PathItem, Schema } from './v2.proto.js'
import type { RemoteSpec } from './remote.js'
import type { Steps } from '../steps.js'
import { swaggerParts, type OpenApiInfo } from './v2.js'
import { oncePer } from '../once-per.js'

export function * swaggerProtobuf (
  resources: readonly Representation[], info: OpenApiInfo, remotes: Iterable<Steps<RemoteSpec>> = []
): Generator<undefined, Buffer> {
  const { head, paths, definitions, tail } = yield * swaggerParts(resources, info, {
    path: item => PathItem.encode(pathItem(item)).finish(),
    definition: definition => Schema.encode(schema(definition)).finish()
  }, remotes)
  const writer = Document.encode(head, protobuf.Writer.create())
  writeEntries(writer, 8, 2, paths)
  writeEntries(writer, 9, 1, definitions)
  // in Node it is one
  return Document.encode({
    security: (tail['security'] as Plain[])
      .map(requirement), securityDefinitions: securityDefinitions(tail['securityDefinitions'] as Plain)
  }, writer)
    .finish() as Buffer
}

const message = messagesWith('vendorExtension')

const SCHEMA: Forms = {
  default: any,
  enum: (values: unknown[]) => values.map(any),
  additionalProperties: (of: Plain | boolean) => typeof of === 'boolean' ? undefined : { schema: schema(of) },
  type: (type: string | string[]) => ({ value: [type].flat() }),
  items: (of: Plain | Plain[]) => ({ schema: [of].flat().map(schema) }),
  properties: (map: Plain) => ({ additionalProperties: pairs(map, schema) })
}
const schema = (source: Plain): object => message(source, SCHEMA)

const RESPONSE: Forms = { schema: (of: Plain) => ({ schema: schema(of) }) }
const response = (source: Plain): object => ({ response: message(source, RESPONSE) })

const PARAMETER: Forms = { required: flag, uniqueItems: flag, schema }
function parameterOf (source: Plain): object {
  const parameter = message(source, PARAMETER)
  switch (source['in']) {
    case 'body': return { bodyParameter: parameter }
    case 'query': return { nonBodyParameter: { queryParameterSubSchema: parameter } }
    case 'path': return { nonBodyParameter: { pathParameterSubSchema: parameter } }
    // no parameter of this server has another place
    default: throw new TypeError(`a parameter in ${String(source['in'])} has no protobuf form here`)
  }
}

/** Encoded parameters, which hundreds of operations share. */
const parameterBytes = oncePer((source: Plain) => ParametersItem.encode({ parameter: parameterOf(source) }).finish())
/** Those in headers, which extension servers may have, are left out. */
const isKnown = (source: Plain): boolean => source['in'] === 'body' || source['in'] === 'query' ||
  source['in'] === 'path'
const parameters = (list: Plain[]): Uint8Array[] => list.filter(isKnown).map(parameterBytes)

const OPERATION: Forms = {
  parameters, responses: (map: Plain) => ({ responseCode: pairs(map, response) }), deprecated: flag
}
const operation = (source: Plain): object => message(source, OPERATION)
const PATH_ITEM: Forms = {
  get: operation, put: operation, post: operation, delete: operation, options: operation, head: operation,
  patch: operation, parameters
}
const pathItem = (source: Plain): object => message(source, PATH_ITEM)

const securityDefinitions = (source: Plain): object =>
  ({ additionalProperties: pairs(source, apiKey => ({ apiKeySecurity: message(apiKey, {}) })) })
