import { randomFrom } from '../testing/random.js'

/** A seeded generator for property tests: print `seed`, set SEED to repeat a run. */
export function random (
  seed = Number(process.env.SEED) || Math.floor(Math.random() * 2 ** 31)
): { seed: number, next: () => number, int: (below: number) => number } {
  const next = randomFrom(seed)
  return { seed, next, int: below => Math.floor(next() * below) }
}
