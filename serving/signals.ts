/** Signals of the process: SIGTERM and SIGINT end it, SIGUSR1 asks for a report, SIGHUP is ignored. */

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/**
 * Milliseconds within which a second signal is a duplicate: npm forwards a terminal's signal to the process that
 * already has it.
 */
const DUPLICATE = 500

export interface ShutdownSteps {
  readonly end: (signal: string) => void
  /** Ends the process at once. */
  readonly now: () => void
}

/** The first SIGTERM or SIGINT ends gracefully, a second one at once. */
export function endOnSignals ({ end, now }: ShutdownSteps): void {
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

/** SIGHUP is ignored, because a closing terminal sends it. */
export function reportOnSignals (log: { readonly info: (text: string) => void }, report: () => void): void {
  process.on('SIGUSR1', report)
  process.on('SIGHUP', () => {
    log.info('SIGHUP: ignored; changed files are reloaded without it, changed flags need a restart')
  })
}
