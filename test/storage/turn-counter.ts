/** The event loop turns in which work was done. */
import { nextTurn } from '../../event-loop/turns.js'

export const spin = (milliseconds: number): void => {
  const until = performance.now() + milliseconds
  while (performance.now() < until);
}

/** For each of that many concurrent callers: the turn in which it resumed, and what it did then. */
export async function resumed (
  count: number, work: () => void, wait = nextTurn
): Promise<ReadonlyArray<readonly [turn: number, at: number]>> {
  let turn = 0
  let counting = true
  const next = (): void => {
    turn++
    if (counting) setImmediate(next)
  }
  setImmediate(next)
  const order: Array<readonly [number, number]> = []
  await Promise.all(Array.from({ length: count }, async (_, at) => {
    await wait()
    order.push([turn, at])
    work()
  }))
  counting = false
  return order
}
