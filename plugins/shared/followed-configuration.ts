/**
 * A configuration file that is followed: a new content is used if it is valid, otherwise what was used before stays.
 * One line of the log and the metrics of the public project say which.
 */
import type { FastifyBaseLogger } from 'fastify'
import { WatchedFiles } from '../../clients/watched-files.js'
import type { Clock } from '../../event-loop/clock.js'
import { digest, SERVER, serverHash } from './hashed-labels.js'
import type { Metrics } from './metric-series.js'

export interface FollowedConfiguration {
  readonly path: string
  /** In the names of metrics. */
  readonly of: 'authentication' | 'authorization' | 'encryption'
  /** What it configures, for the log: `authorizers`. */
  readonly what: string
  /** Uses the file as it is now. Rejects with an Error that says what is wrong; then nothing has changed. */
  readonly replace: () => Promise<void>
}

interface Context { readonly log: FastifyBaseLogger, readonly metrics: Metrics, readonly clock: Clock }

/** Rejects if the file cannot be read. @returns a function that ends it */
export async function followConfiguration (
  { path, of, what, replace }: FollowedConfiguration, { log, metrics, clock }: Context
): Promise<() => void> {
  const name = `apiserver_${of}_config_controller_automatic_reload`
  const id = serverHash()
  const reloads = metrics.counter(`${name}s_total`, `Contents of the file of ${what}, by result.`, [SERVER, 'status'])
  const times = metrics.gauge(
    `${name}_last_timestamp_seconds`, 'When the file was last read, by result.', [SERVER, 'status']
  )
  const info = metrics.gauge(`${name}_last_config_info`, 'The content in use.', [SERVER, 'hash'])
  let shown: string | undefined
  const show = (content: Buffer = Buffer.alloc(0)): void => {
    if (shown !== undefined) info.forget(id, shown)
    shown = digest(content)
    info.with(id, shown).set(1)
  }
  const count = (status: 'success' | 'failure'): void => {
    reloads.with(id, status).add()
    times.with(id, status).set(clock.wall() / 1000)
  }
  const files = await WatchedFiles.open({
    paths: [path],
    onChange: async contents => {
      try {
        await replace()
      } catch (error) {
        count('failure')
        throw error
      }
      show(contents.get(path))
      count('success')
      log.info(`the ${what} of ${path} were replaced`)
    },
    onError: ({ message, cause }) => {
      log.warn(`the ${what} of ${path} stay as they are: ${cause instanceof Error ? cause.message : message}`)
    }
  })
  show(files.contents.get(path))
  return () => { files.close() }
}
