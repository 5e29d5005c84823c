/** Work in steps that each fit into one turn of the event loop. The caller decides whether to yield in between. */
export type Steps<T> = Generator<undefined, T, undefined>

/** Runs all steps at once. */
export function finish<T> (steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
