/** How much of everything a run does. */
export interface Scale {
  /** Rounds that count; one more warms up. */
  readonly rounds: number
  readonly gets: number
  /** In what is listed; a multiple of 500, or of 10 below that. */
  readonly objects: number
  readonly lists: number
  /** In a round; over HTTPS and on etcd half of it. */
  readonly writes: number
  readonly watchers: number
  /** Of idle watches, where memory and growth are measured. */
  readonly crowd: number
  /** Objects in the store, one after another; the last is what start and memory are measured with. */
  readonly sizes: readonly number[]
  /** Starts of which the median counts. */
  readonly starts: number
  /** Processes of one server, one first. */
  readonly processes: readonly number[]
  /** Milliseconds of quiet before memory is read. */
  readonly pause: number
  /** One at a time, in a round. */
  readonly events: number
  readonly burst: number
  /** Events of which every arrival is timed. */
  readonly deliveries: number
}

export const FULL: Scale = { rounds: 7, gets: 20_000, objects: 5_000, lists: 30, writes: 10_000, watchers: 1_000, crowd: 10_000, sizes: [1_000, 10_000, 100_000], starts: 5, processes: [1, 2, 4], pause: 1_000, events: 20, burst: 200, deliveries: 50 }
/** Enough to see that something has become a tenth slower, in three minutes. */
export const CHECK: Scale = { ...FULL, rounds: 5, gets: 4_000, objects: 2_000, lists: 4, writes: 4_000, watchers: 300, starts: 2, events: 10, burst: 50, deliveries: 5 }
/** Says nothing about speed; shows that the benchmarks work. */
export const TINY: Scale = { rounds: 1, gets: 3, objects: 20, lists: 1, writes: 20, watchers: 2, crowd: 10, sizes: [20], starts: 1, processes: [1, 2], pause: 10, events: 1, burst: 4, deliveries: 2 }
