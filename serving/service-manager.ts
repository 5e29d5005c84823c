/**
 * Reports readiness to systemd (`Type=notify`): `READY=1` once every check of readyz passes, `STOPPING=1` at shutdown.
 * Node has no datagram sockets for `NOTIFY_SOCKET`, so systemd's own command sends the messages, and the unit needs
 * `NotifyAccess=all`. Without `NOTIFY_SOCKET` nothing happens.
 */
import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

const COMMAND = 'systemd-notify'
/** Milliseconds. The command waits up to five seconds for systemd. */
const TIMEOUT = 10_000
/** Milliseconds between two checks of readyz, which ask the store: initial and maximum. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [25, 1000]

export interface Reported {
  /** True if all checks of readyz pass. */
  readonly ready: () => Promise<boolean>
  /** Aborts when the shutdown begins. */
  readonly leaving: AbortSignal
  readonly warn: (message: string) => void
}

/** Reports until the shutdown. Failures are only logged: the server also works without systemd. */
export async function reportReadiness ({ ready, leaving, warn }: Reported): Promise<void> {
  if ((process.env['NOTIFY_SOCKET'] ?? '') === '') return
  const tell = async (state: string): Promise<void> => {
    const failure = await run(state)
    if (failure !== undefined) warn(`systemd was not sent ${state}, and a unit of Type=notify waits for it: ${failure}`)
  }
  leaving.addEventListener('abort', () => { void tell('STOPPING=1') }) // tell logs its failures
  if (await whenReady(ready, leaving)) await tell('READY=1')
}

/** Resolves to true when all checks pass, to false if the shutdown begins before. */
export async function whenReady (ready: Reported['ready'], leaving: AbortSignal): Promise<boolean> {
  for (let pause = FIRST_PAUSE; !await ready(); pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    await sleep(pause, undefined, { signal: leaving }).catch(() => {}) // aborted: checked below
    if (leaving.aborted) return false
  }
  return !leaving.aborted
}

/** Undefined if sent. */
const run = (state: string): Promise<string | undefined> => new Promise(resolve => {
  execFile(COMMAND, [state], { timeout: TIMEOUT }, (error, _out, errors) => {
    if (error === null) resolve(undefined)
    else {
      resolve(error.code === 'ENOENT'
        ? `the command ${COMMAND} is not on the PATH`
        : errors.trim().split('\n')[0] || error.message)
    }
  })
})
