/** Writes a snapshot of a store (`format.ts`). */
import { createHash } from 'node:crypto'
import { bytesOf, type StoreReader, type Lease, type StoredObject } from './stores.js'
import { frame, FULL_FRAME_BYTES, type Header, jsonFrame, MAGIC, OBJECT_HEAD_BYTES } from './format.js'

/** @param bytes of keys and values in these objects */
export type OnWritten = (objects: number, bytes: number) => void

/**
 * The bytes of a snapshot, in chunks of about a mebibyte.
 * @throws StorageError as the reader
 */
export async function * snapshotOf (
  reader: StoreReader, product: string, onWritten: OnWritten
): AsyncGenerator<Buffer> {
  const digest = createHash('sha256')
  const hashed = (frames: readonly Buffer[]): Buffer => {
    const chunk = Buffer.concat(frames)
    digest.update(chunk)
    return chunk
  }
  const { source, revision, takenAt: taken, prefix, count } = reader
  const header: Header = {
    product, source, revision, taken, ...(prefix === undefined ? {} : { prefix }),
    ...(count === undefined ? {} : { count })
  }
  yield hashed([MAGIC, jsonFrame('H', header)])
  const leases = new Map<Lease, number>()
  let objects = 0
  for await (const batch of reader.objects()) {
    const frames = leaseFrames(batch, leases)
    let waiting: Uint8Array[] = []
    let bytes = 0
    let all = 0
    for (const object of batch) {
      waiting.push(headOf(object, object.lease === undefined ? 0 : leases.get(object.lease) ?? 0), object.value)
      bytes += OBJECT_HEAD_BYTES + bytesOf(object)
      all += bytesOf(object)
      if (bytes < FULL_FRAME_BYTES) continue
      frames.push(frame('O', waiting))
      waiting = []
      bytes = 0
    }
    if (waiting.length > 0) frames.push(frame('O', waiting))
    objects += batch.length
    yield hashed(frames)
    onWritten(batch.length, all)
  }
  yield jsonFrame('E', { objects, sha256: digest.digest('hex') })
}

/** Numbers the leases that occur for the first time. */
function leaseFrames (batch: readonly StoredObject[], leases: Map<Lease, number>): Buffer[] {
  const frames: Buffer[] = []
  for (const { lease } of batch) {
    if (lease === undefined || leases.has(lease)) continue
    leases.set(lease, leases.size + 1)
    frames.push(jsonFrame('L', { id: leases.size, ttlSeconds: lease.ttlSeconds, expires: lease.expires }))
  }
  return frames
}

function headOf ({ key, value, createRevision, modRevision }: StoredObject, lease: number): Buffer {
  const head = Buffer.allocUnsafe(OBJECT_HEAD_BYTES + key.length)
  head.writeUInt16BE(key.length, 0)
  head.writeUInt32BE(value.byteLength, 2)
  head.writeUIntBE(createRevision, 6, 6)
  head.writeUIntBE(modRevision, 12, 6)
  head.writeUInt32BE(lease, 18)
  head.write(key, OBJECT_HEAD_BYTES, 'latin1')
  return head
}
