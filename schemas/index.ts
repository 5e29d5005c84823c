/**
 * What `schemas/` offers to the folders above: the declared types, the resources, and pure functions derived from them.
 * Decoders throw only DecodeError; validation returns findings. Few processes need OpenAPI, so import
 * `schemas/openapi/v2.js` or `v3.js` by name.
 */
export type {
  ApiObject, Cell, Column, Deprecation, Representation, ResourceOptions, ResourceType, ResourceVerb, Strategy,
  Subresource, SubresourceView
} from './resource.js'
export { resource } from './resource.js'
export { findResource, representations, types } from './resources.js'
export { compareGroups, compareVersions } from './groups.js'
export type { Int64, ListOf, Message, Static } from './language/declare.js'
export type { FieldError, Status } from './status.js'

// Bytes to plain values, and back to YAML.
export { DecodeError, isDecodeError } from './language/decode-error.js'
export { parseExactly, stringify } from './codec/json/exact.js'
export { rawJson } from './codec/json/escape.js'
export { countValues, OF_BODIES, parseJson, UNBOUNDED } from './codec/json/parse.js'
export type { Parsed } from './codec/json/parse.js'
export { parseYaml } from './codec/yaml/yaml.js'
export { toYaml } from './codec/yaml/yaml-write.js'
export { indentedItem } from './codec/json/indented.js'
export { parseYamlBody, writeText, type Asker } from './codec/text-thread.js'
export type { TextForm } from './codec/text-thread.js'

// Plain values to objects.
export { decode } from './language/decode.js'
export { findingsOfJson, findingsOfYaml, strictFindings, warningsOf } from './language/strict-findings.js'
export type { Decoded } from './language/decode.js'
export { applyDefaults } from './language/defaults.js'
export { emptyField } from './language/plan.js'
export { sameMessages } from './language/presence.js'
export { removeUnstoredEmpty, withoutNulls } from './language/unset.js'
export { clone, putAt, sameValue, valueAt } from './language/values.js'
export { nextGeneration } from './meta/object.js'
export { timestamp } from './meta/time.js'

// Validation.
export {
  collect, validateMessage, validateObject, validateSubresource, validateUpdate, validateVersion
} from './language/validation.js'

// Objects to bytes.
export { fieldJson, joinJson, listJson, splitJson, toJson } from './codec/json/encode.js'
export type { SplitJson } from './codec/json/encode.js'
export {
  encodeMessage, encodeMessageOnce, encodeProtobuf, encodeProtobufList, encodeProtobufOnce, MAGIC as PROTOBUF_MAGIC,
  protobufListParts, protobufWatchFrame
} from './codec/protobuf/encode.js'
export { decodeMessage, decodeProtobuf, openEnvelope } from './codec/protobuf/decode.js'
export type { DecodedProtobuf, Envelope } from './codec/protobuf/decode.js'

// Selectors.
export { holdLabelSelector, NO_LABELS, parseLabelSelector } from './selectors/labels.js'
export type { LabelSelectorMatcher, Labels, Selector } from './selectors/labels.js'
export { fieldValues, holdFieldSelector, NO_FIELDS, parseFieldSelector } from './selectors/fields.js'
export type { FieldSelectorMatcher, FieldValues } from './selectors/fields.js'

// Tables.
export { tableColumns, tableRow } from './table.js'
export type { Tabular } from './table.js'
export type { TableColumnDefinition as TableColumn } from './meta/answers.js'
