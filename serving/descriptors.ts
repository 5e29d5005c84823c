/**
 * Descriptors of the process: how many connections leave room for everything else that has to be open, and the news
 * that there are none left. Without a bound of our own the system's is met by whoever comes next, the store or the log,
 * and of connections it turns away nobody is told.
 */
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'

/** For what is not a client's: the store, the audit log, modules that are loaded when they are first used. */
const RESERVE = 64
/** Of a small limit no more than one in so many. */
const SHARE = 8

/** Where the system says what a process may have open and has. Only Linux does. */
const LIMITS = '/proc/self/limits'
const OPEN = '/proc/self/fd'

/** Connections for which the limit of open files leaves room; undefined where none is known. */
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

/**
 * Tells of descriptors that have run out all the same, at each check that finds none.
 * @returns what ends it
 */
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

/** Calls it at most once in so many milliseconds, beginning with the first time. */
export function throttled<T extends unknown[]> (milliseconds: number, report: (...args: T) => void, now = () => performance.now()): (...args: T) => void {
  let last = -Infinity
  return (...args) => {
    const at = now()
    if (at - last < milliseconds) return
    last = at
    report(...args)
  }
}
