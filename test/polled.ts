/** Waiting for what tells nobody when it comes. */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds in which each turn of the event loop may bring it, as when a server of this process starts. */
const SOON = 3
/**
 * The pause, as a share of the time waited so far: asking may cost milliseconds, so what takes seconds is not asked for
 * a hundred times in each.
 */
const SHARE = 0.1
const MAX_PAUSE = 200

/**
 * Asks until the condition holds. @throws Error that names `what`, after `limit` milliseconds; without them the runner
 * ends a wait in vain
 */
export async function polled (
  holds: () => boolean | Promise<boolean>, what: string | (() => string) = 'a condition', limit = Infinity
): Promise<void> {
  const since = performance.now()
  while (!await holds()) {
    const waited = performance.now() - since
    if (waited > limit) throw new Error(`waited ${limit} ms in vain for ${typeof what === 'string' ? what : what()}`)
    await (waited < SOON ? turn() : sleep(Math.min(MAX_PAUSE, Math.max(1, waited * SHARE))))
  }
}
