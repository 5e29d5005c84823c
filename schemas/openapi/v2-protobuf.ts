/**
 * The Swagger document in protobuf (gnostic's openapi.v2, `v2.proto`), which kubectl requests. The build generates
 * encoders from that file. This module converts the JSON form: maps become lists of pairs, alternatives are wrapped in
 * messages, and extensions, defaults and enum values become YAML text. Other members are copied.
 */
import protobuf from 'protobufjs/minimal.js'
import type { Plain } from '../language/declare.js'
import type { Representation } from '../resource.js'
import { Document, ParametersItem, PathItem, Schema } from './v2.proto.js'
import type { RemoteSpec } from './remote.js'
import type { Steps } from '../steps.js'
import { swaggerParts, type Entries, type OpenApiInfo } from './v2.js'

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

const LENGTH_DELIMITED = 2
const tag = (field: number): number => field << 3 | LENGTH_DELIMITED

/** Paths and Definitions: lists of name and encoded message. */
function writeEntries (writer: protobuf.Writer, field: number, pair: number, entries: Entries<Uint8Array>): void {
  writer.uint32(tag(field)).fork()
  for (const [name, bytes] of entries) {
    writer.uint32(tag(pair)).fork().uint32(tag(1)).string(name).uint32(tag(2)).bytes(bytes).ldelim()
  }
  writer.ldelim()
}

let last: unknown
let lastAny = { yaml: '' }
/** Each extension occurs twice with the same value, under both prefixes. */
function any (value: unknown): object {
  if (value !== last) lastAny = { yaml: `${JSON.stringify(last = value)}\n` }
  return lastAny
}

/** Converters of members. */
type Forms = Readonly<Record<string, (value: never) => unknown>>
/** Converts an object of the document. Each value has the type that its converter expects. */
function message (source: Plain, forms: Forms): Plain {
  const fields: Plain = {}
  const vendorExtension: object[] = []
  for (const name of Object.keys(source)) {
    const value = source[name]
    const form = forms[name]
    if (name.startsWith('x-')) vendorExtension.push({ name, value: any(value) })
    else if (name === '$ref') fields['_ref'] = value
    else if (value !== undefined) fields[name] = form === undefined ? value : form(value as never)
  }
  if (vendorExtension.length > 0) fields['vendorExtension'] = vendorExtension
  return fields
}
const pairs = (map: Plain, of: (value: Plain) => object) =>
  Object.keys(map).map(name => ({ name, value: of(map[name] as Plain) }))
/** Omits false. */
const flag = (value: unknown) => value === true ? true : undefined

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
const known = new WeakMap<Plain, Uint8Array>()
function parameterBytes (source: Plain): Uint8Array {
  let bytes = known.get(source)
  if (bytes === undefined) known.set(source, bytes = ParametersItem.encode({ parameter: parameterOf(source) }).finish())
  return bytes
}
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

const requirement = (source: Plain): object => ({ additionalProperties: pairs(source, value => ({ value })) })
const securityDefinitions = (source: Plain): object =>
  ({ additionalProperties: pairs(source, apiKey => ({ apiKeySecurity: message(apiKey, {}) })) })
