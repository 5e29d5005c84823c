/**
 * The engine's records on disk. One LMDB table holds them all; the first byte of the key is the kind:
 *
 *     0 name                                    → format of the store, compacted revision
 *     1 lease id                                → time to live and end of a lease, JSON
 *     2 revision · created · lease · key        → the value; created 0 marks a deletion
 *     3 as kind 2                               → checksum · value
 *     4                                         → what the store contains, written with each batch: a `Totals`
 *
 * Numbers are unsigned 48-bit, big-endian, so versions are ordered by revision. The key describes a version completely,
 * so a start reads only keys. Versions of kind 2 come from the first format and are older than any of kind 3. Checksums
 * are CRC-32 of the record's key and value, so that a value under a wrong key is detected too.
 */
import { crc32 } from 'node:zlib'
import { isKey } from '../key.js'
import type { StoredVersion } from './medium.js'

export const FORMAT = 'orch-store 2'
export const FIRST_FORMAT = 'orch-store 1'
export const LEASES_START = Buffer.from([1])
export const VERSIONS_START = Buffer.from([2])
export const VERSIONS_END = Buffer.from([4])
export const TOTALS_KEY = Buffer.from([4])

export const UNCHECKED = 2
export const CHECKED = 3
const KEY_HEADER_BYTES = 19
const CHECKSUM_BYTES = 4
const TOTALS_BYTES = 16

/** The contents of the store after a batch, as counts and checksums. */
export interface Totals {
  /** The newest revision ever written. */
  readonly revision: number
  /** Number of versions. */
  readonly versions: number
  /** Sum of the checksums of all version keys, computed by `addKey`. */
  readonly keys: number
}

export function metaKey (name: 'format' | 'compacted'): Buffer {
  return Buffer.from(`\0${name}`, 'latin1')
}

export function leaseKey (id: number): Buffer {
  const bytes = Buffer.allocUnsafe(7)
  bytes[0] = 1
  bytes.writeUIntBE(id, 1, 6)
  return bytes
}

export function leaseIdOf (bytes: Uint8Array): number {
  return asBuffer(bytes).readUIntBE(1, 6)
}

const scratch = Buffer.alloc(KEY_HEADER_BYTES + 2048)

/**
 * The record key of a version, valid until the next call, because LMDB copies keys immediately.
 * @param kind `UNCHECKED` or `CHECKED`
 */
export function versionKey (kind: number, version: {
  readonly revision: number, readonly created: number, readonly lease: number, readonly entry: { readonly key: string }
}): Uint8Array {
  const { key } = version.entry
  scratch[0] = kind
  scratch.writeUIntBE(version.revision, 1, 6)
  scratch.writeUIntBE(version.created, 7, 6)
  scratch.writeUIntBE(version.lease, 13, 6)
  scratch.write(key, KEY_HEADER_BYTES, 'latin1')
  return scratch.subarray(0, KEY_HEADER_BYTES + key.length)
}

/** @throws RangeError for bytes that are not a version's key */
export function parseVersionKey (bytes: Uint8Array): StoredVersion & { readonly kind: number } {
  const buffer = asBuffer(bytes)
  const revision = buffer.readUIntBE(1, 6)
  const created = buffer.readUIntBE(7, 6)
  const key = buffer.toString('latin1', KEY_HEADER_BYTES)
  if (created > revision || !isKey(key)) {
    throw new RangeError(`the record of revision ${revision} has a key that no version has`)
  }
  return { kind: buffer[0] ?? 0, revision, created, lease: buffer.readUIntBE(13, 6), key }
}

/** Adds the checksum to a value, for kind `CHECKED`. */
export function seal (recordKey: Uint8Array, value: Uint8Array): Buffer {
  const sealed = Buffer.allocUnsafe(CHECKSUM_BYTES + value.byteLength)
  sealed.writeUInt32BE(crc32(value, crc32(recordKey)), 0)
  sealed.set(value, CHECKSUM_BYTES)
  return sealed
}

/** A view of the value; undefined if it was not sealed with that key. */
export function unseal (recordKey: Uint8Array, sealed: Uint8Array): Uint8Array | undefined {
  if (sealed.byteLength < CHECKSUM_BYTES) return undefined
  const value = sealed.subarray(CHECKSUM_BYTES)
  return crc32(value, crc32(recordKey)) === asBuffer(sealed).readUInt32BE(0) ? value : undefined
}

/** Adds a key to the sum, or subtracts it. */
export const addKey = (keys: number, key: Uint8Array, by: 1 | -1): number => (keys + by * crc32(key)) >>> 0

export function formatTotals ({ revision, versions, keys }: Totals): Buffer {
  const bytes = Buffer.alloc(TOTALS_BYTES)
  bytes.writeUIntBE(revision, 0, 6)
  bytes.writeUIntBE(versions, 6, 6)
  bytes.writeUInt32BE(keys, 12)
  return seal(TOTALS_KEY, bytes)
}

/** Describes how the records differ from the totals; undefined if they match. */
export function describeTotalsMismatch (counted: Totals, totals: Totals): string | undefined {
  if (counted.versions !== totals.versions) {
    return `it has ${counted.versions} versions of objects where there are to be ${totals.versions}`
  }
  if (counted.revision > totals.revision) {
    return `it has revision ${counted.revision}, where the newest is to be ${totals.revision}`
  }
  return counted.keys === totals.keys ? undefined : 'the keys of its versions are not those that were written'
}

/** Undefined if damaged. */
export function parseTotals (sealed: Uint8Array): Totals | undefined {
  const bytes = unseal(TOTALS_KEY, sealed)
  if (bytes === undefined || bytes.byteLength !== TOTALS_BYTES) return undefined
  return {
    revision: asBuffer(bytes).readUIntBE(0, 6), versions: asBuffer(bytes).readUIntBE(6, 6),
    keys: asBuffer(bytes).readUInt32BE(12)
  }
}

/** @throws RangeError if unreadable */
export function parseLease (value: Uint8Array): { ttlSeconds: number, expires: number } {
  const parsed: unknown = JSON.parse(Buffer.from(value).toString('utf8'))
  if (typeof parsed === 'object' && parsed !== null && 'ttlSeconds' in parsed && 'expires' in parsed &&
    typeof parsed.ttlSeconds === 'number' && typeof parsed.expires === 'number') {
    return { ttlSeconds: parsed.ttlSeconds, expires: parsed.expires }
  }
  throw new RangeError('a lease in the store can not be read')
}

function asBuffer (bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
