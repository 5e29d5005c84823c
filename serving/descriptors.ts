/**
 * Limits connections by the available file descriptors, and reports when none are left. Without this limit, exhaustion
 * would hit the store or the log, and the system rejects connections without notice.
 */
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'

/** Descriptors reserved for the store, the audit log and lazily loaded modules. */
const RESERVE = 64
/** The reserve is at most this fraction of the limit. */
const SHARE = 8

/** Limits and open descriptors of the process. Linux only. */
const LIMITS = '/proc/self/limits'
const OPEN = '/proc/self/fd'

/** Maximum connections within the open files limit; undefined if unknown. */
export function roomForConnections (): number | undefined {
  try {
    const limit = Number(/^Max open files +(\d+)/m.exec(readFileSync(LIMITS, 'utf8'))?.[1])
    if (Number.isNaN(limit)) return undefined
    return Math.max(1, limit - readdirSync(OPEN).length - Math.min(RESERVE, Math.floor(limit / SHARE)))
  } catch {
    return undefined
  }
}

/** Milliseconds between two checks. */
const CHECK_INTERVAL = 5000

/** Reports exhausted descriptors at each check. @returns stops the checks */
export function watchDescriptors (exhausted: (code: string) => void, interval = CHECK_INTERVAL): () => void {
  const timer = setInterval(() => {
    try {
      closeSync(openSync('/dev/null', 'r'))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EMFILE' || code === 'ENFILE') exhausted(code)
    }
  }, interval).unref()
  return () => { clearInterval(timer) }
}

/** Calls `report` at most once per interval, starting with the first call. */
export function throttled<T extends unknown[]> (milliseconds: number, report: (...args: T) => void, now = () =>
  performance.now()): (...args: T) => void {
  let last = -Infinity
  return (...args) => {
    const at = now()
    if (at - last < milliseconds) return
    last = at
    report(...args)
  }
}
