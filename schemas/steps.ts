/** Work in steps that each fit into one turn of the event loop. The caller decides whether to yield in between. */
export type Steps<T> = Generator<undefined, T, undefined>

/** Steps that may also wait for a promise between two of them, such as a call to another server. */
export type WaitingSteps<T> = Generator<Promise<void> | undefined, T, undefined>

/** Runs all steps at once. @throws TypeError if one waits */
export function finish<T> (steps: WaitingSteps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (value !== undefined) throw new TypeError('a step waits, but its caller cannot')
  }
}

/** Waits for a promise within steps; returns other values at once. */
export function * waitFor<T> (pending: T | Promise<T>): WaitingSteps<T> {
  if (!(pending instanceof Promise)) return pending
  const results: T[] = []
  yield pending.then(result => { results.push(result) })
  return results[0] as T // the steps go on when it is there
}
