/**
 * What the layers above know of `schemas/`: the declared types, the resources, and the pure functions derived from them.
 * Decoders throw DecodeError and nothing else; validation returns findings; nothing here does I/O or knows HTTP.
 * OpenAPI is not among them, because few processes need it: import `schemas/openapi/v2.js` when it is asked for.
 */
export type { ApiObject, Cell, Column, ResourceDefinition, ResourceOptions, ResourceVerb, Subresource } from './resource.js'
export { resource } from './resource.js'
export { resources, findResource } from './resources.js'
export type { ListOf, Message, Static } from './declare.js'
export type { FieldError, Status } from './status.js'

// Bytes to plain values, and back to YAML.
export { DecodeError, isDecodeError } from './decode-error.js'
export { MAX_VALUES, parseJson } from './json/parse.js'
export type { Parsed } from './json/parse.js'
export { parseYaml } from './yaml.js'
export { toYaml } from './yaml-write.js'
export { parseYamlBody } from './yaml-thread.js'

// Plain values to objects.
export { decode, strictFindings } from './decode.js'
export type { Decoded } from './decode.js'
export { applyDefaults } from './defaults.js'
export { clone, sameValue } from './values.js'
export { timestamp } from './time.js'

// Validation.
export { validateMessage, validateObject, validateUpdate } from './validation.js'

// Objects to bytes.
export { joinJson, listJson, splitJson, toJson } from './json/encode.js'
export type { SplitJson } from './json/encode.js'
export { encodeMessage, encodeMessageOnce, encodeProtobuf, encodeProtobufList, MAGIC as PROTOBUF_MAGIC, protobufListParts, protobufWatchFrame } from './protobuf/encode.js'
export { decodeMessage, decodeProtobuf, openEnvelope } from './protobuf/decode.js'
export type { DecodedProtobuf, Envelope } from './protobuf/decode.js'

// Selectors.
export { NO_LABELS, parseLabelSelector } from './selectors/labels.js'
export type { LabelSelectorMatcher, Labels, Selector } from './selectors/labels.js'
export { fieldValues, NO_FIELDS, parseFieldSelector } from './selectors/fields.js'
export type { FieldSelectorMatcher, FieldValues } from './selectors/fields.js'

// Tables.
export { tableColumns, tableRow } from './table.js'
export type { TableColumnDefinition as TableColumn } from './meta/answers.js'
