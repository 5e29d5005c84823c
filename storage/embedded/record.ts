/**
 * How the engine's records look on disk. One table of LMDB holds three kinds, told apart by their first
 * byte:
 *
 *     0 name                                    → what the store is, how far it is compacted
 *     1 lease id                                → time to live and end of a lease, JSON
 *     2 revision · created · lease · key        → the value; created 0 marks a deletion
 *
 * Numbers are unsigned 48-bit, big-endian, so records of versions are ordered by revision. A version's
 * whole description stands in the key: a start reads keys only and never touches a value.
 */
import type { StoredVersion } from './medium.js'

export const FORMAT = 'orch-store 1'
export const VERSIONS_START = Buffer.from([2])
export const VERSIONS_END = Buffer.from([3])
export const LEASES_START = Buffer.from([1])

const FIXED = 19

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

const scratch = Buffer.alloc(FIXED + 2048)
scratch[0] = 2

/** The record key of a version, valid until the next call: LMDB copies keys at once. */
export function versionKey (version: { readonly revision: number, readonly created: number, readonly lease: number, readonly entry: { readonly key: string } }): Uint8Array {
  const { key } = version.entry
  scratch.writeUIntBE(version.revision, 1, 6)
  scratch.writeUIntBE(version.created, 7, 6)
  scratch.writeUIntBE(version.lease, 13, 6)
  scratch.write(key, FIXED, 'latin1')
  return scratch.subarray(0, FIXED + key.length)
}

/** @throws RangeError when the bytes are no version's key */
export function parseVersionKey (bytes: Uint8Array): StoredVersion {
  const buffer = asBuffer(bytes)
  return {
    revision: buffer.readUIntBE(1, 6),
    created: buffer.readUIntBE(7, 6),
    lease: buffer.readUIntBE(13, 6),
    key: buffer.toString('latin1', FIXED)
  }
}

function asBuffer (bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
