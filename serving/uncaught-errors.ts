/** Errors that nobody has caught, after the start: the state of the process is no longer known, so it ends. */
import type { FastifyBaseLogger } from 'fastify'
import { blamedFor } from '../event-loop/blamed.js'

/**
 * Logs uncaught exceptions and unhandled rejections, with the audit ID of their request if it is known. The first one
 * calls `end`, which lets requests finish and exits with code 1; those that follow meanwhile are logged.
 */
export function endOnUncaughtErrors (log: FastifyBaseLogger, end: () => void): void {
  let ending = false
  const take = (what: string) => (error: unknown): void => {
    const auditId = blamedFor(error)
    const fields = { err: error, ...(auditId === undefined ? {} : { auditId }) }
    log.error(fields, ending ? what : `${what}: this process shuts down, with exit code 1`)
    if (ending) return
    ending = true
    end()
  }
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', take('uncaught exception'))
  process.on('unhandledRejection', take('unhandled promise rejection'))
  process.stderr.on('error', () => {}) // a closed log reader must not end the process
}
