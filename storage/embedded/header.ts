/**
 * Checks the two headers of an LMDB file before LMDB maps it. LMDB trusts its file: a missing page ends the process
 * with a bus error, and a file that it refuses with a segmentation fault.
 */
import { readSync } from 'node:fs'

const MAGIC = 0xBEEFC0DE
/** Offsets of header fields from the magic number; little-endian on the supported machines. */
const FLAGS = -6
const VERSION = 4
const PAGE_SIZE = 24
const TREES = [24, 72] as const
const LAST_PAGE = 120
const TRANSACTION = 128
const LENGTH = 136
const MAX_PAGE_SIZE = 65536
/** Version of the format; LMDB also ignores the upper half of the field. */
const KNOWN_VERSION = 2
/** The page flag of a header. */
const META = 8
/**
 * Flags of the trees: keys of free pages are numbers, those of records bytes. OPENED masks flags that record how the
 * file was opened.
 */
const TREE_FLAGS = [0x08, 0] as const
const OPENED = 0x5000
/** More pages than one transaction can allocate. */
const MAX_UNWRITTEN = 1_000_000

const DAMAGED = 'the header of its file is damaged'

/** The root of an empty tree. */
export const NO_PAGE = -1
export const META_PAGES = 2

/** A tree as its header describes it; all counts but `entries` are pages. */
export interface Tree {
  readonly depth: number
  readonly branch: number
  readonly leaf: number
  readonly overflow: number
  readonly entries: number
  readonly root: number
}

/** The newer of the two headers. */
export interface Head {
  readonly pageSize: number
  readonly transaction: number
  /** Pages that may be in use: at most the pages of the file. */
  readonly pages: number
  /** Pages according to the header; the last ones may be free and not in the file. */
  readonly allocated: number
  /** The tree of free pages and that of records. */
  readonly trees: readonly [Tree, Tree]
}

/** The newer header, or a description of what is wrong with the file; undefined for an empty file. */
export function headOf (fd: number, size: number): Head | string | undefined {
  if (size === 0) return undefined
  const bytes = Buffer.alloc(MAX_PAGE_SIZE + 512)
  const head = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0))
  const magic = Buffer.alloc(4)
  magic.writeUInt32LE(MAGIC)
  const first = head.subarray(0, 64).indexOf(magic)
  if (first < -FLAGS || first + LENGTH > head.length) return 'its file is not an LMDB file'
  const pageSize = head.readUInt32LE(first + PAGE_SIZE)
  if (pageSize < 256 || pageSize > MAX_PAGE_SIZE || (pageSize & (pageSize - 1)) !== 0) return DAMAGED
  const second = pageSize + first
  if (second + LENGTH > head.length || head.readUInt32LE(second) !== MAGIC) {
    return 'its file is cut off after the first page'
  }
  for (const at of [first, second]) {
    const fault = faultOf(head, at, pageSize)
    if (fault !== undefined) return fault
  }
  // Transactions alternate between the headers: even numbers use the first.
  const [even, odd] = [readUInt64(head, first + TRANSACTION), readUInt64(head, second + TRANSACTION)]
  if (even % 2 !== 0 || (odd % 2 === 0 && odd > 0) || Math.abs(even - odd) > 1) return DAMAGED
  const newest = even >= odd ? first : second
  const trees = [treeAt(head, newest + TREES[0]), treeAt(head, newest + TREES[1])] as const
  const used = trees.reduce((sum, { branch, leaf, overflow }) => sum + branch + leaf + overflow, META_PAGES)
  const filePages = Math.floor(size / pageSize)
  if (used > filePages || trees.some(({ root }) => root >= filePages)) {
    return `its file is cut off: it has ${filePages} pages where at least ${used} are in use`
  }
  const allocated = readUInt64(head, newest + LAST_PAGE) + 1
  if (allocated > filePages + MAX_UNWRITTEN) return DAMAGED
  return {
    pageSize,
    transaction: readUInt64(head, newest + TRANSACTION),
    pages: Math.min(filePages, allocated),
    allocated,
    trees
  }
}

/** Checks what LMDB would refuse in a header or use without checking. */
function faultOf (head: Buffer, at: number, pageSize: number): string | undefined {
  const version = head.readUInt16LE(at + VERSION)
  if (version !== KNOWN_VERSION) {
    return `its file is of version ${version} of the LMDB format, this program reads version ${KNOWN_VERSION}`
  }
  const intact = (head.readUInt16LE(at + FLAGS) & META) !== 0 && head.readUInt32LE(at + PAGE_SIZE) === pageSize &&
    TREES.every((tree, which) => (head.readUInt16LE(at + tree + 4) & ~OPENED) === TREE_FLAGS[which])
  return intact ? undefined : DAMAGED
}

function treeAt (head: Buffer, at: number): Tree {
  const root = head.readBigUInt64LE(at + 40)
  return {
    depth: head.readUInt16LE(at + 6),
    branch: readUInt64(head, at + 8),
    leaf: readUInt64(head, at + 16),
    overflow: readUInt64(head, at + 24),
    entries: readUInt64(head, at + 32),
    root: root === 0xFFFFFFFFFFFFFFFFn ? NO_PAGE : Number(root)
  }
}

/** Reads eight bytes. The last two are 0 in valid numbers, but LMDB uses them. */
export const readUInt64 = (bytes: Buffer, at: number): number =>
  bytes.readUIntLE(at, 6) + bytes.readUInt16LE(at + 6) * 2 ** 48
