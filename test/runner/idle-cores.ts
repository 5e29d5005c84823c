/** The idle share of the machine's processors. */
import { cpus } from 'node:os'

/** Calls back every second with the idle share of that second, 0 to 1. Returns a function that ends it. */
export function watchIdle (tell: (share: number) => void): () => void {
  const sum = (): { idle: number, all: number } => cpus().reduce((total, { times }) => ({
    idle: total.idle + times.idle, all: total.all + Object.values(times).reduce((one, other) => one + other, 0)
  }), { idle: 0, all: 0 })
  let last = sum()
  const timer = setInterval(() => {
    const now = sum()
    if (now.all > last.all) tell((now.idle - last.idle) / (now.all - last.all))
    last = now
  }, 1000)
  return () => { clearInterval(timer) }
}
