/**
 * The Swagger document in protobuf, as the package openapi.v2 of the gnostic project numbers its messages (`v2.proto`):
 * what command-line clients ask for. Values of extensions, defaults and enumerations travel as YAML text, for which JSON serves.
 */
import type { Plain } from '../language/declare.js'
import { Writer } from '../codec/protobuf/wire.js'
import type { Representation } from '../resource.js'
import { any, delimited, each, flag, float, integer, kept, many, message, one, pairs, text, texts, wrap } from './protobuf-messages.js'
import type { Body } from './protobuf-messages.js'
import { swaggerParts } from './v2.js'
import type { OpenApiInfo } from './v2.js'

/** Bytes around the name and the value of a pair, at most. */
const AROUND = 16

export function * swaggerProtobuf (resources: readonly Representation[], info: OpenApiInfo): Generator<undefined, Buffer> {
  const writer = new Writer(64 * 1024)
  const finished = (body: Body) => (value: unknown): Buffer => {
    writer.reset()
    body(writer, value)
    return Buffer.from(writer.finish())
  }
  const { head, paths, definitions, tail } = yield * swaggerParts(resources, info, { path: finished(pathItem), definition: finished(schemaBody) })
  const size = [...paths, ...definitions].reduce((sum, [name, { length }]) => sum + name.length + length + AROUND, writer.size)
  const all = new Writer(size)
  documentBody(all, { ...head, paths: Object.fromEntries(paths), definitions: Object.fromEntries(definitions), ...tail })
  return all.finish()
}

const stringArray: Body = (writer, value) => texts(writer, 1, value)

const schema: Body = (writer, value) => schemaBody(writer, value)
const schemaBody = message({
  $ref: [1, text],
  format: [2, text],
  title: [3, text],
  description: [4, text],
  default: [5, one(any)],
  maximum: [7, float],
  minimum: [9, float],
  maxLength: [11, integer],
  pattern: [13, text],
  required: [19, texts],
  enum: [20, many(any)],
  additionalProperties: [21, one(wrap(1, schema))],
  type: [22, one((writer, value) => text(writer, 1, value))],
  items: [23, one(wrap(1, schema))],
  properties: [25, one(pairs(1, schema))]
}, 31)

const response = message({ description: [1, text], schema: [2, one(wrap(1, schema))] }, 5)

const bodyParameter = message({ description: [1, text], name: [2, text], in: [3, text], required: [4, flag], schema: [5, one(schema)] }, 6)
const located = { required: [1, flag], in: [2, text], description: [3, text], name: [4, text] } as const
const queryParameter = message({ ...located, type: [6, text], format: [7, text], uniqueItems: [20, flag] }, 23)
const pathParameter = message({ ...located, type: [5, text], format: [6, text], uniqueItems: [19, flag] }, 22)

/** ParametersItem → Parameter → body, or non-body → query or path. */
const anyParameter = wrap(1, (writer, value) => {
  switch ((value as Plain).in) {
    case 'body': return delimited(writer, 1, bodyParameter, value)
    case 'query': return delimited(writer, 2, wrap(3, queryParameter), value)
    case 'path': return delimited(writer, 2, wrap(4, pathParameter), value)
    default: throw new TypeError(`a parameter in ${String((value as Plain).in)} has no protobuf form here`)
  }
})

/* The same few stand in hundreds of operations and paths, under one number in each; bodies are of their operations. */
const inPath = kept(one(anyParameter))
const inOperation = kept(one(anyParameter))
const body = one(anyParameter)
const parameters = each((writer, number, value) => ((value as Plain).in === 'body' ? body : inOperation)(writer, number, value))

const operation = message({
  tags: [1, texts],
  summary: [2, text],
  description: [3, text],
  operationId: [5, text],
  produces: [6, kept(texts)],
  consumes: [7, kept(texts)],
  parameters: [8, parameters],
  responses: [9, one(pairs(1, wrap(1, response)))],
  schemes: [10, kept(texts)],
  deprecated: [11, flag]
}, 13)

const pathItem = message({
  get: [2, one(operation)],
  put: [3, one(operation)],
  post: [4, one(operation)],
  delete: [5, one(operation)],
  options: [6, one(operation)],
  head: [7, one(operation)],
  patch: [8, one(operation)],
  parameters: [9, each(inPath)]
}, 10)

const apiKey = message({ type: [1, text], name: [2, text], in: [3, text], description: [4, text] }, 5)

const finishedBody: Body = (writer, value) => writer.bytes(value as Uint8Array)

const documentBody = message({
  swagger: [1, text],
  info: [2, one(message({ title: [1, text], version: [2, text] }))],
  paths: [8, one(pairs(2, finishedBody))],
  definitions: [9, one(pairs(1, finishedBody))],
  security: [12, many(pairs(1, stringArray))],
  securityDefinitions: [13, one(pairs(1, wrap(2, apiKey)))]
}, 16)
