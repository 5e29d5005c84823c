import t from 'tap'
import { createHash } from 'node:crypto'
import type { StoreReader, Lease, StoredObject } from '../../../storage/transfer/stores.js'
import { FRAME_HEAD_BYTES, jsonFrame, MAGIC } from '../../../storage/transfer/format.js'
import { readSnapshot, SnapshotError } from '../../../storage/transfer/snapshot-reader.js'
import { snapshotOf } from '../../../storage/transfer/snapshot-writer.js'

const contents = (batches: readonly StoredObject[][]): StoreReader => ({
  source: 'embedded', revision: 1000, takenAt: 5000, prefix: undefined, count: batches.flat().length,
  unchanged: async () => {}, close: async () => {}, objects: async function * () { yield * batches }
})
const object = (key: string, value: string | Buffer, revision: number, lease?: Lease): StoredObject => ({
  key, value: Buffer.from(value), createRevision: 1, modRevision: revision, lease
})

async function written (batches: readonly StoredObject[][]): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of snapshotOf(contents(batches), 'orch-apiserver 1.2.3', () => {})) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Reads the snapshot in chunks of that size. */
async function read (
  bytes: Uint8Array, size = 1000
): Promise<{ contents: StoreReader & { readonly product: string }, objects: StoredObject[] }> {
  const found = await readSnapshot((async function * () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  })())
  const objects: StoredObject[] = []
  for await (const batch of found.objects()) objects.push(...batch)
  return { contents: found, objects }
}

const [lease, other] = [{ ttlSeconds: 3600, expires: 9_000_000 }, { ttlSeconds: 3600, expires: 9_000_000 }]
const SMALL = [
  [
    object('/registry/a', 'one', 7), object('/registry/b', '', 8, lease),
    object('/registry/c', Buffer.from([0, 255, 10, 13]), 9, lease)
  ],
  [object('/registry/d', 'four', 1000, other)]
]
const small = await written(SMALL)

/** Offsets at which a part begins or ends. */
function bounds (bytes: Buffer): number[] {
  const found = [MAGIC.length]
  for (let at = MAGIC.length; at < bytes.length;) {
    at += FRAME_HEAD_BYTES + bytes.readUInt32BE(at) + 4
    found.push(at)
  }
  return found
}

t.test('contents are read as they were written, in chunks of any size', async t => {
  for (const size of [1, 7, 64 * 1024]) {
    const { contents: { product, revision, takenAt, source, count, prefix }, objects } = await read(small, size)
    t.strictSame(
      { product, revision, takenAt, source, count, prefix },
      {
        product: 'orch-apiserver 1.2.3', revision: 1000, takenAt: 5000, source: 'embedded', count: 4, prefix: undefined
      }
    )
    t.same(objects.map(({ value, ...rest }) => ({ ...rest, value: Buffer.from(value) })), SMALL.flat())
    t.equal(objects[1]?.lease, objects[2]?.lease, 'values with one lease have one again')
    t.not(objects[2]?.lease, objects[3]?.lease, 'and two leases stay two')
  }
  const many = Array.from(
    { length: 5 },
    (_, at) => Array.from(
      { length: 400 },
      (_, index) => object(
        `/registry/${at}/${index}`, Buffer.alloc(at === 3 ? 5000 : 2000, index),
        at * 400 + index + 1 <= 1000 ? at * 400 + index + 1 : 1000
      )
    )
  )
  t.equal((await read(await written(many), 65536)).objects.length, 2000)
  t.strictSame((await read(await written([]))).objects, [], 'an empty store too')
})

t.test('a file that is cut off anywhere is refused, and says where', async t => {
  for (let length = 0; length < small.length; length++) {
    const why: unknown = await read(small.subarray(0, length)).then(() => undefined, (error: unknown) => error)
    if (!(why instanceof SnapshotError) || !/^it is (empty|cut off (after|at byte) \d+)/.test(why.message)) {
      t.fail(`cut off after ${length} bytes: ${String(why)}`)
    }
  }
  for (const at of bounds(small).slice(0, -1)) {
    await t.rejects(read(small.subarray(0, at)), {
      message: `it is cut off at byte ${at}, in the part that begins at byte ${at}`
    })
  }
})

t.test('a changed byte is refused wherever it is', async t => {
  for (let at = 0; at < small.length; at++) {
    const changed = Buffer.from(small)
    changed[at] = (changed[at] ?? 0) ^ (1 << at % 8)
    const why: unknown = await read(changed).then(() => undefined, (error: unknown) => error)
    if (!(why instanceof SnapshotError)) t.fail(`changed at ${at}: ${String(why)}`)
  }
  const value = Buffer.from(small)
  value.write('ONE', small.indexOf('/registry/aone') + 11)
  const part = bounds(small).findLast(at => at < small.indexOf('/registry/aone'))
  await t.rejects(read(value), {
    message: `the part at byte ${part} does not have its checksum: it was altered or damaged`
  })
})

t.test('parts that are left out, repeated, swapped or added are refused', async t => {
  const [start = 0, ...ends] = bounds(small)
  const parts = ends.map((end, at) => small.subarray(at === 0 ? start : ends[at - 1], end))
  const [header = MAGIC, lease1 = MAGIC, objects1 = MAGIC, lease2 = MAGIC, objects2 = MAGIC, end = MAGIC] = parts
  t.equal(parts.length, 6)
  const cases = {
    'objects left out': [header, lease1, lease2, objects2, end],
    'objects repeated': [header, lease1, objects1, objects1, lease2, objects2, end],
    swapped: [header, lease1, objects1, lease2, objects2, end].toSpliced(1, 0, lease2),
    'no header': [lease1, objects1, end],
    'objects before their lease': [header, objects1, lease1, lease2, objects2, end],
    'a header of another file': [
      jsonFrame('H', { product: 'other', source: 'embedded', revision: 1000, taken: 1 }), lease1, objects1, lease2,
      objects2, end
    ],
    'an end of another file': [
      header, lease1, objects1, lease2, objects2,
      jsonFrame('E', { objects: 4, sha256: createHash('sha256').update('other').digest('hex') })
    ],
    'something after the end': [...parts, Buffer.from('x')],
    'a part of no known kind': [header, jsonFrame('X' as 'E', {}), ...parts.slice(1)]
  }
  for (const [name, found] of Object.entries(cases)) {
    await t.rejects(
      read(Buffer.concat([MAGIC, ...found])),
      /altered or damaged|missing or repeated|it was altered|continues after its end/, name
    )
  }
  t.equal((await read(Buffer.concat([MAGIC, ...parts]))).objects.length, 4)
})

t.test('a file that is no snapshot, or of a newer format, is refused by name', async t => {
  await t.rejects(read(Buffer.from('apiVersion: v1\nkind: List')), { message: 'it is not a snapshot' })
  await t.rejects(
    read(Buffer.concat([Buffer.from('orch-snapshot 2\n'), small.subarray(MAGIC.length)])),
    {
      message:
        'it is of version 2 of the format, this release reads version 1: use the release that wrote it, or a newer one'
    }
  )
  await t.rejects(read(Buffer.from('orch-snapshot 12\nx')), { message: /^it is of version 12 / })
})

t.test('headers, leases and objects that no writer makes are refused though their checksums are right', async t => {
  const header = { product: 'p', source: 'etcd', revision: 10, taken: 1 }
  const frames = (...all: Buffer[]): Buffer => Buffer.concat([MAGIC, ...all])
  for (const change of [
    { source: 'other' }, { revision: -1 }, { revision: 1.5 }, { revision: '10' }, { taken: null }, { product: 1 },
    { prefix: 1 }, { count: -1 }
  ]) {
    await t.rejects(read(frames(jsonFrame('H', { ...header, ...change }))), /is not the header/, JSON.stringify(change))
  }
  for (const lease of [
    {}, { id: 2, ttlSeconds: 1, expires: 1 }, { id: 1, ttlSeconds: 0, expires: 1 },
    { id: 1, ttlSeconds: 1, expires: -1 }
  ]) {
    await t.rejects(read(frames(jsonFrame('H', header), jsonFrame('L', lease))), /is no lease/, JSON.stringify(lease))
  }
  const changed = await written([[object('/registry/ä', 'x', 5)]])
  await t.rejects(read(changed), /has an impossible object/)
  await t.rejects(
    read(await written([[object('/registry/a', 'x', 1001)]])), /has an impossible object/,
    'a revision after that of the snapshot'
  )
  const huge = Buffer.from([0xff, 0xff, 0xff, 0xff, 79])
  await t.rejects(read(Buffer.concat([MAGIC, jsonFrame('H', header), huge])), /has the impossible length 4294967295/)
})
