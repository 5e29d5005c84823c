/**
 * The Swagger document in protobuf, as the package openapi.v2 of the gnostic project has it (`v2.proto`): what command-line
 * clients ask for. protobufjs writes it, by code that the build makes of that file. Here a member of the JSON form becomes the
 * field of the message: a map becomes a list of pairs, one of several forms stands in a message around it, and values of
 * extensions, defaults and enumerations travel as YAML text, for which JSON serves.
 *
 * Fields with the name and form that they have in JSON are taken as they are.
 */
import protobuf from 'protobufjs/minimal.js'
import type { Plain } from '../language/declare.js'
import type { Representation } from '../resource.js'
import { Document, ParametersItem, PathItem, Schema } from './v2.proto.js'
import { swaggerParts } from './v2.js'
import type { Entries, OpenApiInfo } from './v2.js'

export function * swaggerProtobuf (resources: readonly Representation[], info: OpenApiInfo): Generator<undefined, Buffer> {
  const { head, paths, definitions, tail } = yield * swaggerParts(resources, info, {
    path: item => PathItem.encode(pathItem(item)).finish(),
    definition: definition => Schema.encode(schema(definition)).finish()
  })
  const writer = Document.encode(head, protobuf.Writer.create())
  writeEntries(writer, 8, 2, paths)
  writeEntries(writer, 9, 1, definitions)
  return Document.encode({ security: (tail['security'] as Plain[]).map(requirement), securityDefinitions: securityDefinitions(tail['securityDefinitions'] as Plain) }, writer).finish() as Buffer // in Node it is one
}

const LENGTH_DELIMITED = 2
const tag = (field: number): number => field << 3 | LENGTH_DELIMITED

/** A field of the document whose values are bytes already: Paths and Definitions are lists of pairs of a name and a message. */
function writeEntries (writer: protobuf.Writer, field: number, pair: number, entries: Entries<Uint8Array>): void {
  writer.uint32(tag(field)).fork()
  for (const [name, bytes] of entries) writer.uint32(tag(pair)).fork().uint32(tag(1)).string(name).uint32(tag(2)).bytes(bytes).ldelim()
  writer.ldelim()
}

let last: unknown
let lastAny = { yaml: '' }
/** Extensions come in pairs of one value. */
function any (value: unknown): object {
  if (value !== last) lastAny = { yaml: `${JSON.stringify(last = value)}\n` }
  return lastAny
}

/** What becomes of a member; others are taken as they are. */
type Forms = Readonly<Record<string, (value: never) => unknown>>
/** A message from an object of the document, whose members have the values that `forms` takes. */
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
const pairs = (map: Plain, of: (value: Plain) => object) => Object.keys(map).map(name => ({ name, value: of(map[name] as Plain) }))
/** False is not written. */
const flag = (value: unknown) => value === true ? true : undefined

const SCHEMA: Forms = {
  default: any,
  enum: (values: unknown[]) => values.map(any),
  additionalProperties: (of: Plain) => ({ schema: schema(of) }),
  type: (type: string) => ({ value: [type] }),
  items: (of: Plain) => ({ schema: [schema(of)] }),
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
    default: throw new TypeError(`a parameter in ${String(source['in'])} has no protobuf form here`)
  }
}

/** The same few objects stand in hundreds of operations and paths: their bytes are kept. */
const known = new WeakMap<Plain, Uint8Array>()
function parameterBytes (source: Plain): Uint8Array {
  let bytes = known.get(source)
  if (bytes === undefined) known.set(source, bytes = ParametersItem.encode({ parameter: parameterOf(source) }).finish())
  return bytes
}
const parameters = (list: Plain[]): Uint8Array[] => list.map(parameterBytes)

const OPERATION: Forms = { parameters, responses: (map: Plain) => ({ responseCode: pairs(map, response) }), deprecated: flag }
const operation = (source: Plain): object => message(source, OPERATION)
const PATH_ITEM: Forms = { get: operation, put: operation, post: operation, delete: operation, options: operation, head: operation, patch: operation, parameters }
const pathItem = (source: Plain): object => message(source, PATH_ITEM)

const requirement = (source: Plain): object => ({ additionalProperties: pairs(source, value => ({ value })) })
const securityDefinitions = (source: Plain): object => ({ additionalProperties: pairs(source, apiKey => ({ apiKeySecurity: message(apiKey, {}) })) })
