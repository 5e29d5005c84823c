/**
 * A persistent sorted map with string keys, ordered by code unit. A change copies the path to one leaf (two or three
 * small arrays) and shares the rest, so snapshots are free and readers never wait for writers. Nodes count the items
 * below them. Get, set, delete, rank and count are O(log n); a range is O(log n + items).
 */
import { lowerBound } from '../../schemas/sorted.js'

const FAN_OUT = 64

interface Leaf<V> {
  readonly leaf: true, readonly keys: readonly string[], readonly values: readonly V[], readonly size: number
}
interface Branch<V> {
  readonly leaf: false
  /** Smallest key of each child; the first one is unused. */
  readonly keys: readonly string[]
  readonly children: ReadonlyArray<Node<V>>
  readonly size: number
}
type Node<V> = Leaf<V> | Branch<V>

const leafOf = <V>(keys: readonly string[], values: readonly V[]): Leaf<V> =>
  ({ leaf: true, keys, values, size: keys.length })

function branchOf<V> (keys: readonly string[], children: ReadonlyArray<Node<V>>): Branch<V> {
  let size = 0
  for (const child of children) size += child.size
  return { leaf: false, keys, children, size }
}

/** Index of the child whose range contains `key`. */
function childIndex (keys: readonly string[], key: string): number {
  let low = 1
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] as string) <= key) low = middle + 1
    else high = middle
  }
  return low - 1
}

const smallest = <V>(node: Node<V>): string => node.keys[0] as string

function split<V> (node: Node<V>): Array<Node<V>> {
  if (node.keys.length <= FAN_OUT) return [node]
  const middle = node.keys.length >>> 1
  const left = node.keys.slice(0, middle)
  const right = node.keys.slice(middle)
  return node.leaf
    ? [leafOf(left, node.values.slice(0, middle)), leafOf(right, node.values.slice(middle))]
    : [branchOf(left, node.children.slice(0, middle)), branchOf(right, node.children.slice(middle))]
}

function insert<V> (node: Node<V>, key: string, value: V): Array<Node<V>> {
  if (node.leaf) {
    const at = lowerBound(node.keys, key)
    if (node.keys[at] === key) return [leafOf(node.keys, node.values.with(at, value))]
    return split(leafOf(node.keys.toSpliced(at, 0, key), node.values.toSpliced(at, 0, value)))
  }
  const at = childIndex(node.keys, key)
  const parts = insert(node.children[at] as Node<V>, key, value)
  return split(branchOf(node.keys.toSpliced(at, 1, ...parts.map(smallest)), node.children.toSpliced(at, 1, ...parts)))
}

/** The node without the key; undefined if it becomes empty; the same node if the key is missing. */
function remove<V> (node: Node<V>, key: string): Node<V> | undefined {
  if (node.leaf) {
    const at = lowerBound(node.keys, key)
    if (node.keys[at] !== key) return node
    return node.size === 1 ? undefined : leafOf(node.keys.toSpliced(at, 1), node.values.toSpliced(at, 1))
  }
  const at = childIndex(node.keys, key)
  const child = node.children[at] as Node<V>
  const rest = remove(child, key)
  if (rest === child) return node
  const small = rest !== undefined && rest.keys.length < FAN_OUT / 4
  if (!small) {
    const parts = rest === undefined ? [] : [rest]
    if (node.children.length + parts.length === 1) return undefined
    return branchOf(node.keys.toSpliced(at, 1, ...parts.map(smallest)), node.children.toSpliced(at, 1, ...parts))
  }
  return merged(node, at, rest)
}

/** Joins a small child with a neighbour, so that deletes do not leave a tall, sparse tree. */
function merged<V> (node: Branch<V>, at: number, rest: Node<V>): Branch<V> {
  const from = at > 0 ? at - 1 : at
  const pair = at > 0 ? [node.children[at - 1] as Node<V>, rest] : [rest, node.children[at + 1]]
  const [left, right] = pair
  if (left === undefined || right === undefined) {
    return branchOf(node.keys.with(at, smallest(rest)), node.children.with(at, rest))
  }
  const whole: Node<V> = left.leaf
    ? leafOf([...left.keys, ...right.keys], [...left.values, ...(right as Leaf<V>).values])
    : branchOf([...left.keys, ...right.keys], [...left.children, ...(right as Branch<V>).children])
  const parts = split(whole)
  return branchOf(node.keys.toSpliced(from, 2, ...parts.map(smallest)), node.children.toSpliced(from, 2, ...parts))
}

/**
 * Items of one leaf from index `from` up to `to`. The arrays are the leaf's own, and stay the same while it is
 * unchanged.
 */
export interface Run<V> {
  readonly keys: readonly string[], readonly values: readonly V[], readonly from: number, readonly to: number
}

function visit<V> (node: Node<V>, start: string, end: string, visitRun: (run: Run<V>) => boolean): boolean {
  if (node.leaf) {
    const { keys, values } = node
    // Most leaves are entirely in range: skip the binary search, which would fetch keys from memory.
    const within = keys.length === 0 || keys[keys.length - 1] as string < end
    const to = within ? keys.length : lowerBound(keys, end)
    const from = keys.length > 0 && keys[0] as string >= start ? 0 : lowerBound(keys, start)
    return (from >= to || visitRun({ keys, values, from, to })) && within
  }
  for (let at = childIndex(node.keys, start); at < node.children.length; at++) {
    if (!visit(node.children[at] as Node<V>, start, end, visitRun)) return false
  }
  return true
}

export class OrderedMap<V> {
  readonly #root: Node<V>

  private constructor (root: Node<V>) { this.#root = root }

  static empty<V> (): OrderedMap<V> { return new OrderedMap<V>(leafOf<V>([], [])) }

  /** Builds a map from pairs in ascending key order, without duplicates. O(n). */
  static fromSorted<V> (pairs: ReadonlyArray<readonly [string, V]>): OrderedMap<V> {
    const half = FAN_OUT / 2
    let level: Array<Node<V>> = []
    for (let at = 0; at < pairs.length; at += half) {
      const part = pairs.slice(at, at + half)
      level.push(leafOf(part.map(([key]) => key), part.map(([, value]) => value)))
    }
    while (level.length > 1) {
      const above: Array<Node<V>> = []
      for (let at = 0; at < level.length; at += half) {
        const children = level.slice(at, at + half)
        above.push(branchOf(children.map(smallest), children))
      }
      level = above
    }
    return level[0] === undefined ? OrderedMap.empty() : new OrderedMap(level[0])
  }

  get size (): number { return this.#root.size }

  get (key: string): V | undefined {
    let node = this.#root
    while (!node.leaf) node = node.children[childIndex(node.keys, key)] as Node<V>
    const at = lowerBound(node.keys, key)
    return node.keys[at] === key ? node.values[at] : undefined
  }

  set (key: string, value: V): OrderedMap<V> {
    const parts = insert(this.#root, key, value)
    return new OrderedMap(parts.length === 1 ? parts[0] as Node<V> : branchOf(parts.map(smallest), parts))
  }

  delete (key: string): OrderedMap<V> {
    let root = remove(this.#root, key)
    if (root === this.#root) return this
    while (root !== undefined && !root.leaf && root.children.length === 1) root = root.children[0]
    return root === undefined ? OrderedMap.empty() : new OrderedMap(root)
  }

  /** Number of keys smaller than `key`. */
  rank (key: string): number {
    let node = this.#root
    let before = 0
    while (!node.leaf) {
      const at = childIndex(node.keys, key)
      for (let child = 0; child < at; child++) before += (node.children[child] as Node<V>).size
      node = node.children[at] as Node<V>
    }
    return before + lowerBound(node.keys, key)
  }

  /** Number of keys in [start, end). */
  count (start: string, end: string): number { return Math.max(0, this.rank(end) - this.rank(start)) }

  /** Calls `each` for the items in [start, end), ascending, until it returns false. */
  forEach (start: string, end: string, visitValue: (value: V, key: string) => boolean): void {
    this.forEachRun(start, end, ({ keys, values, from, to }) => {
      for (let at = from; at < to; at++) if (!visitValue(values[at] as V, keys[at] as string)) return false
      return true
    })
  }

  /** Calls `each` with non-empty runs of items in [start, end), leaf by leaf, until it returns false. */
  forEachRun (start: string, end: string, visitRun: (run: Run<V>) => boolean): void {
    visit(this.#root, start, end, visitRun)
  }
}
