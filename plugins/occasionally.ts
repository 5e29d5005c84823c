/** What may happen with each request, told once in a while, or so many times. */
const EVERY_MS = 10_000

export function occasionally<T> (tell: (what: T) => void, every = EVERY_MS): (what: T) => void {
  let toldAt = -Infinity
  return what => {
    const now = performance.now()
    if (now - toldAt < every) return
    toldAt = now
    tell(what)
  }
}

/** Told at most `most` times in `every` milliseconds. @param tell is told, too, of how many were left out since the one before */
export function atMost<T> (most: number, every: number, tell: (what: T, leftOut: number) => void): (what: T) => void {
  let since = -Infinity
  let told = 0
  let leftOut = 0
  return what => {
    const now = performance.now()
    if (now - since >= every) {
      since = now
      told = 0
    }
    if (told++ >= most) {
      leftOut++
      return
    }
    tell(what, leftOut)
    leftOut = 0
  }
}
