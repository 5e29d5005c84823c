/** The process that opens the embedded store and serves it to the other processes. It serves no clients. */
import type { FastifyBaseLogger } from 'fastify'
import type { Parsed } from '../../config/command-line.js'
import { logForm } from '../../config/log-streams.js'
import { createLog } from '../../config/logging.js'
import { embeddedOptions } from '../../config/store.js'
import { Verbosity } from '../../config/verbosity.js'
import { heldDirectory, serveEmbedded } from '../../storage/open.js'
import { endOnUncaughtErrors } from '../uncaught-errors.js'
import type { SupervisorChannel } from './supervisor-channel.js'
import { STORE } from './messages.js'

/** @throws StorageError if the store cannot be opened; the launcher reports it in one line */
export async function runStore ({ values }: Parsed, supervisor: SupervisorChannel): Promise<void> {
  const { lock } = await supervisor.start
  const verbosity = new Verbosity(values.v, values.vmodule)
  const log = createLog({ verbosity, ...logForm(values), process: STORE })
  const held = lock === undefined ? {} : { lock: await heldDirectory(lock) }
  const options = { ...embeddedOptions(values), ...held, note: (text: string) => { log.warn(text) } }
  const served = await serveEmbedded(options, error => {
    log.error({ err: error }, 'the revision of the store cannot be shared')
    process.exit(1)
  })
  endOnUncaughtErrors(log, () => { end(served, log, 1) })
  supervisor.serve({
    connection: socket => { socket.destroy() },
    end: () => { end(served, log) },
    report: () => {},
    verbosity: v => { verbosity.set(v) },
    exposition: async () => {
      const { processText } = await import('../../plugins/metrics/process.js')
      return Buffer.from(await processText(name => !values['disabled-metrics'].includes(name)))
    }
  })
}

function end (served: { readonly close: () => Promise<void> }, log: FastifyBaseLogger, code = 0): void {
  served.close().then(() => process.exit(code), (error: unknown) => {
    log.error({ err: error }, 'the store could not be closed')
    process.exit(1)
  })
}
