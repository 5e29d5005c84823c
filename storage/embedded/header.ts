/**
 * The two headers of an LMDB file, read before LMDB maps it. LMDB trusts its file: a page that is not there any
 * more ends the whole process with a bus error, and so does, with a segmentation fault, every file that it refuses
 * to open itself.
 */
import { readSync } from 'node:fs'

const MAGIC = 0xBEEFC0DE
/** Where a header's fields lie, counted from its magic number; all little-endian on the machines we run on. */
const FLAGS = -6
const VERSION = 4
const PAGE_SIZE = 24
const TREES = [24, 72] as const
const LAST_PAGE = 120
const TRANSACTION = 128
const LENGTH = 136
const LARGEST_PAGE = 65536
/** Of the format; the upper half of its field is not looked at by LMDB either. */
const KNOWN_VERSION = 2
/** The bit of a page that is a header. */
const META = 8
/** Of the trees: keys of the free pages are numbers, those of the records bytes. The bits left out say how the file was opened. */
const TREE_FLAGS = [0x08, 0] as const
const OPENED = 0x5000
/** More than one transaction can take. */
const MOST_UNWRITTEN = 1_000_000

const DAMAGED = 'the header of its file is damaged'

/** The root of an empty tree. */
export const NO_PAGE = -1
export const META_PAGES = 2

/** What a header says of one of the two trees; numbers are of pages, but for the entries. */
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
  /** How many pages can hold something: no more than the file has. */
  readonly pages: number
  /** How many there are by the header: the last ones may be free and were never written. */
  readonly allocated: number
  /** Of the free pages, of the records. */
  readonly trees: readonly [Tree, Tree]
}

/** Undefined for an empty file, else the newer header or what is wrong with the file as far as headers tell. */
export function headOf (fd: number, size: number): Head | string | undefined {
  if (size === 0) return undefined
  const bytes = Buffer.alloc(LARGEST_PAGE + 512)
  const head = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0))
  const magic = Buffer.alloc(4)
  magic.writeUInt32LE(MAGIC)
  const first = head.subarray(0, 64).indexOf(magic)
  if (first < -FLAGS || first + LENGTH > head.length) return 'its file is not an LMDB file'
  const pageSize = head.readUInt32LE(first + PAGE_SIZE)
  if (pageSize < 256 || pageSize > LARGEST_PAGE || (pageSize & (pageSize - 1)) !== 0) return DAMAGED
  const second = pageSize + first
  if (second + LENGTH > head.length || head.readUInt32LE(second) !== MAGIC) return 'its file is cut off after the first page'
  for (const at of [first, second]) {
    const fault = faultOf(head, at, pageSize)
    if (fault !== undefined) return fault
  }
  // Transactions write the two in turns: even numbers stand in the first.
  const [even, odd] = [wide(head, first + TRANSACTION), wide(head, second + TRANSACTION)]
  if (even % 2 !== 0 || (odd % 2 === 0 && odd > 0) || Math.abs(even - odd) > 1) return DAMAGED
  const newest = even >= odd ? first : second
  const trees = [treeAt(head, newest + TREES[0]), treeAt(head, newest + TREES[1])] as const
  const used = trees.reduce((sum, { branch, leaf, overflow }) => sum + branch + leaf + overflow, META_PAGES)
  const there = Math.floor(size / pageSize)
  if (used > there || trees.some(({ root }) => root >= there)) return `its file is cut off: it has ${there} pages where at least ${used} are in use`
  const allocated = wide(head, newest + LAST_PAGE) + 1
  if (allocated > there + MOST_UNWRITTEN) return DAMAGED
  return {
    pageSize,
    transaction: wide(head, newest + TRANSACTION),
    pages: Math.min(there, allocated),
    allocated,
    trees
  }
}

/** What LMDB refuses in a header of this page size, or goes by without a look. */
function faultOf (head: Buffer, at: number, pageSize: number): string | undefined {
  const version = head.readUInt16LE(at + VERSION)
  if (version !== KNOWN_VERSION) return `its file is of version ${version} of the LMDB format, this program reads version ${KNOWN_VERSION}`
  const intact = (head.readUInt16LE(at + FLAGS) & META) !== 0 && head.readUInt32LE(at + PAGE_SIZE) === pageSize &&
    TREES.every((tree, which) => (head.readUInt16LE(at + tree + 4) & ~OPENED) === TREE_FLAGS[which])
  return intact ? undefined : DAMAGED
}

function treeAt (head: Buffer, at: number): Tree {
  const root = head.readBigUInt64LE(at + 40)
  return {
    depth: head.readUInt16LE(at + 6),
    branch: wide(head, at + 8),
    leaf: wide(head, at + 16),
    overflow: wide(head, at + 24),
    entries: wide(head, at + 32),
    root: root === 0xFFFFFFFFFFFFFFFFn ? NO_PAGE : Number(root)
  }
}

/** All eight bytes of a number: of one that is right the last two are 0, and LMDB goes by them. */
export const wide = (bytes: Buffer, at: number): number => bytes.readUIntLE(at, 6) + bytes.readUInt16LE(at + 6) * 2 ** 48
