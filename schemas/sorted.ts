/** Sorted lists of text, by code units as `<` compares. */

/** Index of the first text that is not before `text`; the length where all are. */
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

/** Whether they are in order already, as most lists of a few are: to sort one takes memory and time even then. */
export function isAscending (texts: readonly string[]): boolean {
  for (let at = 1; at < texts.length; at++) if ((texts[at] as string) < (texts[at - 1] as string)) return false // within the list
  return true
}
