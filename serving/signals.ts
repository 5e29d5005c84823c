/** SIGTERM and SIGINT: the first ends gracefully, a second one at once. */

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/** Milliseconds within which a second signal is a duplicate: npm forwards a terminal's signal to the process that already has it. */
const DUPLICATE = 500

export interface Ends {
  readonly end: (signal: string) => void
  /** Ends the process. */
  readonly now: () => void
}

export function endOnSignals ({ end, now }: Ends): void {
  let since: number | undefined
  for (const signal of SIGNALS) {
    process.removeAllListeners(signal)
    process.on(signal, () => {
      if (since === undefined) {
        since = performance.now()
        end(signal)
      } else if (performance.now() - since > DUPLICATE) now()
    })
  }
}
