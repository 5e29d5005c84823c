/**
 * A server of the launcher in this process: it parses flags, listens, logs and shuts down as one of its own process,
 * for a tenth of the CPU of its start. For what depends on neither signals nor exit codes, memory or time of the
 * process.
 */
import { server as orch } from '../app.js'
import { checkedFlags } from '../config/options.js'
import { shutDown } from '../serving/running.js'
import { start } from '../serving/start.js'

export interface LaunchedHere {
  /** What all servers in this process have logged since its start. */
  readonly log: () => string
  /** Ends it in order, as a signal does. */
  readonly end: () => Promise<void>
  /** Ends it at once, without waiting for anybody. */
  readonly kill: () => Promise<void>
}

/** Events that the launcher takes, some for itself alone. */
const TAKEN = [
  ...['SIGTERM', 'SIGINT', 'SIGUSR1', 'SIGHUP', 'uncaughtException', 'unhandledRejection']
    .map(event => [process, event] as const),
  [process.stderr, 'error'] as const
]
/** A line of the log, see config/logging.ts. */
const LOGGED = /^\d{4}-\d\d-\d\dT[\d:.]+Z (?:TRACE|DEBUG|INFO |WARN |ERROR|FATAL) /

const lines: string[] = []
let listening = false

/** Keeps the log of servers out of the output of the test. */
function listen (): void {
  if (listening) return
  listening = true
  const { stderr } = process
  const write = stderr.write.bind(stderr)
  stderr.write = ((text: unknown, ...more: never[]) => {
    if (typeof text !== 'string' || !LOGGED.test(text)) return write(text as string, ...more)
    lines.push(text)
    return true
  }) as typeof stderr.write
}

let last: Promise<unknown> = Promise.resolve()

/** One after the other, as each has the listeners of the process for a moment. @throws what the launcher reports */
export async function launchHere (flags: readonly string[]): Promise<LaunchedHere> {
  const next = last.then(() => startHere(flags), () => startHere(flags))
  last = next
  return await next
}

async function startHere (flags: readonly string[]): Promise<LaunchedHere> {
  listen()
  const first = lines.length
  const before = TAKEN.map(([emitter, event]) => [emitter, event, emitter.rawListeners(event)] as const)
  try {
    const running = await start(checkedFlags(flags), orch, error => { throw error })
    return {
      log: () => lines.slice(first).join(''),
      end: () => shutDown(running),
      kill: async () => {
        running.listener.stop()
        running.listener.destroy()
        await running.root.close()
      }
    }
  } finally {
    for (const [emitter, event, listeners] of before) {
      emitter.removeAllListeners(event)
      for (const listener of listeners) emitter.on(event, listener as () => void)
    }
  }
}
