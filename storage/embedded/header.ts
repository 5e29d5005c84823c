/**
 * A look at an LMDB file before LMDB maps it. LMDB trusts its file: a page that is not there any more
 * ends the whole process with a bus error. This finds files that were cut or are not LMDB's, as far as
 * the two headers can tell; damage inside pages it can't see.
 */
import { open } from 'node:fs/promises'

const MAGIC = 0xBEEFC0DE
/** Where a header's fields lie, counted from its magic number; all little-endian on the machines we run on. */
const PAGE_SIZE = 24
const TREES = [24, 72]
const TREE_PAGES = [8, 16, 24]
const ROOT = 112
const TRANSACTION = 128
const LENGTH = 136
const LARGEST_PAGE = 65536
const NO_PAGE = 0xFFFFFFFFFFFFFFFFn

/** What is wrong with the file, undefined when nothing can be seen or there is no file yet. */
export async function faultOf (file: string): Promise<string | undefined> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (handle === undefined) return undefined
  try {
    const { size } = await handle.stat()
    if (size === 0) return undefined
    const head = Buffer.alloc(LARGEST_PAGE + 512)
    const { bytesRead } = await handle.read(head, 0, head.length, 0)
    return faultIn(head.subarray(0, bytesRead), size)
  } finally {
    await handle.close()
  }
}

function faultIn (head: Buffer, size: number): string | undefined {
  const magic = Buffer.alloc(4)
  magic.writeUInt32LE(MAGIC)
  const first = head.subarray(0, 64).indexOf(magic)
  if (first < 0 || first + LENGTH > head.length) return 'its file is not an LMDB file'
  const pageSize = head.readUInt32LE(first + PAGE_SIZE)
  if (pageSize < 256 || pageSize > LARGEST_PAGE || (pageSize & (pageSize - 1)) !== 0) return 'the header of its file is damaged'
  const second = pageSize + first
  if (second + LENGTH > head.length || head.readUInt32LE(second) !== MAGIC) return 'its file is cut off after the first page'
  const newest = head.readBigUInt64LE(first + TRANSACTION) > head.readBigUInt64LE(second + TRANSACTION) ? first : second
  let used = 2n
  for (const tree of TREES) for (const pages of TREE_PAGES) used += head.readBigUInt64LE(newest + tree + pages)
  const root = head.readBigUInt64LE(newest + ROOT)
  const there = BigInt(Math.floor(size / pageSize))
  if (used > there || (root !== NO_PAGE && root >= there)) return `its file is cut off: it has ${there} pages where at least ${used} are in use`
  return undefined
}
