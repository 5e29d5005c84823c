/** Sets of indexes in text, such as `1,3-5,7`. */

/**
 * The number of indexes; a text that says what is wrong if they are not ascending and below `completions`. @returns the
 * number, or the fault
 */
export function countIndexes (text: string, completions: number): number | string {
  if (text === '') return 0
  let total = 0
  let last = -1
  for (const part of text.split(',')) {
    const match = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(part)
    if (match === null) return `cannot convert string to integer for index: ${JSON.stringify(part.slice(0, 100))}`
    const first = Number(match[1])
    const end = match[2] === undefined ? first : Number(match[2])
    if (match[2] !== undefined && end <= first) {
      return `non-increasing order, previous: ${first}, current: ${end}`
    }
    if (first <= last) return `non-increasing order, previous: ${last}, current: ${first}`
    if (end >= completions) return `too large index: ${JSON.stringify(String(end))}`
    total += end - first + 1
    last = end
  }
  return total
}
