/**
 * What caches and events share is never written to. Freezing it takes time, so only processes that look for mistakes
 * do: test runs, and servers for tests. There a write throws, and the request that made it fails.
 */

/** Environment variable by which a test run makes the launcher freeze everything. */
export const FREEZE = 'ORCH_TEST_FREEZE'

/**
 * What is frozen: what caches hold, or also what is parsed for a single use, which may come from a cache as well. The
 * latter makes tables a fifth slower.
 */
export type Frozen = 'held' | 'everything'

let mode: Frozen | undefined

/** For the whole process, from now on. A test run that serves tests of others freezes everything. */
export function freezeShared (what: Frozen): void {
  if (mode !== 'everything') mode = what
}

/** The value, which a cache is about to hold. It is plain data without cycles. */
export function shared<T> (value: T): T {
  if (mode !== undefined) freeze(value)
  return value
}

/** The value, parsed for a single use that must not write to it. */
export function forReading<T> (value: T): T {
  if (mode === 'everything') freeze(value)
  return value
}

/** The value, frozen in every process: plain data without cycles, for callers outside of the server. */
export function frozen<T> (value: T): T {
  freeze(value)
  return value
}

function freeze (value: unknown): void {
  // The members of a frozen value are frozen too.
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  if (Array.isArray(value)) for (const item of value) freeze(item)
  else for (const name in value) freeze((value as Record<string, unknown>)[name])
}
