/**
 * Which request the event loop works for, by a number, 0 if that is not known: set when a request is authenticated,
 * begins a step of its trace or goes on in a later turn, and forgotten at the end of a turn. Where a server is several
 * processes, a thread reads it when the event loop stalls (`serving/processes/stall-watch.ts`).
 */

let shared: Int32Array | undefined
let forgetting = false

/** @param cell its first number, in memory that the thread shares */
export function shareWorkedFor (cell: Int32Array): void { shared = cell }

export const workedFor = (): number => shared === undefined ? 0 : shared[0] as number // it has one

export function workFor (request: number): void {
  if (shared === undefined || request === 0) return
  shared[0] = request
  if (forgetting) return
  forgetting = true
  setImmediate(forget)
}

function forget (): void {
  forgetting = false
  if (shared !== undefined) shared[0] = 0
}

/** The callback, as a continuation of the work for the present request. */
export function forSameRequest (run: () => void): () => void {
  const request = workedFor()
  if (request === 0) return run
  return () => {
    workFor(request)
    run()
  }
}
