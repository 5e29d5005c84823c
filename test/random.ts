/** A seeded generator for property tests: print `seed`, set SEED to repeat a run. */
export function random (seed = Number(process.env.SEED) || Math.floor(Math.random() * 2 ** 31)): { seed: number, next: () => number, int: (below: number) => number } {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { seed, next, int: below => Math.floor(next() * below) }
}
