/** What a process that serves has otherwise if it is one of several: its part of the limits, and another listener. */
import { dividedOptions } from '../../config/divided-options.js'
import type { ServerOptions } from '../../config/server-options.js'
import type { Verbosity } from '../../config/verbosity.js'
import { end, logReport, type Running } from '../running.js'
import { whenReady } from '../service-manager.js'
import { startTimeouts } from '../wire/start-timeouts.js'
import type { StallWatch } from './stall-watch.js'
import type { SupervisorChannel } from './supervisor-channel.js'

/** What one process of several has besides. */
export interface Child { readonly supervisor: SupervisorChannel, readonly stallGuard: StallWatch }

/** The options of one process of several. */
export function ofOneProcess (options: ServerOptions, { supervisor, stallGuard }: Child): ServerOptions {
  const { audit, ...divided } = dividedOptions(options, supervisor.part)
  return {
    ...divided,
    ...(audit === undefined ? {} : { audit: { ...audit, shared: { rotates: () => supervisor.leads } } }),
    ...sharedStorage(options),
    stallGuard,
    leadership: { elected: supervisor.elected, led: supervisor.led, lead: () => { supervisor.send({ kind: 'led' }) } },
    metrics: { ...options.metrics, process: supervisor.name, others: text => supervisor.collect(text) }
  }
}

/** Serves the connections that the supervisor passes on. */
export function serveFor ({ supervisor, stallGuard }: Child, running: Running, verbosity: Verbosity): void {
  const { listener, log, scope: { orchHealth: health, orchMetrics: metrics, orchShutdown: shutdown } } = running
  startTimeouts(listener.server)
  shutdown.signal.addEventListener('abort', () => {
    if (!shutdown.sendRetryAfter) supervisor.send({ kind: 'stopped' })
  })
  supervisor.serve({
    connection: listener.serve,
    end: () => { end(running) },
    report: () => { logReport(running) },
    verbosity: v => { verbosity.set(v) },
    exposition: () => metrics.exposition(),
    refuse: (like, until) => { stallGuard.refuse(like, until) }
  })
  whenReady(health.ready, shutdown.leaving).then(
    ready => { if (ready) supervisor.send({ kind: 'ready' }) },
    (error: unknown) => log.error({ err: error }, 'readiness cannot be reported')
  )
}

/** The process of the store opens it; the others share it. */
function sharedStorage ({ storage }: ServerOptions): Pick<ServerOptions, 'storage'> {
  if (storage === undefined || !('kind' in storage) || storage.kind !== 'embedded') return {}
  const { minFree: _, historyRetention, ...options } = storage
  return {
    storage: { ...options, kind: 'shared', ...(historyRetention === undefined ? {} : { compactionInterval: 0 }) }
  }
}
