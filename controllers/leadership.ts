/**
 * Elects the leader among the processes of one server. Only the leader runs the steps of the start that write, the
 * controllers that write, and the server's lease and endpoints. A leader leads until it ends.
 */
export interface Leadership {
  /** Resolves when this process becomes the leader. */
  readonly elected: Promise<void>
  /** The leader calls it after the steps that readiness waits for. */
  readonly lead: () => void
  /** Resolves when some process has called `lead`. */
  readonly led: Promise<void>
}
