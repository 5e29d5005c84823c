/** The amount of work of a run. */
export interface Scale {
  /** Rounds that count, after a warm-up round. */
  readonly rounds: number
  readonly gets: number
  /** Number of objects in a list; a multiple of 500, or of 10 below that. */
  readonly objects: number
  readonly lists: number
  /** Per round; half of it over HTTPS and on etcd. */
  readonly writes: number
  readonly watchers: number
  /** Number of idle watches, for memory and growth. */
  readonly crowd: number
  /** Numbers of objects in the store, one after another; start and memory are measured with the last. */
  readonly sizes: readonly number[]
  /** Numbers of pods in the store, one after another; each is read in every form. */
  readonly pods: readonly number[]
  /** Number of starts; the median counts. */
  readonly starts: number
  /** Numbers of processes of a server, one first. */
  readonly processes: readonly number[]
  /** The stores on which `cores`, `nodes` and `structured` are measured, one after the other. */
  readonly stores: ReadonlyArray<'embedded' | 'etcd'>
  /** `production` is not measured without checks and with other numbers of namespaces. */
  readonly alone?: boolean
  /** Idle milliseconds before memory is read. */
  readonly pause: number
  /** Single events per round. */
  readonly events: number
  readonly burst: number
  /** Number of events for which every arrival is timed. */
  readonly deliveries: number
  /**
   * Numbers of nodes, one after the other; pods for each thousand of them, made at a rate a second; milliseconds
   * without any; whether the goals, which are those of the reference machine, are scaled by what a GET from a bare
   * server costs here.
   */
  readonly cluster: {
    readonly nodes: readonly number[], readonly pods: number, readonly rate: number, readonly idle: number
    readonly scaled: boolean
  }
}

export const FULL: Scale = {
  rounds: 7, gets: 20_000, objects: 5_000, lists: 30, writes: 10_000, watchers: 1_000, crowd: 10_000,
  sizes: [1_000, 10_000, 100_000], pods: [300, 1_000, 1_500, 2_000, 4_000, 20_000], starts: 5, processes: [1, 2, 4],
  stores: ['embedded', 'etcd'], pause: 1_000, events: 20, burst: 200, deliveries: 50,
  cluster: { nodes: [100, 1_000], pods: 3_000, rate: 50, idle: 60_000, scaled: true }
}
/** Enough to see a slowdown of a tenth, in three minutes. */
export const CHECK: Scale = {
  ...FULL,
  rounds: 5,
  gets: 4_000,
  objects: 2_000,
  lists: 4,
  writes: 4_000,
  watchers: 300,
  starts: 2,
  events: 10,
  burst: 50,
  deliveries: 5
}
/** Every row, in about half an hour. */
export const QUICK: Scale = {
  ...FULL,
  rounds: 3,
  gets: 4_000,
  lists: 5,
  writes: 3_000,
  crowd: 3_000,
  sizes: [1_000, 10_000],
  pods: [300, 1_500, 4_000],
  starts: 3,
  events: 10,
  burst: 100,
  deliveries: 10,
  cluster: { nodes: [100], pods: 1_000, rate: 50, idle: 15_000, scaled: true }
}
/** What README says, in ten minutes for each Node. */
export const README: Scale = {
  ...FULL, rounds: 3, gets: 8_000, lists: 10, sizes: [1_000], pods: [1_500, 4_000], starts: 3,
  stores: ['etcd'], alone: true, deliveries: 10
}
/** Shows only that the benchmarks work; the figures mean nothing. */
export const TINY: Scale = {
  rounds: 1, gets: 3, objects: 10, lists: 1, writes: 20, watchers: 2, crowd: 10, sizes: [20], pods: [20], starts: 1,
  processes: [1, 2, 3], stores: ['embedded'], pause: 10, events: 1, burst: 4, deliveries: 2,
  cluster: { nodes: [2], pods: 1_000, rate: 50, idle: 100, scaled: false }
}
