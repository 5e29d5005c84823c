/**
 * Sends that many concurrent eager lists endlessly, in a process of its own: `elephant.js PORT PATH LISTS`. Notifies
 * its parent when it has begun.
 */
import { readdirSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { call } from './http1.js'

const [port, path = '', lists] = process.argv.slice(2)
const REFUSED = 429
const RETRY_AFTER = 1000

// Measures the fairness of the server, not that of the kernel, where three processes compete for two cores.
for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), constants.priority.PRIORITY_LOW)

await Promise.all(Array.from({ length: Number(lists) }, async (_, at) => {
  for (;;) {
    const { code } = await call(Number(port), 'GET', path)
    if (at === 0) process.send?.(code)
    if (code === REFUSED) await sleep(RETRY_AFTER)
    else if (code !== 200) throw new Error(`a list answered ${code}`)
  }
}))
