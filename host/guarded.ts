/** Functions of the host: what fails in them, at once or later, is logged and stops nothing. */
import type { FastifyBaseLogger } from 'fastify'

export function guarded<T> (log: FastifyBaseLogger, what: string, run: () => T): T | undefined {
  const failed = (error: unknown): void => { log.error({ err: error }, `${what} failed`) }
  try {
    const result = run()
    if (result instanceof Promise) result.catch(failed)
    return result
  } catch (error) {
    failed(error)
    return undefined
  }
}
