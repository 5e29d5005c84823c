/** Suggestions for mistyped names. */

/** Longer names are unlikely to be typing errors, and the cost of a comparison is quadratic. */
const MAX_LENGTH = 64

/** `; did you mean X?`, or nothing if no known name is near. */
export function didYouMean (given: unknown, known: readonly string[]): string {
  const near = typeof given === 'string' ? nearest(given, known) : undefined
  return near === undefined ? '' : `; did you mean ${near}?`
}

/** The known name that was most likely meant, if any. */
export function nearest (given: string, known: readonly string[]): string | undefined {
  if (given.length > MAX_LENGTH) return undefined
  const [near] = known.map(name => ({ name, edits: edits(given.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, edits }) => edits <= Math.max(1, Math.floor(Math.max(name.length, given.length) / 3)))
    .sort((one, other) => one.edits - other.edits)
  return near?.name
}

/** The edit distance; a swap of adjacent characters is one edit. */
function edits (one: string, other: string): number {
  let [before, last] = [[] as number[], Array.from({ length: other.length + 1 }, (_, at) => at)]
  for (let row = 1; row <= one.length; row++) {
    const next = [row]
    for (let at = 1; at <= other.length; at++) {
      const replaced = (last[at - 1] ?? 0) + (one[row - 1] === other[at - 1] ? 0 : 1)
      const swapped = row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1]
        ? (before[at - 2] ?? 0) + 1
        : Infinity
      next.push(Math.min(replaced, (last[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1, swapped))
    }
    [before, last] = [last, next]
  }
  return last[other.length] ?? 0
}
