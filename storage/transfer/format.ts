/**
 * The format of a snapshot, for both kinds of stores:
 *
 *     file     = "orch-snapshot 1\n" header (lease | objects)* end
 *     frame    = length of the payload (4 bytes) · kind (1 byte) · payload · CRC-32 of all of these (4 bytes)
 *     header   = 'H', JSON: product, source, revision, prefix, taken, count if known
 *     lease    = 'L', JSON: id (1, 2, …), ttlSeconds, expires; before the objects that have it
 *     objects  = 'O', each: length of the key (2) · length of the value (4) · create revision (6) · revision (6) ·
 *                id of the lease, 0 for none (4) · key · value
 *     end      = 'E', JSON: objects, sha256 of all bytes before this frame
 *
 * Numbers are unsigned and big-endian. The checksum of a frame says where a file is damaged, the digest that nothing is
 * missing.
 */
import { crc32 } from 'node:zlib'

const NAME = 'orch-snapshot '
const FORMAT_VERSION = 1
export const MAGIC = Buffer.from(`${NAME}${FORMAT_VERSION}\n`, 'latin1')
export const FRAME_HEAD_BYTES = 5
export const CHECKSUM_BYTES = 4
export const OBJECT_HEAD_BYTES = 22
/**
 * More than any frame has: objects end a frame at `FULL_FRAME_BYTES`, and the largest value of an old store is far
 * smaller.
 */
export const MAX_PAYLOAD_BYTES = 256 * 1024 * 1024
export const FULL_FRAME_BYTES = 256 * 1024

export type Kind = 'H' | 'L' | 'O' | 'E'

export interface Header {
  /** Name and version of the program that wrote it. */
  readonly product: string
  readonly source: 'embedded' | 'etcd'
  readonly revision: number
  readonly prefix?: string
  readonly taken: number
  readonly count?: number
}

export interface End {
  readonly objects: number
  readonly sha256: string
}

/** @param pieces of the payload */
export function frame (kind: Kind, pieces: readonly Uint8Array[]): Buffer {
  const length = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)
  const bytes = Buffer.allocUnsafe(FRAME_HEAD_BYTES + length + CHECKSUM_BYTES)
  bytes.writeUInt32BE(length, 0)
  bytes.write(kind, 4, 'latin1')
  let at = FRAME_HEAD_BYTES
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.byteLength
  }
  bytes.writeUInt32BE(crc32(bytes.subarray(0, at)), at)
  return bytes
}

export const jsonFrame = (kind: Kind, value: object): Buffer => frame(kind, [Buffer.from(JSON.stringify(value))])

/** Describes why a file that begins with these bytes is not a snapshot that this release reads. */
export function faultOfMagic (bytes: Buffer): string | undefined {
  if (bytes.equals(MAGIC)) return undefined
  if (bytes.length < MAGIC.length && MAGIC.subarray(0, bytes.length).equals(bytes)) {
    return bytes.length === 0 ? 'it is empty' : `it is cut off after ${bytes.length} bytes`
  }
  const [, version] = new RegExp(`^${NAME}(\\d{1,9})\\n?`).exec(bytes.toString('latin1')) ?? []
  if (version === undefined || Number(version) === FORMAT_VERSION) return 'it is not a snapshot'
  return `it is of version ${version} of the format, this release reads version ${FORMAT_VERSION}: use the release ` +
    'that wrote it, or a newer one'
}
