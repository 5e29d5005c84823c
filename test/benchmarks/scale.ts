/** How much of everything a run does. */
export interface Scale {
  /** Rounds that count; one more warms up. */
  readonly rounds: number
  readonly gets: number
  /** In what is listed; a multiple of 500. */
  readonly objects: number
  readonly lists: number
}

export const FULL: Scale = { rounds: 7, gets: 20_000, objects: 5_000, lists: 30 }
/** Says nothing about speed; shows that the benchmarks work. */
export const TINY: Scale = { rounds: 1, gets: 300, objects: 500, lists: 1 }
