/**
 * Bytes of the state that a watch begins with: ADDED events. Leaves are kept and shared; what is made for one watch is
 * written into memory that is used again (`answers/chunks.ts`).
 */
import type { Entry } from '../../storage/cache/entry.js'
import { joinedLeaf, leafBytes, type Items } from '../../storage/cache/leaf-bytes.js'
import { CHUNK_BYTES, makeChunk, reuseChunk } from '../chunks.js'
import type { AddedRows } from '../formats/format.js'
import { chunkContent, chunkEnds } from './framing.js'
import type { Part } from './initial.js'

/** Shorter bytes are made in memory of their own. */
const SMALL = 16 * 1024

/**
 * The joined bytes of a leaf, if they are kept. They have the framing of a chunk; without it they are a view of that,
 * as both protocols are in use.
 */
export const leavesOf = (
  added: Items, isReady: (entry: Entry) => boolean, chunked: boolean
): ((entries: readonly Entry[]) => Buffer | undefined) => {
  const items = { ...added, around: chunkEnds }
  return entries => {
    const bytes = joinedLeaf(entries, items) ?? (entries.every(isReady) ? leafBytes(entries, items) : undefined)
    return bytes === undefined || chunked ? bytes : chunkContent(bytes)
  }
}

/** Bytes of an event; those of the stored JSON while a large form is missing. */
export const itemSizes = ({ body, size }: Items, isReady: (entry: Entry) => boolean) => (entry: Entry): number =>
  isReady(entry) ? size(body(entry)) : entry.json.length

/** Parts in a row: a leaf alone is not copied. */
export function joinedParts ({ body, size, write }: Items, parts: readonly Part[], chunked: boolean): Buffer {
  const [only] = parts
  if (parts.length === 1 && Buffer.isBuffer(only)) return only
  let total = 0
  const framedParts = parts.map(part => {
    if (Buffer.isBuffer(part)) {
      total += part.length
      return part
    }
    const bodies = part.map(body)
    let length = 0
    for (const bytes of bodies) length += size(bytes)
    const [head, tail] = chunked ? chunkEnds(length) : ['', '']
    total += head.length + length + tail.length
    return { bodies, head, tail }
  })
  const bytes = total > SMALL && total <= CHUNK_BYTES ? makeChunk().subarray(0, total) : Buffer.allocUnsafe(total)
  let at = 0
  for (const part of framedParts) {
    if (Buffer.isBuffer(part)) {
      at += part.copy(bytes, at)
      continue
    }
    at += bytes.write(part.head, at, 'latin1')
    for (const body of part.bodies) at = write(bytes, at, body)
    at += bytes.write(part.tail, at, 'latin1')
  }
  return bytes
}

/** Before the rows, for the head of their chunk. */
const HEAD_BYTES = 16
const TAIL = '\r\n'

/** Rows, whose length is known when they are made. */
export function joinedRows ({ write }: AddedRows, entries: readonly Entry[], chunked: boolean): Buffer {
  let memory = makeChunk()
  let at = HEAD_BYTES
  for (const pieces of write(entries)) {
    const end = pieces.reduce((sum, { length }) => sum + length, at + TAIL.length)
    if (end > memory.length) {
      const larger = Buffer.allocUnsafeSlow(2 * end)
      memory.copy(larger, 0, 0, at)
      reuseChunk(memory)
      memory = larger
    }
    for (const piece of pieces) {
      memory.set(piece, at)
      at += piece.length
    }
  }
  if (!chunked) return memory.subarray(HEAD_BYTES, at)
  const [head] = chunkEnds(at - HEAD_BYTES)
  const start = HEAD_BYTES - head.length
  memory.write(head, start, 'latin1')
  return memory.subarray(start, at + memory.write(TAIL, at, 'latin1'))
}
