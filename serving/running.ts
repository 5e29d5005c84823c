/** A server that serves: its reports, and how it ends. */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Whole } from '../plugins/shared/plugin.js'
import type { Listener } from './listener.js'
import { reportReadiness } from './service-manager.js'

/** Milliseconds for the remaining responses after the drain. */
const LAST_ANSWERS = 5000

export interface Running {
  readonly root: FastifyInstance
  /** The scope that contains the server's decorators. */
  readonly scope: Whole
  readonly listener: Listener
  readonly log: FastifyBaseLogger
}

/** Reports readiness to systemd, if systemd started this process. */
export function reportToServiceManager ({ scope: { orchHealth: health, orchShutdown: shutdown }, log }: Running): void {
  reportReadiness({ ready: health.ready, leaving: shutdown.leaving, warn: message => { log.warn(message) } })
    .catch((error: unknown) => log.error({ err: error }, 'readiness cannot be reported'))
}

/** Logs a diagnostic report. */
export function logReport ({ scope, log }: Running): void {
  for (const fields of scope.orchReport()) log.info(fields, 'diagnostic report')
}

/** Shuts down gracefully and exits. */
export function end (running: Running, { signal, code = 0 }: { signal?: string, code?: number } = {}): void {
  const { log } = running
  if (signal !== undefined) log.info(`${signal}: shutting down`)
  shutDown(running).then(() => {
    if (signal !== undefined) log.info('shutdown complete')
    process.exit(code)
  }, (error: unknown) => {
    log.error({ err: error }, 'shutdown failed')
    process.exit(1)
  })
}

/** Shuts down gracefully, and leaves the process to others. */
export async function shutDown ({ root, scope: { orchShutdown: shutdown }, listener, log }: Running): Promise<void> {
  shutdown.signal.addEventListener('abort', () => { if (!shutdown.sendRetryAfter) listener.stop() })
  const left = await shutdown.begin()
  if (left > 0) log.warn({ requests: left }, 'requests did not finish in time and are aborted')
  listener.stop()
  await listener.closed(left > 0 ? 0 : LAST_ANSWERS)
  listener.destroy()
  await root.close()
}
