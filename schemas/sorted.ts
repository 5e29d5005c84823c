/** Sorted string lists, ordered by code unit. */

/** Index of the first string >= `text`, or the length. */
export function lowerBound (sorted: readonly string[], text: string): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] as string) < text) low = middle + 1
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
