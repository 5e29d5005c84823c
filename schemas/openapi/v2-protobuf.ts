/**
 * The Swagger document in protobuf, as the package openapi.v2 of the gnostic project numbers its messages: what
 * command-line clients ask for. Values of extensions, defaults and enumerations travel as YAML text, for which JSON serves.
 */
import type { Plain } from '../declare.js'
import { Writer, bytesTag } from '../protobuf/wire.js'
import type { OpenApiDocument } from './v2.js'

/** Writes the body of one message, or the value of one field with its length. */
type Body = (writer: Writer, value: unknown) => void
interface Member { readonly number: number, readonly write: (writer: Writer, number: number, value: unknown) => void }
type Members = Readonly<Record<string, Member>>

export function openapiV2Protobuf (document: OpenApiDocument): Buffer {
  const writer = new Writer(64 * 1024)
  documentBody(writer, document)
  return writer.finish()
}

/* The writer runs backwards: of everything, the last comes first. */
function delimited (writer: Writer, number: number, body: Body, value: unknown): void {
  const start = writer.length
  body(writer, value)
  writer.varint(writer.length - start)
  writer.varint(bytesTag(number))
}

const text: Member['write'] = (writer, number, value) => {
  writer.string(String(value))
  writer.varint(bytesTag(number))
}
const flag: Member['write'] = (writer, number, value) => {
  if (value !== true) return
  writer.varint(1)
  writer.varint(number << 3)
}
const integer: Member['write'] = (writer, number, value) => {
  writer.integer(Number(value))
  writer.varint(number << 3)
}
const float: Member['write'] = (writer, number, value) => {
  writer.double(Number(value))
  writer.varint(number << 3 | 1)
}
const texts: Member['write'] = (writer, number, value) => {
  for (const item of [...value as string[]].reverse()) text(writer, number, item)
}
const one = (body: Body): Member['write'] => (writer, number, value) => delimited(writer, number, body, value)
const many = (body: Body): Member['write'] => (writer, number, value) => {
  for (const item of [...value as unknown[]].reverse()) delimited(writer, number, body, item)
}

/** A message that is known by the members of its JSON; `extensions` is the number its x- members go to. */
function message (members: Readonly<Record<string, readonly [number, Member['write']]>>, extensions?: number): Body {
  const known: Members = Object.fromEntries(Object.entries(members).map(([name, [number, write]]) => [name, { number, write }]))
  const order = Object.entries(known).sort(([, a], [, b]) => b.number - a.number)
  return (writer, value) => {
    const source = value as Plain // every caller hands over an object of the document
    if (extensions !== undefined) {
      for (const name of Object.keys(source).filter(key => key.startsWith('x-')).reverse()) delimited(writer, extensions, named(any), [name, source[name]])
    }
    for (const [name, { number, write }] of order) if (source[name] !== undefined) write(writer, number, source[name])
  }
}

/** A pair of name and value. */
const named = (body: Body): Body => (writer, value) => {
  const [name, inner] = value as [string, unknown]
  delimited(writer, 2, body, inner)
  text(writer, 1, name)
}

/** A map as a message with a list of pairs. */
const pairs = (number: number, body: Body): Body => (writer, value) => {
  for (const entry of Object.entries(value as Plain).reverse()) delimited(writer, number, named(body), entry)
}

/** A message around one field. */
const wrap = (number: number, body: Body): Body => (writer, value) => delimited(writer, number, body, value)

const any: Body = (writer, value) => text(writer, 2, `${JSON.stringify(value)}\n`)
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
const parameter = wrap(1, (writer, value) => {
  switch ((value as Plain).in) {
    case 'body': return delimited(writer, 1, bodyParameter, value)
    case 'query': return delimited(writer, 2, wrap(3, queryParameter), value)
    case 'path': return delimited(writer, 2, wrap(4, pathParameter), value)
    default: throw new TypeError(`a parameter in ${String((value as Plain).in)} has no protobuf form here`)
  }
})

const operation = message({
  tags: [1, texts],
  summary: [2, text],
  description: [3, text],
  operationId: [5, text],
  produces: [6, texts],
  consumes: [7, texts],
  parameters: [8, many(parameter)],
  responses: [9, one(pairs(1, wrap(1, response)))],
  schemes: [10, texts],
  deprecated: [11, flag]
}, 13)

const pathItem = message({
  get: [2, one(operation)],
  put: [3, one(operation)],
  post: [4, one(operation)],
  delete: [5, one(operation)],
  patch: [8, one(operation)],
  parameters: [9, many(parameter)]
}, 10)

const apiKey = message({ type: [1, text], name: [2, text], in: [3, text], description: [4, text] }, 5)

const documentBody = message({
  swagger: [1, text],
  info: [2, one(message({ title: [1, text], version: [2, text] }))],
  paths: [8, one(pairs(2, pathItem))],
  definitions: [9, one(pairs(1, schema))],
  security: [12, many(pairs(1, stringArray))],
  securityDefinitions: [13, one(pairs(1, wrap(2, apiKey)))]
}, 16)
