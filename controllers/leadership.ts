/**
 * Which of several processes of one server runs what one of them does: writes of the start, controllers that write, the server's lease and its
 * endpoints. The process that leads does so until it ends.
 */
export interface Leadership {
  /** Resolves when this process is to lead. */
  readonly elected: Promise<void>
  /** Called by the process that leads when what readiness waits for is done. */
  readonly lead: () => void
  /** Resolves when a process has called `lead`. */
  readonly led: Promise<void>
}
