/** Errors that do not end a server that has started. */
import type { FastifyBaseLogger } from 'fastify'

/** After start-up, uncaught exceptions and unhandled rejections are logged and do not end the process. */
export function logUncaughtErrors (log: FastifyBaseLogger): void {
  process.removeAllListeners('uncaughtException')
  process.on('unhandledRejection', reason => log.error({ err: reason }, 'unhandled promise rejection'))
  process.on('uncaughtException', error => log.error({ err: error }, 'uncaught exception'))
  process.stderr.on('error', () => {}) // a closed log reader must not end the process
}
