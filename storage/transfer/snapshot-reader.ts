/**
 * Reads a snapshot (`format.ts`) in pieces. Trust the objects only after `objects` has ended without an error: the last
 * frame holds their number and digest.
 */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { isKey } from '../key.js'
import { ByteSource } from './byte-source.js'
import type { StoreReader, Lease, StoredObject } from './stores.js'
import {
  CHECKSUM_BYTES, type End, faultOfMagic, FRAME_HEAD_BYTES, type Header, type Kind, MAGIC, MAX_PAYLOAD_BYTES,
  OBJECT_HEAD_BYTES
} from './format.js'

/** The message describes what is wrong with a snapshot, and where. */
export class SnapshotError extends Error {}

interface Frame {
  readonly kind: Kind
  readonly payload: Buffer
  /** Offset in the file. */
  readonly at: number
}

/** @throws SnapshotError from here and from `objects` */
export async function readSnapshot (
  chunks: AsyncIterable<Uint8Array>
): Promise<StoreReader & { readonly product: string }> {
  const reader = new Reader(chunks)
  const { product, source, revision, taken, prefix, count } = await reader.header()
  return {
    product, source, revision, takenAt: taken, prefix, count, objects: () => reader.objects(revision),
    unchanged: async () => {}, close: async () => { await reader.close() }
  }
}

class Reader {
  readonly #bytes: ByteSource
  readonly #digest = createHash('sha256')
  readonly #leases: Lease[] = []

  constructor (chunks: AsyncIterable<Uint8Array>) {
    this.#bytes = new ByteSource(chunks)
  }

  async close (): Promise<void> { await this.#bytes.close() }

  async header (): Promise<Header> {
    const magic = await this.#bytes.take(MAGIC.length)
    const fault = faultOfMagic(magic)
    if (fault !== undefined) throw new SnapshotError(fault)
    this.#digest.update(magic)
    const frame = await this.#frame()
    if (frame.kind !== 'H') throw damaged(frame.at, 'is not the header')
    return headerOf(frame)
  }

  async * objects (revision: number): AsyncGenerator<readonly StoredObject[]> {
    let objects = 0
    for (;;) {
      const before = this.#digest.copy()
      const frame = await this.#frame()
      if (frame.kind === 'L') this.#leases.push(leaseOf(frame, this.#leases.length + 1))
      else if (frame.kind === 'O') {
        const batch = this.#objectsOf(frame, revision)
        objects += batch.length
        yield batch
      } else if (frame.kind === 'E') {
        const end = parsed<End>(frame)
        if (end.objects !== objects) {
          throw new SnapshotError(
            `it has ${objects} objects where there are to be ${end.objects}: parts are missing or repeated`
          )
        }
        if (end.sha256 !== before.digest('hex')) {
          throw new SnapshotError('its digest is not that of its contents: it was altered')
        }
        if ((await this.#bytes.take(1)).length > 0) {
          throw new SnapshotError(`it continues after its end at byte ${this.#bytes.position - 1}`)
        }
        return
      } else throw damaged(frame.at, 'is of no known kind')
    }
  }

  async #frame (): Promise<Frame> {
    const at = this.#bytes.position
    const head = await this.#whole(FRAME_HEAD_BYTES, at)
    const length = head.readUInt32BE(0)
    if (length > MAX_PAYLOAD_BYTES) throw damaged(at, `has the impossible length ${length}`)
    const rest = await this.#whole(length + CHECKSUM_BYTES, at)
    const payload = rest.subarray(0, length)
    if (crc32(payload, crc32(head)) !== rest.readUInt32BE(length)) throw damaged(at, 'does not have its checksum')
    this.#digest.update(head).update(rest)
    return { kind: head.toString('latin1', 4) as Kind, payload, at } // compared with the known ones by the callers
  }

  async #whole (length: number, at: number): Promise<Buffer> {
    const bytes = await this.#bytes.take(length)
    if (bytes.length < length) {
      throw new SnapshotError(`it is cut off at byte ${this.#bytes.position}, in the part that begins at byte ${at}`)
    }
    return bytes
  }

  #objectsOf ({ payload, at }: Frame, newest: number): StoredObject[] {
    const objects: StoredObject[] = []
    for (let from = 0; from < payload.length;) {
      if (payload.length - from < OBJECT_HEAD_BYTES) throw damaged(at, 'ends within an object')
      const keyEnd = from + OBJECT_HEAD_BYTES + payload.readUInt16BE(from)
      const end = keyEnd + payload.readUInt32BE(from + 2)
      if (end > payload.length) throw damaged(at, 'ends within an object')
      const createRevision = payload.readUIntBE(from + 6, 6)
      const modRevision = payload.readUIntBE(from + 12, 6)
      const lease = payload.readUInt32BE(from + 18)
      const key = payload.toString('latin1', from + OBJECT_HEAD_BYTES, keyEnd)
      if (!isKey(key) || createRevision < 1 || createRevision > modRevision || modRevision > newest ||
        lease > this.#leases.length) throw damaged(at, 'has an impossible object')
      objects.push({
        key, value: payload.subarray(keyEnd, end), createRevision, modRevision, lease: this.#leases[lease - 1]
      })
      from = end
    }
    return objects
  }
}

const damaged = (at: number, what: string): SnapshotError =>
  new SnapshotError(`the part at byte ${at} ${what}: it was altered or damaged`)

function parsed<T> ({ payload, at }: Frame): Partial<T> {
  try {
    const value: unknown = JSON.parse(payload.toString('utf8'))
    if (typeof value === 'object' && value !== null) return value // its members are checked by the callers
  } catch {}
  throw damaged(at, 'is no JSON')
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

function headerOf (frame: Frame): Header {
  const { product, source, revision, taken, prefix, count } = parsed<Header>(frame)
  if ((source !== 'embedded' && source !== 'etcd') || !isCount(revision) || !isCount(taken) ||
    typeof product !== 'string' ||
    (prefix !== undefined && typeof prefix !== 'string') ||
      (count !== undefined && !isCount(count))) throw damaged(frame.at, 'is not the header')
  return {
    product, source, revision, taken, ...(prefix === undefined ? {} : { prefix }),
    ...(count === undefined ? {} : { count })
  }
}

function leaseOf (frame: Frame, expected: number): Lease {
  const { id, ttlSeconds, expires } = parsed<Lease & { readonly id: number }>(frame)
  if (id !== expected || !isCount(ttlSeconds) || ttlSeconds === 0 || !isCount(expires)) {
    throw damaged(frame.at, 'is no lease')
  }
  return { ttlSeconds, expires }
}
