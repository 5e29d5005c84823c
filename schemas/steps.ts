/** Work in steps, each of which a turn of the event loop has room for. Who runs it decides whether others have their turn between. */
export type Steps<T> = Generator<undefined, T, undefined>

/** All steps at once. */
export function finish<T> (steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
