/**
 * Checks every page of both trees of an LMDB file, reading the file directly. LMDB trusts its pages: a damaged page
 * leads it to arbitrary ones, and the process crashes or continues with part of the data. A file without findings never
 * leads LMDB outside the file. Of large values only the header is read, which names the pages that LMDB would free,
 * unless the visitor has `record`.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { headOf, META_PAGES, NO_PAGE, readUInt64, type Head, type Tree } from './header.js'
import { Yielder } from './yielder.js'

const HEADER = 24
const NODE = 8
/** Index of the first node offset, in 16-bit words. */
const FIRST_NODE_WORD = HEADER / 2
const BRANCH = 1
const LEAF = 2
const OVERFLOW = 4
/** Flags of page kinds in a tree; the others mark pages in memory. */
const KINDS = 0x6f
const BIG_DATA = 1
const BIG_NODE = 24
const MAX_DEPTH = 32
const READ_AHEAD_PAGES = 16

export interface PagesVisitor {
  /** Receives each finding. The walk continues past unreadable parts. */
  readonly problem: (text: string) => void
  /** Receives a damaged header of a large value; `header` is the correct one. */
  readonly valuePage: (offset: number, header: Buffer, key: Buffer) => void
  /** True ends the walk. */
  readonly enough: () => boolean
  /** Receives the records of the main tree in order, with their values. Both buffers are valid until it returns. */
  readonly record?: (key: Buffer, value: Buffer) => void
  /**
   * Whether records are looked for on pages that no readable page leads to, in the order of the file. Some may be of an
   * older state if the list of free pages is damaged too.
   */
  readonly strays?: boolean
  /** Called between pages of records; the walk goes on when it resolves. Default at once. */
  readonly pause?: () => Promise<void> | undefined
}

const LABELS = { entries: 'records', branch: 'branch pages', leaf: 'leaf pages', overflow: 'pages of large values' }

/** Walks the newest state of the file, which must exist and not change during the call. */
export async function walkPages (file: string, visitor: PagesVisitor): Promise<void> {
  const fd = openSync(file, 'r')
  try {
    const head = headOf(fd, fstatSync(fd).size)
    if (typeof head === 'string') return visitor.problem(head)
    if (head !== undefined) await new PageWalker(fd, head, visitor).run()
  } finally {
    closeSync(fd)
  }
}

/** A page as bytes and as 16-bit words, the alignment of everything in it. */
interface Page { readonly bytes: Buffer, readonly words: Uint16Array }

/** The header of a large value. */
function headerOf (first: number, transaction: Buffer, pages: number): Buffer {
  const header = Buffer.alloc(HEADER)
  header.writeUIntLE(first, 0, 6)
  transaction.copy(header, 8)
  header.writeUInt16LE(OVERFLOW, 18)
  header.writeUInt32LE(pages, 20)
  return header
}

/** Keys of free pages are transaction numbers. */
const compare = (one: Buffer, other: Buffer, free: boolean): number =>
  free ? one.readUIntLE(0, 6) - other.readUIntLE(0, 6) : one.compare(other)
const signed = (value: Buffer, at: number): number => Number(value.readBigInt64LE(at))
const word = (words: Uint16Array, at: number): number => words[at] ?? 0

interface Counts { entries: number, branch: number, leaf: number, overflow: number }

class PageWalker {
  readonly #fd: number
  readonly #head: Head
  readonly #visitor: PagesVisitor
  /** A bit for each page in use. */
  readonly #used: Uint8Array
  readonly #yielder = new Yielder()
  /** One page buffer per level of a tree. */
  readonly #pages: Page[]
  #value = Buffer.alloc(0)
  #counts: Counts = { entries: 0, branch: 0, leaf: 0, overflow: 0 }
  readonly #last = Buffer.alloc(65536)
  #lastLength = -1
  /** Lower bounds of the first key of the next leaf. */
  readonly #bounds: Buffer[] = []
  /** Value pages read ahead, and the last one that was requested. */
  readonly #ahead: { bytes: Buffer, first: number, pages: number, last: number }
  /** Runs of free pages: first page and number of pages, alternating. */
  readonly #free: number[] = []

  constructor (fd: number, head: Head, visitor: PagesVisitor) {
    this.#fd = fd
    this.#head = head
    this.#visitor = visitor
    this.#used = new Uint8Array((head.allocated >>> 3) + 1)
    this.#ahead = { bytes: Buffer.alloc(READ_AHEAD_PAGES * head.pageSize), first: 0, pages: 0, last: 0 }
    this.#pages = Array.from({ length: MAX_DEPTH }, () => {
      const buffer = new ArrayBuffer(head.pageSize)
      return { bytes: Buffer.from(buffer), words: new Uint16Array(buffer) }
    })
  }

  async run (): Promise<void> {
    const { trees: [free, main] } = this.#head
    const isWhole = await this.#tree('the table of records', main, false)
    await this.#tree('the table of free pages', free, true)
    for (let at = 0; at < this.#free.length; at += 2) {
      if (!this.#markUsed(this.#free[at] ?? 0, this.#free[at + 1] ?? 0, this.#head.allocated)) break
    }
    if (!isWhole && this.#visitor.strays === true) await this.#strays()
  }

  /** A page that leads to others may be damaged: the leaves below it are those that are neither reached nor free. */
  async #strays (): Promise<void> {
    const page = this.#pages[0] as Page // there are 32
    this.#counts = { entries: 0, branch: 0, leaf: 0, overflow: 0 }
    for (let number = META_PAGES; number < this.#head.pages; number++) {
      if (this.#yielder.isDue()) await this.#yielder.yield()
      if (this.#isUsed(number) || !this.#read(page.bytes, number, this.#head.pageSize)) continue
      if (this.#faultOf(page, number, false, false) !== undefined || !this.#markUsed(number, 1)) continue
      const count = word(page.words, 10) >>> 1
      this.#counts.leaf++
      this.#counts.entries += count
      this.#lastLength = -1
      this.#bounds.length = 0
      this.#leaf(page, number, count, false)
      await this.#visitor.pause?.()
    }
    const { entries, leaf } = this.#counts
    if (leaf > 0) this.#visitor.problem(`${entries} records were found on ${leaf} pages that no readable page leads to`)
  }

  /** Returns whether all that is to be there was found. */
  async #tree (name: string, tree: Tree, free: boolean): Promise<boolean> {
    const { problem, enough } = this.#visitor
    this.#counts = { entries: 0, branch: 0, leaf: 0, overflow: 0 }
    this.#lastLength = -1
    this.#bounds.length = 0
    if (tree.depth > MAX_DEPTH) {
      problem(`${name} is said to be ${tree.depth} pages deep`)
      return false
    }
    if (tree.root !== NO_PAGE) await this.#page(tree.root, 1, tree, free)
    if (enough()) return false
    const missing = (['entries', 'branch', 'leaf', 'overflow'] as const).filter(what =>
      this.#counts[what] !== tree[what])
    for (const what of missing) {
      problem(`${name} has ${this.#counts[what]} ${LABELS[what]} where there are to be ${tree[what]}`)
    }
    return missing.length === 0
  }

  async #page (number: number, level: number, tree: Tree, free: boolean): Promise<void> {
    const { problem, enough } = this.#visitor
    if (enough() || !this.#markUsed(number, 1)) return
    if (this.#yielder.isDue()) await this.#yielder.yield()
    const page = this.#pages[level - 1] as Page // level <= depth
    if (!this.#read(page.bytes, number, this.#head.pageSize)) return
    const branch = level < tree.depth
    const fault = this.#faultOf(page, number, branch, free)
    if (fault !== undefined) return problem(`page ${number} ${fault}`)
    const { words } = page
    const count = word(words, 10) >>> 1
    if (!branch) {
      this.#counts.leaf++
      this.#counts.entries += count
      this.#leaf(page, number, count, free)
      if (!free) await this.#visitor.pause?.()
      return
    }
    this.#counts.branch++
    for (let at = 0; at < count; at++) {
      const node = (HEADER + word(words, FIRST_NODE_WORD + at)) >>> 1
      // The node's key separates the pages before and after it.
      if (at > 0) {
        const key = page.bytes.subarray(node * 2 + NODE, node * 2 + NODE + word(words, node + 3))
        if (!this.#follows(key, free)) problem(`page ${number} has its entries out of order`)
        this.#bounds.push(Buffer.from(key))
      }
      await this.#page(word(words, node) + word(words, node + 1) * 2 ** 16 +
        word(words, node + 2) * 2 ** 32, level + 1, tree, free)
    }
  }

  #follows (key: Buffer, free: boolean): boolean {
    return this.#lastLength < 0 || compare(this.#last.subarray(0, this.#lastLength), key, free) < 0
  }

  /** Checks the page itself. If it passes, every node lies within the page. */
  #faultOf ({ bytes, words }: Page, number: number, branch: boolean, free: boolean): string | undefined {
    const kind = word(words, 9) & KINDS
    if (readUInt64(bytes, 0) !== number || kind !== (branch ? BRANCH : LEAF)) return 'is not what belongs there'
    if (readUInt64(bytes, 8) > this.#head.transaction) return 'is of a later transaction than the newest'
    const lower = word(words, 10)
    const upper = word(words, 11)
    const available = bytes.length - HEADER
    const count = lower >>> 1
    if ((lower & 1) !== 0 || lower > upper || upper > available || count < (branch && !free ? 2 : 1)) {
      return 'has a damaged header'
    }
    for (let at = 0; at < count; at++) {
      const node = word(words, FIRST_NODE_WORD + at)
      if (node < upper || (node & 1) !== 0 || node + NODE > available) return 'has a damaged index'
      const start = (HEADER + node) >>> 1
      const data = branch
        ? 0
        : (word(words, start + 2) & BIG_DATA) !== 0
            ? BIG_NODE
            : word(words, start) + word(words, start + 1) * 2 ** 16
      const key = word(words, start + 3)
      if (node + NODE + key + data > available || (free && key !== (branch && at === 0 ? 0 : 8))) {
        return 'has a damaged entry'
      }
      // the highest word of the number
      if (free && key === 8 && word(words, start + 7) !== 0) return 'has a damaged entry'
    }
    return undefined
  }

  #leaf (page: Page, number: number, count: number, free: boolean): void {
    const { problem, record } = this.#visitor
    const { bytes, words } = page
    let before: Buffer = this.#last
    let beforeStart = 0
    let beforeEnd = this.#lastLength
    for (let at = 0; at < count; at++) {
      const node = (HEADER + word(words, FIRST_NODE_WORD + at)) >>> 1
      const start = node * 2 + NODE
      const end = start + word(words, node + 3)
      if (at === 0) {
        const key = bytes.subarray(start, end)
        if (this.#bounds.some(bound => compare(key, bound, free) < 0)) {
          return problem(`page ${number} has its entries out of order`)
        }
        this.#bounds.length = 0
      }
      if (beforeEnd >= 0 &&
        !(free
          ? before.readUIntLE(beforeStart, 6) < bytes.readUIntLE(start, 6)
          : before.compare(bytes, start, end, beforeStart, beforeEnd) < 0)) {
        return problem(`page ${number} has its entries out of order`)
      }
      before = bytes
      beforeStart = start
      beforeEnd = end
      const big = (word(words, node + 2) & BIG_DATA) !== 0
      if (!big && record === undefined && !free) continue
      const size = word(words, node) + word(words, node + 1) * 2 ** 16
      if (!big) {
        this.#report(free, bytes.subarray(start, end), bytes.subarray(end, end + size))
        continue
      }
      const first = readUInt64(bytes, end)
      const pages = readUInt64(bytes, end + 16)
      const { pageSize, transaction } = this.#head
      if (pages !== Math.floor((HEADER - 1 + size) / pageSize) + 1 || readUInt64(bytes, end + 8) > transaction) {
        return problem(`page ${number} has a damaged entry`)
      }
      if (!this.#markUsed(first, pages)) continue
      this.#counts.overflow += pages
      const whole = record !== undefined || free
      const value = whole ? this.#wholeValue(first, pages) : this.#valueHeader(first)
      if (value === undefined) continue
      const header = value.subarray(0, HEADER)
      if (readUInt64(header, 0) !== first || readUInt64(header, 8) > transaction || header.readUInt32LE(20) !== pages ||
        (header.readUInt16LE(18) & KINDS) !== OVERFLOW) {
        if (free) problem(`page ${first} is not what belongs there`)
        else {
          this.#visitor.valuePage(
            first * pageSize, headerOf(first, bytes.subarray(end + 8, end + 16), pages), bytes.subarray(start, end)
          )
        }
      }
      if (whole) this.#report(free, bytes.subarray(start, end), value.subarray(HEADER, HEADER + size))
    }
    this.#lastLength = before.copy(this.#last, 0, beforeStart, beforeEnd)
  }

  #wholeValue (first: number, pages: number): Buffer | undefined {
    const bytes = pages * this.#head.pageSize
    if (this.#value.length < bytes) this.#value = Buffer.alloc(bytes * 2)
    return this.#read(this.#value, first, bytes) ? this.#value.subarray(0, bytes) : undefined
  }

  /** Values written together are adjacent, so the pages after the last one are read ahead. */
  #valueHeader (first: number): Buffer | undefined {
    const { pageSize, pages } = this.#head
    if (first < this.#ahead.first || first >= this.#ahead.first + this.#ahead.pages) {
      const near = first >= this.#ahead.last && first - this.#ahead.last < READ_AHEAD_PAGES
      const count = near ? Math.min(READ_AHEAD_PAGES, pages - first) : 1
      if (!this.#read(this.#ahead.bytes, first, near ? count * pageSize : HEADER)) return undefined
      this.#ahead.first = first
      this.#ahead.pages = count
    }
    this.#ahead.last = first
    const at = (first - this.#ahead.first) * pageSize
    return this.#ahead.bytes.subarray(at, at + HEADER)
  }

  #report (free: boolean, key: Buffer, value: Buffer): void {
    if (!free) return this.#visitor.record?.(key, value)
    // The number of words that follow. A positive word is a page, a negative one the length of a run that starts at the
    // next word, 0 is empty.
    const count = value.length >= 8 ? signed(value, 0) : -1
    if (count < 0 || (count + 1) * 8 > value.length) return this.#visitor.problem('a list of free pages is damaged')
    for (let at = 1; at <= count; at++) {
      const page = signed(value, at * 8)
      if (page > 0) this.#free.push(page, 1)
      else if (page < 0 && ++at <= count) this.#free.push(signed(value, at * 8), -page)
    }
  }

  /** Marks pages as used. Returns false after reporting a problem if they can't be. */
  #markUsed (first: number, count: number, limit = this.#head.pages): boolean {
    const { problem } = this.#visitor
    if (!(first >= META_PAGES && first + count <= limit)) {
      problem(`page ${first} is referred to, where there are ${limit}`)
      return false
    }
    for (let number = first; number < first + count; number++) {
      const bit = 1 << (number & 7)
      const byte = this.#used[number >>> 3] ?? 0
      if ((byte & bit) !== 0) {
        problem(`page ${number} is in use twice, or in use and free`)
        return false
      }
      this.#used[number >>> 3] = byte | bit
    }
    return true
  }

  #isUsed (number: number): boolean { return ((this.#used[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0 }

  #read (into: Buffer, number: number, bytes: number): boolean {
    try {
      if (readSync(this.#fd, into, 0, bytes, number * this.#head.pageSize) === bytes) return true
      this.#visitor.problem(`page ${number} is cut off`)
    } catch (error) {
      this.#visitor.problem(`page ${number} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
    }
    return false
  }
}
