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

/** The first index that two sets have in common; undefined if either is malformed. */
export function firstCommonIndex (one: string, other: string, completions: number): number | undefined {
  if ([one, other].some(text => typeof countIndexes(text, completions) === 'string')) return undefined
  const [ours, theirs] = [rangesOf(one), rangesOf(other)]
  let [next, index] = [0, 0]
  for (let [our, their] = [ours[0], theirs[0]]; our !== undefined && their !== undefined;) {
    if (our.first <= their.last && their.first <= our.last) return Math.max(our.first, their.first)
    if (our.last < their.last) our = ours[++index]
    else their = theirs[++next]
  }
  return undefined
}

const rangesOf = (text: string): Array<{ first: number, last: number }> => text === ''
  ? []
  : text.split(',').map(part => {
    const [first = 0, last = first] = part.split('-').map(Number)
    return { first, last }
  })
