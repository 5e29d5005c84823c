/** Sorted lists: of strings by code unit, of numbers. */

/** Index of the first value >= `value`, or the length. */
export function lowerBound<T extends string | number> (sorted: readonly T[], value: T): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] as T) < value) low = middle + 1
    else high = middle
  }
  return low
}

/** Whether the list is sorted. Most short lists are, and the check is cheaper than sorting. */
export function isAscending (texts: readonly string[]): boolean {
  // within the list
  for (let at = 1; at < texts.length; at++) if ((texts[at] as string) < (texts[at - 1] as string)) return false
  return true
}
