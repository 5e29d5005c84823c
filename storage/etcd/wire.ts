/**
 * The shapes of etcd's v3 messages that this back end uses, as the client hands them over: bytes as
 * Buffers, 64-bit integers as decimal strings.
 */
import type { KeyValue, Revision } from '../backend.js'

export interface WireHeader {
  readonly revision: string
}

export interface WireKeyValue {
  readonly key: Buffer
  readonly value: Buffer
  readonly create_revision: string
  readonly mod_revision: string
}

export interface WireRange {
  readonly header: WireHeader
  readonly kvs: readonly WireKeyValue[]
  readonly more: boolean
  readonly count: string
}

export interface WireTxn {
  readonly header: WireHeader
  readonly succeeded: boolean
  readonly responses: ReadonlyArray<{
    readonly response_range?: WireRange
    readonly response_put?: { readonly prev_kv: WireKeyValue | null }
    readonly response_delete_range?: { readonly prev_kvs: readonly WireKeyValue[] }
  }>
}

export interface WireEvent {
  readonly type: 'Put' | 'Delete'
  readonly kv: WireKeyValue
  readonly prev_kv: WireKeyValue | null
}

export interface WireWatchResponse {
  readonly header: WireHeader | null
  readonly created: boolean
  readonly canceled: boolean
  readonly compact_revision: string
  readonly cancel_reason: string
  readonly fragment: boolean
  readonly events: readonly WireEvent[]
}

export function revisionOf (message: { readonly header: WireHeader | null }): Revision {
  return message.header === null ? 0 : Number(message.header.revision)
}

export function keyValueOf (kv: WireKeyValue): KeyValue {
  return {
    key: kv.key.toString('latin1'),
    value: kv.value,
    createRevision: Number(kv.create_revision),
    modRevision: Number(kv.mod_revision)
  }
}

export function bytesOf (key: string): Buffer {
  return Buffer.from(key, 'latin1')
}
