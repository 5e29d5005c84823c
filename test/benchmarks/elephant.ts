/** So many eager lists at once and without end, in a process of their own: `elephant.js PORT PATH LISTS`. Tells its parent when it has begun. */
import { readdirSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { call } from './http1.js'

const [port, path = '', lists] = process.argv.slice(2)
const REFUSED = 429
const RETRY_AFTER = 1000

// What is measured is how fair the server is, and not how the kernel shares two cores among three processes that want them.
for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), constants.priority.PRIORITY_LOW)

await Promise.all(Array.from({ length: Number(lists) }, async (_, at) => {
  for (;;) {
    const { code } = await call(Number(port), 'GET', path)
    if (at === 0) process.send?.(code)
    if (code === REFUSED) await sleep(RETRY_AFTER)
    else if (code !== 200) throw new Error(`a list answered ${code}`)
  }
}))
