/**
 * What the layers above know of `schemas/`: the declared types and the pure functions derived from them.
 * (Signatures first; bodies land file by file.)
 */
import type { Message, ListOf } from './declare.js'
import type { ApiObject, ResourceDefinition, Cell } from './resource.js'
import type { FieldError, Status } from './status.js'
import type { ListMeta } from './meta/v1.js'

export type { ApiObject, ResourceDefinition, Column, Cell, Subresource, ResourceVerb } from './resource.js'
export type { Message, Static } from './declare.js'
export type { FieldError, Status } from './status.js'

// --- parsing: bytes to plain values; each throws DecodeError only ---
export declare function parseJson (bytes: Uint8Array): { value: unknown, duplicates: string[] }
/** One YAML document (JSON is YAML). */
export declare function parseYaml (bytes: Uint8Array): { value: unknown, duplicates: string[] }

// --- plain value to object ---
/** Missing kind and apiVersion are filled in, others are refused. `unknown`: paths such as `spec.foo`, at most 100. */
export declare function decode<T> (message: Message<T>, value: unknown): { object: T, unknown: string[] }
/** `unknown field "spec.foo"`, `duplicate field "spec.foo"`: the sentences of fieldValidation Strict and Warn. */
export declare function strictFindings (unknown: readonly string[], duplicates: readonly string[]): string[]
/** In place. */
export declare function applyDefaults (message: Message, object: object): void
/** A deep copy that shares nothing that can be changed. */
export declare function clone<T extends object> (object: T): T

// --- validation; never throws ---
/** For a create. */
export declare function validateObject (resource: ResourceDefinition, object: ApiObject): FieldError[]
/** For an update: everything validateObject finds in `object`, and what may not change. */
export declare function validateUpdate (resource: ResourceDefinition, object: ApiObject, old: ApiObject): FieldError[]

// --- JSON ---
/** Compact wire JSON without a trailing newline. `resourceVersion` replaces that of the metadata. */
export declare function toJson<T> (message: Message<T>, object: T & object, resourceVersion?: string): string
/** The JSON cut where the resourceVersion goes: bytes = head + '"resourceVersion":"N",' + tail. */
export interface SplitJson { readonly head: Uint8Array, readonly tail: Uint8Array }
export declare function splitJson<T extends ApiObject> (message: Message<T>, object: T): SplitJson
export declare function joinJson (split: SplitJson, resourceVersion: string): Buffer
/** A list is head + items joined with ',' + tail. */
export declare function listJson (resource: ResourceDefinition, metadata: ListMeta): { head: string, tail: string }

// --- protobuf ---
/** With the magic prefix and the Unknown envelope. */
export declare function encodeProtobuf<T> (message: Message<T>, object: T & object): Buffer
/** The message alone: what items of a protobuf list are. */
export declare function encodeMessage<T> (message: Message<T>, object: T & object): Buffer
/** Opens the envelope and decodes it as `message`; kind and apiVersion are checked as in `decode`. */
export declare function decodeProtobuf<T> (message: Message<T>, bytes: Uint8Array): { object: T, unknown: string[], duplicates: string[] }
export declare function encodeProtobufList (resource: ResourceDefinition, metadata: ListMeta, items: readonly Uint8Array[]): Buffer
/** One frame of `application/vnd.orch.protobuf;stream=watch`, length prefix included; `object` is an encodeProtobuf result. */
export declare function protobufWatchFrame (type: string, object: Uint8Array): Buffer

// --- selectors; parse errors are DecodeErrors ---
export interface Selector<T> {
  /** Matches everything. */
  readonly empty: boolean
  readonly matches: (subject: T) => boolean
  /** Canonical text. */
  readonly text: string
}
export type LabelSelectorMatcher = Selector<Readonly<Record<string, string>> | undefined>
export interface FieldSelectorMatcher extends Selector<ApiObject> {
  /** Fields that must equal one value, such as metadata.name. */
  readonly exact: ReadonlyMap<string, string>
}
export declare function parseLabelSelector (text: string): LabelSelectorMatcher
export declare function parseFieldSelector (text: string, resource: ResourceDefinition): FieldSelectorMatcher

// --- Table ---
export interface TableColumn { name: string, type: string, format: string, description: string, priority: number }
export declare function tableColumns (resource: ResourceDefinition): TableColumn[]
/** `now` in milliseconds since the epoch. */
export declare function tableRow (resource: ResourceDefinition, object: ApiObject, now: number): Cell[]

// --- OpenAPI (import lazily: './openapi/v2.js') ---
export interface OpenApiInfo { title: string, version: string }
export declare function openapiV2 (resources: readonly ResourceDefinition[], info: OpenApiInfo): Record<string, unknown>
export declare function openapiV2Protobuf (document: Record<string, unknown>): Buffer

export type List<T> = ListOf<T, ListMeta>
export type StatusObject = Status
